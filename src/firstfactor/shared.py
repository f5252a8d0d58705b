"""One search in a base that serves many candidates: along a sorted column, or through a tree."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from . import _line, _survey, _walk
from ._simd import WIDTH
from ._tree import LEAF, Tree

if TYPE_CHECKING:
    from .neighbors import Search

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

# Nanoseconds, roughly. Windows of a line, for one row and candidate: at all, and for each block of points.
LINE, LINE_BLOCK = 50.0, 15.0
# A walk takes a search in the base, and more to compare a point: at all, with each candidate, again for ties.
COMPARE, COMPARE_CANDIDATE, COMPARE_AGAIN = 1.0, 0.6, 1.0

# What both take in small tables: for one row, and with each candidate.
GO, GO_CANDIDATE = 400.0, 15.0

# Candidates served by one walk: what is known of so many stays in the fastest cache, and the one that is hardest
# to serve holds up few others.
TILE = 256

# Tasks: no more than this from a few rows, none shorter or longer than that many nanoseconds, and no more rows in one.
TASKS, SHORT, LONG, MOST_ROWS = 8, 5e5, 5e7, 4096

# Rows walked to learn how far the others will have to.
SAMPLE = 16


@dataclass(frozen=True)
class Planted:
    """Points in tree order."""

    tree: Tree
    caps: Floats
    position: Positions
    """Where each point went."""


class Shared(ABC):
    """One search in a base that serves many candidates: what both kinds have in common."""

    def __init__(self, search: "Search", position: Positions, order: Positions) -> None:
        self._search = search
        self._order = order
        self._centres = occupied(position[search.outer], position.size, position.size)
        self._gathered: tuple[Sequence[int], Floats] = ((), np.empty((0, 0)))

    def cost(self, candidates: Sequence[int]) -> float:
        """Nanoseconds for each row and candidate, from what a few rows take."""
        some = candidates[:TILE]
        sample = self._centres[:: -(-self._centres.size // SAMPLE)].copy()
        _, spent = self._sum(some, self._gather(some), sample)
        return spent / (sample.size * len(some))

    def means(self, candidates: Sequence[int]) -> Floats:
        """Return the mean variance in the base plus each candidate."""
        tiles = [candidates[span] for span in spans(len(candidates), TILE)]
        return np.concatenate([np.empty(0), *map(self._means_of_tile, tiles)])

    def _means_of_tile(self, candidates: Sequence[int]) -> Floats:
        values = self._gather(candidates)
        tasks = blocks(self._centres, GO + GO_CANDIDATE * len(candidates))
        sums = self._search.workers.map(lambda block: self._sum(candidates, values, block)[0], tasks)
        total: Floats = np.sum(sums, axis=0)
        return total / self._centres.size

    def _gather(self, candidates: Sequence[int]) -> Floats:
        """Return the candidates' values in the order of the search."""
        if self._gathered[0] != candidates:
            self._gathered = ((), np.empty((0, 0)))  # never hold two
            columns, out = np.array(candidates), self._empty(len(candidates))
            by_row = self._by_row(out)
            self._search.workers.map(
                lambda rows: _survey.gather(self._search.design.values, self._order[rows], columns, by_row[rows]),
                spans(self._order.size, 2**17 // columns.size),
            )
            self._gathered = candidates, out
        return self._gathered[1]

    @abstractmethod
    def _empty(self, n_candidates: int) -> Floats:
        """Return where values go, filled up with what changes nothing."""

    @abstractmethod
    def _by_row(self, values: Floats) -> Floats:
        """Return the same as (rows, candidates)."""

    @abstractmethod
    def _sum(self, candidates: Sequence[int], values: Floats, centres: Positions) -> tuple[Floats, float]:
        """Return the sum of variances for each candidate, and an estimate of the nanoseconds spent."""


class Line(Shared):
    """Windows of one sorted numeric column."""

    def __init__(self, search: "Search", base: int) -> None:
        column = search.design.values[:, base]
        order = np.argsort(column)
        super().__init__(search, inverse(order), order)
        self._base = in_blocks(column[order], np.inf)
        self._y = search.y[order]

    def _empty(self, n_candidates: int) -> Floats:
        return np.full((n_candidates, *self._base.shape), np.inf)

    def _by_row(self, values: Floats) -> Floats:
        return values.reshape(len(values), -1).T

    def _sum(self, candidates: Sequence[int], values: Floats, centres: Positions) -> tuple[Floats, float]:
        caps = self._search.design.caps[list(candidates)]
        total, looked = _line.sum_along_each(self._base, values, caps, self._y, centres, self._search.n_neighbors)
        return total, LINE * centres.size * len(candidates) + LINE_BLOCK * looked


class Walk(Shared):
    """A tree of the base, walked for each row."""

    def __init__(self, search: "Search", base: Sequence[int]) -> None:
        self._planted = search.plant(base)
        super().__init__(search, self._planted.position, self._planted.tree.order)
        self._y = search.y[self._order]

    def _empty(self, n_candidates: int) -> Floats:
        return np.zeros((self._order.size, -(-n_candidates // WIDTH) * WIDTH))

    def _by_row(self, values: Floats) -> Floats:
        return values

    def _sum(self, candidates: Sequence[int], values: Floats, centres: Positions) -> tuple[Floats, float]:
        planted, caps = self._planted, np.full(values.shape[1], np.inf)
        caps[: len(candidates)] = self._search.design.caps[list(candidates)]
        total, compared, again = _walk.sum_plus_each(
            planted.tree, planted.caps, values, caps, self._y, centres, self._search.n_neighbors
        )
        spent = self._search.cost_of_search(planted.caps.size) * centres.size
        spent += (COMPARE + COMPARE_CANDIDATE * caps.size) * compared + COMPARE_AGAIN * again
        return total[: len(candidates)], spent


def occupied(places: Positions, n_rows: int, n_places: int) -> Positions:
    """Return the places, of so many, where some of the rows are, each once and in order."""
    if places.size == n_rows:  # all rows, so all places
        return np.arange(n_places)
    taken = np.zeros(n_places, dtype=bool)
    taken[places] = True
    return np.flatnonzero(taken)


def inverse(order: Positions) -> Positions:
    """Return where each entry went."""
    position = np.empty_like(order)
    position[order] = np.arange(order.size)
    return position


def in_blocks(values: Floats, filling: float) -> Floats:
    """Return values 16 at a time, filled up."""
    filled = np.full((-(-len(values) // LEAF) * LEAF, *values.shape[1:]), filling)
    filled[: len(values)] = values
    return filled.reshape(-1, LEAF, *values.shape[1:])


def spans(size: int, step: int) -> list[slice]:
    """Cut a range into parts."""
    return [slice(start, start + step) for start in range(0, size, step)]


def blocks(centres: Positions, nanoseconds: float) -> list[Positions]:
    """Cut rows that take so long each into tasks, the same for any workers.

    They are long enough to be worth a thread, and short enough to be stopped between.
    """
    count = min(max(int(centres.size * nanoseconds / SHORT), 1), TASKS)
    longest = max(1, min(int(LONG / nanoseconds), MOST_ROWS))
    return [centres[span] for span in spans(centres.size, min(longest, max(1, -(-centres.size // count))))]
