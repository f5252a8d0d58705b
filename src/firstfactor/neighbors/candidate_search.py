"""One search in a base that serves many candidates: along a sorted column, or through a k-d tree."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from .kernels.forward_sorted import sum_along_each
from .kernels.forward_tree import sum_plus_each
from .kernels.kd_tree import LEAF
from .kernels.simd import WIDTH
from .kernels.single_column import gather
from .space import SearchSpace, inverse, occupied
from .strategy import (
    CANDIDATE_CELL,
    CANDIDATE_ROW,
    COMPARE,
    COMPARE_AGAIN,
    COMPARE_CANDIDATE,
    LINE,
    LINE_BLOCK,
    Floats,
    Positions,
    blocks,
    cost_of_search,
    spans,
)

# Candidates served by one search: what is known of so many stays in the fastest cache, and the one that is hardest to
# serve holds up few others.
TILE = 256

# Rows searched to estimate how long the others will take.
SAMPLE = 16


class CandidateSearch(ABC):
    """One search in a base that serves many candidates of one column: what both kinds have in common."""

    def __init__(self, space: SearchSpace, position: Positions, order: Positions) -> None:
        self._space = space
        self._order = order
        self._y, self._weight = space.y[order], space.row_weights[order]
        self._centres = occupied(position[space.outer], position.size, position.size)
        self._gathered: tuple[Sequence[int], Floats] = ((), np.empty((0, 0)))

    def cost(self, candidates: Sequence[int]) -> float:
        """Nanoseconds for each row and candidate, from what a few rows take."""
        some = candidates[:TILE]
        sample = self._centres[:: -(-self._centres.size // SAMPLE)].copy()
        _, spent = self._sum(some, self._gather(some), sample)
        return spent / (sample.size * len(some))

    def means(self, candidates: Sequence[int]) -> Floats:
        """Mean variance of y in the base plus each candidate, (candidates,)."""
        tiles = [candidates[span] for span in spans(len(candidates), TILE)]
        return np.concatenate([np.empty(0), *map(self._means_of_tile, tiles)])

    def _means_of_tile(self, candidates: Sequence[int]) -> Floats:
        values = self._gather(candidates)
        tasks = blocks(self._centres, CANDIDATE_ROW + CANDIDATE_CELL * len(candidates))
        sums = self._space.workers.map(lambda block: self._sum(candidates, values, block)[0], tasks)
        total: Floats = np.sum(sums, axis=0)
        return total / self._space.outer_weight

    def _gather(self, candidates: Sequence[int]) -> Floats:
        """The candidates' values in the order of the search."""
        if self._gathered[0] != candidates:
            self._gathered = ((), np.empty((0, 0)))  # never hold two
            columns, out = self._space.design.first_columns[list(candidates)], self._empty(len(candidates))
            by_row = self._by_row(out)
            self._space.workers.map(
                lambda rows: gather(self._space.design.values, self._order[rows], columns, by_row[rows]),
                spans(self._order.size, 2**17 // columns.size),
            )
            self._gathered = candidates, out
        return self._gathered[1]

    @abstractmethod
    def _empty(self, n_candidates: int) -> Floats:
        """An array for the values of candidates, padded with values that never win."""

    @abstractmethod
    def _by_row(self, values: Floats) -> Floats:
        """The same array as (rows, candidates)."""

    @abstractmethod
    def _sum(self, candidates: Sequence[int], values: Floats, centres: Positions) -> tuple[Floats, float]:
        """The sum of variances for each candidate, (candidates,), and an estimate of the nanoseconds spent."""


class SortedColumnSearch(CandidateSearch):
    """Windows of one sorted numeric column."""

    def __init__(self, space: SearchSpace, base: int) -> None:
        column = space.design.values[:, space.design.columns[base][0]]
        order = np.argsort(column)
        super().__init__(space, inverse(order), order)
        self._base = in_blocks(column[order], np.inf)

    def _empty(self, n_candidates: int) -> Floats:
        return np.full((n_candidates, *self._base.shape), np.inf)

    def _by_row(self, values: Floats) -> Floats:
        return values.reshape(len(values), -1).T

    def _sum(self, candidates: Sequence[int], values: Floats, centres: Positions) -> tuple[Floats, float]:
        caps = self._space.design.caps[self._space.design.first_columns[list(candidates)]]
        total, n_visited = sum_along_each(
            self._base, values, caps, self._y, self._weight, centres, self._space.n_neighbors
        )
        return total, LINE * centres.size * len(candidates) + LINE_BLOCK * n_visited


class TreeSearch(CandidateSearch):
    """A k-d tree of the base, searched for each row."""

    def __init__(self, space: SearchSpace, base: Sequence[int]) -> None:
        self._permuted = space.kd_tree(base)
        super().__init__(space, self._permuted.position, self._permuted.tree.order)
        self._groups = None if space.groups is None else space.groups[self._order]

    def _empty(self, n_candidates: int) -> Floats:
        return np.zeros((self._order.size, -(-n_candidates // WIDTH) * WIDTH))

    def _by_row(self, values: Floats) -> Floats:
        return values

    def _sum(self, candidates: Sequence[int], values: Floats, centres: Positions) -> tuple[Floats, float]:
        permuted, caps = self._permuted, np.full(values.shape[1], np.inf)
        caps[: len(candidates)] = self._space.design.caps[self._space.design.first_columns[list(candidates)]]
        total, compared, again = sum_plus_each(
            permuted.tree,
            permuted.caps,
            values,
            caps,
            self._y,
            self._weight,
            self._groups,
            centres,
            self._space.n_neighbors,
        )
        spent = cost_of_search(permuted.caps.size, self._space.design.n_rows) * centres.size
        spent += (COMPARE + COMPARE_CANDIDATE * caps.size) * compared + COMPARE_AGAIN * again
        return total[: len(candidates)], spent


def in_blocks(values: Floats, padding: float) -> Floats:
    """Values in blocks of 16 rows, (blocks, 16, ...), the last one padded."""
    filled = np.full((-(-len(values) // LEAF) * LEAF, *values.shape[1:]), padding)
    filled[: len(values)] = values
    return filled.reshape(-1, LEAF, *values.shape[1:])
