"""Answers that can be worked out by hand: linear Gaussian models, classes and outputs with known indices, a panel."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from firstfactor import (
    FIRST,
    closed_indices,
    cumulative_ranking,
    explained_variance,
    interactions,
    shapley_effects,
    total_indices,
)
from firstfactor.problems import ishigami

N = 8000


def gaussian(covariance, coefficients, noise, n_rows=N, seed=0):
    """A linear function of correlated normal factors, plus noise."""
    rng = np.random.default_rng(seed)
    X = rng.multivariate_normal(np.zeros(len(covariance)), covariance, size=n_rows)
    return X, X @ coefficients + np.sqrt(noise) * rng.normal(size=n_rows)


def explained_by(covariance, coefficients, group):
    """Var(E[f | X_u]) = cᵀ Σ₋ᵤ Σᵤᵤ⁻¹ Σᵤ₋ c of a linear function of normal factors."""
    covariance, group = np.asarray(covariance), list(group)
    if not group:
        return 0.0
    reach = covariance[:, group] @ np.linalg.solve(covariance[np.ix_(group, group)], covariance[group])
    return float(coefficients @ reach @ coefficients)


COVARIANCES = {
    "independent": np.eye(4),
    "equally correlated": 0.5 + 0.5 * np.eye(4),
    "one pair": np.array([[1, 0.9, 0, 0], [0.9, 1, 0, 0], [0, 0, 1, -0.4], [0, 0, -0.4, 1]]),
}
COEFFICIENTS = np.array([1.0, 0.8, 0.6, 0.0])


@pytest.mark.parametrize("name", COVARIANCES)
@pytest.mark.parametrize("groups", [{"a": [0, 1]}, {"a": [0, 2], "b": [1, 3]}, {"a": [1, 2, 3]}])
def test_total_indices_of_groups_in_a_linear_gaussian_model(name, groups):
    covariance = COVARIANCES[name]
    X, y = gaussian(covariance, COEFFICIENTS, noise=0.5)
    total = explained_by(covariance, COEFFICIENTS, range(4))
    found = total_indices(X, y, factor_groups=groups, variance_estimator="extrapolated", uncertainty=True)
    members = {**{f"x{j}": [j] for j in range(4)}, **groups}
    for factor, value, error in zip(found.names, found.values, found.standard_errors, strict=True):
        rest = [j for j in range(4) if j not in members[factor]]
        assert value == pytest.approx(1 - explained_by(covariance, COEFFICIENTS, rest) / total, abs=0.015 + 3 * error)
    assert found.r2_ceiling == pytest.approx(total / (total + 0.5), abs=0.02)


def test_the_joint_index_of_a_set_is_that_of_the_group():
    X, y = gaussian(COVARIANCES["equally correlated"], COEFFICIENTS, noise=0.5, n_rows=500)
    grouped = total_indices(X, y, factor_groups={"a": [0, 1]})
    assert grouped.values[0] == pytest.approx(total_indices(X, y, subset=[0, 1]).values[0], rel=1e-12)


def test_three_classes_with_known_gini_impurity():
    """Class k with probability 0.8 in the k-th third of x0, else one of the others; x1 means nothing."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(N, 2))
    likely = np.minimum((3 * X[:, 0]).astype(int), 2)
    wrong = (likely + rng.integers(1, 3, size=N)) % 3
    y = np.where(rng.uniform(size=N) < 0.8, likely, wrong)
    given, whole = 1 - (0.8**2 + 2 * 0.1**2), 2 / 3
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    found = total_indices(X[:, :1], labels)
    assert found.response_variance == pytest.approx(whole, abs=0.01)
    assert found.noise_variance == pytest.approx(given, abs=0.015)
    for rule in ("paper", "calibrated"):
        selector = FIRST(rule=rule, random_state=0).fit(X, labels)
        assert selector.selected_[0] == 0
    assert selector.support_.tolist() == [True, False]
    low, high = selector.indices_.r2_interval(0.99)
    assert low - 0.01 < 1 - given / whole < high + 0.01


