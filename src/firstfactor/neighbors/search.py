"""Variance of y among the nearest rows, for one factor set or for many at once.

The ball of a row holds every row, itself included, that is not farther away than its ``n_neighbors``-th nearest; all
ties are included, and distances that differ only by rounding are ties. If rows are in groups, other rows of its group
are excluded, and its variance is half of the mean squared difference between two rows of different groups.

Many sets share one search where this is cheaper than one search for each. The choice depends on how well the base
separates the rows; `strategy` estimates the costs.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._utils.cache import BoundedCache
from ..data.design import Design
from ..data.response import centre_columns
from ..data.stored_columns import MOST_IN_BLOCK
from .candidate_search import (
    BlockStep,
    CandidateArray,
    CandidateSearch,
    SortedColumnSearch,
    TreeSearch,
    in_blocks,
    run_all,
)
from .kernels.ball_variance import ball_variances
from .kernels.leave_one_out import round_plain, sum_minus_each
from .kernels.single_column import single_column_variances
from .kernels.subset_scan import BLOCK, LEAST_FACTORS, MAX_ROWS, subset_variances
from .space import (
    PermutedTree,
    SearchSpace,
    UniquePoints,
    all_rows,
    collapse_rows,
    inverse,
    most_neighbors,
    number_cells,
    number_rows,
    occupied,
)
from .strategy import (
    DISCRETE,
    FEW_CANDIDATES,
    FEW_ROWS,
    MANY_ROWS,
    MAX_TASKS,
    Floats,
    Positions,
    blocks,
    cost_alone,
    cost_of_building,
    cost_of_scan,
    cost_of_search,
    cost_of_subsets,
    least_cost_shared,
    spans,
)

# Maximum number of unique points; with some more factors it would exceed float64.
MAX_COUNT = 1e250

# Number of sets whose results are cached, for tables with at most this number of rows.
CACHED_SETS, CACHED_ROWS = 16, 20_000

# Maximum number of balls of every subset of some factors that are cached.
MAX_SUBSET_BALLS = 20_000_000

# Maximum number of blocks of candidates served by one tree search, and of candidate values copied for it.
BLOCKS_TOGETHER, MAX_ROOM = 4, 2**23

# Number of variances, of rows and subsets, that one task returns.
SUBSET_BLOCK = 2**20

# Number of values sorted in one task.
SORT_BLOCK = 2**16


class SingleFactors(NamedTuple):
    """Results for each factor alone."""

    variance: Floats
    """Mean variance of y in the balls of each factor alone, (factors,)."""
    distinct: Floats
    """Number of distinct values of each factor."""
    levels: Floats
    """Number of distinct values where they are few, else infinity."""
    codes: dict[int, Positions]
    """Code of each row's distinct value, for factors with few values, if the table is in memory."""

    def of(self, factors: Sequence[int]) -> "SingleFactors":
        """Return the same for some factors, numbered in this order."""
        some = list(factors)
        codes = {k: self.codes[i] for k, i in enumerate(factors) if i in self.codes}
        return SingleFactors(self.variance[some], self.distinct[some], self.levels[some], codes)


@dataclass(frozen=True)
class Balls:
    """Balls of some rows: each holds the rows not farther away than the n_neighbors-th nearest."""

    variance: Floats
    """Variance of y in each ball."""
    reach: Floats
    """Squared radius of each ball."""
    equal_rows: tuple[Floats, Floats] | None = None
    """Number of rows equal to the row, itself included, and their mean of y, (rows, outputs); None if no rows are
    equal."""

    def every(self, step: int) -> "Balls":
        """Return the balls of every ``step``-th row."""
        equal_rows = None if self.equal_rows is None else (self.equal_rows[0][::step], self.equal_rows[1][::step])
        return Balls(self.variance[::step], self.reach[::step], equal_rows)


class Contributions(NamedTuple):
    """Estimate of a variance as a mean over rows, and its uncertainty; all in units of Var(Y)."""

    rows: Floats
    """Contribution of each row."""
    overlap: float
    """Addition to the variance of a contribution because rows are neighbours of each other."""
    shared: float = 0.0
    """Covariance of a contribution with the squared deviations of other rows, its neighbours."""
    in_groups: float = 1.0
    """Amplification of group effects through shared neighbours: the effect of a group is also in the contributions of
    its neighbours."""
    bias: float = 0.0
    """Possible bias of the estimate due to extrapolation."""


