"""Any call ends in a result that does not contradict itself, or in an error in our own words.

Every run of the tests tries a few calls, the same each time. CONTRIBUTING says how to try thousands of others.
"""

import contextlib
import io
import sys
import warnings
from copy import copy
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given

import firstfactor
from firstfactor import FIRST, cumulative_ranking, interactions, plots, shapley_effects
from firstfactor.dependence import shapley
from firstfactor.results.explanations import Explanations
from firstfactor.variance import conditional
from tests import invariants
from tests.endings import Refused, fault_of_text, refusing
from tests.relations import vary
from tests.strategies import FUNCTIONS, SHARING_FUNCTIONS, calls, fuzzing, pick


def run(call, X, y, rows, **changed):
    """Make a call, or one that differs in some parameters."""
    options = call.options | changed
    if isinstance(options.get("selector"), dict):
        options["selector"] = FIRST(**options["selector"] | {k: v for k, v in changed.items() if k != "n_jobs"})
    if options.get("random_state") in (np.random.default_rng, np.random.SeedSequence):
        options["random_state"] = options["random_state"](call.seed)
    if call.function in ("fit", "choose"):
        with contextlib.redirect_stderr(io.StringIO()):  # verbose
            return getattr(FIRST(**options), call.function)(X, y, **rows)
    return getattr(firstfactor, call.function)(X, y, **options, **rows)


def faults_of_result(call, result, rng):
    """What contradicts itself in a result."""
    level = pick(rng, 0.95, 0.95, 0.5, 0.9, 0.999999, 0.0)
    match call.function:
        case "choose":
            return invariants.of_choice(result, call.table.n_factors, call.options.get("factor_groups"))
        case "explained_variance":
            return invariants.of_explained(result)
        case "stability":
            return invariants.of_stability(result)
        case "interactions":
            return invariants.of_pairs(result, level)
        case "cumulative_ranking":
            return invariants.of_ranking(result, level)
    of_result = invariants.of_selector if call.function == "fit" else invariants.of_indices
    indices = result.indices_ if call.function == "fit" else result
    return [*of_result(result, level), *invariants.of_rows_used(indices, call.table, call.rows, call.options)]


def faults_of_threads(call, result):
    """Differences to another number of threads; tables so small have one only, unless told otherwise."""
    jobs = 2 if call.options.get("n_jobs") in (None, 1) else 1
    with mock.patch.object(conditional, "SMALL", 0):
        try:
            other = run(call, call.table.X, call.table.y, call.rows, n_jobs=jobs)
        except (ValueError, TypeError) as error:
            return [f"refused with n_jobs={jobs} only: {error}"]
    return invariants.same_bits(result, other, "with another number of threads")


def faults_of_variation(call, result, rng):
    """Differences to another call that has to give the same."""
    variation = vary(call, result, rng)
    if variation is None or (call.function == "stability" and variation.options):
        return ()
    try:
        other = run(call, variation.X, variation.y, variation.rows, **variation.options)
    except (ValueError, TypeError) as error:
        return [f"refused {variation.what} only: {error}"]
    same = invariants.same_bits if variation.to_the_bit else invariants.same_importances
    return same(result, other, variation.what)


def read(result, table, rng, folder):
    """Use what results offer; most of it seldom, since it takes long."""
    str(result), repr(result)
    if hasattr(result, "path_"):
        str(result.path_), str(result.tree_), repr(result.explanations_)
    if rng.random() < 0.05:
        for each in (result, *(getattr(result, name, None) for name in ("path_", "indices_", "explanations_"))):
            if hasattr(each, "to_frame"):
                each.to_frame(pick(rng, "pandas", "polars", "pyarrow"))
    if not isinstance(result, FIRST):
        return
    if rng.random() < 0.05:
        result.transform(table.X)
        result.get_feature_names_out()
        result._repr_html_()
    if rng.random() < 0.005:
        drawn = [result.plot(), plots.plot_path(result), *plots.plot_effects(table.X, table.y, result)[:1]]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")  # where no font has a character
            for axes in drawn:  # some faults are seen only when a picture is rendered
                axes.figure.savefig(io.BytesIO(), format="svg")
    if rng.random() < 0.003:
        path = folder / "report.html"
        result.report(path, table.X, table.y)
        assert "<html" in path.read_text(encoding="utf-8")[:1000]


