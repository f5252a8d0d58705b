"""The values of columns in memory: numbers and dates that are text in the file read as such."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

import polars as pl

from ..data.columns import EXACT_INTEGERS
from .column_names import quote_names
from .inventory import ColumnInfo, is_missing
from .numerals import as_number, undecorated
from .source import Source

# Types that few libraries know.
WIDE = (pl.Int128, pl.UInt128)


def read_columns(
    source: Source, columns: Sequence[ColumnInfo], drawn: pl.Series | None, categorical: Collection[str]
) -> pl.DataFrame:
    """The columns in memory, null where a value is missing."""
    read = source.collect(select_columns(source, columns, drawn, categorical))
    return pl.DataFrame([_in_64_bits(source, values) for values in read])


def select_columns(
    source: Source, columns: Sequence[ColumnInfo], drawn: pl.Series | None, categorical: Collection[str]
) -> pl.LazyFrame:
    """The columns by name, yet to be read; whole numbers may have 128 bits."""
    frame = source.frame
    if drawn is not None:
        position = "\0position"  # unlike the number in the file, it has no gaps where lines are blank
        frame = frame.with_row_index(position).filter(pl.col(position).is_in(drawn.implode()))
    return frame.select(_typed(source, column, column.name in categorical).alias(column.name) for column in columns)


def _typed(source: Source, column: ColumnInfo, as_label: bool) -> pl.Expr:
    """The values of a column: numbers and dates that were text, and as text what can only be labels."""
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


def as_whole(values: pl.Series) -> pl.Series:
    """Whole numbers that were read as floats as integers, as they are written; anything else as it is."""
    plain = values.alias("")  # methods of polars take a name such as ^x$ for a pattern
    if not values.dtype.is_float() or not (plain == plain.round()).all():  # which passes over nulls
        return values
    largest: Any = plain.abs().max()
    return values.cast(pl.Int64) if largest is not None and largest <= EXACT_INTEGERS else values


def say_readings(source: Source, columns: Sequence[ColumnInfo]) -> list[str]:
    """Say which columns of text were read as numbers, or not, where a person would not expect it."""
    names = defaultdict(list)
    for column in columns:
        if column.removed:
            names[", ".join(column.removed)].append(column.name)
        elif column.removed == () and not source.untyped:
            names["stored as text"].append(column.name)
    numbers = [
        f"{'Column' if len(names) == 1 else 'Columns'} {quote_names(names)} "
        f"{'was' if len(names) == 1 else 'were'} read as numbers: {how}."
        for how, names in names.items()
    ]
    labels = [
        f"Column {column.name!r} was taken for categories: {column.number_like!r} is no number."
        for column in columns
        if column.number_like
    ]
    blanks = [
        f"Labels of column {column.name!r} that differ only in blanks around them were kept apart."
        for column in columns
        if column.differ_in_blanks
    ]
    return numbers + labels + blanks


def say_date_readings(columns: Sequence[ColumnInfo], categorical: Collection[str]) -> list[str]:
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
