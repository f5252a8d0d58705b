"""What the columns of a file hold, found without reading it into memory: of each column every value is looked at."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from .column_types import Column, Holds, is_missing
from .source import ROW, Source, ask_by_column, count_whole, first_row, say_infinite
from .text_columns import look_at_text


def take_inventory(
    source: Source, names: Sequence[str], as_text: Iterable[str], gaps_count: bool = True
) -> list[Column]:
    """Look at every value of the columns; ``as_text`` are categories, even where some of their values are numbers.

    ``gaps_count`` says whether a missing value is a value like others.
    """
    texts = [name for name in names if source.dtypes[name] == pl.String]
    others = [name for name in names if source.dtypes[name] != pl.String]
    columns = look_at_text(source, texts, set(as_text)) | _look_at_types(source, others)
    return [replace(columns[name], gaps_count=gaps_count) for name in names]


def _look_at_types(source: Source, names: Sequence[str]) -> dict[str, Column]:
    if not names:
        return {}

    def questions(name: str) -> dict[str, pl.Expr]:
        column, missing, dtype = source.column(name), is_missing(name, source), source.dtypes[name]
        asked = {"missing": missing.sum(), "first_missing": first_row(missing)}
        if _holds(dtype) == "text":
            asked["levels"] = column.drop_nulls().n_unique()
        elif dtype.is_numeric() and name in source.unnamed:
            asked["levels"] = count_whole(column)
        if dtype.is_float():
            asked["first_infinite"] = first_row(column.is_infinite())
        elif dtype.is_integer():
            offset = column.cast(pl.Int128) - pl.col(ROW).cast(pl.Int128)
            asked["counts"] = offset.min() == offset.max()
        return asked

    n_rows, found = ask_by_column(source, names, questions)
    return {name: _judge_type(source, name, n_rows, found[name]) for name in names}


def _judge_type(source: Source, name: str, n_rows: int, found: dict[str, Any]) -> Column:
    if found.get("first_infinite") is not None:
        raise ValueError(say_infinite(source, name, found["first_infinite"]))
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
