"""Search plans: how much y varies among the nearest rows, for one factor set or for many at once.

The ball of a row holds every row, itself included, that is not farther away than its ``n_neighbors``-th
nearest; all ties are in, and distances that differ only by rounding are ties.

A plan for many sets shares one search between them where that is cheaper than one search for each. Which it
is depends on how well the base separates the rows, and is estimated from counts, never from the clock: the
same data take the same way on every machine.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from . import _checks, _scan, _survey, _walk
from ._recent import Recent
from ._tasks import Workers
from ._tree import build_tree
from .design import Design
from .shared import (
    COMPARE,
    COMPARE_CANDIDATE,
    Floats,
    Line,
    Planted,
    Positions,
    Shared,
    Walk,
    blocks,
    in_blocks,
    inverse,
    occupied,
)

# Nanoseconds, roughly. A search in a tree, for one row: at all, and what it takes more with every dimension, by this
# factor, until it looks at all points.
SEARCH, SEARCH_MORE, SEARCH_FACTOR = 150.0, 65.0, 1.62
# A scan, for one row: at all, for each point, and for each dimension of a point.
SCAN, SCAN_POINT, SCAN_DIMENSION = 2500.0, 1.5, 0.13
# To find out which rows are equal.
COLLAPSE = 100.0

# So many candidates are better compared side by side than one after the other along a line, and so few rows.
MANY, FEW = 64, 3000

# So many places, and some more factors, would be beyond float64.
UNCOUNTABLE = 1e250

# A column with fewer distinct values than this share of the rows is worth collapsing.
DISCRETE = 0.5

# Kernels number rows with 32 bits.
MOST_ROWS = 2**31 - 1

# What is kept for those who ask again: of so many sets, of tables that are small enough.
REMEMBERED_SETS, REMEMBERED_ROWS = 16, 20_000

# Values sorted in one task.
SORT_BLOCK = 2**16


@dataclass(frozen=True)
class Columns:
    """What the columns tell by themselves."""

    variance: Floats
    """Mean variance of y in the balls of each factor alone."""
    distinct: Floats
    """Number of distinct values."""
    levels: Floats
    """The same where they are few; infinity elsewhere."""
    codes: dict[int, Positions]
    """Number of each row's distinct value, for factors with few."""


@dataclass(frozen=True)
class Points:
    """Places in the space of some factors, with the count, mean and squares of y there."""

    rows: Positions | slice
    """A row at each place."""
    of_row: Positions
    count: Floats
    mean: Floats
    squares: Floats


@dataclass(frozen=True)
class Balls:
    """The balls of some rows."""

    variance: Floats
    """Of y in the ball."""
    reach: Floats
    """The squared radius."""
    places: tuple[Floats, Floats] | None = None
    """How many rows are where the row is, itself included, and their mean of y; None where all are alone."""

    def every(self, step: int) -> "Balls":
        """Return the balls of every so many of the rows."""
        places = None if self.places is None else (self.places[0][::step], self.places[1][::step])
        return Balls(self.variance[::step], self.reach[::step], places)


class Contributions(NamedTuple):
    """An estimate of a variance as a mean over rows, and how sure it is; all in units of Var(Y)."""

    rows: Floats
    """What each row contributes."""
    overlap: float
    """What rows have in common, because they are neighbours of each other, adds to the variance of a contribution."""


