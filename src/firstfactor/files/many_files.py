"""Several files as one table: the rows of one after those of the other, read in pieces as those of one file are."""

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from .._utils.text import first_line
from ..parameters import RankParameters
from .common_columns import common_columns
from .common_types import cast
from .csv_file import first_fields, say_ambiguous
from .find_files import name_all, short_names
from .input_file import DEFAULTS, open_source, with_nulls
from .numerals import guess_decimal, sure_decimal
from .partitions import read_partitions
from .source import ROW, Source, numbered


@dataclasses.dataclass(frozen=True)
class ManyFiles(Source):
    """A table in several files that has not been read yet; ``path`` is that of the first."""

    parts: tuple[Source, ...] = ()
    """The files one by one."""

    def place(self, row: int) -> str:
        """Say where a row is, and in which file."""
        for part in self.parts:
            rows = part.collect(part.frame.select(ROW)).to_series()
            if row < len(rows):
                return f"{part.place(rows[row])} of {part.shown}"
            row -= len(rows)
        raise ValueError(f"{self.shown} has fewer rows than before. Run again once all files are complete.")

    def collect(self, frame: pl.LazyFrame) -> pl.DataFrame:
        """Run a query on the files in small pieces; what is wrong with one of them is said with its name."""
        try:
            return frame.collect(engine="streaming")
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            for part in self.parts:
                part.collect(part.frame.select(pl.all().count()))
            raise ValueError(f"{self.shown} cannot be read: {first_line(error)}") from error

    def fault(self) -> str | None:
        """Look for what makes a file unreadable."""
        return next(filter(None, (part.fault() for part in self.parts)), None)


@contextlib.contextmanager
def open_files(files: Sequence[str], reading: RankParameters = DEFAULTS) -> Iterator[Source]:
    """Open files as one table for as long as the context lasts.

    All must be of one format and have the same columns, in any order. Folders such as year=2024 add a column, unless
    the files have one of that name.
    """
    shown = short_names(files)
    keys = read_partitions(files, shown)
    if len(files) == 1 and not keys:
        with open_source(files[0], reading) as source:
            yield source
        return
    # Decided for all files together, once it is known what each is like.
    plain = dataclasses.replace(reading, na=(), decimal=reading.decimal or ".")
    with contextlib.ExitStack() as stack:
        parts = [stack.enter_context(open_source(file, plain, name)) for file, name in zip(files, shown, strict=True)]
        table = _as_one(parts, keys, name_all(files), reading)
        yield with_nulls(table, tuple(reading.na)) if reading.na else table


def _as_one(parts: Sequence[Source], keys: Mapping[str, pl.Series], shown: str, reading: RankParameters) -> ManyFiles:
    """The files as one source."""
    first = parts[0]
    _refuse_other_formats(parts)
    dtypes = common_columns(parts, reading)
    folders = {name: values for name, values in keys.items() if name not in dtypes}
    if first.untyped:
        folders = {name: values.cast(pl.String) for name, values in folders.items()}
    frames = [
        _in_order(part, dtypes).with_columns(
            pl.lit(values[number], values.dtype).alias(numbered(position))
            for position, values in enumerate(folders.values(), start=len(dtypes))
        )
        for number, part in enumerate(parts)
    ]
    decimal = reading.decimal or (_common_decimal(parts) if first.untyped else ".")
    unnamed = frozenset.intersection(*(part.unnamed for part in parts))
    return ManyFiles(
        first.path,
        shown,
        first.kind,
        _count_on(pl.concat(frames).with_row_index(ROW), parts, dtypes, unnamed),
        dtypes | {name: values.dtype for name, values in folders.items()},
        unnamed=unnamed,
        decimal=decimal,
        reading={**first.reading, "na": tuple(reading.na), "decimal": decimal},
        parts=tuple(parts),
    )


def _in_order(part: Source, dtypes: dict[str, pl.DataType]) -> pl.LazyFrame:
    """The columns of a file in the order and with the types of all files; those without a type hold nothing."""

    def column(name: str, dtype: pl.DataType) -> pl.Expr:
        return pl.lit(None) if dtype == pl.Null else cast(part.column(name), part.dtypes[name], dtype)

    return part.frame.select(column(*each).alias(numbered(i)) for i, each in enumerate(dtypes.items()))


def _count_on(
    frame: pl.LazyFrame, parts: Sequence[Source], dtypes: dict[str, pl.DataType], unnamed: frozenset[str]
) -> pl.LazyFrame:
    """The rows with numbers that count through all files, where a column without a name counts those of each anew.

    That is the index of a data frame, which would otherwise look like a factor that repeats itself.
    """
    counting = [name for name in unnamed if all(_counts_rows(part, name) for part in parts)]
    positions = {name: position for position, name in enumerate(dtypes)}
    return frame.with_columns(pl.col(ROW).cast(dtypes[name]).alias(numbered(positions[name])) for name in counting)


def _counts_rows(part: Source, name: str) -> bool:
    """Tell whether a column holds the numbers of the rows of a file, from any start."""
    is_text, row = part.dtypes[name] == pl.String, "\0position"  # unlike the number in the file, it has no gaps
    number = part.column(name).cast(pl.Float64, strict=False) if is_text else part.column(name)
    if not is_text and not part.dtypes[name].is_integer():
        return False
    offset = number - pl.col(row)
    asked = part.frame.with_row_index(row).select((offset.min() == offset.max()) & number.is_not_null().all())
    return part.collect(asked).item() is not False  # None: there are no rows


def _refuse_other_formats(parts: Sequence[Source]) -> None:
    first = parts[0]
    other = next((part for part in parts if part.kind != first.kind), None)
    if other is not None:
        raise ValueError(
            f"data: {first.shown} is read as {first.kind}, but {other.shown} as {other.kind}. All files must be of "
            "one format: convert some, or name fewer files."
        )


def _common_decimal(parts: Sequence[Source]) -> str:
    """The decimal mark of CSV files, which must be one; files that do not tell have that of the others."""
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
        raise ValueError(
            f"data: decimals of {told['.']} have points, but those of {told[',']} have commas. Write one of them "
            'anew, or use decimal="," or decimal="." if numbers of one are text.'
        )
    if doubtful and not told:
        raise ValueError(say_ambiguous(doubtful))
    return next(iter(told), ".")
