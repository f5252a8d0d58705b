"""From a source to a table in memory: only the columns and rows that are wanted, checked and typed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import and_
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from .._utils.text import list_names
from ..data.columns import EXACT_INTEGERS
from ..parameters import Options, RankParameters
from .column_types import (
    MOST_LEVELS,
    Column,
    in_quotes,
    is_missing,
    match_names,
    quote_names,
    split_names,
    take_inventory,
    unknown_column,
)
from .dates import split_dates
from .input_file import ROW, Source, tidy_name
from .numerals import as_number, undecorated

# Neighbourhoods have two rows, or three for classes.
FEWEST_ROWS = 3

# Types that few libraries know.
WIDE = (pl.Int128, pl.UInt128)

# So many columns with missing values are named.
MOST_NAMED = 10


class Request(NamedTuple):
    """Which part of a table is wanted, and what is said about its columns."""

    target: str | Sequence[str] | None
    parameters: RankParameters = RankParameters()
    options: Options = Options()
    forced: Sequence[str] = ()

    @property
    def categorical(self) -> list[str]:
        """Names and globs of the columns to take as categories."""
        return as_list(self.options.categorical)

    @property
    def asked(self) -> dict[str, list[str]]:
        """Names and globs that stand for columns, by the parameter that has them; no column named is left out."""
        scale = self.options.scale
        return {
            "categorical": self.categorical,
            "factors": as_list(self.parameters.factors),
            "factor_groups": [name for names in (self.options.factor_groups or {}).values() for name in as_list(names)],
            "period": list(self.options.period or ()),
            "scale": [] if isinstance(scale, bool) else list(scale),
            "forced": as_list(self.forced),
        }


@dataclass(frozen=True)
class Dropped:
    """Rows that were left out for missing values."""

    no_target: int = 0
    incomplete: int = 0
    """Rows with a missing value in a factor, where these are dropped."""
    costs: tuple[tuple[str, int], ...] = ()
    """The columns that cost rows, and how many values each lacks, the worst first."""

    def sentences(self, response: str, n_left: int) -> list[str]:
        """What was left out and why, and what is left of the table."""
        told = []
        if self.no_target:
            told.append(
                f"{_count_rows(self.no_target)} without a value of {response} {_were(self.no_target)} left out."
            )
        if self.incomplete:
            before = n_left + self.incomplete
            told.append(
                f"{_count_rows(self.incomplete)} with missing values {_were(self.incomplete)} left out "
                f"({say_missing(self.costs)}); {n_left:,} of {before:,} are left."
            )
        return told


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are, by name."""

    targets: tuple[str, ...]
    weight: str | None
    groups: str | None
    factors: tuple[str, ...]
    categorical: tuple[str, ...]

    @property
    def others(self) -> dict[str, str]:
        """What the columns are that are no factors, in words."""
        rows = {self.weight: "the weight of rows", self.groups: "the column of groups"}
        return dict.fromkeys(self.targets, "the target") | {name: what for name, what in rows.items() if name}


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
    sayings: Mapping[str, Any] = field(default_factory=dict)
    """What is said about columns of X, with their names in full: ``categorical``, ``factor_groups``, ``period``,
    ``scale`` and ``forced``, as `FIRST` takes them."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Columns that cannot be factors, and why."""
    n_read: int = 0
    """Rows in the file."""
    n_drawn: int | None = None
    """Rows drawn at random, if not all."""
    dropped: Dropped = Dropped()
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
        return tuple(self.sayings.get("categorical", ()))


def _count_rows(count: int) -> str:
    return f"{count:,} row{'s' if count > 1 else ''}"


def _were(count: int) -> str:
    return "were" if count > 1 else "was"


def as_list(names: Any) -> list[str]:
    """Names as a list, where one may stand for itself, and none for nothing."""
    return [names] if isinstance(names, str) else list(() if names is None else names)


