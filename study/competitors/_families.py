"""What differs in COSSO between regression and two classes, as in the R package `cosso` 2.1."""

from typing import Protocol

import numpy as np
from scipy.special import expit

from study.competitors._splines import binomial_variance, budgeted, least_squares, log_loss, logistic, weighted_gram
from study.outcome import Floats


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
        weights, theta = np.empty((len(bounds), len(tolls))), np.zeros(len(tolls))
        for i, bound in enumerate(bounds):
            # Where the bound before did not bind, this one does not either.
            if i == 0 or theta.sum() > 0.999999 * bounds[i - 1]:
                theta = budgeted(quadratic, linear, bound, _spread(theta, bound, linear))
            weights[i] = theta
        return weights

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
        weights, theta = np.empty((len(bounds), len(tolls))), np.zeros(len(tolls))
        for i, bound in enumerate(bounds):
            if i == 0 or theta.sum() > 0.999999 * bounds[i - 1]:
                theta = self._garrote(components, tolls, constant, y, bound, theta)
            weights[i] = theta
        return weights

    def _garrote(
        self, components: Floats, tolls: Floats, constant: float, y: Floats, bound: float, theta: Floats
    ) -> Floats:
        """Return the weights for one bound: quadratic programmes, each around the weights before."""
        for _ in range(10):
            chances = expit(constant + components @ theta)
            quadratic = weighted_gram(components, binomial_variance(chances))
            linear = quadratic @ theta + components.T @ (y - chances) - tolls
            before, theta = theta, budgeted(quadratic, linear, bound, _spread(theta, bound, linear))
            if np.abs(theta - before).max() <= 1e-4:
                break
        return theta

    def loss(self, predictor: Floats, y: Floats) -> Floats:
        """Return the loss of each row."""
        return log_loss(predictor, y)

    def kept_in_full(self, n_factors: int) -> int:
        """Return up to which number of selected factors all bounds are tried."""
        return n_factors // 2


def _spread(theta: Floats, bound: float, linear: Floats) -> Floats:
    """Return weights in these proportions that sum to the bound; if all are zero, the most promising one has it."""
    if not theta.any():
        theta = np.where(np.arange(len(linear)) == linear.argmax(), 1.0, 0.0)
    return theta * (bound / float(theta.sum()))
