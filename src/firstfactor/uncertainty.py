"""How sure an estimate is: standard errors from what each row contributes, or from subsamples of the rows.

Rows are never drawn with replacement: copies of a row are neighbours at distance 0 and would seem to know the response
without noise, which is why the bootstrap fails for nearest neighbours (Abadie and Imbens 2008).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from .neighbors import Contributions
from .shared import Floats
from .variance import ROUNDING, Variances

# Rows that standard errors are estimated from: the estimate itself is from all.
ROWS = 1000

# What lies between 0 and 1 cannot be less sure than that.
LEAST_SURE = 0.5

# How many subsamples, and of what share of the rows.
SUBSAMPLES, SHARE = 50, 0.5


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Standard errors, and evidence that a factor adds something."""

    standard_errors: Floats
    """Of each index, at most 0.5, which says that nothing is known; not a number for factors without one."""
    p_values: Floats
    """For each factor, how likely such an effect is if it adds nothing to the others; not a number likewise."""
    noise: float
    """Standard error of the noise variance."""
    r2: float
    """Standard error of the R² ceiling."""

    def spread_over(self, n_factors: int, positions: Sequence[int]) -> "Uncertainty":
        """Return the same for a table of so many factors, of which those at ``positions`` were estimated."""
        errors, p_values = np.full(n_factors, np.nan), np.full(n_factors, np.nan)
        errors[list(positions)], p_values[list(positions)] = self.standard_errors, self.p_values
        return Uncertainty(errors, p_values, self.noise, self.r2)


@dataclass(frozen=True)
class Question:
    """What was estimated: the total indices of all ``factors`` beyond each of some smaller sets."""

    factors: tuple[int, ...]
    rests: tuple[tuple[int, ...], ...]
    noise: bool = True
    """Whether what all factors leave is noise, or nothing but the distance between neighbours."""


def plug_in(variances: Variances, question: Question) -> Uncertainty:
    """Return standard errors from what each row contributes.

    An index is a smooth function of three means over rows: Var(Y), what all factors leave of it and what the rest
    leaves. Its standard error is that of the mean of its linear part. Contributions of rows in each other's
    neighbourhoods are not independent; what that adds comes with the contributions.
    """
    n_outer, variance = variances.search.outer.size, variances.response.variance
    step = -(-n_outer // ROWS)
    sets = [(), *question.rests, *([question.factors] if question.noise else [])]
    parts = variances.search.workers.map(lambda factors: variances.contributions(factors, step), sets)
    total = parts.pop(0).rows
    whole, left = Contributions(np.zeros_like(total), 0.0), 0.0
    if question.noise:
        whole, left = parts.pop(), variances.of(question.factors) / variance
    explained = max(1 - left, ROUNDING)
    errors, p_values = [], []
    for rest, without in zip(question.rests, parts, strict=True):
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
    """Return the correlation, at least 0, of what rows contribute to two estimates."""
    centred, other = a.rows - a.rows.mean(), b.rows - b.rows.mean()
    squares = (centred @ centred) * (other @ other)
    return max(float(centred @ other / np.sqrt(squares)), 0.0) if squares > 0 else 0.0


def _overlap(a: Contributions, b: Contributions, times: float, alike: float) -> float:
    """Return the overlap of ``a`` minus so many times ``b``: the less, the more alike their neighbourhoods are."""
    both = 2 * times * alike * np.sqrt(a.overlap * b.overlap)
    return max(float(a.overlap + times**2 * b.overlap - both), 0.0)


def _error(rows: Floats, overlap: float, n_rows: int) -> float:
    """Return the standard error of a mean over so many rows, of which some are given."""
    if rows.size < 2:
        return np.nan
    centred = rows - rows.mean()
    return float(np.sqrt((centred @ centred / (rows.size - 1) + overlap) / n_rows))


def _p_value(effect: float, error: float) -> float:
    """Return how likely an effect above this one is by chance, both in units of Var(Y)."""
    return float(ndtr(-effect / max(error, ROUNDING)))


def by_subsamples(variances: Variances, question: Question) -> Uncertainty:
    """Return standard errors from how much the estimates differ between halves of the rows.

    The variance of an estimate from n rows goes with 1/n, and that of its difference from the estimate of all N rows
    with 1/n − 1/N.
    """
    n_rows, unit = variances.design.n_rows, variances.response.variance
    size, n = round(SHARE * n_rows), len(question.rests)
    samples = (np.sort(variances.rng.choice(n_rows, size, replace=False)) for _ in range(SUBSAMPLES))
    estimates = np.array([_estimate(variances.on_rows(rows), question, unit) for rows in samples])
    errors = estimates.std(axis=0, ddof=1) * np.sqrt(size / (n_rows - size))
    effects = _estimate(variances, question, unit)[n : 2 * n]
    p_values = [_p_value(effects[i], errors[n + i]) for i in range(n)]
    return Uncertainty(
        np.minimum(errors[:n], LEAST_SURE), np.array(p_values), unit * float(errors[-2]), float(errors[-1])
    )


def _estimate(variances: Variances, question: Question, unit: float) -> Floats:
    """Return the indices, the effects they are shares of, the noise variance and the R² ceiling, in one row.

    Effects and noise are in the unit given.
    """
    variance = variances.response.variance
    left = variances.of(question.factors) if question.noise else 0.0
    effects = np.array([variances.of(rest) - left for rest in question.rests])
    indices = effects / max(variance - left, variances.tolerance)
    return np.concatenate([indices, effects / unit, [left / unit, 1 - left / variance]])


def format_p(p_value: float) -> str:
    """Return a p-value with three decimals; nothing if there is none."""
    return "" if np.isnan(p_value) else "<0.001" if p_value < 0.0005 else f"{p_value:.3f}"
