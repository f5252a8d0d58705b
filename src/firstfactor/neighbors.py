"""Search plans: how much y varies among the nearest rows, for one factor set or for many at once.

The ball of a row holds every row, itself included, that is not farther away than its ``n_neighbors``-th
nearest; all ties are in, and distances that differ only by rounding are ties.

A plan for many sets shares one search between them where that is cheaper than one search for each. Which it
is depends on how well the base separates the rows, and is estimated from counts, never from the clock: the
same data take the same way on every machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _kernels
from ._tasks import Workers
from ._tree import Tree, build_tree, padded
from .design import Design

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

# Nanoseconds, roughly: what comparing a point costs in a shared walk, at once and for each candidate, ...
COMPARE_POINT, COMPARE_CANDIDATE = 10.0, 0.5
# ... what a point costs in a scan for each dimension, ...
SCAN_DIMENSION = 0.4
# ... and what it takes to find the ball of one point by itself, at once and for each dimension.
SEARCH_POINT, SEARCH_DIMENSION = 800.0, 200.0

# Rows walked to learn how far the others will have to.
SAMPLE = 16

# A column with fewer distinct values than this share of the rows is worth collapsing.
DISCRETE = 0.5

# Values sorted in one task.
SORT_BLOCK = 2**16


@dataclass(frozen=True)
class Columns:
    """What the columns tell by themselves."""

    variance: Floats
    """Mean variance of y in the balls of each factor alone."""
    levels: Floats
    """Number of distinct values where they are few; infinity elsewhere."""
    codes: dict[int, Positions]
    """Number of each row's distinct value, for factors with few."""


@dataclass(frozen=True)
class Space:
    """Some factors as the kernels want them: numeric ones first."""

    factors: list[int]
    n_numeric: int

    def place(self, factors: Sequence[int]) -> list[int]:
        """Return where the given factors are."""
        position = {factor: k for k, factor in enumerate(self.factors)}
        return [position[factor] for factor in factors]


@dataclass(frozen=True)
class Points:
    """Places in a space, with the count, mean and squares of y there."""

    coordinates: Floats
    of_row: Positions
    count: Floats
    mean: Floats
    squares: Floats


