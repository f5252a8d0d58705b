"""Leave-one-out local linear fits, which predict a row from its neighbours in any set of factors.

The nearest row is never at exactly the same point, so the variance found from it alone is biased upwards by the change
of the function over that distance. A plane through several neighbours removes most of this bias, and comparing two
numbers of neighbours shows most of the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..neighbors.kernels import local_errors
from ..neighbors.kernels import local_linear as kernels
from ..neighbors.search import Search
from ..neighbors.strategy import Floats, Positions, blocks
from .trend import Trend

# Approximate time in nanoseconds for the fits at one row.
FIT = 2e3


class Errors(NamedTuple):
    """Errors of leave-one-out fits at each row."""

    values: Floats
    """y minus the fit, divided by √(1 + Σw²): (bands, rows, outputs). Its mean square estimates the variance given the
    factors."""
    fits: Floats
    """Fitted values, (bands, rows, outputs)."""
    squared_weights: Floats
    """Sum of squared weights Σw² of each fit, (bands, rows)."""
    reach: Floats
    """Squared distance of the last neighbour, (bands, rows)."""

    @property
    def squares(self) -> Floats:
        """Squared errors, summed over the outputs: (bands, rows)."""
        squares: Floats = (self.values**2).sum(axis=2)
        return squares

    def around(self, trend: Trend, y: Floats, rows: Positions) -> "Errors":
        """Return the errors of y, from those of fits to the residuals of a trend and to its terms."""
        errors, squared_weights = trend.leave_out(self.fits, self.squared_weights, rows)
        return Errors(errors / np.sqrt(1 + squared_weights)[:, :, None], y - errors, squared_weights, self.reach)

    def with_group_effects(self, group_weights: Floats, groups: Positions) -> "Errors":
        """Return the errors corrected for effects that rows of a group share and no factor explains.

        A shared effect does not cancel in a fit to several rows of one group. For its share of the variance, the
        weights of a group are summed before they are squared; for the rest, they are squared one by one.
        ``group_weights``, (bands, rows), are sums over groups of squared summed weights.
        """
        raw = self.values * np.sqrt(1 + self.squared_weights)[:, :, None]
        alike = intraclass_correlation(raw[0], groups)
        squared_weights = self.squared_weights + alike * (group_weights - self.squared_weights)
        return Errors(raw / np.sqrt(1 + squared_weights)[:, :, None], self.fits, squared_weights, self.reach)


def intraclass_correlation(errors: Floats, groups: Positions) -> float:
    """Return the intraclass correlation of errors, (rows, outputs), within groups, from 0 to 1."""
    sizes = np.bincount(groups)
    pairs = float(np.sum(sizes * (sizes - 1.0)))
    square = float((errors**2).sum())
    if pairs == 0 or square == 0:
        return 0.0
    products = sum(float((np.bincount(groups, column) ** 2).sum()) for column in errors.T) - square
    return float(np.clip(products / pairs / (square / len(errors)), 0.0, 1.0))


class LocalLinear:
    """Leave-one-out local linear fits in the space of some factors."""

    def __init__(self, search: Search, factors: Sequence[int], bands: Sequence[int]) -> None:
        points = search.unique_points(factors, every=True)  # of several equal rows a fit uses all or none
        order, self.point_of = np.zeros(1, np.intp), points.of_row
        group = np.arange(points.count.size)
        if factors:
            self._permuted = search.kd_tree(factors, points.rows)
            order, self.point_of = self._permuted.tree.order, self._permuted.position[points.of_row]
            group = group if search.groups is None else search.groups[order]
        self._search = search
        self._bands = np.array(bands)
        n_slopes = len(search.design.numeric_columns(factors))
        coordinates, caps = np.zeros((1, 0)), np.zeros(0)
        if factors:
            coordinates, caps = self._permuted.tree.points, self._permuted.caps
        self.space = kernels.LocalSpace(coordinates, caps, n_slopes, points.count[order], group)
        """Unique points, with the number of rows at each."""

    def errors(self, y: Floats, rows: Positions, trend: Trend | None = None) -> Errors:
        """Return the errors at some rows, computed in blocks to save memory.

        Given a trend of y in the same factors, local fits are made to its residuals and added to it.
        """
        values = y if trend is None else trend.columns
        means = self.point_means(values)

        def fit_at(some: Positions) -> tuple[Errors, Floats]:
            fits = self.fit(some)
            errors = fits.errors(values[some], means)
            if trend is not None:
                errors = errors.around(trend, y[some], some)
            return errors, fits.group_weights() if self._search.groups is not None else np.empty(0)

        parts, group_weights = zip(*self._search.workers.map(fit_at, blocks(rows, FIT)), strict=True)
        errors = Errors(*(np.concatenate(pieces, axis=1) for pieces in zip(*parts, strict=True)))
        if self._search.groups is None:
            return errors
        return errors.with_group_effects(np.concatenate(group_weights, axis=1), self._search.groups[rows])

    def fit(self, rows: Positions) -> "Fits":
        """Return the fits at some rows."""
        centre_of, neighbors, distances, length = self._nearest_points(rows)
        weights = kernels.local_weights(self.space, neighbors, distances, length, self._bands)
        return Fits(self, centre_of, kernels.Weights(neighbors, *weights))

    def reach(self, rows: Positions) -> Floats:
        """Return what `Fits.reach` is, without the fits: (rows, bands)."""
        centre_of, neighbors, distances, length = self._nearest_points(rows)
        listed = np.arange(neighbors.shape[1]) < length[:, None]
        counts = np.where(listed, self.space.count[np.where(listed, neighbors, 0)], 0.0)
        missing = np.cumsum(counts, axis=1)[:, :, None] - 1 < self._bands
        last = np.minimum(missing.sum(axis=1), length[:, None] - 1)
        reach: Floats = np.take_along_axis(distances, last, axis=1)[centre_of]
        return reach

    def _nearest_points(self, rows: Positions) -> tuple[Positions, Positions, Floats, Positions]:
        """Return the centre of each row, and the points near each centre, their distances and their number."""
        centres, centre_of = np.unique(self.point_of[rows], return_inverse=True)
        if self.space.count.size == 1:  # nothing to search
            return centre_of, np.zeros((1, 1), np.int32), np.zeros((1, 1)), np.ones(1, np.intp)
        return centre_of, *kernels.nearest_points(
            self._permuted.tree,
            self.space.caps,
            self.space.count,
            self.space.group,
            centres,
            int(self._bands.max()),
        )

    def point_means(self, values: Any) -> Any:
        """Return the means of ``values``, (rows, columns), at each unique point: (points, columns)."""
        return local_errors.point_means(self.point_of, self.space.count, values)


@dataclass(frozen=True)
class Fits:
    """Fits at some rows, as weights of the points near them for each band; they apply to any response."""

    local: LocalLinear
    centre_of: Positions
    """Centre of each row, (rows,): the index of its point among the fitted points."""
    weights: kernels.Weights
    """Weights of the points near each centre."""

    def errors(self, y: Floats, means: Floats) -> Errors:
        """Return the errors of the rows, from their values and the means at each point: both (…, outputs)."""
        fits, squared_weights = local_errors.fitted_values(self.local.space, means, self.weights, self.centre_of, y)
        values = (y - fits) / np.sqrt(1 + squared_weights)[:, :, None]
        return Errors(values, fits, squared_weights, self.reach.T)

    @property
    def reach(self) -> Floats:
        """Squared distance of the last neighbour, (rows, bands)."""
        reach: Floats = self.weights.reach[self.centre_of]
        return reach

    def group_weights(self) -> Floats:
        """Return the sums over groups of squared summed weights, (bands, rows)."""
        sums: Floats = local_errors.sum_squared_group_weights(self.local.space, self.weights)
        return sums[self.centre_of].T
