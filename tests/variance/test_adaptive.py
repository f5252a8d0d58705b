"""The adaptive estimator: leaving out is refitting, projections are what they claim, and nothing else changes them."""

import numpy as np
import pandas as pd
import pytest
from designs import read_design
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_tables import friedman, mixed

from firstfactor import FIRST, closed_indices, shapley_effects, total_indices
from firstfactor._utils.threads import Workers
from firstfactor.settings import Options
from firstfactor.variance import adaptive
from firstfactor.variance.basis import functions_of
from firstfactor.variance.conditional import open_variances
from firstfactor.variance.random_effects import Block, shrink
from firstfactor.variance.smooth_fit import SmoothFit


def estimate(X, y, **options):
    return total_indices(X, y, variance_estimator="adaptive", uncertainty=True, **options)


def make_fit(X, y, weights=None, groups=None):
    design = read_design(X)
    functions = {i: functions_of(design, i, np.arange(len(y)), weights, 8) for i in design.varying}
    return SmoothFit(functions, y, weights, groups, Workers(1)), functions


def curved(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * X[:, 0] * X[:, 2] + 0.7 * rng.normal(size=n_rows)


# --- functions of a factor ---------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(st.integers(0, 1000), st.booleans())
def test_functions_of_a_column_are_orthonormal(seed, weighted):
    rng = np.random.default_rng(seed)
    n_rows = 60
    X = pd.DataFrame(
        {
            "number": rng.standard_t(2, n_rows),
            "few": rng.integers(0, 4, n_rows),
            "gaps": np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(size=n_rows)),
            "word": rng.choice(list("abcde"), n_rows),
        }
    )
    weights = rng.gamma(2.0, size=n_rows) if weighted else None
    share = np.full(n_rows, 1 / n_rows) if weights is None else weights / weights.sum()
    design = read_design(X)
    for i in design.varying:
        functions = functions_of(design, i, np.arange(n_rows), weights, 10)
        np.testing.assert_allclose(functions.values @ share, 0, atol=1e-9)
        np.testing.assert_allclose(
            functions.values * share @ functions.values.T, np.eye(len(functions.orders)), atol=1e-8
        )
        assert (np.diff(functions.orders) >= 0).all()


def test_a_function_for_each_level_but_one_and_one_for_missing_values():
    X = pd.DataFrame({"word": list("abcd") * 10, "gaps": [1.0, 2.0, np.nan, 4.0] * 10, "line": np.arange(40.0)})
    design = read_design(X)
    sizes = [functions_of(design, i, np.arange(40), None, 6).orders.tolist() for i in range(3)]
    assert sizes[0] == [1, 1, 1]
    assert sizes[1] == [1, 1, 2]  # missing, a line, a parabola through three values
    assert sizes[2] == [1, 2, 3, 4, 5, 6]


# --- variances of effects ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2.0, 3.0, 5.0])
def test_choosing_a_variance_costs_what_it_adds_to_the_degrees_of_freedom(size):
    def fitted(moment):
        block = [Block(np.array([0]), np.ones(1), 1)]
        found = shrink(np.eye(1) * 1000, np.array([moment]), 1000.0, 1000, block, 2000)
        return found.coefficients[0] * 1000, found

    moment, step = size * 1000**0.5, 0.5
    slope = (fitted(moment + step)[0] - fitted(moment - step)[0]) / (2 * step)
    found = fitted(moment)[1]
    shrunk = found.coefficients[0] * 1000 / moment
    assert slope == pytest.approx(shrunk + found.adaptivity[0], abs=0.1)


def test_nothing_is_fitted_where_there_is_no_function():
    found = shrink(np.zeros((0, 0)), np.zeros(0), 10.0, 10, [], 5)
    assert found.active.size == 0 and found.noise == 1


# --- leaving out is refitting ------------------------------------------------------------------------------------


def refit(columns, y, precision, noise, left_out, decorrelated):
    """Coefficients of penalised least squares without some rows; the first column is not penalised."""
    own, response = (np.delete(each, left_out, axis=0) for each in decorrelated)
    coefficients = np.linalg.solve(own.T @ own / noise + precision, own.T @ response / noise)
    return y[left_out] - columns[left_out] @ coefficients


@pytest.mark.parametrize(
    ("kind", "tolerance"),
    [("plain", 1e-8), ("weighted", 1e-8), ("grouped", 0.1), ("both", 0.1)],  # groups: the mean is not quite orthogonal
)
def test_without_a_row_or_its_group_is_a_fit_without_it(kind, tolerance):
    X, y = curved(90)
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(18), 5) if kind in ("grouped", "both") else None
    weights = rng.gamma(3.0, size=90) if kind in ("weighted", "both") else None
    if groups is not None:
        y = y + rng.normal(size=18)[groups]
    fit, _ = make_fit(X, y, weights, groups)
    found, columns = fit._effects, np.column_stack([np.ones(90), (fit._columns(fit._products) - fit._means[:, None]).T])
    decorrelated = fit._decorrelate(columns.T).T, fit._decorrelate(fit._y)
    own = decorrelated[0][:, 1:]
    precision = np.zeros((columns.shape[1], columns.shape[1]))
    precision[1:, 1:] = np.linalg.inv(found.covariance) - own.T @ own / found.noise
    for one in range(0, 90, 15):
        rows = [one] if groups is None else np.flatnonzero(groups == groups[one]).tolist()
        expected = refit(columns, fit._y, precision, found.noise, rows, decorrelated)
        np.testing.assert_allclose(fit.without[rows], expected, rtol=tolerance, atol=tolerance)


