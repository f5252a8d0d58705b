"""Columns that are not in one array: in files, on other machines, or in several arrays."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
OfColumn = Callable[[Floats, int], Any]
"""Function of a column, given its values, (rows,), and its index."""
OfBlock = Callable[..., Any]
"""Function that builds something from a block or is applied to it; see `RemoteColumns.each_block`."""

# Maximum number of factors that are searched, read and placed together. Decisions for a block depend on nothing else,
# so that a table has the same blocks, and results are bit-for-bit identical, wherever its columns are stored.
MOST_IN_BLOCK = 64


def cut_factors(n_factors: int) -> list[range]:
    """Return the factors of a table, by position, in blocks of about equal size."""
    count = -(-n_factors // MOST_IN_BLOCK)
    return [range(a, b) for a, b in pairwise(n_factors * k // count for k in range(count + 1))]


class StoredColumns(ABC):
    """Scaled columns of a design, ready for the computation of distances, in any storage."""

    shape: tuple[int, int]
    """Numbers of rows and columns."""
    at_a_time: int
    """Number of columns to read together."""

    @abstractmethod
    def view(self, columns: Sequence[int]) -> tuple[Floats, NDArray[np.intp]]:
        """Return a C-ordered array, (rows, …), that contains the given columns, and their positions in it."""

    @abstractmethod
    def on_rows(self, rows: NDArray[np.intp], many_functions: bool = False) -> "StoredColumns | Floats":
        """Return the columns on some rows; in memory if they fit, if needed together with many functions of them."""

    def map(self, ask: OfColumn, columns: Sequence[int]) -> list[Any]:
        """Return the result of a function for each column."""
        answers = []
        for j in columns:
            values, (where,) = self.view([j])
            answers.append(ask(values[:, where], j))
        return answers

    def sum(self, ask: OfColumn, columns: Sequence[int]) -> NDArray[Any]:
        """Return the sum over columns of the array that a function returns for each."""
        first, *others = columns
        total: NDArray[Any] = self.map(ask, [first])[0]
        for j in others:
            total = total + self.map(ask, [j])[0]
        return total


class JoinedColumns(StoredColumns):
    """Columns of several arrays, one after the other."""

    def __init__(self, parts: Sequence[Floats]) -> None:
        self._parts = parts
        self._part_of = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        self._place = np.concatenate([np.arange(part.shape[1]) for part in parts])
        self.shape = len(parts[0]), self._part_of.size
        self.at_a_time = self._part_of.size

    def view(self, columns: Sequence[int]) -> tuple[Floats, NDArray[np.intp]]:
        """Return an array, (rows, …), that contains the columns, and their positions; a copy if they are in several."""
        used = np.unique(self._part_of[list(columns)])
        if used.size == 1:
            return self._parts[used[0]], self._place[list(columns)]
        copied = np.column_stack([self._parts[self._part_of[j]][:, self._place[j]] for j in columns])
        return np.ascontiguousarray(copied), np.arange(len(columns))

    def on_rows(self, rows: NDArray[np.intp], many_functions: bool = False) -> StoredColumns:  # noqa: ARG002
        """Return the columns on some rows."""
        return JoinedColumns([np.ascontiguousarray(part[rows]) for part in self._parts])


class RemoteColumns(StoredColumns):
    """Columns that are not in memory: computations on all factors run block by block, where these are stored."""

    @abstractmethod
    def each_block(self, name: str, make: OfBlock, ask: OfBlock, factors: Sequence[int], *shared: Any) -> list[Any]:
        """Return the result of a function for each block that contains some of the factors.

        ``name`` describes the computation. ``make`` builds an object from a design of the block in memory; ``ask`` is
        called with that object, the positions of the given factors in it, and the shared arguments. The object may be
        kept.
        """
