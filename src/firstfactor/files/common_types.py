"""The type that a column has in all files together, where those of single files differ."""

from collections.abc import Sequence

import polars as pl


def common_type(one: pl.DataType, other: pl.DataType, loose: bool) -> pl.DataType | None:
    """The type that holds what columns of two types hold; None if they are of different kinds.

    ``loose`` says that text may stand for numbers, as in formats that do not make sure what a column holds.
    """
    if one == other or other == pl.Null:
        return one
    if one == pl.Null:
        return other
    kinds = {_kind(one), _kind(other)}
    if kinds <= {"labels", "text"}:
        return _common_labels(one, other)
    if loose and kinds == {"numbers", "text"}:
        return pl.String()
    return _wider(one, other) if len(kinds) == 1 and "" not in kinds else None


def _kind(dtype: pl.DataType) -> str:
    """What a column of a type is like; empty where only the same type will do."""
    if dtype.is_numeric():
        return "numbers"
    kinds = {pl.String: "text", pl.Categorical: "labels", pl.Enum: "labels", pl.Date: "days", pl.Datetime: "days",
             pl.Duration: "durations"}  # fmt: skip
    return kinds.get(dtype.base_type(), "")


def _wider(one: pl.DataType, other: pl.DataType) -> pl.DataType | None:
    """The narrowest type that polars knows for both."""
    try:
        both = [pl.DataFrame(schema={"": dtype}) for dtype in (one, other)]
        wider = pl.concat(both, how="vertical_relaxed").schema[""]
    except pl.exceptions.PolarsError:  # such as time zones that differ
        return None
    if one.is_integer() and other.is_integer() and not wider.is_integer():
        return pl.Int128()  # what polars before 2.0 makes floats of: some of 64 bits with a sign, others without
    return wider


def _common_labels(one: pl.DataType, other: pl.DataType) -> pl.DataType:
    """The type of categories; their order is kept if the levels of one are some of the other's, in the same order."""
    if isinstance(one, pl.Enum) and isinstance(other, pl.Enum):
        few, many = sorted((one.categories.to_list(), other.categories.to_list()), key=len)
        if _is_part(few, many):
            return pl.Enum(many)
    return pl.Categorical()


def _is_part(few: Sequence[str], many: Sequence[str]) -> bool:
    """Tell whether all of some levels are among others, in the same order."""
    rest = iter(many)
    return all(level in rest for level in few)


def cast(column: pl.Expr, dtype: pl.DataType, to: pl.DataType) -> pl.Expr:
    """A column with the common type instead of its own."""
    if dtype == to:
        return column
    return column.cast(pl.String).cast(to) if to in (pl.Categorical, pl.Enum) else column.cast(to)
