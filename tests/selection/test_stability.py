"""Stability: against plain loops, the bounds against numbers worked out by hand and by linear programming."""

import importlib.util
import re
import sys
import threading
import time
from dataclasses import replace

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matplotlib.figure import Figure
from sample_tables import mixed
from scipy.optimize import linprog
from scripts import seconds_to_stop
from sklearn.exceptions import DataConversionWarning

import firstfactor
from firstfactor import FIRST, Stability, stability
from firstfactor.plots import plot_stability
from firstfactor.problems import friedman
from firstfactor.results.stability import unimodal_bound, worst_case_bound
from firstfactor.selection import stability as halves


@pytest.fixture(autouse=True)
def without_pyplot(monkeypatch):
    """Let figures be plain, whatever other tests have imported."""
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)


@pytest.fixture(scope="module")
def data():
    return friedman.sample(300, seed=1)


@pytest.fixture(scope="module")
def result(data):
    return stability(*data, n_pairs=15, random_state=0)


def made_up(frequencies, simultaneous=None, threshold=0.6, names=None):
    frequencies = np.asarray(frequencies, dtype=float)
    names = names or tuple(f"x{j}" for j in range(frequencies.size))
    both = np.maximum(2 * frequencies - 1, 0) if simultaneous is None else np.asarray(simultaneous)
    return Stability(
        names=names,
        frequencies=frequencies,
        simultaneous=both,
        n_pairs=50,
        threshold=threshold,
        n_candidates=frequencies.size,
    )


def same(first, second):
    return (
        first.frequencies.tobytes() == second.frequencies.tobytes()
        and first.simultaneous.tobytes() == second.simultaneous.tobytes()
        and first.names == second.names
    )


# --- how often ----------------------------------------------------------------------------------------


def test_frequencies_equal_those_of_plain_loops(data):
    X, y = data[0][:121], data[1][:121]  # an odd number of rows
    n_pairs, count, both = 6, np.zeros(10), np.zeros(10)
    for seed in np.random.SeedSequence(3).spawn(n_pairs):
        order = np.random.default_rng(seed).permutation(121)
        pair = []
        for rows in (order[0:120:2], order[1:120:2]):
            rows = np.sort(rows)
            pair.append(set(FIRST().fit(X[rows], y[rows]).selected_.tolist()))
        for j in range(10):
            count[j] += (j in pair[0]) + (j in pair[1])
            both[j] += j in pair[0] and j in pair[1]
    ours = stability(X, y, n_pairs=n_pairs, random_state=3)
    np.testing.assert_array_equal(ours.frequencies, count / 12)
    np.testing.assert_array_equal(ours.simultaneous, both / 6)
    assert ours.average_size == pytest.approx(count.sum() / 12)
    assert 0 < both.sum() < count.sum() / 2  # the two shares differ here


@pytest.mark.parametrize("options", [{"n_neighbors": 6}, {"n_outer": 0.3}, {"n_neighbors": 4, "n_outer": 20}])
def test_halves_are_looked_at_as_the_selector_says(data, options):
    X, y = data[0][:120], data[1][:120]
    pairs = []
    for seed in np.random.SeedSequence(3).spawn(5):
        rng = np.random.default_rng(seed)
        order = rng.permutation(120)
        for rows, own in zip((order[::2], order[1::2]), rng.integers(2**63, size=2), strict=True):
            selector = FIRST(**options, random_state=int(own)).fit(X[np.sort(rows)], y[np.sort(rows)])
            pairs.append(selector.support_)
    ours = stability(X, y, n_pairs=5, selector=FIRST(**options), random_state=3)
    np.testing.assert_array_equal(ours.frequencies, np.mean(pairs, axis=0))


def test_true_factors_are_selected_more_often_than_all_others(result):
    true = list(friedman.true_factors)
    others = [j for j in range(10) if j not in true]
    assert result.frequencies[true].min() > 0.5
    assert result.frequencies[others].max() < 0.2
    assert sorted(result.selected) == true


