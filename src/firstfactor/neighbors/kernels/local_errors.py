"""Numba kernels for the errors of local linear fits.

Points, groups and weights are those of `local_linear`.
"""

from typing import Any

import numpy as np

from .compiling import inlined, jit
from .local_linear import LocalSpace, Weights, is_within
from .simd import larger


def point_means(point_of: Any, count: Any, values: Any) -> Any:
    """Return the mean of each column at each point, float64 (points, columns).

    Parameters
    ----------
    point_of : intp (rows,)
        Point of each row.
    count : float64 (points,)
        Number of rows at each point.
    values : float64 (rows, columns)
    """
    if count.size == point_of.size:  # no rows are equal
        means = np.empty(values.shape)
        means[point_of] = values
        return means
    sums = [np.bincount(point_of, column, count.size) for column in values.T]
    return np.column_stack(sums) / count[:, None]


def fitted_values(space: LocalSpace, mean: Any, weights: Weights, centre_of: Any, y: Any) -> Any:
    """Return the fit at each row, (bands, rows, outputs) in units of y, and its squared weights, (bands, rows).

    Parameters
    ----------
    space : LocalSpace
    mean : float64 (points, outputs)
        Mean of y at each point, over all of its rows.
    weights : Weights
    centre_of : intp (rows,)
        Index of each row's point among the centres.
    y : float64 (rows, outputs)
    """
    n_centres, n_bands = weights.used.shape
    at_centres, squared_weights = np.zeros((n_centres, n_bands, y.shape[1])), np.zeros((n_centres, n_bands))
    fits = np.empty((n_bands, *y.shape))
    _fill_fits(space, mean, weights, centre_of, y, at_centres, squared_weights, fits)
    return fits, np.ascontiguousarray(squared_weights[centre_of].T)


@jit
def _fill_fits(
    space: LocalSpace,
    mean: Any,
    weights: Weights,
    centre_of: Any,
    y: Any,
    at_centres: Any,
    squared_weights: Any,
    fits: Any,
) -> None:
    """Fill in the fits and the sums of squared weights at all centres, and the fits at all rows."""
    n_centres, n_bands = weights.used.shape
    for m in range(n_centres):
        for band in range(n_bands):
            _add_fit(at_centres, space, weights, m, band, mean)
            squared_weights[m, band] = _sum_squared_weights(space, weights, m, band)
    for row in range(y.shape[0]):
        m = centre_of[row]
        rows = space.count[weights.neighbors[m, 0]]
        for band in range(n_bands):
            own = _weight_of_centre(space, weights, m, band) / rows
            for k in range(y.shape[1]):  # the fit of all rows of the point, without this one
                fits[band, row, k] = at_centres[m, band, k] - own * y[row, k]


@inlined
def _add_fit(at_centres: Any, space: LocalSpace, weights: Weights, m: int, band: int, mean: Any) -> None:
    """Add up the fit at a centre, from all rows of its point, for each output."""
    centre = weights.neighbors[m, 0]
    for i in range(weights.used[m, band]):
        weight, point = weights.values[m, band, i], weights.neighbors[m, i]
        if i == 0:
            weight = _weight_of_centre(space, weights, m, band)
        for k in range(mean.shape[1]):  # innermost: outputs are next to each other in memory
            at_centres[m, band, k] += weight * mean[point, k]
    if weights.tied[m, band] > 0:
        for point in range(space.count.size):
            if is_within(space, centre, point, weights.reach[m, band]):
                for k in range(mean.shape[1]):
                    at_centres[m, band, k] += space.count[point] / weights.tied[m, band] * mean[point, k]


@inlined
def _weight_of_centre(space: LocalSpace, weights: Weights, m: int, band: int) -> Any:
    """Return the weight of the mean of all rows at a centre that gives each row its weight in the fits of others.

    The sum over all rows of a point is thus computed once, and each row is subtracted for its own fit.
    """
    rows = space.count[weights.neighbors[m, 0]]
    return weights.values[m, band, 0] * rows / larger(rows - 1.0, 1.0)


@inlined
def _sum_squared_weights(space: LocalSpace, weights: Weights, m: int, band: int) -> float:
    """Return the sum of the squared weights of single rows in the fit at a centre."""
    if weights.tied[m, band] > 0:
        return 1.0 / weights.tied[m, band]
    squared_weights = 0.0
    for k in range(weights.used[m, band]):
        rows = space.count[weights.neighbors[m, k]] - (1.0 if k == 0 else 0.0)
        squared_weights += weights.values[m, band, k] ** 2 / larger(rows, 1.0)
    return squared_weights


def sum_squared_group_weights(space: LocalSpace, weights: Weights) -> Any:
    """Return the sum over groups of the squared total weight of each group, float64 (centres, bands).

    Parameters
    ----------
    space : LocalSpace
        Each point is one row.
    weights : Weights
    """
    squared_weights = np.zeros(weights.used.shape)
    _add_squared_group_weights(space, weights, np.zeros(space.group.max() + 1), squared_weights)
    return squared_weights


@jit
def _add_squared_group_weights(space: LocalSpace, weights: Weights, of_group: Any, squared_weights: Any) -> None:
    """Add the squared weights of groups; ``of_group``, (groups,), is all 0 before and after."""
    n, n_bands = weights.used.shape
    for m in range(n):
        for band in range(n_bands):
            for k in range(weights.used[m, band]):
                of_group[space.group[weights.neighbors[m, k]]] += weights.values[m, band, k]
            for k in range(weights.used[m, band]):
                squared_weights[m, band] += _take_square(of_group, space.group[weights.neighbors[m, k]])
            if weights.tied[m, band] > 0:
                centre, reach = weights.neighbors[m, 0], weights.reach[m, band]
                for point in range(space.count.size):
                    if is_within(space, centre, point, reach):
                        of_group[space.group[point]] += 1.0 / weights.tied[m, band]
                for point in range(space.count.size):
                    squared_weights[m, band] += _take_square(of_group, space.group[point])


@inlined
def _take_square(values: Any, i: int) -> float:
    """Return the square of an entry, and set the entry to 0."""
    value = values[i]
    values[i] = 0.0
    return value * value
