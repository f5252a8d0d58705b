"""From a source to a table: only the columns and rows that are wanted, checked and typed, in memory or in files."""

import contextlib
import datetime
import difflib
import math
import numbers
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from .._utils.checks import InputError, Mention, Message
from .._utils.text import list_names, quote_names
from ..data.columns import EXACT_INTEGERS
from ..data.observations import Dropped, list_gaps
from ..data.stored_table import ColumnTable
from ..settings import RankSettings
from .inventory import MOST_LEVELS, ColumnInfo, is_missing, take_inventory
from .roles import Request, Roles, as_list, find_column, find_roles, resolve_names, sort_out
from .source import ROW, WIDE, Source
from .written import as_number, split_dates, undecorated

# Neighbourhoods have two rows, or three for classes.
FEWEST_ROWS = 3


@dataclass(frozen=True)
class Dataset:
    """Factors and response, and what was done to get them."""

    shown: str
    X: pl.DataFrame | ColumnTable
    """The factors: in memory, or in files from which columns are read when they are needed."""
    y: pl.Series | pl.DataFrame
    """A column, or a frame of several outputs."""
    weights: pl.Series | None = None
    """The weight of each row."""
    groups: pl.Series | None = None
    """The group of each row."""
    column_options: Mapping[str, Any] = field(default_factory=dict)
    """Options about columns of X, with their names in full: ``categorical``, ``factor_groups``, ``period``, ``scale``
    and ``forced``, as `FIRST` takes them."""
    date_parts: tuple[str, ...] = ()
    """Columns of X that are parts of dates."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Columns that cannot be factors, and why."""
    n_read: int = 0
    """Number of rows in the file."""
    n_chosen: int | None = None
    """Number of rows that `where` leaves, None for all."""
    n_drawn: int | None = None
    """Number of rows drawn at random, None for all."""
    dropped: Dropped = field(default_factory=Dropped)
    """Rows left out for missing values."""
    n_copies: int = 0
    """Number of rows left out because they are equal to others."""
    remarks: tuple[str, ...] = ()
    """Sentences about how columns were read that a person may want to check."""
    true_factors: tuple[str, ...] = ()
    """True factors; empty if unknown."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of `rank` with which the file was read, including detected values."""
    known: dict[Any, Any] | None = field(default=None, repr=False, compare=False)
    """What is known of a table in memory that is ranked many times: see `Source.known`."""

    @property
    def target_names(self) -> tuple[str, ...]:
        """The name of each output."""
        return (self.y.name,) if isinstance(self.y, pl.Series) else tuple(self.y.columns)

    @property
    def n_dropped(self) -> int:
        """Number of rows left out for missing values in any column."""
        return self.dropped.no_target + self.dropped.incomplete

    def say_dropped(self) -> list[str]:
        """Return sentences about rows that were left out for missing values."""
        dropped, n_left = self.dropped, len(self.X) + self.n_copies
        told = []
        if dropped.no_target:
            response = list_names(self.target_names, "or")
            told.append(f"{_rows_were(dropped.no_target, f'without a value of {response}')} left out.")
        if dropped.incomplete:
            told.append(
                f"{_rows_were(dropped.incomplete, 'with missing values')} left out ({list_gaps(dropped.costs)}); "
                f"{n_left:,} of {n_left + dropped.incomplete:,} are left."
            )
        return told

    def without(self, names: Collection[str], why: Mapping[str, str]) -> "Dataset":
        """Return the table without some factors, which are listed as left out."""
        assert isinstance(self.X, pl.DataFrame)
        X = pl.DataFrame([column for column in self.X if column.name not in names])
        options = dict(self.column_options)
        for option in ("categorical", "forced"):
            if options.get(option):
                options[option] = [name for name in options[option] if name not in names]
        return replace(self, X=X, column_options=options, left_out={**self.left_out, **why})

    @property
    def jobs(self) -> int | None:
        """Number of threads that memory suffices for; None if that does not matter."""
        return self.X.jobs if isinstance(self.X, ColumnTable) else None

    def close(self) -> None:
        """Remove temporary files of a table that is not in memory."""
        if isinstance(self.X, ColumnTable):
            self.X.close()

    @property
    def categorical(self) -> tuple[str, ...]:
        """Factors to take as categories whatever they hold."""
        return tuple(self.column_options.get("categorical", ()))


