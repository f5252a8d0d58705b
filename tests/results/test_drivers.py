"""What drives the response, in one sentence: groups, order, and how sure it is."""

from dataclasses import replace

import numpy as np
import pytest

from firstfactor import FIRST
from firstfactor.results.drivers import say_drivers
from firstfactor.results.estimates import Estimates
from firstfactor.results.formats import format_interval, format_number, percents
from firstfactor.results.indices import Indices
from firstfactor.results.sharing import Cluster, Sharing
from firstfactor.results.uncertainty import Uncertainty
from firstfactor.settings import Settings

WHAT = "what they tell"
CALIBRATED = Settings(rule="calibrated")


def made_up(values, error=0.002, p=0.001, alone=None, clusters=(), **others):
    """A result with some importances, a ceiling of 0.9, and names a, b, c, …"""
    values = np.array(values, dtype=float)
    n = len(values)
    sure = Uncertainty(
        standard_errors=np.full(n, error),
        p_values=np.broadcast_to(p, n).astype(float),
        bias=np.zeros(n),
        noise=0.01,
        r2=0.01,
        r2_bias=0.0,
    )
    known = np.full(n, 0.01)
    sharing = None if alone is None else Sharing(Estimates(np.array(alone, dtype=float), known, known, known), clusters)
    settings = {
        "names": tuple("abcdefghijklmnop"[:n]),
        "kinds": ("number",) * n,
        "noise_variance": 0.1,
        "response_variance": 1.0,
        "n_rows": 500,
        "task": "regression",
        "method": "FIRST",
        "estimator": "extrapolated",
        "procedure": CALIBRATED,
        "uncertainty": sure,
        "sharing": sharing,
    }
    return Indices(values=values, **settings | others)


def cluster(*positions, joint=0.8, kept=0.95):
    names = tuple("abcdefghijklmnop"[i] for i in positions)
    return Cluster(names, joint, 0.01, 0.0, (kept,) * len(names), 0.9, positions)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([1.0], "price depends most on a."),
        ([0.5, 0.4, 0.3], "price depends most on a, b and c."),
        ([0.5, 0.1, 0.05], "price depends most on a, then b and c."),
        ([0.5, 0.4, 0.001], "price depends most on a and b; one more adds little."),
        ([0.3] * 7, "price depends most on a, b, c, d and e, which these rows cannot order; 2 more matter less."),
        (
            [0.004, 0.005],
            "price depends most on b and a; they overlap: leaving out one of them loses little.",
        ),
    ],
)
def test_only_what_matters_is_named(values, sentence):
    assert say_drivers(made_up(values), "price") == sentence


def test_factors_that_stand_in_for_each_other_are_named_as_one():
    def say(*clusters):
        n = 1 + max(i for each in clusters for i in each.positions)
        return say_drivers(made_up([0.001] * n + [0.05], alone=[0.6] * n + [0.05], clusters=clusters), "price")

    assert say(cluster(0, 1, 2)) == "price depends most on a (or b, c: any of them will do), then d."
    assert say(cluster(1, 0)) == "price depends most on b (or a: either will do), then c."
    assert (
        say(cluster(*range(8)))
        == "price depends most on a (or any of 7 others that carry the same information), then i."
    )
    weaker = cluster(0, 1, kept=0.8)
    assert say(weaker) == "price depends most on a (or b, which carries mostly the same information), then c."
    two = say(cluster(0, 1, joint=0.4), cluster(2, 3, joint=0.5))
    assert two == "price depends most on c (or d: either will do) and a (or b: either will do), then e."


def test_everything_shared_by_all_is_one_driver():
    found = made_up([0.001] * 4, alone=[0.9] * 4, clusters=(cluster(0, 1, 2, 3, joint=1.0),))
    assert say_drivers(found, "inflation") == "inflation depends most on a (or b, c, d: any of them will do)."


