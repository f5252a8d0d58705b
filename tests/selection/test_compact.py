"""Compact sets: few factors that explain nearly as much as all selected ones."""

import numpy as np
import pytest
from tables import friedman

from firstfactor import FIRST


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
    wide, narrow = (FIRST(rule=rule, compact=c, random_state=0).fit(X, y) for c in (False, 0.1))
    assert 0 < narrow.selected_.size < wide.selected_.size
    np.testing.assert_array_equal(np.isfinite(narrow.standard_errors_), narrow.support_)
    if rule == "calibrated":
        np.testing.assert_array_equal(narrow.p_values_[narrow.support_], wide.p_values_[narrow.support_])
    spared = set(narrow.path_.spared)
    assert spared == set(wide.selected_) - set(narrow.selected_)
    assert {narrow.explanations_.reasons[i] for i in spared} <= {"adds little", "stands in"}
    assert {narrow.indices_.why_left_out(i) for i in spared} == {"the others explain nearly as much"}


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
