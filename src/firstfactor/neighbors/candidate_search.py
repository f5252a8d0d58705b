"""One search in a base that serves many candidates: along a sorted column, or through a k-d tree."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from functools import partial

import numpy as np

from .kernels.forward_sorted import sum_along_each
from .kernels.forward_tree import sum_plus_each
from .kernels.kd_tree import LEAF
from .kernels.simd import WIDTH
from .kernels.single_column import gather
from .space import PermutedTree, SearchSpace, inverse, occupied
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

# Number of rows searched to estimate the time for the others.
SAMPLE = 16


class CandidateSearch(ABC):
    """Base class of searches in a base that serve a block of single-column candidates.

    The data of a block stay in the fastest cache, and the slowest candidate delays few others.
    """

    def __init__(self, space: SearchSpace, position: Positions, order: Positions) -> None:
        self._space = space
        self._order = order
        self._y, self._weight = space.y[order], space.row_weights[order]
        self._centres = occupied(position[space.outer], position.size, position.size)
        self.candidates: list[int] = []
        self._block_size = 0
        self._values = np.empty((0, 0))

    def serve(self, candidates: Sequence[int]) -> None:
        """Prepare the search for some candidates."""
        if self.candidates != list(candidates):
            self._values = np.empty((0, 0))  # never hold two arrays
            self.candidates, self._values = list(candidates), self._gather(candidates)
            self._block_size = len(candidates)

    def cost(self) -> float:
        """Return the nanoseconds for each row and candidate, estimated from a few rows."""
        sample = self._centres[:: -(-self._centres.size // SAMPLE)].copy()
        _, spent = self._sum(sample)
        return spent / (sample.size * len(self.candidates))

    def tasks(self) -> list[Positions]:
        """Return the centres of balls, cut into tasks."""
        return blocks(self._centres, CANDIDATE_ROW + CANDIDATE_CELL * self._block_size)

    def sums(self, tasks: Sequence[Positions]) -> list[Floats]:
        """Return for each task the sum of variances of y in the base plus each candidate, (candidates,)."""
        return self._space.workers.map(lambda centres: self._sum(centres)[0], tasks)

    def _gather(self, candidates: Sequence[int]) -> Floats:
        """Return the candidates' values in the order of the search."""
        design, out = self._space.design, self._empty(len(candidates))
        columns, by_row = design.first_columns[list(candidates)], self._by_row(out)
        for some in spans(columns.size, design.columns_at_a_time):
            values, where = design.view(columns[some].tolist())
            copy = partial(self._copy, values, where, by_row[:, some])
            self._space.workers.map(copy, spans(self._order.size, 2**17 // where.size))
        return out

    def _copy(self, values: Floats, columns: Positions, out: Floats, rows: slice) -> None:
        """Copy some rows of some columns in the order of the search."""
        gather(values, self._order[rows], columns, out[rows])

    def _caps(self) -> Floats:
        """Return the cap of each candidate, (candidates,)."""
        return self._space.design.caps[self._space.design.first_columns[self.candidates]]

    @abstractmethod
    def _empty(self, n_candidates: int) -> Floats:
        """Return an array for the values of candidates, padded with values that are never nearest."""

    @abstractmethod
    def _by_row(self, values: Floats) -> Floats:
        """Return the same array as (rows, candidates)."""

    @abstractmethod
    def _sum(self, centres: Positions) -> tuple[Floats, float]:
        """Return the sum of variances for each candidate, (candidates,), and the estimated time in nanoseconds."""


class SortedColumnSearch(CandidateSearch):
    """Search in windows of one sorted numeric column."""

    def __init__(self, space: SearchSpace, base: int) -> None:
        column = space.design.column(space.design.columns[base][0])
        order = np.argsort(column)
        super().__init__(space, inverse(order), order)
        self._base = in_blocks(column[order], np.inf)

    def _empty(self, n_candidates: int) -> Floats:
        return np.full((n_candidates, *self._base.shape), np.inf)

    def _by_row(self, values: Floats) -> Floats:
        return values.reshape(len(values), -1).T

    def _sum(self, centres: Positions) -> tuple[Floats, float]:
        total, n_visited = sum_along_each(
            self._base, self._values, self._caps(), self._y, self._weight, centres, self._space.n_neighbors
        )
        return total, LINE * centres.size * len(self.candidates) + LINE_BLOCK * n_visited


class TreeSearch(CandidateSearch):
    """Search for each row in a k-d tree of the base."""

    def __init__(self, space: SearchSpace, permuted: PermutedTree, room: "Room | None" = None) -> None:
        self._permuted, self._room = permuted, room
        super().__init__(space, permuted.position, permuted.tree.order)
        self._groups = None if space.groups is None else space.groups[self._order]
        self._start, self._lanes = 0, np.arange(0)
        self.has_ties = False
        """True if a ball had more points than it needs."""

    def _empty(self, n_candidates: int) -> Floats:
        room, self._room = self._room or Room(self._order.size, [n_candidates]), None
        self._start, self._lanes = room.take(n_candidates), np.arange(n_candidates)
        return room.values

    def _by_row(self, values: Floats) -> Floats:
        return values[:, self._start :]

    def beside(self, others: "Sequence[TreeSearch]") -> "TreeSearch":
        """Return one search for the candidates of this one and of others in the same array, each in its own lane."""
        together, all_of_them = copy(self), [self, *others]
        together.candidates = [i for each in all_of_them for i in each.candidates]
        together._lanes = np.concatenate([each._start - self._start + each._lanes for each in all_of_them])
        return together

    def _sum(self, centres: Positions) -> tuple[Floats, float]:
        permuted, caps = self._permuted, np.full(padded(int(self._lanes[-1]) + 1), np.inf)
        caps[self._lanes] = self._caps()
        total, compared, again = sum_plus_each(
            permuted.tree,
            permuted.caps,
            self._values,
            self._start,
            caps,
            self._y,
            self._weight,
            self._groups,
            centres,
            self._space.n_neighbors,
        )
        self.has_ties |= again > 0
        spent = cost_of_search(permuted.caps.size, self._space.design.n_rows) * centres.size
        spent += (COMPARE + COMPARE_CANDIDATE * caps.size) * compared + COMPARE_AGAIN * again
        return total[self._lanes], spent


class Room:
    """Array for the values of several blocks of candidates side by side, each padded to whole vectors."""

    def __init__(self, n_rows: int, sizes: Sequence[int]) -> None:
        self.values = np.zeros((n_rows, sum(map(padded, sizes))))
        self._taken = 0

    def take(self, size: int) -> int:
        """Return the first column of the next block."""
        start, self._taken = self._taken, self._taken + padded(size)
        return start


def padded(n_candidates: int) -> int:
    """Return the number of columns for this number of candidates, rounded up to whole vectors."""
    return -(-n_candidates // WIDTH) * WIDTH


def in_blocks(values: Floats, padding: float) -> Floats:
    """Return values in blocks of 16 rows, (blocks, 16, ...), the last one padded."""
    filled = np.full((-(-len(values) // LEAF) * LEAF, *values.shape[1:]), padding)
    filled[: len(values)] = values
    return filled.reshape(-1, LEAF, *values.shape[1:])