def check(call, folder):
    """Make a call and look at the result from all sides."""
    rng = np.random.default_rng(call.seed)
    with contextlib.suppress(Refused), refusing():
        result = run(call, call.table.X, call.table.y, call.rows)
        faults = [*faults_of_result(call, result, rng)]
        if call.is_repeatable() and rng.random() < 0.04:
            faults += faults_of_threads(call, result)
        if call.is_repeatable() and rng.random() < 0.35:
            faults += faults_of_variation(call, result, rng)
        assert not faults
        read(result, call.table, rng, folder)


@fuzzing
@given(call=calls(FUNCTIONS))
def test_any_call(call, tmp_path_factory):
    check(call, tmp_path_factory.getbasetemp())


@fuzzing
@given(call=calls(SHARING_FUNCTIONS))
def test_any_call_that_looks_at_what_factors_share(call, tmp_path_factory):
    with mock.patch.object(shapley, "MAX_ORDERS", 60):  # all of them take a minute where little is explained
        check(call, tmp_path_factory.getbasetemp())


# --- that every kind of failure is seen ---------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda: FIRST().fit([[1, 2], [3, 4]], [1.0, 2.0, 3.0]),
        lambda: FIRST(rule="guess").fit([[1], [2]], [1, 2]),
    ],
)
def test_errors_of_ours_are_refusals(call):
    with pytest.raises(Refused), refusing():
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: float("x"),  # a ValueError, but not ours
        lambda: [][0],
        lambda: np.array([1.0]) / 0,  # numpy warns
        lambda: warnings.warn("old", DeprecationWarning, stacklevel=1),
        lambda: sys.exit(1),
    ],
)
def test_other_errors_and_warnings_are_failures(call):
    with pytest.raises((BaseException, pytest.fail.Exception)) as raised, refusing():
        call()
    assert not isinstance(raised.value, Refused)


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        ("n_neighbors must be a whole number from 2 to 5 (the number of rows); got <object object at 0x1>.", True),
        ("column 'truth value' of X contains NaN (row 0).", True),
        ("", False),
        ("something went wrong", False),
        ("The truth value of an array with more than one element is ambiguous in y.", False),
        ("column 'a' of X must hold numbers, text or categories; got Unknown.", False),
    ],
)
def test_what_an_error_may_say(text, fine):
    assert (fault_of_text(text) is None) == fine


def test_invariants_hold_for_a_plain_result():
    X = np.random.default_rng(0).uniform(size=(100, 3))
    selector = FIRST().fit(X, X[:, 0] + X[:, 1])
    assert not [*invariants.of_selector(selector, 0.9)]


