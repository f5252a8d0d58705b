"""ev(u) by local linear fits around a trend, extrapolated to neighbours at no distance.

The mean squared error of a local fit is too large by what the function bends beyond the trend, which grows with the
distance of the neighbours. Two numbers of neighbours show how fast, and a line in the squared distance of the last
neighbour says what would be left at distance 0. What was taken off is also how much that may be wrong.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._utils.cache import BoundedCache
from ..neighbors.search import CACHED_ROWS, CACHED_SETS, Contributions, Search
from ..neighbors.strategy import Floats, Positions
from .local_linear import Errors, LocalLinear
from .sampling import draw_fixed
from .trend import TrendFitter

# Neighbours of the narrower fit: at least and at most so many, and so many for each slope and the constant. Those of
# the wider fit are so many times as many.
LEAST_NEIGHBORS, MOST_NEIGHBORS, NEIGHBORS_PER_SLOPE, WIDER = 12, 24, 2, 3

# The least ratio of squared distances to extrapolate from: with many factors, the neighbours of both fits are about
# equally far, and taking off the difference many times over would only add noise. It may still be bias.
LEAST_RATIO, LEAST_RATIO_OF_BIAS = 1.5, 1.1

# The narrower fit is taken to reach at least this share as far (squared) as the wider one.
SMALLEST_REACH = 1e-12

# The least part of what a row contributes that is its own: extrapolation counts its neighbours more than once.
LEAST_OWN = 0.01

# Rows to average over if all could be: the errors of so many tell the variance well enough.
MAX_OUTER = 10_000


class Extrapolation(NamedTuple):
    """What the mean squared errors of the narrower and the wider fit count."""

    near: float
    far: float
    """They are 1 together."""
    doubt: float
    """How many times their difference the extrapolation may be wrong."""


class ExtrapolatedSearch:
    """Conditional variances from local linear fits; the interface is that of `Search`."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._recent: BoundedCache[Errors] = BoundedCache(CACHED_SETS)
        self._trends = TrendFitter(search)
        self.outer = search.outer
        """The rows that are averaged over."""
        if search.outer.size == search.design.n_rows:
            self.outer = draw_fixed(search.design.n_rows, MAX_OUTER)
        self._outer_unit = self._mean(search.squared_deviations(self.outer).rows, self.outer) or 1.0

    def one(self, factors: Sequence[int]) -> float:
        """The variance of y that is left, given the factors."""
        return max(self._search.unit * self._mean(self.contributions(factors, 1).rows, self.outer), 0.0)

    def plus_each(self, base: Sequence[int], candidates: Sequence[int]) -> Floats:
        """What is left given ``base`` plus each candidate."""
        found = self._search.ask_elsewhere(fit_each, base, candidates)
        return self._each([(*base, i) for i in candidates]) if found is None else found

    def minus_each(self, base: Sequence[int], members: Sequence[int | None]) -> Floats:
        """What is left given ``base`` minus each of the members given; None leaves nothing out."""
        return self._each([tuple(i for i in base if i != member) for member in members])

    def _each(self, sets: list[tuple[int, ...]]) -> Floats:
        return np.array(self._search.workers.map(self.one, sets))

    def every_subset(self, factors: Sequence[int], step: int | None) -> dict[tuple[int, ...], float]:  # noqa: ARG002
        """Nothing: fits have nothing in common."""
        return {}

    def contributions(self, factors: Sequence[int], step: int) -> Contributions:
        """What every ``step``-th outer row contributes to the variance that is left.

        It is compared with the variance of y among the same rows: where the outer rows are not all rows, what these
        vary more or less than all rows cancels.

        Rows share neighbours and are neighbours of each other: that adds about 2 σ⁴ Σw² to the variance of a
        contribution, w being the weights of both fits together and σ⁴ a third of the mean fourth power of an error. The
        weights of the wider fit are a part of those of the narrower one, on the same rows and more. Of several
        outputs, σ⁴ is the trace of the square of their covariance.

        What the function bends makes the wider fit the worse one: only then the difference is allowed for as bias.
        """
        if not factors:
            total = self._search.squared_deviations(self.outer[::step])
            return total._replace(rows=total.rows / self._outer_unit)
        is_small = self.outer.size <= CACHED_ROWS
        outer = self.outer if is_small else self.outer[::step]
        errors = self._errors(factors, outer, is_small)
        near, far, doubt = _extrapolate(errors.reach.mean(axis=1))
        squares, alike = errors.squares / (self._search.unit * self._outer_unit), self._search.likeness
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
            # Rows of a group may share their neighbours: then what these have in common is in the contributions.
            in_groups=max(float(own), LEAST_OWN) ** -0.5,
            bias=doubt * max(self._mean(squares[1] - squares[0], outer), 0.0),
        )

    def _errors(self, factors: Sequence[int], rows: Positions, remember: bool) -> Errors:
        """The errors of a narrower and of a wider fit at some rows.

        Factors are sorted: in another order sums could differ in the last bit, cached or not.
        """
        factors = sorted(factors)

        def fit() -> Errors:
            search, trend = self._search, self._trends.fit(factors)  # which takes more memory than it leaves
            local = LocalLinear(search, factors, numbers_of_neighbors(len(search.design.numeric_columns(factors))))
            return local.errors(search.y, rows, trend)

        return self._recent.find(factors, fit) if remember else fit()

    def _mean(self, values: Floats, rows: Positions) -> float:
        """The weighted mean of a value for each of some rows."""
        return float(np.average(values, weights=None if self._search.weights is None else self._search.weights[rows]))


def fit_each(search: Search, base: Sequence[int], candidates: Sequence[int]) -> Floats:
    """What is left given a base plus each candidate."""
    return ExtrapolatedSearch(search).plus_each(base, candidates)


def numbers_of_neighbors(n_slopes: int) -> tuple[int, int]:
    """Of the narrower and of the wider fit: enough to tell the slopes."""
    narrow = min(max(NEIGHBORS_PER_SLOPE * (n_slopes + 1), LEAST_NEIGHBORS), MOST_NEIGHBORS)
    return narrow, WIDER * narrow


def _extrapolate(reach: Floats) -> Extrapolation:
    """What both fits count, from the mean squared distances of their last neighbours."""
    near, far = reach.tolist()
    if far <= near:  # the same neighbours, all at the same place
        return Extrapolation(1.0, 0.0, 0.0)
    ratio = far / max(near, SMALLEST_REACH * far)
    steady = max(ratio, LEAST_RATIO)
    return Extrapolation(steady / (steady - 1), -1 / (steady - 1), 1 / (max(ratio, LEAST_RATIO_OF_BIAS) - 1))
