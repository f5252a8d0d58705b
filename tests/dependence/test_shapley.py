"""Fair shares: they add up to one, agree with closed forms, and from some orders nearly as from all sets."""

import numpy as np
import pytest
from sample_tables import friedman

from firstfactor import FIRST, shapley_effects, total_indices
from firstfactor.dependence import shapley
from firstfactor.dependence.shapley import exact_target, fair_shares
from firstfactor.settings import Options
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

    def counted(variances, factors, uncertainty):
        found = fair_shares(variances, factors, uncertainty)
        drawn.append(found.n_orders)
        return found

    monkeypatch.setattr("firstfactor.dependence.shapley.fair_shares", counted)
    return drawn


def test_shares_below_0_are_shown_as_0_within_their_intervals():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    found = shapley_effects(X, X[:, 0] + rng.normal(size=60))
    assert found.values.min() < 0
    np.testing.assert_array_equal(found.shares, np.clip(found.values, 0, 1))
    low, high = found.interval().T
    assert ((low <= found.shares) & (found.shares <= high)).all()


# --- they add up ---------------------------------------------------------------------------------------


@estimators
@pytest.mark.parametrize("factors", [1, 2, 5, 8])
def test_shares_add_up_to_one(estimator, factors):
    X, y = friedman(rows=150, factors=10)
    found = shapley_effects(X[:, 10 - factors :], y, variance_estimator=estimator)
    assert found.explained_variance > 0
    assert found.values.sum() == pytest.approx(1, abs=1e-9)
    assert (found.standard_errors >= 0).all() and (found.standard_errors <= 0.5).all()


def test_each_order_counts_the_same():
    """In the coefficients of a share, sets with and without the factor cancel, and all shares are what is explained."""
    target = exact_target((0, 2, 5))
    np.testing.assert_allclose(target.coefficients.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose([target.times_total.sum(), target.times_whole.sum()], [1, -1])
    assert dict(zip(target.sets, target.coefficients[0], strict=True)) == pytest.approx(
        {(0,): -1 / 3, (2,): 1 / 6, (5,): 1 / 6, (0, 2): -1 / 6, (0, 5): -1 / 6, (2, 5): 1 / 3}
    )


def test_the_order_of_factors_is_that_of_the_shares():
    target, other = exact_target((0, 1, 2)), exact_target((2, 0, 1))
    assert target.sets == other.sets
    np.testing.assert_array_equal(target.coefficients[[2, 0, 1]], other.coefficients)


def test_more_than_fifteen_factors_are_shared_by_drawn_orders(monkeypatch):
    X, y = friedman(rows=120, factors=17)
    monkeypatch.setattr(shapley, "PRECISION", 0.1)
    drawn = count_orders(monkeypatch)
    found = shapley_effects(X, y, random_state=0)
    assert 2 * shapley.ORDERS_AT_A_TIME <= drawn[0] <= shapley.MAX_ORDERS and drawn[0] % 2 == 0
    assert found.values.sum() == pytest.approx(1, abs=1e-9)
    assert (found.standard_errors > 0).all()
    again = shapley_effects(X, y, random_state=0, n_jobs=2)
    assert found.values.tobytes() == again.values.tobytes()
    assert not np.array_equal(found.values, shapley_effects(X, y, random_state=1).values)


def test_drawn_orders_agree_with_all_sets(monkeypatch):
    X, y = friedman(rows=200)
    with open_variances(X, y, Options(random_state=0)) as variances:
        exact = fair_shares(variances, variances.design.varying)
        monkeypatch.setattr(shapley, "MAX_EXACT", 4)
        drawn = fair_shares(variances, variances.design.varying)
        ref, comp = (each.target.effects(variances) / (1 - each.target.left(variances)) for each in (exact, drawn))
    assert exact.n_orders is None and not exact.errors.any()
    assert drawn.n_orders > 2 * shapley.ORDERS_AT_A_TIME
    assert 0 < drawn.errors.max() <= shapley.PRECISION
    assert np.abs(comp - ref).max() < 4 * shapley.PRECISION
    assert 0.4 < np.mean(((comp - ref) / drawn.errors) ** 2) < 2.5  # errors are about as large as they say


def test_chance_of_orders_is_in_the_standard_errors(monkeypatch):
    X, y = friedman(rows=200)
    exact = shapley_effects(X, y).standard_errors
    monkeypatch.setattr(shapley, "MAX_EXACT", 4)
    monkeypatch.setattr(shapley, "MAX_ORDERS", 20)
    assert (shapley_effects(X, y, random_state=0).standard_errors > 1.05 * exact).sum() >= 5


# --- importances of a selection ------------------------------------------------------------------------


def test_importances_can_be_fair_shares_of_the_selected_factors():
    X, y = friedman(rows=300)
    total, fair = (FIRST(importance=importance).fit(X, y) for importance in ("total", "shapley"))
    assert set(total.selected_) == set(fair.selected_)
    assert fair.importances_.sum() == pytest.approx(1, abs=1e-9)
    kept = np.sort(fair.selected_)
    ref = shapley_effects(X[:, kept], y)
    np.testing.assert_allclose(fair.importances_[kept], ref.values, rtol=1e-9)
    np.testing.assert_allclose(fair.standard_errors_[kept], ref.standard_errors, rtol=1e-9)
    assert fair.indices_.is_shapley and ref.is_shapley and not total.indices_.is_shapley
    assert "its fair share of what is explained is" in fair.explain(int(fair.selected_[0]))
    assert (np.diff(fair.importances_[fair.selected_]) <= 0).all()


def test_no_standard_errors_unless_wanted():
    X, y = friedman(rows=60, factors=10)
    found = shapley_effects(X[:, :4], y, uncertainty=False)
    assert found.uncertainty is None
    np.testing.assert_array_equal(found.values, shapley_effects(X[:, :4], y).values)
    assert total_indices(X[:, :4], y).noise_variance == found.noise_variance


def test_copies_share_and_total_indices_give_it_to_none():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(500, 2))
    X = np.column_stack([X, X[:, 1]])
    y = X[:, 0] + X[:, 1]
    fair, total = shapley_effects(X, y).values, total_indices(X, y).values
    assert fair == pytest.approx([0.5, 0.25, 0.25], abs=0.04)
    assert fair[1] == pytest.approx(fair[2], rel=1e-9)
    assert total[1:].max() < 0.01


def test_standard_errors_are_about_the_spread_over_many_tables():
    values, errors = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 3))
        X[:, 1] = 0.7 * X[:, 0] + 0.7 * X[:, 1]
        found = shapley_effects(X, X @ [1, 0.5, 1] + rng.normal(size=200))
        values.append(found.values)
        errors.append(found.standard_errors)
    ratio = np.mean(errors, axis=0) / np.std(values, axis=0, ddof=1)
    assert (ratio > 0.7).all() and (ratio < 1.4).all()


def test_an_order_and_its_reverse_tell_all_of_two_factors(monkeypatch):
    X, y = friedman(rows=60)
    exact = shapley_effects(X[:, 8:], y).values
    monkeypatch.setattr(shapley, "MAX_EXACT", 1)
    np.testing.assert_allclose(shapley_effects(X[:, 8:], y, random_state=0).values, exact, rtol=1e-9)
