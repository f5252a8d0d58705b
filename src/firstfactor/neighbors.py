"""Search plans: how much y varies among the nearest rows, for one factor set or for many at once.

The ball of a row holds every row, itself included, that is not farther away than its ``n_neighbors``-th
nearest; all ties are in, and distances that differ only by rounding are ties.

A plan for many sets shares one search between them where that is cheaper than one search for each. Which it
is depends on how well the base separates the rows, and is estimated from counts, never from the clock: the
same data take the same way on every machine.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from . import _kernels
from ._tasks import Workers
from ._tree import Tree, build_tree
from .design import Design

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

# Nanoseconds, roughly: what comparing a point costs in a shared walk, at once and for each candidate, ...
COMPARE_POINT, COMPARE_CANDIDATE = 10.0, 0.5
# ... what a point costs in a scan for each dimension, ...
SCAN_DIMENSION = 0.5
# ... and what it takes to find the ball of one point by itself, at once and for each dimension.
SEARCH_POINT, SEARCH_DIMENSION = 800.0, 200.0

# Rows walked to learn how far the others will have to.
SAMPLE = 16

# A column with fewer distinct values than this share of the rows is worth collapsing.
DISCRETE = 0.5


@dataclass(frozen=True)
class Column:
    """What one column tells by itself."""

    variance: float
    """Mean variance of y in the balls of this column alone."""
    codes: Positions | None
    """Number of each row's distinct value, if there are few."""
    n_codes: int


@dataclass(frozen=True)
class Points:
    """Distinct places in the space of some factors, with the count, mean and squares of y there."""

    coordinates: Floats
    n_numeric: int
    of_row: Positions
    count: Floats
    mean: Floats
    squares: Floats


