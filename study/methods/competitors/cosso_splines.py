"""Additive smoothing splines on a few knots: kernels, penalised fits, and weights of the components."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ...data.arrays import Floats

MOST_LEVELS = 6
"""Factors with no more different values than this are taken as categories."""
JITTER = 1e-8
"""Added to the diagonal of kernel matrices, which have no full rank when few factors are in."""
MOST_STEPS = 50
CONVERGED = 1e-6
"""Newton's method ends when a step promises to lower the sum of log losses by less."""
SMALLEST_WEIGHT = 1e-8
"""Weights of components below are zero."""


@dataclass(frozen=True)
class Kernels:
    """The reproducing kernel of every factor between all rows and the knots."""

    at_rows: Floats
    """Factor, row, knot."""
    at_knots: Floats
    """Factor, knot, knot."""

    def designs(self, weights: Floats) -> Floats:
        """Return one design for each row of weights, over all rows: a constant and the weighted sum of the kernels."""
        n_factors, n_rows, n_knots = self.at_rows.shape
        designs = np.ones((len(weights), n_rows, 1 + n_knots))
        # One product for all weights together, since reading the kernels is what takes the time.
        designs[:, :, 1:] = (weights @ self.at_rows.reshape(n_factors, -1)).reshape(-1, n_rows, n_knots)
        return designs

    def penalties(self, weights: Floats) -> Floats:
        """Return the roughness penalty that goes with each of these designs; the constant is free."""
        n_knots = self.at_knots.shape[1]
        penalties = np.zeros((len(weights), 1 + n_knots, 1 + n_knots))
        penalties[:, 1:, 1:] = np.tensordot(weights, self.at_knots, 1) + JITTER * np.eye(n_knots)
        return penalties


def kernels_of(X: Floats, knots: NDArray[np.intp]) -> Kernels:
    """Return the kernels of all factors with these rows as knots."""
    at_rows = np.array([_kernel(column, knots) for column in X.T])
    return Kernels(at_rows, at_rows[:, knots])


def _kernel(column: Floats, knots: NDArray[np.intp]) -> Floats:
    """Return the kernel of one factor between all rows and the knots: of splines, or of levels if there are few."""
    levels = np.unique(column)
    if len(levels) <= MOST_LEVELS:
        return len(levels) * np.equal.outer(column, column[knots]).astype(float) - 1
    rescaled = (column - levels[0]) / (levels[-1] - levels[0])
    return _sobolev_kernel(rescaled, rescaled[knots])


def _sobolev_kernel(s: Floats, t: Floats) -> Floats:
    """Return k₁(s) k₁(t) + k₂(s) k₂(t) − k₄(|s − t|), kₗ the Bernoulli polynomial of degree l over l! (Wahba 1990)."""

    def k1(x: Floats) -> Floats:
        return x - 0.5

    def k2(x: Floats) -> Floats:
        return (k1(x) ** 2 - 1 / 12) / 2

    def k4(x: Floats) -> Floats:
        square = k1(x) ** 2
        return (square * (square - 0.5) + 7 / 240) / 24

    return np.outer(k1(s), k1(t)) + np.outer(k2(s), k2(t)) - k4(np.abs(np.subtract.outer(s, t)))


def least_squares(design: Floats, penalty: Floats, y: Floats) -> Floats:
    """Return the coefficients β that minimise |y − design β|² + βᵀ penalty β."""
    return np.linalg.solve(design.T @ design + penalty, design.T @ y).astype(float, copy=False)


def log_loss(predictor: Floats, y: Floats) -> Floats:
    """Return minus the binomial log-likelihood of each row, given its log-odds."""
    loss: Floats = np.logaddexp(0, predictor) - y * predictor
    return loss


