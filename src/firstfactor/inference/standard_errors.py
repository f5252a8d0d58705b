"""How sure an estimate is: standard errors from what each row contributes, or from subsamples of the rows.

Rows are never drawn with replacement: copies of a row are neighbours at distance 0 and would seem to know the response
without noise, which is why the bootstrap fails for nearest neighbours (Abadie and Imbens 2008).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._utils.normal import normal_cdf
from ..neighbors.search import Contributions
from ..neighbors.strategy import Floats, Positions
from ..results.uncertainty import SampleSize, Uncertainty
from ..variance.conditional import ROUNDING, Variances
from ..variance.sampling import deal_groups
from .sample_size import allow_for_distance

# Outer rows that standard errors are estimated from: the estimate itself is from all.
MAX_ERROR_ROWS = 1000

# What lies between 0 and 1 cannot be less sure than that.
LEAST_SURE = 0.5

# How many subsamples, and of what share of the rows.
SUBSAMPLES, SHARE = 50, 0.5


@dataclass(frozen=True)
class IndexTarget:
    """What was estimated: the total indices of all ``factors`` beyond each of some smaller sets."""

    factors: tuple[int, ...]
    rests: tuple[tuple[int, ...], ...]
    noise: bool = True
    """Whether what all factors leave is noise, or nothing but the distance between neighbours."""


def plug_in(variances: Variances, target: IndexTarget, size: SampleSize) -> Uncertainty:
    """Standard errors from what each row contributes, and what to allow for bias in a table of this size.

    An index is a smooth function of three means over rows: Var(Y), what all factors leave of it and what the rest
    leaves. Its standard error is that of the mean of its linear part. Contributions of rows in each other's
    neighbourhoods are not independent; what that adds comes with the contributions.
    """
    search, variance = variances.search, variances.response.variance
    # Rows of one group are summed before they are compared: all of them are needed.
    step = 1 if search.groups is not None else -(-variances.outer.size // MAX_ERROR_ROWS)
    whole, parts = _contributions(variances, target, step)
    average = Average(variances, step)
    left = variances.of(target.factors) / variance if target.noise else 0.0
    explained = max(1 - left, ROUNDING)
    errors, p_values = [], []
    for rest, without in zip(target.rests, parts, strict=True):
        effect = variances.of(rest) / variance - left
        index, alike = effect / explained, _likeness(without, whole)
        linear = Linear(((1 / explained, without), ((index - 1) / explained, whole)), -index / explained)
        error = average.error(linear, _overlap(without, whole, 1 - index, alike) / explained**2)
        errors.append(min(error, LEAST_SURE))
        plain = Linear(((1.0, without), (-1.0, whole)))
        p_values.append(_p_value(effect, average.error(plain, _overlap(without, whole, 1.0, alike))))
    noise = variance * average.error(Linear(((1.0, whole),)), whole.overlap)
    ceiling = average.error(Linear(((1.0, whole),), -left), whole.overlap - 2 * left * whole.shared)
    return Uncertainty(
        np.array(errors), np.array(p_values), noise, ceiling, *_bias(variances, target, size, whole, parts)
    )


def _contributions(variances: Variances, target: IndexTarget, step: int) -> tuple[Contributions, list[Contributions]]:
    """What every ``step``-th row contributes to what all factors leave, and to what each rest leaves."""
    sets = [*target.rests, *([target.factors] if target.noise else [])]
    parts = variances.search.workers.map(lambda factors: variances.contributions(factors, step), sets)
    return parts.pop() if target.noise else Contributions(np.zeros(variances.outer[::step].size), 0.0), parts


def _bias(
    variances: Variances, target: IndexTarget, size: SampleSize, whole: Contributions, parts: list[Contributions]
) -> tuple[NDArray[np.float64], float]:
    """What to allow for bias in each index, and in the ceiling.

    What the rest leaves and what all factors leave are both too large, if anything, and move an index in opposite
    directions: what moves it more counts.
    """
    if not target.noise:
        return np.zeros(len(parts)), 0.0
    variance, left = variances.response.variance, variances.of(target.factors)
    explained, ceiling = max(1 - left / variance, ROUNDING), whole.bias + allow_for_distance(variances, size, left)
    beyond = np.array([1 - variances.of(rest) / variance for rest in target.rests]) / explained  # 1 − index
    of_rest = np.array([part.bias for part in parts])
    return np.minimum(np.maximum(of_rest, np.abs(beyond) * ceiling) / explained, 1.0), min(ceiling, 1.0)


@dataclass(frozen=True)
class Linear:
    """The linear part of an estimate: variances that sets leave and Var(Y), each so many times."""

    parts: tuple[tuple[float, Contributions], ...]
    times_total: float = 0.0
    """How many times Var(Y), which all rows of the table tell and not only the outer ones."""

    @property
    def rows(self) -> Floats:
        """What outer rows contribute to the variances that are left."""
        rows: Floats = np.sum([times * part.rows for times, part in self.parts], axis=0)
        return rows

    @property
    def group_rows(self) -> Floats:
        """The same with all that rows of a group have in common, what their neighbours contribute of it included."""
        rows: Floats = np.sum([times * part.in_groups * part.rows for times, part in self.parts], axis=0)
        return rows


class Average:
    """The mean over all outer rows of an estimate, every ``step``-th of which is given."""

    def __init__(self, variances: Variances, step: int) -> None:
        search, rows = variances.search, variances.outer[::step]
        self._n_rows = variances.outer.size
        self._share = self._n_rows / variances.design.n_rows
        self._total = search.squared_deviations(rows).rows
        self._weights = None if search.weights is None else search.weights[rows] / search.weights[rows].mean()
        self._groups = None if search.groups is None else search.groups[rows]

    def error(self, linear: Linear, overlap: float) -> float:
        """The standard error of an estimate, with what the overlap of rows adds.

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
        return float(np.sqrt(max(variance + overlap * squared_weights, 0.0) / self._n_rows))

    def _variance(self, rows: Floats, groups: Positions | None = None) -> float:
        """The variance of a contribution; given groups, with what their rows have in common.

        Contributions of one group are not independent: their sums are.
        """
        centred = rows - rows.mean()
        if self._weights is not None:
            centred = self._weights * (rows - self._weights @ rows / rows.size)
        if groups is None:
            return float(centred @ centred / (rows.size - 1))
        sums, n_groups = np.bincount(groups, centred), max(np.unique(groups).size, 2)
        return float(sums @ sums / rows.size * n_groups / (n_groups - 1))

    def _variance_in_groups(self, linear: Linear, times: float) -> float:
        """The variance of a contribution with all that rows of a group have in common."""
        rows, in_full = (each + times * self._total for each in (linear.rows, linear.group_rows))
        common = self._variance(in_full, self._groups) - self._variance(in_full)
        return max(self._variance(rows, self._groups), self._variance(rows) + common)