def test_rows_of_a_group_are_alike_in_what_is_left():
    X, y = curved(200)
    groups = np.repeat(np.arange(40), 5)
    effects = np.random.default_rng(3).normal(size=40)[groups]
    assert make_fit(X, y + effects, None, groups)[0]._alike > 0.3
    assert make_fit(X, y, None, groups)[0]._alike < 0.2


# --- projections -------------------------------------------------------------------------------------------------


def test_nothing_is_left_given_all_factors_and_the_fit_given_none():
    fit, functions = make_fit(*curved(300))
    assert fit.project(functions).posterior == 0
    fitted = fit._effects.coefficients @ (fit._columns(fit._products) - fit._means[:, None])
    left = fit.project({}).posterior
    assert left == pytest.approx(np.mean(fitted**2) + fit.project({}).error)


def test_shares_of_a_linear_model_of_correlated_factors():
    rho, beta = 0.6, np.array([1.0, 0.5, 0.0])
    covariance = rho + (1 - rho) * np.eye(3)
    variance = beta @ covariance @ beta
    unique = 1 / np.diag(np.linalg.inv(covariance))
    true = beta**2 * unique / variance
    z = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.multivariate_normal(np.zeros(3), covariance, 400)
        found = estimate(X, X @ beta + np.sqrt(variance) * rng.normal(size=400))
        z.append((found.values - true)[:2] / found.standard_errors[:2])
        assert abs(found.r2_ceiling - 0.5) < 0.15
    assert 0.4 < np.std(z) < 1.2 and abs(np.mean(z)) < 0.4


def test_it_is_several_times_as_precise_as_nearest_rows_where_there_is_noise():
    errors = {"adaptive": [], "nearest": [], "extrapolated": []}
    true = np.array([0.8, 0.2, 0, 0])
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 4))
        y = 2 * X[:, 0] + X[:, 1] + 5**0.5 * rng.normal(size=300)
        for name, some in errors.items():
            some.append(total_indices(X, y, variance_estimator=name).values - true)
    size = {name: np.sqrt(np.mean(np.square(some))) for name, some in errors.items()}
    assert 2 * size["adaptive"] < size["nearest"] < size["extrapolated"] * 1.5


def test_local_fits_find_what_is_too_rough_for_smooth_ones(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.random((1500, 2))
    y = np.sign(np.sin(30 * X[:, 0]) * np.sin(30 * X[:, 1])) + 0.1 * rng.normal(size=1500)
    with_local = estimate(X, y).r2_ceiling
    monkeypatch.setattr(adaptive, "MOST_FOR_LOCAL", 0)
    assert estimate(X, y).r2_ceiling + 0.2 < with_local < 1


def test_where_no_smooth_fit_serves_all_comes_from_local_fits_to_y():
    rng = np.random.default_rng(0)
    X = rng.standard_t(2, size=(3000, 2))
    y = np.sum(np.floor(4 * X) % 7, axis=1)
    local = total_indices(X, y, variance_estimator="extrapolated", uncertainty=True)
    same(estimate(X, y), local)


def test_a_line_is_followed_to_values_far_out():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.standard_t(2, size=(1000, 3))
        y = X[:, 0] + 0.3 * X[:, 0].std() * rng.normal(size=1000)
        found = estimate(X, y)
        np.testing.assert_allclose(found.values, [1, 0, 0], atol=0.02)
        assert found.r2_ceiling == pytest.approx(1 / 1.09, abs=0.02)


def test_no_set_of_factors_leaves_more_than_there_is():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 2))
        found = estimate(X, X[:, 0] * X[:, 1] + rng.normal(size=100))
        assert found.values.max() <= 1


def test_of_many_rows_some_are_fitted_to(monkeypatch):
    monkeypatch.setattr(adaptive, "MAX_OUTER", 200)
    X, y = friedman(600)
    with open_variances(X, y, Options(variance_estimator="adaptive", n_outer=50)) as variances:
        assert variances.outer.size == 200
    assert np.isfinite(estimate(X, y).values).all()


# --- what must not matter ----------------------------------------------------------------------------------------


def same(one, other, rtol=1e-6):
    np.testing.assert_allclose(one.values, other.values, rtol=rtol, atol=1e-8)
    np.testing.assert_allclose(one.standard_errors, other.standard_errors, rtol=rtol, atol=1e-8)
    assert one.r2_ceiling == pytest.approx(other.r2_ceiling, rel=rtol, abs=1e-8)