def read_dataset(source: Source, request: Request) -> Dataset:
    """Find out what the columns hold, then read those that are wanted."""
    roles = _find_roles(source, request)
    inventory = {column.name: column for column in _look(source, request, roles)}
    for name in roles.targets:
        _check_target(source, inventory[name])
    _check_rows(source, roles, inventory)
    used, left_out = _sort_out(source, request, [inventory[name] for name in roles.factors], roles.categorical)
    if not used:
        why = "; ".join(f"{name!r}: {reason}" for name, reason in left_out.items())
        raise ValueError(
            f"{source.shown} has no column that can be a factor of {quote_names(roles.targets)} "
            f"({why or 'none is left'})."
        )
    if request.options.missing == "error":
        _refuse_missing(source, used, roles.targets)
    others = [inventory[name] for name in roles.others]
    n_rows = others[0].n_rows
    drawn = _draw(n_rows, request)
    frame, dropped = _drop(
        _read(source, [*others, *used], drawn, roles.categorical), roles, request.options.missing == "drop"
    )
    _check_few_rows(source, n_rows, len(frame), dropped)
    read = frame.unique(maintain_order=True) if request.parameters.unique else frame
    y = _outputs(source, request, read, roles.targets)
    X, periods, remarks = _split_dates(source, request, read, used, roles.categorical)
    weights = None if roles.weight is None else _check_weights(source, read.get_column(roles.weight))
    return Dataset(
        source.shown,
        X,
        y,
        weights=weights,
        groups=None if roles.groups is None else read.get_column(roles.groups),
        sayings=_resolve(source, request, roles, X.columns, periods),
        left_out=left_out,
        n_read=n_rows,
        n_drawn=None if drawn is None else len(drawn),
        dropped=dropped,
        n_copies=len(frame) - len(read),
        remarks=(*_readings(source, [*others, *used]), *_date_readings(used, roles.categorical), *remarks),
        reading=source.reading,
    )


# --- which columns -------------------------------------------------------------------------------------


def _find_roles(source: Source, request: Request) -> Roles:
    """What the columns are: an error names the parameter that does not fit the table."""
    parameters = request.parameters
    targets = _find_targets(source, request.target)
    others: dict[str, str] = dict.fromkeys(targets, "target")
    found: dict[str, str | None] = {}
    for option, name in (("weight", parameters.weight), ("groups", parameters.groups)):
        found[option] = None if name is None else _find_other(source, option, name, others)
    factors = _find_factors(source, request, targets, others)
    return Roles(
        tuple(targets),
        found["weight"],
        found["groups"],
        tuple(factors),
        tuple(_find_categorical(source, request, targets, factors)),
    )


def _find_targets(source: Source, target: str | Sequence[str] | None) -> list[str]:
    wanted = as_list(target)
    if not wanted:
        raise ValueError(
            f"target= is needed: the column to explain. The columns of {source.shown} are {quote_names(source.names)}."
        )
    found: list[str] = []
    for pattern in wanted:
        found += match_names("target", [pattern], source.names, source.shown)
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"target: column {twice!r} is named twice. Leave out one of them.")
    return found


def _find_other(source: Source, option: str, name: str, taken: dict[str, str]) -> str:
    """The column that says something about rows, which no other parameter has; it is noted in ``taken``."""
    name = name if name in source.names else tidy_name(name)
    if name not in source.names:
        raise ValueError(unknown_column(option, name, source.names, source.shown))
    if name in taken:
        raise ValueError(f"{option}: column {name!r} is also named in {taken[name]}=. Leave it out of one of them.")
    taken[name] = option
    return name


def _find_factors(source: Source, request: Request, targets: Sequence[str], taken: Mapping[str, str]) -> list[str]:
    names, shown = source.names, source.shown
    asked = as_list(request.parameters.factors)
    wanted = match_names("factors", asked, names, shown) if asked else names
    dropped = match_names("drop", as_list(request.parameters.drop), names, shown)
    for name in split_names(asked, names):
        if name in dropped:
            raise ValueError(f"drop: column {name!r} is also named in factors=. Leave it out of one of them.")
        if name in taken and name not in targets:
            raise ValueError(f"factors: column {name!r} is also named in {taken[name]}=. Leave it out of one of them.")
    factors = [name for name in wanted if name not in taken and name not in dropped]
    if len(names) == 1:
        raise ValueError(
            f"{shown} has only one column, {names[0]!r}. Columns of text files must be separated by commas, "
            "semicolons, tabs or |."
        )
    if not factors:
        raise ValueError(
            f"no factors are left in {shown} besides the target {quote_names(targets)}: see factors= and drop=."
        )
    return factors


