"""Factors as blocks of columns, tests of whole blocks in one linear model, and Holm's procedure."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import linalg, stats

from ...data.arrays import Floats
from ..ours import ALPHA
from ..outcome import Outcome

SPLINE_COLUMNS = 4
"""Degrees of freedom of a natural cubic spline."""
OUTER_KNOTS = (0.05, 0.95)
"""Quantiles beyond which a spline is a line."""
NOTHING_LEFT = 1e-8
"""Share of a column's length below which the columns before it make it up."""


def dummies(X: Any) -> list[Floats]:
    """Return numbers as they are, and categories as one column for each level but the most frequent."""
    return [_levels(column) if _is_category(column) else column.to_numpy(float)[:, None] for column in _columns(X)]


def splines(X: Any) -> list[Floats]:
    """Return numbers as natural cubic splines, as far as they have enough values, and categories as levels."""
    return [_levels(column) if _is_category(column) else _spline(column.to_numpy(float)) for column in _columns(X)]


def _columns(X: Any) -> list[Any]:
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X)
    return [frame.iloc[:, j] for j in range(frame.shape[1])]


def _is_category(column: Any) -> bool:
    return not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column))


def _levels(column: Any) -> Floats:
    codes, names = pd.factorize(column)
    counts = np.bincount(codes, minlength=len(names))
    kept = np.delete(np.arange(len(names)), counts.argmax())
    return np.asarray(codes[:, None] == kept[None, :], dtype=float)


def _spline(values: Floats) -> Floats:
    """Return the natural cubic spline; of few values, a polynomial through all of them."""
    distinct = np.unique(values)
    scaled: Floats = (values - values.mean()) / (values.std() or 1.0)
    if distinct.size <= SPLINE_COLUMNS:
        return np.column_stack([scaled**power for power in range(1, max(distinct.size, 2))])
    knots = np.unique(np.quantile(scaled, np.linspace(*OUTER_KNOTS, SPLINE_COLUMNS + 1)))
    if knots.size < 3:
        return scaled[:, None]

    def bend(knot: float) -> Floats:
        above, last = (np.maximum(scaled - at, 0.0) ** 3 for at in (knot, knots[-1]))
        return np.asarray((above - last) / (knots[-1] - knot))

    end = bend(knots[-2])
    return np.column_stack([scaled, *(bend(knot) - end for knot in knots[:-2])])


def block_p_values(blocks: Sequence[Floats], y: Floats) -> Floats:
    """Return the p-value of the F test of each block, given all others; 1 where the others make it up.

    The t test where a block is one column.
    """
    rows = len(y)
    X = np.column_stack([np.ones(rows), *blocks])
    X = X / np.maximum(np.sqrt((X**2).mean(axis=0)), np.finfo(float).tiny)
    if X.shape[1] < rows and np.linalg.matrix_rank(X) == X.shape[1]:
        return _of_full_rank(X, blocks, y)
    starts = np.cumsum([1, *(block.shape[1] for block in blocks)])
    rss, rank = _fit(X, y)
    if rank >= rows:
        return np.ones(len(blocks))
    p_values = np.ones(len(blocks))
    for k in range(len(blocks)):
        rss_without, rank_without = _fit(np.delete(X, np.s_[starts[k] : starts[k + 1]], axis=1), y)
        if rank > rank_without and rss > 0:
            ratio = (rss_without - rss) / (rank - rank_without) / (rss / (rows - rank))
            p_values[k] = stats.f.sf(ratio, rank - rank_without, rows - rank)
    return p_values


def _of_full_rank(X: Floats, blocks: Sequence[Floats], y: Floats) -> Floats:
    """Return the same from one fit: what is lost without a block follows from its coefficients."""
    inverse = linalg.inv(X.T @ X)
    slopes = inverse @ (X.T @ y)
    freedom = len(y) - X.shape[1]
    variance = float(((y - X @ slopes) ** 2).sum()) / freedom
    p_values, start = [], 1
    for block in blocks:
        own = slice(start, start := start + block.shape[1])
        if block.shape[1] == 0:
            p_values.append(1.0)
            continue
        ratio = slopes[own] @ linalg.solve(inverse[own, own], slopes[own]) / block.shape[1] / variance
        p_values.append(float(stats.f.sf(ratio, block.shape[1], freedom)))
    return np.array(p_values)


def _fit(X: Floats, y: Floats) -> tuple[float, int]:
    """Return the residual sum of squares, and the rank."""
    slopes, _, rank, _ = np.linalg.lstsq(X, y, rcond=NOTHING_LEFT)
    return float(((y - X @ slopes) ** 2).sum()), int(rank)


def holm(p_values: Floats) -> Floats:
    """Return p-values adjusted by Holm's procedure."""
    order = np.argsort(p_values)
    factors = np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1.0)
    return adjusted


def select(p_values: Floats, members: Sequence[tuple[int, ...]] | None = None, n_factors: int | None = None) -> Outcome:
    """Return the outcome of tests by Holm's procedure; of tests of terms, the factors of those that are rejected.

    The importance of a factor is how small its smallest p-value is, where it is selected.
    """
    adjusted = holm(p_values)
    of_terms = [(j,) for j in range(len(p_values))] if members is None else members
    importances = np.zeros(len(p_values) if n_factors is None else n_factors)
    for p_value, factors in zip(adjusted, of_terms, strict=True):
        if p_value <= ALPHA:
            for j in factors:
                importances[j] = max(importances[j], -np.log10(max(p_value, 1e-300)), 1e-9)
    return Outcome(importances, tuple(np.flatnonzero(importances > 0).tolist()))