def test_units_of_y_and_the_order_of_rows_and_columns_do_not_matter():
    X, y = mixed(150)
    found = estimate(X, y)
    same(estimate(X, -3e5 * y + 7), found)
    order = np.random.default_rng(0).permutation(150)
    same(estimate(X.iloc[order], np.asarray(y)[order]), found)
    turned = estimate(X[X.columns[::-1]], y)
    np.testing.assert_allclose(turned.values[::-1], found.values, rtol=1e-4, atol=1e-6)


def test_names_of_classes_and_copies_of_outputs_do_not_matter():
    X, y = friedman(200)
    labels = np.array(["low", "middle", "high"])[np.digitize(y, np.quantile(y, [0.3, 0.7]))]
    renamed = pd.Series(labels).map({"low": "z", "middle": "a", "high": "k"}).to_numpy()
    same(estimate(X[:, :4], labels), estimate(X[:, :4], renamed))
    same(estimate(X[:, :4], np.column_stack([y, y])), estimate(X[:, :4], y))


def test_equal_weights_and_groups_of_one_row_do_not_matter():
    X, y = friedman(200)
    found = estimate(X[:, 5:], y)
    same(estimate(X[:, 5:], y, sample_weight=np.full(200, 3.0)), found)
    np.testing.assert_allclose(estimate(X[:, 5:], y, groups=np.arange(200)).values, found.values, rtol=1e-6, atol=1e-8)


def test_threads_change_no_bit():
    X, y = friedman(3000)
    one, two = (FIRST(rule="calibrated", n_jobs=n_jobs, random_state=0).fit(X, y) for n_jobs in (1, 2))
    for name in ("importances_", "standard_errors_", "alone_"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


@pytest.mark.parametrize("ask", [closed_indices, shapley_effects])
def test_sets_of_factors_are_parts_of_one_fit(ask):
    X, y = curved(200)
    found = ask(X, y, variance_estimator="adaptive")
    assert found.noise_variance == pytest.approx(estimate(X, y).noise_variance)


def test_constant_factors_copies_and_tiny_tables_are_no_trouble():
    rng = np.random.default_rng(0)
    for n_rows in (4, 6, 12, 30):
        X = rng.normal(size=(n_rows, 2))
        table = np.column_stack([X, X[:, 0], np.ones(n_rows), rng.integers(0, 2, n_rows)])
        found = estimate(table, X[:, 0] + rng.normal(size=n_rows))
        assert np.isfinite(found.values).all() and found.values[3] == 0
        assert np.isfinite(found.standard_errors[:3]).all()


def test_a_bend_of_the_fit_is_found_where_y_is_a_steep_function_of_a_sum():
    def bend(make_response):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(800, 4))
        return make_fit(X, make_response(X, rng))[0].bend

    def of_classes(X, rng):
        return (X.sum(axis=1) + 0.3 * rng.normal(size=800) > 0).astype(float)

    assert bend(of_classes) > 0.01
    assert bend(lambda X, rng: X.sum(axis=1) + rng.normal(size=800)) == 0
    assert bend(lambda _, rng: rng.normal(size=800)) == 0


def test_a_bend_gives_nothing_to_factors_that_do_nothing():
    nulls = []
    for seed in range(8):
        rng = np.random.default_rng(4000 + seed)
        X = rng.random((1000, 4))
        y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)) + 0.5 * rng.normal(size=1000)
        nulls += estimate(X, y).values[2:].tolist()
    assert np.mean(nulls) < 0.015 and max(nulls) < 0.05


@pytest.mark.parametrize("function", [lambda a, b: a * b, lambda a, b: np.sign(a * b)], ids=["product", "step"])
def test_chance_takes_nothing_off_what_independent_factors_do_together(function):
    shares = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, size=(300, 4))
        y = function(X[:, 0], X[:, 1])
        shares.append(estimate(X, y + 0.3 * y.std() * rng.normal(size=300)).values)
    np.testing.assert_allclose(np.mean(shares, axis=0), [1, 1, 0, 0], atol=0.01)


def test_what_a_factor_outside_of_the_fit_leaves_is_about_what_it_leaves_inside():
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal(np.zeros(3), 0.6 + 0.4 * np.eye(3), 1000)
    y = X[:, 0] + X[:, 1] + rng.normal(size=1000)
    with open_variances(X, y, Options(variance_estimator="adaptive")) as variances:
        outside, inside = (variances.around(some).of((2,)) for some in ((0, 1), (0, 1, 2)))
        whole = variances.around((0, 1)).of((0, 1))
    true = 3.2 + 1 - 1.2**2  # of y, less what is told by a covariance of 1.2
    assert outside == pytest.approx(inside, rel=0.05) and outside == pytest.approx(true, rel=0.1)
    assert whole < outside


def test_groups_whose_rows_have_all_but_noise_in_common_are_no_trouble():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 4)
    X, y = rng.normal(size=(12, 2))[groups], rng.normal(size=12)[groups]
    fit, _ = make_fit(X, y, None, groups)
    assert fit._alike == 0.95 and np.isfinite(fit.squares).all()
    assert np.isfinite(estimate(X, y, groups=groups).values).all()
