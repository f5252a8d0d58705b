"""ev(u) from one smooth fit in all factors, projected on u, and from local fits to its residuals.

Let f̂ be the fit, e its leave-one-out residual, and r the leave-one-out value of f̂ − E[f̂ | X_u]. A row then
contributes (y − f̂)e to the noise variance and r² + 2er to the variance that u leaves beyond the noise. The noise of a
row enters both sides of a difference between two sets and cancels; this is how the estimator reaches the efficiency
bound (Williamson et al. 2021). What remains, the mean squared error of r, comes from the fit itself, or from local fits
to e where these find something. In tables that no smooth fit describes, everything comes from local fits to y.
"""

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import NamedTuple

import numpy as np

from .._utils.cache import BoundedCache
from .._utils.threads import ONE_BLAS_THREAD
from ..neighbors.search import Contributions, Search
from ..neighbors.strategy import Floats, Positions
from .basis import Functions, functions_of
from .constants import (
    DIFFERENCE,
    HIDDEN,
    LEAST_FOUND,
    LEAST_ORDERS,
    LINEAR,
    LINEAR_OF_FEW,
    LINEAR_OF_NOISE,
    MAX_OUTER,
    MISSED,
    MOST_FOR_LOCAL,
    MOST_FUNCTIONS,
    MOST_ORDERS,
    NOISE_OF_FEW,
    QUADRATIC,
    ROWS_PER_FACTOR,
    ROWS_PER_ORDER,
    UNSEEN,
)
from .extrapolated import ExtrapolatedSearch
from .sampling import draw_fixed
from .smooth_fit import SmoothFit

# Number of sets whose contributions are kept: the dependence tree needs those of the standard errors again.
MOST_KEPT = 256

# Outputs with a smaller share of the variance are copies of other outputs.
LEAST_OUTPUT = 1e-9


class AdaptiveSearch:
    """Conditional variances from smooth fits, with the interface of `Search`.

    Given ``whole``, all sets are projections of the fit in these factors. Otherwise each set has a fit of its own.
    """

    def __init__(self, search: Search, whole: tuple[int, ...] | None = None) -> None:
        self._search, self._whole = search, whole
        self.outer = draw_fixed(search.design.n_rows, MAX_OUTER)
        """Rows of the fit and of the average. `n_outer` is ignored: a smooth fit needs many rows."""
        self._weights = None if search.weights is None else search.weights[self.outer]
        self._fits: BoundedCache[_Fits] = BoundedCache(1)
        self._recent: BoundedCache[Contributions] = BoundedCache(MOST_KEPT)
        self._lock = Lock()

    def around(self, whole: tuple[int, ...]) -> "AdaptiveSearch":
        """Return a search in which all sets are projections of the fit in ``whole``."""
        return AdaptiveSearch(self._search, whole)

    def one(self, factors: Sequence[int]) -> float:
        """Return the conditional variance of y given the factors."""
        left = float(np.average(self.contributions(factors, 1).rows, weights=self._weights))
        return self._search.response_variance * min(max(left, 0.0), 1.0)

    def plus_each(self, base: Sequence[int], candidates: Sequence[int]) -> Floats:
        """Return the conditional variance given ``base`` plus each candidate."""
        return self._each([(*base, i) for i in candidates])

    def minus_each(self, base: Sequence[int], members: Sequence[int | None]) -> Floats:
        """Return the conditional variance given ``base`` minus each member; None leaves nothing out."""
        return self._each([tuple(i for i in base if i != member) for member in members])

    def _each(self, sets: list[tuple[int, ...]]) -> Floats:
        if self._whole:
            self.one(self._whole)  # fitted first, with all threads
        return np.array(self._search.workers.map(self.one, sets))

    def every_subset(self, factors: Sequence[int], step: int | None) -> dict[tuple[int, ...], float]:  # noqa: ARG002
        """Return an empty dict: sets are projected one at a time."""
        return {}

    def contributions(self, factors: Sequence[int], step: int) -> Contributions:
        """Return the contribution of every ``step``-th outer row to the conditional variance."""
        factors = tuple(sorted(factors))
        found = self._recent.find(factors, lambda: self._contribute(factors))
        return found._replace(rows=found.rows[::step])

    def _contribute(self, factors: tuple[int, ...]) -> Contributions:
        """Return the contribution of each outer row, relative to the variance of y among the outer rows."""
        total = self._search.squared_deviations(self.outer).rows
        unit = float(np.average(total, weights=self._weights)) or 1.0
        whole = factors if self._whole is None else self._whole
        if not factors or not whole:
            return Contributions(total / unit, 0.0)
        with ONE_BLAS_THREAD:
            with self._lock:
                fits = self._fits.find(whole, lambda: _Fits(self._search, self.outer, whole))
            found = fits.contribute(factors)
        return _in_units(found, 1 / unit)