def _likeness(a: Contributions, b: Contributions) -> float:
    """The correlation, at least 0, of what rows contribute to two estimates."""
    centred, other = a.rows - a.rows.mean(), b.rows - b.rows.mean()
    squares = (centred @ centred) * (other @ other)
    return max(float(centred @ other / np.sqrt(squares)), 0.0) if squares > 0 else 0.0


def _overlap(a: Contributions, b: Contributions, times: float, alike: float) -> float:
    """The overlap of ``a`` minus so many times ``b``: the less, the more alike their neighbourhoods are."""
    both = 2 * times * alike * np.sqrt(a.overlap * b.overlap)
    return max(float(a.overlap + times**2 * b.overlap - both), 0.0)


def _p_value(effect: float, error: float) -> float:
    """How likely an effect above this one is by chance, both in units of Var(Y)."""
    return normal_cdf(-effect / max(error, ROUNDING))


def by_subsamples(variances: Variances, target: IndexTarget, size: SampleSize) -> Uncertainty:
    """Standard errors from how much the estimates differ between halves of the rows, or of the groups.

    The variance of an estimate from n rows goes with 1/n, and that of its difference from the estimate of all N rows
    with 1/n − 1/N.
    """
    n_rows, unit = variances.design.n_rows, variances.response.variance
    n_drawn, n = round(SHARE * n_rows), len(target.rests)
    groups, rng = variances.search.groups, variances.rng

    def draw() -> NDArray[np.intp]:
        return np.sort(rng.choice(n_rows, n_drawn, replace=False)) if groups is None else deal_groups(rng, groups)[0]

    samples = (draw() for _ in range(SUBSAMPLES))
    estimates = np.array([_estimate(variances.on_rows(rows), target, unit) for rows in samples])
    errors = estimates.std(axis=0, ddof=1) * np.sqrt(n_drawn / (n_rows - n_drawn))
    effects = _estimate(variances, target, unit)[n : 2 * n]
    p_values = [_p_value(effects[i], errors[n + i]) for i in range(n)]
    bias = _bias(variances, target, size, *_contributions(variances, target, 1))
    sure = np.minimum(errors[:n], LEAST_SURE)
    return Uncertainty(sure, np.array(p_values), unit * float(errors[-2]), float(errors[-1]), *bias)


def _estimate(variances: Variances, target: IndexTarget, unit: float) -> Floats:
    """The indices, the effects they are shares of, the noise variance and the R² ceiling, in one row.

    Effects and noise are in the unit given.
    """
    variance = variances.response.variance
    left = variances.of(target.factors) if target.noise else 0.0
    effects = np.array([variances.of(rest) - left for rest in target.rests])
    indices = effects / max(variance - left, variances.tolerance)
    return np.concatenate([indices, effects / unit, [left / unit, 1 - left / variance]])
