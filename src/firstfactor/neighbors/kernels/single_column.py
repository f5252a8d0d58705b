"""Numba kernels that read columns: the variance that each leaves by itself, equal rows, and values in another order."""

from typing import Any

import numpy as np

from .compiling import inlined, jit, part
from .neighbor_list import TIES, add_rows, sum_of_squares


@jit
def single_column_variances(values: Any, order: Any, caps: Any, y: Any, weight: Any, n_neighbors: int) -> Any:
    """For each column: weighted sum of the variances of y in its balls, number of levels, and each row's level.

    These are float64 (columns,) in units of y², float64 (columns,) and intp (columns, rows). Levels are the distinct
    values of a column, numbered from the smallest.

    Parameters
    ----------
    values : float64 (columns, rows)
    order : intp (columns, rows)
        The rows of each column in increasing order of its values.
    caps : float64 (columns,)
        The most that a column adds to a squared distance.
    y : float64 (rows,)
    weight : float64 (rows,)
        What the ball of each row counts in the sum, 0 for rows that are no centres.
    n_neighbors : int
    """
    columns, n = values.shape
    total, levels = np.empty(columns), np.empty(columns)
    numbers = np.empty((columns, n), np.intp)
    level, count, mean, squares, level_weight = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for j in range(columns):
        g = -1
        for i in range(n):
            row = order[j, i]
            if i == 0 or values[j, row] != level[g]:
                g += 1
                level[g], count[g], mean[g], squares[g], level_weight[g] = values[j, row], 1.0, y[row], 0.0, weight[row]
            else:  # the first value of a level needs no division
                count[g], mean[g], squares[g] = _with_value(count[g], mean[g], squares[g], y[row])
                level_weight[g] += weight[row]
            numbers[j, row] = g
        levels[j] = g + 1
        total[j] = _sum_of_column(g + 1, level, count, mean, squares, level_weight, np.sqrt(caps[j]), n_neighbors)
    return total, levels, numbers


@inlined
def _with_value(count: float, mean: float, squares: float, value: float) -> Any:
    """Count, mean and sum of squared deviations, with one more value: Welford's update, which does not cancel."""
    count += 1
    step = value - mean
    mean += step / count
    return count, mean, squares + step * (value - mean)


@part
def _sum_of_column(
    levels: int, value: Any, count: Any, mean: Any, squares: Any, weight: Any, cap: float, n_neighbors: int
) -> float:
    """Weighted sum of the variances in the balls of all levels, in units of y².

    Distances along one column are not squared here: ``cap`` is the root of the column's cap.
    """
    total = 0.0
    for g in range(levels):
        if weight[g] > 0:
            left, right = _ball_of_level(g, levels, value, count, cap, n_neighbors)
            moments = (0.0, 0.0, 0.0)
            for h in range(left, right + 1):
                moments = add_rows(moments, count[h], mean[h] - mean[g], squares[h])
            # in this order, as dividing before would round differently
            total += weight[g] * sum_of_squares(moments) / (moments[0] - 1)
    return total


@inlined
def _ball_of_level(g: int, levels: int, value: Any, count: Any, cap: float, n_neighbors: int) -> Any:
    """The first and the last level in the ball of a level, found by going outwards on both sides."""
    left, right, inside, radius = g, g, count[g], 0.0
    while inside < n_neighbors:
        before = min(value[g] - value[left - 1], cap) if left > 0 else np.inf
        after = min(value[right + 1] - value[g], cap) if right + 1 < levels else np.inf
        if before < after:
            left -= 1
            inside += count[left]
            radius = before
        else:
            right += 1
            inside += count[right]
            radius = after
    # Enough rows were found, but others may be as far as the last of them; with a cap, all others are.
    radius *= np.sqrt(TIES)
    while left > 0 and min(value[g] - value[left - 1], cap) <= radius:
        left -= 1
    while right + 1 < levels and min(value[right + 1] - value[g], cap) <= radius:
        right += 1
    return left, right


@jit
def gather(values: Any, rows: Any, columns: Any, out: Any) -> None:
    """Copy some rows and columns: out[i, j] = values[rows[i], columns[j]], without the copy between that numpy makes.

    Parameters
    ----------
    values : float64 (n_rows, n_columns)
    rows : intp (chosen rows,)
    columns : intp (chosen columns,)
    out : float64 (chosen rows, chosen columns)
        Filled in; of any memory order.
    """
    for i in range(rows.size):
        for j in range(columns.size):
            out[i, j] = values[rows[i], columns[j]]


@jit
def group_rows(cell: Any, n_cells: int, y: Any) -> Any:
    """For each cell: count, mean and sum of squared deviations of y, and the last row that lies in it; all (cells,).

    Parameters
    ----------
    cell : intp (rows,)
        The number of each row's cell, from 0 to ``n_cells`` − 1.
    n_cells : int
    y : float64 (rows,)
    """
    count, mean, squares = np.zeros(n_cells), np.zeros(n_cells), np.zeros(n_cells)
    example = np.zeros(n_cells, np.intp)
    for i in range(cell.size):
        g = cell[i]
        count[g], mean[g], squares[g] = _with_value(count[g], mean[g], squares[g], y[i])
        example[g] = i
    return count, mean, squares, example
