"""JSON and JSON lines: tables in all the ways in which they are written, and what is wrong with a file."""

import contextlib
import glob
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import inf, isinf
from pathlib import Path
from typing import Any

import polars as pl

from .._utils.text import first_line
from ..settings import RankSettings
from .source import ROW, Format, Source, encoding_fault, temporary_copy, typed_source

# Values of different kinds that polars cannot have in one column; it makes numbers text where there is text.
_KINDS = dict.fromkeys((int, float, str), "a number or text") | {
    bool: "true or false", list: "a list", dict: "an object"
}  # fmt: skip

# The whole numbers that a column can hold as such, and how many characters the longest has.
_LEAST, _MOST = -(2**127), 2**127 - 1
_LONGEST = len(str(_LEAST))


class Json(Format):
    """One JSON value: a list of objects, an object of columns, or what pandas writes."""

    name = "json"
    suffixes = (".json",)
    loose = True

    def read(self, path: Path, shown: str, table: str | None) -> pl.DataFrame:
        """Read the table in whichever way it is written."""
        try:
            content = json.loads(path.read_text(encoding="utf-8-sig"), parse_int=_whole_or_float)
        except UnicodeDecodeError as error:
            raise ValueError(encoding_fault(path, shown)) from error
        except json.JSONDecodeError as error:
            if error.msg == "Extra data":  # an object in every line
                return JsonLines().read(path, shown, table)
            raise ValueError(f"{shown} is not JSON: {error.msg.lower()} on line {error.lineno:,}.") from error
        except RecursionError as error:
            raise ValueError(f"{shown} is nested too deeply to be a table. Write a list of rows.") from error
        columns = _find_columns(content, shown)
        return pl.DataFrame({name: _as_series(name, values, shown) for name, values in columns.items()})


def _whole_or_float(digits: str) -> float:
    """Return a whole number, as a float if it has too many digits; Python refuses to read some thousands of them."""
    return int(digits) if len(digits) <= _LONGEST else float(digits)


def _find_columns(content: Any, shown: str) -> Mapping[str, Sequence[Any]]:
    """Return the values of each column, from all the ways in which a table is written."""
    if isinstance(content, dict):
        data, names = content.get("data", []), content.get("columns")
        if _are_all(list, data) and isinstance(names, list):
            return _split_columns(names, data, shown)
        others = (len(values) for name, values in content.items() if name != "data" and isinstance(values, list))
        content = data if _are_all(dict, data) and len(data) not in others else content
    columns: Mapping[str, Sequence[Any]]
    if _are_all(dict, content):
        columns = {name: [row.get(name) for row in content] for name in dict.fromkeys(chain.from_iterable(content))}
    elif isinstance(content, dict) and not _are_all(list, content.get("data")):
        columns = _aligned(content, shown)
    else:
        columns = {}
    if not columns:
        raise ValueError(
            f'{shown} must hold a list of rows such as [{{"x": 1, "y": 2}}, …], or an object of columns such as '
            '{"x": [1, 3], "y": [2, 4]}.'
        )
    return columns


def _are_all(kind: type, values: Any) -> bool:
    """Return whether these are several values of a kind."""
    return isinstance(values, list) and bool(values) and all(isinstance(value, kind) for value in values)


def _split_columns(names: list[Any], rows: list[list[Any]], shown: str) -> dict[str, list[Any]]:
    """Return the columns of rows without names, which stand beside them."""
    if not all(isinstance(name, (str, int, float)) for name in names):
        raise ValueError(f'"columns" of {shown} must hold the names of the columns, each a text or a number.')
    columns: dict[str, list[Any]] = {str(name): [] for name in names}
    if len(columns) < len(names):
        twice = next(str(name) for i, name in enumerate(names) if str(name) in map(str, names[:i]))
        raise ValueError(f"two columns of {shown} have the name {twice!r}. Rename one.")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise ValueError(f"row {number:,} of {shown} has {len(row):,} values for {len(names):,} columns.")
        for values, value in zip(columns.values(), row, strict=True):
            values.append(value)
    return columns


def _aligned(content: Mapping[str, Any], shown: str) -> Mapping[str, Sequence[Any]]:
    """Return the columns of an object: lists of one length, or objects whose keys name the same rows."""
    first = next(iter(content), "")
    kind = type(content.get(first))
    other = next((name for name, values in content.items() if type(values) is not kind), None)
    if kind not in (list, dict) or other is not None:
        return {}
    for name, values in content.items():
        if kind is list and len(values) != len(content[first]):
            raise ValueError(
                f"column {name!r} of {shown} has {len(values):,} values, but {first!r} has {len(content[first]):,}. "
                "Every column must have a value for each row: write null for a missing one."
            )
        for has, has_not in ((first, name), (name, first)) if kind is dict else ():
            lacking = next((key for key in content[has] if key not in content[has_not]), None)
            if lacking is not None:
                raise ValueError(
                    f"column {has!r} of {shown} has a value for the row {lacking!r}, but {has_not!r} has none. Every "
                    "column must have a value for each row: write null for a missing one."
                )
    if kind is list:
        return content
    return {name: [values[key] for key in content[first]] for name, values in content.items()}


