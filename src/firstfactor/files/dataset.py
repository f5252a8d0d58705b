"""From a source to a table: only the columns and rows that are wanted, checked and typed; in memory unless said."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import polars as pl

from .._utils.text import list_names
from .column_names import quote_names
from .dates import split_dates
from .gaps import Dropped, count_missing, drop_rows, find_gaps, refuse_few_rows, refuse_missing
from .inventory import MOST_LEVELS, ColumnInfo, take_inventory
from .roles import Request, Roles, find_roles, resolve_names, sort_out
from .source import Source
from .values import as_whole, read_columns, say_date_readings, say_readings


class Stored(Protocol):
    """Factors that stay in their files."""

    jobs: int
    """Threads that there is memory for."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""

    def __len__(self) -> int: ...

    def close(self) -> None:
        """Remove temporary files."""


@dataclass(frozen=True)
class Dataset:
    """Factors and response, and what happened on the way."""

    shown: str
    X: pl.DataFrame | Stored
    """The factors: in memory, or in files from which columns are read when they are wanted."""
    y: pl.Series | pl.DataFrame
    """A column, or a frame of several outputs."""
    weights: pl.Series | None = None
    """How much each row counts."""
    groups: pl.Series | None = None
    """Which rows belong together."""
    column_options: Mapping[str, Any] = field(default_factory=dict)
    """What is said about columns of X, with their names in full: ``categorical``, ``factor_groups``, ``period``,
    ``scale`` and ``forced``, as `FIRST` takes them."""
    date_parts: tuple[str, ...] = ()
    """Columns of X that are parts of dates."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Columns that cannot be factors, and why."""
    n_read: int = 0
    """Rows in the file."""
    n_drawn: int | None = None
    """Rows drawn at random, if not all."""
    dropped: Dropped = field(default_factory=Dropped)
    """Rows left out for missing values."""
    n_copies: int = 0
    """Rows left out because they are equal to others."""
    remarks: tuple[str, ...] = ()
    """What the person may want to look at, in sentences."""
    true_factors: tuple[str, ...] = ()
    """Which factors matter, where that is known."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """How the file was read: options of the command, with what was guessed."""

    @property
    def target_names(self) -> tuple[str, ...]:
        """The name of each output."""
        return (self.y.name,) if isinstance(self.y, pl.Series) else tuple(self.y.columns)

    @property
    def response_name(self) -> str:
        """All outputs as a list in words."""
        return list_names(self.target_names)

    @property
    def n_dropped(self) -> int:
        """Rows left out for missing values, whichever."""
        return self.dropped.no_target + self.dropped.incomplete

    @property
    def jobs(self) -> int | None:
        """Threads that there is memory for; None if that does not matter."""
        return None if isinstance(self.X, pl.DataFrame) else self.X.jobs

    def close(self) -> None:
        """Remove temporary files of a table that is not in memory."""
        if not isinstance(self.X, pl.DataFrame):
            self.X.close()

    @property
    def categorical(self) -> tuple[str, ...]:
        """Factors to take as categories whatever they hold."""
        return tuple(self.column_options.get("categorical", ()))


@dataclass(frozen=True)
class Wanted:
    """The part of a table that is wanted."""

    source: Source
    request: Request
    roles: Roles
    others: Sequence[ColumnInfo]
    """Targets, weights and groups."""
    used: Sequence[ColumnInfo]
    """The columns that are factors."""
    drawn: pl.Series | None
    """The rows that are wanted; None for all."""

    @property
    def n_rows(self) -> int:
        """How many rows the source has."""
        return self.others[0].n_rows


class Contents(NamedTuple):
    """What was wanted."""

    others: pl.DataFrame
    """Targets, weights and groups."""
    X: pl.DataFrame | Stored
    periods: dict[str, float]
    """Those of parts of dates."""
    dropped: Dropped
    n_copies: int
    """Rows left out because they are equal to others."""
    has_dates: bool


def read_dataset(source: Source, request: Request, read: Callable[[Wanted], Contents] | None = None) -> Dataset:
    """Find out what the columns hold, then read those that are wanted, with ``read`` if not all into memory."""
    roles = find_roles(source, request)
    inventory = _look(source, request, roles)
    used, left_out = _choose(source, request, roles, inventory)
    others = [inventory[name] for name in roles.others]
    n_rows = others[0].n_rows
    drawn = _draw(n_rows, request)
    contents = (read or read_all)(Wanted(source, request, roles, others, used, drawn))
    rows, X = contents.others, contents.X
    no_dates = request.parameters.date_parts and not contents.has_dates
    remarks = ["No column in use holds dates that have parts."] if no_dates else []
    return Dataset(
        source.shown,
        X,
        _outputs(source, request, rows, roles.targets),
        weights=None if roles.weight is None else _check_weights(source, rows.get_column(roles.weight)),
        groups=None if roles.groups is None else rows.get_column(roles.groups),
        column_options=resolve_names(source, request, roles, X.columns, contents.periods),
        date_parts=tuple(name for name in X.columns if name not in inventory),
        left_out=left_out,
        n_read=n_rows,
        n_drawn=None if drawn is None else len(drawn),
        dropped=contents.dropped,
        n_copies=contents.n_copies,
        remarks=(*say_readings(source, [*others, *used]), *say_date_readings(used, roles.categorical), *remarks),
        reading=source.reading,
    )


def read_all(wanted: Wanted) -> Contents:
    """All of it in memory."""
    source, request, roles = wanted.source, wanted.request, wanted.roles
    everything = read_columns(source, [*wanted.others, *wanted.used], wanted.drawn, roles.categorical)
    frame, dropped = drop_rows(everything, roles, request.options.missing == "drop")
    refuse_few_rows(source, wanted.n_rows, len(frame), dropped)
    read = frame.unique(maintain_order=True) if request.parameters.unique else frame
    X, periods = list[pl.Series](), dict[str, float]()
    for column in wanted.used:
        values, repeating = split_column(wanted, read.get_column(column.name))
        X += values
        periods |= repeating
    has_dates = any(values.dtype.is_temporal() for values in X)
    return Contents(read, pl.DataFrame(X), periods, dropped, len(frame) - len(read), has_dates)


def _choose(
    source: Source, request: Request, roles: Roles, inventory: Mapping[str, ColumnInfo]
) -> tuple[list[ColumnInfo], dict[str, str]]:
    """The columns that are factors, and why others are not; refuse a table that cannot be analysed."""
    for name in roles.targets:
        _check_target(source, inventory[name])
    _check_rows(source, roles, inventory)
    used, left_out = sort_out(source, request, [inventory[name] for name in roles.factors], roles.categorical)
    if not used:
        why = "; ".join(f"{name!r}: {reason}" for name, reason in left_out.items())
        raise ValueError(
            f"{source.shown} has no column that can be a factor of {quote_names(roles.targets)} "
            f"({why or 'none is left'})."
        )
    if request.options.missing == "error":
        refuse_missing(source, used, roles.targets)
    return used, left_out


def _look(source: Source, request: Request, roles: Roles) -> dict[str, ColumnInfo]:
    """What all columns in use hold, by name."""
    as_text = [*roles.categorical, *([] if roles.groups is None else [roles.groups])]
    if request.options.task == "classification":
        as_text += roles.targets
    names = [*roles.others, *roles.factors]
    found = take_inventory(source, names, as_text, request.options.missing == "level")
    return {column.name: column for column in found}


def _check_target(source: Source, target: ColumnInfo) -> None:
    if target.n_rows == 0:
        raise ValueError(f"{source.shown} has no rows below its header.")
    if target.present == 0:
        raise ValueError(f"target: column {target.name!r} of {source.shown} has no values.")
    if target.holds in ("dates", "other") or target.writing is not None:
        held = target.why_left_out if target.holds == "other" else "dates or times"
        raise ValueError(
            f"target: column {target.name!r} of {source.shown} holds {held}; a response is numbers or classes."
        )


def _check_rows(source: Source, roles: Roles, inventory: Mapping[str, ColumnInfo]) -> None:
    """Refuse weights and groups that do not say something about every row."""
    for option, name in (("weight", roles.weight), ("groups", roles.groups)):
        if name is None:
            continue
        column = inventory[name]
        if option == "weight" and column.holds != "numbers":
            raise ValueError(f"weight: column {name!r} of {source.shown} must hold numbers. Name another column.")
        gaps = find_gaps(source, [name], roles.targets) if column.missing else None
        if gaps is not None and gaps[0]:
            count, row = gaps
            raise ValueError(
                f"{option}: column {name!r} of {source.shown} has {count_missing(count)} "
                f"({'first ' if count > 1 else ''}on {source.place(row)}). Every row needs one: fill it in, or leave "
                "out the row."
            )


def _check_weights(source: Source, weights: pl.Series) -> pl.Series:
    least, most = float(weights.min()), float(weights.max())  # type: ignore[arg-type]
    if least < 0 or most == 0:
        raise ValueError(
            f"weight: column {weights.name!r} of {source.shown} must hold numbers of at least 0, some above it; got "
            f"{least:g} to {most:g}."
        )
    return weights


def _draw(n_rows: int, request: Request) -> pl.Series | None:
    """The rows to read, or None for all."""
    if request.parameters.sample is None or request.parameters.sample >= n_rows:
        return None
    rows = np.random.default_rng(request.parameters.seed).choice(
        n_rows, request.parameters.sample, replace=False, shuffle=False
    )
    return pl.Series(np.sort(rows)).cast(pl.UInt32)


def _outputs(source: Source, request: Request, frame: pl.DataFrame, targets: Sequence[str]) -> pl.Series | pl.DataFrame:
    """The response: a column, or several."""
    columns = [as_whole(frame.get_column(name)) for name in targets]
    for column in columns:
        _check_classes(source, column, request.options.task)
    return columns[0] if len(columns) == 1 else pl.DataFrame(columns)


def _check_classes(source: Source, target: pl.Series, task: str) -> None:
    """Refuse labels of which nearly every row has one of its own."""
    if target.dtype.is_numeric() and task != "classification":
        return
    levels = target.n_unique()
    if levels == len(target) > 2 or levels > max(MOST_LEVELS, len(target) / 2):
        what = "values" if target.dtype.is_numeric() else "texts"
        way_out = "Leave out task=" if target.dtype.is_numeric() else "Name a column with fewer labels"
        raise ValueError(
            f"target: column {target.name!r} of {source.shown} holds {levels:,} different {what} in {len(target):,} "
            f"rows; a class needs several rows. {way_out}, or add a column that sorts them into fewer classes."
        )


def split_column(wanted: Wanted, values: pl.Series) -> tuple[list[pl.Series], dict[str, float]]:
    """A factor, then the parts of its dates if they are wanted; and the periods of these."""
    whole = as_whole(values) if values.name in wanted.roles.categorical else values
    if not (wanted.request.parameters.date_parts and values.dtype in (pl.Date, pl.Datetime, pl.Time)):
        return [whole], {}
    parts, periods = split_dates(values.name, values)
    known = {column.name for column in wanted.used}
    clash = next((part.name for part in parts if part.name in known), None)
    if clash is not None:
        raise ValueError(f"date_parts: {wanted.source.shown} has a column {clash!r} already. Rename it, or use drop=.")
    return [whole, *parts], periods
