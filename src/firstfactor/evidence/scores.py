"""Scores: sums over rows of a residual of y times that of a function, divided by their standard deviation.

A score is approximately standard normal if the function adds nothing to the base, whatever the distribution of y, also
under heteroscedasticity. Several scores are combined as a sum of squares. The distribution of the largest of many is
simulated by draws: permutations of y while the base is empty, which is exact, and otherwise residuals of y with random
signs (the wild bootstrap). All outputs of a row and all rows of a group have the same sign.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri_exp

from ..data.encoding import TINY_IN_SINGLE
from ..neighbors.strategy import Floats, Positions
from ..results.estimates import normal_cdf
from .constants import DRAWN_ROWS, DRAWS, FEW_ABOVE, ROWS_FOR_TAILS, ROWS_TO_BE_SURE, SURE
from .functions import Functions
from .regression import Regression

# Principal axes of several outputs with less than this share of the variance, and beyond this number, are dropped.
SMALLEST_OUTPUT, MOST_OUTPUTS = 1e-9, 30

# Draws with a smaller standard deviation differ only by rounding.
ROUNDING = 1e-9

# Skewness below which a normal distribution is used.
NO_SKEWNESS = 1e-3

# Ridge, as a share of the trace, that keeps the gains of collinear functions bounded.
RIDGE = 1e-6

# Above this deviate, p / share is Šidák's probability up to rounding.
CERTAIN = 5.0

Squares = Callable[[Functions], Floats]
"""Function that returns squared scores of functions, (functions, 1) or (functions, 1 + draws)."""


@dataclass(frozen=True)
class Draws:
    """Random signs and permutations of some rows, the same for all tests of one selection."""

    rows: Positions
    """Rows that are redrawn, (some,)."""
    signs: NDArray[np.float32]
    """Random signs, (draws, some)."""
    permuted: NDArray[np.intp] | None
    """Positions among these rows, (draws, some); None where rows are not exchangeable."""
    groups: Positions | None
    """Group of each row of the table, (rows,)."""

    @classmethod
    def make(cls, rng: np.random.Generator, n_rows: int, groups: Positions | None, weighted: bool) -> "Draws":
        """Draw for all rows, or for a sample if there are many rows and no groups."""
        rows = np.arange(n_rows)
        if groups is not None:
            signs = rng.integers(0, 2, (DRAWS, int(groups.max()) + 1))[:, groups]
        else:
            if n_rows > DRAWN_ROWS:
                rows = np.sort(rng.choice(n_rows, DRAWN_ROWS, replace=False))
            signs = rng.integers(0, 2, (DRAWS, rows.size))
        permuted = None
        if groups is None and not weighted:
            permuted = rng.permuted(np.broadcast_to(np.arange(rows.size), signs.shape), axis=1)
        return cls(rows, (signs * 2 - 1).astype(np.float32), permuted, groups)


class Residuals:
    """Residuals of y given a base, and draws of them.

    The variance of a score is estimated from the residuals of ``given``, a regression on more than the base.
    """

    def __init__(
        self, regression: Regression, y: Floats, draws: Draws, is_exchangeable: bool, given: Regression | None = None
    ) -> None:
        self.regression = regression
        self.left = regression.residuals(y)
        """Residuals of y, (outputs, rows)."""
        self._draws = draws
        combine = _uncorrelated(self.left)
        self._of_y = combine @ self.left
        self._given = regression if given is None else given
        # Residuals of least squares are too small where a row or a group has leverage.
        left = self.left if given is None else given.residuals(y)
        corrected = combine @ left / np.sqrt(1 - self._given.leverage_of(draws.groups))
        self._corrected = corrected.astype(np.float32)
        self._corrected_squares = self._corrected**2
        self._permuted = is_exchangeable and draws.permuted is not None
        self._drawn: NDArray[np.float32] | None = None

    def given(self, y: Floats, regression: Regression) -> "Residuals":
        """Return the same with variances of scores from the residuals of a regression on more than the base."""
        return Residuals(self.regression, y, self._draws, self._permuted, regression)

    @property
    def n_outputs(self) -> int:
        """Number of uncorrelated outputs."""
        return len(self._of_y)

    @property
    def variance(self) -> float:
        """Residual variance of y, corrected for the degrees of freedom."""
        degrees: int = self.left.shape[1] - self.regression.n_coefficients
        return float((self.left**2).sum()) / max(degrees, 1)

    def squares(self, functions: Functions) -> Floats:
        """Return the squared scores of functions, summed over outputs: (functions, 1)."""
        scores = functions @ self._of_y.T.astype(np.float32)
        return _sum_squares(scores / self._scale(functions, slice(None)))[:, None]

    def squares_and_draws(self, functions: Functions) -> Floats:
        """Return the squared scores in y and in the draws, (functions, 1 + draws)."""
        rows = self._draws.rows
        some = functions if rows.size == functions.shape[1] else np.ascontiguousarray(functions[:, rows])
        drawn = self._draw()
        n_draws = drawn.shape[1]
        flat = drawn.reshape(-1, rows.size).T
        scores = (some @ flat).reshape(len(some), self.n_outputs, n_draws)
        if self._permuted:
            scale = np.sqrt((some**2) @ self._permuted_squares(flat)).reshape(scores.shape)
        else:
            scale = self._scale(functions, rows)[:, :, None]
        of_draws = _sum_squares(scores / np.maximum(scale, TINY_IN_SINGLE))
        return np.concatenate([self.squares(functions), of_draws], axis=1)

    def _permuted_squares(self, permuted: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the squared residuals of permutations of y, (rows, …), for the variances of scores."""
        if self._given is self.regression or len(permuted) < self.left.shape[1]:
            return permuted**2
        left: NDArray[np.float32] = self._given.remains(np.ascontiguousarray(permuted.T)).T
        return left**2 / (1 - self._given.leverage.astype(np.float32))[:, None]

    def gains(self, functions: Functions, n_each: int) -> Floats:
        """Return the variance that each candidate explains beyond the base, (candidates,), corrected for its functions.

        ``functions`` are residuals given the base, ``n_each`` for each candidate in turn.
        """
        by_candidate = functions.reshape(-1, n_each, functions.shape[1])
        products = by_candidate @ self.left.T.astype(np.float32)  # (candidates, functions, outputs)
        solved = np.linalg.solve(_gram(by_candidate), products.astype(np.float64))
        explained = (products * solved).sum(axis=(1, 2))
        n_rows = functions.shape[1]
        gains: Floats = (explained - n_each * self.variance) / n_rows
        return gains

    def _scale(self, functions: Functions, rows: Positions | slice) -> NDArray[np.float32]:
        """Return the standard deviations of scores on some rows, (functions, outputs)."""
        groups = self._draws.groups
        if groups is None:
            squares = functions[:, rows] ** 2 @ self._corrected_squares[:, rows].T
        else:
            squares = np.stack([_sum_group_squares(functions * output, groups) for output in self._corrected], axis=1)
        deviations: NDArray[np.float32] = np.maximum(np.sqrt(squares), TINY_IN_SINGLE)
        return deviations

    def _draw(self) -> NDArray[np.float32]:
        """Return draws of the residuals, (outputs, draws, rows)."""
        if self._drawn is None:
            if self._permuted:
                self._drawn = self._of_y.astype(np.float32)[:, self._draws.rows][:, self._draws.permuted]
            else:
                self._drawn = self._corrected[:, None, self._draws.rows] * self._draws.signs
        return self._drawn