def _rows_were(count: int, which: str) -> str:
    return f"{count:,} row{'s' if count > 1 else ''} {which} {'were' if count > 1 else 'was'}"


@dataclass(frozen=True)
class Wanted:
    """Requested part of a table."""

    source: Source
    request: Request
    roles: Roles
    others: Sequence[ColumnInfo]
    """Targets, weights and groups."""
    used: Sequence[ColumnInfo]
    """The columns that are factors."""
    drawn: pl.Series | None
    """Requested rows; None for all."""

    @property
    def n_rows(self) -> int:
        """Number of rows of the source."""
        return self.others[0].n_rows

    def select(self, columns: Sequence[ColumnInfo]) -> pl.LazyFrame:
        """Return some columns by name, yet to be read; integers may have 128 bits."""
        frame = self.source.frame
        if self.drawn is not None:
            position = "\0position"  # unlike the number in the file, it has no gaps where lines are blank
            frame = frame.with_row_index(position).filter(pl.col(position).is_in(self.drawn.implode()))
        categorical = self.roles.categorical
        return frame.select(
            _typed(self.source, column, column.name in categorical).alias(column.name) for column in columns
        )

    def read(self, columns: Sequence[ColumnInfo]) -> pl.DataFrame:
        """Read some columns into memory, null where a value is missing."""
        if self.drawn is not None:
            return pl.DataFrame(self._read_new(columns))
        keys = [(column, column.name in self.roles.categorical) for column in columns]
        return pl.DataFrame(self.source.find(keys, lambda new: self._read_new([column for column, _ in new])))

    def _read_new(self, columns: Sequence[ColumnInfo]) -> Iterator[pl.Series]:
        for values in self.source.collect(self.select(columns)):
            yield _in_64_bits(self.source, values)

    def split(self, values: pl.Series) -> tuple[list[pl.Series], dict[str, float]]:
        """Return a factor with the parts of its dates if they are wanted, and the periods of these."""
        whole = as_whole(values) if values.name in self.roles.categorical else values
        if not (self.request.settings.date_parts and values.dtype in (pl.Date, pl.Datetime, pl.Time)):
            return [whole], {}
        parts, periods = split_dates(values.name, values)
        known = {column.name for column in self.used}
        clash = next((part.name for part in parts if part.name in known), None)
        if clash is not None:
            raise InputError(
                "{date_parts}: {shown} has a column {clash!r} already. Rename it, or use {drop=}.",
                shown=self.source.shown,
                clash=clash,
            )
        return [whole, *parts], periods


class Contents(NamedTuple):
    """Values of the requested part of a table."""

    others: pl.DataFrame
    """Targets, weights and groups."""
    X: pl.DataFrame | ColumnTable
    periods: dict[str, float]
    """Those of parts of dates."""
    dropped: Dropped
    n_copies: int
    """Number of rows left out because they are equal to others."""
    has_dates: bool


def read_columns(source: Source, columns: Sequence[ColumnInfo]) -> list[pl.Series]:
    """Return the values of some columns in all rows, null where one is missing."""
    if not columns:
        return []
    roles = Roles((), None, None, (), frozenset())
    return Wanted(source, Request(None), roles, (), columns, None).read(columns).get_columns()


