"""Several files as one table: rows follow file by file, columns get a type that holds the values of all files."""

import contextlib
import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from .._utils.checks import InputError
from .._utils.text import first_line
from ..data.columns import EXACT_INTEGERS
from ..settings import RankSettings
from .find_files import name_all, short_names
from .formats import DEFAULTS, open_source
from .roles import as_list, split_names
from .source import ROW, WIDE, Source, numbered
from .text import ambiguous_decimals, first_fields
from .written import guess_decimal, sure_decimal

_Types = dict[str, pl.DataType]

# The name of the folder that Hive, Spark and others write for a missing value.
_MISSING_PARTITION = "__HIVE_DEFAULT_PARTITION__"

# Digits that fit into an integer of 64 bits.
_WHOLE = re.compile(r"[-+]?\d{1,18}")

# What a column of a type holds; other types only go together with themselves.
_KINDS = {pl.String: "text", pl.Categorical: "labels", pl.Enum: "labels", pl.Date: "days", pl.Datetime: "days",
          pl.Duration: "durations"}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class ManyFiles(Source):
    """A table in several files that has not been read yet; ``path`` is that of the first."""

    parts: tuple[Source, ...] = ()
    """The files one by one."""

    @property
    def files(self) -> dict[Path, str]:
        """Files that are read, and the name of each in messages."""
        return {part.path: part.shown for part in self.parts}

    def place(self, row: int) -> str:
        """Return the place of a row in words, with its file."""
        for part in self.parts:
            rows = part.collect(part.frame.select(ROW)).to_series()
            if row < len(rows):
                return f"{part.place(rows[row])} of {part.shown}"
            row -= len(rows)
        raise ValueError(f"{self.shown} has fewer rows than before. Run again once all files are complete.")

    def collect(self, frame: pl.LazyFrame) -> pl.DataFrame:
        """Run a query in small pieces; an error names the file that causes it."""
        try:
            return frame.collect(engine="streaming")
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            for part in self.parts:
                part.collect(part.frame.select(pl.all().count()))
            raise ValueError(f"{self.shown} cannot be read: {first_line(error)}") from error

    def fault(self) -> str | None:
        """Return why a file cannot be read, if a reason is found."""
        return next(filter(None, (part.fault() for part in self.parts)), None)


@contextlib.contextmanager
def open_files(files: Sequence[str], reading: RankSettings = DEFAULTS) -> Iterator[Source]:
    """Open files as one table for as long as the context lasts.

    All must be of one format and have the same columns, in any order. Folders such as year=2024 add a column, unless
    the files have one of that name.
    """
    shown = short_names(files)
    keys = _read_partitions(files, shown)
    if len(files) == 1 and not keys:
        with open_source(files[0], reading) as source:
            yield source
        return
    # Missing values and decimal marks are decided for all files together.
    plain = dataclasses.replace(reading, na=(), decimal=reading.decimal or ".")
    with contextlib.ExitStack() as stack:
        parts = [stack.enter_context(open_source(file, plain, name)) for file, name in zip(files, shown, strict=True)]
        yield _as_one(parts, keys, name_all(files), reading).with_nulls(tuple(reading.na))


def _as_one(parts: Sequence[Source], keys: Mapping[str, pl.Series], shown: str, reading: RankSettings) -> ManyFiles:
    first = parts[0]
    other = next((part for part in parts if part.format is not first.format), None)
    if other is not None:
        raise ValueError(
            f"data: {first.shown} is read as {first.format.name}, but {other.shown} as {other.format.name}. All files "
            "must be of one format: convert some, or name fewer files."
        )
    dtypes = _common_columns(parts, reading)
    folders = {name: values for name, values in keys.items() if name not in dtypes}
    if first.format.untyped:
        folders = {name: values.cast(pl.String) for name, values in folders.items()}
    frames = [
        _in_order(part, dtypes).with_columns(
            pl.lit(values[number], values.dtype).alias(numbered(position))
            for position, values in enumerate(folders.values(), start=len(dtypes))
        )
        for number, part in enumerate(parts)
    ]
    decimal = reading.decimal or (_common_decimal(parts) if first.format.untyped else ".")
    unnamed = frozenset.intersection(*(part.unnamed for part in parts))
    return ManyFiles(
        first.path,
        shown,
        first.format,
        _count_on(pl.concat(frames).with_row_index(ROW), parts, dtypes, unnamed),
        dtypes | {name: values.dtype for name, values in folders.items()},
        unnamed=unnamed,
        decimal=decimal,
        reading={**first.reading, "na": tuple(reading.na), "decimal": decimal},
        parts=tuple(parts),
    )