def _find_categorical(source: Source, request: Request, targets: Sequence[str], factors: Sequence[str]) -> list[str]:
    """The factors to take as categories; a glob may stand for more, a name must be a factor's."""
    matches = match_names("categorical", request.categorical, source.names, source.shown)
    for name in split_names(request.categorical, source.names):
        if name in targets:
            raise ValueError(
                f'categorical: column {name!r} is the target. Use task="classification" if it has classes.'
            )
        if name in source.names and name not in factors:
            raise ValueError(_no_factor("categorical", name, request))
    return [name for name in matches if name in factors]


def _no_factor(option: str, name: str, request: Request) -> str:
    """Word the error for a column that is named in one parameter and left out by another."""
    rows = {request.parameters.weight: "weight=", request.parameters.groups: "groups="}
    why = rows.get(name, "factors= or drop=")
    return f"{option}: column {name!r} is not a factor here, because of {why}. Leave it out of one of them."


def _look(source: Source, request: Request, roles: Roles) -> list[Column]:
    """What all columns in use hold."""
    as_text = [*roles.categorical, *([] if roles.groups is None else [roles.groups])]
    if request.options.task == "classification":
        as_text += roles.targets
    names = [*roles.others, *roles.factors]
    return take_inventory(source, names, as_text, request.options.missing == "level")


def _sort_out(
    source: Source, request: Request, columns: Sequence[Column], categorical: Sequence[str]
) -> tuple[list[Column], dict[str, str]]:
    """The columns that are factors, and why others are not; refuse to leave out what was asked for by name."""
    used, left_out = [], {}
    asked = {option: split_names(names, source.names) for option, names in request.asked.items()}
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
        held = "dates or times" if target.holds == "dates" else target.why_left_out
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
        gaps = _find_gaps(source, [name], roles.targets) if column.missing else None
        if gaps is not None and gaps[0]:
            count, row = gaps
            raise ValueError(
                f"{option}: column {name!r} of {source.shown} has {_count(count)} "
                f"({'first ' if count > 1 else ''}on {source.place(row)}). Every row needs one: fill it in, or leave "
                "out the row."
            )


def _find_gaps(source: Source, names: Sequence[str], targets: Sequence[str]) -> tuple[int, int]:
    """How many rows that have a target lack a value in some columns, and the first of them."""
    known = ~pl.any_horizontal([is_missing(name, source) for name in targets])
    gap = known & pl.any_horizontal([is_missing(name, source) for name in names])
    asked = source.frame.select(gap.sum().alias("count"), pl.when(gap).then(pl.col(ROW)).min().alias("row"))
    count, row = source.collect(asked).row(0)
    return count, row or 0


def _check_weights(source: Source, weights: pl.Series) -> pl.Series:
    least, most = float(weights.min()), float(weights.max())  # type: ignore[arg-type]
    if least < 0 or most == 0:
        raise ValueError(
            f"weight: column {weights.name!r} of {source.shown} must hold numbers of at least 0, some above it; got "
            f"{least:g} to {most:g}."
        )
    return weights


def _refuse_missing(source: Source, columns: Sequence[Column], targets: Sequence[str]) -> None:
    gaps = _most_missing_first(columns)
    if not gaps:
        return
    n_rows, _ = _find_gaps(source, [column.name for column in gaps], targets)
    if not n_rows:  # all in rows without a target, which are left out anyway
        return
    worst = gaps[0]
    where = f" ({'first ' if worst.missing > 1 else ''}on {source.place(worst.first_missing or 0)})"
    if len(gaps) == 1:
        what = f"column {worst.name!r} of {source.shown} has {_count(worst.missing)}{where}"
    else:
        counts = [(column.name, column.missing) for column in gaps]
        what = f"{len(gaps):,} columns of {source.shown} have missing values: {say_missing(counts, where)}"
    raise ValueError(
        f'{what}. Use missing="level" to take "not known" for a value of its own, missing="drop" to leave out the '
        f"{n_rows:,} of {worst.n_rows:,} rows with missing values, or drop= to leave out columns."
    )


