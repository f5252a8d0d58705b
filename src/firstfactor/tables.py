"""From a source to a table in memory: only the columns and rows that are wanted, checked and typed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from .files import Source
from .inventory import Column, is_missing, match_names, quote_names, take_inventory, unknown_column


@dataclass(frozen=True)
class Request:
    """Which part of a table is wanted."""

    target: str | None
    factors: Sequence[str] = ()
    """Names and globs; none stands for all columns."""
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()
    drop_missing: bool = False
    unique: bool = False
    """Whether to keep only one of rows that are equal."""
    sample: int | None = None
    """How many rows to draw at random."""
    seed: int = 0


@dataclass(frozen=True)
class Table:
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


def read_table(source: Source, request: Request) -> Table:
    """Find out what the columns hold, then read those that are wanted."""
    target = _find_target(source, request.target)
    factors = _find_factors(source, request, target)
    categorical = match_names("--categorical", request.categorical, source.names, source.shown)
    columns = take_inventory(source, [target, *factors], categorical)
    _check_target(source, columns[0])
    reasons = {column.name: column.why_left_out for column in columns[1:]}
    left_out = {name: why for name, why in reasons.items() if why and not _kept(name, why, categorical)}
    used = [column for column in columns if column.name not in left_out]
    if len(used) == 1:
        why = "; ".join(f"{name!r}: {reason}" for name, reason in left_out.items())
        raise ValueError(f"{source.shown} has no column that can be a factor of {target!r} ({why or 'none is left'}).")
    if not request.drop_missing:
        _refuse_missing(source, used)
    drawn = _draw(used[0].n_rows, request)
    read = _read(source, used, drawn, request.drop_missing)
    frame = read.unique(maintain_order=True) if request.unique else read
    return Table(
        source.shown,
        frame.drop(target),
        frame[target],
        categorical=tuple(name for name in categorical if name in frame.columns and name != target),
        left_out=left_out,
        n_read=used[0].n_rows,
        n_drawn=None if drawn is None else len(drawn),
        n_dropped=(used[0].n_rows if drawn is None else len(drawn)) - len(read),
        n_copies=len(read) - len(frame),
    )


def _find_target(source: Source, target: str | None) -> str:
    if target is None:
        raise ValueError(
            f"--target is needed: the column that is to be explained. The columns of {source.shown} are "
            f"{quote_names(source.names)}."
        )
    if target not in source.names:
        raise ValueError(unknown_column("--target", target, source.names, source.shown))
    return target


def _find_factors(source: Source, request: Request, target: str) -> list[str]:
    names, shown = source.names, source.shown
    wanted = match_names("--factors", request.factors, names, shown) if request.factors else names
    dropped = match_names("--drop", request.drop, names, shown)
    factors = [name for name in wanted if name != target and name not in dropped]
    if not factors:
        raise ValueError(f"no factors are left in {shown} besides the target {target!r}: see --factors and --drop.")
    return factors


def _kept(name: str, why: str, categorical: Sequence[str]) -> bool:
    """Tell whether a text that looks like a name of each row was asked for as a category all the same."""
    return name in categorical and why.startswith("text")


def _check_target(source: Source, target: Column) -> None:
    present = target.n_rows - target.missing
    if target.n_rows == 0:
        raise ValueError(f"{source.shown} has no rows below its header.")
    if present == 0:
        raise ValueError(f"--target: column {target.name!r} of {source.shown} has no values.")
    if target.holds in ("dates", "other"):
        raise ValueError(
            f"--target: column {target.name!r} of {source.shown} holds {target.why_left_out}; "
            "a response is numbers or two classes."
        )
    if target.holds == "text" and target.levels > 2:
        raise ValueError(
            f"--target: column {target.name!r} of {source.shown} holds {target.levels:,} different texts; a response "
            "is numbers or two classes. Add a column that tells one class from the rest, and name that."
        )


def _refuse_missing(source: Source, columns: Sequence[Column]) -> None:
    gaps = [column for column in columns if column.missing]
    if not gaps:
        return
    worst = gaps[0]
    others = f" {len(gaps) - 1} more columns have gaps too." if len(gaps) > 2 else ""
    others = f" Column {gaps[1].name!r} has {gaps[1].missing:,} too." if len(gaps) == 2 else others
    count = f"{worst.missing:,} missing value{'s' if worst.missing > 1 else ''}"
    where = source.place(worst.first_missing or 0)
    raise ValueError(
        f"column {worst.name!r} of {source.shown} has {count} ({'first ' if worst.missing > 1 else ''}on {where})."
        f"{others} Use --missing drop to leave out such rows, or --drop to leave out columns."
    )


def _draw(n_rows: int, request: Request) -> pl.Series | None:
    """Return the rows to read, or None for all."""
    if request.sample is None or request.sample >= n_rows:
        return None
    rows = np.random.default_rng(request.seed).choice(n_rows, request.sample, replace=False, shuffle=False)
    return pl.Series(np.sort(rows)).cast(pl.UInt32)


def _read(source: Source, columns: Sequence[Column], drawn: pl.Series | None, drop_missing: bool) -> pl.DataFrame:
    frame = source.frame
    if drawn is not None:
        position = "\0position"  # unlike the number in the file, it has no gaps where lines are blank
        frame = frame.with_row_index(position).filter(pl.col(position).is_in(drawn.implode()))
    gaps = [is_missing(column.name, source) for column in columns if column.missing]
    if drop_missing and gaps:
        frame = frame.filter(~pl.any_horizontal(gaps))
    read = source.collect(frame.select([_typed(source, column) for column in columns]))
    if len(read) < 2:
        raise ValueError(
            f"{len(read)} of {columns[0].n_rows:,} rows of {source.shown} are left; two at least are needed."
        )
    return read


def _typed(source: Source, column: Column) -> pl.Expr:
    """Return the values of a column: in CSV files they are all text, with blanks around them at times."""
    value = pl.col(column.name)
    if not source.untyped:
        return value
    value = value.str.strip_chars()
    if column.holds == "text":
        return value
    return value.cast(pl.Int64 if column.large else pl.Float64, strict=False)
