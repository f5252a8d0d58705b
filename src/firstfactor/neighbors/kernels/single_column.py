"""Numba kernels that read columns: what each tells by itself, which rows are equal, values in another order."""

from typing import Any

import numpy as np

from .compiling import jit, part
from .kd_tree import TIES


@jit
def single_column_variances(values: Any, order: Any, caps: Any, y: Any, weight: Any, n_neighbors: int) -> Any:
    """Weighted sum of the variances in each row of ``values`` alone, its number of levels, and each value's level."""
    columns, n = values.shape
    total, levels = np.empty(columns), np.empty(columns)
    numbers = np.empty((columns, n), np.intp)
    level, count, mean, squares, group_weight = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for j in range(columns):
        g = -1
        for i in range(n):
            row = order[j, i]
            if i == 0 or values[j, row] != level[g]:
                g += 1
                level[g], count[g], mean[g], squares[g], group_weight[g] = values[j, row], 1.0, y[row], 0.0, weight[row]
            else:
                count[g] += 1
                step = y[row] - mean[g]
                mean[g] += step / count[g]
                squares[g] += step * (y[row] - mean[g])
                group_weight[g] += weight[row]
            numbers[j, row] = g
        levels[j] = g + 1
        total[j] = _sum_along(g + 1, level, count, mean, squares, group_weight, np.sqrt(caps[j]), n_neighbors)
    return total, levels, numbers


@part
def _sum_along(
    groups: int, value: Any, count: Any, mean: Any, squares: Any, weight: Any, cap: float, n_neighbors: int
) -> float:
    """Neighbours in one sorted column are found by going outwards on both sides."""
    total = 0.0
    for g in range(groups):
        if weight[g] == 0:
            continue
        left, right, inside, reach = g, g, count[g], 0.0
        while inside < n_neighbors:
            before = min(value[g] - value[left - 1], cap) if left > 0 else np.inf
            after = min(value[right + 1] - value[g], cap) if right + 1 < groups else np.inf
            if before < after:
                left -= 1
                inside += count[left]
                reach = before
            else:
                right += 1
                inside += count[right]
                reach = after
        reach *= np.sqrt(TIES)
        while left > 0 and min(value[g] - value[left - 1], cap) <= reach:
            left -= 1
        while right + 1 < groups and min(value[right + 1] - value[g], cap) <= reach:
            right += 1
        inside, first, second = 0.0, 0.0, 0.0
        for h in range(left, right + 1):
            step = mean[h] - mean[g]
            inside += count[h]
            first += count[h] * step
            second += squares[h] + count[h] * step * step
        total += weight[g] * max(second - first * first / inside, 0.0) / (inside - 1)
    return total


@jit
def gather(values: Any, rows: Any, columns: Any, out: Any) -> None:
    """out[i, j] = values[rows[i], columns[j]]."""
    for i in range(rows.size):
        for j in range(columns.size):
            out[i, j] = values[rows[i], columns[j]]


@jit
def group_rows(cell: Any, n_cells: int, y: Any) -> Any:
    """Count, mean and sum of squared deviations of y in every cell, and a row that lies in it."""
    count, mean, squares = np.zeros(n_cells), np.zeros(n_cells), np.zeros(n_cells)
    example = np.zeros(n_cells, np.intp)
    for i in range(cell.size):
        g = cell[i]
        count[g] += 1
        step = y[i] - mean[g]
        mean[g] += step / count[g]
        squares[g] += step * (y[i] - mean[g])
        example[g] = i
    return count, mean, squares, example
