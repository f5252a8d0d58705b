"""Additive tables whose efficiency bound is known: y = Σ βⱼ hⱼ(xⱼ) + noise, with normal factors that are correlated.

A factor is normal given the others, so that all truths are integrals over one or two normal variables.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .arrays import Floats
from .ordinary import correlated

EFFECTS = (1.0, 0.7, -0.5, 0.0, 0.35, 0.0, -0.25, 0.0, 0.15, 0.0)
"""βⱼ of each factor, in order; a table has as many as it has factors."""
CEILINGS = (0.2, 0.5, 0.9)
N_NODES = 60
"""Of Gauss-Hermite quadrature."""
GRID = np.linspace(-9.0, 9.0, 4001)
"""Values between which conditional means are interpolated."""

POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(N_NODES)
WEIGHTS = WEIGHTS / WEIGHTS.sum()

Shape = Callable[[Floats], Floats]
CURVES: tuple[Shape, ...] = (
    lambda x: np.asarray(np.sin(1.5 * x)),
    np.square,
    lambda x: np.asarray(np.exp(0.7 * x)),
    lambda x: np.asarray(np.cos(2 * x)),
    lambda x: x + x**2 / 2,
    lambda x: np.asarray(x * np.exp(-(x**2) / 4)),
)
"""hⱼ of the factors that matter, in order, up to mean and variance."""


class Truth(NamedTuple):
    """What is known of a model without its noise."""

    variance: float
    totals: Floats
    """What is left of the variance without each factor."""


@dataclass(frozen=True)
class Additive:
    """A sum of lines or of curves, and normal noise."""

    curved: bool
    ceiling: float
    """The best R² that any model can reach, whatever the number and the correlation of the factors."""
    true_factors: tuple[int, ...] = ()
    """None that tables of all widths share: `draw_true` tells those of one."""

    @staticmethod
    def draw_true(n_factors: int, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the positions of the factors that matter, which are no matter of chance."""
        del rng
        return tuple(j for j in range(n_factors) if EFFECTS[j])

    def sample(
        self, n_rows: int, n_factors: int, correlation: float, *, seed: np.random.Generator, classes: bool
    ) -> tuple[Any, Any]:
        """Draw a table, as problems do; two classes are whether the response is above 0."""
        X = correlated(n_rows, n_factors, correlation, True, seed)
        y = self.terms(X).sum(axis=1) + self.noise(n_factors, correlation) * seed.normal(size=n_rows)
        return X, y > 0 if classes else y

    def terms(self, X: Floats) -> Floats:
        """Return βⱼ hⱼ(xⱼ), of mean 0 and variance βⱼ²."""
        return np.column_stack([EFFECTS[j] * _shape(self.curved, j)(x) for j, x in enumerate(X.T)])

    def truth(self, n_factors: int, correlation: float) -> Truth:
        """Return the variance of the sum, and what is left of it without each factor."""
        return _truth(self.curved, n_factors, correlation)

    def noise(self, n_factors: int, correlation: float) -> float:
        """Return the standard deviation of the noise."""
        return float(np.sqrt(self.truth(n_factors, correlation).variance * (1 / self.ceiling - 1)))

    def left_without(self, X: Floats, correlation: float) -> Floats:
        """Return f − E[f | X₋ᵢ] for each factor i: its term minus the mean of that given the others."""
        means, spreads = _given_others(X, correlation)
        columns = []
        for j, (x, mean, spread) in enumerate(zip(X.T, means.T, spreads, strict=True)):
            shape = _shape(self.curved, j)
            expected = shape(GRID[:, None] + spread * POINTS) @ WEIGHTS
            columns.append(EFFECTS[j] * (shape(x) - np.interp(mean, GRID, expected)))
        return np.column_stack(columns)


def _shape(curved: bool, factor: int) -> Shape:
    """Return hⱼ with mean 0 and variance 1."""
    if not curved or not EFFECTS[factor]:
        return lambda x: x
    curve = CURVES[sum(effect != 0 for effect in EFFECTS[:factor])]
    values = curve(POINTS)
    mean = values @ WEIGHTS
    scale = np.sqrt((values - mean) ** 2 @ WEIGHTS)
    return lambda x: (curve(x) - mean) / scale


def _correlations(n_factors: int, correlation: float) -> Floats:
    places = np.arange(n_factors)
    return np.asarray(float(correlation) ** np.abs(np.subtract.outer(places, places)))


def _given_others(X: Floats, correlation: float) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of each factor given the others."""
    precision = np.linalg.inv(_correlations(X.shape[1], correlation))
    variances = 1 / np.diag(precision)
    return X - (X @ precision) * variances, np.sqrt(variances)


@functools.cache
def _truth(curved: bool, n_factors: int, correlation: float) -> Truth:
    correlations, shapes = _correlations(n_factors, correlation), [_shape(curved, j) for j in range(n_factors)]
    spreads = _given_others(np.zeros((1, n_factors)), correlation)[1]
    totals = np.zeros(n_factors)
    variance = 0.0
    for i, (shape, spread) in enumerate(zip(shapes, spreads, strict=True)):
        given = shape(np.sqrt(1 - spread**2) * POINTS[:, None] + spread * POINTS)
        totals[i] = EFFECTS[i] ** 2 * ((given**2 @ WEIGHTS - (given @ WEIGHTS) ** 2) @ WEIGHTS)
        for j, other in enumerate(shapes):
            rho = correlations[i, j]
            beside = other(rho * POINTS[:, None] + np.sqrt(1 - rho**2) * POINTS) @ WEIGHTS
            variance += EFFECTS[i] * EFFECTS[j] * float(shape(POINTS) * beside @ WEIGHTS)
    return Truth(variance, totals)


MODELS = {
    f"{name}-{100 * ceiling:.0f}": Additive(curved, ceiling)
    for name, curved in (("lines", False), ("curves", True))
    for ceiling in CEILINGS
}
SOURCES = MODELS
