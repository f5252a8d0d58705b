"""Sums of conditional variances: how many times each set counts, and what that does to bias."""

import numpy as np
import pytest

from firstfactor import closed_indices, total_indices
from firstfactor.inference.targets import Target, closed_target, interaction_target, total_target
from firstfactor.results.uncertainty import Uncertainty


def counts(target, row=0):
    """How many times each set counts in one of the sums, those that do not left out."""
    sums = dict(zip(target.sets, target.coefficients[row].tolist(), strict=True))
    return {u: times for u, times in sums.items() if times}, target.times_whole[row], target.times_total[row]


def test_sets_count_as_the_formulas_say():
    assert counts(total_target((2, 0, 1), [(1, 0)])) == ({(0, 1): 1.0}, -1.0, 0.0)
    assert counts(total_target((0, 1), [(0,)], noise=False)) == ({(0,): 1.0}, 0.0, 0.0)
    assert counts(closed_target((0, 1, 2), [(2, 0)])) == ({(0, 2): -1.0}, 0.0, 1.0)
    assert counts(interaction_target((0, 1, 2), [((0,), (2,))])) == ({(1,): 1.0, (1, 2): -1.0, (0, 1): -1.0}, 1.0, 0.0)


def test_equal_sets_are_added_up():
    assert counts(total_target((0, 1), [(0, 1)])) == ({}, 0.0, 0.0)  # without nothing, nothing is lost
    assert counts(closed_target((0, 1), [()])) == ({}, 0.0, 0.0)  # nothing explains nothing
    assert counts(closed_target((0, 1), [(1, 0)])) == ({}, -1.0, 1.0)  # all explain all
    assert counts(interaction_target((0, 1), [((0,), (1,))])) == ({(1,): -1.0, (0,): -1.0}, 1.0, 1.0)


def test_no_factors_leave_the_variance_of_the_response():
    target = Target.make((), [{(): 1.0}])
    assert (target.sets, target.times_whole.tolist(), target.times_total.tolist()) == ((), [0.0], [1.0])


def test_what_moves_an_index_more_is_its_bias():
    """All factors leave too much: total indices come out low by what is not theirs, closed ones high by what is."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X @ [2, 1, 0.5] + 0.3 * rng.normal(size=200)
    total, closed = total_indices(X, y, uncertainty=True), closed_indices(X, y, variance_estimator="nearest")
    allowed = total.uncertainty.r2_bias / total.r2_ceiling
    assert allowed > 0.01
    np.testing.assert_allclose(total.uncertainty.bias, (1 - total.values) * allowed, rtol=1e-9)
    np.testing.assert_allclose(closed.uncertainty.bias, closed.values * allowed, rtol=1e-9)


def test_errors_of_two_sources_are_added_up_to_what_is_not_known():
    nothing = np.zeros(3)
    sure = Uncertainty(np.array([0.3, 0.0, np.nan]), nothing, 0.0, 0.0, nothing, 0.0)
    assert sure.add_error(np.array([0.4, 0.1, 0.1])).standard_errors == pytest.approx([0.5, 0.1, np.nan], nan_ok=True)
    assert sure.add_error(7.0).standard_errors == pytest.approx([0.5, 0.5, np.nan], nan_ok=True)