def test_two_outputs_with_known_indices():
    """y1 = x0 + x1, y2 = x1 + 2 x2, independent: generalised indices are means over the standardised outputs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    Y = np.column_stack([X[:, 0] + X[:, 1], X[:, 1] + 2 * X[:, 2]])
    exact = np.array([[1 / 2, 1 / 2, 0, 0], [0, 1 / 5, 4 / 5, 0]])
    found = total_indices(X, Y, variance_estimator="extrapolated")
    np.testing.assert_allclose(found.values, exact.mean(axis=0), atol=0.02)
    weighted = total_indices(X, Y, variance_estimator="extrapolated", output_weights=[3, 1])
    np.testing.assert_allclose(weighted.values, np.average(exact, axis=0, weights=[3, 1]), atol=0.02)
    assert FIRST(rule="calibrated", random_state=0).fit(X, Y).support_.tolist() == [True, True, True, False]


def test_a_periodic_factor_is_seen_across_midnight():
    rng = np.random.default_rng(0)
    hour = rng.uniform(0, 24, size=2000)
    y = np.cos(2 * np.pi * hour / 24) + 0.1 * rng.normal(size=2000)
    near_midnight = (hour < 0.5) | (hour > 23.5)
    X = pd.DataFrame({"hour": hour})
    for options in ({}, {"period": {"hour": 24}}):
        explained = explained_variance(X, y, ["hour"], **options) / y.var()
        assert explained == pytest.approx(0.5 / 0.51, abs=0.01)
    few = X[near_midnight].reset_index(drop=True)
    wrapped = total_indices(few, y[near_midnight], period={"hour": 24}, scale={"hour": 1.0})
    assert wrapped.noise_variance == pytest.approx(0.01, rel=0.5)


# --- rows of one person -----------------------------------------------------------------------------------------------


def panel(seed, n_people=50, n_times=20, effect=1.0):
    """A person effect that no factor explains, next to one of dose; three factors are constant within a person."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n_people), n_times)
    traits = {name: rng.normal(size=n_people)[person] for name in ("age", "height", "income")}
    dose = rng.normal(size=person.size)
    y = dose + np.sqrt(effect) * rng.normal(size=n_people)[person] + rng.normal(size=person.size)
    return pd.DataFrame({"dose": dose, **traits}), y, person


@pytest.mark.parametrize("seed", range(3))
def test_the_ceiling_of_a_panel_is_right_with_groups_only(seed):
    X, y, person = panel(seed)
    truth = 1 / 3
    grouped = total_indices(X, y, groups=person, variance_estimator="extrapolated", uncertainty=True)
    low, high = grouped.r2_interval(0.99)
    assert low < truth < high
    assert total_indices(X, y, variance_estimator="extrapolated").r2_ceiling > truth + 0.2


def test_rows_of_one_person_are_not_taken_for_evidence():
    found = {"grouped": 0, "alone": 0}
    for seed in range(20):
        X, y, person = panel(seed)
        y = y - X["dose"].to_numpy()
        for name, groups in (("grouped", person), ("alone", None)):
            selector = FIRST(rule="calibrated", random_state=seed).fit(X, y, groups=groups)
            found[name] += bool(selector.support_.any())
    assert found["grouped"] <= 6  # 2 of 20 are expected
    assert found["alone"] == 20


def test_standard_errors_of_groups_are_those_of_their_sums():
    """With a strong person effect, 1,000 rows of 50 people tell hardly more about the ceiling than 50 rows."""
    ceilings, errors, alone = [], [], []
    for seed in range(30):
        X, y, person = panel(seed, effect=4.0)
        found = total_indices(X[["dose", "age"]], y, groups=person, uncertainty=True)
        ceilings.append(found.r2_ceiling)
        errors.append(found.uncertainty.r2)
        alone.append(total_indices(X[["dose", "age"]], y, uncertainty=True).uncertainty.r2)
    spread = np.std(ceilings, ddof=1)
    assert 0.8 * spread < np.mean(errors) < 1.9 * spread  # people are each other's neighbours with all of their rows
    assert np.mean(alone) < 0.75 * spread


# --- factors that share information -----------------------------------------------------------------------------------


def closed_form(covariance, sums):
    """Σ times · V(u) over (times, u), as a share of V of all factors."""
    total = explained_by(covariance, COEFFICIENTS, range(len(covariance)))
    return sum(times * explained_by(covariance, COEFFICIENTS, u) for times, u in sums) / total