def test_pure_noise_is_rarely_selected_often():
    rng = np.random.default_rng(0)
    result = stability(rng.uniform(size=(200, 10)), rng.normal(size=200), n_pairs=15, random_state=0)
    assert result.average_size > 0  # the paper's rule always finds something
    assert result.selected.size <= 1


@pytest.mark.parametrize("selector", [None, FIRST(n_outer=40)])
def test_any_number_of_jobs_gives_the_same_bits(data, selector):
    once, twice, thrice = (
        stability(*data, n_pairs=5, selector=selector, random_state=7, n_jobs=jobs) for jobs in (1, 2, 3)
    )
    assert same(once, twice) and same(once, thrice)


def test_seeds_repeat_and_differ(data):
    first = stability(*data, n_pairs=5, random_state=0)
    assert same(first, stability(*data, n_pairs=5, random_state=0))
    assert same(first, stability(*data, n_pairs=5, random_state=np.random.default_rng(0)))
    assert not same(first, stability(*data, n_pairs=5, random_state=1))
    assert stability(*data, n_pairs=1).n_pairs == 1  # None will do


def test_more_pairs_begin_with_the_same_ones(data):
    few, more = (stability(*data, n_pairs=n, random_state=0) for n in (3, 4))
    gained = more.frequencies * 8 - few.frequencies * 6
    assert np.all((gained > -1e-9) & (gained < 2 + 1e-9))


def test_tables_of_any_kind_give_the_same_bits():
    X, y = mixed(120)
    X["make"] = X["make"].astype("category")
    shuffled = X.set_index(np.random.default_rng(0).permutation(120))  # an index that is not the row number
    kinds = [
        (shuffled, pd.Series(y, index=shuffled.index)),
        (X, y.tolist()),
        (pl.from_pandas(X), pl.Series(y)),
        (pa.Table.from_pandas(X), pa.chunked_array([y])),
        (nw.from_native(X), nw.from_native(pd.Series(y), series_only=True)),
    ]
    results = [stability(table, target, n_pairs=4, random_state=0) for table, target in kinds]
    assert all(same(results[0], other) for other in results[1:])
    assert results[0].names == tuple(X.columns)
    assert results[0].frequencies[:3].min() > 0.7


def test_arrays_and_lists_give_the_same_bits(data):
    X, y = data[0][:60], data[1][:60]
    expected = stability(X, y, n_pairs=3, random_state=0)
    assert same(expected, stability(X.tolist(), y.tolist(), n_pairs=3, random_state=0))
    assert same(expected, stability(X.astype(object), y, n_pairs=3, random_state=0))


def test_a_target_of_one_column_warns_once(data):
    X, y = data[0][:60], data[1][:60]
    with pytest.warns(DataConversionWarning) as warned:
        ours = stability(X, y[:, None], n_pairs=3, random_state=0)
    assert len(warned) == 1
    assert same(ours, stability(X, y, n_pairs=3, random_state=0))


# --- halves of every kind -----------------------------------------------------------------------------


def spy_on_halves(monkeypatch):
    """Return a list that fills with what each half is: its rows and its response."""
    seen, make_variances = [], halves.make_variances

    def watched(observed, options):
        seen.append((observed.rows, observed.response))
        return make_variances(observed, options)

    monkeypatch.setattr(halves, "make_variances", watched)
    return seen


@pytest.mark.parametrize(("rows", "rare"), [(60, 2), (61, 2), (60, 3), (61, 3), (60, 30), (61, 30)])
def test_both_halves_have_as_many_rows_of_each_class(monkeypatch, rows, rare):
    X, _ = friedman.sample(rows, seed=0)
    y = np.where(np.arange(rows) < rare, "yes", "no")
    seen = spy_on_halves(monkeypatch)
    stability(X, y, n_pairs=5, n_jobs=1, random_state=0)
    left_out = set()
    for (first, _), (second, _) in zip(seen[::2], seen[1::2], strict=True):
        assert len(first) == len(second) == rows // 2
        assert not set(first) & set(second)
        left_out |= set(range(rows)) - set(first) - set(second)
        yes = sorted(((y[first] == "yes").sum(), (y[second] == "yes").sum()))
        assert yes[0] >= 1
        # Both numbers odd: one half has one more of one class, the other one more of the other.
        assert yes[1] - yes[0] == (rare % 2 and (rows - rare) % 2)
    assert (len(left_out) > 1) == (rows % 2 == 1)  # not always the same row
    assert {tuple(half[0]) for half in seen[:2]} != {tuple(half[0]) for half in seen[2:4]}


