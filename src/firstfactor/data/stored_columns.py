"""Columns that are not in one array: in files, on other machines, or in several arrays."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
OfColumn = Callable[[Floats, int], Any]
"""What is asked of a column: its values, (rows,), and its number are given."""
OfBlock = Callable[..., Any]
"""What is made of a block, or asked of it: see `ColumnsElsewhere.each_block`."""

# Factors that are searched, read and placed together. What is decided for a block depends on nothing else, so that a
# table has the same blocks, and results have the same bits, wherever its columns are.
MOST_IN_BLOCK = 64


def cut_factors(n_factors: int) -> list[range]:
    """The factors of a table, by position, in blocks of about equal size."""
    count = -(-n_factors // MOST_IN_BLOCK)
    return [range(a, b) for a, b in pairwise(n_factors * k // count for k in range(count + 1))]


class StoredColumns(ABC):
    """The columns of a design, scaled and ready to measure distances in, wherever they are."""

    shape: tuple[int, int]
    """Rows and columns."""
    at_a_time: int
    """How many columns are worth reading together."""

    @abstractmethod
    def view(self, columns: Sequence[int]) -> tuple[Floats, NDArray[np.intp]]:
        """A C-ordered array, (rows, …), that some columns are in, and where in it they are."""

    @abstractmethod
    def on_rows(self, rows: NDArray[np.intp], many_functions: bool = False) -> "StoredColumns | Floats":
        """The same columns on some rows; in memory if there is room, also for many functions of them if there are."""

    def map(self, ask: OfColumn, columns: Sequence[int]) -> list[Any]:
        """What is asked of each of some columns."""
        answers = []
        for j in columns:
            values, (where,) = self.view([j])
            answers.append(ask(values[:, where], j))
        return answers

    def sum(self, ask: OfColumn, columns: Sequence[int]) -> NDArray[Any]:
        """The sum over some columns of an array that is asked of each."""
        first, *others = columns
        total: NDArray[Any] = self.map(ask, [first])[0]
        for j in others:
            total = total + self.map(ask, [j])[0]
        return total


class JoinedColumns(StoredColumns):
    """The columns of several arrays, one after the other."""

    def __init__(self, parts: Sequence[Floats]) -> None:
        self._parts = parts
        self._part_of = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        self._place = np.concatenate([np.arange(part.shape[1]) for part in parts])
        self.shape = len(parts[0]), self._part_of.size
        self.at_a_time = self._part_of.size

    def view(self, columns: Sequence[int]) -> tuple[Floats, NDArray[np.intp]]:
        """An array, (rows, …), that some columns are in, and where in it they are; a copy if they are in several."""
        used = np.unique(self._part_of[list(columns)])
        if used.size == 1:
            return self._parts[used[0]], self._place[list(columns)]
        copied = np.column_stack([self._parts[self._part_of[j]][:, self._place[j]] for j in columns])
        return np.ascontiguousarray(copied), np.arange(len(columns))

    def on_rows(self, rows: NDArray[np.intp], many_functions: bool = False) -> StoredColumns:  # noqa: ARG002
        """The same columns on some rows."""
        return JoinedColumns([np.ascontiguousarray(part[rows]) for part in self._parts])


class ColumnsElsewhere(StoredColumns):
    """Columns that are not in memory: what is made of all factors is made block by block, where they are."""

    @abstractmethod
    def each_block(self, name: str, make: OfBlock, ask: OfBlock, factors: Sequence[int], *shared: Any) -> list[Any]:
        """What is asked of each block that some factors are in.

        ``name`` says what is being done. ``make`` makes something of a design of the block in memory; ``ask`` is given
        that, which of the factors in it are meant, and what is shared. What was made may be kept.
        """