def logistic(design: Floats, penalty: Floats, y: Floats, start: Floats) -> Floats:
    """Return the coefficients β that minimise the sum of log losses + βᵀ penalty β / 2, by Newton's method.

    The start is a predictor, one value for each row, since coefficients of another design say nothing here.
    """

    def objective(coefficients: Floats) -> float:
        return float(log_loss(design @ coefficients, y).sum() + coefficients @ penalty @ coefficients / 2)

    coefficients = _reweighted(design, penalty, y, start)
    reached = objective(coefficients)
    for _ in range(MOST_STEPS):
        predictor = design @ coefficients
        step = _reweighted(design, penalty, y, predictor) - coefficients
        gain = (design.T @ (y - expit(predictor)) - penalty @ coefficients) @ step
        # Far from the minimum a whole step may lead uphill, a shorter one does not.
        while objective(coefficients + step) > reached and gain > CONVERGED:
            step, gain = step / 2, gain / 2
        coefficients, reached = coefficients + step, objective(coefficients + step)
        if gain <= CONVERGED:
            break
    return coefficients


def _reweighted(design: Floats, penalty: Floats, y: Floats, predictor: Floats) -> Floats:
    """Return the coefficients that Newton's method reaches in one step from a predictor."""
    chances = expit(predictor)
    weights = binomial_variance(chances)
    solution: Floats = np.linalg.solve(
        weighted_gram(design, weights) + penalty, design.T @ (weights * predictor + y - chances)
    )
    return solution


def binomial_variance(chances: Floats) -> Floats:
    """Return the variance of each row's class, with a trace left where it is all but certain."""
    return np.maximum(chances * (1 - chances), 1e-9)


def weighted_gram(columns: Floats, weights: Floats) -> Floats:
    """Return columnsᵀ diag(weights) columns."""
    scaled = np.sqrt(weights)[:, None] * columns
    return scaled.T @ scaled


def budgeted(quadratic: Floats, linear: Floats, budget: float, start: Floats) -> Floats:
    """Return the θ ≥ 0 with sum ≤ budget that minimises θᵀ quadratic θ / 2 − linearᵀ θ.

    Primal active-set method (Nocedal and Wright 2006, algorithm 16.3). The start sums to the budget; near the answer,
    few steps are needed.
    """
    theta, free, spent = start.copy(), start > 0, True
    quadratic = quadratic + 1e-10 * (np.trace(quadratic) / len(linear) + 1) * np.eye(len(linear))
    tolerance = 1e-9 * np.abs(linear).max(initial=1.0)
    for _ in range(20 * len(theta) + 20):
        target, price = _on_free(quadratic, linear, budget, free, spent)
        reach, emptied = _first_obstacle(theta, target, np.inf if spent else budget)
        theta = theta + reach * (target - theta)
        if emptied is not None:
            theta[emptied], free[emptied] = 0.0, False
            continue
        if reach < 1:
            spent = True
            continue
        gain = np.where(free, -np.inf, linear - quadratic @ theta - price)
        if spent and price < -tolerance:
            spent = False
        elif gain.max() > tolerance:
            free[gain.argmax()] = True
        else:
            break
    return np.where(theta < SMALLEST_WEIGHT, 0.0, theta)


def _on_free(
    quadratic: Floats, linear: Floats, budget: float, free: NDArray[np.bool_], spent: bool
) -> tuple[Floats, float]:
    """Return the best θ with only the free ones not zero, whatever their sign, and the price of the budget."""
    theta = np.zeros(len(linear))
    within = quadratic[np.ix_(free, free)]
    if not spent:
        theta[free] = np.linalg.solve(within, linear[free])
        return theta, 0.0
    alone, per_price = np.linalg.solve(within, np.column_stack([linear[free], np.ones(free.sum())])).T
    price = float((alone.sum() - budget) / per_price.sum())
    theta[free] = alone - price * per_price
    return theta, price


def _first_obstacle(theta: Floats, target: Floats, budget: float) -> tuple[float, int | None]:
    """Return which part of the way to the target is allowed, and which weight is zero there if that ends it."""
    ratios = np.divide(theta, theta - target, out=np.full(len(theta), np.inf), where=target < 0)
    emptied = int(ratios.argmin())
    rise = target.sum() - theta.sum()
    within_budget = (budget - theta.sum()) / rise if target.sum() > budget else 1.0
    if ratios[emptied] < within_budget:
        return float(ratios[emptied]), emptied
    return float(within_budget), None
