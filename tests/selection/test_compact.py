"""Compact sets: few factors that explain nearly as much as all selected ones."""

import numpy as np
import pytest
from sample_tables import friedman

from firstfactor import FIRST
from firstfactor.results.path import Path
from firstfactor.selection.compact import make_compact
from firstfactor.selection.selection import Selection, ignore_step
from firstfactor.settings import Options
from firstfactor.variance.conditional import open_variances


def weak_and_strong(rows=300, seed=0):
    """Four factors that matter less and less, and one that does not."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 5))
    return X, X @ [3, 2, 1, 0.8, 0] + 0.3 * rng.normal(size=rows)


def chosen(X, y, **parameters):
    return sorted(FIRST(**parameters).fit(X, y).selected_.tolist())


@pytest.mark.parametrize("flag", [False, True])
def test_flags_of_numpy_are_flags(flag):
    X, y = weak_and_strong()
    assert chosen(X, y, compact=np.bool_(flag)) == chosen(X, y, compact=flag)
    assert len(chosen(X, y, compact=True)) < len(chosen(X, y, compact=False)) == 4
    assert len(chosen(X, y, compact=1.0)) == 1


def test_a_tolerance_is_a_share_of_the_variance_of_the_response():
    X, y = weak_and_strong()
    everything = FIRST().fit(X, y)
    for tolerance in (0.0, 0.01, 0.03, 0.1, 0.3):
        compact = FIRST(compact=tolerance).fit(X, y)
        best = max(explained for step in compact.path_.steps for explained in (step.base_explained, *step.explained))
        assert (best - compact.explained_variance_) / y.var(ddof=1) <= tolerance + 1e-12
        assert set(compact.selected_) <= set(everything.selected_)
    assert len(chosen(X, y, compact=0.3)) < len(chosen(X, y, compact=0.03))


def test_what_all_factors_that_leave_cost_counts():
    """Each of four switches is a quarter of the response: one may go, though no further one would cost more."""
    X = np.random.default_rng(0).integers(0, 2, size=(480, 4))
    assert len(chosen(X, X.sum(axis=1), compact=0.3, task="regression")) == 3
    assert len(chosen(X, X.sum(axis=1), compact=0.6, task="regression")) == 2


def test_one_more_would_cost_too_much():
    X, y = weak_and_strong()
    compact = FIRST(compact=0.03).fit(X, y)
    last = compact.path_.steps[-1]
    best = max(explained for step in compact.path_.steps for explained in (step.base_explained, *step.explained))
    assert (last.phase, last.chosen) == ("compact", ())
    assert (best - last.explained.max()) / y.var(ddof=1) > 0.03


def test_forced_factors_stay():
    X, y = weak_and_strong()
    assert chosen(X, y, compact=1.0, forced=[3, 4]) == [3, 4]
    assert 4 in chosen(X, y, compact=True, forced=[4])


def test_the_half_that_selects_makes_the_set_compact():
    X, y = weak_and_strong(rows=600)
    selector = FIRST(compact=0.3, split=True, random_state=0).fit(X, y)
    assert selector.indices_.n_rows == 300
    assert selector.selected_.size < 4
    np.testing.assert_array_equal(selector.support_, FIRST(compact=0.3, split=True, random_state=0).choose(X, y))


@pytest.mark.parametrize("rule", ["paper", "calibrated"])
def test_p_values_and_importances_belong_to_the_factors_that_are_left(rule):
    X, y = weak_and_strong()
    X = X[:, ::-1]  # those that are left come last
    wide, narrow = (FIRST(rule=rule, compact=c, random_state=0).fit(X, y) for c in (False, 0.1))
    assert 0 < narrow.selected_.size < wide.selected_.size
    np.testing.assert_array_equal(np.isfinite(narrow.standard_errors_), narrow.support_)
    if rule == "calibrated":
        np.testing.assert_array_equal(narrow.p_values_[narrow.support_], wide.p_values_[narrow.support_])
    dropped_by_compact = set(narrow.path_.dropped_by_compact)
    assert dropped_by_compact == set(wide.selected_) - set(narrow.selected_)
    assert {narrow.explanations_.reasons[i] for i in dropped_by_compact} <= {"adds little", "stands in"}
    assert {narrow.indices_.why_left_out(i) for i in dropped_by_compact} == {"the others explain nearly as much"}


def test_one_standard_error_is_the_default():
    X, y = weak_and_strong()
    sure = FIRST().fit(X, y).indices_.uncertainty
    assert chosen(X, y, compact=True) == chosen(X, y, compact=float(np.hypot(sure.r2, sure.r2_bias)))
    assert chosen(X, y, compact=True) != chosen(X, y, compact=0.1 * float(np.hypot(sure.r2, sure.r2_bias)))


@pytest.mark.parametrize("rule", ["paper", "calibrated"])
def test_steps_are_told_as_they_happen(rule, capsys):
    X, y = friedman(300)
    path = FIRST(rule=rule, compact=0.1, verbose=1, random_state=0).fit(X, y).path_
    told = [line.split(":")[0] for line in capsys.readouterr().err.splitlines()]
    assert told == [f"[FIRST] {step.phase}" for step in path.steps]
    assert "compact" in str(path)
    assert (path.to_frame()["phase"] == "compact").any()
    for step in path.steps:
        assert 0 <= step.base_explained <= path.response_variance


# --- two for one ---------------------------------------------------------------------------------------


def sum_and_parts(rows=400):
    """Two parts, their sum with some noise, and another factor: the parts explain most, but the sum is one factor."""
    rng = np.random.default_rng(0)
    a, b, other = rng.normal(size=(3, rows))
    return np.column_stack([a, b, a + b + 0.3 * rng.normal(size=rows), other]), a + b + other


def narrow(X, y, tolerance, forced=()):
    """The compact set of all factors."""
    with open_variances(X, y, Options()) as variances:
        selection = Selection(variances.design.varying, (), variances.response.variance, len(y), forced=forced)
        return make_compact(variances, selection, tolerance, ignore_step)


@pytest.mark.parametrize("others", [[3], []])
def test_two_leave_for_one_that_left_before(others):
    X, y = sum_and_parts()
    y = y if others else y - X[:, 3]
    found = narrow(X[:, [0, 1, 2, *others]], y, tolerance=0.1)
    assert [(step.leaving, step.entering) for step in found.steps] == [((2,), ()), ((0, 1), (2,)), ((), ())][
        : 2 + len(others)
    ]
    assert found.kept == (2, *others)
    path = Path(("a", "b", "sum", "other"), 1.0, found.steps)
    assert path.removed == path.dropped_by_compact == (0, 1)
    assert path.describe(found.steps[1])[-1] == "− a, − b, + sum"


def test_forced_factors_are_not_exchanged():
    X, y = sum_and_parts()
    assert narrow(X, y, 0.1, forced=(0,)).kept == (0, 1, 3)


def test_too_many_exchanges_are_not_tried(monkeypatch):
    X, y = sum_and_parts()
    monkeypatch.setattr("firstfactor.selection.compact.MAX_EXCHANGES", 2)
    assert narrow(X, y, 0.1).kept == (0, 1, 3)
    monkeypatch.setattr("firstfactor.selection.compact.MAX_EXCHANGES", 3)
    assert narrow(X, y, 0.1).kept == (2, 3)
