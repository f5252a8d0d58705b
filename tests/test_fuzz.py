"""A short run of the fuzzer, and what it would not be worth anything without: that it sees every kind of failure."""

import sys
import textwrap
import warnings
from copy import copy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from firstfactor import FIRST, cumulative_ranking, interactions, shapley_effects
from firstfactor.results.explanations import Explanations
from tests.fuzz import invariants
from tests.fuzz.cases import make_case
from tests.fuzz.classify import OUR_WARNINGS, Outcome, judge_text, quiet, run_case
from tests.fuzz.driver import Run

REGRESSIONS = Path(__file__).parent / "fuzz" / "regressions.txt"

# A child that speaks as the real one does, and ends as its cases say.
ACTOR = textwrap.dedent("""
    import json, os, signal, sys, time
    print("ready", flush=True)
    for line in sys.stdin:
        kind, seed = line.strip().split(":")
        if kind == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if kind == "stop":
            sys.exit(3)
        if kind == "hang":
            time.sleep(100)
        print(json.dumps({"kind": kind, "what": seed}), flush=True)
""")


def fake_case(run, **attributes):
    return SimpleNamespace(run=run, allowed_warnings=OUR_WARNINGS, error=None, **attributes)


def known_failures():
    lines = (line.partition("#")[0].strip() for line in REGRESSIONS.read_text().splitlines())
    return [line for line in lines if line]


def test_short_run():
    pytest.importorskip("twinning", reason="some of the tables draw twins: they need the extra twinning")
    kinds = {"tables": 500, "sharing": 200, "files": 150, "hostile": 100}
    names = [*known_failures(), *(f"{kind}:{seed}" for kind, count in kinds.items() for seed in range(count))]
    run = Run().run(names)
    assert len(run.outcomes) == len(set(names))
    assert not run.failures, run.summary()


@pytest.mark.parametrize("name", ["tables:3", "sharing:3", "files:5", "hostile:3"])
def test_a_case_is_made_from_its_name_alone(name):
    with quiet():
        assert str(make_case(name)) == str(make_case(name))


def test_different_seeds_make_different_cases():
    with quiet():
        assert len({str(make_case(f"tables:{seed}")) for seed in range(20)}) == 20


def test_a_crash_belongs_to_its_case_and_others_go_on():
    run = Run(command=(sys.executable, "-c", ACTOR)).run(["result:1", "crash:2", "result:3", "stop:4", "refused:5"])
    ends = {name: (outcome.kind, outcome.what) for name, outcome in run.outcomes.items()}
    assert ends == {
        "result:1": ("result", "1"),
        "crash:2": ("failure", "crash: SIGSEGV"),
        "result:3": ("result", "3"),
        "stop:4": ("failure", "crash: exit code 3"),
        "refused:5": ("refused", "5"),
    }


def test_a_case_without_an_end_is_a_failure():
    run = Run(limit=0.5, command=(sys.executable, "-c", ACTOR)).run(["hang:1", "result:2"])
    assert run.outcomes["hang:1"].what == "no end within 0.5 s"
    assert list(run.failures) == ["hang:1"]
    assert "--replay hang:1" in run.summary()


def test_a_child_that_does_not_start_is_an_error():
    with pytest.raises(RuntimeError, match="does not start"):
        Run(command=(sys.executable, "-c", "1/0")).run(["result:1"])


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: FIRST().fit([[1, 2], [3, 4]], [1.0, 2.0, 3.0]), "refused"),
        (lambda: FIRST(rule="guess").fit([[1], [2]], [1, 2]), "refused"),
        (lambda: float("x"), "failure"),  # a ValueError, but not ours
        (lambda: [][0], "failure"),
        (lambda: np.array([1.0]) / 0, "failure"),  # numpy warns
        (lambda: warnings.warn("old", DeprecationWarning, stacklevel=1), "failure"),
        (lambda: sys.exit(1), "failure"),
    ],
)
def test_how_calls_end(call, kind):
    def run():
        call()
        return ()

    assert run_case(fake_case(run)).kind == kind


def test_a_contradiction_is_a_failure():
    assert run_case(fake_case(lambda: ["estimate outside of its interval"])).kind == "failure"
    assert run_case(fake_case(lambda: [])).kind == "result"


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
    assert (judge_text(text) is None) == fine


def test_messages_that_differ_in_values_only_count_as_one():
    one, other = (Outcome("refused", f"column {name!r} of X has {n:,} gaps.") for name, n in [("a", 3), ("b", 4_000)])
    assert one.template == other.template


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
    vars(said)["_said"] = [(*reasons, sentence), *zip(others.reasons[1:], others.sentences[1:], strict=True)]
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


@pytest.mark.parametrize(
    "shown", ["120 % of y", "-3 % of y", "30 % of y: at least 40 % and at most 50 %", "30 % of y: at most 20 %"]
)
def test_contradictions_in_the_terminal_are_seen(shown):
    sentence = "From all 3 factors together, models can explain about {}, as far as these rows can tell."
    assert not [*invariants.of_text(sentence.format("30 % of y: at least 20 % and at most 50 %"))]
    assert not [*invariants.of_text(sentence.format("30 % of y: at least 20 %"))]
    assert [*invariants.of_text(sentence.format(shown))]
