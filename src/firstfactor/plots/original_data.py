"""The analysed table once more, in its own units: what effects, stand-ins and summaries are made of."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.text import printable
from ..data.column_reader import read_column
from ..data.columns import Labels, exact_floats, level_codes
from ..data.response import read_target as read_outputs
from ..data.stored_table import ColumnTable
from ..data.table import open_table
from ..results.indices import Indices

Floats = NDArray[np.float64]

# The label of values that are missing, among those of a category.
MISSING = "(missing)"


@dataclass(frozen=True)
class OriginalColumn:
    """One column of a factor as it stands in the table."""

    values: Floats
    """Numbers, not a number where missing; or for each row the position of its level."""
    levels: tuple[str, ...]
    """Labels in order, the last for missing values if there are some; empty for numbers."""

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """For each row the position of its level."""
        return self.values.astype(np.intp)

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """How many rows each level has."""
        return np.bincount(self.codes, minlength=len(self.levels))

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which rows have a value, (rows,)."""
        return ~np.isnan(self.values)

    @cached_property
    def ranks(self) -> Floats:
        """The rank of each number, equal ones sharing theirs; missing ones are in the middle."""
        from scipy.stats import rankdata  # takes half a second, and most results are never reported

        ranks = np.full(self.values.size, np.nan)
        ranks[self.known] = rankdata(self.values[self.known])
        return np.where(self.known, ranks, np.mean(ranks[self.known]) if self.known.any() else 0.0)

    def take(self, rows: NDArray[np.intp]) -> "OriginalColumn":
        """Some rows."""
        return OriginalColumn(self.values[rows], self.levels)


@dataclass(frozen=True)
class OriginalTarget:
    """The response as it stands in the table."""

    name: str
    values: Floats
    """(rows, series): a quantity, a column of 0 and 1 for each class (of two, for the second), or several outputs."""
    series: tuple[str, ...]
    """What each column is: the class or the output."""
    classes: tuple[str, ...] = ()
    """The labels; empty for quantities."""

    @property
    def label(self) -> str:
        """What the values are, for an axis."""
        if len(self.classes) == 2:
            return f"share of {self.name} = {self.classes[1]}"
        if self.classes:
            return f"share of each {self.name}"
        return self.name if len(self.series) == 1 else "outputs, standardised"


def read_columns(X: Any, indices: Indices, wanted: Collection[int]) -> Iterator[tuple[int, str, OriginalColumn]]:
    """Yield the columns of the factors ``wanted`` in the order of the table: factor, name and values."""
    factor_of = {j: i for i, members in enumerate(indices.members) for j in members}
    names, columns, n_rows = _open(X, [j for j, i in factor_of.items() if i in wanted])
    _refuse_another_table(names, indices, isinstance(columns, np.ndarray))
    rows = analysed_rows(indices, n_rows)
    for j, column in enumerate(columns.T if isinstance(columns, np.ndarray) else columns):
        i = factor_of[j]
        if i in wanted:
            name = indices.names[i]
            if len(indices.members[i]) > 1:
                name = f"{name}: {names[j]}"
            yield i, name, _read(column, names[j], indices.kinds[i] == "category").take(rows)


def _open(X: Any, wanted: Collection[int]) -> tuple[tuple[str, ...], NDArray[Any] | Iterator[Any], int]:
    """The names of the columns, the columns, and how many rows there are; of a table in files, only some are read."""
    if not isinstance(X, ColumnTable):
        return open_table(X)
    read = (next(iter(open_table(X.read([j]))[1])) if j in wanted else None for j in range(len(X.names)))
    return X.names, read, X.n_rows


def analysed_rows(indices: Indices, n_rows: int) -> NDArray[np.intp]:
    """The rows of a table that were analysed."""
    return np.arange(n_rows) if indices.rows is None else indices.rows


def count_rows(X: Any) -> int:
    """How many rows a table has."""
    return X.n_rows if isinstance(X, ColumnTable) else open_table(X)[2]


def read_target(y: Any, n_rows: int, indices: Indices) -> OriginalTarget:
    """The response in its own units."""
    outputs = read_outputs(y, n_rows).on_rows(analysed_rows(indices, n_rows))
    names = tuple(map(printable, outputs.names))
    if len(names) > 1:
        encoded = outputs.encode()
        if encoded.values.shape[1] != len(names):
            return OriginalTarget("outputs", encoded.values, tuple(f"{k + 1}" for k in range(encoded.values.shape[1])))
        return OriginalTarget("outputs", encoded.values / np.maximum(encoded.values.std(axis=0), 1e-300), names)
    if indices.task == "classification":
        encoded = outputs.encode("classification")
        classes = tuple(map(printable, encoded.classes))
        shown = [1] if len(classes) == 2 else range(len(classes))
        values = np.column_stack([encoded.codes == k for k in shown]).astype(np.float64)
        return OriginalTarget(names[0], values, tuple(classes[k] for k in shown), classes)
    return OriginalTarget(names[0], exact_floats(outputs.columns[0].values)[:, None], names)


def _refuse_another_table(names: tuple[str, ...], indices: Indices, unnamed: bool) -> None:
    """Refuse a table that is not the one analysed; names may be missing on one side."""
    n_columns = sum(map(len, indices.members))
    grouped = n_columns != len(indices.names)
    positions = tuple(f"x{j}" for j in range(n_columns))
    if len(names) == n_columns and (unnamed or grouped or names == indices.names or indices.names == positions):
        return
    raise ValueError(
        f"X must be the table that was analysed, with the columns {_first_few(indices.names)}; got {_first_few(names)}."
    )


def _first_few(names: tuple[str, ...]) -> str:
    """A few names for a message."""
    shown = ", ".join(repr(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown}, ... ({len(names)} in all)"


def _read(column: Any, name: str, category: bool) -> OriginalColumn:
    """One column of the table as numbers or as levels in order."""
    read = read_column(column, f"column {name!r} of X")
    values = read.values
    if isinstance(values, np.ndarray) and values.dtype != bool and not category:
        return OriginalColumn(read.spread(exact_floats(values)), ())
    codes, levels = level_codes(values)
    if isinstance(values, Labels) and not values.ordered:
        order = sorted(range(len(levels)), key=lambda i: str(levels[i]))
        rank = np.empty(len(levels))
        rank[order] = np.arange(len(levels))
        codes, levels = rank[codes].astype(np.intp), [levels[i] for i in order]
    labels = tuple(map(printable, levels))
    if not read.n_missing:
        return OriginalColumn(codes.astype(np.float64), labels)
    return OriginalColumn(np.nan_to_num(read.spread(codes), nan=len(labels)), (*labels, MISSING))
