"""The contents of columns, found without reading the table into memory: every value of each column is examined.

CSV files have columns of text only. Those are numbers, dates, labels, or numbers with something wrong among them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import polars as pl

from .._utils.checks import InputError, Mention, Message
from .._utils.text import in_quotes
from ..data.columns import EXACT_INTEGERS
from .source import ROW, Source, ask_by_column
from .written import DATE, DateWriting, as_number, date_questions, decorations, find_writing, removed, undecorated

# Text that stands for a missing value, in files that do not make sure what a column holds.
MISSING = ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL")

# Text with more distinct values than this, and than half of its rows, identifies rows instead of grouping them.
MOST_LEVELS = 20

# Text in which this share of the values are numbers is taken for numbers with something wrong.
MOSTLY = 0.9

# The same, if all other values are one text without digits, such as "n/a", which may stand for missing values.
OFTEN = 0.5
_MARK = r"^[^\p{L}\p{N}]+$"

# Every number matches this.
_NUMBER_LIKE = "[0-9]|[iI][nN][fF]|[nN][aA][nN]"

# Text with at most this many distinct values, some of which are numbers, is labels.
FEW_LEVELS = 10


Holds = Literal["numbers", "text", "dates", "other"]


@dataclass(frozen=True)
class ColumnInfo:
    """Contents of one column."""

    name: str
    holds: Holds
    n_rows: int
    missing: int = 0
    first_missing: int | None = None
    """The row of the first missing value."""
    levels: int = 0
    """Number of distinct values of text, or of integers in a column without a name."""
    counts_rows: bool = False
    """True if the values are row numbers, from any start."""
    unnamed: bool = False
    """True if the file has no name for the column."""
    large: bool = False
    """True if these are integers that float64 cannot distinguish from their neighbours."""
    removed: tuple[str, ...] | None = None
    """Text that is removed to read the values as numbers; None if they are not read as numbers."""
    writing: DateWriting | None = None
    """Format of dates in text; None if there are none, or if they differ in format."""
    unreadable: str = ""
    """Why dates in text cannot be read."""
    number_like: str = ""
    """The first value that is not a number, for labels most of which are."""
    trimmed: bool = False
    """True if blanks around labels are removed."""
    differ_in_blanks: bool = False
    """True if blanks around labels are kept, because some labels differ in nothing else."""
    gaps_count: bool = True
    """True if a missing value is a level of its own, and no reason to leave out rows."""

    @property
    def present(self) -> int:
        """Number of values that are not missing."""
        return self.n_rows - self.missing

    @property
    def why_left_out(self) -> str | None:
        """Reason in a few words why this cannot be a factor, if so."""
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
        """True if so large a share of the values is distinct that they identify rows instead of grouping them."""
        counted = self.n_rows if self.gaps_count else self.present
        if self.levels == self.present > 2 and self.present > counted / 2:
            return True
        return self.levels > max(MOST_LEVELS, counted / 2)

    @property
    def can_be_number(self) -> bool:
        """True if the values can be used as a numeric factor on request."""
        return self.holds in ("numbers", "dates") and self.present > 0 and not self.unreadable

    @property
    def can_be_category(self) -> bool:
        """True if the values can be used as a categorical factor on request."""
        return self.holds != "other" and self.present > 0


def is_missing(name: str, source: Source) -> pl.Expr:
    """Return which values of a column are missing."""
    column = source.column(name)
    if source.dtypes[name] == pl.String and source.format.loose:
        return column.is_null() | column.str.strip_chars().is_in(MISSING)
    if source.dtypes[name].is_float():
        return column.is_null() | column.is_nan()
    return column.is_null()


def take_inventory(
    source: Source, names: Sequence[str], as_text: Iterable[str], gaps_count: bool = True
) -> list[ColumnInfo]:
    """Examine every value of some columns.

    Columns of ``as_text`` are categories even where some of their values are numbers. ``gaps_count`` says whether a
    missing value is a value like others.
    """
    as_text = set(as_text)

    def examine(new: Sequence[tuple[str, bool]]) -> Iterator[ColumnInfo]:
        texts = [name for name, _ in new if source.dtypes[name] == pl.String]
        others = [name for name, _ in new if source.dtypes[name] != pl.String]
        columns = _examine_text(source, texts, as_text) | _examine_typed(source, others)
        return (columns[name] for name, _ in new)

    return [
        replace(column, gaps_count=gaps_count)
        for column in source.find([(name, name in as_text) for name in names], examine)
    ]


def _examine_typed(source: Source, names: Sequence[str]) -> dict[str, ColumnInfo]:
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

    def judge(name: str, found: dict[str, Any]) -> ColumnInfo:
        _refuse_infinite(source, name, found.get("first_infinite"))
        return ColumnInfo(
            name,
            _holds(source.dtypes[name]),
            n_rows,
            found["missing"],
            found["first_missing"],
            found.get("levels", 0),
            counts_rows=bool(found.get("counts")) and not found["missing"] and n_rows > 1,
            unnamed=name in source.unnamed,
        )

    n_rows, answers = ask_by_column(source, names, questions)
    return {name: judge(name, found) for name, found in answers.items()}


def _holds(dtype: pl.DataType) -> Holds:
    if dtype.is_numeric():
        return "numbers"
    if dtype.is_temporal():
        return "dates"
    return "text" if dtype in (pl.Categorical, pl.Enum, pl.Boolean) else "other"


def _count_whole(number: pl.Expr) -> pl.Expr:
    """Return the number of distinct numbers if all are integers, else 0."""
    return pl.when((number == number.round()).all()).then(number.drop_nulls().n_unique()).otherwise(0)


def _first_row(which: pl.Expr) -> pl.Expr:
    """Return the first row for which something is true."""
    return pl.when(which).then(pl.col(ROW)).min()


def _refuse_infinite(source: Source, name: str, row: int | None) -> None:
    if row is not None:
        raise ValueError(
            f"column {name!r} of {source.shown} has an infinite value on {source.place(row)}. "
            "Remove the row, or replace the value."
        )


# --- columns of text ------------------------------------------------------------------------------------


def _examine_text(source: Source, names: Sequence[str], as_text: set[str]) -> dict[str, ColumnInfo]:
    """Count the numbers first; only columns with other values are examined closely, since that takes longer."""

    def numbers(some: Sequence[str]) -> pl.LazyFrame:
        # Converted in a step of its own, once: within the questions, each would convert anew.
        return source.frame.select(
            pl.col(ROW).cast(pl.Float64), *(as_number(source.numeral(name)).name.keep() for name in some)
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

    n_rows, found = ask_by_column(source, names, questions, numbers)
    clean = {
        name: ColumnInfo(
            name,
            "numbers",
            n_rows,
            levels=found[name].get("levels", 0),
            counts_rows=found[name]["low"] == found[name]["high"] and n_rows > 1,
            unnamed=name in source.unnamed,
            removed=(),
        )
        for name in names
        if found[name]["finite"] == n_rows > 0 and (source.format.loose or name not in as_text)
    }
    columns = clean | _examine_closely(source, [name for name in names if name not in clean], as_text)
    large = [name for name in names if columns[name].removed == () and (found[name]["largest"] or 0) > EXACT_INTEGERS]
    return columns | _examine_large(source, [columns[name] for name in large])


def _examine_large(source: Source, columns: Sequence[ColumnInfo]) -> dict[str, ColumnInfo]:
    """Find out which columns of large numbers hold integers, and whether those count the rows."""

    def questions(name: str) -> dict[str, pl.Expr]:
        integer = source.numeral(name).cast(pl.Int128, strict=False)
        offset = integer - pl.col(ROW).cast(pl.Int128)
        whole = integer.is_not_null() | is_missing(name, source)
        return {"whole": whole.all(), "counts": offset.min() == offset.max()}

    n_rows, found = ask_by_column(source, [column.name for column in columns], questions)
    return {
        column.name: replace(
            column, large=True, counts_rows=found[column.name]["counts"] and not column.missing and n_rows > 1
        )
        for column in columns
        if found[column.name]["whole"]
    }


def _examine_closely(source: Source, names: Sequence[str], as_text: set[str]) -> dict[str, ColumnInfo]:
    """Distinguish numbers with gaps, dates and text; only text with digits needs the slowest checks."""
    missing = {name: is_missing(name, source) for name in names}

    def questions(name: str) -> dict[str, pl.Expr]:
        number = as_number(source.numeral(name))
        return {
            "missing": missing[name].sum(),
            "first_missing": _first_row(missing[name]),
            "numbers": (number.is_not_null() & ~missing[name]).sum(),
            "first_infinite": _first_row(number.is_infinite() & ~missing[name]),
            "dates": (source.column(name).str.strip_chars().str.contains(DATE) & ~missing[name]).sum(),
        }

    def questions_on_text(name: str) -> dict[str, pl.Expr]:
        text = source.column(name).filter(~missing[name])
        return {
            "levels": text.n_unique(),
            "levels_trimmed": text.str.strip_chars().n_unique(),
            "number_like": text.str.contains(_NUMBER_LIKE).any(),
        }

    def questions_on_numerals(name: str) -> dict[str, pl.Expr]:
        value, numeral = source.column(name).str.strip_chars(), source.numeral(name)
        odd = as_number(undecorated(numeral)).is_null() & ~missing[name]
        return {
            "odd": odd.sum(),
            "first_odd": _first_row(odd),
            "odd_levels": value.filter(odd).n_unique(),
            "marks": value.filter(odd).str.contains(_MARK).all(),
            **{key: (which & ~missing[name]).sum() for key, which in decorations(numeral).items()},
        }

    n_rows, found = ask_by_column(source, names, questions)
    columns = {name: _judge_numbers(source, name, n_rows, found[name]) for name in names}
    columns |= _examine_dates(source, [column for column in columns.values() if column.holds == "dates"])
    filled = [name for name in names if columns[name].present]
    texts = [name for name in filled if columns[name].holds == "text" or name in as_text]
    _, labels = ask_by_column(source, texts, questions_on_text)
    columns |= {name: _judge_labels(source, columns[name], labels[name]) for name in texts}
    numerals = [name for name in texts if labels[name]["number_like"] and name not in as_text]
    _, more = ask_by_column(source, numerals, questions_on_numerals)
    return columns | {name: _judge_numerals(source, columns[name], more[name]) for name in numerals}


def _examine_dates(source: Source, columns: Sequence[ColumnInfo]) -> dict[str, ColumnInfo]:
    """Find out how dates are written, and whether all can be read so."""
    names = [column.name for column in columns]
    texts = {name: pl.when(~is_missing(name, source)).then(source.column(name).str.strip_chars()) for name in names}
    _, found = ask_by_column(source, names, lambda name: date_questions(texts[name]))
    written = {column.name: find_writing(found[column.name], column.present) for column in columns}

    def first_unread(name: str) -> dict[str, pl.Expr]:
        text, writing = texts[name], written[name]
        assert writing is not None
        return {"odd": text.filter(text.is_not_null() & writing.read(text).is_null()).first()}

    some = [name for name in names if written[name] is not None]
    _, faults = ask_by_column(source, some, first_unread)
    unreadable = dict.fromkeys(names, "dates that are not all written in one way")
    unreadable |= {
        name: f"dates, but {fault['odd']!r} is none" if fault["odd"] else "" for name, fault in faults.items()
    }
    return {
        column.name: replace(column, writing=written[column.name], unreadable=unreadable[column.name])
        for column in columns
    }


def _judge_numbers(source: Source, name: str, n_rows: int, found: dict[str, Any]) -> ColumnInfo:
    column = ColumnInfo(name, "text", n_rows, found["missing"], found["first_missing"])
    if column.present and found["dates"] == column.present:
        return replace(column, holds="dates")
    if column.present and found["numbers"] == column.present:
        _refuse_infinite(source, name, found["first_infinite"])
        return replace(column, holds="numbers", removed=())
    return column


def _judge_labels(source: Source, column: ColumnInfo, found: dict[str, Any]) -> ColumnInfo:
    differ_in_blanks = source.format.loose and found["levels_trimmed"] < found["levels"]
    return replace(
        column,
        holds="text",
        levels=found["levels"],
        removed=None,
        trimmed=source.format.loose and not differ_in_blanks,
        differ_in_blanks=differ_in_blanks,
    )


def _judge_numerals(source: Source, text: ColumnInfo, found: dict[str, Any]) -> ColumnInfo:
    """Decide if a column of text with numbers holds numbers or labels; raise an error if only a few are not numbers."""
    numbers = text.present - found["odd"]
    taken_away = removed(found, numbers)
    if not numbers or taken_away is None:
        return text
    if numbers == text.present:
        return replace(text, holds="numbers", removed=taken_away)
    if numbers < OFTEN * text.present:
        return text
    count, row = found["odd"], found["first_odd"]
    value = source.collect(source.frame.filter(pl.col(ROW) == row).select(source.column(text.name))).item().strip()
    is_word = count > 1 and not any(map(str.isdigit, value))
    is_mark = found["odd_levels"] == 1 and (is_word or found["marks"])
    if not is_mark and numbers < MOSTLY * text.present:
        return text
    if text.levels <= min(FEW_LEVELS, text.present / FEW_LEVELS) and not found["marks"]:
        return replace(text, number_like=value)
    others = "" if count == 1 else f" and {count - 1:,} more"
    mark = Mention("na", in_quotes(value))
    raise InputError(
        "column {name!r} of {shown} holds numbers, but for {value!r} on {place}{others}, of {present:,} values. "
        "{correct} the {where}, leave the column out ({drop=}), or take all as labels ({categorical=}).",
        name=text.name,
        shown=source.shown,
        value=value,
        place=source.place(row),
        others=others,
        present=text.present,
        where="table" if source.format.name == "frame" else "file",
        correct=Message("Use {mark} if it stands for missing values, correct", mark=mark) if is_mark else "Correct",
    )
