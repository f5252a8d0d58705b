"""Search space: the table, the outer rows, the number of neighbours, and the workers; and its unique points."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils import checks
from .._utils.threads import Workers
from ..data.design import Design
from .kernels.kd_tree import KDTree, build_kd_tree
from .kernels.single_column import group_rows
from .strategy import Floats, Positions

# Kernels number rows with 32 bits.
MAX_ROWS = 2**31 - 1


@dataclass(frozen=True)
class PermutedTree:
    """k-d tree with points stored in tree order, so that points near in space are near in memory."""

    tree: KDTree
    caps: Floats
    """Squared distance of values that are not comparable, (dimensions,)."""
    position: Positions
    """Position of each point in tree order, (points,)."""


@dataclass(frozen=True)
class SearchSpace:
    """Space in which neighbours are searched, with the guarantees that kernels rely on without checking."""

    design: Design
    y: Floats
    """Response, (rows, outputs)."""
    outer: Positions
    n_neighbors: int
    workers: Workers
    weights: Floats | None = None
    """Weight of the ball of each row in means, (rows,); None if all are equal."""
    groups: Positions | None = None
    """Group of each row, (rows,), whose rows are never each other's neighbours; None without groups."""

    def __post_init__(self) -> None:
        """Raise an error for input that would make a kernel read beyond an array: kernels check nothing themselves.

        Values of the design are finite and C-ordered float64, as `build_design` makes them.
        """
        n_rows, outer = self.design.n_rows, self.outer
        most, why = most_neighbors(n_rows, self.groups)
        checks.integer("n_neighbors", self.n_neighbors, 2, most, why)
        if n_rows > MAX_ROWS:
            raise checks.InputError(
                "{X} must have at most {most:,} rows; got {n_rows:,}. Use a sample of them.",
                most=MAX_ROWS,
                n_rows=n_rows,
            )
        values = self.design.values
        if isinstance(values, np.ndarray) and not (values.flags.c_contiguous and values.dtype == np.float64):
            raise TypeError(f"values of the design must be C-ordered float64; got {values.dtype}.")
        if self.y.shape[:1] != (n_rows,) or self.y.ndim != 2 or not _is_contiguous(self.y, np.float64):
            raise TypeError(f"y must be {n_rows} rows of contiguous float64; got {self.y.dtype} of {self.y.shape}.")
        for name, array, dtype in (("weights", self.weights, np.float64), ("groups", self.groups, np.intp)):
            if array is not None and (array.shape != (n_rows,) or not _is_contiguous(array, dtype)):
                raise TypeError(f"{name} must be {n_rows} contiguous {np.dtype(dtype)}; got {array.dtype}.")
        if not outer.size or outer[0] < 0 or outer[-1] >= n_rows or (np.diff(outer) <= 0).any():
            raise ValueError(f"outer must hold rows from 0 to {n_rows - 1} in increasing order; got {outer!r}.")

    def kd_tree(self, factors: Sequence[int], rows: Positions | slice = slice(None)) -> PermutedTree:
        """Return the k-d tree of some rows in the space of some factors."""
        columns = self.columns_in_order(factors)
        values, where = self.design.view(columns)
        coordinates = np.ascontiguousarray(values[rows][:, where].T)
        caps = self.design.caps[columns]
        tree = build_kd_tree(coordinates, caps, self.workers)
        return PermutedTree(tree, caps, inverse(tree.order))

    def columns_in_order(self, factors: Sequence[int]) -> list[int]:
        """Return the columns of factors in the order that kernels expect: first those without a cap, which are faster.

        Then follow numbers with missing values, and last categories. A set has one order, however it is given, so that
        sums are bit-for-bit identical, cached or not.
        """
        design = self.design
        return sorted(
            design.columns_of(factors), key=lambda j: (bool(np.isfinite(design.caps[j])), design.categorical[j], j)
        )

    @cached_property
    def row_weights(self) -> Floats:
        """Weight of the ball of each row, (rows,)."""
        return np.ones(self.design.n_rows) if self.weights is None else self.weights

    @cached_property
    def outer_weight(self) -> float:
        """Total weight of all outer rows."""
        return float(self.row_weights[self.outer].sum())

    def mean_over_outer(self, values: Floats) -> float:
        """Return the weighted mean of a value for each outer row."""
        if self.weights is None:
            return float(values.mean())
        return float(self.weights[self.outer] @ values) / self.outer_weight


def _is_contiguous(array: NDArray[Any], dtype: Any) -> bool:
    return bool(array.flags.c_contiguous) and array.dtype == dtype


def most_neighbors(n_rows: int, groups: Positions | None) -> tuple[int, str]:
    """Return the largest number of neighbours that every row has, itself included, and a description of it."""
    if groups is None:
        return n_rows, "the number of rows"
    return n_rows - int(np.bincount(groups).max()) + 1, "the rows outside of the largest group, and one"


def inverse(order: Positions) -> Positions:
    """Return the inverse of a permutation: the position of each entry."""
    position = np.empty_like(order)
    position[order] = np.arange(order.size)
    return position


def occupied(points: Positions, n_rows: int, n_points: int) -> Positions:
    """Return the points, out of ``n_points``, that hold the given rows, each once and in order.

    ``points`` is the point of each of these rows; if they are all ``n_rows`` of the table, every point is occupied.
    """
    if points.size == n_rows:
        return np.arange(n_points)
    taken = np.zeros(n_points, dtype=bool)
    taken[points] = True
    return np.flatnonzero(taken)


# --- unique points ----------------------------------------------------------------------------------------------------


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
