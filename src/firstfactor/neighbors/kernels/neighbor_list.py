"""What all searches share: sorted lists of the nearest points, and the variance of y in a ball.

All distances are squared. Variances are in units of y².
"""

from typing import Any

from .compiling import ONE, inlined

# The distance of a neighbour that is yet to be found: larger than any distance between points, and smaller than
# infinity, which is the distance of padding. So padding never wins, not even against an empty entry.
UNREACHED = 1e300

# Distances whose ratio is within this factor (it is squared, as they are) differ by rounding only: they are ties.
TIES = (1 + 1e-9) ** 2


@inlined
def insert_distance(distances: Any, start: int, stride: int, rank: int, distance: float) -> Any:
    """Insert a distance into a sorted list, whose entry ``rank`` is free or dropped; the rank that it gets.

    Lists are parts of one flat array: entry r is at ``start + r * stride``. Equal distances stay in the order in which
    they came. Lists have as many entries as there are neighbours, often two: a heap would be slower.
    """
    while rank > 0 and distances[start + (rank - 1) * stride] > distance:
        distances[start + rank * stride] = distances[start + (rank - 1) * stride]
        rank -= 1
    distances[start + rank * stride] = distance
    return rank


@inlined
def insert_neighbor(distances: Any, labels: Any, start: int, rank: int, distance: float, label: Any) -> None:
    """The same for entries side by side, each with a label: which point it is, or how many rows it stands for."""
    free = rank
    rank = insert_distance(distances, start, ONE, rank, distance)
    while free > rank:
        labels[start + free] = labels[start + free - 1]
        free -= 1
    labels[start + rank] = label


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
