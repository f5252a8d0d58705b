"""Forward steps: one search in a base that serves many candidates, along a sorted column or through a k-d tree.

A step for a block of candidates is cut into tasks that can run anywhere.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeVar

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

    def __init__(self, space: SearchSpace, permuted: PermutedTree, room: "CandidateArray | None" = None) -> None:
        self._permuted, self._room = permuted, room
        super().__init__(space, permuted.position, permuted.tree.order)
        self._groups = None if space.groups is None else space.groups[self._order]
        self._start, self._lanes = 0, np.arange(0)
        self.has_ties = False
        """True if a ball had more points than it needs."""

    def _empty(self, n_candidates: int) -> Floats:
        room, self._room = self._room or CandidateArray(self._order.size, [n_candidates]), None
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


class CandidateArray:
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


# --- forward steps ----------------------------------------------------------------------------------------------------


Item = TypeVar("Item")


class PartialStep(NamedTuple):
    """Results of some of the tasks of a step."""

    alone: dict[int, float]
    """Mean variance in the base plus a candidate, for candidates that were searched separately."""
    shared: tuple[int, ...]
    """Candidates that were searched together."""
    sums: list[Floats]
    """Sums of variances over the rows of each task, (candidates,)."""
    weight: float
    """Total weight of all outer rows."""


@dataclass(frozen=True)
class BlockStep:
    """Plan of the search for the candidates of one block in a base."""

    alone: tuple[int, ...]
    """Candidates that are searched separately."""
    search_alone: Callable[[Sequence[int]], Floats]
    """Function that returns the mean variance in the base plus each of some candidates."""
    shared: CandidateSearch | None
    """Search for all other candidates together."""
    weight: float
    """Total weight of all outer rows."""

    def run(self, part: int = 0, parts: int = 1) -> PartialStep:
        """Run part number ``part`` of ``parts`` of the step."""
        alone = _cut(self.alone, part, parts)
        means = dict(zip(alone, self.search_alone(alone).tolist(), strict=True))
        if self.shared is None:
            return PartialStep(means, (), [], self.weight)
        sums = self.shared.sums(_cut(self.shared.tasks(), part, parts))
        return PartialStep(means, tuple(self.shared.candidates), sums, self.weight)


def run_all(steps: Sequence[BlockStep]) -> dict[int, float]:
    """Return the mean variance in the base plus each candidate of several blocks.

    One search serves all blocks if each step searches the same tree, cut into the same tasks, and there are no ties:
    the order in which ties are found depends on what is searched together, and so does the last bit.
    """
    searches = [step.shared for step in steps if isinstance(step.shared, TreeSearch) and not step.alone]
    is_one = len(searches) == len(steps) > 1 and len({len(search.tasks()) for search in searches}) == 1
    if is_one and not any(search.has_ties for search in searches):  # in the sampled rows
        together = searches[0].beside(searches[1:])
        found = replace(steps[0], shared=together).run()
        if not together.has_ties:
            return put_together([found])
    means: dict[int, float] = {}
    for step in steps:
        means |= put_together([step.run()])
    return means


def _cut(items: Sequence[Item], part: int, parts: int) -> Sequence[Item]:
    """Return one of ``parts`` consecutive parts of a list."""
    return items[len(items) * part // parts : len(items) * (part + 1) // parts]


def put_together(parts: Sequence[PartialStep]) -> dict[int, float]:
    """Return the mean variance in the base plus each candidate, from all parts of a step in order.

    Sums are added task by task, so that the result is bit-for-bit identical for any number of parts.
    """
    means: dict[int, float] = {}
    for part in parts:
        means |= part.alone
    first = parts[0]
    if first.shared:
        total: Floats = np.sum([sums for part in parts for sums in part.sums], axis=0)
        means |= dict(zip(first.shared, (total / first.weight).tolist(), strict=True))
    return means