class _Local(NamedTuple):
    """Local fits to the residuals of smooth fits, or to y itself."""

    search: ExtrapolatedSearch
    unit: float
    """Variance of the fitted response."""
    noise: Contributions
    """Contribution of each row to the noise variance."""
    weight: float = 1.0
    """Weight of these fits relative to the smooth fit, from 0 to 1."""
    is_of_y: bool = False
    """True if y itself is fitted."""

    def contribute(self, factors: tuple[int, ...]) -> Contributions:
        """Return the contribution of each row to the conditional variance given the factors."""
        return _in_units(self.search.contributions(factors, 1), self.unit)


class _Fits:
    """Smooth fits to each output in some factors, and local fits to their residuals."""

    def __init__(self, search: Search, outer: Positions, whole: tuple[int, ...]) -> None:
        self._search, self._outer, self._whole = search, outer, whole
        self._weights = None if search.weights is None else search.weights[outer]
        self._groups = None if search.groups is None else np.unique(search.groups[outer], return_inverse=True)[1]
        self._functions: dict[int, Functions] = {}
        functions = self._functions_of(whole)
        outputs = _uncorrelated(search.y[outer] / np.sqrt(search.response_variance))
        self._fits = [SmoothFit(functions, y, self._weights, self._groups, search.workers) for y in outputs.T]
        self._squares: Floats = np.sum([fit.squares for fit in self._fits], axis=0)
        self._noise = self._mean(self._squares)
        self._error = sum(fit.error for fit in self._fits)
        self._local = self._find_local()

    def _functions_of(self, factors: Sequence[int]) -> dict[int, Functions]:
        most = int(np.clip(self._outer.size // ROWS_PER_ORDER, LEAST_ORDERS, MOST_ORDERS))
        most = min(most, max(2 * MOST_FUNCTIONS // max(len(self._whole), 1), 3))
        for i in factors:
            if i not in self._functions:
                self._functions[i] = functions_of(self._search.design, i, self._outer, self._weights, most)
        return {i: self._functions[i] for i in factors}

    def _mean(self, rows: Floats) -> float:
        return float(np.average(rows, weights=self._weights))

    def _variance(self, rows: Floats) -> float:
        """Return the variance of a contribution, including the covariance within groups."""
        centred = (rows - self._mean(rows)) * (1.0 if self._weights is None else self._weights)
        sums = centred if self._groups is None else np.bincount(self._groups, centred)
        return float(sums @ sums) / rows.size

    def _fit_locally(self, y: Floats) -> _Local:
        """Return local fits in the same factors to ``y``, (rows, outputs)."""
        centred = y - np.average(y, axis=0, weights=self._weights)
        search = replace(self._search.on_rows(self._outer, centred), outer=np.arange(self._outer.size))
        local = ExtrapolatedSearch(search)
        unit = search.response_variance
        return _Local(local, unit, _in_units(local.contributions(self._whole, 1), unit))

    def _gain(self, local: _Local, before: Floats) -> tuple[float, float]:
        """Return the mean reduction of ``before`` by local fits, and its standard error."""
        gain = before - local.noise.rows
        return self._mean(gain), float(np.sqrt((self._variance(gain) + local.noise.overlap) / gain.size))

    def _find_local(self) -> _Local | None:
        """Return local fits to the leave-one-out residuals, or to y, or None if they find nothing."""
        if len(self._whole) > MOST_FOR_LOCAL:
            return None
        local = self._fit_locally(np.column_stack([fit.without for fit in self._fits]))
        gain, error = self._gain(local, self._squares)
        if gain <= LEAST_FOUND * error:
            return self._fit_y(self._squares) if gain > error else None
        weight = 1 - (LEAST_FOUND * error / gain) ** 2
        mixed = (1 - weight) * self._squares + weight * local.noise.rows
        overlap = local.noise.overlap + self._outer.size * (UNSEEN * gain) ** 2
        return self._fit_y(mixed) or local._replace(noise=local.noise._replace(overlap=overlap), weight=weight)

    def _fit_y(self, before: Floats) -> _Local | None:
        """Return local fits to y if their gain exceeds the geometric mean of its standard error and of ``before``."""
        if self._outer.size < ROWS_PER_FACTOR * len(self._whole) or self._mean(before) <= 0:
            return None
        local = self._fit_locally(self._search.y[self._outer] / np.sqrt(self._search.response_variance))
        gain, error = self._gain(local, before)
        return local._replace(is_of_y=True) if gain > np.sqrt(error * self._mean(before)) else None

    def contribute(self, factors: tuple[int, ...]) -> Contributions:
        """Return the contribution of each row to the conditional variance, in units of Var(Y).

        ``overlap`` is the uncertainty beyond the sampling of rows. Its part that belongs to the noise variance is the
        same for all sets.
        """
        n, local = self._outer.size, self._local
        if local is not None and local.is_of_y:
            return local.contribute(factors)
        rows, bias = self._squares, 0.0
        unsure = (LINEAR_OF_NOISE - 1 + NOISE_OF_FEW / n) * self._variance(rows)
        unsure += n * (self._error**2 + (UNSEEN * sum(fit.bend for fit in self._fits)) ** 2)
        if local is not None:
            noise = local.noise
            rows, bias = (1 - local.weight) * rows + local.weight * noise.rows, local.weight * noise.bias
            unsure += local.weight**2 * noise.overlap
        if set(self._whole) <= set(factors):
            return Contributions(rows, unsure, bias=bias)
        effects, known, difference, quadratic, bend = np.zeros(n), 0.0, 0.0, 0.0, 0.0
        for fit in self._fits:
            found = fit.project(self._functions_of(factors))
            effect = found.left * (found.left + 2 * fit.without)
            effects += effect
            known += found.error
            difference += self._mean(effect) + found.error - found.posterior
            quadratic += found.quadratic
            bend += found.bend
        own = (LINEAR - 1 + LINEAR_OF_FEW / n) * self._variance(effects)
        own += n * (QUADRATIC * quadratic + DIFFERENCE * difference**2)
        own += n * (HIDDEN * (self._noise / n) ** 2 + MISSED * self._error**2 + (UNSEEN * bend) ** 2)
        if local is not None:
            rough = local.contribute(factors)
            effects += local.weight * (rough.rows - noise.rows)
            known *= 1 - local.weight
            own += local.weight**2 * rough.overlap
            bias = local.weight * rough.bias
        return Contributions(rows + effects + known, float(np.sqrt(unsure) + np.sqrt(own)) ** 2, bias=bias)


def _in_units(found: Contributions, unit: float) -> Contributions:
    """Return contributions to a variance in other units."""
    return found._replace(
        rows=unit * found.rows,
        overlap=unit**2 * found.overlap,
        shared=unit**2 * found.shared,
        bias=unit * found.bias,
    )


def _uncorrelated(outputs: Floats) -> Floats:
    """Return outputs, (rows, outputs), rotated so that they are uncorrelated; copies of other outputs are dropped."""
    if outputs.shape[1] == 1:
        return outputs
    sizes, axes = np.linalg.eigh(outputs.T @ outputs)
    turned: Floats = outputs @ axes[:, sizes > LEAST_OUTPUT * sizes.sum()][:, ::-1]
    return turned
