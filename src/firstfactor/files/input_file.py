"""A file or standard input in, a lazy polars frame out: formats, compression, headers."""

import codecs
import contextlib
import dataclasses
import difflib
import functools
import gzip
import io
import os
import re
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import IO, Any

import narwhals as nw
import polars as pl

from .._utils.atomic_write import temporary_file
from ..parameters import RankParameters, find
from . import csv_errors
from .formats import WITH_TABLES, read_whole
from .numerals import as_number, guess_decimal, in_english

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
    ".json": "json",
    ".xlsx": "excel",
    ".xls": "excel",
    ".xlsb": "excel",
    ".ods": "excel",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".duckdb": "duckdb",
    ".dta": "stata",
}
FORMATS: tuple[str, ...] = find("format").metadata["choices"]

# Formats that do not make sure that the values of a column are of one kind: text may stand for numbers or for nothing.
_LOOSE = ("csv", "tsv", "jsonl", "json", "excel", "sqlite")

_GZIP = b"\x1f\x8b"

# The first bytes of files that tell their format, whatever they are called.
_MARKS = {
    rb"PAR1\x15": "parquet",
    rb"ARROW1\0\0": "arrow",
    rb"PK\x03\x04|\xd0\xcf\x11\xe0": "excel",
    rb"SQLite format 3\0": "sqlite",
    rb"(?s:.{8})DUCK(?s:.{1,3})\0": "duckdb",
}

# Characters that make a path a pattern.
_GLOB = frozenset("*?[")

# How many lines tell what a file is like.
_FIRST_LINES = 200

# How a file is read if nothing else is said.
DEFAULTS = RankParameters()

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
    """All columns, by numbers, and `ROW`. Those of CSV files are text."""
    dtypes: dict[str, pl.DataType]
    """The names of the columns, in the order of the frame, and their types."""
    separator: str = ""
    unnamed: frozenset[str] = frozenset()
    """Columns that have no name in the file and were given one."""
    decimal: str = "."
    """The decimal mark of numbers that are text."""
    reading: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """How the file is read: parameters of `rank`, with what was guessed."""
    header: int = 1
    """The line of the header."""

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.dtypes)

    @functools.cached_property
    def _numbers(self) -> dict[str, str]:
        return {name: _column(number) for number, name in enumerate(self.dtypes)}

    def column(self, name: str) -> pl.Expr:
        """The values of a column; polars would take a name such as * or ^x$ for a pattern."""
        return pl.col(self._numbers[name])

    def numeral(self, name: str) -> pl.Expr:
        """The values of a column of text as they would be written in English if they are numbers."""
        return in_english(self.column(name), self.decimal)

    @property
    def untyped(self) -> bool:
        """Whether every column is text, whatever it stands for."""
        return self.kind in ("csv", "tsv")

    @property
    def loose(self) -> bool:
        """Whether a column of text may be meant otherwise."""
        return self.kind in _LOOSE

    def place(self, row: int) -> str:
        """Say where a row is, in words a person can act on."""
        if self.untyped:
            return f"line {csv_errors.csv_line(self.path, self.separator, row):,}"
        if self.kind == "excel":
            return f"row {row + 1:,} below the header"
        return f"{'line' if self.kind == 'jsonl' else 'row'} {row + 1:,}"

    def collect(self, frame: pl.LazyFrame) -> pl.DataFrame:
        """Run a query on the file in small pieces; what is wrong with the file is said by line."""
        try:
            return frame.collect(engine="streaming")
        except pl.exceptions.NoDataError as error:  # polars before 2.0; later ones return no rows
            raise ValueError(f"{self.shown} has no rows below its header.") from error
        except pl.exceptions.PolarsError as error:
            fault = self.fault() or (self.untyped and csv_errors.quote_fault(self.path, self.shown, self.separator))
            raise ValueError(fault or f"{self.shown} cannot be read: {first_line(error)}") from error
        except OSError as error:
            raise ValueError(f"{self.shown} cannot be read as {self.kind}: {first_line(error)}") from error
        except pl.exceptions.PanicException as error:  # what polars does not expect of a file
            raise ValueError(f"{self.shown} is damaged: it cannot be read as {self.kind}.") from error

    def fault(self) -> str | None:
        """Look for what makes the file unreadable."""
        if self.untyped:
            return csv_errors.encoding_fault(self.path, self.shown) or csv_errors.shape_fault(
                self.path, self.shown, self.separator, len(self.names), self.header
            )
        return _json_lines_fault(self.path, self.shown) if self.kind == "jsonl" else None