def _in_order(part: Source, dtypes: _Types) -> pl.LazyFrame:
    """Return the columns of a file in the order and with the types of all files; Null columns are empty."""

    def column(name: str, to: pl.DataType) -> pl.Expr:
        if to == pl.Null:
            return pl.lit(None)
        values, dtype = part.column(name), part.dtypes[name]
        if dtype == to:
            return values
        return values.cast(pl.String).cast(to) if to in (pl.Categorical, pl.Enum) else values.cast(to)

    return part.frame.select(column(*each).alias(numbered(i)) for i, each in enumerate(dtypes.items()))


def _count_on(frame: pl.LazyFrame, parts: Sequence[Source], dtypes: _Types, unnamed: frozenset[str]) -> pl.LazyFrame:
    """Count rows through all files where a column without a name starts again in each.

    That is the index of a data frame, which would otherwise look like a factor that repeats itself.
    """
    counting = [name for name in unnamed if all(_counts_rows(part, name) for part in parts)]
    positions = {name: position for position, name in enumerate(dtypes)}
    return frame.with_columns(pl.col(ROW).cast(dtypes[name]).alias(numbered(positions[name])) for name in counting)


def _counts_rows(part: Source, name: str) -> bool:
    """Return whether a column numbers the rows of a file, from any start."""
    is_text, row = part.dtypes[name] == pl.String, "\0position"  # unlike the number in the file, it has no gaps
    number = part.column(name).cast(pl.Float64, strict=False) if is_text else part.column(name)
    if not is_text and not part.dtypes[name].is_integer():
        return False
    offset = number - pl.col(row)
    asked = part.frame.with_row_index(row).select((offset.min() == offset.max()) & number.is_not_null().all())
    return part.collect(asked).item() is not False  # None: there are no rows


def _common_decimal(parts: Sequence[Source]) -> str:
    """Return the decimal mark of CSV files; files that show none use that of the others."""
    told: dict[str, str] = {}
    doubtful = ""
    for part in parts:
        fields = first_fields(part)
        mark = sure_decimal(fields)
        if mark is not None:
            told.setdefault(mark, part.shown)
        elif guess_decimal(fields, part.separator) is None:
            doubtful = doubtful or part.shown
    if len(told) > 1:
        raise InputError(
            "data: decimals of {points} have points, but those of {commas} have commas. Write one of them anew, or use "
            '{decimal=","} or {decimal="."} if numbers of one are text.',
            points=told["."],
            commas=told[","],
        )
    if doubtful and not told:
        raise ambiguous_decimals(doubtful)
    return next(iter(told), ".")


# --- types of columns that differ between files ---------------------------------------------------------


def _common_columns(parts: Sequence[Source], reading: RankSettings) -> _Types:
    """Return the columns of all files in the order of the first, with types that hold the values of all.

    Where files differ in a column that ``drop`` names, its type is Null.
    """
    names = [*dict.fromkeys(name for part in parts for name in part.names)]
    patterns = split_names(as_list(reading.drop), names)  # names that do not exist are refused later
    dtypes: _Types = {}
    for name in names:
        dtypes[name], fault = _type_in_all(parts, name)
        if not fault:
            continue
        if name not in patterns and not any(fnmatchcase(name, each) for each in patterns):
            raise InputError("data: {fault} or leave the column out ({drop=}).", fault=fault)
        dtypes[name] = pl.Null()
    _refuse_inexact(parts, dtypes)
    return dtypes


def _type_in_all(parts: Sequence[Source], name: str) -> tuple[pl.DataType, str]:
    """Return the type of a column in all files, and the error if there is none, without its way out."""
    lacking = next((part.shown for part in parts if name not in part.dtypes), None)
    if lacking is not None:
        having = next(part.shown for part in parts if name in part.dtypes)
        return pl.Null(), (
            f"column {name!r} of {having} is not in {lacking}. All files must have the same columns: add it, rename it,"
        )
    decisive, dtype = parts[0], parts[0].dtypes[name]
    for part in parts[1:]:
        wider = common_type(dtype, part.dtypes[name], part.format.loose)
        if wider is None:
            return dtype, (
                f"column {name!r} is {decisive.dtypes[name]} in {decisive.shown} and {part.dtypes[name]} in "
                f"{part.shown}. Its values must be of one kind in all files: convert one of them,"
            )
        if wider != dtype:
            decisive, dtype = part, wider
    return dtype, ""