def test_what_is_needed_though_no_part_of_it_is_missed_is_named():
    found = made_up([0.44, 0.001, 0.001, 0.001], alone=[0.4, 0.2, 0.3, 0.1])
    shared = "price depends most on a, then c, b and d; the last 3 overlap: leaving out one of them loses little."
    assert say_drivers(found, "price") == shared
    paper = replace(found, procedure=Settings(rule="paper"))
    assert say_drivers(paper, "price").startswith(
        "a, then c, b and d were selected to explain price; the last 3 overlap"
    )
    nearly_all = made_up([0.44, 0.001, 0.001], alone=[0.95, 0.4, 0.4])
    assert say_drivers(nearly_all, "price") == "price depends most on a; 2 more add little."
    unsure = made_up([0.44, 0.001, 0.001], error=0.2, alone=[0.4, 0.3, 0.2])
    assert say_drivers(unsure, "price") == "price depends most on a; 2 more matter less."


def test_how_sure_it_is_is_said():
    assert say_drivers(made_up([0.5, 0.3], p=[0.2, 0.3]), "y") == "y may depend on a and b."
    assert (
        say_drivers(made_up([0.5, 0.3], p=[0.01, 0.3]), "y") == "y depends most on a and b; the evidence for b is weak."
    )
    assert say_drivers(made_up([0.5, 0.3], uncertainty=None), "y") == "y seems to depend most on a and b."
    unknown = "y may depend on a and b, which these rows cannot order."
    assert say_drivers(made_up([0.5, 0.3], noise_variance=0.999), "y") == unknown
    paper = made_up([0.5, 0.3, 0.1], p=np.nan, procedure=Settings(rule="paper"))
    assert say_drivers(paper, "the ranks of y") == "a and b, then c were selected to explain the ranks of y."
    doubtful = replace(made_up([0.5], error=0.4, p=np.nan), procedure=Settings(rule="paper"))
    assert say_drivers(doubtful, "y") == "a was selected to explain y; the evidence for it is weak."


def test_forced_factors_outputs_and_plurals():
    forced = made_up([0.5, 0.3], p=[0.01, np.nan], forced=(1,))
    assert say_drivers(forced, "y") == "y depends most on a and b (always in)."
    both = made_up([0.5], outputs=("cost", "time"))
    assert say_drivers(both, "cost and time") == "cost and time depend most on a."
    assert say_drivers(made_up([0.5]), "the ranks of y", several=True) == "The ranks of y depend most on a."


def test_nothing_selected():
    found = made_up([0.0, 0.0])
    assert (
        say_drivers(found, "y")
        == "In 500 rows, there is not enough evidence that y depends on any factor (alpha = 0.1)."
    )
    assert say_drivers(replace(found, procedure=Settings(rule="paper")), "y").startswith("In 500 rows, no factor")


def test_fair_shares_of_several_are_added_up():
    found = made_up([0.3, 0.25, 0.45], alone=[0.6] * 3, clusters=(cluster(0, 1),), method="Shapley")
    assert say_drivers(found, "y") == "y depends most on a (or b: either will do) and c."


def test_a_real_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    X[:, 3] = X[:, 0] + 0.05 * rng.normal(size=500)
    found = FIRST(rule="calibrated", random_state=0).fit(X, 2 * X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=500)).indices_
    assert say_drivers(found, "y").startswith(
        ("y depends most on x0 (or x3: either will do)", "y depends most on x3 (or x0")
    )


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_numbers_are_written_out():
    numbers = [0, -0.0, 18823, 15915629.3, 1998, -0.5, 0.1 + 0.2, 9999.96, 1.234e-5, 1e-9, -3.2e20]
    texts = ["0", "0", "18,820", "15,920,000", "1998", "−0.5", "0.3", "10,000", "0.00001234", "1 × 10⁻⁹", "−3.2 × 10²⁰"]
    assert [format_number(number) for number in numbers] == texts


def test_ends_that_differ_look_different():
    assert format_interval((0.98, 0.99)) == "(0.980–0.990)"
    assert format_interval((0.98012, 0.98034)) == "(0.9801–0.9803)"
    assert format_interval((1.0, 1.0)) == "" == format_interval((np.nan, 1.0))
    assert percents(0.98, 0.96, 1) == ["98 %", "96 %", "100 %"]
    assert percents(0.9812, 0.9809, 0.9815) == ["98.12 %", "98.09 %", "98.15 %"]
