"""What the columns of a file hold, found without reading it into memory: which can be factors, and why others not."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

import polars as pl

from .columns import EXACT_INTEGERS
from .files import ROW, Source

# What stands for a value that is missing, in CSV files.
MISSING = ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL")

# Text in which this share of the values are numbers is taken for numbers with something wrong.
MOSTLY = 0.9

# Text with more different values than this, and than half of its rows, names rows instead of sorting them.
MOST_LEVELS = 20

_DAY = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})"
_TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AaPp][Mm])?(Z| ?[+-]\d{2}:?\d{2})?"
DATE = rf"^(({_DAY})([T ]{_TIME})?|{_TIME})$"

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
    """How many different values a text has."""
    counts_rows: bool = False
    """Whether the values are those of the row number, from any start."""
    unnamed: bool = False
    """Whether the file has no name for it."""
    large: bool = False
    """Whether these are whole numbers that float64 cannot tell from their neighbours."""

    @property
    def why_left_out(self) -> str | None:
        """Say in a few words why this cannot be a factor, if so."""
        present = self.n_rows - self.missing
        if present == 0:
            return "no values"
        if self.holds == "dates":
            return "dates or times"
        if self.holds == "other":
            return "neither numbers nor text"
        if self.holds == "text" and self.levels == present > 2:
            return "text, all different"
        if self.holds == "text" and self.levels > max(MOST_LEVELS, present / 2):
            return f"text, {self.levels:,} different values in {present:,} rows"
        if self.counts_rows and self.unnamed:  # what data frames write as their index
            return "counts the rows"
        return None


def match_names(option: str, wanted: Iterable[str], names: Sequence[str], shown: str) -> list[str]:
    """Return the columns that names and globs stand for, in the order of the table; several may share a comma."""
    found: set[str] = set()
    for entry in wanted:
        for pattern in [entry] if entry in names else entry.split(","):
            pattern = pattern.strip()
            matches = [pattern] if pattern in names else [name for name in names if fnmatchcase(name, pattern)]
            if not matches:
                raise ValueError(unknown_column(option, pattern, names, shown))
            found.update(matches)
    return [name for name in names if name in found]


def unknown_column(option: str, name: str, names: Sequence[str], shown: str) -> str:
    """Word the error for a column that does not exist, with the nearest ones that do."""
    by_folded = {candidate.casefold(): candidate for candidate in reversed(names)}
    near = [by_folded[match] for match in difflib.get_close_matches(name.casefold(), by_folded, n=3)]
    way_out = f"Did you mean {quote_names(near, 'or')}?" if near else f"The columns are: {quote_names(names)}."
    return f"{option}: {shown} has no column {name!r}. {way_out}"


def quote_names(names: Sequence[str], last: str = "and", most: int = 8) -> str:
    """Return names in quotes as a list in words."""
    shown = [repr(name) for name in names[:most]]
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"


def take_inventory(source: Source, names: Sequence[str], as_text: Iterable[str]) -> list[Column]:
    """Look at every value of the columns; ``as_text`` are categories, even where some of their values are numbers."""
    look = _look_at_text if source.untyped else _look_at_types
    return look(source, names, set(as_text))


def is_missing(name: str, source: Source) -> pl.Expr:
    """Tell which values of a column are missing."""
    column = pl.col(name)
    if source.untyped:
        return column.is_null() | column.str.strip_chars().is_in(MISSING)
    if source.frame.collect_schema()[name].is_float():
        return column.is_null() | column.is_nan()
    return column.is_null()


# --- files in which all is text -----------------------------------------------------------------------


def _look_at_text(source: Source, names: Sequence[str], as_text: set[str]) -> list[Column]:
    """First count the numbers; only columns with other values get a closer look, since that takes longer."""
    # Converted in a step of its own, once: within the questions, each would convert anew.
    stripped = pl.col(names).str.strip_chars()
    numbers = source.frame.select(pl.col(ROW).cast(pl.Float64), stripped.cast(pl.Float64, strict=False))

    def questions(name: str) -> dict[str, pl.Expr]:
        # Rows are numbered as in the file, blank lines included, so a gap there hides that a column counts them.
        number, offset = pl.col(name), pl.col(name) - pl.col(ROW)
        return {
            "finite": number.is_finite().sum(),
            "low": offset.min(),
            "high": offset.max(),
            "largest": number.abs().max(),
        }

    found = _by_column(source, names, questions, numbers)
    n_rows = found[""]["n_rows"]
    clean = {
        name: Column(
            name,
            "numbers",
            n_rows,
            counts_rows=found[name]["low"] == found[name]["high"] and n_rows > 1,
            unnamed=name in source.unnamed,
        )
        for name in names
        if found[name]["finite"] == n_rows > 0
    }
    others = [name for name in names if name not in clean]
    closer = _look_closer(source, others, as_text)
    columns = clean | closer
    large = [name for name in clean if found[name]["largest"] > EXACT_INTEGERS]
    whole = {name: pl.col(name).str.strip_chars().cast(pl.Int64, strict=False).is_not_null() for name in large}
    if large and (found := _by_column(source, large, lambda name: {"whole": whole[name].all()})):
        columns |= {name: replace(columns[name], large=found[name]["whole"]) for name in large}
    return [columns[name] for name in names]


def _look_closer(source: Source, names: Sequence[str], as_text: set[str]) -> dict[str, Column]:
    value = {name: pl.col(name).str.strip_chars() for name in names}
    missing = {name: is_missing(name, source) for name in names}

    def questions(name: str) -> dict[str, pl.Expr]:
        number, row = value[name].cast(pl.Float64, strict=False), pl.col(ROW)
        return {
            "missing": missing[name].sum(),
            "first_missing": row.filter(missing[name]).min(),
            "numbers": (number.is_not_null() & ~missing[name]).sum(),
            "first_text": row.filter(number.is_null() & ~missing[name]).min(),
            "first_infinite": row.filter(number.is_infinite()).min(),
            "dates": (value[name].str.contains(DATE) & ~missing[name]).sum(),
        }

    if not names:
        return {}
    found = _by_column(source, names, questions)
    columns = {name: _judge_text(source, name, name in as_text, found[""]["n_rows"], found[name]) for name in names}
    texts = [name for name in names if columns[name].holds == "text"]
    if texts:
        levels = _by_column(source, texts, lambda name: {"levels": value[name].filter(~missing[name]).n_unique()})
        columns |= {name: replace(columns[name], levels=levels[name]["levels"]) for name in texts}
    return columns


def _judge_text(source: Source, name: str, as_text: bool, n_rows: int, found: dict[str, Any]) -> Column:
    present = n_rows - found["missing"]
    holds: Holds = "text"
    if present and found["dates"] == present:
        holds = "dates"
    elif found["numbers"] == present:
        holds = "numbers"
        if found["first_infinite"] is not None:
            raise ValueError(_infinite(source, name, found["first_infinite"]))
    elif found["numbers"] >= MOSTLY * present and not as_text:
        raise ValueError(_stray_text(source, name, present - found["numbers"], present, found["first_text"]))
    return Column(name, holds, n_rows, found["missing"], found["first_missing"])


def _stray_text(source: Source, name: str, count: int, present: int, row: int) -> str:
    value = source.collect(source.frame.filter(pl.col(ROW) == row).select(name)).item()
    others = "" if count == 1 else f" and {count - 1:,} more"
    return (
        f"column {name!r} of {source.shown} holds numbers, but for {value!r} on {source.place(row)}{others}, of "
        f"{present:,} values. Correct the file, leave the column out (--drop), or take all as labels (--categorical)."
    )


# --- files that say what type a column has ------------------------------------------------------------


def _look_at_types(source: Source, names: Sequence[str], as_text: set[str]) -> list[Column]:
    schema = source.frame.collect_schema()

    def questions(name: str) -> dict[str, pl.Expr]:
        column, missing, row = pl.col(name), is_missing(name, source), pl.col(ROW)
        asked = {"missing": missing.sum(), "first_missing": row.filter(missing).min()}
        if schema[name] == pl.String:
            number = column.cast(pl.Float64, strict=False)
            asked["dates"] = column.str.contains(DATE).sum()
            asked["numbers"] = number.is_not_null().sum()
            asked["first_text"] = row.filter(number.is_null() & ~missing).min()
        if _holds(schema[name]) == "text":
            asked["levels"] = column.drop_nulls().n_unique()
        elif schema[name].is_float():
            asked["first_infinite"] = row.filter(column.is_infinite()).min()
        elif schema[name].is_integer():
            offset = column.cast(pl.Float64) - row.cast(pl.Float64)
            asked |= {"low": offset.min(), "high": offset.max()}
        return asked

    found = _by_column(source, names, questions)
    n_rows = found[""]["n_rows"]
    return [_judge_type(source, name, name in as_text, schema[name], n_rows, found[name]) for name in names]


def _judge_type(
    source: Source, name: str, as_text: bool, dtype: pl.DataType, n_rows: int, found: dict[str, Any]
) -> Column:
    holds, present = _holds(dtype), n_rows - found["missing"]
    if found.get("first_infinite") is not None:
        raise ValueError(_infinite(source, name, found["first_infinite"]))
    if present and found.get("dates") == present:
        holds = "dates"
    numbers = found.get("numbers", 0)
    if source.kind == "jsonl" and MOSTLY * present <= numbers < present and not as_text:
        # JSON lines that hold numbers and text became text on reading.
        raise ValueError(_stray_text(source, name, present - numbers, present, found["first_text"]))
    low = found.get("low")
    counts = low is not None and low == found["high"] and present == n_rows > 1
    return Column(name, holds, n_rows, found["missing"], found["first_missing"], found.get("levels", 0), counts)


def _holds(dtype: pl.DataType) -> Holds:
    if dtype.is_numeric():
        return "numbers"
    if dtype.is_temporal():
        return "dates"
    return "text" if dtype in (pl.String, pl.Categorical, pl.Enum, pl.Boolean) else "other"


# --- both ---------------------------------------------------------------------------------------------


def _by_column(
    source: Source,
    names: Sequence[str],
    questions: Callable[[str], dict[str, pl.Expr]],
    frame: pl.LazyFrame | None = None,
) -> dict[str, dict[str, Any]]:
    """Answer questions on every column in one pass; what concerns them all is under the name ""."""
    asked = {(name, key): expression for name in names for key, expression in questions(name).items()}
    numbered = (expression.alias(str(i)) for i, expression in enumerate(asked.values()))
    frame = source.frame if frame is None else frame
    row = source.collect(frame.select(pl.len().alias("n_rows"), *numbered)).row(0)
    found: dict[str, dict[str, Any]] = {"": {"n_rows": row[0]}, **{name: {} for name in names}}
    for (name, key), answer in zip(asked, row[1:], strict=True):
        found[name][key] = answer
    return found


def _infinite(source: Source, name: str, row: int) -> str:
    return (
        f"column {name!r} of {source.shown} has an infinite value on {source.place(row)}. "
        "Remove the row, or replace the value."
    )
