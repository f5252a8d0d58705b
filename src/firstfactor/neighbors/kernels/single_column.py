"""Numba kernels on columns: the variance that each leaves by itself, equal rows, and values in another order."""

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .compiling import inlined, jit, part
from .neighbor_list import INCOMPARABLE, TIES
from .simd import larger, smaller


def single_column_variances(values: Any, order: Any, caps: Any, y: Any, weight: Any, n_neighbors: int) -> Any:
    """Return for each column the weighted sum of ball variances of y, the number of levels, and each row's level.

    These are float64 (columns,) in units of y², float64 (columns,) and intp (columns, rows). Levels are the distinct
    values of a column, numbered from the smallest. Where no rows are equal, their numbers may be left out.

    Parameters
    ----------
    values : float64 (columns, rows)
    order : intp (columns, rows)
        Rows of each column in increasing order of its values.
    caps : float64 (columns,)
        Squared distance of values that are not comparable.
    y : float64 (rows, outputs)
    weight : float64 (rows,)
        Weight of the ball of each row in the sum, 0 for rows that are not centres.
    n_neighbors : int
    """
    columns, n = values.shape
    total, levels = np.empty(columns), np.empty(columns)
    numbers = np.empty((columns, n), np.intp)
    level, count, squares, level_weight = np.empty(n + 4), np.empty(n), np.empty(n), np.empty(n)
    mean, first, last = np.empty((n, y.shape[1])), np.empty(n, np.intp), np.empty(n, np.intp)
    _fill_columns(
        values,
        order,
        caps,
        y,
        weight,
        n_neighbors,
        level,
        count,
        mean,
        squares,
        level_weight,
        first,
        last,
        total,
        levels,
        numbers,
    )
    return total, levels, numbers


@jit
def _fill_columns(
    values: Any,
    order: Any,
    caps: Any,
    y: Any,
    weight: Any,
    n_neighbors: int,
    level: Any,
    count: Any,
    mean: Any,
    squares: Any,
    level_weight: Any,
    first: Any,
    last: Any,
    total: Any,
    levels: Any,
    numbers: Any,
) -> None:
    """Fill in the sum, the number of levels and the levels of each column; arrays about levels are scratch."""
    columns, n = values.shape
    for j in range(columns):
        if n_neighbors == 2 and y.shape[1] == 1 and caps[j] == np.inf:
            total[j] = _sum_of_pairs(values, order, j, y, weight, level, mean, level_weight)
            if total[j] >= 0.0:
                levels[j] = n
                continue
        g, before = -1, 0.0
        for i in range(n):
            row = order[j, i]
            value = values[j, row]
            if i == 0 or value != before:
                g, before = g + 1, value
                level[g], count[g], squares[g], level_weight[g] = value, 1.0, 0.0, weight[row]
                mean[g, 0] = y[row, 0]  # the first value of a level needs no division
                for k in range(1, y.shape[1]):
                    mean[g, k] = y[row, k]
            else:
                _add_row(count, mean, squares, g, y, row)
                level_weight[g] += weight[row]
            numbers[j, row] = g
        levels[j] = g + 1
        if caps[j] < np.inf:
            _find_runs(level, g + 1, first, last)
        total[j] = _sum_of_column(
            g + 1, n, level, count, mean, squares, level_weight, first, last, np.sqrt(caps[j]), n_neighbors
        )


@part
def _sum_of_pairs(
    values: Any, order: Any, j: int, y: Any, weight: Any, level: Any, outcome: Any, level_weight: Any
) -> float:
    """Return the weighted sum of the variances in all balls of a column, if each holds two rows; −1 if not.

    Values are padded with two infinite ones at both ends, which are never nearest.
    """
    n = values.shape[1]
    level[0], level[1], level[n + 2], level[n + 3] = -np.inf, -np.inf, np.inf, np.inf
    for i in range(n):
        row = order[j, i]
        level[i + 2], outcome[i, 0], level_weight[i] = values[j, row], y[row, 0], weight[row]
    total, reach = 0.0, np.sqrt(TIES)
    for i in range(n):
        value, before, after = level[i + 2], level[i + 1], level[i + 3]
        is_before = value - before < after - value
        nearest = value - before if is_before else after - value
        other = after - value if is_before else value - before
        beyond = value - level[i] if is_before else level[i + 4] - value
        if nearest == 0.0 or smaller(other, beyond) <= nearest * reach:
            return -1.0
        step = outcome[i - 1 if is_before else i + 1, 0] - outcome[i, 0]
        total += level_weight[i] * (step * step * 0.5)
    return total