@dataclass(frozen=True)
class Search:
    """Where to look for neighbours: the table, the outer rows, how many, and who does the work."""

    design: Design
    y: Floats
    outer: Positions
    n_neighbors: int
    workers: Workers

    # --- the three plans -------------------------------------------------------------------------------

    def one(self, factors: Sequence[int]) -> float:
        """Return the mean variance of y in the balls of the outer rows, in the factors given."""
        return float(self._each_alone([tuple(factors)])[0])

    def plus_each(self, base: Sequence[int], candidates: Sequence[int]) -> Floats:
        """Return the mean variance in ``base`` plus each candidate."""
        sets = [(*base, candidate) for candidate in candidates]
        if not base:
            return self._each_alone(sets)
        walk = _Walk(self, base)
        cost_shared = walk.cost(candidates)
        alone = [self._cost_alone(factors) < cost_shared for factors in sets]
        means = np.empty(len(sets))
        means[alone] = self._each_alone([factors for factors, by_itself in zip(sets, alone, strict=True) if by_itself])
        together = np.logical_not(alone)
        means[together] = walk.means([i for i, by_itself in zip(candidates, alone, strict=True) if not by_itself])
        return means

    def minus_each(self, base: Sequence[int], members: Sequence[int]) -> Floats:
        """Return the mean variance in ``base`` minus each of the members given."""
        sets = [tuple(i for i in base if i != member) for member in members]
        cost_shared = SCAN_DIMENSION * len(base) * self.design.n_rows
        if len(members) * len(base) == 0 or sum(map(self._cost_alone, sets)) < cost_shared:
            return self._each_alone(sets)
        points = self.points(base, collapse=False)
        rows = np.ascontiguousarray(points.coordinates.T)
        sums = self.workers.map(
            lambda centres: _kernels.sum_minus_each(
                points.coordinates, rows, points.n_numeric, self.design.mismatch, self.y, centres, self.n_neighbors
            ),
            _blocks(self.outer),
        )
        ordered, _ = self.numeric_first(base)
        return np.sum(sums, axis=0)[[ordered.index(member) for member in members]] / self.outer.size

    # --- one set at a time -----------------------------------------------------------------------------

    def _each_alone(self, sets: list[tuple[int, ...]]) -> Floats:
        if len(sets) < self.workers.count:
            return np.array([self._mean_alone(factors, self.workers) for factors in sets])
        single = Workers(1)
        return np.array(self.workers.map(lambda factors: self._mean_alone(factors, single), sets))

    def _mean_alone(self, factors: tuple[int, ...], workers: Workers) -> float:
        if len(factors) == 1:
            return self._column(factors[0]).variance
        points = self.points(factors, collapse=True)
        planted = _plant(points.coordinates, points.n_numeric, self.design.mismatch)
        order = planted.tree.order
        count, mean, squares = points.count[order], points.mean[order], points.squares[order]
        wanted, times = np.unique(planted.position[points.of_row[self.outer]], return_counts=True)
        variances = workers.map(
            lambda centres: _kernels.ball_variances(
                planted.tree, planted.coordinates, points.n_numeric, self.design.mismatch,
                count, mean, squares, centres, self.n_neighbors,
            ),
            _blocks(wanted),
        )  # fmt: skip
        return float(np.average(np.concatenate(variances), weights=times))

    def _cost_alone(self, factors: Sequence[int]) -> float:
        """Nanoseconds for each outer row to find its ball in these factors by themselves."""
        if len(factors) < 2:
            return 0.0
        points = self.design.n_rows
        columns = [self._column(i) for i in factors]
        if all(column.codes is not None for column in columns):
            points = min(points, int(np.prod([float(column.n_codes) for column in columns])))
        return (SEARCH_POINT + SEARCH_DIMENSION * len(factors)) * points / self.design.n_rows

    def points(self, factors: Sequence[int], collapse: bool) -> Points:
        """Return the rows as points in the space of the factors; equal rows as one if that is worth it."""
        ordered, n_numeric = self.numeric_first(factors)
        rows = np.arange(self.design.n_rows)
        codes = [self._column(i).codes for i in factors] if collapse else [None]
        if any(code is None for code in codes):
            coordinates = np.ascontiguousarray(self.design.values[:, ordered].T)
            ones, zeros = np.ones(rows.size), np.zeros(rows.size)
            return Points(coordinates, n_numeric, rows, ones, self.y, zeros)
        cell, n_cells = codes[0], self._column(factors[0]).n_codes
        for i, code in zip(factors[1:], codes[1:], strict=True):
            cell, n_cells = _number(cell * self._column(i).n_codes + code, n_cells * self._column(i).n_codes)
        count, mean, squares, example = _kernels.group_rows(cell, n_cells, self.y)
        coordinates = np.ascontiguousarray(self.design.values[np.ix_(example, ordered)].T)
        return Points(coordinates, n_numeric, cell, count, mean, squares)

    # --- columns ---------------------------------------------------------------------------------------

    def _column(self, factor: int) -> Column:
        return self._columns[factor]

    @cached_property
    def _columns(self) -> dict[int, Column]:
        """Every varying column, sorted once."""
        varying = self.design.varying
        return dict(zip(varying, self.workers.map(self._survey, varying), strict=True))

    def _survey(self, factor: int) -> Column:
        values = np.ascontiguousarray(self.design.values[:, factor])
        weight = np.bincount(self.outer, minlength=values.size).astype(np.float64)
        order = np.argsort(values)
        group, count, mean, squares, weights = _kernels.group_sorted(values[order], self.y[order], weight[order])
        if self.design.categorical[factor]:
            whole = float(self.y.var(ddof=1))  # other levels are all equally far: the ball holds every row
            variances = np.where(count < self.n_neighbors, whole, squares / np.maximum(count - 1, 1))
            total = float(weights @ variances)
        else:
            total = _kernels.column_variance(group, count, mean, squares, weights, self.n_neighbors)
        codes = None
        if group.size <= DISCRETE * values.size:
            codes = np.empty(values.size, np.intp)
            codes[order] = np.repeat(np.arange(group.size), count.astype(np.intp))
        return Column(total / self.outer.size, codes, group.size)

    # --- common ----------------------------------------------------------------------------------------

    def numeric_first(self, factors: Iterable[int]) -> tuple[list[int], int]:
        """Return the factors as the kernels want them, and how many are numeric."""
        ordered = sorted(factors, key=lambda i: bool(self.design.categorical[i]))
        return ordered, sum(not self.design.categorical[i] for i in ordered)


