"""Whether rows that follow each other in the table have more in common than the factors explain.

In a series, one row is like the next whatever the factors do. Neighbours in the factors are then often neighbours in
time, and what they have in common looks like an effect. It is found by what local fits leave of y. A fit to a row uses
no rows of its block of the table, and none of those that the fits to the rows next to it use: what two consecutive
rows have left in common then comes from their place in the table.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..data.design import Design
from ..data.quality import Finding, rows_follow
from ..data.response import Task, mid_ranks
from ..neighbors.search import Search
from ..neighbors.strategy import Floats
from ..results.indices import Indices
from ..variance.conditional import Variances
from ..variance.local_linear import LocalLinear

# Consecutive rows that are looked at, and those that are fitted: more would not change the answer, fewer cannot tell.
MOST_ROWS, MOST_FITTED, FEWEST_ROWS = 20_000, 2_000, 50

# Rows in a block, and blocks at least: rows of a series have little in common with those of another block, and rows of
# a table that is sorted by a factor still have neighbours in it.
BLOCK, FEWEST_BLOCKS, SMALLEST_BLOCK = 20, 25, 4

# Neighbours of a fit, and the factors that it is made in, the most important ones.
NEIGHBORS, MOST_FACTORS = 12, 8

# The correlation of consecutive rows must be so many standard errors to be no chance, and so large to do harm; and so
# large must be the share of Var(Y) that they have in common, or else fits that miss a little would do.
STANDARD_ERRORS, LEAST_CORRELATION, LEAST_SHARE = 4.0, 0.1, 0.02

# In a table that is sorted by one of the factors, fits miss the same in consecutive rows: there, the correlation must
# be larger, in more rows.
LEAST_IF_SORTED, FEWEST_IF_SORTED = 0.4, 300

# A column is sorted if so many of its steps are in one direction: a second column may have come first.
SORTED = 0.95

# Where y itself follows by less than so many standard errors, nothing is fitted.
FIRST_LOOK = 1.0

# Where it follows by so many, that is hardly chance: fits are made before anybody asks for them.
CLEAR = 4.0


def add_order(findings: tuple[Finding, ...], variances: Variances, factors: Sequence[int]) -> tuple[Finding, ...]:
    """The findings with one on the order of rows, unless a column that tells their groups says more."""
    if any(one.kind == "groups" for one in findings):
        return findings
    return findings + examine_order(variances, factors)


def find_at_once(variances: Variances, indices: Indices) -> tuple[Finding, ...]:
    """What of the findings costs next to nothing: that rows follow each other only if that is clear from y alone."""
    whole = variances if variances.origin is None else variances.origin
    if not whole.design.is_in_memory or _may_follow(whole, CLEAR):
        return indices.findings
    return whole.examine_data(variances.design.varying if indices.kept is None else indices.kept)


def examine_order(variances: Variances, factors: Sequence[int]) -> tuple[Finding, ...]:
    """That rows follow each other beyond what some factors, the most important first, explain; nothing if not."""
    whole = variances if variances.origin is None else variances.origin
    y = whole.search.y[:MOST_ROWS]
    if not _may_follow(whole, FIRST_LOOK):
        return ()
    fitted = factors[:MOST_FACTORS]
    left = fit_other_blocks(whole.search, fitted) if factors else y
    correlation = rank_correlation(left)
    shared = float((left[1:] * left[:-1]).sum()) / len(left) / whole.response.variance
    if shared < LEAST_SHARE or correlation < _least_correlation(whole.design, fitted, len(left)):
        return ()
    return (rows_follow(len(left), correlation),)


def _may_follow(whole: Variances, standard_errors: float) -> bool:
    """Tell whether the response of consecutive rows is alike by so many standard errors, and not because of sorting."""
    y = whole.search.y[:MOST_ROWS]
    if len(y) < FEWEST_ROWS or whole.search.groups is not None:
        return False
    return rank_correlation(y) * np.sqrt(len(y)) >= standard_errors and not _is_sorted(y, whole.response.task)


def _least_correlation(design: Design, factors: Sequence[int], n_rows: int) -> float:
    """The smallest correlation of consecutive rows that is worth a word."""
    least = max(STANDARD_ERRORS / np.sqrt(n_rows), LEAST_CORRELATION)
    if not any(_runs_one_way(design.column(j)[:n_rows]) for j in design.columns_of(factors)):
        return float(least)
    return max(float(least), LEAST_IF_SORTED) if n_rows >= FEWEST_IF_SORTED else np.inf


def _runs_one_way(values: Floats) -> bool:
    """Tell whether a table is sorted by a column, (rows,), upwards or downwards."""
    steps = np.sign(np.diff(values))
    return abs(float(steps.sum())) > (2 * SORTED - 1) * float(np.abs(steps).sum())


def _is_sorted(y: Floats, task: Task) -> bool:
    """Tell whether the table is sorted by the response, which says nothing about time; of classes, each is one run."""
    steps = np.diff(y, axis=0)
    if task == "classification":
        return len(np.unique(y, axis=0)) == 1 + int((steps != 0).any(axis=1).sum())
    return all(_runs_one_way(column) for column in y.T)


def rank_correlation(values: Floats) -> float:
    """The rank correlation of consecutive rows, over all outputs."""
    ranks = np.column_stack([mid_ranks(column) for column in values.T])
    ranks -= ranks.mean(axis=0)
    squares = float((ranks**2).sum())
    return float((ranks[1:] * ranks[:-1]).sum()) / squares if squares > 0 else 0.0


def fit_other_blocks(search: Search, factors: Sequence[int]) -> Floats:
    """What fits in some factors to other blocks of the table leave of y, (rows, outputs), in its first rows."""
    n_rows = min(search.design.n_rows, MOST_FITTED)
    block = min(BLOCK, max(n_rows // FEWEST_BLOCKS, SMALLEST_BLOCK))
    left = np.empty((n_rows, search.y.shape[1]))
    for parity in (0, 1):
        rows = np.arange(parity, n_rows, 2)
        part = replace(search.on_rows(rows, search.y[rows]), n_neighbors=2, groups=rows // block)
        local = LocalLinear(part, [i for i in factors if not part.design.constant[i]], (NEIGHBORS,))
        fits = local.fit(np.arange(rows.size)).errors(part.y, local.point_means(part.y)).fits
        left[rows] = part.y - fits[0]
    return left
