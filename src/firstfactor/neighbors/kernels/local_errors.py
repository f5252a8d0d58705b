"""Numba kernels for the errors of local linear fits.

Points and groups are as in `local_linear`; weights are those that it makes.
"""

from typing import Any

import numpy as np

from .compiling import inlined, jit
from .local_linear import Space, Weights, is_within


@jit
def point_means(point_of: Any, count: Any, values: Any) -> Any:
    """Mean of each column at each point, float64 (points, columns).

    Parameters
    ----------
    point_of : intp (rows,)
        The point of each row.
    count : float64 (points,)
        The number of rows at each point.
    values : float64 (rows, columns)
    """
    means = np.zeros((count.size, values.shape[1]))
    for row in range(point_of.size):
        for k in range(values.shape[1]):
            means[point_of[row], k] += values[row, k]
    for point in range(count.size):
        for k in range(values.shape[1]):
            means[point, k] /= count[point]
    return means


@jit
def fitted_values(space: Space, mean: Any, weights: Weights, centre_of: Any, y: Any) -> Any:
    """The fit at each row, (bands, rows, outputs) in units of y, and the sum of its squared weights, (bands, rows).

    Parameters
    ----------
    space : Space
    mean : float64 (points, outputs)
        The mean of y at each point, over all of its rows.
    weights : Weights
    centre_of : intp (rows,)
        The number of each row's point among the centres.
    y : float64 (rows, outputs)
    """
    n_bands, outputs = weights.used.shape[1], y.shape[1]
    squared_weights = _sum_squared_weights(space, weights)
    at_centres = np.zeros((weights.used.shape[0], n_bands, outputs))
    for m in range(weights.used.shape[0]):
        for band in range(n_bands):
            _fill_fit(at_centres, space, weights, m, band, mean)
    fits, row_squared_weights = np.empty((n_bands, y.shape[0], outputs)), np.empty((n_bands, y.shape[0]))
    for row in range(y.shape[0]):
        m = centre_of[row]
        rows = space.count[weights.neighbors[m, 0]]
        for band in range(n_bands):
            row_squared_weights[band, row] = squared_weights[m, band]
            own = _weight_of_centre(space, weights, m, band) / rows
            for k in range(outputs):  # the fit of all rows of the point, without this one
                fits[band, row, k] = at_centres[m, band, k] - own * y[row, k]
    return fits, row_squared_weights


@inlined
def _fill_fit(at_centres: Any, space: Space, weights: Weights, m: int, band: int, mean: Any) -> None:
    """Fill in the fit at a centre, from all rows of its point, for each output."""
    centre = weights.neighbors[m, 0]
    own = _weight_of_centre(space, weights, m, band)
    for k in range(mean.shape[1]):
        at_centres[m, band, k] = own * mean[centre, k]
    for i in range(1, weights.used[m, band]):
        weight, point = weights.values[m, band, i], weights.neighbors[m, i]
        for k in range(mean.shape[1]):  # innermost: outputs are next to each other in memory
            at_centres[m, band, k] += weight * mean[point, k]
    if weights.tied[m, band] > 0:
        for point in range(space.count.size):
            if is_within(space, centre, point, weights.reach[m, band]):
                for k in range(mean.shape[1]):
                    at_centres[m, band, k] += space.count[point] / weights.tied[m, band] * mean[point, k]


@inlined
def _weight_of_centre(space: Space, weights: Weights, m: int, band: int) -> Any:
    """The weight of the mean of all rows at a centre, such that each row has the weight it has in the fits of others.

    So the sum over all rows of a point is made once, and each row is subtracted for its own fit.
    """
    rows = space.count[weights.neighbors[m, 0]]
    return weights.values[m, band, 0] * rows / max(rows - 1.0, 1.0)


@jit
def _sum_squared_weights(space: Space, weights: Weights) -> Any:
    """Sum of the squared weights of single rows, float64 (centres, bands).

    Parameters
    ----------
    space : Space
    weights : Weights
    """
    n, n_bands = weights.used.shape
    squared_weights = np.zeros((n, n_bands))
    for m in range(n):
        for band in range(n_bands):
            if weights.tied[m, band] > 0:
                squared_weights[m, band] = 1.0 / weights.tied[m, band]
                continue
            for k in range(weights.used[m, band]):
                rows = space.count[weights.neighbors[m, k]] - (1.0 if k == 0 else 0.0)
                squared_weights[m, band] += weights.values[m, band, k] ** 2 / max(rows, 1.0)
    return squared_weights


@jit
def sum_squared_group_weights(space: Space, weights: Weights) -> Any:
    """Sum over groups of the squared weight of all rows of a group together, float64 (centres, bands).

    Parameters
    ----------
    space : Space
        Each point is one row.
    weights : Weights
    """
    n, n_bands = weights.used.shape
    squared_weights, of_group = np.zeros((n, n_bands)), np.zeros(space.group.max() + 1)
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
    return squared_weights


@inlined
def _take_square(values: Any, i: int) -> float:
    """The square of an entry, which becomes 0."""
    value = values[i]
    values[i] = 0.0
    return value * value