class _Walk:
    """One search in a base that serves many candidates."""

    def __init__(self, search: Search, base: Sequence[int]) -> None:
        self.search = search
        points = search.points(base, collapse=False)
        self.n_numeric = points.n_numeric
        self.planted = _plant(points.coordinates, points.n_numeric, search.design.mismatch)
        self.centres = np.sort(self.planted.position[search.outer])
        self.y = search.y[self.planted.tree.order]
        self._gathered: tuple[Sequence[int], Floats] = ((), np.empty((0, 0)))

    def cost(self, candidates: Sequence[int]) -> float:
        """Nanoseconds for each row and candidate, from the points that a few rows were compared with."""
        sample = self.centres[:: -(-self.centres.size // SAMPLE)]
        _, compared = self._sum(candidates, sample)
        each = COMPARE_POINT / len(candidates) + COMPARE_CANDIDATE
        return float(compared / sample.size * each)

    def means(self, candidates: Sequence[int]) -> Floats:
        """Return the mean variance in the base plus each candidate."""
        if not candidates:
            return np.empty(0)
        self._gather(candidates)
        sums = self.search.workers.map(lambda block: self._sum(candidates, block)[0], _blocks(self.centres))
        total: Floats = np.sum(sums, axis=0)
        return total / self.centres.size

    def _sum(self, candidates: Sequence[int], centres: Positions) -> tuple[Floats, int]:
        search, planted = self.search, self.planted
        ordered, n_numeric = search.numeric_first(candidates)
        total, compared = _kernels.sum_plus_each(
            planted.tree, planted.coordinates, self.n_numeric, self._gather(candidates), n_numeric,
            search.design.mismatch, self.y, centres, search.n_neighbors,
        )  # fmt: skip
        return total[[ordered.index(i) for i in candidates]], compared

    def _gather(self, candidates: Sequence[int]) -> Floats:
        """Return the candidates' values in tree order, numeric ones first."""
        if self._gathered[0] != candidates:
            columns = np.array(self.search.numeric_first(candidates)[0])
            out = np.empty((self.y.size, columns.size))
            order = self.planted.tree.order
            self.search.workers.map(
                lambda rows: _kernels.gather(self.search.design.values, order[rows], columns, out[rows]),
                _spans(order.size),
            )
            self._gathered = (candidates, out)
        return self._gathered[1]


@dataclass(frozen=True)
class _Planted:
    tree: Tree
    coordinates: Floats
    position: Positions
    """Where in tree order each point went."""


def _plant(coordinates: Floats, n_numeric: int, mismatch: float) -> _Planted:
    tree = build_tree(coordinates, n_numeric, mismatch)
    position = np.empty_like(tree.order)
    position[tree.order] = np.arange(tree.order.size)
    return _Planted(tree, np.ascontiguousarray(coordinates[:, tree.order]), position)


def _number(cell: Positions, n_cells: int) -> tuple[Positions, int]:
    """Number the cells that occur without gaps."""
    if n_cells > 4 * cell.size:
        _, numbered, count = np.unique(cell, return_inverse=True, return_counts=True)
        return numbered, count.size
    occurs = np.zeros(n_cells, dtype=np.intp)
    occurs[cell] = 1
    numbers = np.cumsum(occurs)
    return numbers[cell] - 1, int(numbers[-1])


def _spans(size: int) -> list[slice]:
    """Cut a range into parts small enough to stop at, large enough to be worth a task; the same for any workers."""
    step = max(64, min(512, -(-size // 16)))
    return [slice(start, start + step) for start in range(0, size, step)]


def _blocks(centres: Positions) -> list[Positions]:
    return [centres[span] for span in _spans(centres.size)]
