"""COSSO: its parts against plain formulas and scipy, the whole against what the R package gives."""

import numpy as np
import pytest
from scipy.optimize import minimize, nnls
from scipy.special import expit

from firstfactor.problems import friedman
from study.methods.competitors.cosso import _bounds, _candidates, _dip, _fits, _knots, cosso
from study.methods.competitors.cosso_families import Binomial, Gaussian
from study.methods.competitors.cosso_splines import budgeted, kernels_of, logistic
from tests.study.r_packages import PROBLEMS, reference, with_reference


def _two_bumps(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return four factors, a smooth function of the second and the fourth, and the function with noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 4))
    f = 2 * np.sin(2 * np.pi * X[:, 1]) + 4 * (X[:, 3] - 0.5)
    return X, f, f + 0.3 * rng.normal(size=n_rows)


def _simplex_problem(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3 * n, n)) + rng.normal(size=(3 * n, 1))
    b = A @ np.where(np.arange(n) % 2, rng.random(n), 0.0) + rng.normal(size=3 * n)
    return A, A.T @ A, A.T @ b


def test_the_kernel_of_a_factor_is_that_of_second_order_splines():
    x = np.linspace(0, 1, 2001)
    kernel = kernels_of(x[:, None], np.array([0, 700, 2000])).at_rows[0]
    assert kernel[0, 0] == pytest.approx(1 / 4 + 1 / 144 + 1 / 720)
    assert kernel[0, 2] == pytest.approx(-1 / 4 + 1 / 144 + 1 / 720)
    np.testing.assert_allclose(np.trapezoid(kernel, x, axis=0), 0, atol=1e-7)


def test_kernels_do_not_depend_on_the_unit_of_a_factor():
    X = np.random.default_rng(0).random((50, 2))
    knots = np.arange(0, 50, 5)
    np.testing.assert_allclose(kernels_of(X, knots).at_rows, kernels_of(7 - 1000 * X, knots).at_rows, atol=1e-12)


def test_a_factor_with_few_values_gets_the_kernel_of_levels():
    levels = np.array([3.0, 1.0, 2.0, 3.0, 1.0])[:, None]
    expected = [[2, -1], [-1, 2], [-1, -1], [2, -1], [-1, 2]]
    np.testing.assert_array_equal(kernels_of(levels, np.array([0, 1])).at_rows[0], expected)


