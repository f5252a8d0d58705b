"""The columns that all files of a table have, with types that hold what is in each; or why files do not fit."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

import polars as pl

from ..data.columns import EXACT_INTEGERS
from ..parameters import RankParameters
from .column_names import split_names
from .common_types import common_type
from .roles import as_list
from .source import Source
from .values import WIDE

# What may lose digits as a float.
_LARGE_INTEGERS = (pl.Int64, pl.UInt64, *WIDE)

_Types = dict[str, pl.DataType]


def common_columns(parts: Sequence[Source], reading: RankParameters) -> _Types:
    """The columns of all files in the order of the first, with types that hold what all have.

    Where files differ in a column that is not to be used, its type is Null.
    """
    names = [*dict.fromkeys(name for part in parts for name in part.names)]
    unused = _not_to_be_used(names, reading)
    dtypes: _Types = {}
    for name in names:
        fault = _say_missing(parts, name)
        if not fault:
            dtypes[name], fault = _common_type(parts, name)
        if fault and name not in unused:
            raise ValueError(f"data: {fault} or leave the column out (drop=).")
        if fault:
            dtypes[name] = pl.Null()
    _refuse_inexact(parts, dtypes)
    return dtypes


def _not_to_be_used(names: Sequence[str], reading: RankParameters) -> set[str]:
    """The columns that ``drop`` names; whether it names some that do not exist is found out later."""
    patterns = split_names(as_list(reading.drop), names)
    return {name for name in names if name in patterns or any(fnmatchcase(name, each) for each in patterns)}


def _say_missing(parts: Sequence[Source], name: str) -> str:
    """The error that a column is not in all files, without its way out; empty if it is."""
    lacking = next((part.shown for part in parts if name not in part.dtypes), None)
    if lacking is None:
        return ""
    having = next(part.shown for part in parts if name in part.dtypes)
    return f"column {name!r} of {having} is not in {lacking}. All files must have the same columns: add it, rename it,"


def _common_type(parts: Sequence[Source], name: str) -> tuple[pl.DataType, str]:
    """The type that a column has in all files, and the error that there is none, without its way out."""
    decisive, dtype = parts[0], parts[0].dtypes[name]
    for part in parts[1:]:
        wider = common_type(dtype, part.dtypes[name], part.loose)
        if wider is None:
            return dtype, (
                f"column {name!r} is {decisive.dtypes[name]} in {decisive.shown} and {part.dtypes[name]} in "
                f"{part.shown}. Its values must be of one kind in all files: convert one of them,"
            )
        if wider != dtype:
            decisive, dtype = part, wider
    return dtype, ""


def _refuse_inexact(parts: Sequence[Source], dtypes: _Types) -> None:
    """Refuse whole numbers that lose their last digits as floats, which they become where other files have these."""
    for part in parts:
        names = [name for name, dtype in dtypes.items() if dtype.is_float() and part.dtypes[name] in _LARGE_INTEGERS]
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
