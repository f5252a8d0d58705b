"""From a source to a table in memory: only the columns and rows that are wanted, checked and typed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from ..parameters import RankParameters
from .column_types import (
    Column,
    in_quotes,
    is_missing,
    match_names,
    quote_names,
    split_names,
    take_inventory,
    unknown_column,
)
from .input_file import Source, tidy_name
from .numerals import as_number, undecorated

# Neighbourhoods have two rows, or three for two classes.
FEWEST_ROWS = 3

# Types that few libraries know.
WIDE = (pl.Int128, pl.UInt128)

# So many columns with missing values are named.
MOST_NAMED = 10


class Request(NamedTuple):
    """Which part of a table is wanted."""

    target: str | None
    categorical: Sequence[str] = ()
    parameters: RankParameters = RankParameters()


@dataclass(frozen=True)
class Dataset:
    """Factors and response in memory, and what happened on the way."""

    shown: str
    X: pl.DataFrame
    y: pl.Series
    categorical: tuple[str, ...] = ()
    """Factors to take as categories whatever they hold."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Columns that cannot be factors, and why."""
    n_read: int = 0
    """Rows in the file."""
    n_drawn: int | None = None
    """Rows drawn at random, if not all."""
    n_dropped: int = 0
    """Rows left out for missing values."""
    n_copies: int = 0
    """Rows left out because they are equal to others."""
    remarks: tuple[str, ...] = ()
    """What the person may want to look at, in sentences."""
    true_factors: tuple[str, ...] = ()
    """Which factors matter, where that is known."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """How the file was read: options of the command, with what was guessed."""


def read_dataset(source: Source, request: Request) -> Dataset:
    """Find out what the columns hold, then read those that are wanted."""
    target = _find_target(source, request.target)
    factors = _find_factors(source, request, target)
    categorical = _find_categorical(source, request, target, factors)
    columns = take_inventory(source, [target, *factors], categorical)
    _check_target(source, columns[0])
    used, left_out = _sort_out(source, request, columns[1:], categorical)
    if not used:
        why = "; ".join(f"{name!r}: {reason}" for name, reason in left_out.items())
        raise ValueError(f"{source.shown} has no column that can be a factor of {target!r} ({why or 'none is left'}).")
    used = [columns[0], *used]
    if request.parameters.missing == "error":
        _refuse_missing(source, used)
    drawn = _draw(used[0].n_rows, request)
    read = _read(source, used, drawn, request.parameters.missing == "drop", categorical)
    frame = read.unique(maintain_order=True) if request.parameters.unique else read
    y, *X = frame.get_columns()
    return Dataset(
        source.shown,
        pl.DataFrame(X),
        y,
        categorical=tuple(column.name for column in used if column.name in categorical),
        left_out=left_out,
        n_read=used[0].n_rows,
        n_drawn=None if drawn is None else len(drawn),
        n_dropped=(used[0].n_rows if drawn is None else len(drawn)) - len(read),
        n_copies=len(read) - len(frame),
        remarks=tuple(_readings(source, used)),
        reading=source.reading,
    )


def _find_target(source: Source, target: str | None) -> str:
    if target is None:
        raise ValueError(
            f"target= is needed: the column to explain. The columns of {source.shown} are {quote_names(source.names)}."
        )
    target = target if target in source.names else tidy_name(target)
    if target not in source.names:
        raise ValueError(unknown_column("target", target, source.names, source.shown))
    return target


def _find_factors(source: Source, request: Request, target: str) -> list[str]:
    names, shown = source.names, source.shown
    wanted = match_names("factors", request.parameters.factors, names, shown) if request.parameters.factors else names
    dropped = match_names("drop", request.parameters.drop, names, shown)
    for name in split_names(request.parameters.factors, names):
        if name in dropped:
            raise ValueError(f"drop: column {name!r} is also named in factors=. Leave it out of one of them.")
    factors = [name for name in wanted if name != target and name not in dropped]
    if len(names) == 1:
        raise ValueError(
            f"{shown} has only one column, {target!r}. Columns of text files must be separated by commas, semicolons, "
            "tabs or |."
        )
    if not factors:
        raise ValueError(f"no factors are left in {shown} besides the target {target!r}: see factors= and drop=.")
    return factors


def _find_categorical(source: Source, request: Request, target: str, factors: Sequence[str]) -> list[str]:
    """The factors to take as categories; a glob may stand for more, a name must be a factor's."""
    matches = match_names("categorical", request.categorical, source.names, source.shown)
    for name in split_names(request.categorical, source.names):
        if name == target:
            raise ValueError(
                f'categorical: column {name!r} is the target. Use task="classification" if it has two classes.'
            )
        if name in source.names and name not in factors:
            raise ValueError(
                f"categorical: column {name!r} is not a factor here, because of factors= or drop=. "
                "Leave it out of one of them."
            )
    return [name for name in matches if name in factors]


