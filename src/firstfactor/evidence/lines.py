"""Test of the line of a factor beside the lines of all others: the t-test of a linear model, given a base.

A factor that only resembles a true one adds nothing here, and one that others mask becomes visible.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data.encoding import TINY
from ..neighbors.strategy import Floats
from .constants import MOST_LEVELS_IN_LINE, MOST_LINES_BESIDE, ROWS_PER_LINE_BESIDE, SMALLEST_LINE_LEFT
from .functions import FactorFunctions, Functions
from .regression import Regression

# Ridge, as a share of the squared length, for lines that are exact copies of each other.
RIDGE = 1e-6


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