@pytest.fixture(scope="module")
def shared():
    """A result with a cluster, a tree, and a factor that can be exchanged."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    selector = FIRST().fit(np.column_stack([X, X[:, 1] + 0.1 * rng.normal(size=200)]), X[:, 0] + X[:, 1])
    assert selector.clusters_ and selector.indices_.sharing.exchanges
    assert not [*invariants.of_selector(selector, 0.9)]
    return selector


@pytest.mark.parametrize(
    "change",
    [
        lambda old: {"clusters": old.clusters * 2},
        lambda old: {"clusters": (replace(old.clusters[0], positions=old.clusters[0].positions[::-1]),)},
        lambda old: {"clusters": (replace(old.clusters[0], joint=np.nan),)},
        lambda old: {"clusters": (replace(old.clusters[0], standard_error=-0.1),)},
        lambda old: {"clusters": (replace(old.clusters[0], kept=(0.5, 1.0)),)},
        lambda old: {"clusters": (replace(old.clusters[0], factors=("x2",), positions=(2,), kept=(1.0,)),)},
        lambda _: {"tree": None},
        lambda old: {"tree": replace(old.tree, nodes=old.tree.nodes[:-1])},
        lambda old: {"tree": replace(old.tree, dependence=old.tree.dependence + 1)},
        lambda old: {"exchanges": {0: next(iter(old.exchanges.values()))}},
        lambda old: {"exchanges": {i: replace(each, cost=1.5) for i, each in old.exchanges.items()}},
        lambda old: {"alone": replace(old.alone, values=old.alone.values + 1)},
        lambda old: {"alone": replace(old.alone, values=-old.alone.values)},
        lambda old: {"alone": replace(old.alone, standard_errors=old.alone.standard_errors + 0.6)},
    ],
)
def test_contradictions_in_what_factors_share_are_seen(shared, change):
    sharing = shared.indices_.sharing
    assert [*invariants.of_indices(replace(shared.indices_, sharing=replace(sharing, **change(sharing))), 0.9)]


def test_fair_shares_that_do_not_add_up_are_seen():
    X = np.random.default_rng(0).uniform(size=(60, 3))
    fair = shapley_effects(X, X.sum(axis=1))
    assert not [*invariants.of_indices(fair, 0.9)]
    assert [*invariants.of_indices(replace(fair, values=fair.values * 0.9), 0.9)]


@pytest.mark.parametrize(
    ("reasons", "sentence"),
    [
        (("adds nothing",), "x0 is selected: without it, 50 % of what is explained is lost."),
        (("selected",), "x0 is selected: with\x1b[31m"),
        (("selected",), "no end"),
        (("selected",), "x0 never raised what is explained: with it, R² would change by +0.120."),
    ],
)
def test_explanations_that_contradict_the_selection_or_themselves_are_seen(shared, reasons, sentence):
    others = shared.explanations_
    selector = copy(shared)
    selector.explanations_ = said = Explanations(shared.indices_)
    vars(said)["_found"] = [(*reasons, sentence), *zip(others.reasons[1:], others.sentences[1:], strict=True)]
    assert [*invariants.of_selector(selector, 0.9)]


def test_contradictions_in_pairs_and_rankings_are_seen():
    X = np.random.default_rng(0).uniform(size=(60, 3))
    pairs, ranking = interactions(X, X.sum(axis=1)), cumulative_ranking(X, X.sum(axis=1))
    assert not [*invariants.of_pairs(pairs, 0.9), *invariants.of_ranking(ranking, 0.9)]
    assert [*invariants.of_pairs(replace(pairs, pairs=((0, 1), (1, 0), (1, 2))), 0.9)]
    estimates = replace(pairs.estimates, p_values=pairs.p_values + 1)
    assert [*invariants.of_pairs(replace(pairs, estimates=estimates), 0.9)]
    assert [*invariants.of_ranking(replace(ranking, order=(0, 0, 1)), 0.9)]
    half = replace(ranking.cumulative, values=ranking.values / 2)
    assert [*invariants.of_ranking(replace(ranking, cumulative=half), 0.9)]


@pytest.mark.parametrize(
    "changed",
    [
        {"importance": 1.5},
        {"importance": -0.1},
        {"low": 0.6},
        {"high": 0.3},
        {"low": -0.2},
        {"p_value": 1.2},
        {"standard_error": -1.0},
        {"standard_error": np.inf},
    ],
)
def test_contradictions_in_rows_are_seen(changed):
    row = {"importance": 0.5, "low": 0.2, "high": 0.7, "p_value": 0.01, "standard_error": 0.1}
    assert not [*invariants.of_rows([row])]
    assert [*invariants.of_rows([row | changed])]


@pytest.mark.parametrize("shown", ["120 %", "-3 %", "30 % (95 % interval 40–50 %)", "30 % (at most 20 %)"])
def test_contradictions_in_the_terminal_are_seen(shown):
    sentence = "From all 3 factors together, models can explain about {} of the variance of y."
    assert not [*invariants.of_text(sentence.format("30 % (95 % interval 20–50 %)"))]
    assert not [*invariants.of_text(sentence.format("30 % (at most 50 %)"))]
    assert [*invariants.of_text(sentence.format(shown))]