@dataclass(frozen=True)
class Search:
    """Where to look for neighbours: the table, the outer rows, how many, and who does the work."""

    design: Design
    y: Floats
    outer: Positions
    n_neighbors: int
    workers: Workers

    def __post_init__(self) -> None:
        """Refuse what would make a kernel read beyond an array. Kernels check nothing; all they trust is checked here.

        Values of the design are finite and C-ordered float64, as `read_design` makes them.
        """
        n_rows, outer = self.design.n_rows, self.outer
        _checks.integer("n_neighbors", self.n_neighbors, 2, n_rows, "the number of rows")
        if n_rows > MOST_ROWS:
            raise ValueError(f"X must have at most {MOST_ROWS:,} rows; got {n_rows:,}. Use a sample of them.")
        if not self.design.values.flags.c_contiguous or self.design.values.dtype != np.float64:
            raise TypeError(f"values of the design must be C-ordered float64; got {self.design.values.dtype}.")
        if self.y.shape != (n_rows,) or not self.y.flags.c_contiguous or self.y.dtype != np.float64:
            raise TypeError(f"y must be {n_rows} contiguous float64; got {self.y.dtype} of shape {self.y.shape}.")
        if not outer.size or outer[0] < 0 or outer[-1] >= n_rows or (np.diff(outer) <= 0).any():
            raise ValueError(f"outer must hold rows from 0 to {n_rows - 1} in increasing order; got {outer!r}.")

    def on_rows(self, rows: Positions, y: Floats) -> "Search":
        """Return a search among some rows; averaged over are those of them that are outer rows, or all if none is."""
        outer = np.flatnonzero(np.isin(rows, self.outer))
        if outer.size == 0:
            outer = np.arange(rows.size)
        return Search(self.design.on_rows(rows), y, outer, min(self.n_neighbors, rows.size), self.workers)

    # --- the three plans -------------------------------------------------------------------------------

    def one(self, factors: Sequence[int]) -> float:
        """Return the mean variance of y in the balls of the outer rows, in the factors given."""
        return float(self._each_alone([tuple(factors)])[0])

    def plus_each(self, base: Sequence[int], candidates: Sequence[int]) -> Floats:
        """Return the mean variance in ``base`` plus each candidate."""
        if not base:
            return self.columns.variance[list(candidates)]
        places = self._most_places(base)
        cost_alone = self._cost_alone(places * self.columns.levels[list(candidates)], len(base) + 1)
        alone = cost_alone < self._least_cost_shared(places, len(base), len(candidates))
        means = np.empty(len(candidates))
        if not alone.all():
            shared = self._share(base, len(candidates))
            alone = cost_alone < shared.cost(candidates)
            means[~alone] = shared.means([candidates[i] for i in np.flatnonzero(~alone).tolist()])
            del shared  # as large as the table
        means[alone] = self._each_alone([(*base, candidates[i]) for i in np.flatnonzero(alone).tolist()])
        return means

    def _least_cost_shared(self, places: float, n_base: int, n_candidates: int) -> float:
        """Nanoseconds for each row and candidate to look at no more than the rows in the same place of the base."""
        if n_candidates == 1 and n_base > 1:
            return np.inf  # nobody to share with, and the base alone prunes less
        return float((COMPARE / n_candidates + COMPARE_CANDIDATE) * self.design.n_rows / places)

    def _share(self, base: Sequence[int], n_candidates: int) -> Shared:
        on_line = len(base) == 1 and np.isinf(self.design.caps[base[0]])
        on_line = on_line and n_candidates < MANY and self.design.n_rows >= FEW
        return Line(self, base[0]) if on_line else Walk(self, base)

    def minus_each(self, base: Sequence[int], members: Sequence[int | None]) -> Floats:
        """Return the mean variance in ``base`` minus each of the members given; None leaves nothing out."""
        sets = [tuple(i for i in base if i != member) for member in members]
        cost_alone = sum(self._cost_alone(self._most_places(u), len(u)) for u in sets if len(u) > 1)
        cost_of_scan = SCAN + self._cost_of_all_points(len(base))
        return self._each_alone(sets) if cost_alone < cost_of_scan else self._scan(base, members, cost_of_scan)

    def _scan(self, base: Sequence[int], members: Sequence[int | None], cost: float) -> Floats:
        """Return the same from one scan of all rows for all members."""
        ordered = self._numbers_first(base)
        points, caps = np.ascontiguousarray(self.design.values[:, ordered]), self.design.caps[ordered]
        packed = np.ascontiguousarray(in_blocks(points, 0.0).swapaxes(1, 2))
        parts = self.workers.map(
            lambda centres: _scan.sum_minus_each(packed, points, caps, self.y, centres, self.n_neighbors),
            blocks(self.outer, cost),
        )
        means: Floats = np.sum([sums for sums, _, _ in parts], axis=0) / self.outer.size
        variance, reach = (np.concatenate([part[i] for part in parts]) for i in (1, 2))
        if self.is_small and np.isinf(self.columns.levels[ordered]).any():  # no rows are equal
            self._recent.put(base, Balls(variance, reach))
        return np.array([variance.mean() if member is None else means[ordered.index(member)] for member in members])

    # --- one set at a time -----------------------------------------------------------------------------

    def _each_alone(self, sets: list[tuple[int, ...]]) -> Floats:
        """Search as many sets at a time as there are workers; of what is left over, the rows in parallel."""
        even = len(sets) - len(sets) % self.workers.count
        means = self.workers.map(self._mean_alone, sets[:even])
        return np.array(means + [self._mean_alone(factors) for factors in sets[even:]])

    def _mean_alone(self, factors: tuple[int, ...]) -> float:
        if not factors:
            return self.unit
        if len(factors) == 1:
            return float(self.columns.variance[factors[0]])
        return float(self.balls(factors).variance.mean())

    @cached_property
    def unit(self) -> float:
        """Var(Y), which contributions are told in."""
        return float(self.y.var(ddof=1))

    @cached_property
    def _recent(self) -> Recent[Balls]:
        """The balls of the last sets: those that elimination ends with are asked for again."""
        return Recent(REMEMBERED_SETS)

    def balls(self, factors: Sequence[int], step: int = 1) -> Balls:
        """Return the balls of every so many outer rows."""
        known = self._recent.get(factors)
        if known is not None:
            return known.every(step)
        balls = self._find_balls(factors, self.outer[::step])
        if step == 1 and self.is_small:
            self._recent.put(factors, balls)
        return balls

    @property
    def is_small(self) -> bool:
        """Whether there is room for results about each row."""
        return self.outer.size <= REMEMBERED_ROWS

    def _find_balls(self, factors: Sequence[int], rows: Positions) -> Balls:
        points = self.collapse(factors)
        planted = self.plant(factors, points.rows)
        count, mean, squares = (x[planted.tree.order] for x in (points.count, points.mean, points.squares))
        place = planted.position[points.of_row[rows]]
        centres = occupied(place, self.design.n_rows, count.size)
        found = self.workers.map(
            lambda block: _walk.ball_variances(
                planted.tree, planted.caps, count, mean, squares, block, self.n_neighbors
            ),
            blocks(centres, self.cost_of_search(len(factors))),
        )
        variance, reach = np.empty(count.size), np.empty(count.size)
        variance[centres] = np.concatenate([part[0] for part in found])
        reach[centres] = np.concatenate([part[1] for part in found])
        places = None if isinstance(points.rows, slice) else (count[place], mean[place])
        return Balls(variance[place], reach[place], places)

    def contributions(self, factors: Sequence[int], step: int) -> Contributions:
        """Return what every so many outer rows contribute to the mean variance.

        Where many rows share a place that is the square of its own deviation, elsewhere the variance in its ball of b
        rows. Two rows that are each other's neighbours contribute the same product of deviations, one more time than if
        they were independent: with normal deviations that adds 2 σ⁴/(b − 1) to the variance 2 σ⁴ of a contribution, if
        all neighbours are mutual. The mean square of a variance in a ball is (b + 1)/(b − 1) σ⁴.
        """
        n, y, unit = self.design.n_rows, self.y[self.outer[::step]], self.unit
        if not factors:
            return Contributions(y * y * (n / (n - 1) / unit), 0.0)
        balls = self.balls(factors, step)
        variance: Floats = balls.variance / unit
        size, values = np.array(float(self.n_neighbors)), variance
        if balls.places is not None:
            count, mean = balls.places
            size = np.maximum(count, size)
            values = np.where(count >= self.n_neighbors, (y - mean) ** 2 * size / ((size - 1) * unit), variance)
        overlap = 2 * float(np.mean(variance**2 / (size + 1))) * (self.outer.size / n)
        return Contributions(values, overlap)

    def _cost_alone(self, levels: Any, n_factors: int) -> Any:
        """Nanoseconds for each row to find its ball in a space with so many distinct places.

        A row that shares its place with another has its neighbour there. Spread evenly over the places, a
        share exp(−rows / places) of the rows is alone and has to search.
        """
        lonely = np.exp(-self.design.n_rows / levels)
        return np.where(np.isinf(levels), 0.0, COLLAPSE) + self.cost_of_search(n_factors) * lonely

    def cost_of_search(self, n_factors: int) -> float:
        """Nanoseconds for each row to search a tree of all rows."""
        return SEARCH + min(SEARCH_MORE * SEARCH_FACTOR**n_factors, self._cost_of_all_points(n_factors))

    def _cost_of_all_points(self, n_factors: int) -> float:
        return (SCAN_POINT + SCAN_DIMENSION * n_factors) * self.design.n_rows

    def collapse(self, factors: Sequence[int], every: bool = False) -> Points:
        """Return the distinct points, or all rows where a factor has too many values to repeat.

        With ``every``, equal rows are collapsed there too, however few they are.
        """
        rows = np.arange(self.design.n_rows)
        cell, n_cells = rows, rows.size
        if np.isfinite(self.columns.levels[list(factors)]).all():
            cell, n_cells = self._number_places(tuple(factors))
        elif every and (self.columns.distinct[list(factors)] < rows.size).all():
            cell, n_cells = _number_rows(self.design.values[:, list(factors)])
        if n_cells == rows.size:
            return Points(slice(None), rows, np.ones(rows.size), self.y, np.zeros(rows.size))
        count, mean, squares, example = _survey.group_rows(cell, n_cells, self.y)
        return Points(example, cell, count, mean, squares)

    def _most_places(self, factors: Sequence[int]) -> float:
        """How many distinct points there can be; infinity for more than can be counted."""
        product = math.prod(self.columns.levels[list(factors)].tolist())
        return product if product < UNCOUNTABLE else math.inf

    def _number_places(self, factors: tuple[int, ...]) -> tuple[Positions, int]:
        """Number the distinct points without gaps; return that of each row, and how many there are."""

        def make() -> tuple[Positions, int]:
            base = self._recent_places.find(factors[:-1], lambda: self._split_places(factors[:-1]))
            return self._split_places(factors[-1:], base)

        return self._recent_places.find(factors, make)

    def _split_places(
        self, factors: tuple[int, ...], places: tuple[Positions, int] | None = None
    ) -> tuple[Positions, int]:
        """Number the distinct points in some more factors, by default from one place that holds all rows."""
        places = places or (np.zeros(self.design.n_rows, dtype=np.intp), 1)
        for i in factors:
            levels = int(self.columns.levels[i])
            places = _number(places[0] * levels + self.columns.codes[i], places[1] * levels)
        return places

    @cached_property
    def _recent_places(self) -> Recent[tuple[Positions, int]]:
        """The places of the last sets: the base of a step is asked for with each candidate."""
        return Recent(REMEMBERED_SETS if self.design.n_rows <= REMEMBERED_ROWS else 0)

    # --- columns ---------------------------------------------------------------------------------------

    @cached_property
    def columns(self) -> Columns:
        """All varying columns, each sorted once."""
        n, p = self.design.values.shape
        varying = np.array(self.design.varying, dtype=np.intp)
        step = max(1, SORT_BLOCK // n)
        surveys = self.workers.map(self._survey, [varying[i : i + step] for i in range(0, varying.size, step)])
        variance, distinct, codes = np.full(p, np.nan), np.full(p, np.inf), {}
        for factors, variances, n_levels, some_codes in surveys:
            variance[factors], distinct[factors] = variances, n_levels
            codes.update(some_codes)
        return Columns(variance, distinct, np.where(distinct <= DISCRETE * n, distinct, np.inf), codes)

    def _survey(self, factors: Positions) -> tuple[Positions, Floats, Floats, dict[int, Positions]]:
        values = np.ascontiguousarray(self.design.values[:, factors].T)
        order = np.argsort(values, axis=1)
        weight = np.bincount(self.outer, minlength=self.y.size).astype(np.float64)
        sums, n_levels, numbers = _survey.survey_columns(
            values, order, self.design.caps[factors], self.y, weight, self.n_neighbors
        )
        few = np.flatnonzero(n_levels <= DISCRETE * self.y.size)
        return factors, sums / self.outer.size, n_levels, {int(factors[i]): numbers[i] for i in few}

    def _numbers_first(self, factors: Sequence[int]) -> list[int]:
        """Return factors in the order that kernels expect: those whose distances have no cap are faster.

        A set has one order, whoever asks: sums have the same bits, from memory or not.
        """
        return sorted(factors, key=lambda i: (self.design.categorical[i], i))

    def plant(self, factors: Sequence[int], rows: Positions | slice = slice(None)) -> Planted:
        """Build a tree of rows in the space of some factors, numbers first."""
        factors = self._numbers_first(factors)
        coordinates = np.ascontiguousarray(self.design.values[rows][:, factors].T)
        caps = self.design.caps[factors]
        tree = build_tree(coordinates, caps, self.workers)
        return Planted(tree, caps, inverse(tree.order))


def _number_rows(values: Floats) -> tuple[Positions, int]:
    """Number the distinct rows of ``values``, (rows, factors); return that of each row, and how many there are."""
    order = np.lexsort(values.T)
    ordered = values[order]
    starts = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    cell = np.empty(order.size, dtype=np.intp)
    cell[order] = np.cumsum(starts) - 1
    return _number(cell, cell.size)


def _number(cell: Positions, n_cells: int) -> tuple[Positions, int]:
    """Number the cells that occur without gaps, in the order of their first rows, whatever numbers they had."""
    rows = np.arange(cell.size)
    if n_cells > 4 * cell.size:
        _, first_rows, inverse_of = np.unique(cell, return_index=True, return_inverse=True)
        first_row = first_rows[inverse_of]
    else:
        first_rows = np.empty(n_cells, dtype=np.intp)
        first_rows[cell[::-1]] = rows[::-1]  # the last one assigned stays
        first_row = first_rows[cell]
    numbers = np.cumsum(first_row == rows)
    return numbers[first_row] - 1, int(numbers[-1])