def _as_series(name: str, values: Sequence[Any], shown: str) -> pl.Series:
    """Return the values of a column, which must be of one kind."""
    types = set(map(type, values)) - {type(None)}
    if len({_KINDS[kind] for kind in types}) > 1:
        raise ValueError(_say_mixed(((row, {name: value}) for row, value in enumerate(values, start=1)), "row", shown))
    if types & {list, dict}:  # not a factor, whatever they hold
        return pl.Series(name, [None if value is None else [] for value in values], dtype=pl.List(pl.Null))
    if str in types:
        return pl.Series(name, [value if value is None else str(value) for value in values], dtype=pl.String)
    if float in types or (int in types and not all(value is None or _LEAST <= value <= _MOST for value in values)):
        return pl.Series(name, [value if value is None else float(value) for value in values], dtype=pl.Float64)
    if int in types:
        whole = pl.Series(name, values, dtype=pl.Int128)
        narrow = whole.cast(pl.Int64, strict=False)
        return narrow if narrow.null_count() == whole.null_count() else whole
    return pl.Series(name, values, dtype=pl.Boolean if types else pl.Null)


def _say_mixed(rows: Iterable[tuple[int, Mapping[str, Any]]], place: str, shown: str) -> str | None:
    """Return which row has a value of another kind than rows before have under the same key."""
    first: dict[str, tuple[str, int]] = {}
    for number, row in rows:
        for key, value in row.items():
            kind = _KINDS.get(type(value))
            before, where = first.setdefault(key, (kind, number)) if kind else (kind, number)
            if kind != before:
                return (
                    f"{key!r} is {before} on {place} {where:,} of {shown} and {kind} on {place} {number:,}: the values "
                    "of a column must be of one kind."
                )
    return None


# --- JSON lines -----------------------------------------------------------------------------------------


class JsonLines(Format):
    """A JSON object in every line."""

    name = "jsonl"
    suffixes = (".jsonl", ".ndjson")
    loose = True
    is_lazy = True

    def prepare(self, path: Path, stack: contextlib.ExitStack) -> Path:
        """Copy a file whose path polars would take for a pattern: ``scan_ndjson`` has no way to say that it is none."""
        return temporary_copy(path, stack) if glob.has_magic(str(path)) else super().prepare(path, stack)

    def scan(self, path: Path, shown: str, reading: RankSettings) -> Source:
        """Open a file whose lines are read when they are needed."""
        try:
            frame = pl.scan_ndjson(path, infer_schema_length=None, row_index_name=ROW)
            return typed_source(path, shown, self, frame, reading.decimal)
        except pl.exceptions.PolarsError as error:
            raise ValueError(_say_bad_lines(path, shown, error)) from error

    def read(self, path: Path, shown: str, table: str | None) -> pl.DataFrame:  # noqa: ARG002
        """Read a file whole."""
        try:
            return pl.read_ndjson(io.BytesIO(path.read_bytes()), infer_schema_length=None)
        except pl.exceptions.PolarsError as error:
            raise ValueError(_say_bad_lines(path, shown, error)) from error

    def place(self, source: Source, row: int) -> str:  # noqa: ARG002
        """Return the line of a row."""
        return f"line {row + 1:,}"

    def fault(self, source: Source) -> str | None:
        """Return which line is wrong."""
        return _lines_fault(source.path, source.shown)


def _say_bad_lines(path: Path, shown: str, error: Exception) -> str:
    """Return the message about JSON lines that polars cannot read."""
    return _lines_fault(path, shown) or f"{shown} cannot be read as JSON lines: {first_line(error)}"


def _lines_fault(path: Path, shown: str) -> str | None:
    """Return what is wrong with a file of JSON lines."""
    return encoding_fault(path, shown) or _line_fault(path, shown) or _kinds_fault(path, shown)


def _line_fault(path: Path, shown: str) -> str | None:
    """Return which line is not a JSON object, or holds what no table can, or that there is none."""
    is_blank = True
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            is_blank = False
            try:
                row = json.loads(line, parse_constant=_refuse_constant, parse_int=_whole_or_infinite)
            except RecursionError:
                return f"line {number:,} of {shown} is nested too deeply to be a row of a table."
            except ValueError:
                row = None
            if not isinstance(row, dict):
                return (
                    f'line {number:,} of {shown} is not a JSON object: every line must be one, such as {{"x": 1}}. '
                    "For missing values, write null."
                )
            large = next((key for key, value in row.items() if isinstance(value, float) and isinf(value)), None)
            if large is not None:
                return (
                    f"{large!r} is too large a number on line {number:,} of {shown}. Correct it, or write null for a "
                    "missing value."
                )
    return f"{shown} has no rows." if is_blank else None


def _whole_or_infinite(digits: str) -> float:
    """Return a whole number, infinity if it has more digits than polars reads."""
    return inf if len(digits) > _LONGEST or not _LEAST <= int(digits) <= _MOST else int(digits)


def _kinds_fault(path: Path, shown: str) -> str | None:
    with path.open(encoding="utf-8") as file:
        lines = ((number, json.loads(line)) for number, line in enumerate(file, start=1) if line.strip())
        return _say_mixed(lines, "line", shown)


def _refuse_constant(constant: str) -> None:
    """Refuse NaN and Infinity: Python writes them, but they are not JSON."""
    raise ValueError(constant)
