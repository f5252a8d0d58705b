"""Observations: X, y, weights and groups, read and checked once, as rows ready for analysis."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from .._utils.checks import InputError, Mention, Message
from .columns import Column, as_array, level_codes, read_column
from .design import Design, build_design
from .encoding import Encoded, encode_table, refuse_missing
from .response import Floats, RawResponse, Response, read_target
from .table import Factors, locate

# Weights below this share of the largest are set to 0: squares for such a row would overflow.
SMALLEST_WEIGHT = 1e-100


@dataclass(frozen=True)
class EncodingOptions:
    """Parameters that control how a table is read."""

    categorical: Factors | None = None
    scale: bool | Mapping[Any, float] = True
    missing: str = "level"
    factor_groups: Mapping[str, Factors] | None = None
    period: Mapping[Any, float] | None = None
    task: str = "auto"
    response_scale: str = "values"
    output_weights: Sequence[float] | None = None

    def of_columns(self, names: tuple[str, ...], columns: Sequence[int]) -> "EncodingOptions":
        """Return the parameters for some columns of a table, by position among these columns."""
        place = {j: k for k, j in enumerate(columns)}

        def find(parameter: str, said: Factors) -> list[int]:
            return [place[j] for j in locate(parameter, said, names, globs=True) if j in place]

        def numbers(parameter: str, said: Mapping[Any, float]) -> dict[int, float]:
            return {k: number for column, number in said.items() for k in find(parameter, column)}

        groups = {name: find("factor_groups", members) for name, members in (self.factor_groups or {}).items()}
        return replace(
            self,
            categorical=None if self.categorical is None else find("categorical", self.categorical),
            scale=numbers("scale", self.scale) if isinstance(self.scale, Mapping) else self.scale,
            factor_groups={name: members for name, members in groups.items() if members},
            period=numbers("period", self.period or {}),
        )


@dataclass(frozen=True)
class Dropped:
    """Numbers of rows that were dropped, by reason."""

    no_target: int = 0
    incomplete: int = 0
    """Rows with a missing value in a factor, if these are dropped."""
    no_weight: int = 0
    costs: tuple[tuple[str, int], ...] = ()
    """Columns with missing values and their numbers, largest first."""


def list_gaps(gaps: Sequence[tuple[str, int]], most: int = 10, where: str = "") -> str:
    """Return columns with their numbers of missing values as text, with ``where`` after the first."""
    first, *others = [f"{name!r} {count:,}" for name, count in gaps[:most]]
    more = f" and {len(gaps) - most:,} more columns" if len(gaps) > most else ""
    return ", ".join([first + where, *others]) + more


@dataclass(frozen=True)
class Observations:
    """Rows of a table, ready for analysis."""

    design: Design
    response: Response
    weights: Floats | None
    """Weight of each row, (rows,), with mean 1; None if all are equal."""
    groups: NDArray[np.intp] | None
    """Index of each row's group, (rows,); None without groups."""
    rows: NDArray[np.intp] | None
    """Rows of the table that these are; None for all rows."""
    dropped: Dropped


