"""Formats that are read whole: those that may hold several tables, JSON and Stata."""

import struct
from collections.abc import Callable
from pathlib import Path

import polars as pl

from .._utils.optional import require
from .databases import read_duckdb, read_sqlite
from .json_file import read_json
from .spreadsheets import read_excel


def read_whole(path: Path, shown: str, kind: str, table: str | None) -> pl.DataFrame:
    """A table of a file; ``table`` names it where the file has several."""
    if kind in WITH_TABLES:
        return WITH_TABLES[kind](path, shown, table)
    return {"stata": _read_stata, "json": read_json}[kind](path, shown)


def _read_stata(path: Path, shown: str) -> pl.DataFrame:
    pandas = require("pandas", "a Stata file", "stata")
    require("pyarrow", "a Stata file", "stata")
    try:
        return pl.from_pandas(pandas.read_stata(path))
    except (ValueError, struct.error) as error:
        raise ValueError(f"{shown} cannot be read as stata: {str(error).splitlines()[0]}") from error


WITH_TABLES: dict[str, Callable[[Path, str, str | None], pl.DataFrame]] = {
    "excel": read_excel,
    "sqlite": read_sqlite,
    "duckdb": read_duckdb,
}