def _refuse_inexact(parts: Sequence[Source], dtypes: _Types) -> None:
    """Refuse integers that lose digits as floats, which they become where other files have floats."""
    large = (pl.Int64, pl.UInt64, *WIDE)
    for part in parts:
        names = [name for name, dtype in dtypes.items() if dtype.is_float() and part.dtypes[name] in large]
        if not names:
            continue
        largest = [part.column(name).cast(pl.Int128).abs().max().alias(str(i)) for i, name in enumerate(names)]
        found = part.collect(part.frame.select(largest)).row(0)
        name = next((name for name, number in zip(names, found, strict=True) if (number or 0) > EXACT_INTEGERS), None)
        if name is not None:
            raise ValueError(
                f"data: column {name!r} is {part.dtypes[name]} in {part.shown} and {dtypes[name]} in others, and some "
                "of its whole numbers are too large to be exact among these. Convert it to one type in all files."
            )


def common_type(one: pl.DataType, other: pl.DataType, loose: bool) -> pl.DataType | None:
    """Return the type that holds the values of two types, None if they are of different kinds.

    With ``loose``, text may stand for numbers. Relaxed concatenation by polars alone would make numbers of dates and
    text of numbers, and refuse enums whose levels differ.
    """
    if one == other or other == pl.Null:
        return one
    if one == pl.Null:
        return other
    kinds = {"numbers" if dtype.is_numeric() else _KINDS.get(dtype.base_type(), "") for dtype in (one, other)}
    if kinds <= {"labels", "text"}:
        return _common_labels(one, other)
    if loose and kinds == {"numbers", "text"}:
        return pl.String()
    if len(kinds) > 1 or "" in kinds:
        return None
    try:
        both = [pl.DataFrame(schema={"": dtype}) for dtype in (one, other)]
        wider = pl.concat(both, how="vertical_relaxed").schema[""]
    except pl.exceptions.PolarsError:  # such as time zones that differ
        return None
    if one.is_integer() and other.is_integer() and not wider.is_integer():
        return pl.Int128()  # polars before 2.0 makes floats of signed and unsigned integers of 64 bits
    return wider


def _common_labels(one: pl.DataType, other: pl.DataType) -> pl.DataType:
    """Return the type of categories; it is ordered if one has some of the levels of the other, in the same order."""
    if isinstance(one, pl.Enum) and isinstance(other, pl.Enum):
        few, many = sorted((one.categories.to_list(), other.categories.to_list()), key=len)
        rest = iter(many)
        if all(level in rest for level in few):
            return pl.Enum(many)
    return pl.Categorical()


# --- columns that the names of folders hold, as in year=2024/month=3/part-0.parquet ---------------------
# polars reads such folders for Parquet and Arrow only, and makes dates of text; here all formats are alike.


def _read_partitions(files: Sequence[str], shown: Sequence[str]) -> dict[str, pl.Series]:
    """Return the columns that folders name, with a value for each file: integers if all are, otherwise text."""
    keys = [_partition_keys(file) for file in files]
    for file, found in zip(shown, keys, strict=True):
        lacking = next(iter(keys[0].keys() ^ found.keys()), None)
        if lacking is not None:
            has, has_not = (shown[0], file) if lacking in keys[0] else (file, shown[0])
            raise ValueError(
                f"data: {has} is in a folder that names {lacking!r}, but {has_not} is not. Every file must be in "
                "folders that name the same columns: move it, or name fewer files."
            )
    columns = {name: [found[name] for found in keys] for name in keys[0]}
    return {name: _as_integers(values) for name, values in columns.items()}


def _partition_keys(file: str) -> dict[str, str | None]:
    pairs = (folder.partition("=") for folder in Path(file).parts[:-1])
    return {
        unquote(name): None if value == _MISSING_PARTITION else unquote(value)  # %3A is a colon
        for name, mark, value in pairs
        if name and mark
    }


def _as_integers(values: Sequence[str | None]) -> pl.Series:
    if all(value is None or _WHOLE.fullmatch(value) for value in values):
        return pl.Series([None if value is None else int(value) for value in values], dtype=pl.Int64)
    return pl.Series(values, dtype=pl.String)
