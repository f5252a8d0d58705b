"""The analysed table once more, in its own units: what effects, stand-ins and summaries are made of."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from .._utils.text import printable
from ..data.columns import exact_floats, level_codes, read_column
from ..data.design import open_table
from ..data.response import Task, read_response, read_values
from ..results.indices import Indices


@dataclass(frozen=True)
class Column:
    """One factor as it stands in the table."""

    values: NDArray[np.float64]
    """Numbers, or for each row the position of its level."""
    levels: tuple[str, ...]
    """Labels in order; empty for numbers."""

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """For each row the position of its level."""
        return self.values.astype(np.intp)

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """How many rows each level has."""
        return np.bincount(self.codes, minlength=len(self.levels))

    @cached_property
    def ranks(self) -> NDArray[np.float64]:
        """The rank of each number, equal ones sharing theirs."""
        from scipy.stats import rankdata  # takes half a second, and most results are never reported

        return np.asarray(rankdata(self.values))

    def take(self, rows: NDArray[np.intp]) -> "Column":
        """Some rows."""
        return Column(self.values[rows], self.levels)


@dataclass(frozen=True)
class Target:
    """The response as it stands in the table; two classes are 0 and 1."""

    name: str
    values: NDArray[np.float64]
    classes: tuple[str, ...]
    """The two labels; empty for a quantity."""

    @property
    def label(self) -> str:
        """What the values are, for an axis."""
        return f"share of {self.name} = {self.classes[1]}" if self.classes else self.name


def read_columns(X: Any, indices: Indices, wanted: Collection[int]) -> Iterator[tuple[int, Column]]:
    """Yield the factors at the positions ``wanted`` in the order of the table, each with its position."""
    names, columns, _ = open_table(X)
    _refuse_another_table(names, indices.names, isinstance(columns, np.ndarray))
    for j, column in enumerate(columns.T if isinstance(columns, np.ndarray) else columns):
        if j in wanted:
            yield j, _read(column, names[j], indices.kinds[j] == "category")


def count_rows(X: Any) -> int:
    """How many rows a table has."""
    return open_table(X)[2]


def read_target(y: Any, n_rows: int, task: Task) -> Target:
    """The response in its own units."""
    response = read_response(y, n_rows, task)
    name = _name_of(y)
    if response.classes:
        return Target(name, (response.values > 0).astype(np.float64), tuple(map(printable, response.classes)))
    return Target(name, exact_floats(np.asarray(read_values(y))), ())


def _refuse_another_table(names: tuple[str, ...], analysed: tuple[str, ...], unnamed: bool) -> None:
    """Refuse a table that is not the one analysed; names may be missing on one side."""
    positions = tuple(f"x{j}" for j in range(len(analysed)))
    if len(names) == len(analysed) and (unnamed or names == analysed or analysed == positions):
        return
    raise ValueError(
        f"X must be the table that was analysed, with the columns {_first_few(analysed)}; got {_first_few(names)}."
    )


def _first_few(names: tuple[str, ...]) -> str:
    """A few names for a message."""
    shown = ", ".join(repr(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown}, ... ({len(names)} in all)"


def _read(column: Any, name: str, category: bool) -> Column:
    """One column of the table as numbers or as levels in order."""
    values = read_column(column, f"column {name!r} of X")
    if not category and isinstance(values, np.ndarray) and values.dtype != bool:
        return Column(exact_floats(values), ())
    codes, levels = level_codes(values)
    if isinstance(values, np.ndarray):
        return Column(codes.astype(np.float64), tuple(map(printable, levels)))
    order = sorted(range(len(levels)), key=lambda i: str(levels[i]))
    rank = np.empty(len(levels))
    rank[order] = np.arange(len(levels))
    return Column(rank[codes], tuple(printable(levels[i]) for i in order))


def _name_of(y: Any) -> str:
    """The name that a response brings along."""
    target = nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(target, nw.DataFrame):
        return printable(target.columns[0])
    named = isinstance(target, nw.Series) and target.name not in (None, "")
    return printable(target.name) if named else "y"
