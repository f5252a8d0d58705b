"""Columns that the names of folders hold, as in year=2024/month=3/part-0.parquet."""

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

import polars as pl

# What Hive, Spark and others write where a value is missing.
MISSING = "__HIVE_DEFAULT_PARTITION__"

# What fits into an integer of 64 bits.
_WHOLE = re.compile(r"[-+]?\d{1,18}")


def read_partitions(files: Sequence[str], shown: Sequence[str]) -> dict[str, pl.Series]:
    """The columns that folders name, with a value for each file: whole numbers if all are, otherwise text."""
    keys = [_keys(file) for file in files]
    for file, found in zip(shown, keys, strict=True):
        lacking = next(iter(keys[0].keys() ^ found.keys()), None)
        if lacking is not None:
            has, has_not = (shown[0], file) if lacking in keys[0] else (file, shown[0])
            raise ValueError(
                f"data: {has} is in a folder that names {lacking!r}, but {has_not} is not. Every file must be in "
                "folders that name the same columns: move it, or name fewer files."
            )
    return {name: _as_column([found[name] for found in keys]) for name in keys[0]}


def _keys(file: str) -> dict[str, str | None]:
    """The values that the folders of a file have, by name; characters that paths cannot have are written as %3A."""
    pairs = (folder.partition("=") for folder in Path(file).parts[:-1])
    return {unquote(name): None if value == MISSING else unquote(value) for name, mark, value in pairs if name and mark}


def _as_column(values: Sequence[str | None]) -> pl.Series:
    if all(value is None or _WHOLE.fullmatch(value) for value in values):
        return pl.Series([None if value is None else int(value) for value in values], dtype=pl.Int64)
    return pl.Series(values, dtype=pl.String)
