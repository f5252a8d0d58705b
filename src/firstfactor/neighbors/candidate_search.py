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

# Rows searched to estimate how long the others will take.
SAMPLE = 16


class CandidateSearch(ABC):
    """One search in a base that serves a block of candidates of one column: what both kinds have in common.

    What is known of a block stays in the fastest cache, and the candidate that is hardest to serve holds up few others.
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
        """Get ready for some candidates."""
        if self.candidates != list(candidates):
            self._values = np.empty((0, 0))  # never hold two
            self.candidates, self._values = list(candidates), self._gather(candidates)
            self._block_size = len(candidates)

    def cost(self) -> float:
        """Nanoseconds for each row and candidate, from what a few rows take."""
        sample = self._centres[:: -(-self._centres.size // SAMPLE)].copy()
        _, spent = self._sum(sample)
        return spent / (sample.size * len(self.candidates))

    def tasks(self) -> list[Positions]:
        """The centres of balls, cut into tasks."""
        return blocks(self._centres, CANDIDATE_ROW + CANDIDATE_CELL * self._block_size)

    def sums(self, tasks: Sequence[Positions]) -> list[Floats]:
        """For each of some tasks, the sum of the variances of y in the base plus each candidate, (candidates,)."""
        return self._space.workers.map(lambda centres: self._sum(centres)[0], tasks)

    def _gather(self, candidates: Sequence[int]) -> Floats:
        """The candidates' values in the order of the search."""
        design, out = self._space.design, self._empty(len(candidates))
        columns, by_row = design.first_columns[list(candidates)], self._by_row(out)
        for some in spans(columns.size, design.columns_at_a_time):
            values, where = design.view(columns[some].tolist())
            copy = partial(self._copy, values, where, by_row[:, some])
            self._space.workers.map(copy, spans(self._order.size, 2**17 // where.size))
        return out

    def _copy(self, values: Floats, columns: Positions, out: Floats, rows: slice) -> None:
        """Copy some columns in the order of the search, of which some rows."""
        gather(values, self._order[rows], columns, out[rows])

    def _caps(self) -> Floats:
        """The cap of each candidate, (candidates,)."""
        return self._space.design.caps[self._space.design.first_columns[self.candidates]]

    @abstractmethod
    def _empty(self, n_candidates: int) -> Floats:
        """An array for the values of candidates, padded with values that never win."""

    @abstractmethod
    def _by_row(self, values: Floats) -> Floats:
        """The same array as (rows, candidates)."""

    @abstractmethod
    def _sum(self, centres: Positions) -> tuple[Floats, float]:
        """The sum of variances for each candidate, (candidates,), and an estimate of the nanoseconds spent."""


class SortedColumnSearch(CandidateSearch):
    """Windows of one sorted numeric column."""

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
    """A k-d tree of the base, searched for each row."""

    def __init__(self, space: SearchSpace, permuted: PermutedTree, room: "Room | None" = None) -> None:
        self._permuted, self._room = permuted, room
        super().__init__(space, permuted.position, permuted.tree.order)
        self._groups = None if space.groups is None else space.groups[self._order]
        self._start, self._lanes = 0, np.arange(0)
        self.has_ties = False
        """Whether a ball was met that has more points than it needs."""

    def _empty(self, n_candidates: int) -> Floats:
        room, self._room = self._room or Room(self._order.size, [n_candidates]), None
        self._start, self._lanes = room.take(n_candidates), np.arange(n_candidates)
        return room.values

    def _by_row(self, values: Floats) -> Floats:
        return values[:, self._start :]

    def beside(self, others: "Sequence[TreeSearch]") -> "TreeSearch":
        """One search for the candidates of this one and of others in the same room, each in the lane that it has."""
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
    """An array for the values of several blocks of candidates side by side, each padded to whole vectors."""

    def __init__(self, n_rows: int, sizes: Sequence[int]) -> None:
        self.values = np.zeros((n_rows, sum(map(padded, sizes))))
        self._taken = 0

    def take(self, size: int) -> int:
        """The first column of the next block."""
        start, self._taken = self._taken, self._taken + padded(size)
        return start


def padded(n_candidates: int) -> int:
    """How many columns so many candidates take: whole vectors."""
    return -(-n_candidates // WIDTH) * WIDTH


def in_blocks(values: Floats, padding: float) -> Floats:
    """Values in blocks of 16 rows, (blocks, 16, ...), the last one padded."""
    filled = np.full((-(-len(values) // LEAF) * LEAF, *values.shape[1:]), padding)
    filled[: len(values)] = values
    return filled.reshape(-1, LEAF, *values.shape[1:])
