"""How sure an estimate is: standard errors from what each row contributes, or from subsamples of the rows.

Rows are never drawn with replacement: copies of a row are neighbours at distance 0 and would seem to know the response
without noise, which is why the bootstrap fails for nearest neighbours (Abadie and Imbens 2008).
"""

from dataclasses import dataclass

import numpy as np

from .._utils.normal import normal_cdf
from ..neighbors.search import Contributions
from ..neighbors.strategy import Floats
from ..results.uncertainty import Uncertainty
from ..variance.conditional import ROUNDING, Variances

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
    n_outer, variance = variances.search.outer.size, variances.response.variance
    step = -(-n_outer // MAX_ERROR_ROWS)
    sets = [(), *target.rests, *([target.factors] if target.noise else [])]
    parts = variances.search.workers.map(lambda factors: variances.contributions(factors, step), sets)
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
        error = _error(slopes, _overlap(without, whole, 1 - index, alike) / explained**2, n_outer)
        errors.append(min(error, LEAST_SURE))
        p_values.append(_p_value(effect, _error(rows, _overlap(without, whole, 1.0, alike), n_outer)))
    noise = variance * _error(whole.rows, whole.overlap, n_outer)
    ceiling = _error(whole.rows - left * total, whole.overlap, n_outer)
    return Uncertainty(np.array(errors), np.array(p_values), noise, ceiling)


def _likeness(a: Contributions, b: Contributions) -> float:
    """The correlation, at least 0, of what rows contribute to two estimates."""
    centred, other = a.rows - a.rows.mean(), b.rows - b.rows.mean()
    squares = (centred @ centred) * (other @ other)
    return max(float(centred @ other / np.sqrt(squares)), 0.0) if squares > 0 else 0.0


def _overlap(a: Contributions, b: Contributions, times: float, alike: float) -> float:
    """The overlap of ``a`` minus so many times ``b``: the less, the more alike their neighbourhoods are."""
    both = 2 * times * alike * np.sqrt(a.overlap * b.overlap)
    return max(float(a.overlap + times**2 * b.overlap - both), 0.0)


def _error(rows: Floats, overlap: float, n_rows: int) -> float:
    """The standard error of a mean over so many rows, of which some are given."""
    if rows.size < 2:
        return np.nan
    centred = rows - rows.mean()
    return float(np.sqrt((centred @ centred / (rows.size - 1) + overlap) / n_rows))


def _p_value(effect: float, error: float) -> float:
    """How likely an effect above this one is by chance, both in units of Var(Y)."""
    return normal_cdf(-effect / max(error, ROUNDING))


def by_subsamples(variances: Variances, target: IndexTarget) -> Uncertainty:
    """Standard errors from how much the estimates differ between halves of the rows.

    The variance of an estimate from n rows goes with 1/n, and that of its difference from the estimate of all N rows
    with 1/n − 1/N.
    """
    n_rows, unit = variances.design.n_rows, variances.response.variance
    size, n = round(SHARE * n_rows), len(target.rests)
    samples = (np.sort(variances.rng.choice(n_rows, size, replace=False)) for _ in range(SUBSAMPLES))
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
