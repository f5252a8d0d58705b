"""From a source to a table in memory: only the columns and rows that are wanted, checked and typed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from .._utils.text import list_names
from .column_names import quote_names
from .column_types import MOST_LEVELS, Column
from .dates import split_dates
from .gaps import Dropped, count_missing, drop_rows, find_gaps, refuse_few_rows, refuse_missing
from .inventory import take_inventory
from .roles import Request, Roles, find_roles, resolve_names, sort_out
from .source import Source
from .values import as_whole, read_columns, say_date_readings, say_readings


@dataclass(frozen=True)
class Dataset:
    """Factors and response in memory, and what happened on the way."""

    shown: str
    X: pl.DataFrame
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
    def categorical(self) -> tuple[str, ...]:
        """Factors to take as categories whatever they hold."""
        return tuple(self.column_options.get("categorical", ()))


def read_dataset(source: Source, request: Request) -> Dataset:
    """Find out what the columns hold, then read those that are wanted."""
    roles = find_roles(source, request)
    inventory = _look(source, request, roles)
    used, left_out = _choose(source, request, roles, inventory)
    others = [inventory[name] for name in roles.others]
    n_rows = others[0].n_rows
    drawn = _draw(n_rows, request)
    everything = read_columns(source, [*others, *used], drawn, roles.categorical)
    frame, dropped = drop_rows(everything, roles, request.options.missing == "drop")
    refuse_few_rows(source, n_rows, len(frame), dropped)
    read = frame.unique(maintain_order=True) if request.parameters.unique else frame
    X, periods, remarks = _split_dates(source, request, read, used, roles.categorical)
    return Dataset(
        source.shown,
        X,
        _outputs(source, request, read, roles.targets),
        weights=None if roles.weight is None else _check_weights(source, read.get_column(roles.weight)),
        groups=None if roles.groups is None else read.get_column(roles.groups),
        column_options=resolve_names(source, request, roles, X.columns, periods),
        date_parts=tuple(name for name in X.columns if name not in inventory),
        left_out=left_out,
        n_read=n_rows,
        n_drawn=None if drawn is None else len(drawn),
        dropped=dropped,
        n_copies=len(frame) - len(read),
        remarks=(*say_readings(source, [*others, *used]), *say_date_readings(used, roles.categorical), *remarks),
        reading=source.reading,
    )


def _choose(
    source: Source, request: Request, roles: Roles, inventory: Mapping[str, Column]
) -> tuple[list[Column], dict[str, str]]:
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


def _look(source: Source, request: Request, roles: Roles) -> dict[str, Column]:
    """What all columns in use hold, by name."""
    as_text = [*roles.categorical, *([] if roles.groups is None else [roles.groups])]
    if request.options.task == "classification":
        as_text += roles.targets
    names = [*roles.others, *roles.factors]
    found = take_inventory(source, names, as_text, request.options.missing == "level")
    return {column.name: column for column in found}


def _check_target(source: Source, target: Column) -> None:
    if target.n_rows == 0:
        raise ValueError(f"{source.shown} has no rows below its header.")
    if target.present == 0:
        raise ValueError(f"target: column {target.name!r} of {source.shown} has no values.")
    if target.holds in ("dates", "other") or target.writing is not None:
        held = target.why_left_out if target.holds == "other" else "dates or times"
        raise ValueError(
            f"target: column {target.name!r} of {source.shown} holds {held}; a response is numbers or classes."
        )


def _check_rows(source: Source, roles: Roles, inventory: Mapping[str, Column]) -> None:
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


def _split_dates(
    source: Source, request: Request, frame: pl.DataFrame, columns: Sequence[Column], categorical: Sequence[str]
) -> tuple[pl.DataFrame, dict[str, float], list[str]]:
    """The factors, with parts of dates if wanted; the periods of these, and what to say about it."""
    X, periods = [], dict[str, float]()
    known = {column.name for column in columns}
    for column in columns:
        values = frame.get_column(column.name)
        X.append(as_whole(values) if column.name in categorical else values)
        if request.parameters.date_parts and values.dtype in (pl.Date, pl.Datetime, pl.Time):
            parts, repeating = split_dates(column.name, values)
            clash = next((part.name for part in parts if part.name in known), None)
            if clash is not None:
                raise ValueError(f"date_parts: {source.shown} has a column {clash!r} already. Rename it, or use drop=.")
            X += parts
            periods |= repeating
    has_dates = any(values.dtype.is_temporal() for values in X)
    told = request.parameters.date_parts and not has_dates
    return pl.DataFrame(X), periods, ["No column in use holds dates that have parts."] if told else []