@dataclass(frozen=True)
class Planted:
    """Points in tree order."""

    tree: Tree
    coordinates: Floats
    position: Positions
    """Where each point went."""


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
        if not base:
            return self.columns.variance[list(candidates)]
        levels = self.columns.levels[list(base)].prod() * self.columns.levels[list(candidates)]
        walk = Walk(self, base)
        alone = self._cost_alone(levels, len(base) + 1) < walk.cost(candidates)
        means = np.empty(len(candidates))
        means[alone] = self._each_alone([(*base, candidates[i]) for i in np.flatnonzero(alone)])
        means[~alone] = walk.means([candidates[i] for i in np.flatnonzero(~alone)])
        return means

    def minus_each(self, base: Sequence[int]) -> tuple[Floats, float]:
        """Return the mean variance in ``base`` minus each of its members, and in all of it."""
        rests = [tuple(i for i in base if i != member) for member in base]
        sets = [*rests, tuple(base)]
        cost_alone = sum(self._cost_alone(self.columns.levels[list(u)].prod(), len(u)) for u in sets if len(u) > 1)
        if cost_alone < SCAN_DIMENSION * len(base) * self.design.n_rows:
            means = self._each_alone(sets)
            return means[:-1], float(means[-1])
        space = self.space(base)
        coordinates = self.coordinates(space)
        points = np.ascontiguousarray(self.design.values[:, space.factors])
        sums = self.workers.map(
            lambda centres: _kernels.sum_minus_each(
                coordinates, points, space.n_numeric, self.design.mismatch, self.y, centres, self.n_neighbors
            ),
            blocks(self.outer),
        )
        means = np.sum(sums, axis=0) / self.outer.size
        return means[space.place(base)], float(means[-1])

    # --- one set at a time -----------------------------------------------------------------------------

    def _each_alone(self, sets: list[tuple[int, ...]]) -> Floats:
        """Search sets in parallel, or the rows of each where there are not enough sets for all workers."""
        if len(sets) < self.workers.count:
            return np.array([self._mean_alone(factors) for factors in sets])
        return np.array(self.workers.map(self._mean_alone, sets))

    def _mean_alone(self, factors: tuple[int, ...]) -> float:
        if not factors:
            return float(self.y.var(ddof=1))
        if len(factors) == 1:
            return float(self.columns.variance[factors[0]])
        space = self.space(factors)
        points = self._collapse(space)
        planted = self.plant(points.coordinates, space.n_numeric)
        count, mean, squares = (x[planted.tree.order] for x in (points.count, points.mean, points.squares))
        centres, times = np.unique(planted.position[points.of_row[self.outer]], return_counts=True)
        variances = self.workers.map(
            lambda block: _kernels.ball_variances(
                planted.tree, planted.coordinates, space.n_numeric, self.design.mismatch,
                count, mean, squares, block, self.n_neighbors,
            ),
            blocks(centres),
        )  # fmt: skip
        return float(np.average(np.concatenate(variances), weights=times))

    def _cost_alone(self, levels: Any, n_factors: int) -> Any:
        """Nanoseconds for each row to find its ball in a space with so many distinct points."""
        distinct = np.minimum(levels / self.design.n_rows, 1.0)
        return (SEARCH_POINT + SEARCH_DIMENSION * n_factors) * distinct

    def _collapse(self, space: Space) -> Points:
        """Return the distinct points in a space, or all rows where a factor has too many values to repeat."""
        rows = np.arange(self.design.n_rows)
        if np.isinf(self.columns.levels[space.factors]).any():
            return Points(self.coordinates(space), rows, np.ones(rows.size), self.y, np.zeros(rows.size))
        cell, n_cells = np.zeros_like(rows), 1
        for factor in space.factors:
            levels = int(self.columns.levels[factor])
            cell, n_cells = _number(cell * levels + self.columns.codes[factor], n_cells * levels)
        count, mean, squares, example = _kernels.group_rows(cell, n_cells, self.y)
        return Points(self.coordinates(space, example), cell, count, mean, squares)

    # --- columns ---------------------------------------------------------------------------------------

    @cached_property
    def columns(self) -> Columns:
        """All varying columns, each sorted once."""
        n, p = self.design.values.shape
        varying = np.array(self.design.varying, dtype=np.intp)
        step = max(1, SORT_BLOCK // n)
        surveys = self.workers.map(self._survey, [varying[i : i + step] for i in range(0, varying.size, step)])
        variance, levels, codes = np.full(p, np.nan), np.full(p, np.inf), {}
        for factors, variances, n_levels, some_codes in surveys:
            variance[factors] = variances
            levels[factors] = np.where(n_levels <= DISCRETE * n, n_levels, np.inf)
            codes.update(some_codes)
        return Columns(variance, levels, codes)

    def _survey(self, factors: Positions) -> tuple[Positions, Floats, Floats, dict[int, Positions]]:
        values = np.ascontiguousarray(self.design.values[:, factors].T)
        order = np.argsort(values, axis=1)
        weight = np.bincount(self.outer, minlength=self.y.size).astype(np.float64)
        sums, n_levels, numbers = _kernels.survey_columns(
            values, order, self.design.categorical[factors], self.y, weight, self.n_neighbors
        )
        few = np.flatnonzero(n_levels <= DISCRETE * self.y.size)
        return factors, sums / self.outer.size, n_levels, {int(factors[i]): numbers[i] for i in few}

    # --- laying out ------------------------------------------------------------------------------------

    def space(self, factors: Sequence[int]) -> Space:
        """Return the space of these factors."""
        categorical = self.design.categorical
        numeric = [i for i in factors if not categorical[i]]
        return Space(numeric + [i for i in factors if categorical[i]], len(numeric))

    def coordinates(self, space: Space, rows: Positions | slice = slice(None)) -> Floats:
        """Return rows as points in a space, as `_tree` lays them out."""
        values = self.design.values[rows]
        start = padded(space.n_numeric)
        out = np.zeros((start + len(space.factors) - space.n_numeric, len(values)))
        for k, factor in enumerate(space.factors):
            out[k if k < space.n_numeric else start + k - space.n_numeric] = values[:, factor]
        return out

    def plant(self, coordinates: Floats, n_numeric: int) -> Planted:
        """Build a tree and put the points into its order."""
        tree = build_tree(coordinates, n_numeric, self.design.mismatch)
        position = np.empty_like(tree.order)
        position[tree.order] = np.arange(tree.order.size)
        return Planted(tree, np.ascontiguousarray(coordinates[:, tree.order]), position)


class Walk:
    """One search in a base that serves many candidates."""

    def __init__(self, search: Search, base: Sequence[int]) -> None:
        space = search.space(base)
        self._search = search
        self._n_numeric = space.n_numeric
        self._planted = search.plant(search.coordinates(space), space.n_numeric)
        self._centres = np.sort(self._planted.position[search.outer])
        self._y = search.y[self._planted.tree.order]
        self._gathered: tuple[Space, Floats] | None = None

    def cost(self, candidates: Sequence[int]) -> float:
        """Nanoseconds for each row and candidate, from the points that a few rows are compared with."""
        sample = self._centres[:: -(-self._centres.size // SAMPLE)]
        _, compared = self._sum(*self._gather(candidates), sample)
        return float(compared / sample.size * (COMPARE_POINT / len(candidates) + COMPARE_CANDIDATE))

    def means(self, candidates: Sequence[int]) -> Floats:
        """Return the mean variance in the base plus each candidate."""
        if not candidates:
            return np.empty(0)
        space, values = self._gather(candidates)
        sums = self._search.workers.map(lambda block: self._sum(space, values, block)[0], blocks(self._centres))
        total: Floats = np.sum(sums, axis=0)
        return total[space.place(candidates)] / self._centres.size

    def _sum(self, space: Space, values: Floats, centres: Positions) -> tuple[Floats, int]:
        search, planted = self._search, self._planted
        total, compared = _kernels.sum_plus_each(
            planted.tree, planted.coordinates, self._n_numeric, values, space.n_numeric,
            search.design.mismatch, self._y, centres, search.n_neighbors,
        )  # fmt: skip
        return total, compared

    def _gather(self, candidates: Sequence[int]) -> tuple[Space, Floats]:
        """Return the candidates' values in tree order."""
        space = self._search.space(candidates)
        if self._gathered is None or self._gathered[0] != space:
            columns, order = np.array(space.factors), self._planted.tree.order
            out = np.empty((order.size, columns.size))
            self._search.workers.map(
                lambda rows: _kernels.gather(self._search.design.values, order[rows], columns, out[rows]),
                spans(order.size, 2**17 // columns.size),
            )
            self._gathered = space, out
        return self._gathered


def _number(cell: Positions, n_cells: int) -> tuple[Positions, int]:
    """Number the cells that occur without gaps."""
    if n_cells > 4 * cell.size:
        found, numbered = np.unique(cell, return_inverse=True)
        return numbered, found.size
    occurs = np.zeros(n_cells, dtype=np.intp)
    occurs[cell] = 1
    numbers = np.cumsum(occurs)
    return numbers[cell] - 1, int(numbers[-1])


def spans(size: int, step: int) -> list[slice]:
    """Cut a range into parts."""
    return [slice(start, start + step) for start in range(0, size, max(step, 1))]


def blocks(centres: Positions) -> list[Positions]:
    """Cut rows into tasks: short enough to be stopped between, and the same for any number of workers."""
    return [centres[span] for span in spans(centres.size, max(64, min(512, -(-centres.size // 16))))]
