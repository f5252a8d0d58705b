"""What a search is made in: the table, the outer rows, the number of neighbours, and who does the work."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._utils import checks
from .._utils.threads import Workers
from ..data.design import Design
from .kernels.kd_tree import Tree, build_kd_tree
from .strategy import Floats, Positions

# Kernels number rows with 32 bits.
MAX_ROWS = 2**31 - 1


@dataclass(frozen=True)
class PermutedTree:
    """A k-d tree whose points are stored in tree order, so that what is near in space is near in memory."""

    tree: Tree
    caps: Floats
    """The most that each dimension adds to a squared distance, (dimensions,)."""
    position: Positions
    """Where each point went in tree order, (points,)."""


@dataclass(frozen=True)
class SearchSpace:
    """Where neighbours are searched; what kernels trust without checking is guaranteed here."""

    design: Design
    y: Floats
    outer: Positions
    n_neighbors: int
    workers: Workers

    def __post_init__(self) -> None:
        """Refuse what would make a kernel read beyond an array. Kernels check nothing; all they trust is checked here.

        Values of the design are finite and C-ordered float64, as `read_design` makes them.
        """
        n_rows, outer = self.design.n_rows, self.outer
        checks.integer("n_neighbors", self.n_neighbors, 2, n_rows, "the number of rows")
        if n_rows > MAX_ROWS:
            raise ValueError(f"X must have at most {MAX_ROWS:,} rows; got {n_rows:,}. Use a sample of them.")
        if not self.design.values.flags.c_contiguous or self.design.values.dtype != np.float64:
            raise TypeError(f"values of the design must be C-ordered float64; got {self.design.values.dtype}.")
        if self.y.shape != (n_rows,) or not self.y.flags.c_contiguous or self.y.dtype != np.float64:
            raise TypeError(f"y must be {n_rows} contiguous float64; got {self.y.dtype} of shape {self.y.shape}.")
        if not outer.size or outer[0] < 0 or outer[-1] >= n_rows or (np.diff(outer) <= 0).any():
            raise ValueError(f"outer must hold rows from 0 to {n_rows - 1} in increasing order; got {outer!r}.")

    def kd_tree(self, factors: Sequence[int], rows: Positions | slice = slice(None)) -> PermutedTree:
        """The k-d tree of some rows in the space of some factors, numeric ones first."""
        factors = self.numeric_first(factors)
        coordinates = np.ascontiguousarray(self.design.values[rows][:, factors].T)
        caps = self.design.caps[factors]
        tree = build_kd_tree(coordinates, caps, self.workers)
        return PermutedTree(tree, caps, inverse(tree.order))

    def numeric_first(self, factors: Sequence[int]) -> list[int]:
        """Factors in the order that kernels expect: distances without a cap are faster.

        A set has one order, whatever order it is given in: sums have the same bits, cached or not.
        """
        return sorted(factors, key=lambda i: (self.design.categorical[i], i))


def inverse(order: Positions) -> Positions:
    """The inverse of a permutation: where each entry went."""
    position = np.empty_like(order)
    position[order] = np.arange(order.size)
    return position


def occupied(points: Positions, n_rows: int, n_points: int) -> Positions:
    """The points, of ``n_points``, at which the given rows are, each once and in order.

    ``points`` has the point of each of these rows; if they are all ``n_rows`` of the table, every point is occupied.
    """
    if points.size == n_rows:
        return np.arange(n_points)
    taken = np.zeros(n_points, dtype=bool)
    taken[points] = True
    return np.flatnonzero(taken)
