"""Check for dependence between consecutive rows that the factors do not explain.

In a time series, one row resembles the next whatever the factors do. Neighbours in the factors are then often
neighbours in time, and what they share looks like an effect. The check uses the residuals of local fits. The fit at a
row uses no rows of its own block of the table, and none of the rows that the fits at adjacent rows use; any correlation
left between consecutive rows then comes from their position in the table.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..data.design import Design
from ..data.response import Task, mid_ranks
from ..findings.examine import rows_follow
from ..findings.finding import Finding
from ..neighbors.search import Search
from ..neighbors.strategy import Floats
from ..results.indices import Indices
from ..variance.conditional import Variances
from ..variance.local_linear import LocalLinear
from .constants import (
    ERRORS_OF_CORRELATION,
    FEWEST_BLOCKS,
    FEWEST_IF_SORTED,
    FEWEST_IN_ORDER,
    FIRST_LOOK,
    LEAST_CORRELATION,
    LEAST_COVARIANCE,
    LEAST_IF_SORTED,
    LEAST_IN_BLOCK,
    MOST_BLOCKS,
    MOST_FACTORS,
    MOST_FITTED,
    MOST_IN_ORDER,
    NEIGHBORS,
    ROWS_IN_BLOCK,
    SMALLEST_BLOCK,
    SORTED,
)

# Correlation of y itself, in standard errors, that is hardly chance: the fits are then made in advance.
CLEAR = 4.0


def add_order(findings: tuple[Finding, ...], variances: Variances, factors: Sequence[int]) -> tuple[Finding, ...]:
    """Return the findings plus one on row order, unless a column that identifies groups explains more."""
    if any(one.kind == "groups" for one in findings):
        return findings
    return findings + examine_order(variances, factors)


def find_at_once(variances: Variances, indices: Indices) -> tuple[Finding, ...]:
    """Return the findings that cost little: those on row order only if clear from y alone, or already known."""
    whole = variances if variances.origin is None else variances.origin
    if not whole.design.is_in_memory or _may_follow(whole, CLEAR):
        return indices.findings
    return whole.examine_data(variances.design.varying if indices.kept is None else indices.kept)


def examine_order(variances: Variances, factors: Sequence[int]) -> tuple[Finding, ...]:
    """Return a finding if consecutive rows are correlated beyond the factors, most important first; else nothing."""
    whole = variances if variances.origin is None else variances.origin
    y = whole.search.y[:MOST_IN_ORDER]
    if not _may_follow(whole, FIRST_LOOK) or _is_sorted_last_by_response(whole.design, y):
        return ()
    fitted = factors[:MOST_FACTORS]
    left = _without_block_means(fit_other_blocks(whole.search, fitted) if factors else y, y)
    correlation = rank_correlation(left)
    shared = float((left[1:] * left[:-1]).sum()) / len(left) / whole.response.variance
    if shared < LEAST_COVARIANCE or correlation < _least_correlation(whole.design, fitted, len(left)):
        return ()
    return (rows_follow(len(left), correlation),)


def _may_follow(whole: Variances, standard_errors: float) -> bool:
    """Return True if consecutive responses are correlated by this many standard errors, other than by sorting."""
    y = whole.search.y[:MOST_IN_ORDER]
    if len(y) < FEWEST_IN_ORDER or whole.search.groups is not None:
        return False
    return rank_correlation(y) * np.sqrt(len(y)) >= standard_errors and not _is_sorted(y, whole.response.task)


def _without_block_means(left: Floats, y: Floats) -> Floats:
    """Return residuals of the other rows, without block means, if rows with one value of y come first or last.

    Such a table is partly sorted: its rows are alike within blocks, and not as in a series in time.
    """
    for value in (y[:, 0].min(), y[:, 0].max()) if y.shape[1] == 1 else ():
        has_it = y[: len(left), 0] == value
        changes = np.flatnonzero(np.diff(has_it))
        if LEAST_IN_BLOCK < has_it.mean() < 1 - LEAST_IN_BLOCK and changes.size < MOST_BLOCKS:
            blocks = zip(np.split(left, changes + 1), np.split(has_it, changes + 1), strict=True)
            others = [block - block.mean(axis=0) for block, all_have in blocks if not all_have[0]]
            return np.concatenate(others)
    return left


def _least_correlation(design: Design, factors: Sequence[int], n_rows: int) -> float:
    """Return the smallest correlation of consecutive rows worth reporting."""
    least = max(ERRORS_OF_CORRELATION / np.sqrt(n_rows), LEAST_CORRELATION)
    if not any(_runs_one_way(design.column(j)[:n_rows]) for j in design.columns_of(factors)):
        return float(least)
    return max(float(least), LEAST_IF_SORTED) if n_rows >= FEWEST_IF_SORTED else np.inf


def _runs_one_way(values: Floats) -> bool:
    """Return True if a table is sorted by a column, (rows,), ascending or descending."""
    return _goes_one_way(np.diff(values))


def _goes_one_way(steps: Floats) -> bool:
    """Return True if nearly all steps that are not 0 have the same sign."""
    signs = np.sign(steps)
    return abs(float(signs.sum())) > (2 * SORTED - 1) * float(np.abs(signs).sum())


def _is_sorted(y: Floats, task: Task) -> bool:
    """Return True if the table is sorted by the response, or by class in one run each: this is not time order."""
    steps = np.diff(y, axis=0)
    if task == "classification":
        return len(np.unique(y, axis=0)) == 1 + int((steps != 0).any(axis=1).sum())
    return all(_runs_one_way(column) for column in y.T)


def _is_sorted_last_by_response(design: Design, y: Floats) -> bool:
    """Return True if most rows have the factors of the row before, and are sorted by the response where they do.

    Counts of a table with a row for each person are often written like that.
    """
    alike = np.ones(len(y) - 1, dtype=bool)
    for j in design.columns_of(design.varying):
        alike &= np.diff(design.column(j)[: len(y)]) == 0
    steps = np.diff(y, axis=0)[alike]
    return bool(2 * alike.sum() > alike.size) and all(_goes_one_way(each) for each in steps.T)


def rank_correlation(values: Floats) -> float:
    """Return the rank correlation of consecutive rows, over all outputs."""
    ranks = np.column_stack([mid_ranks(column) for column in values.T])
    ranks -= ranks.mean(axis=0)
    squares = float((ranks**2).sum())
    return float((ranks[1:] * ranks[:-1]).sum()) / squares if squares > 0 else 0.0


def fit_other_blocks(search: Search, factors: Sequence[int]) -> Floats:
    """Return residuals of y, (rows, outputs), in the first rows from fits to other blocks of the table."""
    n_rows = min(search.design.n_rows, MOST_FITTED)
    block = min(ROWS_IN_BLOCK, max(n_rows // FEWEST_BLOCKS, SMALLEST_BLOCK))
    left = np.empty((n_rows, search.y.shape[1]))
    for parity in (0, 1):
        rows = np.arange(parity, n_rows, 2)
        part = replace(search.on_rows(rows, search.y[rows]), n_neighbors=2, groups=rows // block)
        local = LocalLinear(part, [i for i in factors if not part.design.constant[i]], (NEIGHBORS,))
        fits = local.fit(np.arange(rows.size)).errors(part.y, local.point_means(part.y)).fits
        left[rows] = part.y - fits[0]
    return left
