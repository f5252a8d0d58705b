"""A file or standard input in, a lazy polars frame out: formats, compression, headers."""

import contextlib
import csv
import dataclasses
import difflib
import gzip
import os
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

import polars as pl

from . import faults
from ._output import temporary_file

SUFFIXES = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl")

_GZIP, _PARQUET, _ARROW = b"\x1f\x8b", b"PAR1", b"ARROW1"

# What a number looks like in files that separate columns otherwise, and how many lines tell whether that is so.
_DECIMAL_COMMA = r"^(\s*[-+]?\d*),(\d+(?:[eE][-+]?\d+)?\s*)$"
_DECIMAL_POINT = re.compile(r"^\s*[-+]?\d*\.\d+(?:[eE][-+]?\d+)?\s*$")
_FIRST_LINES = 200

# The column that numbers the rows of the file from 0; no file can have one of this name.
ROW = "\0row"


@dataclasses.dataclass(frozen=True)
class Source:
    """A table that has not been read yet."""

    path: Path
    """The file to read: not compressed, and a copy if it came through standard input."""
    shown: str
    """What to call it in messages."""
    kind: str
    """One of `FORMATS`."""
    frame: pl.LazyFrame
    """All columns, and `ROW`. Those of CSV files are text."""
    names: tuple[str, ...]
    separator: str = ""
    unnamed: frozenset[str] = frozenset()
    """Columns that have no name in the file and were given one."""

    @property
    def untyped(self) -> bool:
        """Whether every column is text, whatever it stands for."""
        return self.kind in ("csv", "tsv")

    def place(self, row: int) -> str:
        """Say where a row is, in words a person can act on."""
        if self.untyped:
            return f"line {faults.csv_line(self.path, self.separator, row):,}"
        return f"{'line' if self.kind == 'jsonl' else 'row'} {row + 1:,}"

    def collect(self, frame: pl.LazyFrame) -> pl.DataFrame:
        """Run a query on the file in small pieces; what is wrong with the file is said by line."""
        try:
            return frame.collect(engine="streaming")
        except pl.exceptions.NoDataError as error:  # polars before 2.0; later ones return no rows
            raise ValueError(f"{self.shown} has no rows below its header.") from error
        except pl.exceptions.PolarsError as error:
            raise ValueError(self.fault() or f"{self.shown} cannot be read: {first_line(error)}") from error

    def fault(self) -> str | None:
        """Look for what makes the file unreadable."""
        if self.untyped:
            return encoding_or_shape_fault(self.path, self.shown, self.separator)
        if self.kind == "jsonl":
            return faults.encoding_fault(self.path, self.shown) or faults.json_fault(self.path, self.shown)
        return None


@contextlib.contextmanager
def open_source(data: str, kind: str | None = None) -> Iterator[Source]:
    """Open a file, or standard input if ``data`` is "-", for as long as the context lasts."""
    shown = "standard input" if data == "-" else Path(data).name
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(_on_disk(data, shown))
        kind = kind or _guess_format(data, path, shown)
        if path.stat().st_size == 0:
            raise ValueError(f"{shown} is empty.")
        before = _state(path)
        try:
            source = _scan(path, shown, kind)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise ValueError(f"{shown} cannot be read as {kind}: {first_line(error)}") from error
        yield source
        if _state(path) != before:
            raise ValueError(f"{shown} was changed while it was read. Run again once it is complete, or on a copy.")