def test_two_classes_find_their_factors():
    X, y = friedman.sample(600, seed=0, classes=True)
    result = stability(X, y, n_pairs=10, random_state=0)
    assert set(result.selected) <= set(friedman.true_factors) and result.selected.size >= 2


def test_what_y_and_the_factors_are_is_decided_by_all_rows(monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"code": ["1", "2"] * 20, "x": rng.normal(size=40)})
    X.loc[0, "code"] = "a"  # without this row, the column would be refused as numbers written as text
    y = np.tile([0.0, 1.0], 20)
    y[3] = 0.5  # without this row, there would be two classes
    seen = spy_on_halves(monkeypatch)
    stability(X, y, n_pairs=3, n_jobs=1, random_state=0)
    assert {(len(rows), response.task) for rows, response in seen} == {(20, "regression")}


def test_factors_constant_in_a_half_are_not_selected_there():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[:, 1] = 0.0
    X[5, 1] = 1.0  # varies in one half of each pair at most
    X[:, 2] = 7.0
    result = stability(X, X[:, 0], n_pairs=10, random_state=0)
    assert result.simultaneous[1] == 0 and result.frequencies[1] <= 0.5
    assert result.frequencies[2] == 0
    assert result.frequencies[0] == 1
    assert result.n_candidates == 2


def test_nothing_is_selected_where_y_does_not_vary():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.zeros(30)
    y[4], y[7] = 1e5, -3.0  # three values: numbers, not classes
    y[9] = 1.0
    seen = []
    result = stability(X, y + 0.1, n_pairs=10, random_state=0, progress=lambda done, total: seen.append((done, total)))
    assert len(seen) == 20
    assert result.frequencies.max() < 1
    constant = np.full(30, 0.1)
    constant[4] = 2.0
    one_sided = stability(X, constant, n_pairs=10, selector=FIRST(task="regression"), random_state=0)
    assert one_sided.simultaneous.max() == 0  # the one row that differs is in one half only


def test_all_constant_factors_give_nothing():
    result = stability(np.ones((20, 2)), np.arange(20.0), n_pairs=2, random_state=0)
    assert result.selected.size == 0 and result.n_candidates == 0
    assert result.expected_false == result.expected_false_unimodal == 0


def test_the_selector_is_used_and_left_as_it_was(data):
    X, y = data
    selector = FIRST(n_neighbors=5, forward="fast", n_jobs=2, random_state=4, verbose=1)
    before = selector.get_params()
    ours = stability(X, y, n_pairs=3, selector=selector, random_state=0)
    assert selector.get_params() == before and not hasattr(selector, "support_")
    assert same(ours, stability(X, y, n_pairs=3, selector=FIRST(n_neighbors=5, forward="fast"), random_state=0))
    assert not same(ours, stability(X, y, n_pairs=3, random_state=0))


# --- bounds -------------------------------------------------------------------------------------------


def test_bounds_equal_numbers_worked_out_by_hand():
    # 5 of 100 factors on average: θ = 0.05, q²/p = 0.25.
    assert worst_case_bound(5, 100, 50, 0.6) == pytest.approx(0.25 / 0.2)
    assert worst_case_bound(5, 100, 50, 1.0) == pytest.approx(0.25)
    assert unimodal_bound(5, 100, 50, 0.6) == pytest.approx(0.25 / (2 * (0.2 - 0.01)))
    assert unimodal_bound(5, 100, 50, 0.75) == pytest.approx(0.25 / (2 * (0.5 - 0.01)))
    assert unimodal_bound(5, 100, 50, 0.9) == pytest.approx(0.25 * 4 * 0.11 / 1.02)
    assert unimodal_bound(5, 100, 50, 1.0) == pytest.approx(0.25 * 4 * 0.01 / 1.02)


