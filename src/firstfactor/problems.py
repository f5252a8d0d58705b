"""Problems whose answer is known: the test functions of Huang and Joseph (2025), section 4."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """A function of factors in [0, 1], of which only some matter.

    Examples
    --------
    >>> from firstfactor.problems import friedman
    >>> X, y = friedman.sample(500, seed=0)
    >>> X.shape, friedman.true_factors
    ((500, 10), (0, 6, 7, 8, 9))
    """

    name: str
    function: Callable[[Floats], Floats]
    """The response without noise, one value per row."""
    true_factors: tuple[int, ...]
    """Positions of the factors that the function depends on."""
    n_factors: int
    """How many factors the paper uses."""

    def sample(
        self,
        n_rows: int,
        n_factors: int | None = None,
        correlation: float = 0.0,
        noise: float = 1.0,
        seed: Any = None,
    ) -> tuple[Floats, Floats]:
        """Draw factors and the response.

        Parameters
        ----------
        n_rows, n_factors : int
            Size of the table. Default: as many factors as in the paper.
        correlation : float
            ρ of the Gaussian copula: ρ^|i−j| between the normal scores of factors i and j.
        noise : float
            Standard deviation of the normal noise added to the function.
        seed : int, Generator or None
            As in `numpy.random.default_rng`.
        """
        n_factors = self.n_factors if n_factors is None else n_factors
        least = max(self.true_factors) + 1
        if n_factors < least:
            raise ValueError(f"n_factors must be at least {least} for {self.name}; got {n_factors!r}.")
        rng = np.random.default_rng(seed)
        X = uniform_factors(n_rows, n_factors, correlation, rng)
        return X, self.function(X) + noise * rng.normal(size=n_rows)


def uniform_factors(n_rows: int, n_factors: int, correlation: float, rng: np.random.Generator) -> Floats:
    """Return factors uniform on [0, 1] under a Gaussian copula with Σᵢⱼ = ρ^|i−j|.

    Normal scores with this Σ are a chain in which each depends on the one before only, so no matrix is needed.
    """
    if not 0 <= correlation <= 1:
        raise ValueError(f"correlation must be from 0 to 1; got {correlation!r}.")
    scores = rng.normal(size=(n_rows, n_factors))
    for j in range(1, n_factors):
        scores[:, j] = correlation * scores[:, j - 1] + np.sqrt(1 - correlation**2) * scores[:, j]
    uniform: Floats = ndtr(scores, out=scores)
    return uniform


def _friedman(X: Floats) -> Floats:
    """Return 10 sin(π x₁ x₇) + 20 (x₈ − 0.5)² + 10 x₉ + 5 x₁₀ − 20 x₉ x₁₀ − 10."""
    wave = 10 * np.sin(np.pi * X[:, 0] * X[:, 6])
    response: Floats = wave + 20 * (X[:, 7] - 0.5) ** 2 + 10 * X[:, 8] + 5 * X[:, 9] - 20 * X[:, 8] * X[:, 9] - 10
    return response


def _ishigami(X: Floats) -> Floats:
    """Return sin z₁ + 7 sin² z₂ + 0.1 z₃⁴ sin z₁ with z = 2πx − π."""
    z1, z2, z3 = (2 * np.pi * X[:, j] - np.pi for j in range(3))
    response: Floats = np.sin(z1) + 7 * np.sin(z2) ** 2 + 0.1 * z3**4 * np.sin(z1)
    return response


def _heavy_tailed(X: Floats) -> Floats:
    """Return 2 log(x₁² + x₂⁴) / (cos x₁ + sin x₃) + x₂² exp(x₃) / √(1.1 − x₆)."""
    x1, x2, x3, x6 = (X[:, j] for j in (0, 1, 2, 5))
    tail = 2 * np.log(x1**2 + x2**4) / (np.cos(x1) + np.sin(x3))
    response: Floats = tail + x2**2 * np.exp(x3) / np.sqrt(1.1 - x6)
    return response


friedman = Problem("friedman", _friedman, (0, 6, 7, 8, 9), 10)
ishigami = Problem("ishigami", _ishigami, (0, 1, 2), 6)
heavy_tailed = Problem("heavy-tailed", _heavy_tailed, (0, 1, 2, 5), 8)
