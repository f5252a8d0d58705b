"""What the columns of a file hold, found without reading it into memory: which can be factors, and why others not."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any, Literal

import polars as pl

from ..data.columns import EXACT_INTEGERS
from . import dates
from .input_file import ROW, Source, tidy_name
from .numerals import as_number, decorations, removed, undecorated

# What stands for a value that is missing, in files that do not make sure what a column holds.
MISSING = ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL")

# Text in which this share of the values are numbers is taken for numbers with something wrong.
MOSTLY = 0.9

# Text in which this share of the values are numbers, and all others one mark without letters, has marks for gaps.
OFTEN = 0.5
_MARK = r"^[^\p{L}\p{N}]+$"

# Text with so few different values, some of which are numbers, has labels instead of numbers with something wrong.
FEW_LEVELS = 10

# Text with more different values than this, and than half of its rows, names rows instead of sorting them.
MOST_LEVELS = 20

# Columns looked at in one pass through a file: polars takes longer than in proportion for many.
AT_ONCE = 400

Holds = Literal["numbers", "text", "dates", "other"]


@dataclass(frozen=True)
class Column:
    """What one column holds."""

    name: str
    holds: Holds
    n_rows: int
    missing: int = 0
    first_missing: int | None = None
    """The row of the first missing value."""
    levels: int = 0
    """How many different values a text, or a column of whole numbers without a name, has."""
    counts_rows: bool = False
    """Whether the values are those of the row number, from any start."""
    unnamed: bool = False
    """Whether the file has no name for it."""
    large: bool = False
    """Whether these are whole numbers that float64 cannot tell from their neighbours."""
    removed: tuple[str, ...] | None = None
    """What is done to read a text as numbers; None if it is not read so."""
    writing: dates.Writing | None = None
    """How dates that are text are written; None if these are not, or not all in one way."""
    unreadable: str = ""
    """Why dates that are text cannot be read."""
    number_like: str = ""
    """The first value that is no number, of labels most of which are."""
    gaps_count: bool = True
    """Whether a missing value is a value like others, and no reason to leave out rows."""

    @property
    def present(self) -> int:
        """How many values are not missing."""
        return self.n_rows - self.missing

    @property
    def why_left_out(self) -> str | None:
        """Say in a few words why this cannot be a factor, if so."""
        present = self.present
        if present == 0:
            return "no values"
        if self.unreadable:
            return self.unreadable
        if self.holds == "other":
            return "neither numbers nor text"
        if self.holds == "text" and self.names_rows:
            every = "" if self.levels < present else "text, all different"
            return every or f"text, {self.levels:,} different values in {present:,} rows"
        if self.unnamed and self.counts_rows:  # what data frames write as their index
            return "counts the rows"
        if self.unnamed and self.levels == present > 2:  # the same after rows were taken out
            return "no name, all different"
        return None

    @property
    def names_rows(self) -> bool:
        """Whether so many values are different that they tell rows apart instead of sorting them."""
        counted = self.n_rows if self.gaps_count else self.present
        if self.levels == self.present > 2 and self.present > counted / 2:
            return True
        return self.levels > max(MOST_LEVELS, counted / 2)

    @property
    def can_be_number(self) -> bool:
        """Whether its values can be a factor as numbers, if that is asked for."""
        return self.holds in ("numbers", "dates") and self.present > 0 and not self.unreadable

    @property
    def can_be_category(self) -> bool:
        """Whether its values can be a factor as labels, if that is asked for."""
        return self.holds != "other" and self.present > 0


def match_names(option: str, wanted: Iterable[str], names: Sequence[str], shown: str) -> list[str]:
    """The columns that names and globs stand for, in the order of the table; several may share a comma."""
    found: set[str] = set()
    for pattern in split_names(wanted, names):
        matches = [pattern] if pattern in names else [name for name in names if fnmatchcase(name, pattern)]
        if not matches:
            raise ValueError(unknown_column(option, pattern, names, shown))
        found.update(matches)
    return [name for name in names if name in found]


def split_names(wanted: Iterable[str], names: Sequence[str]) -> list[str]:
    """Names and globs one by one, where several share a comma that is not part of a name."""
    return [
        part if part in names else tidy_name(part)
        for entry in wanted
        for part in ([entry] if entry in names else entry.split(","))
    ]


def unknown_column(option: str, name: str, names: Sequence[str], shown: str) -> str:
    """Word the error for a column that does not exist, with the nearest ones that do."""
    by_folded = {candidate.casefold(): candidate for candidate in reversed(names)}
    near = [by_folded[match] for match in difflib.get_close_matches(name.casefold(), by_folded, n=3)]
    way_out = f"Did you mean {quote_names(near, 'or')}?" if near else f"The columns are: {quote_names(names)}."
    return f"{option}: {shown} has no column {name!r}. {way_out}"


def quote_names(names: Sequence[str], last: str = "and", most: int = 8) -> str:
    """Names in quotes as a list in words."""
    shown = [repr(name) for name in names[:most]]
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"


def in_quotes(value: str) -> str:
    """A value as it is typed in a shell, always in quotes."""
    return "'" + value.replace("'", "'\"'\"'") + "'"


def take_inventory(
    source: Source, names: Sequence[str], as_text: Iterable[str], gaps_count: bool = True
) -> list[Column]:
    """Look at every value of the columns; ``as_text`` are categories, even where some of their values are numbers.

    ``gaps_count`` says whether a missing value is a value like others.
    """
    texts = [name for name in names if source.dtypes[name] == pl.String]
    others = [name for name in names if source.dtypes[name] != pl.String]
    columns = _look_at_text(source, texts, set(as_text)) | _look_at_types(source, others)
    return [replace(columns[name], gaps_count=gaps_count) for name in names]


def is_missing(name: str, source: Source) -> pl.Expr:
    """Tell which values of a column are missing."""
    column = source.column(name)
    if source.dtypes[name] == pl.String and source.loose:
        return column.is_null() | column.str.strip_chars().is_in(MISSING)
    if source.dtypes[name].is_float():
        return column.is_null() | column.is_nan()
    return column.is_null()


# --- text, which is all that CSV files hold -----------------------------------------------------------


def _look_at_text(source: Source, names: Sequence[str], as_text: set[str]) -> dict[str, Column]:
    """First count the numbers; only columns with other values get a closer look, since that takes longer."""
    if not names:
        return {}
    # Converted in a step of its own, once: within the questions, each would convert anew.
    numbers = source.frame.select(
        pl.col(ROW).cast(pl.Float64), *(as_number(source.numeral(name)).name.keep() for name in names)
    )

    def questions(name: str) -> dict[str, pl.Expr]:
        # Rows are numbered as in the file, blank lines included, so a gap there hides that a column counts them.
        number, offset = source.column(name), source.column(name) - pl.col(ROW)
        return {
            "finite": number.is_finite().sum(),
            "low": offset.min(),
            "high": offset.max(),
            "largest": number.abs().max(),
            **({"levels": _count_whole(number)} if name in source.unnamed else {}),
        }

    n_rows, found = _by_column(source, names, questions, numbers)
    clean = {
        name: Column(
            name,
            "numbers",
            n_rows,
            levels=found[name].get("levels", 0),
            counts_rows=found[name]["low"] == found[name]["high"] and n_rows > 1,
            unnamed=name in source.unnamed,
            removed=(),
        )
        for name in names
        if found[name]["finite"] == n_rows > 0
    }
    columns = clean | _look_closer(source, [name for name in names if name not in clean], as_text)
    large = [name for name in names if columns[name].removed == () and (found[name]["largest"] or 0) > EXACT_INTEGERS]
    return columns | _look_at_large(source, [columns[name] for name in large])


def _look_at_large(source: Source, columns: Sequence[Column]) -> dict[str, Column]:
    """Find out which of these columns of large numbers hold whole ones, and whether those count the rows."""
    if not columns:
        return {}

    def questions(name: str) -> dict[str, pl.Expr]:
        integer = source.numeral(name).cast(pl.Int128, strict=False)
        offset = integer - pl.col(ROW).cast(pl.Int128)
        whole = integer.is_not_null() | is_missing(name, source)
        return {"whole": whole.all(), "counts": offset.min() == offset.max()}

    n_rows, found = _by_column(source, [column.name for column in columns], questions)
    return {
        column.name: replace(
            column, large=True, counts_rows=found[column.name]["counts"] and not column.missing and n_rows > 1
        )
        for column in columns
        if found[column.name]["whole"]
    }


def _look_closer(source: Source, names: Sequence[str], as_text: set[str]) -> dict[str, Column]:
    """Tell numbers with gaps, dates and text apart; only text gets the questions that take longest."""
    missing = {name: is_missing(name, source) for name in names}

    def questions(name: str) -> dict[str, pl.Expr]:
        number = as_number(source.numeral(name))
        return {
            "missing": missing[name].sum(),
            "first_missing": _first_row(missing[name]),
            "numbers": (number.is_not_null() & ~missing[name]).sum(),
            "first_infinite": _first_row(number.is_infinite() & ~missing[name]),
            "dates": (source.column(name).str.strip_chars().str.contains(dates.DATE) & ~missing[name]).sum(),
        }

    def questions_on_text(name: str) -> dict[str, pl.Expr]:
        value, numeral = source.column(name).str.strip_chars(), source.numeral(name)
        odd = as_number(undecorated(numeral)).is_null() & ~missing[name]
        return {
            "levels": value.filter(~missing[name]).n_unique(),
            "odd": odd.sum(),
            "first_odd": _first_row(odd),
            "odd_levels": value.filter(odd).n_unique(),
            "marks": value.filter(odd).str.contains(_MARK).all(),
            **{key: (which & ~missing[name]).sum() for key, which in decorations(numeral).items()},
        }

    n_rows, found = _by_column(source, names, questions)
    columns = {name: _judge_numbers(source, name, n_rows, found[name]) for name in names}
    columns |= _look_at_dates(source, [column for column in columns.values() if column.holds == "dates"])
    texts = [name for name in names if columns[name].holds == "text" or name in as_text]
    _, more = _by_column(source, texts, questions_on_text)
    return columns | {name: _judge_text(source, columns[name], name in as_text, more[name]) for name in texts}


def _look_at_dates(source: Source, columns: Sequence[Column]) -> dict[str, Column]:
    """Find out how dates are written, and whether all can be read so."""
    names = [column.name for column in columns]
    texts = {name: pl.when(~is_missing(name, source)).then(source.column(name).str.strip_chars()) for name in names}
    _, found = _by_column(source, names, lambda name: dates.questions(texts[name]))
    written = {column.name: dates.find_writing(found[column.name], column.present) for column in columns}
    some = {name: writing for name, writing in written.items() if writing is not None}
    _, faults = _by_column(source, [*some], lambda name: {"odd": _first_odd(texts[name], some[name].read(texts[name]))})
    unreadable = {name: f"dates, but {fault['odd']!r} is none" for name, fault in faults.items() if fault["odd"]}
    mixed = "dates that are not all written in one way"
    return {
        column.name: replace(
            column,
            writing=written[column.name],
            unreadable=unreadable.get(column.name, "") if column.name in some else mixed,
        )
        for column in columns
    }


def _first_odd(text: pl.Expr, read: pl.Expr) -> pl.Expr:
    """The first text that could not be read, or null."""
    return text.filter(text.is_not_null() & read.is_null()).first()


def _judge_numbers(source: Source, name: str, n_rows: int, found: dict[str, Any]) -> Column:
    column = Column(name, "text", n_rows, found["missing"], found["first_missing"])
    if column.present and found["dates"] == column.present:
        return replace(column, holds="dates")
    if column.present and found["numbers"] == column.present:
        if found["first_infinite"] is not None:
            raise ValueError(_infinite(source, name, found["first_infinite"]))
        return replace(column, holds="numbers", removed=())
    return column


def _judge_text(source: Source, column: Column, as_text: bool, found: dict[str, Any]) -> Column:
    text = replace(column, holds="text", levels=found["levels"], removed=None)
    numbers = column.present - found["odd"]
    taken_away = removed(found, numbers)
    if as_text or not numbers or taken_away is None:
        return text
    if numbers == column.present:
        return replace(text, holds="numbers", removed=taken_away)
    enough = OFTEN if found["odd_levels"] == 1 and found["marks"] else MOSTLY
    if not source.loose or numbers < enough * column.present:
        return text
    row = pl.col(ROW) == found["first_odd"]
    value = source.collect(source.frame.filter(row).select(source.column(column.name))).item().strip()
    if text.levels <= min(FEW_LEVELS, column.present / FEW_LEVELS) and not found["marks"]:
        return replace(text, number_like=value)
    raise ValueError(_stray_text(source, text, value, found))


def _stray_text(source: Source, column: Column, value: str, found: dict[str, Any]) -> str:
    count, row = found["odd"], found["first_odd"]
    others = "" if count == 1 else f" and {count - 1:,} more"
    is_mark = found["odd_levels"] == 1 and (count > 1 or found["marks"])
    way_out = f"Use na={in_quotes(value)} if it stands for missing values, correct" if is_mark else "Correct"
    return (
        f"column {column.name!r} of {source.shown} holds numbers, but for {value!r} on {source.place(row)}{others}, of "
        f"{column.present:,} values. {way_out} the file, leave the column out (drop=), or take all as labels "
        "(categorical=)."
    )


# --- columns whose type tells what they hold ----------------------------------------------------------


def _look_at_types(source: Source, names: Sequence[str]) -> dict[str, Column]:
    if not names:
        return {}

    def questions(name: str) -> dict[str, pl.Expr]:
        column, missing, dtype = source.column(name), is_missing(name, source), source.dtypes[name]
        asked = {"missing": missing.sum(), "first_missing": _first_row(missing)}
        if _holds(dtype) == "text":
            asked["levels"] = column.drop_nulls().n_unique()
        elif dtype.is_numeric() and name in source.unnamed:
            asked["levels"] = _count_whole(column)
        if dtype.is_float():
            asked["first_infinite"] = _first_row(column.is_infinite())
        elif dtype.is_integer():
            offset = column.cast(pl.Int128) - pl.col(ROW).cast(pl.Int128)
            asked["counts"] = offset.min() == offset.max()
        return asked

    n_rows, found = _by_column(source, names, questions)
    return {name: _judge_type(source, name, n_rows, found[name]) for name in names}


def _judge_type(source: Source, name: str, n_rows: int, found: dict[str, Any]) -> Column:
    if found.get("first_infinite") is not None:
        raise ValueError(_infinite(source, name, found["first_infinite"]))
    return Column(
        name,
        _holds(source.dtypes[name]),
        n_rows,
        found["missing"],
        found["first_missing"],
        found.get("levels", 0),
        counts_rows=bool(found.get("counts")) and not found["missing"] and n_rows > 1,
        unnamed=name in source.unnamed,
    )


def _holds(dtype: pl.DataType) -> Holds:
    if dtype.is_numeric():
        return "numbers"
    if dtype.is_temporal():
        return "dates"
    return "text" if dtype in (pl.Categorical, pl.Enum, pl.Boolean) else "other"


# --- both ---------------------------------------------------------------------------------------------


def _by_column(
    source: Source,
    names: Sequence[str],
    questions: Callable[[str], dict[str, pl.Expr]],
    frame: pl.LazyFrame | None = None,
) -> tuple[int, dict[str, dict[str, Any]]]:
    """How many rows there are, and answers to questions on every column."""
    frame = source.frame if frame is None else frame
    n_rows, found = 0, dict[str, dict[str, Any]]()
    for start in range(0, len(names), AT_ONCE):
        asked = {name: questions(name) for name in names[start : start + AT_ONCE]}
        numbered = (expression.alias(str(i)) for i, expression in enumerate(chain(*map(dict.values, asked.values()))))
        n_rows, *answers = source.collect(frame.select(pl.len().alias("n_rows"), *numbered)).row(0)
        given = iter(answers)
        found |= {name: dict(zip(keys, given, strict=False)) for name, keys in asked.items()}
    return n_rows, found


def _count_whole(number: pl.Expr) -> pl.Expr:
    """How many different numbers there are if all are whole, else 0."""
    return pl.when((number == number.round()).all()).then(number.drop_nulls().n_unique()).otherwise(0)


def _first_row(which: pl.Expr) -> pl.Expr:
    """The first row of which something is true."""
    return pl.when(which).then(pl.col(ROW)).min()


def _infinite(source: Source, name: str, row: int) -> str:
    return (
        f"column {name!r} of {source.shown} has an infinite value on {source.place(row)}. "
        "Remove the row, or replace the value."
    )