def test_a_threshold_between_frequencies_counts_as_the_next_one():
    assert worst_case_bound(5, 100, 50, 0.595) == worst_case_bound(5, 100, 50, 0.6)
    assert worst_case_bound(5, 100, 50, 0.55) == pytest.approx(0.25 / 0.1)  # though 100 · 0.55 is above 55 in floats
    assert worst_case_bound(5, 100, 1, 0.6) == pytest.approx(0.25)  # with one pair: both halves
    assert unimodal_bound(5, 100, 10, 0.71) == unimodal_bound(5, 100, 10, 0.75)


@pytest.mark.parametrize(("size", "threshold"), [(6, 0.9), (5.8, 1.0), (5, 0.6), (4, 0.6), (1, 0.51)])
def test_the_worst_case_stands_where_the_other_theorem_is_silent(size, threshold):
    assert unimodal_bound(size, 10, 50, threshold) == worst_case_bound(size, 10, 50, threshold)


def largest_tail(n_pairs, mean, least):
    """The largest chance of at least ``least`` of n pairs, for unimodal distributions with at most this mean.

    Those with their peak at m are mixtures of uniform ones on intervals around m.
    """
    best = 0.0
    for mode in range(n_pairs + 1):
        spans = [(low, high) for low in range(mode + 1) for high in range(mode, n_pairs + 1)]
        means = [(low + high) / 2 / n_pairs for low, high in spans]
        tails = [max(0, high - max(low, least) + 1) / (high - low + 1) for low, high in spans]
        solved = linprog([-t for t in tails], [means], [mean], [[1] * len(spans)], [1])
        best = max(best, -solved.fun if solved.success else 0)
    return best


@pytest.mark.parametrize("theta", [0.05, 0.3, 0.45, 0.57])
def test_the_unimodal_bound_is_the_largest_that_can_happen(theta):
    n_pairs = 8
    for count in range(n_pairs + 1, 2 * n_pairs + 1):
        tau = count / (2 * n_pairs)
        # At frequency τ both halves agree in 2τ − 1 of the pairs at least; a factor's chance is below the bound per p.
        possible = largest_tail(n_pairs, theta**2, count - n_pairs)
        bound = unimodal_bound(100 * theta, 100, n_pairs, tau) / 100
        assert possible <= bound + 1e-9
        if bound < worst_case_bound(100 * theta, 100, n_pairs, tau) / 100 - 1e-9:
            assert bound == pytest.approx(possible)  # the theorem is sharp
        else:
            assert tau <= 0.75


def test_bounds_are_those_of_the_average_size(result):
    q = result.frequencies.sum()
    assert q**2 / (0.2 * 10) > 10, "the seed no longer shows the case"
    assert result.expected_false == 10  # says nothing: there are no more factors than that
    assert replace(result, threshold=0.9).expected_false == pytest.approx(q**2 / (0.8 * 10))
    assert result.expected_false_unimodal == unimodal_bound(q, 10, 15, 0.6) <= 10


def test_a_frequency_at_least_twice_the_threshold_less_one_means_agreement(result):
    assert np.all(result.simultaneous >= 2 * result.frequencies - 1 - 1e-12)
    assert np.all(result.simultaneous <= result.frequencies)


# --- what comes back ----------------------------------------------------------------------------------


def test_selected_are_those_at_or_above_the_threshold_most_frequent_first():
    some = made_up([0.1, 0.6, 0.9, 0.59, 0.9], simultaneous=[0, 0.3, 0.8, 0.3, 0.85])
    assert some.selected.tolist() == [4, 2, 1]
    assert some.order.tolist() == [4, 2, 1, 3, 0]
    assert made_up([0.55, 0.7], threshold=0.55).selected.tolist() == [1, 0]
    assert made_up([0.1, 0.2]).selected.tolist() == []


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_for_each_factor(backend):
    frame = nw.from_native(made_up([0.1, 0.9]).to_frame(backend))
    assert frame.columns == ["factor", "frequency", "simultaneous", "selected"]
    assert frame["factor"].to_list() == ["x0", "x1"]
    assert frame["frequency"].to_list() == [0.1, 0.9]
    assert frame["selected"].to_list() == [False, True]