def read_dataset(source: Source, request: Request, read: Callable[[Wanted], Contents] | None = None) -> Dataset:
    """Find out what the columns hold, then read those that are wanted, with ``read`` if not all into memory."""
    source, n_in_file, chosen = _choose_rows(source, request)
    roles = find_roles(source, request)
    as_text = [*roles.categorical, *([] if roles.groups is None else [roles.groups])]
    if request.settings.task == "classification":
        as_text += roles.targets
    names = [*roles.others, *roles.factors]
    inventory = {c.name: c for c in take_inventory(source, names, as_text, request.settings.missing == "level")}
    used, left_out = _choose(source, request, roles, inventory)
    others = [inventory[name] for name in roles.others]
    n_rows = others[0].n_rows
    drawn = _draw(n_rows, request)
    contents = (read or _read_all)(Wanted(source, request, roles, others, used, drawn))
    rows, X = contents.others, contents.X
    no_dates = request.settings.date_parts and not contents.has_dates
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
        n_read=n_rows if n_in_file is None else n_in_file,
        n_chosen=None if n_in_file is None else n_rows,
        n_drawn=None if drawn is None else len(drawn),
        dropped=contents.dropped,
        n_copies=contents.n_copies,
        remarks=(*chosen, *remark_on(source, [*others, *used], {*roles.categorical, *roles.others}), *remarks),
        reading=source.reading,
        known=source.known,
    )


def _read_all(wanted: Wanted) -> Contents:
    """Read all that is wanted into memory."""
    roles = wanted.roles
    everything = wanted.read([*wanted.others, *wanted.used])
    frame = _complete(everything, roles.targets)
    dropped = Dropped(len(everything) - len(frame))
    if wanted.request.settings.missing == "drop":
        factors = [column.name for column in wanted.used]
        costs = sort_gaps([(name, frame.get_column(name).null_count()) for name in factors])
        known, frame = frame, _complete(frame, factors)
        dropped = Dropped(dropped.no_target, len(known) - len(frame), costs=costs)
    refuse_few_rows(wanted, len(frame), dropped)
    read = frame.unique(maintain_order=True) if wanted.request.settings.unique else frame
    X, periods = list[pl.Series](), dict[str, float]()
    for column in wanted.used:
        values, repeating = wanted.split(read.get_column(column.name))
        X += values
        periods |= repeating
    has_dates = any(values.dtype.is_temporal() for values in X)
    return Contents(read, pl.DataFrame(X), periods, dropped, len(frame) - len(read), has_dates)


