"""Leave-one-out local linear fits: how well the neighbours of a row predict it, in any set of factors.

The nearest row alone is never at the same point, so the variance found there is too large, by how much the function
changes on the way. A plane through several neighbours removes most of that bias, and comparing two numbers of
neighbours shows most of what is left.
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

# Nanoseconds, roughly, for the fits at one row.
FIT = 2e4


class Errors(NamedTuple):
    """What is left of y at each row after a fit without the row itself."""

    values: Floats
    """y minus the fit, divided by the root of 1 + Σw²: its mean square estimates the variance given the factors. It is
    (bands, rows, outputs)."""
    fits: Floats
    """(bands, rows, outputs)."""
    squared_weights: Floats
    """Σw², (bands, rows)."""
    reach: Floats
    """Squared distance of the last neighbour, (bands, rows)."""

    @property
    def squares(self) -> Floats:
        """Squared errors, summed over the outputs: (bands, rows)."""
        squares: Floats = (self.values**2).sum(axis=2)
        return squares

    def around(self, trend: Trend, y: Floats, rows: Positions) -> "Errors":
        """The same of y, from the errors of fits to what a trend leaves and to its terms."""
        errors, squared_weights = trend.leave_out(self.fits, self.squared_weights, rows)
        return Errors(errors / np.sqrt(1 + squared_weights)[:, :, None], y - errors, squared_weights, self.reach)

    def with_group_effects(self, group_weights: Floats, groups: Positions) -> "Errors":
        """The same where rows of a group have something in common that no factor explains.

        What they have in common does not cancel in a fit to several of them: of the share of the variance that it is,
        the weights of a group count together, and of the rest one by one. ``group_weights``, (bands, rows), are the
        sums of squared weights of groups.
        """
        raw = self.values * np.sqrt(1 + self.squared_weights)[:, :, None]
        alike = intraclass_correlation(raw[0], groups)
        squared_weights = self.squared_weights + alike * (group_weights - self.squared_weights)
        return Errors(raw / np.sqrt(1 + squared_weights)[:, :, None], self.fits, squared_weights, self.reach)


def intraclass_correlation(errors: Floats, groups: Positions) -> float:
    """How alike errors, (rows, outputs), of two rows of one group are, from 0 to 1: their mean product as a share."""
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
        points = search.unique_points(factors, every=True)  # a fit takes all of several equal rows, or none
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
        self.space = kernels.Space(coordinates, caps, n_slopes, points.count[order], group)
        """The unique points, with the number of rows at each."""

    def errors(self, y: Floats, rows: Positions, trend: Trend | None = None) -> Errors:
        """The errors of some rows, computed block by block to save memory.

        With a trend of y in the same factors, local fits are made to what it leaves, and added to it.
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
        """The fits at some rows."""
        centres, centre_of = np.unique(self.point_of[rows], return_inverse=True)
        if self.space.count.size == 1:  # nothing to search
            neighbors, distances, length = np.zeros((1, 1), np.int32), np.zeros((1, 1)), np.ones(1, np.intp)
        else:
            neighbors, distances, length = kernels.nearest_points(
                self._permuted.tree,
                self.space.caps,
                self.space.count,
                self.space.group,
                centres,
                int(self._bands.max()),
            )
        weights = kernels.local_weights(self.space, neighbors, distances, length, self._bands)
        return Fits(self, centre_of, kernels.Weights(neighbors, *weights))

    def point_means(self, values: Any) -> Any:
        """Means of ``values``, (rows, columns), at each unique point: (points, columns)."""
        return local_errors.point_means(self.point_of, self.space.count, values)


@dataclass(frozen=True)
class Fits:
    """Fits at some rows, as the weights of the points near them, for each band. They serve any response."""

    local: LocalLinear
    centre_of: Positions
    """The centre of each row, (rows,): the number of its point among those that were fitted."""
    weights: kernels.Weights
    """The weights of the points near each centre."""

    def errors(self, y: Floats, means: Floats) -> Errors:
        """The errors of the rows, from their values and the means of all rows at each point: (…, outputs) both."""
        fits, squared_weights = local_errors.fitted_values(self.local.space, means, self.weights, self.centre_of, y)
        values = (y - fits) / np.sqrt(1 + squared_weights)[:, :, None]
        return Errors(values, fits, squared_weights, self.reach.T)

    @property
    def reach(self) -> Floats:
        """Squared distance of the last neighbour, (rows, bands)."""
        reach: Floats = self.weights.reach[self.centre_of]
        return reach

    def group_weights(self) -> Floats:
        """Sums of the squared weights of groups, (bands, rows)."""
        sums: Floats = local_errors.sum_squared_group_weights(self.local.space, self.weights)
        return sums[self.centre_of].T
