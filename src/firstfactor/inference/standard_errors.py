"""How sure an estimate is: standard errors from what each row contributes, or from subsamples of the rows.

Rows are never drawn with replacement: copies of a row are neighbours at distance 0 and would seem to know the response
without noise, which is why the bootstrap fails for nearest neighbours (Abadie and Imbens 2008).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._utils.normal import normal_cdf
from ..neighbors.search import Contributions, Search
from ..neighbors.strategy import Floats
from ..results.uncertainty import Uncertainty
from ..variance.conditional import ROUNDING, Variances
from ..variance.sampling import deal_groups

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


def plug_in(variances: Variances, target: IndexTarget) -> Uncertainty:
    """Standard errors from what each row contributes.

    An index is a smooth function of three means over rows: Var(Y), what all factors leave of it and what the rest
    leaves. Its standard error is that of the mean of its linear part. Contributions of rows in each other's
    neighbourhoods are not independent; what that adds comes with the contributions.
    """
    search, variance = variances.search, variances.response.variance
    # Rows of one group are summed before they are compared: all of them are needed.
    step = 1 if search.groups is not None else -(-search.outer.size // MAX_ERROR_ROWS)
    average = Average(search, step)
    sets = [(), *target.rests, *([target.factors] if target.noise else [])]
    parts = search.workers.map(lambda factors: variances.contributions(factors, step), sets)
    total = parts.pop(0).rows
    whole, left = Contributions(np.zeros_like(total), 0.0), 0.0
    if target.noise:
        whole, left = parts.pop(), variances.of(target.factors) / variance
    explained = max(1 - left, ROUNDING)
    errors, p_values = [], []
    for rest, without in zip(target.rests, parts, strict=True):
        effect = variances.of(rest) / variance - left
        index, rows = effect / explained, without.rows - whole.rows
        slopes, alike = (rows - index * (total - whole.rows)) / explained, _likeness(without, whole)
        error = average.error(slopes, _overlap(without, whole, 1 - index, alike) / explained**2)
        errors.append(min(error, LEAST_SURE))
        p_values.append(_p_value(effect, average.error(rows, _overlap(without, whole, 1.0, alike))))
    noise = variance * average.error(whole.rows, whole.overlap)
    ceiling = average.error(whole.rows - left * total, whole.overlap)
    return Uncertainty(np.array(errors), np.array(p_values), noise, ceiling)


class Average:
    """The mean over all outer rows of a search, every ``step``-th of which is given."""

    def __init__(self, search: Search, step: int) -> None:
        rows = search.outer[::step]
        self._n_rows = search.outer.size
        self._weights = None if search.weights is None else search.weights[rows] / search.weights[rows].mean()
        self._groups = None if search.groups is None else search.groups[rows]

    def error(self, rows: Floats, overlap: float) -> float:
        """The standard error of the mean of what rows contribute, with what their overlap adds.

        Contributions of one group are not independent: their sums are.
        """
        if rows.size < 2:
            return np.nan
        if self._weights is None:
            centred, squared_weights = rows - rows.mean(), 1.0
        else:
            centred = self._weights * (rows - self._weights @ rows / rows.size)
            squared_weights = float(np.mean(self._weights**2))
        if self._groups is None:
            variance = centred @ centred / (rows.size - 1)
        else:
            sums = np.bincount(self._groups, centred)
            n_groups = max(np.unique(self._groups).size, 2)
            variance = sums @ sums / rows.size * n_groups / (n_groups - 1)
        return float(np.sqrt((variance + overlap * squared_weights) / self._n_rows))


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


def by_subsamples(variances: Variances, target: IndexTarget) -> Uncertainty:
    """Standard errors from how much the estimates differ between halves of the rows, or of the groups.

    The variance of an estimate from n rows goes with 1/n, and that of its difference from the estimate of all N rows
    with 1/n − 1/N.
    """
    n_rows, unit = variances.design.n_rows, variances.response.variance
    size, n = round(SHARE * n_rows), len(target.rests)
    groups, rng = variances.search.groups, variances.rng

    def draw() -> NDArray[np.intp]:
        return np.sort(rng.choice(n_rows, size, replace=False)) if groups is None else deal_groups(rng, groups)[0]

    samples = (draw() for _ in range(SUBSAMPLES))
    estimates = np.array([_estimate(variances.on_rows(rows), target, unit) for rows in samples])
    errors = estimates.std(axis=0, ddof=1) * np.sqrt(size / (n_rows - size))
    effects = _estimate(variances, target, unit)[n : 2 * n]
    p_values = [_p_value(effects[i], errors[n + i]) for i in range(n)]
    return Uncertainty(
        np.minimum(errors[:n], LEAST_SURE), np.array(p_values), unit * float(errors[-2]), float(errors[-1])
    )


def _estimate(variances: Variances, target: IndexTarget, unit: float) -> Floats:
    """The indices, the effects they are shares of, the noise variance and the R² ceiling, in one row.

    Effects and noise are in the unit given.
    """
    variance = variances.response.variance
    left = variances.of(target.factors) if target.noise else 0.0
    effects = np.array([variances.of(rest) - left for rest in target.rests])
    indices = effects / max(variance - left, variances.tolerance)
    return np.concatenate([indices, effects / unit, [left / unit, 1 - left / variance]])