AskEach = Callable[["Search", Sequence[int], Sequence[int]], Floats]
"""Function that returns a value for each candidate, given a search, a base and candidates."""


@dataclass(frozen=True)
class Search(SearchSpace):
    """Conditional variances from nearest neighbours, for one set of factors or for many at once."""

    known: SingleFactors | None = None
    """Results for each factor alone, if already known."""

    def on_rows(self, rows: Positions, y: Floats) -> "Search":
        """Return a search among some rows, averaged over the outer rows among them, or over all if there are none."""
        outer = np.flatnonzero(np.isin(rows, self.outer))
        if outer.size == 0:
            outer = np.arange(rows.size)
        weights = None if self.weights is None else self.weights[rows]
        groups = None if self.groups is None else np.unique(self.groups[rows], return_inverse=True)[1]
        n_neighbors = min(self.n_neighbors, most_neighbors(rows.size, groups)[0])
        return self._again(
            self.design.on_rows(rows), y=y, outer=outer, n_neighbors=n_neighbors, weights=weights, groups=groups
        )

    def _again(self, design: Design, **changes: Any) -> "Search":
        """Return the same kind of search in another design."""
        return Search(design=design, workers=self.workers, **changes)

    def close(self) -> None:
        """Release resources in other processes; there are none if the table is in memory."""

    # --- one set, plus each and minus each -------------------------------------------------------------

    def one(self, factors: Sequence[int]) -> float:
        """Return the mean variance of y in the balls of the outer rows, in the given factors."""
        return float(self._each_alone([tuple(factors)])[0])

    def plus_each(self, base: Sequence[int], candidates: Sequence[int]) -> Floats:
        """Return the mean variance in ``base`` plus each candidate."""
        if not base:
            return self._variances_alone(candidates)
        found: dict[int, float] = {}
        for some in self._in_rooms(base, self.design.in_blocks(candidates)):
            room = CandidateArray(self.design.n_rows, [len(block) for block in some]) if len(some) > 1 else None
            found |= run_all([self.prepare(base, block, room) for block in some])
        return np.array([found[i] for i in candidates])

    def _in_rooms(self, base: Sequence[int], candidates: list[list[int]]) -> list[list[list[int]]]:
        """Combine blocks of candidates where one search in a base of several columns may serve several blocks.

        With one column, the slowest candidate would delay too many others.
        """
        can_share = len(self.design.columns_of(base)) > 1 and self.n_neighbors == 2 and self.design.is_in_memory
        most = min(BLOCKS_TOGETHER, MAX_ROOM // (MOST_IN_BLOCK * self.design.n_rows)) if can_share else 1
        return [candidates[span] for span in spans(len(candidates), max(most, 1))]

    def map_remote(self, ask: AskEach, base: Sequence[int], candidates: Sequence[int]) -> Floats | None:  # noqa: ARG002
        """Return a function of each candidate, (candidates,), evaluated where its column is; None if that is here."""
        return None

    def prepare(self, base: Sequence[int], candidates: Sequence[int], room: CandidateArray | None = None) -> BlockStep:
        """Plan the search for the candidates of one block: separately, or together where this is cheaper."""
        n_rows, n_points = self.design.n_rows, self._max_unique_points(base)
        alone_costs = cost_alone(n_points * self.columns(candidates).levels[list(candidates)], len(base) + 1, n_rows)
        alone_costs = alone_costs + cost_of_building(len(base) + 1) * n_rows / self.outer.size
        several = ~self.design.single[list(candidates)]  # a shared search adds one column to the base
        alone = several | (alone_costs < least_cost_shared(n_points, len(base), len(candidates), n_rows))
        shared = None
        if not alone.all():
            shared = self._share(base, len(candidates), room)
            shared.serve([candidates[i] for i in np.flatnonzero(~several).tolist()])
            alone = several | (alone_costs < shared.cost())
        if shared is not None and not alone.all():
            shared.serve([candidates[i] for i in np.flatnonzero(~alone).tolist()])
        return BlockStep(
            tuple(candidates[i] for i in np.flatnonzero(alone).tolist()),
            partial(self._each_with, tuple(base)),
            None if alone.all() else shared,
            self.outer_weight,
        )

    def _each_with(self, base: tuple[int, ...], candidates: Sequence[int]) -> Floats:
        """Return the mean variance in ``base`` plus each candidate, each searched separately."""
        return self._each_alone([(*base, i) for i in candidates])

    def _share(self, base: Sequence[int], n_candidates: int, room: CandidateArray | None) -> CandidateSearch:
        can_be_sorted = len(base) == 1 and self.design.is_plain(base[0]) and self.groups is None
        least = FEW_ROWS if n_candidates < FEW_CANDIDATES else MANY_ROWS
        if can_be_sorted and self.design.n_rows >= least:
            return SortedColumnSearch(self, base[0])
        return TreeSearch(self, self._trees.find(base, lambda: self.kd_tree(base)), room)

    @cached_property
    def _trees(self) -> BoundedCache[PermutedTree]:
        """Tree of the last base, which each block of candidates needs."""
        return BoundedCache(1)

    def minus_each(self, base: Sequence[int], members: Sequence[int | None]) -> Floats:
        """Return the mean variance in ``base`` minus each given member; None leaves nothing out."""
        sets = [tuple(i for i in base if i != member) for member in members]
        n_rows = self.design.n_rows
        alone_cost = sum(float(cost_alone(self._max_unique_points(u), len(u), n_rows)) for u in sets if len(u) > 1)
        scan_cost = cost_of_scan(len(base), n_rows)
        if self.groups is not None or alone_cost < scan_cost:  # a scan does not support groups
            return self._each_alone(sets)
        return self._scan(base, members, scan_cost)

    def _scan(self, base: Sequence[int], members: Sequence[int | None], cost: float) -> Floats:
        """Return the same from one scan of all rows for all members."""
        ordered = sorted(base, key=lambda i: (not self.design.is_plain(i), i))
        columns = self.design.columns_of(ordered)
        starts = np.cumsum([0, *(len(self.design.columns[i]) for i in ordered)])
        points, caps = self.design.take(columns), self.design.caps[columns]
        packed = np.ascontiguousarray(in_blocks(points, 0.0).swapaxes(1, 2))
        rounded = round_plain(packed, sum(map(self.design.is_plain, ordered)))
        parts = self.workers.map(
            lambda centres: sum_minus_each(
                packed, rounded, points, caps, starts, self.y, self.row_weights, centres, self.n_neighbors
            ),
            blocks(self.outer, cost),
        )
        means: Floats = np.sum([sums for sums, _, _ in parts], axis=0) / self.outer_weight
        variance, reach = (np.concatenate([part[i] for part in parts]) for i in (1, 2))
        if self.is_small and np.isinf(self.columns(ordered).levels[ordered]).any():  # no rows are equal
            self._scanned.put(base, Balls(variance, reach))
        whole = self.mean_over_outer(variance)
        return np.array([whole if member is None else means[ordered.index(member)] for member in members])

    def every_subset(self, factors: Sequence[int], step: int | None) -> dict[tuple[int, ...], float]:
        """Return the mean variance in every subset of the factors if one scan is cheaper, otherwise an empty dict.

        Given a step, the balls of every ``step``-th outer row are cached, if they are not too many.
        """
        p, n_rows = len(factors), self.design.n_rows
        if p < LEAST_FACTORS or n_rows > MAX_ROWS or self.groups is not None:
            return {}
        if self._cost_of_each_subset(factors) < cost_of_subsets(p, n_rows):
            return {}
        is_kept = step is not None and 2**p * self.outer.size <= MAX_SUBSET_BALLS
        variances = np.empty((self.outer.size, 2**p)) if is_kept else None
        means = self._sum_over_subsets(factors, variances) / self.outer_weight
        subsets = [tuple(f for k, f in enumerate(factors) if u >> k & 1) for u in range(2**p)]
        self._subset_balls.clear()
        if variances is not None and step is not None:
            shown = np.ascontiguousarray(variances[::step].T)
            unknown = np.full(shown.shape[1], np.nan)
            separates = sum(1 << k for k, f in enumerate(factors) if np.isinf(self.columns(factors).levels[f]))
            for u, subset in enumerate(subsets):
                if u & separates:  # no rows are equal
                    self._subset_balls[subset, step] = Balls(shown[u], unknown)
        return dict(zip(subsets[1:], means[1:].tolist(), strict=True))

    def _sum_over_subsets(self, factors: Sequence[int], variances: Floats | None) -> Floats:
        """Return the weighted sum of the variances in the balls of the outer rows in every subset, (subsets,).

        A subset is a bit mask of its factors. If an array ``variances`` is given, the variances themselves are written
        to it, (outer rows, subsets).
        """
        design, order = self.design, self.kd_tree(factors).tree.order
        columns = design.columns_of(factors)
        starts = np.cumsum([0, *(len(design.columns[i]) for i in factors)])
        points = np.zeros((len(columns), -(-order.size // BLOCK) * BLOCK))
        for k, column in enumerate(columns):
            points[k, : order.size] = design.column(column)[order]
        y, position, caps = self.y[order], inverse(order), design.caps[columns]

        def scan(some: Positions) -> Floats:
            rows = self.outer[some]
            found = subset_variances(points, caps, starts, y, position[rows], self.n_neighbors)
            if variances is not None:
                variances[some] = found
            sums: Floats = np.einsum("n,nu->u", self.row_weights[rows], found)
            return sums

        n_rows = self.outer.size
        size = max(1, min(SUBSET_BLOCK >> len(factors), -(-n_rows // MAX_TASKS)))
        tasks = [np.arange(n_rows)[span] for span in spans(n_rows, size)]
        sums: Floats = np.sum(self.workers.map(scan, tasks), axis=0)
        return sums

    def _cost_of_each_subset(self, factors: Sequence[int]) -> float:
        """Return the nanoseconds per row to search each subset of two or more factors separately."""
        p, n_rows = len(factors), self.design.n_rows
        few = [f for f in factors if np.isfinite(self.columns(factors).levels[f])]
        total = 0.0
        for size in range(2, p + 1):
            without_equal_rows = math.comb(p, size) - math.comb(len(few), size)
            total += without_equal_rows * float(cost_alone(math.inf, size, n_rows))
            for subset in combinations(few, size):
                total += float(cost_alone(self._max_unique_points(subset), size, n_rows))
        return total

    @cached_property
    def _subset_balls(self) -> dict[tuple[tuple[int, ...], int], Balls]:
        """Balls of every ``step``-th outer row in every subset of the last scanned factors, without their reach."""
        return {}

    # --- one set at a time -----------------------------------------------------------------------------

    def _each_alone(self, sets: list[tuple[int, ...]]) -> Floats:
        """Search as many sets at a time as there are workers, and the remaining sets with rows in parallel."""
        even = len(sets) - len(sets) % self.workers.count
        means = self.workers.map(self._mean_alone, sets[:even])
        return np.array(means + [self._mean_alone(factors) for factors in sets[even:]])

    def _mean_alone(self, factors: tuple[int, ...]) -> float:
        if not factors:
            return self.response_variance
        if len(factors) == 1:
            return float(self._variances_alone(factors)[0])
        return self.mean_over_outer(self.balls(factors).variance)

    @cached_property
    def response_variance(self) -> float:
        """Var(Y), the unit of contributions."""
        return centre_columns(self.y, self.weights)[1]

    @cached_property
    def _scanned(self) -> BoundedCache[Balls]:
        """Balls of the sets that were last scanned without each member.

        They have a separate cache: a search could differ in the last bit, and which sets were searched last depends on
        the timing of threads.
        """
        return BoundedCache(CACHED_SETS)

    @cached_property
    def _recent(self) -> BoundedCache[Balls]:
        """Balls of the last sets: those at which elimination stops are needed again."""
        return BoundedCache(CACHED_SETS)

    def balls(self, factors: Sequence[int], step: int = 1) -> Balls:
        """Return the balls of every ``step``-th outer row."""
        known = self._scanned.get(factors) or self._recent.get(factors)
        if known is not None:
            return known.every(step)
        balls = self._find_balls(factors, self.outer[::step])
        if step == 1 and self.is_small:
            self._recent.put(factors, balls)
        return balls

    @property
    def is_small(self) -> bool:
        """True if results for each row are small enough to be cached."""
        return self.outer.size <= CACHED_ROWS

    def _find_balls(self, factors: Sequence[int], rows: Positions) -> Balls:
        points = self.unique_points(factors)
        permuted = self.kd_tree(factors, points.rows)
        count, mean, squares = (x[permuted.tree.order] for x in (points.count, points.mean, points.squares))
        groups = None if self.groups is None else self.groups[permuted.tree.order]
        point = permuted.position[points.of_row[rows]]
        centres = occupied(point, self.design.n_rows, count.size)
        found = self.workers.map(
            lambda block: ball_variances(
                permuted.tree, permuted.caps, count, mean, squares, groups, block, self.n_neighbors
            ),
            blocks(centres, cost_of_search(len(factors), self.design.n_rows)),
        )
        variance, reach = np.empty(count.size), np.empty(count.size)
        variance[centres] = np.concatenate([part[0] for part in found])
        reach[centres] = np.concatenate([part[1] for part in found])
        equal_rows = None if isinstance(points.rows, slice) else (count[point], mean[point])
        return Balls(variance[point], reach[point], equal_rows)

    def contributions(self, factors: Sequence[int], step: int) -> Contributions:
        """Return the contribution of every ``step``-th outer row to the mean variance.

        Where many rows are equal, this is its own squared deviation, otherwise the variance in its ball of b rows. A
        row is in b balls, and two neighbours are in several together. With normal deviations, a variance in a ball has
        the variance 2 σ⁴/(b − 1) and the mean square (b + 1)/(b − 1) σ⁴; all balls together add 2 σ⁴ to it if all
        neighbours are mutual, and 2 σ⁴/(b − 1) to the variance of a squared deviation where rows are equal. For several
        outputs, the 2 is twice their `output_concentration`.
        """
        outer = self.outer[::step]
        if not factors:
            return self.squared_deviations(outer)
        balls = self._subset_balls.get((tuple(factors), step)) or self.balls(factors, step)
        variance: Floats = balls.variance / self.response_variance
        size, values, times = np.array(float(self.n_neighbors)), variance, np.array(1.0)
        own = 1 / size
        if balls.equal_rows is not None:
            count, mean = balls.equal_rows
            size, is_alone = np.maximum(count, size), count < self.n_neighbors
            squares = ((self.y[outer] - mean) ** 2).sum(axis=1)
            values = np.where(is_alone, variance, squares * size / ((size - 1) * self.response_variance))
            own, times = np.where(is_alone, 1 / size, 1 - 1 / size), np.where(is_alone, 1.0, 1 / (size - 1))
        alike, share = self.output_concentration, self.outer.size / self.design.n_rows
        doubled = 2 * alike * variance**2 * (size - 1) / (size - 1 + 2 * alike)  # 2 σ⁴
        overlap, shared = (share * float(np.mean(doubled * part)) for part in (times, 1 - own))
        return Contributions(values, overlap, shared, 1 / float(np.mean(own)))

    def squared_deviations(self, rows: Positions) -> Contributions:
        """Return the contributions of some rows to Var(Y)."""
        n = self.design.n_rows if self.weights is None else self.weights.sum() ** 2 / (self.weights @ self.weights)
        return Contributions((self.y[rows] ** 2).sum(axis=1) * (n / (n - 1) / self.response_variance), 0.0)

    @cached_property
    def output_concentration(self) -> float:
        """Concentration tr(S²)/tr(S)² of the output covariance S: 1 for one output, 1/q for q uncorrelated ones."""
        if self.y.shape[1] == 1:
            return 1.0
        centred = self.y - self.y.mean(axis=0)
        covariance = np.einsum("ni,nj->ij", centred, centred)  # up to a factor; BLAS would start threads of its own
        return float(((covariance / np.trace(covariance)) ** 2).sum())  # its square could overflow

    def unique_points(self, factors: Sequence[int], every: bool = False) -> UniquePoints:
        """Return the unique points in some factors, or all rows if a factor has too many values for rows to be equal.

        With ``every``, equal rows are collapsed there too, however few they are. Rows in groups are never collapsed,
        because each has different neighbours.
        """
        if self.groups is not None and factors:
            return all_rows(self.y)
        columns = self.columns(factors)
        if np.isfinite(columns.levels[list(factors)]).all():
            return collapse_rows(*self._number_points(tuple(factors)), self.y)
        if every and (columns.distinct[list(factors)] < self.design.n_rows).all():
            return collapse_rows(*number_rows(self.design.take(self.design.columns_of(factors))), self.y)
        return all_rows(self.y)

    def _max_unique_points(self, factors: Sequence[int]) -> float:
        """Return the maximum number of unique points; infinity if float64 cannot hold it, or if none are collapsed."""
        if self.groups is not None:
            return math.inf
        product = math.prod(self.columns(factors).levels[list(factors)].tolist())
        return product if product < MAX_COUNT else math.inf

    def _number_points(self, factors: tuple[int, ...]) -> tuple[Positions, int]:
        """Return the index of each row's unique point, (rows,), without gaps, and the number of points."""

        def make() -> tuple[Positions, int]:
            base = self._recent_points.find(factors[:-1], lambda: self._split_points(factors[:-1]))
            return self._split_points(factors[-1:], base)

        return self._recent_points.find(factors, make)

    def _split_points(
        self, factors: tuple[int, ...], points: tuple[Positions, int] | None = None
    ) -> tuple[Positions, int]:
        """Split unique points further by more factors; by default, start from one point that holds all rows."""
        points = points or (np.zeros(self.design.n_rows, dtype=np.intp), 1)
        for i in factors:
            levels = int(self.columns(factors).levels[i])
            points = number_cells(points[0] * levels + self._codes(i), points[1] * levels)
        return points

    def _codes(self, factor: int) -> Positions:
        """Return the code of each row's distinct value, (rows,)."""
        codes = self.columns((factor,)).codes
        if factor in codes:
            return codes[factor]
        columns = self.design.columns[factor]
        return self._recent_codes.find((factor,), lambda: number_rows(self.design.take(columns))[0])

    @cached_property
    def _recent_codes(self) -> BoundedCache[Positions]:
        """Recently used codes: those of a base are needed for each candidate."""
        return BoundedCache(CACHED_SETS)

    @cached_property
    def _recent_points(self) -> BoundedCache[tuple[Positions, int]]:
        """Unique points of the last sets: those of the base of a step are needed for each candidate."""
        return BoundedCache(CACHED_SETS if self.design.n_rows <= CACHED_ROWS else 0)

    # --- columns ---------------------------------------------------------------------------------------

    def columns(self, factors: Sequence[int]) -> SingleFactors:
        """Return results for some factors alone, and for others that were asked for before.

        Single columns are sorted once, others searched like any set. A rule that selects by other evidence asks only
        for the few factors that it has selected.
        """
        if self.known is not None:
            return self.known
        found, is_read = self._columns
        new = [i for i in factors if not is_read[i]]
        single = np.array([i for i in new if self.design.single[i]], dtype=np.intp)
        step = max(1, SORT_BLOCK // self.design.n_rows)
        parts = self.workers.map(self._read_columns, [single[i : i + step] for i in range(0, single.size, step)])
        for some, variances, n_levels, codes in parts:
            found.variance[some], found.distinct[some] = variances, n_levels
            found.codes.update(codes)
        for i in new:
            if not self.design.single[i]:
                code, found.distinct[i] = number_rows(self.design.take(self.design.columns[i]))
                if self.design.is_in_memory and found.distinct[i] <= DISCRETE * self.design.n_rows:
                    found.codes[i] = code
        found.levels[new] = np.where(found.distinct[new] <= DISCRETE * self.design.n_rows, found.distinct[new], np.inf)
        is_read[new] = True  # last, because threads may read at the same time
        return found

    @cached_property
    def _columns(self) -> tuple[SingleFactors, NDArray[np.bool_]]:
        """Results for each factor alone as far as they were read, and a mask of the factors that need not be read."""
        variance, distinct = np.full(self.design.n_factors, np.nan), np.full(self.design.n_factors, np.inf)
        return SingleFactors(variance, distinct, distinct.copy(), {}), self.design.constant.copy()

    def _read_columns(self, factors: Positions) -> tuple[Positions, Floats, Floats, dict[int, Positions]]:
        columns = self.design.columns_of(factors.tolist())
        table, where = self.design.view(columns)
        values = np.ascontiguousarray(table[:, where].T)
        order = np.argsort(values, axis=1)
        weight = np.bincount(self.outer, self.row_weights[self.outer], minlength=self.design.n_rows)
        sums, n_levels, numbers = single_column_variances(
            values, order, self.design.caps[columns], self.y, weight, self.n_neighbors
        )
        few = np.flatnonzero(n_levels <= DISCRETE * self.design.n_rows).tolist() if self.design.is_in_memory else []
        return factors, sums / self.outer_weight, n_levels, {int(factors[i]): numbers[i] for i in few}

    def _variances_alone(self, factors: Sequence[int]) -> Floats:
        """Return the mean variance of y in the balls of each factor alone."""
        variance = self.columns(factors).variance[list(factors)]
        sought = [i for i in factors if self.groups is not None or not self.design.single[i]]
        found = dict(zip(sought, self.workers.map(self._search_alone, sought), strict=True))
        return np.array([found.get(i, value) for i, value in zip(factors, variance.tolist(), strict=True)])

    def _search_alone(self, factor: int) -> float:
        return self.mean_over_outer(self.balls((factor,)).variance)