def test_it_prints_as_a_table():
    assert repr(made_up([0.02, 0.9, 0.1])).splitlines() == [
        "Stability: 50 pairs of half-samples, each selecting 1.02 of 3 factors on average",
        "1 selected with a frequency of at least 0.6; expected of low selection probability: at most 1.73 (0.913 if "
        "unimodal)",
        "factor  frequency  both halves",
        "x1           0.90         0.80",
        "x2           0.10         0.00",
        "x0           0.02         0.00",
    ]


@pytest.mark.parametrize("name", firstfactor.__all__)
def test_no_module_takes_the_place_of_a_public_name(name):
    # Importing the module would bind its name in the package, and the function be gone.
    assert importlib.util.find_spec(f"firstfactor.{name}") is None


# --- progress and interrupts --------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_counts_every_half_in_the_calling_thread(data, n_jobs):
    told = []

    def progress(done, total):
        told.append((done, total, threading.get_ident()))

    stability(*data, n_pairs=6, n_jobs=n_jobs, random_state=0, progress=progress)
    assert told == [(done, 12, threading.get_ident()) for done in range(1, 13)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_progress_ends_the_work(monkeypatch, data, n_jobs):
    seen = spy_on_halves(monkeypatch)

    def progress(*_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stability(*data, n_pairs=100, n_jobs=n_jobs, random_state=0, progress=progress)
    time.sleep(0.2)  # for a half that was under way
    assert len(seen) < 100


@pytest.mark.slow
def test_ctrl_c_stops_within_a_second():
    before = """
        from firstfactor import stability
        from firstfactor.problems import friedman
        stability(*friedman.sample(300, 20), n_pairs=2, n_jobs=2)
        X, y = friedman.sample(20_000, 20)
    """
    assert seconds_to_stop("stability(X, y, n_pairs=1000, n_jobs=2)", before) < 5  # a second on a quiet machine


# --- bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_pairs": 0}, "n_pairs must be a whole number of at least 1; got 0."),
        ({"n_pairs": 2.0}, "n_pairs must be a whole number of at least 1; got 2.0."),
        ({"threshold": 0.5}, "threshold must be above 0.5: there is no bound on false selections below; got 0.5."),
        ({"threshold": 1.01}, "threshold must be a number from 0.5 to 1; got 1.01."),
        ({"threshold": "high"}, "threshold must be a number from 0.5 to 1; got 'high'."),
        ({"random_state": -1}, "random_state must be None, a non-negative integer or a numpy Generator; got -1."),
        ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0 (-1: all cores); got 0."),
        ({"selector": FIRST(task="guess")}, "task must be one of 'auto', 'regression', 'classification'; got 'guess'."),
        (
            {"selector": FIRST(n_neighbors=11)},
            "n_neighbors of the selector must be at most 10, the rows of a half; got 11. Lower it or use more rows.",
        ),
        (
            {"selector": FIRST(n_outer=15)},
            "n_outer of the selector must be at most 10, the rows of a half; got 15. Lower it or use more rows.",
        ),
        ({"selector": FIRST(forward="slow")}, 'forward must be "full"'),
    ],
)
def test_bad_options_are_refused(options, message):
    X, y = friedman.sample(20, seed=0)
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        stability(X, y, **options)


