"""What all searches share: sorted lists of the nearest points, and the variance of y in a ball.

All distances are squared. Variances are in units of y².
"""

from typing import Any

from .compiling import inlined

# The distance of a neighbour that is yet to be found: larger than any distance between points, and smaller than
# infinity, which is the distance of padding. So padding never wins, not even against an empty entry.
UNREACHED = 1e300

# Distances whose ratio is within this factor (it is squared, as they are) differ by rounding only: they are ties.
TIES = (1 + 1e-9) ** 2


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
def add_rows(
    moments: tuple[float, float, float], count: float, shift: float, squares: float
) -> tuple[float, float, float]:
    """Count, sum and sum of squares of y in a ball, with some more rows.

    y is taken relative to the centre of the ball: sums of values far from 0 would cancel. The ``count`` rows have their
    mean at ``shift``, and ``squares`` is the sum of their squared deviations from it.
    """
    n, total, total_squares = moments
    return n + count, total + count * shift, total_squares + (squares + count * shift * shift)


@inlined
def sum_of_squares(moments: tuple[float, float, float]) -> float:
    """Sum of squared deviations of y from its mean in the ball; rounding must not make it negative."""
    n, total, total_squares = moments
    return max(total_squares - total * total / n, 0.0)


@inlined
def sample_variance(moments: tuple[float, float, float]) -> float:
    """Variance of y in the ball, with n − 1 in the denominator."""
    return sum_of_squares(moments) / (moments[0] - 1)