def _gram(functions: Functions) -> Floats:
    """Return the products of functions, (candidates, functions, rows), for each candidate, with a ridge."""
    gram = (functions @ functions.transpose(0, 2, 1)).astype(np.float64)
    identity = np.eye(gram.shape[1])
    ridged: Floats = gram + (RIDGE * np.trace(gram, axis1=1, axis2=2)[:, None, None] + TINY_IN_SINGLE) * identity
    return ridged


def _sum_group_squares(products: Functions, groups: Positions) -> NDArray[np.float32]:
    """Return the sum over groups of the squared sum of products within a group, (functions,)."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    squares: NDArray[np.float32] = (np.add.reduceat(products[:, order], starts, axis=1) ** 2).sum(axis=1)
    return squares


def _uncorrelated(outputs: Floats) -> Floats:
    """Return the matrix that makes outputs uncorrelated with mean square 1: (combinations, outputs)."""
    variances, directions = np.linalg.eigh(outputs @ outputs.T / outputs.shape[1])
    kept = np.flatnonzero(variances > SMALLEST_OUTPUT * variances[-1])[-MOST_OUTPUTS:]
    combine: Floats = (directions[:, kept] / np.sqrt(variances[kept])).T
    return combine


def _sum_squares(scores: NDArray[np.float32]) -> Floats:
    """Return the sum of squared scores over outputs, the second axis, in double precision."""
    summed: Floats = np.einsum("fo...,fo...->f...", scores, scores, dtype=np.float64)
    return summed


def deviate(squares: Floats, n_scores: float | NDArray[Any]) -> Floats:
    """Transform a sum of ``n_scores`` squared scores to a normal deviate (Wilson and Hilferty 1931)."""
    spread = 2 / (9 * n_scores)
    deviates: Floats = ((squares / n_scores) ** (1 / 3) - (1 - spread)) / np.sqrt(spread)
    return deviates


def standardise(deviates: Floats) -> Floats:
    """Standardise deviates, (tests, 1 + draws), by the mean and standard deviation over y and its draws, if any.

    Each test is thus compared with its own draws: products have other tails than lines. y counts as one of the draws,
    so that it is exchangeable with them if there is no effect.
    """
    if deviates.shape[1] == 1:
        return deviates
    spread = deviates.std(axis=1, keepdims=True)
    centred = deviates - deviates.mean(axis=1, keepdims=True)
    standardised: Floats = centred / np.where(spread > ROUNDING, spread, 1.0)
    return standardised


def reweigh(deviates: Floats, share: float) -> Floats:
    """Return the deviates whose tail probabilities are adjusted for a share of the type I error (Šidák 1967).

    The adjusted probability is 1 − (1 − p)^(1 / share), about p / share but below 1: no two deviates become equal.
    """
    reweighed: Floats = np.array(ndtri_exp(log_ndtr(np.minimum(deviates, CERTAIN)) / share))
    certain = deviates > CERTAIN
    if certain.any():
        reweighed[certain] = -ndtri_exp(np.minimum(log_ndtr(-deviates[certain]) - np.log(share), -1.0))
    return reweighed


def bonferroni(largest: float, n_tests: float) -> float:
    """Return an upper bound for the probability of a deviate this large in one of many tests."""
    return min(n_tests * normal_cdf(-largest), 1.0)


def is_sure(largest: float, n_tests: float, n_rows: int) -> bool:
    """Return True if a deviate this large among ``n_tests`` is significant beyond doubt, without draws."""
    return n_rows >= ROWS_TO_BE_SURE and bonferroni(largest, n_tests) <= SURE


def p_value(best: Floats, n_rows: int) -> float:
    """Return the p-value of the largest deviate of y, the first entry, among those of the draws, the other entries.

    It is the share of draws that reach it; where few do, their distribution is extrapolated.
    """
    share = float(np.mean(~(best < best[0])))  # 1 if that of y is NaN
    if share > FEW_ABOVE / best.size or n_rows < ROWS_FOR_TAILS:
        return share
    return min(share, chance_above(best[0], best[1:]))


def chance_above(value: float, draws: Floats) -> float:
    """Return the probability of a draw above the value, from a gamma distribution with the moments of the draws."""
    centre, deviation = draws.mean(), draws.std(ddof=1)
    if deviation**3 == 0:  # all draws are equal: no distribution to compare with
        return float(value <= centre)
    skewness = np.mean((draws - centre) ** 3) / deviation**3
    distance = (value - centre) / deviation
    if skewness < NO_SKEWNESS:
        return normal_cdf(-float(distance))
    shape = 4 / skewness**2
    # Twice such a variable is chi-squared with 2 · shape degrees of freedom.
    return normal_cdf(-float(deviate(2 * np.maximum(shape + np.sqrt(shape) * distance, 0.0), 2 * shape)))