class StoredFactors(ABC):
    """Columns of a table that is not in memory as a whole, with the methods of `Encoded`."""

    names: tuple[str, ...]
    n_rows: int

    @abstractmethod
    def on_rows(self, rows: NDArray[np.intp]) -> "StoredFactors":
        """Return some rows."""

    @abstractmethod
    def find_gaps(self, rows: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Return a mask of the given rows that lack a value, and the number of such rows for each column."""

    @abstractmethod
    def design(self) -> Design:
        """Return the factors, encoded and scaled."""


class StoredTable(ABC):
    """Table that is not in memory as a whole."""

    @abstractmethod
    def open(self, reading: EncodingOptions) -> StoredFactors:
        """Return its columns, read with the given parameters."""


@dataclass(frozen=True)
class Table:
    """Rows of a table that can be analysed, in its own units."""

    encoded: Encoded | StoredFactors
    target: RawResponse
    weights: Floats | None
    groups: NDArray[np.intp] | None
    rows: NDArray[np.intp] | None
    """Rows of the table that these are; None for all rows."""
    dropped: Dropped
    reading: EncodingOptions

    def on_rows(self, rows: NDArray[np.intp]) -> "Table":
        """Return some of the rows."""
        return replace(
            self,
            encoded=self.encoded.on_rows(rows),
            target=self.target.on_rows(rows),
            weights=None if self.weights is None else self.weights[rows],
            groups=None if self.groups is None else self.groups[rows],
            rows=rows if self.rows is None else self.rows[rows],
        )

    def observe(self) -> Observations:
        """Encode and scale the rows."""
        reading, weights = self.reading, _normalise(self.weights)
        if isinstance(self.encoded, StoredFactors):
            design = self.encoded.design()
        else:
            design = build_design(self.encoded, reading.scale, reading.factor_groups, reading.period)
        return Observations(
            design,
            self.target.encode(reading.task, reading.response_scale, reading.output_weights, weights),
            weights,
            None if self.groups is None else np.unique(self.groups, return_inverse=True)[1].astype(np.intp),
            self.rows,
            self.dropped,
        )


def read_table(X: Any, y: Any, reading: EncodingOptions, sample_weight: Any = None, groups: Any = None) -> Table:
    """Read and check a table, the response, and the weights and groups of rows.

    Rows without a response or with a weight of 0 are dropped, and those with missing values in a factor if
    ``reading.missing`` is "drop".
    """
    encoded = X.open(reading) if isinstance(X, StoredTable) else encode_table(X, reading.categorical)
    n_rows = encoded.n_rows
    target = read_target(y, n_rows)
    weights = None if sample_weight is None else _read_weights(sample_weight, n_rows)
    codes = None if groups is None else level_codes(_read_rows(groups, "groups", n_rows).values)[0]
    rows, dropped = _find_rows(encoded, target.missing, weights, reading.missing)
    table = Table(encoded, target, weights, codes, None, dropped, reading)
    if rows.size < n_rows:
        _refuse_too_few(rows.size, n_rows, dropped)
        table = table.on_rows(rows)
    if reading.missing == "error" and isinstance(table.encoded, Encoded):
        refuse_missing(table.encoded)  # stored tables are checked as they are read
    if table.groups is not None and (table.groups == table.groups[0]).all():
        raise InputError("{groups} must tell at least two groups apart; all rows have the same one.")
    return table


def _find_rows(
    encoded: Encoded | StoredFactors, no_response: NDArray[np.bool_], weights: Floats | None, missing: str
) -> tuple[NDArray[np.intp], Dropped]:
    """Return the rows to analyse, and the numbers dropped; a row counts for the first reason that applies."""
    n_rows = encoded.n_rows
    no_weight = np.zeros(n_rows, dtype=bool) if weights is None else ~no_response & (weights == 0)
    kept = ~no_response & ~no_weight
    costs: tuple[tuple[str, int], ...] = ()
    incomplete = np.zeros(n_rows, dtype=bool)
    if missing == "drop":
        incomplete[kept], counts = encoded.find_gaps(kept)
        worst = [int(j) for j in np.argsort(-counts, kind="stable") if counts[j]]
        costs = tuple((encoded.names[j], int(counts[j])) for j in worst)
    rows = np.flatnonzero(kept & ~incomplete)
    return rows, Dropped(int(no_response.sum()), int(incomplete.sum()), int(no_weight.sum()), costs)


def _refuse_too_few(n_left: int, n_rows: int, dropped: Dropped) -> None:
    if n_left >= 2:
        return
    worst = ", ".join(f"{name!r} ({count:,})" for name, count in dropped.costs[:10])
    why = Message(' Missing values cost most rows in {worst}; use {missing="level"} to keep them.', worst=worst)
    reasons = {
        "no response": dropped.no_target, "a weight of 0": dropped.no_weight, "missing values": dropped.incomplete,
    }  # fmt: skip
    said = ", ".join(f"{count:,} with {reason}" for reason, count in reasons.items() if count)
    raise InputError(
        "at least 2 rows are needed, but {n_left} of {n_rows:,} are left ({said} dropped).{why}",
        n_left=n_left,
        n_rows=n_rows,
        said=said,
        why=why if worst else "",
    )


def _read_weights(sample_weight: Any, n_rows: int) -> Floats:
    column = _read_rows(sample_weight, "sample_weight", n_rows)
    values = column.values
    if column.temporal:
        raise InputError("{sample_weight} must hold numbers; got dates or times.")
    if not isinstance(values, np.ndarray):
        raise InputError("{sample_weight} must hold numbers; got {value!r}.", value=values[0])
    weights = values.astype(np.float64)
    if (weights < 0).any():
        raise InputError("{sample_weight} must hold numbers of at least 0; got {least:g}.", least=weights.min())
    if not weights.any():
        raise InputError("{sample_weight} must not be zero for all rows: nothing would be left.")
    return np.where(weights < SMALLEST_WEIGHT * weights.max(), 0.0, weights)


def _read_rows(values: Any, parameter: str, n_rows: int) -> Column:
    """Read one value for each row, none of which may be missing."""
    native = nw.from_native(values, pass_through=True, allow_series=True)
    column = read_column(native if isinstance(native, nw.Series) else as_array(values).ravel(), Mention(parameter))
    if len(column) != n_rows:
        raise InputError(
            "{parameter} must have one value per row{ of X} ({n_rows}); got {found}.",
            parameter=Mention(parameter),
            n_rows=n_rows,
            found=len(column),
        )
    if column.missing is not None:
        row = int(np.argmax(column.missing))
        raise InputError(
            "{parameter} contains NaN (row {row}). Every row needs a value; leave out the row.",
            parameter=Mention(parameter),
            row=row,
        )
    return column


def _normalise(weights: Floats | None) -> Floats | None:
    """Scale weights to a mean of 1; return None if all are equal."""
    if weights is None or np.ptp(weights) == 0:
        return None
    scaled: Floats = weights / weights.max()  # sums of huge weights would overflow
    scaled /= scaled.mean()
    return scaled
