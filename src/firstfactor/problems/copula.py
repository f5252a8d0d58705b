"""Factors with any distributions under a Gaussian copula: whole rows, or some factors given the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from .._utils import checks

Floats = NDArray[np.float64]

SINGULAR = 1e-12
"""Eigenvalues of correlation matrices below this count as 0: some scores are linear combinations of others."""


@runtime_checkable
class Marginal(Protocol):
    """Distribution of one factor, such as a frozen one of `scipy.stats`."""

    def ppf(self, q: Floats, /) -> Any:
        """Return the quantiles of the probabilities ``q``."""


@dataclass(frozen=True, init=False, eq=False)
class CopulaInputs:
    """Factors with given distributions, joined by a Gaussian copula.

    Parameters
    ----------
    marginals : sequence of distributions, or one
        One per factor: frozen distributions of `scipy.stats`, or anything with a method ``ppf``. A single one
        serves all factors of ``correlation``.
    correlation : array-like of shape (factors, factors), optional
        Correlation of the normal scores Φ⁻¹(Gᵢ(Xᵢ)), not of the factors themselves. It may be singular. Default:
        the factors are independent.
    names : sequence of str, optional
        Default: x1, x2, ...

    See Also
    --------
    monte_carlo_total_indices : True total indices under such a distribution.
    uniform_factors : Draw factors whose correlation decreases with their distance.

    Examples
    --------
    >>> from scipy.stats import lognorm, norm
    >>> from firstfactor.problems import CopulaInputs
    >>> inputs = CopulaInputs([norm(), lognorm(0.5)], [[1, 0.7], [0.7, 1]])
    >>> inputs.names
    ('x1', 'x2')
    >>> inputs.sample(1000, seed=0).shape
    (1000, 2)
    """

    marginals: tuple[Marginal, ...]
    """Distribution of each factor."""
    correlation: Floats
    """Correlation of the normal scores, (factors, factors)."""
    names: tuple[str, ...]
    """Name of each factor."""

    def __init__(
        self,
        marginals: Sequence[Marginal] | Marginal,
        correlation: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        matrix = None if correlation is None else _check_correlation(correlation)
        every = _check_marginals(marginals, matrix)
        matrix = np.eye(len(every)) if matrix is None else matrix
        _check_one_to_one(every, matrix)
        matrix.flags.writeable = False
        object.__setattr__(self, "marginals", every)
        object.__setattr__(self, "correlation", matrix)
        object.__setattr__(self, "names", _check_names(names, len(every)))

    @property
    def n_factors(self) -> int:
        """Number of factors."""
        return len(self.marginals)

    @property
    def independent(self) -> bool:
        """True if the factors are independent of each other."""
        return np.array_equal(self.correlation, np.eye(self.n_factors))

    def sample(self, n_rows: int, seed: Any = None) -> Floats:
        """Draw rows of factors.

        Parameters
        ----------
        n_rows : int
            Number of rows.
        seed : int, numpy Generator or None
            The same seed gives the same rows.

        Returns
        -------
        array of shape (n_rows, factors)
            The factors in order.
        """
        n_rows, rng = checks.at_least("n_rows", n_rows, 1), checks.generator(seed, "seed")
        return self.values(self.draw_scores(n_rows, rng), range(self.n_factors))

    def values(self, scores: Floats, factors: Sequence[int]) -> Floats:
        """Return the values of the factors whose normal scores are the columns of ``scores``.

        Parameters
        ----------
        scores : array of shape (rows, len(factors))
            Normal scores.
        factors : sequence of int
            The factor of each column.

        Returns
        -------
        array of shape (rows, len(factors))
            Quantiles of the marginals.
        """
        values: Floats = ndtr(scores)
        for column, factor in enumerate(factors):
            values[:, column] = self.marginals[factor].ppf(values[:, column])
        return values

    def draw_scores(self, n_rows: int, rng: np.random.Generator) -> Floats:
        """Draw rows of normal scores, a column for each factor.

        Parameters
        ----------
        n_rows : int
            Number of rows.
        rng : numpy Generator
            Random generator to draw with.

        Returns
        -------
        array of shape (n_rows, factors)
            The scores; `values` turns them into factors.
        """
        return _rows_times(rng.normal(size=(n_rows, self.n_factors)), _square_root(self.correlation))

    def conditional(self, group: tuple[int, ...]) -> "Conditional":
        """Return the distribution of the scores in ``group`` given all others.

        Parameters
        ----------
        group : tuple of int
            Positions of some factors.

        Returns
        -------
        Conditional
            With a method ``draw(scores, rng)``.
        """
        others = [i for i in range(self.n_factors) if i not in group]
        across = self.correlation[np.ix_(others, group)]
        known = np.linalg.pinv(self.correlation[np.ix_(others, others)], rcond=SINGULAR, hermitian=True)
        unknown = self.correlation[np.ix_(group, group)] - across.T @ known @ across
        return Conditional(others, known @ across, _square_root(unknown))


@dataclass(frozen=True, eq=False)
class Conditional:
    """Normal distribution of some scores given all others, exact also for singular correlations."""

    others: list[int]
    weights: Floats
    """Weights of the others in the conditional mean."""
    spread: Floats
    """Square root of the conditional covariance."""

    def draw(self, scores: Floats, rng: np.random.Generator) -> Floats:
        """Redraw the scores of the group, given the others of each row."""
        fresh = rng.normal(size=(len(scores), len(self.spread)))
        return _rows_times(scores[:, self.others], self.weights) + _rows_times(fresh, self.spread)


def _rows_times(rows: Floats, matrix: Floats) -> Floats:
    """Return ``rows @ matrix`` without BLAS, whose bits may depend on its number of threads."""
    product: Floats = np.einsum("ni,ij->nj", rows, matrix)
    return product


def _square_root(covariance: Floats) -> Floats:
    """Return the symmetric square root of a covariance matrix, which may be singular."""
    variances, directions = np.linalg.eigh(covariance)
    root: Floats = directions * np.sqrt(np.where(variances > SINGULAR, variances, 0.0)) @ directions.T
    return root


def _check_correlation(correlation: ArrayLike) -> Floats:
    """Return a copy of the matrix if it is a valid correlation matrix."""
    try:
        matrix = np.array(correlation, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"correlation must be a matrix of numbers or None; got {correlation!r}.") from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"correlation must be a square matrix or None; got shape {matrix.shape}.")
    if not np.isfinite(matrix).all():
        raise ValueError("correlation must be finite; some entries are not.")
    if np.abs(np.diag(matrix) - 1).max() > SINGULAR:
        i = int(np.abs(np.diag(matrix) - 1).argmax())
        raise ValueError(f"correlation must have ones on its diagonal; got {matrix[i, i]} for factor {i}.")
    if np.abs(matrix - matrix.T).max() > SINGULAR:
        i, j = (int(k) for k in np.unravel_index(np.abs(matrix - matrix.T).argmax(), matrix.shape))
        raise ValueError(f"correlation must be symmetric; got {matrix[i, j]} at {i, j} and {matrix[j, i]} at {j, i}.")
    least = float(np.linalg.eigvalsh(matrix)[0])
    if least < -len(matrix) * SINGULAR:
        raise ValueError(
            f"correlation must be positive semi-definite; its smallest eigenvalue is {least:.3g}. No factors can be "
            "correlated like this: move the entries towards 0."
        )
    return matrix


def _check_marginals(marginals: Sequence[Marginal] | Marginal, correlation: Floats | None) -> tuple[Marginal, ...]:
    """Return one distribution per factor."""
    if isinstance(marginals, Marginal):
        if correlation is None:
            raise ValueError("marginals must be a sequence where correlation is None, such as [norm()] * 3; got one.")
        return (marginals,) * len(correlation)
    every = tuple(marginals)
    if not every:
        raise ValueError("marginals must hold at least one distribution; got none.")
    for i, marginal in enumerate(every):
        if not isinstance(marginal, Marginal):
            raise TypeError(
                f"marginals must have a method ppf, as scipy.stats.norm() has; got {marginal!r} for factor {i}."
            )
    if correlation is not None and len(correlation) != len(every):
        raise ValueError(
            f"correlation must have a row for each of {len(every)} marginals; got shape {correlation.shape}."
        )
    return every


def _check_one_to_one(marginals: tuple[Marginal, ...], correlation: Floats) -> None:
    """Refuse discrete factors with correlated scores: the value of such a factor does not determine its score."""
    for i, marginal in enumerate(marginals):
        if hasattr(marginal, "pmf") and np.count_nonzero(correlation[i]) > 1:
            raise ValueError(
                f"marginals must be continuous for correlated factors; got a discrete one for factor {i}. "
                "Make it independent of the others, or compute it inside f from a continuous one."
            )


def _check_names(names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """Return a name for each factor."""
    if names is None:
        return tuple(f"x{i + 1}" for i in range(count))
    if len(names) != count or len(set(names)) != count:
        raise ValueError(f"names must be {count} different names, one per factor; got {list(names)!r}.")
    return tuple(names)