@inlined
def _add_row(count: Any, mean: Any, squares: Any, g: int, y: Any, row: int) -> None:
    """Add a row to a level's count, means and squared deviations: Welford's update, which does not cancel."""
    count[g] += 1
    for k in range(y.shape[1]):
        step = y[row, k] - mean[g, k]
        mean[g, k] += step / count[g]
        squares[g] += step * (y[row, k] - mean[g, k])


@part
def _find_runs(value: Any, levels: int, first: Any, last: Any) -> None:
    """Fill in the first and the last of the levels comparable with each level: these are adjacent."""
    start = 0
    for g in range(levels):
        if g > 0 and _is_far(value[g] - value[g - 1]):
            start = g
        first[g] = start
    stop = levels - 1
    for g in range(levels - 1, -1, -1):
        if g + 1 < levels and _is_far(value[g + 1] - value[g]):
            stop = g
        last[g] = stop


@inlined
def _is_far(gap: float) -> bool:
    """Return True if two values are not comparable."""
    return gap * gap >= INCOMPARABLE


@part
def _sum_of_column(
    levels: int,
    n_rows: int,
    value: Any,
    count: Any,
    mean: Any,
    squares: Any,
    weight: Any,
    first: Any,
    last: Any,
    cap: float,
    n_neighbors: int,
) -> float:
    """Return the weighted sum of the variances in the balls of all levels, in units of y².

    Distances along one column are not squared here: ``cap`` is the root of the column's cap.
    """
    total, whole, others = 0.0, -1.0, 0.0
    begin, end, is_capped = 0, levels - 1, cap < np.inf
    for g in range(levels):
        if is_capped and (g == 0 or first[g] != begin):
            begin, end = first[g], last[g]
            others = _count_others(n_rows, count, begin, end)
        if weight[g] > 0:
            left, right, with_others = _ball_of_level(g, value, count, begin, end, others, cap, n_neighbors)
            if not with_others:
                variance = _variance_of_levels(left, right, g, count, mean, squares)
            elif left > begin or right < end:
                variance = _variance_with_others(left, right, begin, end, levels, g, count, mean, squares)
            else:  # all rows, which may be the same for many balls
                if whole < 0.0:
                    whole = _variance_with_others(left, right, begin, end, levels, g, count, mean, squares)
                variance = whole
            total += weight[g] * variance
    return total


@inlined
def _count_others(n_rows: int, count: Any, first: int, last: int) -> float:
    """Return the number of rows that are not comparable with those of a run of levels."""
    inside = 0.0
    for h in range(first, last + 1):
        inside += count[h]
    return n_rows - inside


@inlined
def _ball_of_level(
    g: int, value: Any, count: Any, first: int, last: int, others: float, cap: float, n_neighbors: int
) -> Any:
    """Return the first and the last level in the ball of a level, and True if it contains all other rows.

    Others are the rows that are not comparable with it: all are at the distance of the cap.
    """
    left, right, inside, radius, with_others = g, g, count[g], 0.0, False
    while inside < n_neighbors:
        before = value[g] - value[left - 1] if left > first else np.inf
        after = value[right + 1] - value[g] if right < last else np.inf
        if others > 0 and not with_others and cap <= smaller(before, after):
            with_others = True
            inside += others
            radius = cap
        elif before < after:
            left -= 1
            inside += count[left]
            radius = before
        else:
            right += 1
            inside += count[right]
            radius = after
    radius *= np.sqrt(TIES)  # enough rows, but others may tie with the last of them
    while left > first and value[g] - value[left - 1] <= radius:
        left -= 1
    while right < last and value[right + 1] - value[g] <= radius:
        right += 1
    return left, right, with_others or (others > 0 and cap <= radius)


