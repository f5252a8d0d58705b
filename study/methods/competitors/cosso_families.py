"""What differs in COSSO between regression and two classes, as in the R package `cosso` 2.1."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy.special import expit

from ...data.arrays import Floats
from .cosso_splines import (
    MOST_STEPS,
    SMALLEST_WEIGHT,
    binomial_variance,
    budgeted,
    least_squares,
    log_loss,
    logistic,
    weighted_gram,
)


class Family(Protocol):
    """How splines are fitted, weights found and predictions judged."""

    smoothing_grid: Floats
    smoothing_folds: int
    smoothing_share: float
    """The smoothing used is this share of the one that cross-validation chooses."""
    ends_when_full: bool
    """Whether the grid of bounds ends where all factors are selected."""

    def spline(self, design: Floats, penalty: Floats, y: Floats, smoothing: float, start: Floats) -> Floats:
        """Return the coefficients of the penalised fit; the start is a predictor near the one to come."""

    def garrote(self, components: Floats, tolls: Floats, constant: float, y: Floats, bounds: Floats) -> Floats:
        """Return weights of the components, one row for each bound on their sum; tolls are what a unit costs."""

    def loss(self, predictor: Floats, y: Floats) -> Floats:
        """Return the loss of each row."""

    def kept_in_full(self, n_factors: int) -> int:
        """Return up to which number of selected factors all bounds are tried."""


class Gaussian:
    """Least squares."""

    smoothing_grid = 2.0 ** -np.arange(10, 22.1, 0.75)
    smoothing_folds = 6
    smoothing_share = 1.0
    ends_when_full = False

    def spline(self, design: Floats, penalty: Floats, y: Floats, smoothing: float, start: Floats) -> Floats:  # noqa: ARG002
        """Return the coefficients of the penalised fit, which needs no start."""
        return least_squares(design, 2 * len(y) * smoothing * penalty, y)

    def garrote(self, components: Floats, tolls: Floats, constant: float, y: Floats, bounds: Floats) -> Floats:
        """Return the weights θ that minimise |y − constant − components θ|² + tollsᵀ θ."""
        quadratic, linear = components.T @ components, components.T @ (y - constant) - tolls / 2

        def within(bound: float, near: Floats) -> Floats:
            return budgeted(quadratic, linear, bound, _spread(near, bound, linear))

        return _along(bounds, np.zeros(len(tolls)), within)

    def loss(self, predictor: Floats, y: Floats) -> Floats:
        """Return the loss of each row."""
        return (y - predictor) ** 2

    def kept_in_full(self, n_factors: int) -> int:
        """Return up to which number of selected factors all bounds are tried."""
        return n_factors // 2 if n_factors <= 15 else n_factors // 3


class Binomial:
    """The log-likelihood of two classes; the predictor is the log-odds."""

    smoothing_grid = 2.0 ** -np.arange(12, 22.1)
    smoothing_folds = 5
    smoothing_share = 1 / 4
    ends_when_full = True

    def spline(self, design: Floats, penalty: Floats, y: Floats, smoothing: float, start: Floats) -> Floats:
        """Return the coefficients of the penalised fit."""
        return logistic(design, len(y) * smoothing * penalty, y, start)

    def garrote(self, components: Floats, tolls: Floats, constant: float, y: Floats, bounds: Floats) -> Floats:
        """Return the weights θ that minimise the log losses of constant + components θ, plus tollsᵀ θ."""

        def objective(theta: Floats) -> float:
            return float(log_loss(constant + components @ theta, y).sum() + tolls @ theta)

        def within(bound: float, theta: Floats) -> Floats:
            """Return the weights for one bound: quadratic programmes, each around the weights before."""
            reached = objective(theta)
            for _ in range(MOST_STEPS):
                chances = expit(constant + components @ theta)
                quadratic = weighted_gram(components, binomial_variance(chances))
                linear = quadratic @ theta + components.T @ (y - chances) - tolls
                step = budgeted(quadratic, linear, bound, _spread(theta, bound, linear)) - theta
                length = np.abs(step).max()
                # Components of classes that are nearly apart are so steep that a whole step may lead far uphill.
                while objective(theta + step) > reached and np.abs(step).max() > 1e-9:
                    step = step / 2
                theta, reached = theta + step, objective(theta + step)
                if length <= 1e-4:
                    break
            return np.where(theta < SMALLEST_WEIGHT, 0.0, theta)

        return _along(bounds, np.zeros(len(tolls)), within)

    def loss(self, predictor: Floats, y: Floats) -> Floats:
        """Return the loss of each row."""
        return log_loss(predictor, y)

    def kept_in_full(self, n_factors: int) -> int:
        """Return up to which number of selected factors all bounds are tried."""
        return n_factors // 2


def _along(bounds: Floats, theta: Floats, within: Callable[[float, Floats], Floats]) -> Floats:
    """Return the weights within every bound, each found from those within the bound before."""
    weights = np.empty((len(bounds), len(theta)))
    for i, bound in enumerate(bounds):
        # Where the bound before did not bind, this one does not either.
        if i == 0 or theta.sum() > 0.999999 * bounds[i - 1]:
            theta = within(bound, theta)
        weights[i] = theta
    return weights


def _spread(theta: Floats, bound: float, linear: Floats) -> Floats:
    """Return weights in these proportions that sum to the bound; if all are zero, the most promising one has it."""
    if not theta.any():
        theta = np.where(np.arange(len(linear)) == linear.argmax(), 1.0, 0.0)
    return theta * (bound / float(theta.sum()))
