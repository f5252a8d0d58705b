"""Equal rows collapsed to one weighted point."""

from dataclasses import dataclass

import numpy as np

from .kernels.single_column import group_rows
from .strategy import Floats, Positions


@dataclass(frozen=True)
class UniquePoints:
    """Distinct points of a table in the space of some factors, with the moments of y at each."""

    rows: Positions | slice
    """One row at each point; all rows if none are equal."""
    of_row: Positions
    """Point of each row, (rows,)."""
    count: Floats
    """Number of rows at each point, (points,)."""
    mean: Floats
    """Mean of y at each point, (points, outputs)."""
    squares: Floats
    """Sum of squared deviations of y from that mean, over all outputs, (points,)."""


def all_rows(y: Floats) -> UniquePoints:
    """Return every row as a point of its own."""
    rows = np.arange(len(y))
    return UniquePoints(slice(None), rows, np.ones(rows.size), y, np.zeros(rows.size))


def collapse_rows(cell: Positions, n_cells: int, y: Floats) -> UniquePoints:
    """Collapse rows by their cell."""
    if n_cells == len(y):
        return all_rows(y)
    count, mean, squares, example = group_rows(cell, n_cells, y)
    return UniquePoints(example, cell, count, mean, squares)


def number_rows(values: Floats) -> tuple[Positions, int]:
    """Return the index of each row's unique point, (rows,), and the number of points; ``values`` is (rows, factors)."""
    order = np.lexsort(values.T)
    ordered = values[order]
    starts = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    cell = np.empty(order.size, dtype=np.intp)
    cell[order] = np.cumsum(starts) - 1
    return number_cells(cell, cell.size)


def number_cells(cell: Positions, n_cells: int) -> tuple[Positions, int]:
    """Renumber the cells that occur in the order of their first rows; return the numbers, (rows,), and how many."""
    rows = np.arange(cell.size)
    if n_cells > 4 * cell.size:
        _, first_rows, inverse_of = np.unique(cell, return_index=True, return_inverse=True)
        first_row = first_rows[inverse_of]
    else:
        first_rows = np.empty(n_cells, dtype=np.intp)
        first_rows[cell[::-1]] = rows[::-1]  # the last assignment wins
        first_row = first_rows[cell]
    numbers = np.cumsum(first_row == rows)
    return numbers[first_row] - 1, int(numbers[-1])