def _state(path: Path) -> tuple[int, int, int]:
    """Return what changes with a file: it is read several times, which must all see the same."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def encoding_or_shape_fault(path: Path, shown: str, separator: str) -> str | None:
    """Look for what is wrong with a CSV file: bytes first, since fields cannot be told apart without them."""
    return faults.encoding_fault(path, shown) or faults.shape_fault(path, shown, separator)


def first_line(error: BaseException) -> str:
    """Return the part of a message that a person wants to see."""
    return str(error).strip().split("\n")[0].rstrip(".") + "."


# --- from whatever was named to a plain file ----------------------------------------------------------


@contextlib.contextmanager
def _on_disk(data: str, shown: str) -> Iterator[Path]:
    """Return a file that can be read more than once: standard input and gzip go through a temporary one."""
    with contextlib.ExitStack() as stack:
        path = _copy(_standard_input(), stack) if data == "-" else _existing(data)
        with path.open("rb") as file:
            compressed = file.read(2) == _GZIP
        if compressed:
            try:
                with gzip.open(path) as unpacked:
                    path = _copy(unpacked, stack)
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                raise ValueError(f"{shown} is damaged: {first_line(error)}") from error
        yield path


def _standard_input() -> IO[bytes]:
    if sys.stdin is None:
        raise ValueError("standard input is closed. Name a file, or send a table through a pipe.")
    return sys.stdin.buffer


def _existing(data: str) -> Path:
    path = Path(data)
    if not path.exists():
        near = difflib.get_close_matches(path.name, os.listdir(path.parent) if path.parent.is_dir() else ())
        meant = f" Did you mean {str(path.parent / near[0])!r}?" if near else ""
        raise ValueError(f"there is no file {data!r}.{meant}")
    if not path.is_file():
        raise ValueError(f"{data!r} is not a file.")
    return path


def _copy(stream: Any, stack: contextlib.ExitStack) -> Path:
    folder = tempfile.gettempdir()
    try:
        file = stack.enter_context(temporary_file(folder))
        shutil.copyfileobj(stream, file, 2**20)
        file.flush()
    except OSError as error:
        if error.errno is None:  # what is wrong with compressed data
            raise
        raise OSError(
            f"a temporary copy in {folder!r} cannot be made: {error.strerror}. Set TMPDIR to a folder with more room."
        ) from error
    return Path(file.name)


def _guess_format(data: str, path: Path, shown: str) -> str:
    """Tell the format from the name, then from the first bytes; standard input is CSV if they do not tell."""
    suffixes = [suffix.lower() for suffix in Path(data).suffixes if suffix.lower() != ".gz"]
    if suffixes and suffixes[-1] in SUFFIXES:
        return SUFFIXES[suffixes[-1]]
    with path.open("rb") as file:
        start = file.read(8)
    if start.startswith(_PARQUET):
        return "parquet"
    if start.startswith(_ARROW):
        return "arrow"
    if data == "-":
        return "csv"
    raise ValueError(
        f"the name {shown!r} does not tell the format. Name it with --format ({', '.join(FORMATS)}), or let it end in "
        f"one of {', '.join(SUFFIXES)}, with or without .gz."
    )


# --- from a file to a lazy frame ----------------------------------------------------------------------


def _scan(path: Path, shown: str, kind: str) -> Source:
    if kind in ("csv", "tsv"):
        return _scan_csv(path, shown, kind)
    if kind == "jsonl":
        try:
            frame = pl.scan_ndjson(path, infer_schema_length=None, row_index_name=ROW)
            names = frame.collect_schema().names()
        except pl.exceptions.PolarsError as error:
            fault = faults.encoding_fault(path, shown) or faults.json_fault(path, shown)
            raise ValueError(fault or f"{shown} cannot be read as JSON lines: {first_line(error)}") from error
    else:
        scan: Any = pl.scan_parquet if kind == "parquet" else pl.scan_ipc
        frame = scan(path, row_index_name=ROW, glob=False)
        names = frame.collect_schema().names()
    return Source(path, shown, kind, frame, tuple(name for name in names if name != ROW))


def _scan_csv(path: Path, shown: str, kind: str) -> Source:
    separator, header = _header(path, shown, kind)
    names = tuple(name or f"column {number}" for number, name in enumerate(header, start=1))
    unnamed = frozenset(name for name, given in zip(names, header, strict=True) if not given)
    frame = pl.scan_csv(
        path,
        has_header=False,  # names are those above, also where the file has none
        skip_rows=1,
        separator=separator,
        schema=dict.fromkeys(names, pl.String),
        row_index_name=ROW,
        glob=False,
    )
    if _has_decimal_commas(path, separator):
        frame = frame.with_columns(pl.col(names).str.replace(_DECIMAL_COMMA, "${1}.${2}"))
    source = Source(path, shown, kind, frame, names, separator, unnamed)
    ragged, blank = _look_at_lines(source)
    if ragged and (fault := source.fault()):
        raise ValueError(fault)
    if blank:
        filled = frame.filter(pl.any_horizontal(pl.col(names).is_not_null()))
        return dataclasses.replace(source, frame=filled)
    return source


def _header(path: Path, shown: str, kind: str) -> tuple[str, list[str]]:
    """Return the separator and the names of the columns."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            start = file.readline()
            separator = "\t" if kind == "tsv" else max(",;\t|", key=start.count)
            file.seek(0)
            names = next(csv.reader(file, delimiter=separator), [])
        except UnicodeDecodeError as error:
            raise ValueError(faults.encoding_fault(path, shown)) from error
    twice = [name for name in names if name and names.count(name) > 1]
    if twice:
        raise ValueError(f"two columns of {shown} have the name {twice[0]!r}. Rename one.")
    if not any(names):
        raise ValueError(f"the first line of {shown} is blank; it must hold the names of the columns.")
    return separator, names


def _has_decimal_commas(path: Path, separator: str) -> bool:
    """Tell from the first lines whether 1,5 means one and a half, as in many countries."""
    if separator == ",":
        return False
    with path.open(encoding="utf-8-sig", newline="", errors="replace") as file:
        start = [field for fields in csv.reader(islice(file, _FIRST_LINES), delimiter=separator) for field in fields]
    return any(map(re.compile(_DECIMAL_COMMA).search, start)) and not any(map(_DECIMAL_POINT.search, start))


def _look_at_lines(source: Source) -> tuple[bool, bool]:
    """Tell whether some line seems to have too few or too many fields, and whether some line is blank.

    polars fills short lines up, and never looks at fields beyond the last column that it is asked for. A line break
    in quotes makes lines look odd as well.
    """
    lines = pl.scan_csv(
        source.path, has_header=False, separator="\x01", quote_char=None, schema={"line": pl.String}, glob=False
    )
    line = pl.col("line").fill_null("")
    quoted = line.str.contains('"', literal=True)
    unquoted = pl.when(quoted).then(line.str.replace_all('"[^"]*"', "")).otherwise(line)
    separators = unquoted.str.count_matches(source.separator, literal=True)
    blank = line.str.strip_chars() == ""
    odd = (separators != len(source.names) - 1) & ~blank
    ragged, some_blank = source.collect(lines.select(odd.any(), blank=blank.any())).row(0)
    return bool(ragged), bool(some_blank)
