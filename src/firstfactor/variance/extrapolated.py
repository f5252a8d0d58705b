"""ev(u) from local linear fits around a trend, extrapolated to neighbours at distance 0.

The mean squared error of a local fit is biased upwards by the curvature of the function beyond the trend, which grows
with the distance of the neighbours. Two numbers of neighbours show how fast, and a line in the squared distance of the
last neighbour is extrapolated to distance 0. The size of this correction also serves as the allowance for bias.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._utils.cache import BoundedCache
from ..neighbors.search import CACHED_ROWS, CACHED_SETS, Contributions, Search
from ..neighbors.strategy import Floats, Positions
from .constants import (
    LEAST_NEIGHBORS,
    LEAST_OWN,
    LEAST_RATIO,
    LEAST_RATIO_OF_BIAS,
    MAX_OUTER,
    MOST_NEIGHBORS,
    NEIGHBORS_PER_SLOPE,
    WIDER,
)
from .local_linear import Errors, LocalLinear
from .sampling import draw_fixed
from .trend import TrendFitter

# The squared distance of the narrow fit is taken to be at least this share of that of the wide fit.
SMALLEST_REACH = 1e-12


class Extrapolation(NamedTuple):
    """Weights of the mean squared errors of the narrow and the wide fit."""

    near: float
    far: float
    """``near`` and ``far`` sum to 1."""
    bias_factor: float
    """Possible bias of the extrapolation, as a multiple of the difference of both errors."""


class ExtrapolatedSearch:
    """Conditional variances from local linear fits, with the interface of `Search`."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._recent: BoundedCache[Errors] = BoundedCache(CACHED_SETS)
        self._trends = TrendFitter(search)
        self.outer = search.outer
        """Rows that are averaged over."""
        if search.outer.size == search.design.n_rows:
            self.outer = draw_fixed(search.design.n_rows, MAX_OUTER)
        self._outer_unit = self._mean(search.squared_deviations(self.outer).rows, self.outer) or 1.0

    def one(self, factors: Sequence[int]) -> float:
        """Return the conditional variance of y given the factors."""
        return max(self._search.response_variance * self._mean(self.contributions(factors, 1).rows, self.outer), 0.0)

    def plus_each(self, base: Sequence[int], candidates: Sequence[int]) -> Floats:
        """Return the conditional variance given ``base`` plus each candidate."""
        found = self._search.map_remote(fit_each, base, candidates)
        return self._each([(*base, i) for i in candidates]) if found is None else found

    def minus_each(self, base: Sequence[int], members: Sequence[int | None]) -> Floats:
        """Return the conditional variance given ``base`` minus each member; None leaves nothing out."""
        return self._each([tuple(i for i in base if i != member) for member in members])

    def _each(self, sets: list[tuple[int, ...]]) -> Floats:
        return np.array(self._search.workers.map(self.one, sets))

    def every_subset(self, factors: Sequence[int], step: int | None) -> dict[tuple[int, ...], float]:  # noqa: ARG002
        """Return an empty dict: fits have no work in common."""
        return {}

    def contributions(self, factors: Sequence[int], step: int) -> Contributions:
        """Return the contribution of every ``step``-th outer row to the conditional variance.

        It is relative to the variance of y among the same rows, so that the deviation of the outer rows from all rows
        cancels.

        Rows share neighbours and are neighbours of each other. This adds about 2 σ⁴ Σw² to the variance of a
        contribution, where w are the combined weights of both fits and σ⁴ is a third of the mean fourth power of an
        error. The neighbours of the narrow fit are among those of the wide one, so the summed products of both weights
        are about Σw² of the wide fit. For several outputs, σ⁴ is the trace of the squared covariance matrix.

        Curvature makes the wide fit the worse one; only then is the difference allowed for as bias.
        """
        if not factors:
            total = self._search.squared_deviations(self.outer[::step])
            return total._replace(rows=total.rows / self._outer_unit)
        is_small = self.outer.size <= CACHED_ROWS
        outer = self.outer if is_small else self.outer[::step]
        errors = self._errors(factors, outer, is_small)
        near, far, bias_factor = _extrapolate(errors.reach.mean(axis=1))
        squares = errors.squares / (self._search.response_variance * self._outer_unit)
        alike = self._search.output_concentration
        narrow, wide = errors.squared_weights.mean(axis=1)
        squared_weights = near * near * narrow + (far * far + 2 * near * far) * wide
        share = self.outer.size / self._search.design.n_rows
        fourth = share * alike * float(np.mean(squares[0] ** 2)) / (1 + 2 * alike)
        own = near / (1 + narrow) + far / (1 + wide)
        rows = near * squares[0] + far * squares[1]
        return Contributions(
            rows=rows[::step] if is_small else rows,
            overlap=2 * fourth * max(float(squared_weights), 0.0),
            shared=2 * fourth * float(1 - own),
            # Rows of a group may share their neighbours: then the contributions contain the group effect of these as
            # well.
            in_groups=max(float(own), LEAST_OWN) ** -0.5,
            bias=bias_factor * max(self._mean(squares[1] - squares[0], outer), 0.0),
        )

    def _errors(self, factors: Sequence[int], rows: Positions, remember: bool) -> Errors:
        """Return the errors of a narrow and of a wide fit at some rows.

        Factors are sorted, because sums in another order could differ in the last bit.
        """
        factors = sorted(factors)

        def fit() -> Errors:
            search, trend = self._search, self._trends.fit(factors)  # first: needs more memory than it keeps
            local = LocalLinear(search, factors, numbers_of_neighbors(len(search.design.numeric_columns(factors))))
            return local.errors(search.y, rows, trend)

        return self._recent.find(factors, fit) if remember else fit()

    def _mean(self, values: Floats, rows: Positions) -> float:
        """Return the weighted mean of values at some rows."""
        return float(np.average(values, weights=None if self._search.weights is None else self._search.weights[rows]))


def fit_each(search: Search, base: Sequence[int], candidates: Sequence[int]) -> Floats:
    """Return the conditional variance given ``base`` plus each candidate."""
    return ExtrapolatedSearch(search).plus_each(base, candidates)


def numbers_of_neighbors(n_slopes: int) -> tuple[int, int]:
    """Return the numbers of neighbours of the narrow and the wide fit: enough to estimate the slopes."""
    narrow = min(max(NEIGHBORS_PER_SLOPE * (n_slopes + 1), LEAST_NEIGHBORS), MOST_NEIGHBORS)
    return narrow, WIDER * narrow


def _extrapolate(reach: Floats) -> Extrapolation:
    """Return the weights of both fits, from the mean squared distances of their last neighbours."""
    near, far = reach.tolist()
    if far <= near:  # the same neighbours, all at the same point
        return Extrapolation(1.0, 0.0, 0.0)
    ratio = far / max(near, SMALLEST_REACH * far)
    steady = max(ratio, LEAST_RATIO)
    return Extrapolation(steady / (steady - 1), -1 / (steady - 1), 1 / (max(ratio, LEAST_RATIO_OF_BIAS) - 1))
