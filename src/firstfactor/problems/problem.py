"""Test functions of Huang and Joseph (2025), section 4, and their true indices."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args, overload

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from .._utils import checks, frames
from .copula import CopulaInputs
from .monte_carlo import monte_carlo_total_indices

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Test function of factors in [0, 1], of which only some matter.

    See Also
    --------
    monte_carlo_total_indices : True indices of a function of your own.

    Examples
    --------
    >>> from firstfactor.problems import friedman
    >>> X, y = friedman.sample(500, seed=0)
    >>> X.shape, friedman.true_factors
    ((500, 10), (0, 6, 7, 8, 9))
    >>> friedman.total_indices().round(2)
    array([0.35, 0.  , 0.  , 0.  , 0.  , 0.  , 0.35, 0.12, 0.15, 0.27])
    """

    name: str
    """Name of the problem."""
    function: Callable[[Floats], Floats]
    """Function that returns the response without noise, one value per row."""
    true_factors: tuple[int, ...]
    """Positions of the factors that the function depends on."""
    n_factors: int
    """Number of factors in the paper."""
    exchangeable: tuple[tuple[int, ...], ...] = ()
    """Groups of exchangeable factors of the function: their indices are equal where factors are independent."""

    @overload
    def sample(
        self,
        n_rows: int,
        n_factors: int | None = None,
        correlation: float = 0.0,
        noise: float = 1.0,
        seed: Any = None,
        *,
        classes: Literal[False] = False,
        frame: None = None,
    ) -> tuple[Floats, Floats]: ...

    @overload
    def sample(
        self,
        n_rows: int,
        n_factors: int | None = None,
        correlation: float = 0.0,
        noise: float = 1.0,
        seed: Any = None,
        *,
        classes: bool = False,
        frame: frames.Backend | None = None,
    ) -> tuple[Any, Any]: ...

    def sample(
        self,
        n_rows: int,
        n_factors: int | None = None,
        correlation: float = 0.0,
        noise: float = 1.0,
        seed: Any = None,
        *,
        classes: bool = False,
        frame: frames.Backend | None = None,
    ) -> tuple[Any, Any]:
        """Draw factors and the response.

        Parameters
        ----------
        n_rows : int
            Number of rows.
        n_factors : int, optional
            Number of factors. Default: as many as in the paper.
        correlation : float, default 0
            The ρ of the Gaussian copula: ρ^abs(i − j) between the normal scores of factors i and j.
        noise : float, default 1
            Standard deviation of the normal noise added to the function.
        seed : int, Generator or None, default None
            As in `numpy.random.default_rng`.
        classes : bool, default False
            If True, return two classes instead of a quantity: whether the function with its noise is above 0. With
            ``noise=1`` these are the paper's, True with probability Φ(f(x)); in general it is Φ(f(x) / noise), and the
            sign of the function without noise.
        frame : {"pandas", "polars", "pyarrow"}, optional
            Return tables of this library instead of arrays: the factors x1, x2, ..., counted as in the paper, and
            the column y.

        Returns
        -------
        X : array or data frame of shape (n_rows, n_factors)
            The factors.
        y : array or series of shape (n_rows,)
            The response.
        """
        n_rows = checks.at_least("n_rows", n_rows, 1)
        n_factors = self._check_n_factors(n_factors)
        noise = checks.number("noise", noise, 0)
        if frame is not None:
            checks.one_of("frame", frame, get_args(frames.Backend))
        rng = checks.generator(seed, "seed")
        X = uniform_factors(n_rows, n_factors, correlation, rng)
        y: NDArray[Any] = self.function(X) + noise * rng.normal(size=n_rows)
        if classes:
            y = y > 0
        if frame is None:
            return X, y
        columns = {f"x{j + 1}": X[:, j] for j in range(n_factors)}
        return frames.make_frame(columns, frame), frames.make_frame({"y": y}, frame)["y"]

    def total_indices(
        self, n_factors: int | None = None, correlation: float = 0.0, n_outer: int = 100_000, seed: Any = 0
    ) -> Floats:
        """Compute the true total index of every factor of a sample, by Double Monte Carlo.

        The indices are relative to the factors in the function: the others have index 0 and take nothing away from
        those that they are correlated with.

        Parameters
        ----------
        n_factors : int, optional
            As in `sample`.
        correlation : float, default 0
            As in `sample`.
        n_outer : int, default 100,000
            As in `monte_carlo_total_indices`.
        seed : int, Generator or None, default 0
            As in `monte_carlo_total_indices`.

        Returns
        -------
        array of shape (n_factors,)
            The true total indices; 0 for factors that the function does not depend on.
        """
        n_factors = self._check_n_factors(n_factors)
        true = list(self.true_factors)
        rho = checks.number("correlation", correlation, 0, 1)
        gaps = np.abs(np.subtract.outer(true, true))
        inputs = CopulaInputs(_Uniform(), rho**gaps)
        found = monte_carlo_total_indices(self._of_true_factors, inputs, n_outer=n_outer, seed=seed)
        values = np.zeros(n_factors)
        values[true] = found.values
        if rho == 0:
            for group in self.exchangeable:
                values[list(group)] = values[list(group)].mean()
        return values

    def _of_true_factors(self, values: Floats) -> Floats:
        """Return the function at rows that have only the true factors."""
        X = np.zeros((len(values), max(self.true_factors) + 1))
        X[:, self.true_factors] = values
        return self.function(X)

    def _check_n_factors(self, n_factors: int | None) -> int:
        """Return the number of factors to draw."""
        if n_factors is None:
            return self.n_factors
        least = max(self.true_factors) + 1
        return checks.at_least("n_factors", n_factors, least, f"the function {self.name} uses x{least}")


class _Uniform:
    """Uniform distribution on [0, 1]; that of scipy.stats takes long to import."""

    def ppf(self, q: Floats, /) -> Floats:
        """Return the quantiles, which are the probabilities."""
        return q


def uniform_factors(n_rows: int, n_factors: int, correlation: float, rng: np.random.Generator) -> Floats:
    """Return factors uniform on [0, 1] under a Gaussian copula with Σᵢⱼ = ρ^abs(i − j).

    Normal scores with this Σ are a chain in which each depends on the one before only, so no matrix is needed.

    Parameters
    ----------
    n_rows, n_factors : int
        Size of the table.
    correlation : float
        Correlation ρ, from 0 to 1.
    rng : numpy Generator
        Random generator to draw with.

    Returns
    -------
    array of shape (n_rows, n_factors)
        The factors.

    See Also
    --------
    CopulaInputs : Any distributions, and any correlation of their scores.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor.problems import uniform_factors
    >>> X = uniform_factors(1000, 3, 0.9, np.random.default_rng(0))
    >>> np.corrcoef(X.T).round(1)
    array([[1. , 0.9, 0.8],
           [0.9, 1. , 0.9],
           [0.8, 0.9, 1. ]])
    """
    correlation = checks.number("correlation", correlation, 0, 1)
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


friedman = Problem("friedman", _friedman, (0, 6, 7, 8, 9), 10, exchangeable=((0, 6),))
ishigami = Problem("ishigami", _ishigami, (0, 1, 2), 6)
heavy_tailed = Problem("heavy-tailed", _heavy_tailed, (0, 1, 2, 5), 8)