@inlined
def _variance_of_levels(left: int, right: int, centre: int, count: Any, mean: Any, squares: Any) -> float:
    """Return the variance of y in the levels from ``left`` to ``right``, computed relative to the centre's mean."""
    rows, within = 0.0, 0.0
    for k in range(mean.shape[1]):
        rows, total, total_squares = 0.0, 0.0, 0.0
        for h in range(left, right + 1):
            shift = mean[h, k] - mean[centre, k]
            rows += count[h]
            total += count[h] * shift
            total_squares += (squares[h] if k == 0 else 0.0) + count[h] * shift * shift
        within += total_squares - total * total / rows
    return larger(within, 0.0) / (rows - 1)


@part
def _variance_with_others(
    left: int, right: int, begin: int, end: int, levels: int, centre: int, count: Any, mean: Any, squares: Any
) -> float:
    """Return the same with the rows of all levels outside a run, from ``begin`` to ``end``, of all ``levels``."""
    rows, within = 0.0, 0.0
    for k in range(mean.shape[1]):
        rows, total, total_squares = 0.0, 0.0, 0.0
        for side in range(3):  # within the run, before it and behind it
            start = left if side == 0 else 0 if side == 1 else end + 1
            stop = right + 1 if side == 0 else begin if side == 1 else levels
            for h in range(start, stop):
                shift = mean[h, k] - mean[centre, k]
                rows += count[h]
                total += count[h] * shift
                total_squares += (squares[h] if k == 0 else 0.0) + count[h] * shift * shift
        within += total_squares - total * total / rows
    return larger(within, 0.0) / (rows - 1)


def gather(values: Any, rows: Any, columns: Any, out: Any) -> None:
    """Copy some rows and columns, out[i, j] = values[rows[i], columns[j]], without numpy's intermediate copy.

    Parameters
    ----------
    values : float64 (n_rows, n_columns)
    rows : intp (chosen rows,)
    columns : intp (chosen columns,)
    out : float64 (chosen rows, chosen columns)
        Output, in any memory order.
    """
    # In one dimension, because numba has a type for each memory order.
    row_step, column_step = (step // out.itemsize for step in out.strides)
    size = 1 + (rows.size - 1) * row_step + (columns.size - 1) * column_step
    flat = as_strided(out, (size,), (out.itemsize,))
    _gather(values.reshape(-1), values.shape[1], rows, columns, flat, row_step, column_step)


@jit
def _gather(values: Any, width: int, rows: Any, columns: Any, out: Any, row_step: int, column_step: int) -> None:
    """Copy values to elements of ``out`` that are these steps apart."""
    for i in range(rows.size):
        # Positions without a sign: numba tests those with one for being negative.
        here, there = np.uintp(rows[i] * width), np.uintp(i * row_step)
        for j in range(columns.size):
            out[there + np.uintp(j * column_step)] = values[here + np.uintp(columns[j])]


def group_rows(cell: Any, n_cells: int, y: Any) -> Any:
    """Return for each cell the count, mean and sum of squared deviations of y, and the last row in it.

    These are float64 (cells,), (cells, outputs) and (cells,), and intp (cells,).

    Parameters
    ----------
    cell : intp (rows,)
        Index of each row's cell, from 0 to ``n_cells`` − 1.
    n_cells : int
    y : float64 (rows, outputs)
    """
    count, mean, squares = np.zeros(n_cells), np.zeros((n_cells, y.shape[1])), np.zeros(n_cells)
    example = np.zeros(n_cells, np.intp)
    _add_rows(cell, y, count, mean, squares, example)
    return count, mean, squares, example


@jit
def _add_rows(cell: Any, y: Any, count: Any, mean: Any, squares: Any, example: Any) -> None:
    """Add each row to its cell."""
    for i in range(cell.size):
        _add_row(count, mean, squares, cell[i], y, i)
        example[cell[i]] = i
