"""Parts of all searches: contributions of columns to distances, sorted lists of nearest points, ball variances.

All distances are squared. y has one or more columns; variances are sums over all of them, in units of y².
"""

from typing import Any

import numpy as np

from .compiling import inlined, merged
from .simd import broadcast8, broadcast16, where_less

# Distance of a neighbour not yet found: larger than any distance between points, and smaller than infinity, the
# distance of padding. Padding is thus never nearest, not even compared with an empty entry.
UNREACHED = 1e300

# Distances with a ratio within this factor (squared, as they are) differ by rounding only: they are ties.
TIES = (1 + 1e-9) ** 2

# Larger squared differences are between values that are not comparable, levels or missing values, which `data` sets far
# from all others. They count as the cap of their column.
INCOMPARABLE = 2.0**390


@inlined
def capped(square: float, cap: float) -> float:
    """Return the contribution of a column to a distance: the squared difference, or the cap if not comparable."""
    return square if square < INCOMPARABLE else cap


@inlined
def capped8(square: Any, cap: Any) -> Any:
    """Return the same for vectors of 8."""
    return where_less(square, broadcast8(INCOMPARABLE), square, cap)


@inlined
def capped16(square: Any, cap: Any) -> Any:
    """Return the same for vectors of 16."""
    return where_less(square, broadcast16(INCOMPARABLE), square, cap)


@inlined
def insert_distance(distances: Any, which: Any, rank: int, distance: float) -> None:
    """Insert a distance into a sorted list, whose entry ``rank`` is free or may be dropped.

    ``distances`` holds one list or many: entry r of a list is at index (*which, r). For a single list ``which`` is ().
    Positions in a flat array would be simpler, but numba tests every index for being negative. The compiler drops the
    test for a rank that was compared with 0, not for a sum: searches for many neighbours took 1.7 times as long. Lists
    have as many entries as there are neighbours, often two, so that insertion is faster than a heap.
    """
    while rank > 0 and distances[*which, rank - 1] > distance:
        distances[*which, rank] = distances[*which, rank - 1]
        rank -= 1
    distances[*which, rank] = distance


@merged
def insert_neighbor(
    distances: Any, labels: Any, which: Any, first: int, rank: int, distance: float, label: Any
) -> None:
    """Insert a distance with a label into entries from ``first`` on; labels are indices or counts of rows.

    Labels are shifted in the same loop: a second one, after `insert_distance`, made searches a fifth slower.
    """
    while rank > first and distances[*which, rank - 1] > distance:
        distances[*which, rank] = distances[*which, rank - 1]
        labels[*which, rank] = labels[*which, rank - 1]
        rank -= 1
    distances[*which, rank], labels[*which, rank] = distance, label


@inlined
def variance_of_rows(y: Any, rows: Any, n_rows: int, centre: int) -> float:
    """Return the variance of y (ddof = 1) in a ball of a centre and the first ``n_rows`` of the listed rows.

    y is taken relative to the centre: sums of values far from 0 would cancel. Rounding must not make it negative.
    """
    squares = 0.0
    for k in range(y.shape[1]):
        total, total_squares = 0.0, 0.0
        for i in range(n_rows):
            step = y[rows[i], k] - y[centre, k]
            total, total_squares = total + step, total_squares + step * step
        squares += total_squares - total * total / (n_rows + 1.0)
    return max(squares, 0.0) / n_rows


@merged
def variance_of_points(count: Any, mean: Any, squares: Any, points: Any, n_points: int, centre: int) -> float:
    """Return the variance of y in a ball of the first ``n_points`` listed points, each for several rows.

    ``squares`` are the sums of squared deviations of y from the ``mean`` of each point.
    """
    within, rows = 0.0, 0.0
    for i in range(n_points):
        rows += count[points[i]]
    for k in range(mean.shape[1]):
        total, total_squares = 0.0, 0.0
        for i in range(n_points):
            point = points[i]
            shift = mean[point, k] - mean[centre, k]
            total += count[point] * shift
            total_squares += (squares[point] if k == 0 else 0.0) + count[point] * shift * shift
        within += total_squares - total * total / rows
    return max(within, 0.0) / (rows - 1)


def allocate_group_sums(groups: Any, n_outputs: int) -> Any:
    """Return zeros, (groups + 1, 2 + outputs), as `variance_between_groups` requires them.

    Parameters
    ----------
    groups : intp (rows,) or None
        Group of each row, from 0.
    n_outputs : int
    """
    return np.zeros((1 if groups is None else groups.max() + 2, 2 + n_outputs))


@inlined
def variance_between_groups(y: Any, groups: Any, rows: Any, n_rows: int, centre: int, sums: Any) -> float:
    """Return half of the mean squared difference of y between rows of different groups among the first ``n_rows``.

    If each row is a group of its own, this is the sample variance. Within a group, shared effects would make it too
    small. ``sums``, (groups + 1, 2 + outputs), is all 0 before and after: count, sum of squares and sum of each output
    for each group, and for all of them in its last row. y is taken relative to the centre.
    """
    whole, n_outputs = sums.shape[0] - 1, y.shape[1]
    for i in range(n_rows):
        row = rows[i]
        group = groups[row]
        sums[group, 0] += 1.0
        sums[whole, 0] += 1.0
        for k in range(n_outputs):
            step = y[row, k] - y[centre, k]
            sums[group, 1] += step * step
            sums[whole, 1] += step * step
            sums[group, 2 + k] += step
            sums[whole, 2 + k] += step
    differences = _take_differences(sums, whole)
    pairs = 1.0 * n_rows * n_rows
    for i in range(n_rows):
        group = groups[rows[i]]
        pairs -= sums[group, 0] * sums[group, 0]  # 0 if the group was met before
        differences -= _take_differences(sums, group)
    return max(differences, 0.0) / pairs


@inlined
def _take_differences(sums: Any, group: int) -> float:
    """Return the sum of squared differences of all pairs of rows of a group, and set its entries to 0."""
    differences = sums[group, 0] * sums[group, 1]
    for k in range(2, sums.shape[1]):
        differences -= sums[group, k] * sums[group, k]
        sums[group, k] = 0.0
    sums[group, 0] = sums[group, 1] = 0.0
    return differences