def _complete(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the rows without missing values in some columns."""
    # Methods of polars take a name such as ^x$ for a pattern.
    columns = [frame.get_column(name).alias("") for name in names]
    known = [column.is_not_null() for column in columns if column.null_count()]
    return frame.filter(reduce(and_, known)) if known else frame


def _choose(
    source: Source, request: Request, roles: Roles, inventory: Mapping[str, ColumnInfo]
) -> tuple[list[ColumnInfo], dict[str, str]]:
    """Return the columns that are factors, and why others are not; refuse a table that cannot be analysed."""
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
    if request.settings.missing == "error":
        _refuse_gaps(source, used, roles.targets)
    return used, left_out


# Filtered tables in memory that are kept with the whole one.
MOST_FILTERED = 3


def _choose_rows(source: Source, request: Request) -> tuple[Source, int | None, list[str]]:
    """Return the table with the requested rows only, the number of all rows, and a remark; None if all are wanted."""
    where = request.settings.where
    if not where:
        return source, None, []
    if source.known is None:
        return _filter(source, where)
    kept = source.known.setdefault("filtered", {})
    key = repr(sorted(where.items(), key=lambda one: one[0]))
    if key not in kept:
        kept[key] = _filter(source, where)
        for oldest in [*kept][:-MOST_FILTERED]:
            del kept[oldest]
    found: tuple[Source, int, list[str]] = kept[key]
    return found


def rows_of(source: Source, settings: RankSettings) -> Source:
    """Return the table with the requested rows only."""
    return _choose_rows(source, Request(None, settings))[0]


def _filter(source: Source, where: Mapping[str, Any]) -> tuple[Source, int, list[str]]:
    names = [find_column(source, "where", name) for name in where]
    conditions, words = list[pl.Expr](), list[str]()
    for column, wanted in zip(take_inventory(source, names, ()), where.values(), strict=True):
        if isinstance(wanted, tuple):
            low, high = wanted
            conditions += _within(source, column, low, high)
            words.append(f"{column.name} {_say_range(low, high)}")
        else:
            levels = as_list(wanted)
            conditions.append(_among(source, column, levels))
            words.append(f"{column.name} {list_names([str(level) for level in levels], 'or')}")
    rows = replace(source, frame=source.frame.filter(reduce(and_, conditions).fill_null(False)), known=None)
    n_rows, n_left = (int(source.collect(one.frame.select(pl.len())).item()) for one in (source, rows))
    if n_left < FEWEST_ROWS:
        raise InputError(
            "{where}: {n_left:,} of {n_rows:,} rows of {shown} are left; at least {least} are needed. Widen a range, "
            "or leave out a condition.",
            n_left=n_left,
            n_rows=n_rows,
            shown=source.shown,
            least=FEWEST_ROWS,
        )
    rows = rows if source.known is None else rows.in_memory()
    return rows, n_rows, [f"{n_left:,} of {n_rows:,} rows were used: those with {list_names(words)}."]


def _say_range(low: Any, high: Any) -> str:
    if low is None or high is None:
        return f"at most {high}" if low is None else f"at least {low}"
    return f"from {low} to {high}"


def _within(source: Source, column: ColumnInfo, low: Any, high: Any) -> Iterator[pl.Expr]:
    """Yield the conditions that a number or a date is within a range with its ends; a date ends with its day."""
    value = _typed(source, column, False)
    if column.holds not in ("numbers", "dates"):
        raise InputError(
            "{where}: column {name!r} of {shown} holds no numbers or dates. Name its values in a list.",
            name=column.name,
            shown=source.shown,
        )
    for end, is_high in ((low, False), (high, True)):
        if end is None:
            continue
        if column.holds == "numbers":
            if not isinstance(end, numbers.Real) or math.isnan(end):
                raise _wrong_end(column, end, "a number")
            yield value <= pl.lit(end) if is_high else value >= pl.lit(end)
            continue
        moment, is_day = _moment(column, end)
        if isinstance(moment, datetime.time):
            yield value <= moment if is_high else value >= moment
        elif is_high and is_day:
            yield _moments(value) < moment + datetime.timedelta(days=1)
        else:
            yield _moments(value) <= moment if is_high else _moments(value) >= moment


def _moments(value: pl.Expr) -> pl.Expr:
    """Return dates and times as they read, whatever their time zone."""
    return value.cast(pl.String).str.slice(0, 26).str.to_datetime(strict=False, time_unit="us")


def _moment(column: ColumnInfo, end: Any) -> tuple[Any, bool]:
    """Return a date or time to compare with, and whether it is a whole day."""
    if isinstance(end, datetime.datetime | datetime.time):
        return end, False
    if isinstance(end, datetime.date):
        return datetime.datetime.combine(end, datetime.time()), True
    for parse in (datetime.date.fromisoformat, datetime.datetime.fromisoformat, datetime.time.fromisoformat):
        with contextlib.suppress(ValueError, TypeError):
            found = parse(end)
            return _moment(column, found)
    raise _wrong_end(column, end, "a date such as 2024-12-31")


def _wrong_end(column: ColumnInfo, end: Any, rule: str) -> InputError:
    return InputError(
        "{where}: an end of the range of {name!r} must be {rule}; got {end!r}.", name=column.name, rule=rule, end=end
    )


def _among(source: Source, column: ColumnInfo, levels: Sequence[Any]) -> pl.Expr:
    """Return the condition that a value is one of some levels, all of which must occur."""
    value = _typed(source, column, False)
    if column.holds == "numbers":
        try:
            wanted: list[Any] = [float(level) for level in levels]
        except (TypeError, ValueError) as error:
            raise InputError(
                "{where}: column {name!r} of {shown} holds numbers; got {levels}.",
                name=column.name,
                shown=source.shown,
                levels=quote_names([str(level) for level in levels]),
            ) from error
        return value.cast(pl.Float64).is_in(wanted)
    text, is_boolean = value.cast(pl.String), source.dtypes[column.name] == pl.Boolean
    present = source.collect(source.frame.select(text.alias("").drop_nulls().unique())).to_series().to_list()
    folded = {level.casefold(): level for level in present}  # true may be written in several ways
    wanted = [
        folded.get(str(level).casefold(), str(level)) if is_boolean or isinstance(level, bool) else str(level)
        for level in levels
    ]
    unknown = next((level for level in wanted if level not in present), None)
    if unknown is not None:
        near = difflib.get_close_matches(unknown, present, n=3)
        raise InputError(
            "{where}: column {name!r} of {shown} has no value {unknown!r}. {way_out}",
            name=column.name,
            shown=source.shown,
            unknown=unknown,
            way_out=f"Did you mean {quote_names(near, 'or')}?" if near else f"It has {quote_names(sorted(present))}.",
        )
    return text.is_in(wanted)


def _draw(n_rows: int, request: Request) -> pl.Series | None:
    """Draw the rows to read, None for all."""
    if request.settings.sample is None or request.settings.sample >= n_rows:
        return None
    rows = np.random.default_rng(request.settings.seed).choice(
        n_rows, request.settings.sample, replace=False, shuffle=False
    )
    return pl.Series(np.sort(rows)).cast(pl.UInt32)


def _outputs(source: Source, request: Request, frame: pl.DataFrame, targets: Sequence[str]) -> pl.Series | pl.DataFrame:
    """Return the response: a column, or several."""
    columns = [as_whole(frame.get_column(name)) for name in targets]
    for column in columns:
        _check_classes(source, column, request.settings.task)
    return columns[0] if len(columns) == 1 else pl.DataFrame(columns)


# --- checks ---------------------------------------------------------------------------------------------


def _check_target(source: Source, target: ColumnInfo) -> None:
    if target.n_rows == 0:
        raise ValueError(f"{source.shown} has no rows below its header.")
    if target.present == 0:
        raise InputError("{target}: column {name!r} of {shown} has no values.", name=target.name, shown=source.shown)
    if target.holds in ("dates", "other") or target.writing is not None:
        held = target.why_left_out if target.holds == "other" else "dates or times"
        raise InputError(
            "{target}: column {name!r} of {shown} holds {held}; a response is numbers or classes.",
            name=target.name,
            shown=source.shown,
            held=held,
        )


def _check_rows(source: Source, roles: Roles, inventory: Mapping[str, ColumnInfo]) -> None:
    """Refuse weights and groups that lack a value for some row."""
    for option, name in (("weight", roles.weight), ("groups", roles.groups)):
        if name is None:
            continue
        column = inventory[name]
        if option == "weight" and column.holds != "numbers":
            raise InputError(
                "{weight}: column {name!r} of {shown} must hold numbers. Name another column.",
                name=name,
                shown=source.shown,
            )
        count, row = _find_gaps(source, [name], roles.targets) if column.missing else (0, 0)
        if count:
            raise InputError(
                "{option}: column {name!r} of {shown} has {gaps} ({first}on {place}). Every row needs one: fill it in, "
                "or leave out the row.",
                option=Mention(option),
                name=name,
                shown=source.shown,
                gaps=_count_missing(count),
                first="first " if count > 1 else "",
                place=source.place(row),
            )


def _check_weights(source: Source, weights: pl.Series) -> pl.Series:
    least, most = float(weights.min()), float(weights.max())  # type: ignore[arg-type]
    if least < 0 or most == 0:
        raise InputError(
            "{weight}: column {name!r} of {shown} must hold numbers of at least 0, some above it; got {least:g} to "
            "{most:g}.",
            name=weights.name,
            shown=source.shown,
            least=least,
            most=most,
        )
    return weights


def _check_classes(source: Source, target: pl.Series, task: str) -> None:
    """Refuse classes that nearly all have one row."""
    if target.dtype.is_numeric() and task != "classification":
        return
    levels = target.n_unique()
    if levels == len(target) > 2 or levels > max(MOST_LEVELS, len(target) / 2):
        what = "values" if target.dtype.is_numeric() else "texts"
        way_out = "Leave out {task=}" if target.dtype.is_numeric() else "Name a column with fewer labels"
        raise InputError(
            "{target}: column {name!r} of {shown} holds {levels:,} different {what} in {n_rows:,} rows; a class needs "
            "several rows. {way_out}, or add a column that sorts them into fewer classes.",
            name=target.name,
            shown=source.shown,
            levels=levels,
            what=what,
            n_rows=len(target),
            way_out=Message(way_out),
        )


def _refuse_gaps(source: Source, columns: Sequence[ColumnInfo], targets: Sequence[str]) -> None:
    """Refuse columns with missing values, unless all are in rows without a target."""
    gaps = sorted((column for column in columns if column.missing), key=lambda column: -column.missing)
    if not gaps:
        return
    n_rows, _ = _find_gaps(source, [column.name for column in gaps], targets)
    if not n_rows:
        return
    worst = gaps[0]
    where = f" ({'first ' if worst.missing > 1 else ''}on {source.place(worst.first_missing or 0)})"
    if len(gaps) == 1:
        what = f"column {worst.name!r} of {source.shown} has {_count_missing(worst.missing)}{where}"
    else:
        counts = [(column.name, column.missing) for column in gaps]
        what = f"{len(gaps):,} columns of {source.shown} have missing values: {list_gaps(counts, where=where)}"
    raise InputError(
        '{what}. Use {missing="level"} to take "not known" for a value of its own, {missing="drop"} to leave out the '
        "{n_rows:,} of {total:,} rows with missing values, or {drop=} to leave out columns.",
        what=what,
        n_rows=n_rows,
        total=worst.n_rows,
    )


def _find_gaps(source: Source, names: Sequence[str], targets: Sequence[str]) -> tuple[int, int]:
    """Return how many rows with a target lack a value in some columns, and the first of these rows."""
    rows = source.collect(
        source.frame.select(ROW, known=~pl.any_horizontal([is_missing(name, source) for name in targets]))
    )
    gap = pl.zeros(len(rows), dtype=pl.Boolean, eager=True)
    for start in range(0, len(names), source.at_once):  # all at once may not fit into memory
        some = pl.any_horizontal([is_missing(name, source) for name in names[start : start + source.at_once]])
        gap |= source.collect(source.frame.select(some)).to_series()
    found = rows.get_column(ROW).filter(gap & rows.get_column("known"))
    return len(found), int(found[0]) if len(found) else 0


def _count_missing(missing: int) -> str:
    return f"{missing:,} missing value{'s' if missing > 1 else ''}"


def sort_gaps(gaps: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Return the columns that lack values, and how many each lacks, the worst first."""
    return tuple(sorted(((name, count) for name, count in gaps if count), key=lambda gap: -gap[1]))


def refuse_few_rows(wanted: Wanted, n_left: int, dropped: Dropped) -> None:
    """Refuse a table with too few rows left, and say why others were dropped."""
    if n_left >= FEWEST_ROWS:
        return
    shown, n_rows = wanted.source.shown, wanted.n_rows
    if n_left == n_rows:
        raise ValueError(f"{shown} has {n_left} row{'s' if n_left > 1 else ''}; at least {FEWEST_ROWS} are needed.")
    no_target = f" {dropped.no_target:,} have no value of the target." if dropped.no_target else ""
    advice = Message(
        ' Missing values: {gaps}. Use {missing="level"} to keep these rows.', gaps=list_gaps(dropped.costs)
    )
    raise InputError(
        "{n_left} of {n_rows:,} rows of {shown} are left; at least {least} are needed.{no_target}{advice}",
        n_left=n_left,
        n_rows=n_rows,
        shown=shown,
        least=FEWEST_ROWS,
        no_target=no_target,
        advice=advice if dropped.costs else "",
    )


# --- values of columns ----------------------------------------------------------------------------------


def _typed(source: Source, column: ColumnInfo, as_label: bool) -> pl.Expr:
    """Return the values of a column, null where missing: numbers and dates that were text, and labels as text."""
    value = _values(source, column, as_label)
    if not column.missing or source.dtypes[column.name].is_integer():
        return value
    return pl.when(~is_missing(column.name, source)).then(value)


def _values(source: Source, column: ColumnInfo, as_label: bool) -> pl.Expr:
    value, dtype = source.column(column.name), source.dtypes[column.name]
    if dtype != pl.String:
        return value.cast(pl.String) if as_label and (column.holds == "dates" or dtype in WIDE) else value
    if column.writing is not None and not as_label:
        return column.writing.read(value.str.strip_chars())
    if column.removed is None:
        return value.str.strip_chars() if column.trimmed else value
    if as_label and column.large:
        return value.str.strip_chars()
    numeral = source.numeral(column.name)
    if column.large:
        return numeral.cast(pl.Int128, strict=False)
    return as_number(undecorated(numeral) if column.removed else numeral)


def _in_64_bits(source: Source, values: pl.Series) -> pl.Series:
    """Convert integers of 128 bits to a type that every library knows."""
    if values.dtype not in WIDE:
        return values
    for dtype in (pl.Int64, pl.UInt64, pl.Float64):
        narrow = values.cast(dtype, strict=False)
        if narrow.null_count() == values.null_count() and narrow.n_unique() == values.n_unique():
            return narrow
    raise InputError(
        "column {name!r} of {shown} holds whole numbers of more than 64 bits that are too close to each other. Leave "
        "it out ({drop=}), or take its values as labels ({categorical=}).",
        name=values.name,
        shown=source.shown,
    )


def as_whole(values: pl.Series) -> pl.Series:
    """Convert integers that were read as floats back to integers; return anything else as it is."""
    plain = values.alias("")  # methods of polars take a name such as ^x$ for a pattern
    if not values.dtype.is_float() or not (plain == plain.round()).all():  # which passes over nulls
        return values
    largest: Any = plain.abs().max()
    return values.cast(pl.Int64) if largest is not None and largest <= EXACT_INTEGERS else values


def remark_on(source: Source, columns: Sequence[ColumnInfo], no_dates: Collection[str]) -> list[str]:
    """Return remarks on columns of text that were read in a way that a person might not expect.

    Columns of ``no_dates`` are not read as dates.
    """
    numbers, labels, blanks, dates = defaultdict(list), list[str](), list[str](), defaultdict(list)
    for column in columns:
        name, writing = column.name, column.writing
        if column.removed:
            numbers[", ".join(column.removed)].append(name)
        elif column.removed == () and not source.format.untyped:
            numbers["stored as text"].append(name)
        if column.number_like:
            labels.append(f"Column {name!r} was taken for categories: {column.number_like!r} is no number.")
        if column.differ_in_blanks:
            blanks.append(f"Labels of column {name!r} that differ only in blanks around them were kept apart.")
        if writing is not None and writing.ambiguous and name not in no_dates:
            dates[writing.order].append(name)
    return [
        *(f"{_columns(names, 'C')} {'was' if len(names) == 1 else 'were'} read as numbers: {how}."
          for how, names in numbers.items()),
        *labels,
        *blanks,
        *(f"Dates in {_columns(names, 'c')} were read as {order}. Write them as year-month-day if they are not."
          for order, names in dates.items()),
    ]  # fmt: skip


def _columns(names: Sequence[str], initial: str) -> str:
    return f"{initial}olumn{'s' if len(names) > 1 else ''} {quote_names(names)}"
