"""ev(u) from one smooth fit in all factors, projected on u, and from local fits to what it misses.

With f̂ for the fit, e for its residual without the row and r for f̂ − E[f̂ | X_u] without the row, the row contributes
(y − f̂)e to the noise and r² + 2er to what u leaves beyond it. The noise of a row is in both terms of the difference
between two sets and cancels there: that is what reaches the efficiency bound (Williamson et al. 2021). What is left,
the mean square of the error of r, comes from the fit itself, or from local fits to e where these find something.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

import numpy as np

from .._utils.cache import BoundedCache
from .._utils.threads import one_blas_thread
from ..neighbors.search import CACHED_SETS, Contributions, Search
from ..neighbors.strategy import Floats
from .basis import Functions, functions_of
from .extrapolated import MAX_OUTER, ExtrapolatedSearch
from .sampling import draw_fixed
from .smooth_fit import LEAST_ORDERS, MOST_FUNCTIONS, MOST_ORDERS, ROWS_PER_ORDER, SmoothFit

# The z-value below which what local fits find beyond the smooth one is chance.
LEAST_FOUND = 2.0

# Factors beyond which rows are too far apart for local fits to find anything.
MOST_FOR_LOCAL = 20

# The variance of an effect is so many times that of its linear part, that of the quadratic one, the square of what two
# ways to estimate it differ, that of the noise divided by the rows, which may hide, and that of the error of the fit.
LINEAR, QUADRATIC, DIFFERENCE, HIDDEN, MISSED = 1.2, 2.0, 0.5, 10.0, 0.1

# The same for the noise variance: its linear part.
LINEAR_OF_NOISE = 1.3

# Local fits miss about this share of what they find beyond the smooth fit.
UNSEEN = 0.6

# Outputs with a smaller share of the variance are copies of others.
LEAST_OUTPUT = 1e-9


class AdaptiveSearch:
    """Conditional variances from smooth fits; the interface is that of `Search`.

    Given ``whole``, all sets are projections of the fit in these factors. Otherwise each has a fit of its own.
    """

    def __init__(self, search: Search, whole: tuple[int, ...] | None = None) -> None:
        self._search, self._whole = search, whole
        self.outer = search.outer
        """The rows that are fitted to and averaged over."""
        if search.outer.size == search.design.n_rows:
            self.outer = draw_fixed(search.design.n_rows, MAX_OUTER)
        self._fits: BoundedCache[_Fits] = BoundedCache(1)
        self._recent: BoundedCache[Contributions] = BoundedCache(CACHED_SETS)
        self._lock = Lock()

    def around(self, whole: tuple[int, ...]) -> "AdaptiveSearch":
        """Return the search in which all sets are projections of the fit in some factors."""
        return AdaptiveSearch(self._search, whole)

    def one(self, factors: Sequence[int]) -> float:
        """Return the variance of y that is left, given the factors."""
        rows = self.contributions(factors, 1).rows
        weights = None if self._search.weights is None else self._search.weights[self.outer]
        return max(self._search.unit * float(np.average(rows, weights=weights)), 0.0)

    def plus_each(self, base: Sequence[int], candidates: Sequence[int]) -> Floats:
        """Return what is left given ``base`` plus each candidate."""
        return np.array([self.one((*base, i)) for i in candidates])

    def minus_each(self, base: Sequence[int], members: Sequence[int | None]) -> Floats:
        """Return what is left given ``base`` minus each of the members given; None leaves nothing out."""
        return np.array([self.one(tuple(i for i in base if i != member)) for member in members])

    def every_subset(self, factors: Sequence[int], step: int | None) -> dict[tuple[int, ...], float]:  # noqa: ARG002
        """Return nothing: sets are projected on one by one."""
        return {}

    def contributions(self, factors: Sequence[int], step: int) -> Contributions:
        """Return what every ``step``-th outer row contributes to the variance that is left."""

        def find() -> Contributions:
            with self._lock, one_blas_thread():
                return self._recent.get(factors) or self._contribute(tuple(sorted(factors)))

        found = self._recent.find(factors, find)
        return found._replace(rows=found.rows[::step])

    def _contribute(self, factors: tuple[int, ...]) -> Contributions:
        total = self._search.squared_deviations(self.outer).rows
        weights = None if self._search.weights is None else self._search.weights[self.outer]
        unit = float(np.average(total, weights=weights)) or 1.0
        if not factors:
            return Contributions(total / unit, 0.0)
        whole = factors if self._whole is None else self._whole
        fits = self._fits.find(whole, lambda: _Fits(self._search, self.outer, whole))
        found = fits.contribute(factors)
        scale = 1 / (self._search.unit * unit)
        return Contributions(
            rows=scale * found.rows, overlap=scale**2 * found.overlap, bias=scale * found.bias, in_groups=1.0
        )


class _Fits:
    """Fits to each output in some factors, and local fits to what they leave."""

    def __init__(self, search: Search, outer: np.ndarray, whole: tuple[int, ...]) -> None:
        self._search, self._outer, self._whole = search, outer, whole
        self._weights = None if search.weights is None else search.weights[outer]
        self._groups = None if search.groups is None else np.unique(search.groups[outer], return_inverse=True)[1]
        self._functions: dict[int, Functions] = {}
        y = search.y[outer]
        self._fits = [SmoothFit(self._of(whole), column, self._weights, self._groups) for column in _independent(y).T]
        self.squares: Floats = np.sum([fit.squares for fit in self._fits], axis=0)
        self.noise = self._mean(self.squares)
        self.error = sum(fit.error for fit in self._fits)

    def _of(self, factors: Sequence[int]) -> dict[int, Functions]:
        """Return the functions of some factors."""
        most = int(np.clip(self._outer.size // ROWS_PER_ORDER, LEAST_ORDERS, MOST_ORDERS))
        most = min(most, max(2 * MOST_FUNCTIONS // max(len(self._whole), 1), 3))
        for i in factors:
            if i not in self._functions:
                self._functions[i] = functions_of(self._search.design, i, self._outer, self._weights, most)
        return {i: self._functions[i] for i in factors}

    def _mean(self, rows: Floats) -> float:
        return float(np.average(rows, weights=self._weights))

    @cached_property
    def _local(self) -> "_Local":
        """Local fits to what the smooth ones leave of rows left out, in the same factors."""
        if len(self._whole) > MOST_FOR_LOCAL:
            return _Local(0.0)
        left = np.column_stack([fit.without for fit in self._fits])
        left -= np.average(left, axis=0, weights=self._weights)
        search = self._search.on_rows(self._outer, np.ascontiguousarray(left))
        local = ExtrapolatedSearch(search)
        found = local.contributions(self._whole, 1)
        rows, unit = search.unit * found.rows, search.unit
        gain = self.squares - rows
        error = np.sqrt((self._variance(gain) + unit**2 * found.overlap) / rows.size)
        z = self._mean(gain) / error if error > 0 else 0.0
        weight = 1 - (LEAST_FOUND / z) ** 2 if z > LEAST_FOUND else 0.0
        unsure = unit**2 * found.overlap + rows.size * (UNSEEN * self._mean(gain)) ** 2
        return _Local(weight, local, unit, rows, unsure, unit * found.bias)

    def _variance(self, rows: Floats) -> float:
        """Return the variance of a contribution, with what rows of a group have in common."""
        centred = rows - self._mean(rows)
        if self._weights is not None:
            centred = centred * self._weights
        if self._groups is not None:
            return float(np.sum(np.bincount(self._groups, centred) ** 2)) / rows.size
        return float(np.mean(centred**2))

    def contribute(self, factors: tuple[int, ...]) -> Contributions:
        """Return what each row contributes to the variance that is left, in units of y.

        What is unsure beyond the sampling of rows adds to the variance of a contribution.
        """
        n, local, weight = self._outer.size, self._local, self._local.weight
        rows = self.squares if weight == 0 else (1 - weight) * self.squares + weight * local.rows
        unsure = (LINEAR_OF_NOISE - 1) * self._variance(rows) + n * self.error**2 + weight**2 * local.overlap
        bias = weight * local.bias
        if set(self._whole) <= set(factors):
            return Contributions(rows, unsure, bias=bias)
        effects, difference, quadratic, trace = np.zeros(n), 0.0, 0.0, 0.0
        for fit in self._fits:
            found = fit.project(self._of(factors))
            effect = found.left * (found.left + 2 * fit.without)
            effects += effect
            difference += self._mean(effect) + found.error - found.posterior
            quadratic += found.quadratic
            trace += found.error
        more = (LINEAR - 1) * self._variance(effects) + n * (QUADRATIC * quadratic + DIFFERENCE * difference**2)
        more += n * (HIDDEN * (self.noise / n) ** 2 + MISSED * self.error**2)
        if weight == 0:
            return Contributions(rows + effects + trace, (np.sqrt(unsure) + np.sqrt(more)) ** 2, bias=bias)
        rough = local.search.contributions(factors, 1)
        more += weight**2 * local.unit**2 * rough.overlap
        return Contributions(
            rows + effects + (1 - weight) * trace + weight * (local.unit * rough.rows - local.rows),
            (np.sqrt(unsure) + np.sqrt(more)) ** 2,
            bias=weight * local.unit * rough.bias,
        )


@dataclass(frozen=True, eq=False)
class _Local:
    """What local fits find in what smooth ones leave."""

    weight: float
    """How far they are believed, from 0 to 1."""
    search: ExtrapolatedSearch | None = None
    unit: float = 1.0
    """The variance of what smooth fits leave."""
    rows: Floats | None = None
    """What each row contributes to the noise variance, (rows,)."""
    overlap: float = 0.0
    bias: float = 0.0


def _independent(y: Floats) -> Floats:
    """Return outputs, (rows, outputs), turned so that they are uncorrelated; copies of others are left out."""
    if y.shape[1] == 1:
        return y
    sizes, axes = np.linalg.eigh(y.T @ y)
    turned: Floats = y @ axes[:, sizes > LEAST_OUTPUT * sizes.sum()][:, ::-1]
    return turned