def _json_lines_fault(path: Path, shown: str) -> str | None:
    return (
        csv_errors.encoding_fault(path, shown)
        or csv_errors.json_fault(path, shown)
        or csv_errors.mixed_kinds_fault(path, shown)
    )


def _column(number: int) -> str:
    return f"\0{number}"


@contextlib.contextmanager
def open_source(data: str, reading: RankParameters = DEFAULTS) -> Iterator[Source]:
    """Open a file, or standard input if ``data`` is "-", for as long as the context lasts."""
    shown = "standard input" if data == "-" else Path(data).name
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(_on_disk(data, shown))
        if _is_empty(path):
            raise ValueError(f"{shown} is empty.")
        kind = reading.format or _guess_format(data, path, shown)
        if kind in ("csv", "tsv") and _has_bare_returns(path):
            path = _with_newlines(path, stack)
        if kind == "jsonl" and set(str(path)) & _GLOB:  # scan_ndjson has no way to say that a name is no pattern
            path = _copy(path, stack)
        before = _state(path)
        try:
            source = _scan(path, shown, kind, reading)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise ValueError(f"{shown} cannot be read as {kind}: {first_line(error)}") from error
        known = {"format": kind, "table": reading.table, "na": tuple(reading.na), "decimal": source.decimal}
        source = dataclasses.replace(source, reading=known)
        yield _with_nulls(source, tuple(reading.na)) if reading.na else source
        if _state(path) != before:
            raise ValueError(f"{shown} was changed while it was read. Run again once it is complete, or on a copy.")


def _is_empty(path: Path) -> bool:
    """Tell whether a file has no bytes, or a byte order mark alone."""
    with path.open("rb") as file:
        return not file.read(len(codecs.BOM_UTF8) + 1).removeprefix(codecs.BOM_UTF8)


