"""Is the line of a factor news beside the lines of all others? The t-test of a linear model, within a base.

A factor that only resembles a true one has nothing to add here, and one that others mask shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..neighbors.strategy import Floats
from .functions import FactorFunctions, Functions
from .regression import Regression

# Plain functions of a factor that count as its line: all levels of most categories.
MOST_LEVELS = 8

# Rows for each coefficient of lines and base together; and the most lines, as time goes with their cube.
ROWS_PER_COEFFICIENT, MOST_LINES = 2, 300

# A line of which the base leaves less than this share is left aside.
SMALLEST_LEFT = 1e-3

# The ridge, as a share of the length, that lets exact copies stand for each other.
RIDGE, TINY = 1e-6, 1e-300


@dataclass(frozen=True)
class Lines:
    """What a base leaves of the lines of some factors, one after the other."""

    left: Floats
    """(lines, rows), weighed."""
    owner: NDArray[np.intp]
    """The factor of each line."""

    @classmethod
    def of(
        cls, functions: FactorFunctions, regression: Regression, factors: Sequence[int], n_functions: int = 1
    ) -> "Lines":
        """Return the first functions of some factors; none of those of which hardly anything is left."""
        if functions.design.is_in_memory:
            parts = [_left_of(functions, some, regression, n_functions) for some in functions.design.in_blocks(factors)]
        else:
            parts = functions.ask_each_block("take lines of", _left_of, factors, regression, n_functions)
        owner = np.repeat(list(factors), np.concatenate([numbers for _, numbers in parts]))
        left = np.concatenate([lines for lines, _ in parts]).astype(np.float64)
        enough = np.einsum("ij,ij->i", left, left) > SMALLEST_LEFT * left.shape[1]
        return cls(left[enough], owner[enough])

    @classmethod
    def of_few(
        cls, functions: FactorFunctions, regression: Regression, factors: Sequence[int], n_functions: int = 1
    ) -> "Lines | None":
        """Return the same of factors that are not too many; None if they are, or if there is none."""
        if not 0 < len(factors) * n_functions <= MOST_LINES:
            return None
        return cls.of(functions, regression, factors, n_functions)

    def like(self, functions: Floats, correlation: float) -> tuple[int, ...]:
        """Return the factors with a line whose correlation with one of some functions is larger, of either sign."""
        lengths, sizes = (np.sqrt(np.einsum("ij,ij->i", each, each)) for each in (self.left, functions))
        common = np.abs(self.left @ functions.T) / np.maximum(np.outer(lengths, sizes), TINY)
        return tuple(np.unique(self.owner[common.max(axis=1, initial=0.0) > correlation]).tolist())

    def without(self, factors: Sequence[int]) -> "Lines":
        """Return the lines of all other factors."""
        others = ~np.isin(self.owner, factors)
        return Lines(self.left[others], self.owner[others])

    def fit(self, regression: Regression, n_units: int) -> bool:
        """Tell whether there are rows enough for all lines beside the base."""
        return 0 < len(self.left) <= min(n_units / ROWS_PER_COEFFICIENT - regression.n_coefficients, MOST_LINES)

    def beside_each_other(self) -> Functions:
        """Return what the lines of all other factors leave of the lines of each: (lines, rows)."""
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
    """What a base leaves of the first functions of some factors of one block, and how many each has."""
    first = [functions.of(i)[: max(min(functions.n_plain(i), MOST_LEVELS), n_functions)] for i in factors]
    return regression.remains(regression.weigh(np.concatenate(first))), list(map(len, first))