def _count(missing: int) -> str:
    return f"{missing:,} missing value{'s' if missing > 1 else ''}"


def _most_missing_first(columns: Iterable[Column]) -> list[Column]:
    return sorted((column for column in columns if column.missing), key=lambda column: -column.missing)


def say_missing(gaps: Sequence[tuple[str, int]], where: str = "", most: int = MOST_NAMED) -> str:
    """Say how many values are missing in which column, and for the first one where."""
    counts = [f"{name!r} {missing:,}" for name, missing in gaps[:most]]
    more = [f"and {len(gaps) - most:,} columns more"] if len(gaps) > most else []
    return ", ".join([counts[0] + where, *counts[1:], *more])


# --- their values --------------------------------------------------------------------------------------


def _draw(n_rows: int, request: Request) -> pl.Series | None:
    """The rows to read, or None for all."""
    if request.parameters.sample is None or request.parameters.sample >= n_rows:
        return None
    rows = np.random.default_rng(request.parameters.seed).choice(
        n_rows, request.parameters.sample, replace=False, shuffle=False
    )
    return pl.Series(np.sort(rows)).cast(pl.UInt32)


def _read(
    source: Source, columns: Sequence[Column], drawn: pl.Series | None, categorical: Sequence[str]
) -> pl.DataFrame:
    """The columns in memory, null where a value is missing."""
    frame = source.frame
    if drawn is not None:
        position = "\0position"  # unlike the number in the file, it has no gaps where lines are blank
        frame = frame.with_row_index(position).filter(pl.col(position).is_in(drawn.implode()))
    values = [_typed(source, column, column.name in categorical).alias(column.name) for column in columns]
    read = source.collect(frame.select(values))
    return pl.DataFrame([_in_64_bits(source, values) for values in read])


def _drop(frame: pl.DataFrame, roles: Roles, drop_incomplete: bool) -> tuple[pl.DataFrame, Dropped]:
    """The rows with a target, and if wanted without any missing value; and how many others there were."""
    known = _complete(frame, roles.targets)
    no_target = len(frame) - len(known)
    if not drop_incomplete:
        return known, Dropped(no_target)
    factors = [name for name in frame.columns if name not in roles.others]
    gaps = [(name, known.get_column(name).null_count()) for name in factors]
    costs = sorted(((name, count) for name, count in gaps if count), key=lambda gap: -gap[1])
    complete = _complete(known, factors)
    return complete, Dropped(no_target, len(known) - len(complete), tuple(costs))


