"""Leave-one-out local linear fits: how well a row is foretold by its neighbours, in any set of factors.

The nearest row alone is never at the same place, so that the variance found there is too large: by what the function
changes on the way. A straight line through several neighbours takes most of that away, and a comparison of two numbers
of neighbours tells most of what is left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..neighbors.kernels import local_linear as kernels
from ..neighbors.search import Search
from ..neighbors.strategy import Floats, Positions, blocks

# Numbers of neighbours. The smallest follows what changes quickly, the largest sees the faintest.
BANDS = (12, 30, 72)

BootstrapResponses = NDArray[np.float32]

# Nanoseconds, roughly, for the fits at one row.
FIT = 2e4


class Errors(NamedTuple):
    """What is left of y at each row after a fit without the row itself; all (bands, rows)."""

    values: Floats
    """y minus the fit, divided by the root of 1 + Σw²: its mean square estimates the variance given the factors."""
    fits: Floats
    squared_weights: Floats
    """Σw²."""
    reach: Floats
    """Squared distance of the last neighbour."""


class LocalLinear:
    """Where fits are made: the places of a table in the space of some factors."""

    def __init__(self, search: Search, factors: Sequence[int], bands: Sequence[int] = BANDS) -> None:
        points = search.unique_points(factors, every=True)  # a fit takes all of several equal rows, or none
        order, self.point_of = np.zeros(1, np.intp), points.of_row
        if factors:
            self._permuted = search.kd_tree(factors, points.rows)
            order, self.point_of = self._permuted.tree.order, self._permuted.position[points.of_row]
        self._search = search
        self._bands = np.array(bands)
        n_slopes = int(np.isinf(search.design.caps[list(factors)]).sum())
        coordinates, caps = np.zeros((1, 0)), np.zeros(0)
        if factors:
            coordinates, caps = self._permuted.tree.points, self._permuted.caps
        self.space = kernels.Space(coordinates, caps, n_slopes, points.count[order])
        """The places, with how many rows are at each."""

    def errors(self, y: Floats, rows: Positions) -> Errors:
        """Return the errors of some rows, made block by block to save memory."""
        means = self.place_means(y[:, None])
        parts = self._search.workers.map(lambda some: self.fit(some).errors(y[some], means), blocks(rows, FIT))
        return Errors(*(np.concatenate(pieces, axis=1) for pieces in zip(*parts, strict=True)))

    def fit(self, rows: Positions) -> "Fits":
        """Make the fits at some rows."""
        centres, centre_of = np.unique(self.point_of[rows], return_inverse=True)
        if self.space.count.size == 1:  # nothing to search
            neighbors, distances, length = np.zeros((1, 1), np.int32), np.zeros((1, 1)), np.ones(1, np.intp)
        else:
            neighbors, distances, length = kernels.nearest_points(
                self._permuted.tree, self.space.caps, self.space.count, centres, int(self._bands.max())
            )
        weights = kernels.local_weights(self.space, neighbors, distances, length, self._bands)
        return Fits(self, centre_of, weights)

    def place_means(self, values: Any) -> Any:
        """Return the mean at each place of values given for each row, (rows, columns)."""
        return kernels.point_means(self.point_of, self.space.count, values)


@dataclass(frozen=True)
class Fits:
    """Fits at some rows: what each place near them weighs, for each band. They serve any response."""

    local: LocalLinear
    centre_of: Positions
    """The number of the place that each row is at, among those that were fitted: the centres."""
    weights: kernels.Weights
    """What the places near each of them weigh."""

    def errors(self, y: Floats, means: Floats) -> Errors:
        """Return the errors of the rows, given their values and the means of all rows at each place."""
        fits, squared_weights = kernels.fitted_values(self.local.space, means, self.weights, self.centre_of, y)
        return Errors(
            (y - fits) / np.sqrt(1 + squared_weights), fits, squared_weights, self.weights.reach[self.centre_of].T
        )

    def mean_squares(self, draws: BootstrapResponses) -> Floats:
        """Return the mean squared error of each column of ``draws``, (rows, draws), in place of y: (bands, draws).

        The fits must be those at all rows of the table.
        """
        means = self.local.place_means(draws)
        sums: Floats = kernels.sum_errors(self.local.space, means, draws, self.weights, self.centre_of)
        return sums / len(draws)
