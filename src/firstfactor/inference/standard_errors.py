"""Standard errors of estimates, from the contributions of rows or from subsamples.

Rows are never drawn with replacement: copies of a row are neighbours at distance 0 and would seem to predict the
response without noise, which is why the bootstrap fails for nearest neighbours (Abadie and Imbens 2008).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..neighbors.search import Contributions
from ..neighbors.strategy import Floats, Positions
from ..results.constants import MAX_STANDARD_ERROR
from ..results.estimates import normal_cdf
from ..results.uncertainty import SampleSize, Uncertainty
from ..variance.conditional import ROUNDING, Variances
from ..variance.sampling import deal_groups
from .constants import COMMON, COMMON_AT_LEAST, MAX_ERROR_ROWS, SUBSAMPLE_SHARE, SUBSAMPLES
from .sample_size import allow_for_distance
from .targets import FactorSet, Target


@dataclass(frozen=True)
class Linear:
    """Linear part of an estimate: a mean over outer rows plus a multiple of Var(Y)."""

    rows: Floats
    """Contribution of each outer row to the conditional variances, (rows,)."""
    group_rows: Floats
    """Contributions with the amplification of group effects through shared neighbours, (rows,)."""
    overlap: float
    """Addition to the variance of a contribution because rows are neighbours of each other."""
    times_total: float = 0.0
    """Coefficient of Var(Y), which is estimated from all rows of the table and not only from the outer rows."""


class Average:
    """Mean over all outer rows of an estimate, of which every ``step``-th row is given."""

    def __init__(self, variances: Variances, step: int) -> None:
        search, rows = variances.search, variances.outer[::step]
        self._n_rows = variances.outer.size
        self._share = variances.total_share
        self._total = variances.contributions((), step).rows
        weights = None if search.weights is None else search.weights[rows]
        if weights is not None and weights.sum() == 0:  # none of these rows has any weight
            self._total, weights = self._total[:0], None
        self._weights = None if weights is None else weights / weights.mean()
        self._groups = None if search.groups is None else search.groups[rows]

    def error(self, linear: Linear) -> float:
        """Return the standard error of an estimate.

        The mean of n outer rows and that of all N rows have n in common: with f = n/N, the variance of the mean of a
        plus b times that of t is (Var(a + bft) + f(1 − f) b² Var(t))/n.
        """
        if self._total.size < 2:
            return np.nan
        times = linear.times_total * self._share
        variance = self._variance(linear.rows + times * self._total)
        if self._groups is not None:
            variance = self._variance_in_groups(linear, times)
        if self._share < 1 and linear.times_total:
            variance += (1 - self._share) / self._share * times**2 * self._variance(self._total, self._groups)
        squared_weights = 1.0 if self._weights is None else float(np.mean(self._weights**2))
        return float(np.sqrt(max(variance + linear.overlap * squared_weights, 0.0) / self._n_rows))

    def _variance(self, rows: Floats, groups: Positions | None = None) -> float:
        """Return the variance of a contribution; given groups, including the covariance within groups.

        Contributions within a group are not independent; their sums are.
        """
        centred = rows - rows.mean()
        if self._weights is not None:
            centred = self._weights * (rows - self._weights @ rows / rows.size)
        if groups is None:
            return float(centred @ centred / (rows.size - 1))
        sums, n_groups = np.bincount(groups, centred), max(np.unique(groups).size, 2)
        return float(sums @ sums / rows.size * n_groups / (n_groups - 1))

    def _variance_in_groups(self, linear: Linear, times: float) -> float:
        """Return the variance of a contribution including the full effect that rows of a group share."""
        rows, in_full = (each + times * self._total for each in (linear.rows, linear.group_rows))
        common = self._variance(in_full, self._groups) - self._variance(in_full)
        return max(self._variance(rows, self._groups), self._variance(rows) + common)


# Number of sets whose contributions are in memory at a time.
SETS_AT_A_TIME = 64


def plug_in(variances: Variances, target: Target, size: SampleSize) -> Uncertainty:
    """Compute standard errors from the contributions of rows, and the allowance for bias at this sample size.

    An index is a smooth function of means over rows: Var(Y) and several conditional variances. Its standard error is
    that of the mean of its linear part. Contributions of rows in each other's neighbourhoods are not independent; the
    addition for this is part of the contributions.
    """
    step = error_step(variances)
    parts = _add_up(variances, target, step)
    average = Average(variances, step)
    effects, left = target.effects(variances), target.left(variances)
    explained = max(1 - left, ROUNDING)
    indices = effects / explained
    errors = [average.error(parts.linear(k, index, explained)) for k, index in enumerate(indices.tolist())]
    sums = [parts.linear(k, common=COMMON_AT_LEAST) for k in range(effects.size)]
    p_values = [_p_value(effect, average.error(one)) for effect, one in zip(effects.tolist(), sums, strict=True)]
    whole = parts.whole
    rows, in_groups = whole.rows, whole.in_groups * whole.rows
    noise = average.error(Linear(rows, in_groups, whole.overlap))
    ceiling = average.error(Linear(rows, in_groups, whole.overlap - 2 * left * whole.shared, -left))
    allowed = whole.bias + allow_for_distance(variances, size, variances.of(target.factors)) if target.noise else 0.0
    return Uncertainty(
        np.minimum(errors, MAX_STANDARD_ERROR),
        np.array(p_values),
        variances.response.variance * noise,
        ceiling,
        np.minimum(parts.bias(indices, allowed) / explained, 1.0),
        min(allowed, 1.0),
    )


def error_step(variances: Variances) -> int:
    """Return the stride over the outer rows that standard errors are estimated from.

    Rows of a group are summed before they are compared, so all of them are needed.
    """
    return 1 if variances.search.groups is not None else -(-variances.outer.size // MAX_ERROR_ROWS)


@dataclass(frozen=True, eq=False)
class Parts:
    """Contributions of rows to sums of conditional variances, and their uncertainty, in units of Var(Y)."""

    target: Target
    whole: Contributions
    """Contributions of rows to the conditional variance given all factors."""
    rows: Floats
    """Contributions of rows to each sum over sets other than all factors, (indices, rows)."""
    group_rows: Floats
    """The same, scaled up to the full effect that rows of a group share."""
    overlap_rows: Floats
    """Vectors for the addition of overlap to the variance, (indices, rows + 2); see `_overlap_rows`."""
    shared: Floats
    """Covariance of the contributions to each sum with the squared deviations of other rows, (indices,)."""
    up: Floats
    """Allowance for bias in the sets that raise each sum, (indices,)."""
    down: Floats
    """Allowance for bias in the sets that lower each sum, (indices,)."""

    def linear(self, k: int, index: float = 0.0, explained: float = 1.0, common: float = COMMON) -> Linear:
        """Return the linear part of an index, or of a sum by itself; ``explained`` is 1 − ev(S) / Var(Y)."""
        times, times_total = self.target.times_whole[k] + index, self.target.times_total[k] - index
        overlap_rows = self.overlap_rows[k] + times * self._overlap_rows_of_whole
        overlap = (1 - common) * float(overlap_rows[:-1] @ overlap_rows[:-1]) + common * float(overlap_rows[-1]) ** 2
        shared = self.shared[k] + times * self.whole.shared
        return Linear(
            (self.rows[k] + times * self.whole.rows) / explained,
            (self.group_rows[k] + times * self.whole.in_groups * self.whole.rows) / explained,
            float(overlap + 2 * times_total * shared) / explained**2,
            float(times_total) / explained,
        )

    @cached_property
    def _overlap_rows_of_whole(self) -> Floats:
        return _overlap_rows(self.whole)

    def bias(self, indices: Floats, of_whole: float) -> Floats:
        """Return the allowance for bias in each index, (indices,), as a share of Var(Y).

        Conditional variances are biased upwards, if at all. Sets that raise an index and sets that lower it move it in
        opposite directions; the larger of the two counts.
        """
        if not self.target.noise:
            return np.zeros(indices.size)
        times = self.target.times_whole + indices
        return np.maximum(self.up + np.maximum(times, 0) * of_whole, self.down + np.maximum(-times, 0) * of_whole)


def _add_up(variances: Variances, target: Target, step: int) -> Parts:
    """Return the contributions of every ``step``-th row to each sum, a few sets at a time to save memory."""
    n_rows = variances.outer[::step].size
    rows, group_rows = (np.zeros((len(target.coefficients), n_rows)) for _ in range(2))
    overlap_rows = np.zeros((len(target.coefficients), n_rows + 2))
    shared, up, down = (np.zeros(len(target.coefficients)) for _ in range(3))
    whole = Contributions(np.zeros(n_rows), 0.0)
    if target.noise:
        whole = _contribute(variances, target.factors, step)
    for start in range(0, len(target.sets), SETS_AT_A_TIME):
        some = target.sets[start : start + SETS_AT_A_TIME]
        found = variances.search.workers.map(lambda u: _contribute(variances, u, step), some)
        times = target.coefficients[:, start : start + len(some)]
        rows += _combine(times, [part.rows for part in found])
        group_rows += _combine(times, [part.in_groups * part.rows for part in found])
        overlap_rows += _combine(times, [_overlap_rows(part) for part in found])
        shared += _combine(times, [np.array([part.shared]) for part in found])[:, 0]
        bias = [np.array([part.bias]) for part in found]
        up += _combine(np.maximum(times, 0), bias)[:, 0]
        down += _combine(np.maximum(-times, 0), bias)[:, 0]
    return Parts(target, whole, rows, group_rows, overlap_rows, shared, up, down)


def _combine(times: Floats, parts: list[Floats]) -> Floats:
    """Return weighted sums of parts, (indices, rows), without BLAS, which would start threads of its own."""
    sums: Floats = np.einsum("ks,sn->kn", times, np.array(parts))
    return sums


def _contribute(variances: Variances, factors: FactorSet, step: int) -> Contributions:
    """Return the contributions of rows to ev(u); ev(u) itself is remembered as well."""
    variances.of(factors)
    return variances.contributions(factors, step)


def _overlap_rows(part: Contributions) -> Floats:
    """Return a vector, two longer than the rows, whose products for two sets give the covariance of their overlaps.

    Even if no row has the same neighbours in two sets, their overlaps are correlated, because each row is a neighbour
    of others in both. The product of the last entries is the largest possible covariance; the product of the other
    entries decreases as the contributions become less correlated.
    """
    centred: Floats = part.rows - part.rows.mean()
    norm, size = np.sqrt(float(centred @ centred)), np.sqrt(part.overlap)
    alike, unlike = (centred / norm, 0.0) if norm > 0 else (np.zeros_like(centred), 1.0)
    return np.concatenate([size * alike, [size * unlike, size]])


def _p_value(effect: float, error: float) -> float:
    """Return the probability of a larger effect by chance; effect and error are in units of Var(Y)."""
    return normal_cdf(-effect / max(error, ROUNDING))


def by_subsamples(variances: Variances, target: Target, size: SampleSize) -> Uncertainty:
    """Compute standard errors from the spread of estimates between random half-samples of the rows or groups.

    The variance of an estimate from n rows is proportional to 1/n, and that of its difference from the estimate of all
    N rows to 1/n − 1/N.
    """
    n_rows, unit = variances.design.n_rows, variances.response.variance
    n_drawn, n = round(SUBSAMPLE_SHARE * n_rows), len(target.coefficients)
    groups, rng = variances.search.groups, variances.rng

    def draw() -> NDArray[np.intp]:
        return np.sort(rng.choice(n_rows, n_drawn, replace=False)) if groups is None else deal_groups(rng, groups)[0]

    samples = (draw() for _ in range(SUBSAMPLES))
    estimates = np.array([_estimate(variances.on_rows(rows), target, unit) for rows in samples])
    errors = estimates.std(axis=0, ddof=1) * np.sqrt(n_drawn / (n_rows - n_drawn))
    effects = target.effects(variances)
    plain = plug_in(variances, target, size)  # for the allowance for bias
    return Uncertainty(
        np.minimum(errors[:n], MAX_STANDARD_ERROR),
        np.array([_p_value(effects[k], errors[n + k]) for k in range(n)]),
        unit * float(errors[-2]),
        float(errors[-1]),
        plain.bias,
        plain.r2_bias,
    )


def _estimate(variances: Variances, target: Target, unit: float) -> Floats:
    """Return the indices, their effects, the noise variance and the R² ceiling as one vector.

    Effects and noise are in the given unit.
    """
    variance, left, effects = variances.response.variance, target.left(variances), target.effects(variances)
    indices = effects / max(1 - left, ROUNDING)
    return np.concatenate([indices, effects * variance / unit, [left * variance / unit, 1 - left]])
