"""Lines of the factors outside a base: each beside all others, and all together.

Beside the lines of all others, a line has the t-test of a linear model: a factor that only resembles a true one adds
nothing there, and one that others mask becomes visible. Together, many weak lines can explain much, though none of them
can be named. A ridge regression on them, fitted to some rows, gives on other rows a lower bound for how much. Its
squared errors are compared row by row with those without it, so that the noise cancels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from ..data.encoding import TINY
from ..neighbors.strategy import Floats, Positions
from ..results.constants import LEVEL
from .constants import MOST_LEVELS_IN_LINE, MOST_LINES_BESIDE, ROWS_PER_LINE_BESIDE, SMALLEST_LINE_LEFT
from .functions import FactorFunctions, Functions
from .regression import Regression

# Ridge, as a share of the squared length, for lines that are exact copies of each other.
RIDGE = 1e-6

# Penalties of the ridge regression to try, in units of the number of rows.
PENALTIES = np.logspace(-3, 3, 13)


@dataclass(frozen=True)
class Lines:
    """Residuals of the lines of some factors, given a base."""

    left: Floats
    """Weighted residuals, (lines, rows)."""
    owner: NDArray[np.intp]
    """Factor of each line, (lines,)."""

    @classmethod
    def of(
        cls, functions: FactorFunctions, regression: Regression, factors: Sequence[int], n_functions: int = 1
    ) -> "Lines":
        """Return the first functions of some factors, without those that the base almost fully explains."""
        if functions.design.is_in_memory:
            parts = [_left_of(functions, some, regression, n_functions) for some in functions.design.in_blocks(factors)]
        else:
            parts = functions.ask_each_block("take lines of", _left_of, factors, regression, n_functions)
        owner = np.repeat(list(factors), np.concatenate([numbers for _, numbers in parts]))
        left = np.concatenate([lines for lines, _ in parts]).astype(np.float64)
        enough = np.einsum("ij,ij->i", left, left) > SMALLEST_LINE_LEFT * left.shape[1]
        return cls(left[enough], owner[enough])

    @classmethod
    def of_few(
        cls, functions: FactorFunctions, regression: Regression, factors: Sequence[int], n_functions: int = 1
    ) -> "Lines | None":
        """Return the same if the factors are not too many, or None if they are or if there are none."""
        if not 0 < len(factors) * n_functions <= MOST_LINES_BESIDE:
            return None
        return cls.of(functions, regression, factors, n_functions)

    def like(self, functions: Floats, correlation: float) -> tuple[int, ...]:
        """Return the factors with a line whose absolute correlation with a function exceeds ``correlation``."""
        lengths, sizes = (np.sqrt(np.einsum("ij,ij->i", each, each)) for each in (self.left, functions))
        common = np.abs(self.left @ functions.T) / np.maximum(np.outer(lengths, sizes), TINY)
        return tuple(np.unique(self.owner[common.max(axis=1, initial=0.0) > correlation]).tolist())

    def without(self, factors: Sequence[int]) -> "Lines":
        """Return the lines of all other factors."""
        others = ~np.isin(self.owner, factors)
        return Lines(self.left[others], self.owner[others])

    def fit(self, regression: Regression, n_units: int) -> bool:
        """Return True if there are enough rows for all lines beside the base."""
        return 0 < len(self.left) <= min(n_units / ROWS_PER_LINE_BESIDE - regression.n_coefficients, MOST_LINES_BESIDE)

    def beside_each_other(self) -> Functions:
        """Return the residuals of the lines of each factor, given those of all other factors: (lines, rows)."""
        gram = self.left @ self.left.T
        gram[np.diag_indices_from(gram)] *= 1 + RIDGE
        inverse = np.linalg.inv(gram)
        weighted = inverse @ self.left
        beside = weighted / np.diag(inverse)[:, None]
        for factor in np.unique(self.owner):
            own = np.flatnonzero(self.owner == factor)
            if own.size > 1:
                beside[own] = np.linalg.solve(inverse[np.ix_(own, own)], weighted[own])
        return np.asarray(beside, np.float32)


def _left_of(
    functions: FactorFunctions, factors: Sequence[int], regression: Regression, n_functions: int
) -> tuple[Functions, list[int]]:
    """Return residuals of the first functions of factors of one block, given a base, and their number for each."""
    first = [functions.of(i)[: max(min(functions.n_plain(i), MOST_LEVELS_IN_LINE), n_functions)] for i in factors]
    return regression.remains(regression.weigh(np.concatenate(first))), list(map(len, first))


def explained_by_rest(lines: Lines, outputs: Floats, folds: Positions, groups: Positions | None) -> float:
    """Return a lower bound for the variance in the residuals of y, (outputs, rows), that the lines explain together."""
    X, y = lines.left.T, outputs.T
    gains = np.empty(len(X))
    for fold in range(int(folds.max()) + 1):
        inside = folds != fold
        predicted = X[~inside] @ _ridge(X[inside], y[inside])
        gains[~inside] = (y[~inside] ** 2 - (y[~inside] - predicted) ** 2).sum(axis=1)
    if groups is not None:
        gains = np.bincount(groups, gains) * (groups.max() + 1) / groups.size
    error = gains.std(ddof=1) / np.sqrt(gains.size)
    return float(gains.mean() - norm.isf(1 - LEVEL) * error)


def _ridge(X: Floats, y: Floats) -> Floats:
    """Return the slopes of each output, (lines, outputs), with the penalty of least generalised cross-validation."""
    left, sizes, right = np.linalg.svd(X, full_matrices=False)
    along = left.T @ y
    outside = (y**2).sum() - (along**2).sum()
    errors = []
    for penalty in PENALTIES * len(X):
        shrunk = sizes**2 / (sizes**2 + penalty)
        error = outside + (((1 - shrunk)[:, None] * along) ** 2).sum()
        errors.append(error / (len(X) - shrunk.sum()) ** 2)
    penalty = PENALTIES[int(np.argmin(errors))] * len(X)
    slopes: Floats = right.T @ ((sizes / (sizes**2 + penalty))[:, None] * along)
    return slopes