def _complete(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The rows that lack no value in some columns."""
    # Methods of polars take a name such as ^x$ for a pattern.
    columns = [frame.get_column(name).alias("") for name in names]
    known = [column.is_not_null() for column in columns if column.null_count()]
    return frame.filter(reduce(and_, known)) if known else frame


def _check_few_rows(source: Source, n_rows: int, n_left: int, dropped: Dropped) -> None:
    if n_left >= FEWEST_ROWS:
        return
    if n_left == n_rows:
        raise ValueError(
            f"{source.shown} has {n_left} row{'s' if n_left > 1 else ''}; at least {FEWEST_ROWS} are needed."
        )
    why = ""
    if dropped.no_target:
        why += f" {dropped.no_target:,} have no value of the target."
    if dropped.costs:
        why += f' Missing values: {say_missing(dropped.costs)}. Use missing="level" to keep these rows.'
    raise ValueError(f"{n_left} of {n_rows:,} rows of {source.shown} are left; at least {FEWEST_ROWS} are needed.{why}")


def _outputs(source: Source, request: Request, frame: pl.DataFrame, targets: Sequence[str]) -> pl.Series | pl.DataFrame:
    """The response: a column, or several."""
    columns = [_whole(frame.get_column(name)) for name in targets]
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


def _whole(values: pl.Series) -> pl.Series:
    """Whole numbers that were read as floats as integers, as they are written; anything else as it is."""
    plain = values.alias("")  # methods of polars take a name such as ^x$ for a pattern
    if not values.dtype.is_float() or not (plain == plain.round()).all():  # which passes over nulls
        return values
    largest: Any = plain.abs().max()
    return values.cast(pl.Int64) if largest is not None and largest <= EXACT_INTEGERS else values


def _typed(source: Source, column: Column, as_label: bool) -> pl.Expr:
    """The values of a column: numbers and dates that were text, and as text what can only be labels."""
    value = _values(source, column, as_label)
    if not column.missing or source.dtypes[column.name].is_integer():
        return value
    return pl.when(~is_missing(column.name, source)).then(value)


def _values(source: Source, column: Column, as_label: bool) -> pl.Expr:
    value, dtype = source.column(column.name), source.dtypes[column.name]
    if dtype != pl.String:
        return value.cast(pl.String) if as_label and (column.holds == "dates" or dtype in WIDE) else value
    if column.writing is not None and not as_label:
        return column.writing.read(value.str.strip_chars())
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
        if narrow.null_count() == values.null_count() and narrow.n_unique() == values.n_unique():
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


def _date_readings(columns: Sequence[Column], categorical: Sequence[str]) -> list[str]:
    """Say which dates may be meant otherwise."""
    names = defaultdict(list)
    for column in columns:
        if column.writing is not None and column.writing.ambiguous and column.name not in categorical:
            names[column.writing.order].append(column.name)
    return [
        f"Dates in {'column' if len(some) == 1 else 'columns'} {quote_names(some)} were read as {order}. Write them as "
        "year-month-day if they are not."
        for order, some in names.items()
    ]


def _split_dates(
    source: Source, request: Request, frame: pl.DataFrame, columns: Sequence[Column], categorical: Sequence[str]
) -> tuple[pl.DataFrame, dict[str, float], list[str]]:
    """The factors, with parts of dates if wanted; the periods of these, and what to say about it."""
    X, periods = [], dict[str, float]()
    known = {column.name for column in columns}
    for column in columns:
        values = frame.get_column(column.name)
        X.append(_whole(values) if column.name in categorical else values)
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


# --- what is said about them ---------------------------------------------------------------------------


def _resolve(
    source: Source, request: Request, roles: Roles, columns: Sequence[str], periods: Mapping[str, float]
) -> dict[str, Any]:
    """What is said about columns, with names in full: patterns are those of the columns of X."""
    options = request.options
    find = partial(_match_factors, source, request, roles)
    groups = {
        group: find("factor_groups", as_list(names), columns) for group, names in (options.factor_groups or {}).items()
    }
    given = {name: value for key, value in (options.period or {}).items() for name in find("period", [key], columns)}
    scale: Any = options.scale
    if not isinstance(scale, bool):
        scale = {name: value for key, value in scale.items() for name in find("scale", [key], columns)}
    grouped = {name: group for group, names in groups.items() for name in names}
    factors = list(dict.fromkeys(grouped.get(name, name) for name in columns))
    for name in split_names(request.forced, factors):
        if name in grouped and name not in factors:
            raise ValueError(f"forced: column {name!r} is in the group {grouped[name]!r}. Name that.")
    return {
        "categorical": [name for name in columns if name in roles.categorical],
        "factor_groups": groups or None,
        "period": {**periods, **given} or None,
        "scale": scale,
        "forced": find("forced", as_list(request.forced), factors) or None,
    }


def _match_factors(
    source: Source, request: Request, roles: Roles, option: str, wanted: Sequence[str], names: Sequence[str]
) -> list[str]:
    """The factors that names and globs stand for."""
    for name in split_names(wanted, [*source.names, *names]):
        if name in names:
            continue
        if name in roles.targets:
            raise ValueError(f"{option}: column {name!r} is the target, which is no factor. Leave it out.")
        if name in source.names:
            raise ValueError(_no_factor(option, name, request))
    return match_names(option, wanted, names, source.shown)
