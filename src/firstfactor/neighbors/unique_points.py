"""Equal rows collapsed to one weighted point."""

from dataclasses import dataclass

import numpy as np

from .kernels.single_column import group_rows
from .strategy import Floats, Positions


@dataclass(frozen=True)
class UniquePoints:
    """The distinct points of a table in the space of some factors, with the moments of y at each."""

    rows: Positions | slice
    """One row at each point; all rows where none are equal."""
    of_row: Positions
    """The point of each row."""
    count: Floats
    """Number of rows at each point."""
    mean: Floats
    """Mean of y, (points, outputs)."""
    squares: Floats
    """Sum of squared deviations of y from that mean, over all outputs."""


def all_rows(y: Floats) -> UniquePoints:
    """Every row as a point of its own."""
    rows = np.arange(len(y))
    return UniquePoints(slice(None), rows, np.ones(rows.size), y, np.zeros(rows.size))


def collapse_rows(cell: Positions, n_cells: int, y: Floats) -> UniquePoints:
    """Rows collapsed by the number of their cell."""
    if n_cells == len(y):
        return all_rows(y)
    count, mean, squares, example = group_rows(cell, n_cells, y)
    return UniquePoints(example, cell, count, mean, squares)


def number_rows(values: Floats) -> tuple[Positions, int]:
    """The number of each row's unique point, (rows,), and how many there are; ``values`` is (rows, factors)."""
    order = np.lexsort(values.T)
    ordered = values[order]
    starts = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    cell = np.empty(order.size, dtype=np.intp)
    cell[order] = np.cumsum(starts) - 1
    return number_cells(cell, cell.size)


def number_cells(cell: Positions, n_cells: int) -> tuple[Positions, int]:
    """The cells that occur numbered without gaps in the order of their first rows, (rows,), and how many there are."""
    rows = np.arange(cell.size)
    if n_cells > 4 * cell.size:
        _, first_rows, inverse_of = np.unique(cell, return_index=True, return_inverse=True)
        first_row = first_rows[inverse_of]
    else:
        first_rows = np.empty(n_cells, dtype=np.intp)
        first_rows[cell[::-1]] = rows[::-1]  # the last one assigned stays
        first_row = first_rows[cell]
    numbers = np.cumsum(first_row == rows)
    return numbers[first_row] - 1, int(numbers[-1])
