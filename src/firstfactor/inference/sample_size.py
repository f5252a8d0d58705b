"""Are there enough rows for so many factors? How far the nearest neighbours are tells.

With every factor rows move apart. A function that is linear changes between neighbours as much, on average, as their
squared distance is a share of that of any two rows: that share of what the factors explain is counted as noise.
"""

from collections.abc import Sequence

import numpy as np

from .._utils.warn import warn_user
from ..data.design import Design
from ..data.scaling import FAR
from ..neighbors.search import Search
from ..results.uncertainty import SAMPLE_SIZE_OK, SampleSize
from ..variance.conditional import Variances
from ..variance.local_linear import LocalLinear

# Neighbours at more than this share of the squared distance of any two rows are too far away.
MAX_DISTANCE_SHARE = 0.1

# What distances beyond that may hide from fits to several neighbours, as a share of what they leave.
UNSEEN = 2.0

# Outer rows sampled: to measure the distance of neighbours, and to count the factors for which it is small enough.
DIAGNOSIS_ROWS, COUNTING_ROWS = 500, 100


class TooFewRowsWarning(UserWarning):
    """The factors are too many for the rows: what is found is mostly how far apart the rows are.

    See Also
    --------
    Indices : Has the figures behind it as ``sample_size``.

    Examples
    --------
    To make it an error:

    >>> import warnings
    >>> from firstfactor import TooFewRowsWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", TooFewRowsWarning)
    """


def diagnose_sample_size(variances: Variances, factors: Sequence[int], left: float) -> SampleSize:
    """How near rows are in ``factors``, the most important first, which leave so much of Var(Y)."""
    factors = [i for i in factors if not variances.design.constant[i]]  # constant here: selected on other rows
    if not factors:
        return SAMPLE_SIZE_OK
    share, variance = distance_share(variances, factors), variances.response.variance
    bias = max(1 - left / variance, 0.0) * share / max(1 - share, share) if variances.estimator == "nearest" else 0.0
    is_near = share <= MAX_DISTANCE_SHARE or variances.estimator == "adaptive"  # whose fits take in all rows
    supported = None if is_near else _supported(variances, factors)
    return SampleSize(share, bias, supported, len(factors), variances.design.n_rows)


def allow_for_distance(variances: Variances, size: SampleSize, left: float) -> float:
    """What to allow for bias in the share of Var(Y) that is left, because the nearest rows are far away.

    Fits to several neighbours have a bias of their own, which they tell. Where even the nearest rows are far away they
    do not see all of it: as a share of what they leave, that is as much as is beyond the limit, times `UNSEEN`.
    """
    if variances.estimator == "adaptive":
        return 0.0
    if variances.estimator == "nearest":
        return size.distance_bias
    return left / variances.response.variance * min(UNSEEN * max(size.distance_share - MAX_DISTANCE_SHARE, 0.0), 1.0)


def warn_if_too_few_rows(size: SampleSize) -> None:
    """Warn that there are too few rows, if so."""
    if size.sentence:
        advice = "Use more rows, or fewer factors: max_factors= limits how many FIRST selects."
        warn_user(f"{size.sentence} {advice}", TooFewRowsWarning)


def distance_share(variances: Variances, factors: Sequence[int], n_rows: int = DIAGNOSIS_ROWS) -> float:
    """The mean squared distance of the nearest neighbours as a share, at most 1, of that of any two rows."""
    search = variances.search
    step = -(-search.outer.size // n_rows)
    if variances.estimator == "nearest":
        reach = float(search.balls(factors, step).reach.mean())
    else:  # by the kernels that the estimator needs: others would be compiled for this alone
        reach = float(LocalLinear(search, factors, [search.n_neighbors - 1]).fit(search.outer[::step]).reach.mean())
    return min(reach / sum(_between_any_two(search, i) for i in factors), 1.0)


def _between_any_two(search: Search, factor: int) -> float:
    """Mean squared distance of two different rows in one factor."""
    return sum(_between_in_column(search.design, j) for j in search.design.columns[factor])


def _between_in_column(design: Design, j: int) -> float:
    """The same in one column: two rows either have comparable values or are as far as the cap."""
    column, n = design.column(j), design.n_rows
    if np.isinf(design.caps[j]):
        return 2 * float(column.var(ddof=1))
    if design.categorical[j]:
        counts = np.unique(column, return_counts=True)[1].astype(float)
        comparable, within = float(np.sum(counts**2)) - n, 0.0
    else:
        known = column[column < FAR / 2]
        pairs = known.size * (known.size - 1.0)
        within = 2 * float(known.var(ddof=1)) * pairs if known.size > 1 else 0.0
        comparable = pairs + (n - known.size) * (n - known.size - 1.0)
    return (within + float(design.caps[j]) * (n * (n - 1.0) - comparable)) / (n * (n - 1.0))


def _supported(variances: Variances, factors: Sequence[int]) -> int:
    """How many factors, the first ones, have near neighbours: doubled while they do, then found by halving.

    Sets that are too large are not looked at if they can be avoided: they take longest.
    """

    def are_near(n_factors: int) -> bool:
        return distance_share(variances, factors[:n_factors], COUNTING_ROWS) <= MAX_DISTANCE_SHARE

    enough, too_many = 1, 2
    while too_many < len(factors) and are_near(too_many):
        enough, too_many = too_many, 2 * too_many
    too_many = min(too_many, len(factors))
    while too_many - enough > 1:
        middle = (enough + too_many) // 2
        if are_near(middle):
            enough = middle
        else:
            too_many = middle
    return enough