def _sort_out(
    source: Source, request: Request, columns: Sequence[Column], categorical: Sequence[str]
) -> tuple[list[Column], dict[str, str]]:
    """The columns that are factors, and why others are not; refuse to leave out what was asked for by name."""
    used, left_out = [], {}
    asked = {"categorical": split_names(request.categorical, source.names),
             "factors": split_names(request.parameters.factors, source.names)}  # fmt: skip
    for column in columns:
        name, why = column.name, column.why_left_out
        option = next((option for option, names in asked.items() if name in names), None)
        if why is None or (name in categorical and column.can_be_category) or (option and column.can_be_number):
            used.append(column)
        elif option is None:
            left_out[name] = why
        else:
            labels = f"Use categorical={in_quotes(name)} to take its values as labels, or leave it out."
            raise ValueError(
                f"{option}: column {name!r} of {source.shown} cannot be a factor: {why}. "
                f"{labels if column.can_be_category else 'Leave it out.'}"
            )
    return used, left_out


def _check_target(source: Source, target: Column) -> None:
    if target.n_rows == 0:
        raise ValueError(f"{source.shown} has no rows below its header.")
    if target.present == 0:
        raise ValueError(f"target: column {target.name!r} of {source.shown} has no values.")
    if target.holds in ("dates", "other"):
        raise ValueError(
            f"target: column {target.name!r} of {source.shown} holds {target.why_left_out}; "
            "a response is numbers or two classes."
        )
    if target.holds == "text" and target.levels > 2:
        raise ValueError(
            f"target: column {target.name!r} of {source.shown} holds {target.levels:,} different texts; a response "
            "is numbers or two classes. Add a column that tells one class from the rest, and name that."
        )


def _refuse_missing(source: Source, columns: Sequence[Column]) -> None:
    gaps = _most_missing_first(columns)
    if not gaps:
        return
    any_gap = pl.any_horizontal([is_missing(column.name, source) for column in gaps])
    n_rows = source.collect(source.frame.select(any_gap.sum())).item()
    worst = gaps[0]
    where = f" ({'first ' if worst.missing > 1 else ''}on {source.place(worst.first_missing or 0)})"
    if len(gaps) == 1:
        count = f"{worst.missing:,} missing value{'s' if worst.missing > 1 else ''}"
        what = f"column {worst.name!r} of {source.shown} has {count}{where}"
    else:
        what = f"{len(gaps):,} columns of {source.shown} have missing values: {_count_missing(gaps, where)}"
    raise ValueError(
        f'{what}. Use missing="drop" to leave out the {n_rows:,} of {worst.n_rows:,} rows with missing values, or '
        "drop= to leave out columns."
    )


def _most_missing_first(columns: Iterable[Column]) -> list[Column]:
    return sorted((column for column in columns if column.missing), key=lambda column: -column.missing)


