"""Tables whose factors share information, with a known answer: linear Gaussian models, y = Xβ + noise.

A set u of factors explains Cov(y, X_u) Σ_uu⁻¹ Cov(X_u, y) of the variance of y, whatever the correlations Σ are.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from .arrays import Floats
from .noise import Source

PAPER_CORRELATION, EQUAL_CORRELATION, SEED = 0.9, 0.5, 5


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Normal factors of variance 1, some of which are correlated, and a response that is a sum of them and noise."""

    correlations: Floats = field(repr=False)
    coefficients: tuple[float, ...]
    noise: float
    """Its standard deviation."""

    def explained(self, factors: Iterable[int]) -> float:
        """Return how much of the variance of y some factors explain together."""
        chosen = list(factors)
        if not chosen:
            return 0.0
        covariances = self.correlations[chosen] @ self.coefficients
        within = self.correlations[np.ix_(chosen, chosen)]
        return float(covariances @ np.linalg.solve(within, covariances))

    @property
    def source(self) -> Source:
        """Tables of these factors, all of which there are, and this response."""
        root = np.linalg.cholesky(self.correlations)

        def factors(n_rows: int, n_factors: int, _: float, rng: np.random.Generator) -> Floats:
            X: Floats = rng.normal(size=(n_rows, n_factors)) @ root.T
            return X

        def response(X: Floats, rng: np.random.Generator) -> Floats:
            y: Floats = X @ self.coefficients + self.noise * rng.normal(size=len(X))
            return y

        return Source(factors, response, tuple(np.flatnonzero(self.coefficients).tolist()))


def _paper() -> Floats:
    correlations = np.eye(3)
    correlations[1, 2] = correlations[2, 1] = PAPER_CORRELATION
    return correlations


def _equal(n_factors: int) -> Floats:
    return (1 - EQUAL_CORRELATION) * np.eye(n_factors) + EQUAL_CORRELATION


def _random(n_factors: int) -> Floats:
    """Return AAᵀ of normal numbers, scaled to correlations."""
    A = np.random.default_rng(SEED).normal(size=(n_factors, n_factors))
    product = A @ A.T
    scales = np.sqrt(np.diag(product))
    correlations: Floats = product / np.outer(scales, scales)
    return correlations


MODELS = {
    "stand-in": LinearModel(_paper(), (1, 1, 0), 0.5),
    "equal-correlations": LinearModel(_equal(4), (2, 1, 1, 0), 1.0),
    "random-correlations": LinearModel(_random(5), (1, -1, 0.5, 0.5, 0), 1.0),
    "three-two-one": LinearModel(np.eye(3), (3, 2, 1), 1.0),
    "three-two-one-noisy": LinearModel(np.eye(3), (3, 2, 1), 14**0.5),  # half of the variance
}
SOURCES = {name: model.source for name, model in MODELS.items()}
