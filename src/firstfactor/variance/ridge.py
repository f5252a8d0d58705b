"""Ridge regressions of many functions on others, with what each leaves at rows that it has not seen.

Rows come in blocks that fit into the cache of the processor: passes over whole matrices would take most of the time.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..neighbors.strategy import Floats
from .constants import LEAST_RELATED, MAX_LEVERAGE_OF_REGRESSION, MOST_FREEDOM, MOST_PROJECTED, RIDGES

# Principal axes with a smaller share of the largest variance are rounding error.
SMALLEST_AXIS = 1e-9

# Number of values in a block of rows, about.
BLOCK = 2**18


class Rows(NamedTuple):
    """Rows of a fit, with weights that sum to the effective number of rows."""

    weights: Floats
    is_weighted: bool
    """False if all weights are 1."""
    size: float
    """Effective number of rows."""
    units: float
    """Effective number of independent rows or groups."""

    def mean(self, values: Floats) -> Floats:
        """Return the weighted mean over rows, the last axis."""
        mean: Floats = values @ self.weights / self.size
        return mean

    def gram(self, columns: Floats) -> Floats:
        """Return the weighted mean products of columns, (columns, rows), with each other."""
        scaled = columns * np.sqrt(self.weights) if self.is_weighted else columns
        gram: Floats = scaled @ scaled.T / self.size  # a matrix times its own transpose takes half of the time
        return gram

    def blocks(self, n_columns: int, step: int = 1) -> list[slice]:
        """Return slices of consecutive rows for a matrix of so many columns, each beginning at a multiple of a step."""
        n = self.weights.size
        length = step * max(BLOCK // (max(n_columns, 1) * step), -(-256 // step))
        return [slice(start, min(start + length, n)) for start in range(0, n, length)]


class Ridge:
    """Ridge regressions of functions on a basis, (functions, rows), whose means are 0.

    The penalty minimises generalised cross-validation; where even that explains no more than chance may, nothing is
    subtracted but the mean. ``values`` returns the functions at some rows; ``gram`` holds the mean products of the
    basis with itself, if they are known.
    """

    def __init__(
        self, rows: Rows, values: Callable[[slice], Floats], n_values: int, basis: Floats, gram: Floats | None = None
    ) -> None:
        self._rows, self._values = rows, values
        moments, squares, self._means = np.zeros((n_values, len(basis))), np.zeros(n_values), np.zeros(n_values)
        for some in rows.blocks(max(n_values, len(basis))):
            found = values(some)
            weighted = found * rows.weights[some] if rows.is_weighted else found
            self._means += found @ rows.weights[some]
            squares += np.einsum("ij,ij->i", weighted, found)
            moments += weighted @ basis[:, some].T
        self._means /= rows.size
        moments /= rows.size
        if len(basis) > MOST_PROJECTED:
            most = np.sort(np.argsort(-np.abs(moments).max(axis=0), kind="stable")[:MOST_PROJECTED])
            basis, moments, gram = basis[most], moments[:, most], None
        self._basis = basis
        self._choose(moments, squares / rows.size - self._means**2, rows.gram(basis) if gram is None else gram)

    def _choose(self, moments: Floats, total: Floats, gram: Floats) -> None:
        """Choose the penalty of each function, given its mean products with the basis and its mean square."""
        units = self._rows.units
        sizes, axes = np.linalg.eigh(gram)
        kept = sizes > SMALLEST_AXIS * sizes.max(initial=1.0)
        sizes, self._axes = sizes[kept], axes[:, kept]
        moments = moments @ self._axes
        shrunk = sizes / (sizes + RIDGES[:, None])
        freedom = shrunk.sum(axis=1)
        counted = 1 - (1 - shrunk) ** 2
        found = moments**2 / sizes @ counted.T
        squares = (total[:, None] - found) / np.maximum(1 - freedom / units, 0.05) ** 2
        squares[:, freedom > MOST_FREEDOM * units] = np.inf
        chance = counted.sum(axis=1) + LEAST_RELATED * np.sqrt(2 * (counted**2).sum(axis=1))
        best = np.argmin(squares, axis=1)
        at_best = found[np.arange(len(best)), best]
        self._related = np.flatnonzero((best < len(RIDGES) - 1) & (at_best * units > total * chance[best]))
        ridges, self._which = np.unique(best[self._related], return_inverse=True)
        self._times = shrunk[ridges] / sizes
        self._slopes = self._times[self._which] * moments[self._related] @ self._axes.T

    def left_everywhere(self) -> Floats:
        """Return leave-one-out residuals, (functions, rows)."""
        blocks = self._rows.blocks(max(len(self._means), len(self._basis)))
        return np.concatenate([self.left(rows) for rows in blocks], axis=1)

    def left(self, rows: slice) -> Floats:
        """Return leave-one-out residuals at some rows."""
        values = self._values(rows)
        values -= self._means[:, None]
        if self._related.size == 0:
            return values
        basis = self._basis[:, rows]
        leverage = self._times @ (self._axes.T @ basis) ** 2 * (self._rows.weights[rows] / self._rows.units)
        others = np.sqrt(np.maximum(1 - leverage, 1 - MAX_LEVERAGE_OF_REGRESSION))
        related = slice(None) if self._related.size == len(values) else self._related
        values[related] = (values[related] - self._slopes @ basis) / others[self._which]
        return values