def _count_missing(gaps: Sequence[Column], where: str = "") -> str:
    """Say how many values are missing in which column, and for the first one where."""
    counts = [f"{column.name!r} {column.missing:,}" for column in gaps[:MOST_NAMED]]
    more = [f"and {len(gaps) - MOST_NAMED:,} columns more"] if len(gaps) > MOST_NAMED else []
    return ", ".join([counts[0] + where, *counts[1:], *more])


def _draw(n_rows: int, request: Request) -> pl.Series | None:
    """The rows to read, or None for all."""
    if request.parameters.sample is None or request.parameters.sample >= n_rows:
        return None
    rows = np.random.default_rng(request.parameters.seed).choice(
        n_rows, request.parameters.sample, replace=False, shuffle=False
    )
    return pl.Series(np.sort(rows)).cast(pl.UInt32)


def _read(
    source: Source,
    columns: Sequence[Column],
    drawn: pl.Series | None,
    drop_missing: bool,
    categorical: Sequence[str],
) -> pl.DataFrame:
    frame = source.frame
    if drawn is not None:
        position = "\0position"  # unlike the number in the file, it has no gaps where lines are blank
        frame = frame.with_row_index(position).filter(pl.col(position).is_in(drawn.implode()))
    gaps = _most_missing_first(columns)
    if drop_missing and gaps:
        frame = frame.filter(~pl.any_horizontal([is_missing(column.name, source) for column in gaps]))
    values = [_typed(source, column, column.name in categorical).alias(column.name) for column in columns]
    read = source.collect(frame.select(values))
    if len(read) < FEWEST_ROWS:
        n_rows, n_left = columns[0].n_rows, len(read)
        if n_left == n_rows:
            raise ValueError(
                f"{source.shown} has {n_left} row{'s' if n_left > 1 else ''}; at least {FEWEST_ROWS} are needed."
            )
        why = f" Missing values: {_count_missing(gaps)}. Use drop= to leave out columns." if gaps else ""
        raise ValueError(
            f"{n_left} of {n_rows:,} rows of {source.shown} are left; at least {FEWEST_ROWS} are needed.{why}"
        )
    return pl.DataFrame([_in_64_bits(source, values) for values in read])


def _typed(source: Source, column: Column, as_label: bool) -> pl.Expr:
    """The values of a column: numbers that were text, and as text what can only be labels."""
    value, dtype = source.column(column.name), source.dtypes[column.name]
    if dtype != pl.String:
        return value.cast(pl.String) if as_label and (column.holds == "dates" or dtype in WIDE) else value
    if column.removed is None or (as_label and column.large):
        return value.str.strip_chars()
    numeral = source.numeral(column.name)
    if column.large:
        return numeral.cast(pl.Int128, strict=False)
    return as_number(undecorated(numeral) if column.removed else numeral)


def _in_64_bits(source: Source, values: pl.Series) -> pl.Series:
    """Integers of 128 bits in a type that every library knows."""
    if values.dtype not in WIDE:
        return values
    for dtype in (pl.Int64, pl.UInt64, pl.Float64):
        narrow = values.cast(dtype, strict=False)
        if narrow.null_count() == 0 and narrow.n_unique() == values.n_unique():
            return narrow
    raise ValueError(
        f"column {values.name!r} of {source.shown} holds whole numbers of more than 64 bits that are too close to each "
        "other. Leave it out (drop=), or take its values as labels (categorical=)."
    )


def _readings(source: Source, columns: Sequence[Column]) -> list[str]:
    """Say which columns of text were read as numbers, where a person would not expect it."""
    names = defaultdict(list)
    for column in columns:
        if column.removed:
            names[", ".join(column.removed)].append(column.name)
        elif column.removed == () and not source.untyped:
            names["stored as text"].append(column.name)
    return [
        f"{'Column' if len(names) == 1 else 'Columns'} {quote_names(names)} "
        f"{'was' if len(names) == 1 else 'were'} read as numbers: {how}."
        for how, names in names.items()
    ]