def within(found, truth):
    """A few standard errors, and what the estimator says that it may be wrong by."""
    sure = found.uncertainty if hasattr(found, "uncertainty") else found.estimates
    np.testing.assert_array_less(np.abs(found.values - truth), 0.01 + 3.5 * np.hypot(sure.standard_errors, sure.bias))
    assert sure.standard_errors.max() < 0.05


@pytest.mark.parametrize("name", COVARIANCES)
def test_closed_indices_of_a_linear_gaussian_model(name):
    covariance = COVARIANCES[name]
    X, y = gaussian(covariance, COEFFICIENTS, noise=0.5, n_rows=3000)
    within(closed_indices(X, y), [closed_form(covariance, [(1, [i])]) for i in range(4)])
    within(closed_indices(X, y, subset=[1, 2]), [closed_form(covariance, [(1, [1, 2])])])


@pytest.mark.parametrize("name", COVARIANCES)
def test_interactions_of_a_linear_gaussian_model(name):
    covariance = COVARIANCES[name]
    X, y = gaussian(covariance, COEFFICIENTS, noise=0.5, n_rows=3000)
    found = interactions(X, y)
    truth = []
    for i, j in found.pairs:
        rests = ([k for k in range(4) if k not in some] for some in ((i, j), (i,), (j,)))
        both, without_i, without_j = rests
        truth.append(closed_form(covariance, [(-1, both), (1, without_i), (1, without_j), (-1, range(4))]))
    within(found, truth)


@pytest.mark.parametrize("name", COVARIANCES)
def test_shapley_effects_of_a_linear_gaussian_model(name):
    covariance = COVARIANCES[name]
    X, y = gaussian(covariance, COEFFICIENTS, noise=0.5, n_rows=3000)
    orders = list(permutations(range(4)))
    truth = np.zeros(4)
    for order in orders:
        for k, i in enumerate(order):
            truth[i] += closed_form(covariance, [(1, order[: k + 1]), (-1, order[:k])]) / len(orders)
    found = shapley_effects(X, y, variance_estimator="extrapolated")
    within(found, truth)
    assert found.values.sum() == pytest.approx(1, abs=1e-12)


def test_first_order_indices_and_fair_shares_of_ishigami():
    """x0 and x2 share their interaction, 0.2437, half and half; x1 has none."""
    X, y = ishigami.sample(3000, 3, seed=0)
    within(closed_indices(X, y), [0.3139, 0.4424, 0.0])
    within(shapley_effects(X, y, variance_estimator="extrapolated"), [0.4357, 0.4424, 0.1218])
    within(interactions(X, y), [0.0, -0.2437, 0.0])


@pytest.mark.parametrize("seed", range(3))
def test_a_cumulative_ranking_is_right_under_noise(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1000, 3))
    found = cumulative_ranking(X, X @ [3, 2, 1] + rng.normal(size=1000))
    assert found.ranking == ("x0", "x1", "x2")
    errors = np.hypot(found.cumulative.standard_errors, found.cumulative.bias)
    np.testing.assert_array_less(np.abs(found.values - [9 / 14, 13 / 14, 1.0])[:2], 3 * errors[:2])
    assert found.values[2] == 1
    assert found.cumulative.standard_errors[2] == pytest.approx(0, abs=1e-9)
    assert found.r2_ceiling == pytest.approx(14 / 15, abs=0.02)


@pytest.mark.slow
def test_intervals_of_what_is_shared_hold_the_truth_about_as_often_as_they_say():
    covariance, held = COVARIANCES["one pair"], []
    truths = [
        [closed_form(covariance, [(1, [i])]) for i in range(4)],
        [
            closed_form(covariance, [(1, range(4)), (-1, [2, 3])]),
            closed_form(covariance, [(1, range(4)), (-1, [0, 1])]),
        ],
    ]
    for seed in range(40):
        X, y = gaussian(covariance, COEFFICIENTS, noise=0.5, n_rows=500, seed=seed)
        joint = [
            total_indices(X, y, subset=u, variance_estimator="extrapolated", uncertainty=True) for u in ([0, 1], [2, 3])
        ]
        intervals = [*closed_indices(X, y).interval(), *(one.interval()[0] for one in joint)]
        held += [low <= truth <= high for (low, high), truth in zip(intervals, np.concatenate(truths), strict=True)]
    assert 0.9 <= np.mean(held) <= 0.995
