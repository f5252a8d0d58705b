"""Check of the sample size by the distance of nearest neighbours.

With every factor, rows move further apart. Let d be the mean squared distance of neighbours as a share of that of any
two rows. A linear function changes between neighbours, on average, by the share d of its variance; this share of the
explained variance is counted as noise.
"""

from collections.abc import Sequence

import numpy as np

from .._utils.checks import warn_user
from ..data.design import Design
from ..data.encoding import is_missing
from ..neighbors.search import Search
from ..results.uncertainty import SAMPLE_SIZE_OK, SampleSize
from ..variance.conditional import Variances
from ..variance.local_linear import LocalLinear
from .constants import COUNTING_ROWS, DIAGNOSIS_ROWS, MAX_DISTANCE_SHARE, UNSEEN


class TooFewRowsWarning(UserWarning):
    """Warning that the rows are too few for the factors: results mostly reflect the distance between rows.

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
    """Measure how close rows are in ``factors``, most important first, which leave the variance ``left``."""
    factors = [i for i in factors if not variances.design.constant[i]]  # constant on these rows
    if not factors:
        return SAMPLE_SIZE_OK
    share, variance = distance_share(variances, factors), variances.response.variance
    bias = max(1 - left / variance, 0.0) * share / max(1 - share, share) if variances.estimator == "nearest" else 0.0
    is_near = share <= MAX_DISTANCE_SHARE or variances.estimator == "adaptive"  # its fits use all rows
    supported = None if is_near else _supported(variances, factors)
    return SampleSize(share, bias, supported, len(factors), variances.design.n_rows)


def allow_for_distance(variances: Variances, size: SampleSize, left: float) -> float:
    """Return the allowance for bias in the unexplained share of Var(Y) when the nearest rows are far away.

    Fits to several neighbours report a bias of their own. Where even the nearest rows are far away, they miss part of
    it: as a share of the variance they leave, `UNSEEN` times the distance share beyond the limit.
    """
    if variances.estimator == "adaptive":
        return 0.0
    if variances.estimator == "nearest":
        return size.distance_bias
    return left / variances.response.variance * min(UNSEEN * max(size.distance_share - MAX_DISTANCE_SHARE, 0.0), 1.0)


def warn_if_too_few_rows(size: SampleSize) -> None:
    """Warn if there are too few rows."""
    if size.sentence:
        advice = "Use more rows, or fewer factors: max_factors= limits how many FIRST selects."
        warn_user(f"{size.sentence} {advice}", TooFewRowsWarning)


def distance_share(variances: Variances, factors: Sequence[int], n_rows: int = DIAGNOSIS_ROWS) -> float:
    """Return the mean squared distance of nearest neighbours as a share, at most 1, of that of any two rows."""
    search = variances.search
    step = -(-search.outer.size // n_rows)
    if variances.estimator == "nearest":
        reach = float(search.balls(factors, step).reach.mean())
    else:  # with the kernels of the estimator: others would be compiled for this alone
        reach = float(LocalLinear(search, factors, [search.n_neighbors - 1]).reach(search.outer[::step]).mean())
    return min(reach / sum(_between_any_two(search, i) for i in factors), 1.0)


def _between_any_two(search: Search, factor: int) -> float:
    """Return the mean squared distance of two different rows in one factor."""
    return sum(_between_in_column(search.design, j) for j in search.design.columns[factor])


def _between_in_column(design: Design, j: int) -> float:
    """Return the same for one column, where two rows either have comparable values or are at the capped distance."""
    column, n = design.column(j), design.n_rows
    if np.isinf(design.caps[j]):
        return 2 * float(column.var(ddof=1))
    if design.categorical[j]:
        counts = np.unique(column, return_counts=True)[1].astype(float)
        comparable, within = float(np.sum(counts**2)) - n, 0.0
    else:
        known = column[~is_missing(column)]
        pairs = known.size * (known.size - 1.0)
        within = 2 * float(known.var(ddof=1)) * pairs if known.size > 1 else 0.0
        comparable = pairs + (n - known.size) * (n - known.size - 1.0)
    return (within + float(design.caps[j]) * (n * (n - 1.0) - comparable)) / (n * (n - 1.0))


def _supported(variances: Variances, factors: Sequence[int]) -> int:
    """Return the number of leading factors with near neighbours, by doubling and then bisection.

    Sets that are too large are avoided as far as possible: they take longest.
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
