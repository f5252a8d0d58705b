"""Formats that are read whole, and may hold several tables: Excel, SQLite, DuckDB, Stata and JSON."""

import contextlib
import json
import logging
import sqlite3
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from .._utils.optional import require
from .csv_errors import encoding_fault


def read_whole(path: Path, shown: str, kind: str, table: str | None) -> pl.DataFrame:
    """A table of a file; ``table`` names it where the file has several."""
    if kind in WITH_TABLES:
        return WITH_TABLES[kind](path, shown, table)
    return {"stata": _read_stata, "json": _read_json}[kind](path, shown)


def _choose(shown: str, what: str, tables: Sequence[str], wanted: str | None) -> str:
    """The table that was asked for, or the only one there is."""
    listed = ", ".join(map(repr, tables))
    if wanted is not None and wanted not in tables:
        raise ValueError(f"table: {shown} has no {what} {wanted!r}. It has: {listed or 'none'}.")
    if not tables:
        raise ValueError(f"{shown} has no {what} with data.")
    if wanted is None and len(tables) > 1:
        raise ValueError(f"{shown} has {len(tables)} {what}s: name one with table=. They are: {listed}.")
    return wanted or tables[0]


def _quoted(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def _read_excel(path: Path, shown: str, table: str | None) -> pl.DataFrame:
    fastexcel = require("fastexcel", "an Excel file", "excel")
    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it warns of columns without values
    try:
        book = fastexcel.read_excel(path.read_bytes())
        filled = [name for name in book.sheet_names if book.load_sheet(name, header_row=None, n_rows=1).width]
        sheet = book.load_sheet(_choose(shown, "sheet", filled, table), schema_sample_rows=None)
    except fastexcel.FastExcelError as error:
        raise ValueError(f"{shown} cannot be read as excel: {str(error).splitlines()[0]}.") from error
    frame: pl.DataFrame = sheet.to_polars()
    generated = [column.column_name_from == "generated" for column in sheet.available_columns()]
    frame.columns = [" " * i if generated[i] else name for i, name in enumerate(frame.columns)]
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))


def _read_sqlite(path: Path, shown: str, table: str | None) -> pl.DataFrame:
    try:
        with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            listing = "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite_%'"
            tables = [name for (name,) in connection.execute(listing)]
            query = f"select * from {_quoted(_choose(shown, 'table', tables, table))}"
            return pl.read_database(query, connection, infer_schema_length=None)
    except sqlite3.Error as error:
        raise ValueError(f"{shown} cannot be read as sqlite: {error}.") from error


def _read_duckdb(path: Path, shown: str, table: str | None) -> pl.DataFrame:
    duckdb = require("duckdb", "a DuckDB file", "sql")
    require("pyarrow", "a DuckDB file", "sql")
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            listing = "select table_name from information_schema.tables where table_schema = current_schema()"
            tables = sorted(name for (name,) in connection.execute(listing).fetchall())
            query = f"select * from {_quoted(_choose(shown, 'table', tables, table))}"
            return pl.read_database(query, connection)
    except duckdb.Error as error:
        raise ValueError(f"{shown} cannot be read as duckdb: {str(error).splitlines()[0]}") from error


def _read_stata(path: Path, shown: str) -> pl.DataFrame:
    pandas = require("pandas", "a Stata file", "stata")
    require("pyarrow", "a Stata file", "stata")
    try:
        return pl.from_pandas(pandas.read_stata(path))
    except (ValueError, struct.error) as error:
        raise ValueError(f"{shown} cannot be read as stata: {str(error).splitlines()[0]}") from error


def _read_json(path: Path, shown: str) -> pl.DataFrame:
    """A table from a list of objects, an object of lists, or what pandas writes."""
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(encoding_fault(path, shown)) from error
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":  # an object in every line
            return pl.read_ndjson(path, infer_schema_length=None)
        raise ValueError(f"{shown} is not JSON: {error.msg.lower()} on line {error.lineno:,}.") from error
    rows, names = content, None
    if isinstance(content, dict):
        if isinstance(content.get("data"), list):
            rows, names = content["data"], content.get("columns")
        else:
            columns = [list(values.values()) if isinstance(values, dict) else values for values in content.values()]
            if columns and all(isinstance(values, list) and len(values) == len(columns[0]) for values in columns):
                rows, names = list(zip(*columns, strict=True)), list(content)
    kinds = dict if names is None else (list, tuple)
    if not isinstance(rows, list) or not rows or not all(isinstance(row, kinds) for row in rows):
        raise ValueError(
            f'{shown} must hold a list of rows such as [{{"x": 1, "y": 2}}, …], or an object of columns such as '
            '{"x": [1, 3], "y": [2, 4]}.'
        )
    return pl.DataFrame(rows, schema=names, orient="row" if names else None, strict=False, infer_schema_length=None)


WITH_TABLES: dict[str, Callable[[Path, str, str | None], pl.DataFrame]] = {
    "excel": _read_excel,
    "sqlite": _read_sqlite,
    "duckdb": _read_duckdb,
}
