"""Are there enough rows for so many factors? How far the nearest neighbours are tells.

With every factor rows move apart. A function that is linear changes between neighbours as much, on average, as their
squared distance is a share of that of any two rows: that share of what the factors explain is counted as noise.
"""

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .neighbors import Search
from .variance import Variances

# Neighbours at more than this share of the squared distance of any two rows are no neighbours.
FAR = 0.1

# Rows that are looked at: to say how far neighbours are, and to count the factors for which they are near enough.
ROWS, FEW_ROWS = 500, 100


class TooFewRowsWarning(UserWarning):
    """The factors are too many for the rows: what is found is mostly how far apart the rows are."""


@dataclass(frozen=True)
class Crowding:
    """How near the rows of a table are in the space of some factors."""

    distance_share: float
    """Mean squared distance of the nearest neighbour, as a share of that of any two rows."""
    distance_bias: float
    """Share of Var(Y) that seems to be noise because of it: right for linear functions, too small for others."""
    supported: int | None
    """How many of the factors, the first ones, the rows are enough for; None if for all."""


NO_CROWD = Crowding(0.0, 0.0, None)


def look_around(variances: Variances, factors: Sequence[int], left: float) -> Crowding:
    """Return how near rows are in ``factors``, the most important first, which leave so much of Var(Y)."""
    factors = [i for i in factors if not variances.design.constant[i]]  # constant here: selected on other rows
    if not factors:
        return NO_CROWD
    share, variance = distance_share(variances.search, factors), variances.response.variance
    bias = max(1 - left / variance, 0.0) * share / max(1 - share, share) if variances.estimator == "nearest" else 0.0
    return Crowding(share, bias, None if share <= FAR else _supported(variances.search, factors))


def warn_if_crowded(crowding: Crowding, n_factors: int, n_rows: int) -> None:
    """Warn that there are too few rows, if so."""
    if crowding.supported is not None:
        warnings.warn(
            f"{n_rows} rows are too few for {n_factors} factors at a time: the nearest neighbour of a row is "
            f"{crowding.distance_share:.0%} as far away (squared) as any row, so that much of what seems to be noise "
            f"is distance. They are enough for about {crowding.supported}. Use FIRST, fewer factors or more rows.",
            TooFewRowsWarning,
            stacklevel=outside(),
        )


def outside() -> int:
    """How many calls up the caller of the package is."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(__package__):
        frame, level = frame.f_back, level + 1
    return level


def distance_share(search: Search, factors: Sequence[int], n_rows: int = ROWS) -> float:
    """Return the mean squared distance of the nearest neighbours as a share, at most 1, of that of any two rows."""
    reach = float(search.balls(factors, -(-search.outer.size // n_rows)).reach.mean())
    return min(reach / sum(_between_any_two(search, i) for i in factors), 1.0)


def _between_any_two(search: Search, factor: int) -> float:
    """Mean squared distance of two different rows in one factor."""
    column, n = search.design.values[:, factor], search.design.n_rows
    if not search.design.categorical[factor]:
        return 2 * float(column.var(ddof=1))
    codes = search.columns.codes.get(factor)
    counts = np.unique(column, return_counts=True)[1] if codes is None else np.bincount(codes)
    same = float(np.sum(counts.astype(float) ** 2)) - n
    return float(search.design.caps[factor]) * (1 - same / (n * (n - 1)))


def _supported(search: Search, factors: Sequence[int]) -> int:
    """Return how many factors, the first ones, have near neighbours: doubled while they do, then found by halving.

    Sets that are too large are not looked at if they can be avoided: they take longest.
    """
    enough, too_many = 1, 2
    while too_many < len(factors) and distance_share(search, factors[:too_many], FEW_ROWS) <= FAR:
        enough, too_many = too_many, 2 * too_many
    too_many = min(too_many, len(factors))
    while too_many - enough > 1:
        middle = (enough + too_many) // 2
        if distance_share(search, factors[:middle], FEW_ROWS) <= FAR:
            enough = middle
        else:
            too_many = middle
    return enough