def _state(path: Path) -> tuple[int, int, int]:
    """What changes with a file: it is read several times, which must all see the same."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def first_line(error: BaseException) -> str:
    """The part of a message that a person wants to see."""
    return str(error).strip().split("\n")[0].rstrip(".") + "."


# --- from whatever was named to a plain file ----------------------------------------------------------


@contextlib.contextmanager
def _on_disk(data: str, shown: str) -> Iterator[Path]:
    """A file that can be read more than once: standard input and gzip go through a temporary one."""
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


def _copy(data: Any, stack: contextlib.ExitStack) -> Path:
    """A temporary copy of a file, given by its path or open, that lasts as long as the stack."""
    folder = tempfile.gettempdir()
    try:
        stream = stack.enter_context(data.open("rb")) if isinstance(data, Path) else data
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


def _has_bare_returns(path: Path) -> bool:
    """Tell whether lines end as on old Macs, some of them at least."""
    with path.open("rb") as file:
        while block := file.read(2**20):
            if block.endswith(b"\r"):
                block += file.read(1)
            if block.count(b"\r") > block.count(b"\r\n"):
                return True
    return False


def _with_newlines(path: Path, stack: contextlib.ExitStack) -> Path:
    """A copy in which every line ends as polars expects."""
    return _copy(io.BytesIO(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n")), stack)


def _guess_format(data: str, path: Path, shown: str) -> str:
    """Tell the format from the first bytes, then from the name; standard input is CSV if they do not tell."""
    with path.open("rb") as file:
        start = file.read(16)
    suffixes = [suffix.lower() for suffix in Path(data).suffixes if suffix.lower() != ".gz"]
    named = SUFFIXES.get(suffixes[-1]) if suffixes else None
    marked = next((kind for mark, kind in _MARKS.items() if re.match(mark, start)), None)
    if marked == "excel" and zipfile.is_zipfile(path) and not _is_workbook(path):
        raise ValueError(f"{shown} is a zip archive: unpack it first.")
    if marked or named:
        return marked or named or ""
    if data == "-":
        return "csv"
    raise ValueError(
        f"the name {shown!r} does not tell the format. Name it with format= ({', '.join(FORMATS)}), or let it end in "
        f"one of {', '.join(SUFFIXES)}, with or without .gz."
    )


def _is_workbook(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        return any(name.startswith("xl/") or name == "content.xml" for name in archive.namelist())


# --- from a file to a lazy frame ----------------------------------------------------------------------


def _scan(path: Path, shown: str, kind: str, reading: RankParameters) -> Source:
    if reading.table is not None and kind not in WITH_TABLES:
        raise ValueError(f"table= is for {', '.join(WITH_TABLES)} files; {shown} is read as {kind}.")
    if kind in ("csv", "tsv"):
        return _scan_csv(path, shown, kind, reading.decimal)
    if kind == "jsonl":
        return _scan_json_lines(path, shown, reading)
    if kind in ("parquet", "arrow"):
        scan: Any = pl.scan_parquet if kind == "parquet" else pl.scan_ipc
        frame = scan(path, row_index_name=ROW, glob=False)
    else:
        frame = read_whole(path, shown, kind, reading.table).lazy().with_row_index(ROW)
    return _typed_source(path, shown, kind, frame, reading)


def _scan_json_lines(path: Path, shown: str, reading: RankParameters) -> Source:
    try:
        frame = pl.scan_ndjson(path, infer_schema_length=None, row_index_name=ROW)
        return _typed_source(path, shown, "jsonl", frame, reading)
    except pl.exceptions.PolarsError as error:
        fault = _json_lines_fault(path, shown)
        raise ValueError(fault or f"{shown} cannot be read as JSON lines: {first_line(error)}") from error


def _typed_source(path: Path, shown: str, kind: str, frame: pl.LazyFrame, reading: RankParameters) -> Source:
    schema = frame.collect_schema()
    header = [name for name in schema.names() if name != ROW]
    names, unnamed = _names(header, shown)
    frame = frame.rename({name: _column(number) for number, name in enumerate(header)})
    dtypes = dict(zip(names, (schema[name] for name in header), strict=True))
    return Source(path, shown, kind, frame, dtypes, unnamed=unnamed, decimal=reading.decimal or ".")


def _names(header: Sequence[str], shown: str) -> tuple[list[str], frozenset[str]]:
    """A name for each column, without needless blanks, and which of the names are made up."""
    tidy = [tidy_name(name) for name in header]
    if len({*tidy, ""}) < len({name for name in header if name.strip()} | {""}):  # some differ in blanks alone
        tidy = [name if name.strip() else "" for name in header]
    names = [name or f"column {number}" for number, name in enumerate(tidy, start=1)]
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"two columns of {shown} have the name {twice!r}. Rename one.")
    return names, frozenset(name for name, given in zip(names, tidy, strict=True) if not given)


def tidy_name(name: str) -> str:
    """A name with one blank where it has several or a line break, and none around it."""
    return " ".join(name.split())


def _with_nulls(source: Source, na: Sequence[str]) -> Source:
    """The same table with nothing in place of what stands for it."""
    numbers = [number for number in map(_as_float, na) if number is not None]

    def marked(name: str, dtype: pl.DataType) -> pl.Expr | None:
        column = source.column(name)
        if dtype == pl.String:
            number = as_number(source.numeral(name))
            return column.str.strip_chars().is_in(na) | number.is_in(numbers)
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


def _scan_csv(path: Path, shown: str, kind: str, decimal: str | None) -> Source:
    separator = "\t" if kind == "tsv" else _separator(path)
    try:
        first = list(islice(csv_errors.records(path, separator), _FIRST_LINES))
    except UnicodeDecodeError as error:
        raise ValueError(csv_errors.encoding_fault(path, shown)) from error
    if any("\0" in field for _, _, fields in first for field in fields):
        raise ValueError(
            f"{shown} is not UTF-8 text: it holds NUL bytes. If it is UTF-16, convert it: "
            "iconv -f utf-16le -t utf-8 FILE > NEW_FILE."
        )
    above = _lines_above_header(first)
    line, below, header = first[above]
    header = [name.strip().strip('"') for name in header]  # also "a", "b"
    blank = sum(1 for _ in takewhile(lambda record: not "".join(record[2]).strip(), first[above + 1 :]))
    rows = [fields for _, _, fields in first[above + 1 + blank :]]
    names, unnamed = _names(_complete(header, rows[0] if rows else header, shown), shown)
    decimal = decimal or guess_decimal(chain.from_iterable(rows), separator)
    if decimal is None:
        raise ValueError(
            f"commas in the numbers of {shown} may be decimal commas or thousands separators: all have three digits "
            'after them. Use decimal="," or decimal="." to say which mark decimals have.'
        )
    frame = pl.scan_csv(
        path,
        has_header=False,  # names are those above, also where the file has none
        skip_lines=below - 1 + blank,
        separator=separator,
        schema={_column(number): pl.String for number in range(len(names))},
        row_index_name=ROW,
        row_index_offset=above + blank,
        glob=False,
    )
    dtypes: dict[str, pl.DataType] = dict.fromkeys(names, pl.String())
    source = Source(path, shown, kind, frame, dtypes, separator, unnamed, decimal, header=line)
    ragged, blank_lines = _look_at_lines(source)
    if ragged and (fault := source.fault()):
        raise ValueError(fault)
    if blank_lines:
        filled = frame.filter(pl.any_horizontal(pl.exclude(ROW).str.strip_chars() != ""))
        return dataclasses.replace(source, frame=filled)
    return source


def _separator(path: Path) -> str:
    """What separates columns: the mark that the header has most of, outside quotes."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        lines = [re.sub('"[^"]*"', "", line) for line in islice(file, _FIRST_LINES)]
    said = re.fullmatch(r"sep=([,;\t|])\s*", lines[0])  # what Excel understands
    uncommented = next((line for line in lines if not line.startswith("#")), lines[0])
    return said[1] if said else max(",;\t|", key=uncommented.count)


def _lines_above_header(records: Sequence[tuple[int, int, list[str]]]) -> int:
    """How many records come before the header: comments, and the line that tells Excel the separator."""
    starts = [fields[0] if fields else "" for _, _, fields in records]
    if starts[0].startswith("sep="):
        return 1
    comments = sum(1 for _ in takewhile(lambda start: start.startswith("#"), starts))
    if comments == 0 or comments == len(records):
        return 0
    is_header = len(records[comments - 1][2]) == len(records[comments][2])  # such as #id,name
    return comments - is_header


def _complete(header: list[str], first: list[str], shown: str) -> list[str]:
    """The names in the header, with blank ones where rows have one field more than it."""
    if not any(name.strip() for name in header):
        raise ValueError(f"the first line of {shown} is blank; it must hold the names of the columns.")
    if len(header) == len(first) == 1 and len(header[0].split()) == len(first[0].split()) > 1:
        raise ValueError(
            f"the columns of {shown} seem to be separated by blanks; it must be commas, semicolons, tabs or |. "
            "Convert it: sed -E 's/^ +//; s/ +/,/g' FILE > NEW_FILE."
        )
    if len(first) != len(header) + 1:
        return header
    return ["", *header] if first[-1].strip() else [*header, ""]  # the names of rows; a separator at the end


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
    blank = line.str.strip_chars(f" \t\r{source.separator}") == ""
    odd = (separators != len(source.names) - 1) & ~blank
    ragged, some_blank = source.collect(lines.select(odd.any(), blank=blank.any())).row(0)
    return bool(ragged), bool(some_blank)


def frame_source(frame: pl.DataFrame, shown: str) -> Source:
    """A data frame as a source; its types are taken as they are."""
    return _typed_source(Path(), shown, "frame", frame.lazy().with_row_index(ROW), DEFAULTS)


def to_polars(data: Any) -> pl.DataFrame:
    """A data frame of any library as one of polars."""
    frame = nw.from_native(data, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(
            f"data must be the path of a file or a pandas, polars or pyarrow table; got {type(data).__name__}. "
            "For arrays, use FIRST().fit(X, y)."
        )
    ordered = {name: pl.Enum(_levels(frame[name])) for name, dtype in frame.schema.items() if dtype == nw.Enum}
    return frame.to_polars().cast(ordered)  # type: ignore[arg-type]


def _levels(column: "nw.Series[Any]") -> list[str]:
    """The levels of an ordered category in their order, which not every library passes on."""
    return [str(level) for level in column.cat.get_categories().to_list()]
