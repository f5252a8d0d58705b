"""Share of each factor that another one explains: 1 − E[Var(X_i | X_j)] / Var(X_i), for numbers and categories alike.

A factor is encoded as columns whose variances add up to 1: the ranks of a number, so that outliers count no more than
other rows; an indicator for each level of a category, and for missing values. One neighbour search in a factor serves
all other factors.
"""

from collections.abc import Sequence

import numpy as np

from ..data.design import Design
from ..data.encoding import is_missing
from ..neighbors.search import Search
from ..neighbors.strategy import Floats, spans
from ..variance.conditional import Variances
from ..variance.local_linear import LocalLinear
from ..variance.sampling import draw_fixed
from .constants import MAX_LEVELS, MAX_ROWS, NEIGHBORS

# Number of factors whose columns are in memory at a time.
FACTORS_AT_A_TIME = 256


class Dependence:
    """Shares of each other that the factors of one table explain."""

    def __init__(self, variances: Variances, most_rows: int = MAX_ROWS) -> None:
        search = variances.search
        rows = draw_fixed(search.design.n_rows, most_rows)
        # The response may be constant on these rows: factors explain factors.
        is_here = rows.size == search.design.n_rows and search.design.is_in_memory
        part = search if is_here else search.on_rows(rows, search.y[rows])
        self._search = Search(
            part.design,
            part.y,
            np.arange(part.design.n_rows),
            part.n_neighbors,
            part.workers,
            part.weights,
            part.groups,
        )

    def explained_by_each(self, factors: Sequence[int], others: Sequence[int]) -> Floats:
        """Return the share of each factor (row) that each of the others (column) explains, from 0 to 1."""
        parts = [self._explained(factors[span], others) for span in spans(len(factors), FACTORS_AT_A_TIME)]
        return np.vstack([np.zeros((0, len(others))), *parts])

    def _explained(self, factors: Sequence[int], others: Sequence[int]) -> Floats:
        """Compute the same for few factors, whose columns fit into memory."""
        columns = [_columns(self._search.design, i, self._search.weights) for i in factors]
        owner = np.repeat(np.arange(len(factors)), [block.shape[1] for block in columns])
        responses = np.hstack(columns)

        def explained_by(j: int) -> Floats:
            left = self._left(j, responses)
            return 1.0 - np.bincount(owner, left, minlength=len(factors)).astype(float)

        found = self._search.workers.map(explained_by, others)
        return np.clip(np.reshape(found, (len(others), len(factors))).T, 0.0, 1.0)

    def _left(self, factor: int, responses: Floats) -> Floats:
        """Return the residual variance of each response given a factor, of shape (responses,)."""
        if self._search.design.constant[factor]:  # on these rows
            return _variance(responses, self._search.weights)
        local = LocalLinear(self._search, (factor,), (NEIGHBORS,))
        squares = local.errors(responses, self._search.outer).values[0] ** 2
        left: Floats = np.average(squares, axis=0, weights=self._search.weights)
        return left


def _columns(design: Design, factor: int, weights: Floats | None) -> Floats:
    """Encode a factor as columns whose variances add up to 1, of shape (rows, columns); zeros if it is constant."""
    blocks = []
    for j in design.columns[factor]:
        column = design.column(j)
        if design.categorical[j]:
            blocks += _indicators(column)
            continue
        missing = is_missing(column)
        ranks = np.full(column.size, 0.5)
        ranks[~missing] = _ranks(column[~missing])
        blocks.append(ranks)
        if missing.any():
            blocks.append(missing.astype(float))
    columns = np.column_stack(blocks)
    variance = float(_variance(columns, weights).sum())
    return columns / np.sqrt(variance) if variance > 0 else np.zeros_like(columns)


def _variance(columns: Floats, weights: Floats | None) -> Floats:
    """Return the variance of each column, of shape (columns,)."""
    centred = columns - np.average(columns, axis=0, weights=weights)
    variance: Floats = np.average(centred**2, axis=0, weights=weights)
    return variance


def _ranks(values: Floats) -> Floats:
    """Return ranks from 0 to 1, of shape (rows,); equal values have the same rank."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    return ((np.cumsum(counts) - counts / 2) / values.size)[codes]


def _indicators(levels: Floats) -> list[Floats]:
    """Return an indicator of each level; the levels beyond the most frequent ones share one."""
    values, codes, counts = np.unique(levels, return_inverse=True, return_counts=True)
    if values.size > MAX_LEVELS:
        rank = np.argsort(np.argsort(-counts, kind="stable"))
        codes = np.minimum(rank, MAX_LEVELS - 1)[codes]
    return [(codes == code).astype(float) for code in range(min(values.size, MAX_LEVELS))]