@pytest.mark.parametrize("budget", [0.1, 0.5, 1.5])
@pytest.mark.parametrize("n", [1, 3, 8, 30])
def test_weights_within_a_budget_are_those_of_a_general_optimiser(n, budget):
    _, quadratic, linear = _simplex_problem(n, seed=n)
    start = np.zeros(n)
    start[0] = budget
    theta = budgeted(quadratic, linear, budget, start)
    reference = minimize(
        lambda t: t @ quadratic @ t / 2 - linear @ t,
        np.full(n, budget / n),
        jac=lambda t: quadratic @ t - linear,
        bounds=[(0, None)] * n,
        constraints={"type": "ineq", "fun": lambda t: budget - t.sum(), "jac": lambda _: -np.ones(n)},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(theta, reference.x, atol=1e-5)
    assert theta.min() >= 0 and theta.sum() <= budget * (1 + 1e-9)


def test_weights_with_an_ample_budget_are_non_negative_least_squares():
    A, quadratic, linear = _simplex_problem(20, seed=1)
    b = np.linalg.lstsq(A.T, linear, rcond=None)[0]
    theta = budgeted(quadratic, linear, 1e3, np.full(20, 50.0))
    np.testing.assert_allclose(theta, nnls(A, b)[0], atol=1e-6)
    assert 0 < (theta == 0).sum() < 20


def test_weights_are_zero_where_nothing_helps():
    np.testing.assert_array_equal(budgeted(np.eye(3), -np.ones(3), 2.0, np.array([0.0, 2.0, 0.0])), np.zeros(3))


def test_weights_of_twin_components_stay_within_the_budget():
    quadratic = np.array([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    theta = budgeted(quadratic, np.array([2.0, 2.0, 0.0]), 0.5, np.array([0.0, 0.5, 0.0]))
    assert theta[:2].sum() == pytest.approx(0.5) and theta[2] == 0


def test_a_logistic_fit_ends_where_the_slope_is_zero_even_from_a_bad_start():
    rng = np.random.default_rng(2)
    design = np.column_stack([np.ones(80), rng.normal(size=(80, 3))])
    y = (design @ [0.5, 3, -3, 0] > rng.logistic(size=80)).astype(float)
    penalty = np.diag([0, 1e-3, 1e-3, 1e-3])
    for start in (np.zeros(80), 30 * rng.normal(size=80)):
        fit = logistic(design, penalty, y, start)
        np.testing.assert_allclose(design.T @ (y - expit(design @ fit)), penalty @ fit, atol=1e-6)


def test_a_logistic_fit_of_classes_that_are_apart_is_finite():
    x = np.linspace(-1, 1, 60)
    fit = logistic(np.column_stack([np.ones(60), x]), np.diag([0, 1e-4]), (x > 0).astype(float), np.zeros(60))
    assert np.isfinite(fit).all() and fit[1] > 10


def test_regression_fits_are_those_of_the_plain_formulas():
    X, _, y = _two_bumps(120, seed=3)
    fitted, smoothing, bound = np.arange(120) % 4 > 0, 1e-4, 0.8
    kernels = kernels_of(X, np.arange(0, 120, 5))
    (weights,), (coefficients,), (predictor,) = _fits(Gaussian(), kernels, y, fitted, smoothing, np.array([bound]))

    def spline(theta):
        R, Q = (sum(t * K for t, K in zip(theta, part, strict=True)) for part in (kernels.at_rows, kernels.at_knots))
        centred = R[fitted] - R[fitted].mean(axis=0)
        penalty = 2 * fitted.sum() * smoothing * (Q + 1e-8 * np.eye(len(Q)))
        c = np.linalg.solve(centred.T @ centred + penalty, centred.T @ y[fitted])
        return np.mean(y[fitted] - R[fitted] @ c), c, R

    constant, c, _ = spline(np.ones(4))
    G = np.column_stack([K[fitted] @ c for K in kernels.at_rows])
    toll = fitted.sum() * smoothing * np.array([c @ K @ c for K in kernels.at_knots])
    theta = minimize(
        lambda t: np.sum((y[fitted] - constant - G @ t) ** 2) + toll @ t,
        np.full(4, bound / 4),
        bounds=[(0, None)] * 4,
        constraints={"type": "ineq", "fun": lambda t: bound - t.sum()},
        options={"ftol": 1e-14},
    ).x
    np.testing.assert_allclose(weights, theta, atol=1e-4)
    constant, c, R = spline(weights)
    np.testing.assert_allclose(predictor, constant + R @ c, atol=1e-8)
    np.testing.assert_allclose(coefficients[0], constant, atol=1e-8)


@pytest.mark.parametrize("steepness", [1, 30])
def test_weights_for_two_classes_minimise_their_log_losses(steepness):
    rng = np.random.default_rng(4)
    components, tolls, constant, bound = rng.normal(size=(200, 4)), np.array([1.0, 0.5, 0.1, 30.0]), 0.3, 1.2
    y = (rng.random(200) < expit(constant + components @ [1.5, 0, 0.7, 0.1])).astype(float)
    components, constant = steepness * components, steepness * constant
    reference = minimize(
        lambda t: np.logaddexp(0, f := constant + components @ t).sum() - y @ f + tolls @ t,
        np.full(4, bound / 4),
        jac=lambda t: components.T @ (expit(constant + components @ t) - y) + tolls,
        bounds=[(0, None)] * 4,
        constraints={"type": "ineq", "fun": lambda t: bound - t.sum()},
        options={"ftol": 1e-12, "maxiter": 500},
    ).x
    for bounds in ([bound], [0.5, bound]):
        theta = Binomial().garrote(components, tolls, constant, y, np.array(bounds))[-1]
        np.testing.assert_allclose(theta, reference, atol=1e-3)
        assert theta[3] == 0


def test_the_number_of_knots_grows_slowly_with_the_rows():
    rng = np.random.default_rng(0)
    sizes = {n: _knots(n, rng) for n in (30, 100, 1000)}
    assert {n: len(set(knots.tolist())) for n, knots in sizes.items()} == {30: 30, 100: 40, 1000: 56}


def test_bounds_start_with_small_steps():
    np.testing.assert_allclose(_bounds(6)[[0, 1, 9, 10, 12]], [0.2, 0.45, 2.45, 2.95, 3.95])
    np.testing.assert_allclose(_bounds(10)[[15, 16, 19, 20]], [5.45, 6.45, 9.45, 11.45])
    assert len(_bounds(100)) == 101


def test_bounds_that_select_many_are_tried_once_for_each_number():
    bounds = np.arange(1.0, 9.0)
    sizes = np.array([2, 2, 3, 3, 5, 5, 5, 6])
    # 0 → 2 and 3 → 5 jump: they are the first and the third number, so the first and the third interval are refined.
    expected = [1, 1.3, 1.6, 2, 3, 3.3, 3.6, 4, 7, 8]
    np.testing.assert_allclose(_candidates(bounds, sizes, Gaussian(), 6), expected)
    np.testing.assert_allclose(
        _candidates(bounds, np.minimum(sizes, 5), Binomial(), 5), [1, 1.3, 1.6, 2, 3.3, 3.6, 4, 5]
    )


def test_a_dip_within_the_grid_is_preferred_to_its_ends():
    assert _dip(np.array([5.0, 3, 4, 2, 1])) == 1
    assert _dip(np.array([5.0, 4, 3, 2, 1])) == 4
    assert _dip(np.array([9.0, 2, 5, 1, 6, 7])) == 3


def test_the_last_of_many_dips_does_not_count_nor_what_follows_a_late_hump():
    assert _dip(np.array([9.0, 4, 5, 3, 5, 2, 6])) == 3
    assert _dip(np.array([9.0, 8, 7, 6, 7, 8, 3, 4])) == 3


def test_the_importance_is_the_variance_of_the_component():
    X, _, y = _two_bumps(400, seed=5)
    outcome = cosso(X, y, seed=0)
    assert outcome.selected == (1, 3)
    expected = [0, np.var(2 * np.sin(2 * np.pi * X[:, 1])), 0, np.var(4 * X[:, 3])]
    np.testing.assert_allclose(outcome.importances, expected, rtol=0.1)


def test_two_classes_find_the_factors_that_matter():
    X, f, _ = _two_bumps(500, seed=6)
    y = np.random.default_rng(7).random(500) < expit(1.5 * f)
    outcome = cosso(X, y, seed=0)
    assert {1, 3} <= set(outcome.selected) and set(np.argsort(outcome.importances)[-2:]) == {1, 3}


def test_classes_that_are_apart_are_told_by_the_factors_that_part_them():
    X = np.random.default_rng(10).random((400, 8))
    assert cosso(X, X[:, 2] + X[:, 5] > 1, seed=0).selected == (2, 5)


@pytest.mark.parametrize("two_classes", [False, True])
def test_the_same_seed_gives_the_same_bits_and_another_seed_other_knots(two_classes):
    X, y = friedman.sample(200, seed=8)
    y = y > 0 if two_classes else y
    first, again, other = (cosso(X, y, seed=seed).importances for seed in (1, 1, 2))
    assert first.tobytes() == again.tobytes() and first.tobytes() != other.tobytes()


@pytest.mark.parametrize("two_classes", [False, True])
def test_categories_count_and_constants_do_not(two_classes):
    X, _, y = _two_bumps(300, seed=9)
    X[:, 0] = np.arange(300) % 3
    X[:, 2] = 1.0
    y = y + np.array([0.0, 3.0, 0.0])[np.arange(300) % 3]
    outcome = cosso(X, y > 1 if two_classes else y, seed=0)
    assert outcome.selected == (0, 1, 3)


@with_reference
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("sample", [1, 2, 3, 4, 5])
def test_components_are_as_large_as_those_of_the_r_package(problem, sample):
    if (problem, sample) == ("friedman_p10", 3):
        pytest.skip("here the R package chose a bound at which the fifth factor is not in yet")
    X, y, theirs = reference("COSSO", problem, sample)
    outcome = cosso(X, y, seed=123)
    clear = theirs > 0.3
    np.testing.assert_allclose(np.sqrt(outcome.importances[clear]), theirs[clear], rtol=0.1)
    assert np.sqrt(outcome.importances[~clear]).max(initial=0) < 0.3
    if problem != "friedman_p10":
        assert outcome.selected == tuple(np.flatnonzero(theirs))
