"""What all searches share: what a column adds to a distance, sorted lists of the nearest points, variances in balls.

All distances are squared. y has one or more columns; variances are sums over all of them, in units of y².
"""

from typing import Any

from .compiling import inlined
from .simd import broadcast8, broadcast16, where_less

# The distance of a neighbour that is yet to be found: larger than any distance between points, and smaller than
# infinity, which is the distance of padding. So padding never wins, not even against an empty entry.
UNREACHED = 1e300

# Distances whose ratio is within this factor (it is squared, as they are) differ by rounding only: they are ties.
TIES = (1 + 1e-9) ** 2

# Squared differences from here on are between values that cannot be compared, levels or missing ones, which `data` puts
# far from all others. They count as much as the cap of their column.
INCOMPARABLE = 2.0**390


@inlined
def capped(square: float, cap: float) -> float:
    """What a column adds to a distance: the squared difference, or the cap of values that cannot be compared."""
    return square if square < INCOMPARABLE else cap


@inlined
def capped8(square: Any, cap: Any) -> Any:
    """The same for vectors of eight."""
    return where_less(square, broadcast8(INCOMPARABLE), square, cap)


@inlined
def capped16(square: Any, cap: Any) -> Any:
    """The same for vectors of 16."""
    return where_less(square, broadcast16(INCOMPARABLE), square, cap)


@inlined
def insert_distance(distances: Any, which: Any, rank: int, distance: float) -> None:
    """Insert a distance into a sorted list, where its entry ``rank`` is free or may be dropped.

    ``distances`` holds one list or many: entry r of a list is at index (*which, r). For a single list ``which`` is ().
    Positions in a flat array would be simpler, but numba tests every index for being negative. The compiler drops the
    test for a rank that was compared with 0, not for a sum: searches for many neighbours took 1.7 times as long. Lists
    have as many entries as there are neighbours, often two, so that insertion is faster than a heap.
    """
    while rank > 0 and distances[*which, rank - 1] > distance:
        distances[*which, rank] = distances[*which, rank - 1]
        rank -= 1
    distances[*which, rank] = distance


@inlined
def insert_neighbor(
    distances: Any, labels: Any, which: Any, first: int, rank: int, distance: float, label: Any
) -> None:
    """The same for entries from ``first`` on with labels: the numbers of points or blocks, or counts of rows.

    Labels are shifted in the same loop: a second one, after `insert_distance`, made searches a fifth slower.
    """
    while rank > first and distances[*which, rank - 1] > distance:
        distances[*which, rank] = distances[*which, rank - 1]
        labels[*which, rank] = labels[*which, rank - 1]
        rank -= 1
    distances[*which, rank], labels[*which, rank] = distance, label


@inlined
def variance_of_rows(y: Any, rows: Any, n_rows: int, centre: int) -> float:
    """Variance of y in a ball of a centre and the first ``n_rows`` of the rows listed, with n − 1 in the denominator.

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


@inlined
def variance_of_points(count: Any, mean: Any, squares: Any, points: Any, n_points: int, centre: int) -> float:
    """Variance of y in a ball of the first ``n_points`` of the points listed, each of which stands for several rows.

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
