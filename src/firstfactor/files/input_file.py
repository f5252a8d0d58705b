"""A file or standard input in, a lazy polars frame out, whatever the format."""

import contextlib
import dataclasses
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from .._utils.optional import require
from .._utils.text import first_line
from ..parameters import RankParameters
from .csv_file import scan_csv
from .databases import read_duckdb, read_sqlite
from .file_format import guess_format
from .json_file import read_json, say_bad_lines
from .plain_file import FileWatch, has_bare_returns, is_empty, on_disk, temporary_copy, with_newlines
from .source import ROW, Source, typed_source
from .spreadsheets import read_excel
from .written import as_number

# Characters that make a path a pattern.
_GLOB = frozenset("*?[")

# Formats that may hold several tables, and what reads one of them.
WITH_TABLES: dict[str, Callable[[Path, str, str | None], pl.DataFrame]] = {
    "excel": read_excel,
    "sqlite": read_sqlite,
    "duckdb": read_duckdb,
}

# How a file is read if nothing else is said.
DEFAULTS = RankParameters()


@contextlib.contextmanager
def open_source(data: str, reading: RankParameters = DEFAULTS, name: str | None = None) -> Iterator[Source]:
    """Open a file, or standard input if ``data`` is "-", for as long as the context lasts.

    ``name`` is what to call it in messages, if not by its own name.
    """
    shown = name or ("standard input" if data == "-" else Path(data).name)
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(on_disk(data, shown))
        if is_empty(path):
            raise ValueError(f"{shown} is empty.")
        kind = reading.format or guess_format(data, path, shown)
        if kind in ("csv", "tsv") and has_bare_returns(path):
            path = with_newlines(path, stack)
        if _is_misread(path, kind):
            path = temporary_copy(path, stack)
        watch = FileWatch({path: shown})
        try:
            source = _scan(path, shown, kind, reading)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise ValueError(f"{shown} cannot be read as {kind}: {first_line(error)}") from error
        except pl.exceptions.PanicException as error:  # what polars does not expect of a file
            raise ValueError(
                f"{shown} cannot be read as {kind}: it is damaged, or a column has a type that polars does not know. "
                "Write it anew, without that column."
            ) from error
        known = {"format": kind, "table": reading.table, "na": tuple(reading.na), "decimal": source.decimal}
        source = dataclasses.replace(source, reading=known)
        yield with_nulls(source, tuple(reading.na)) if reading.na else source
        watch.check()


def _is_misread(path: Path, kind: str) -> bool:
    """Tell whether the path itself cannot be given to the library that reads the file."""
    is_pattern = kind == "jsonl" and set(str(path)) & _GLOB  # scan_ndjson has no way to say that it is none
    is_text = str(path).encode(errors="replace").decode() == str(path)
    return bool(is_pattern) or (not is_text and kind != "sqlite")  # SQLite takes any bytes


def _scan(path: Path, shown: str, kind: str, reading: RankParameters) -> Source:
    if reading.table is not None and kind not in WITH_TABLES:
        raise ValueError(f"table= is for {', '.join(WITH_TABLES)} files; {shown} is read as {kind}.")
    if kind in ("csv", "tsv"):
        return scan_csv(path, shown, kind, reading.decimal)
    if kind == "jsonl":
        return _scan_json_lines(path, shown, reading)
    if kind in ("parquet", "arrow"):
        scan: Any = pl.scan_parquet if kind == "parquet" else pl.scan_ipc
        frame = scan(path, row_index_name=ROW, glob=False)
    else:
        frame = _read_whole(path, shown, kind, reading.table).lazy().with_row_index(ROW)
    return typed_source(path, shown, kind, frame, reading.decimal)


def _read_whole(path: Path, shown: str, kind: str, table: str | None) -> pl.DataFrame:
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


def _scan_json_lines(path: Path, shown: str, reading: RankParameters) -> Source:
    try:
        frame = pl.scan_ndjson(path, infer_schema_length=None, row_index_name=ROW)
        return typed_source(path, shown, "jsonl", frame, reading.decimal)
    except pl.exceptions.PolarsError as error:
        raise ValueError(say_bad_lines(path, shown, error)) from error


def with_nulls(source: Source, na: Sequence[str]) -> Source:
    """The same table with nothing in place of what stands for it."""
    numbers = [number for number in map(_as_float, na) if number is not None]

    def marked(name: str, dtype: pl.DataType) -> pl.Expr | None:
        column = source.column(name)
        if dtype == pl.String:
            number = as_number(source.numeral(name))
            return (column.str.strip_chars() if source.loose else column).is_in(na) | number.is_in(numbers)
        if dtype in (pl.Categorical, pl.Enum):
            return column.cast(pl.String).is_in(na)
        return column.cast(pl.Float64).is_in(numbers) if dtype.is_numeric() else None

    questions = ((source.column(name), marked(name, dtype)) for name, dtype in source.dtypes.items())
    nulls = [pl.when(question.fill_null(False)).then(None).otherwise(column).name.keep()
             for column, question in questions if question is not None]  # fmt: skip
    return dataclasses.replace(source, frame=source.frame.with_columns(nulls))


def _as_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
