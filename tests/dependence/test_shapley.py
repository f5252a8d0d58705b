"""Fair shares: they add up to one, agree with closed forms, and from some orders nearly as from all sets."""

import numpy as np
import pytest
from tables import friedman

from firstfactor import FIRST, shapley_effects, total_indices
from firstfactor.dependence import shapley
from firstfactor.dependence.shapley import exact_target, fair_shares
from firstfactor.parameters import Options
from firstfactor.problems import ishigami
from firstfactor.variance.conditional import open_variances

estimators = pytest.mark.parametrize("estimator", ["nearest", "extrapolated"])


def test_nothing_to_share_is_shared_by_nobody():
    y = np.random.default_rng(0).normal(size=20)
    assert shapley_effects(np.ones((20, 2)), y).values.tolist() == [0, 0]
    assert FIRST(importance="shapley").fit(np.ones((20, 2)), y).importances_.tolist() == [0, 0]


def test_a_share_of_nothing_is_not_known_and_soon_found_out(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 16)), rng.normal(size=40)
    drawn = count_orders(monkeypatch)
    found = shapley_effects(X, y)
    assert found.explained_variance == 0
    np.testing.assert_array_equal(found.values, 0)
    np.testing.assert_array_equal(found.standard_errors, 0.5)
    assert drawn == [2 * shapley.ORDERS_AT_A_TIME]


def count_orders(monkeypatch):
    """How many orders each call draws; None for all sets."""
    drawn = []

    def counted(variances, factors):
        found = fair_shares(variances, factors)
        drawn.append(found.n_orders)
        return found

    monkeypatch.setattr("firstfactor.dependence.shares.fair_shares", counted)
    return drawn


def test_shares_below_0_are_shown_as_0_within_their_intervals():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    found = shapley_effects(X, X[:, 0] + rng.normal(size=60))
    assert found.values.min() < 0
    np.testing.assert_array_equal(found.shares, np.clip(found.values, 0, 1))
    low, high = found.interval().T
    assert ((low <= found.shares) & (found.shares <= high)).all()