@pytest.mark.parametrize(("selector", "kind"), [(FIRST, "FIRST"), ("FIRST", "str")])
def test_only_a_first_can_select(selector, kind):
    X, y = friedman.sample(20, seed=0)
    expected = f"selector must be a FIRST object, such as FIRST(n_neighbors=3); got {kind}."
    with pytest.raises(TypeError, match="^" + re.escape(expected)):
        stability(X, y, selector=selector)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0], [2.0], [np.inf], [3.0]], [1, 2, 3, 4]),
        ([[1.0], [2.0], [3.0], [4.0]], [1, 2, 3]),
        ([[1.0], [2.0], [3.0], [4.0]], [1, 1, 1, 1]),
        ([[1.0], [2.0], [3.0], [4.0]], [1, "b", "c", "a"]),
        ([[1.0], [2.0], [3.0], [4.0]], None),
        ([1.0, 2.0, 3.0, 4.0], [1, 2, 3, 4]),
        (pl.LazyFrame({"a": [1.0, 2.0, 3.0, 4.0]}), [1, 2, 3, 4]),
        (pd.DataFrame({"a": ["1", "2", "3", "4"]}), [1, 2, 3, 4]),
    ],
)
def test_bad_data_are_refused_as_by_first_before_any_work(monkeypatch, X, y):
    with pytest.raises((ValueError, TypeError)) as theirs:
        FIRST().fit(X, y)
    seen = spy_on_halves(monkeypatch)
    with pytest.raises(type(theirs.value), match="^" + re.escape(str(theirs.value)) + "$"):
        stability(X, y)
    assert not seen


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match="^" + re.escape("X must have at least 4 rows, 2 for each half; got 3.")):
        stability([[1.0], [2.0], [3.0]], [1, 2, 3])
    with pytest.raises(ValueError, match="n_neighbors of the selector must be at most 2, the rows of a half; got 3"):
        stability([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    assert stability([[1.0], [2.0], [3.0], [4.0]], [1, 2, 3, 4], n_pairs=2).names == ("x0",)


def test_a_class_with_a_single_row_is_refused():
    with pytest.raises(ValueError, match="y must have at least 2 rows of each class, 1 for each half; class 'b' has 1"):
        stability(np.arange(10.0)[:, None], ["a"] * 9 + ["b"])


# --- the picture --------------------------------------------------------------------------------------


def labels_of(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def stays_inside(figure):
    """Whether everything drawn lies on the canvas."""
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    return box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height


def test_the_picture_has_a_bar_for_each_factor_and_the_threshold():
    ax = plot_stability(made_up([0.3, 0.999, 0.0, 1.0, 0.002]))
    assert labels_of(ax) == ["x3", "x1", "x0", "x4", "x2"]
    assert [bar.get_width() for bar in ax.patches] == [1.0, 0.999, 0.3, 0.002, 0.0]
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["1.00", ">0.99", "0.30", "<0.01", "never selected", "threshold 0.6"]
    assert ax.get_lines()[0].get_xdata()[0] == 0.6
    assert len({bar.get_facecolor() for bar in ax.patches[:2]}) == 1
    assert ax.patches[1].get_facecolor() != ax.patches[2].get_facecolor()
    assert ax.get_title(loc="left") == "2 of 5 reach the threshold (100 half-samples)"


def test_many_factors_are_summed_up():
    assert labels_of(plot_stability(made_up([0.9] + [0.0] * 30))) == ["x0", "30 others"]
    assert labels_of(plot_stability(made_up([0.0] * 30))) == ["all 30 factors"]
    ax = plot_stability(made_up(np.linspace(0.9, 0.01, 100)))
    assert len(labels_of(ax)) == 60 and labels_of(ax)[-1] == "41 more"
    assert ax.texts[59].get_text() == "at most 0.37 each"


@pytest.mark.parametrize("threshold", [0.51, 1.0])
@pytest.mark.parametrize("name", ["x{}", "average daily temperature of sensor number {} in the northern hall at night"])
def test_the_picture_fits_whatever_the_names(threshold, name):
    names = tuple(name.format(j) for j in range(24))
    ax = plot_stability(made_up(np.linspace(1, 0, 24), threshold=threshold, names=names))
    assert len(set(labels_of(ax))) == len(labels_of(ax))
    assert stays_inside(ax.figure)


def test_it_can_be_drawn_into_given_axes():
    ax = Figure(figsize=(6, 3)).add_subplot()
    assert plot_stability(made_up(np.linspace(1, 0, 60)), ax) is ax
    assert 3 <= len(labels_of(ax)) < 30


def test_other_results_are_not_drawn_as_stability():
    with pytest.raises(TypeError, match="result must be the result of stability; got FIRST"):
        plot_stability(FIRST())
