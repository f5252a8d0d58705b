"""`Source`: a table that has not been read yet, whatever it comes from; `Format`: how a file of one kind is read."""

import codecs
import contextlib
import dataclasses
import difflib
import errno
import functools
import gzip
import os
import shutil
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from .._utils.atomic_write import temporary_file
from .._utils.checks import InputError
from .._utils.packages import require
from .._utils.text import first_line
from ..settings import RankSettings
from .written import as_number, in_english

# --- plain files that can be read more than once: standard input and gzip are copied, and changes are noticed -------

_GZIP = b"\x1f\x8b"


@contextlib.contextmanager
def on_disk(data: str, shown: str) -> Iterator[Path]:
    """Make a file that can be read more than once: standard input and gzip go through a temporary one."""
    with contextlib.ExitStack() as stack:
        if data == "-" and sys.stdin is None:
            raise ValueError("standard input is closed. Name a file, or send a table through a pipe.")
        path = temporary_copy(sys.stdin.buffer, stack) if data == "-" else _existing(data)
        with path.open("rb") as file:
            compressed = file.read(2) == _GZIP
        if compressed:
            try:
                with gzip.open(path) as unpacked:
                    path = temporary_copy(unpacked, stack)
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                raise ValueError(f"{shown} is damaged: {first_line(error)}") from error
        yield path


def _existing(data: str) -> Path:
    path = Path(data)
    if not path.exists():
        near = difflib.get_close_matches(path.name, os.listdir(path.parent) if path.parent.is_dir() else ())
        meant = f" Did you mean {str(path.parent / near[0])!r}?" if near else ""
        raise ValueError(f"there is no file {data!r}.{meant}")
    if not path.is_file():
        raise ValueError(f"{data!r} is not a file.")
    return path


def temporary_copy(data: Any, stack: contextlib.ExitStack) -> Path:
    """Copy a file, given by its path or open, to a temporary one that lasts as long as the stack."""
    folder = tempfile.gettempdir()
    try:
        stream = stack.enter_context(data.open("rb")) if isinstance(data, Path) else data
        file = stack.enter_context(temporary_file(folder))
        shutil.copyfileobj(stream, file, 2**20)
        file.flush()
    except OSError as error:
        if error.errno is None:  # a fault of compressed data
            raise
        too_many = error.errno == errno.EMFILE
        way_out = "Unpack the files first." if too_many else "Set TMPDIR to a folder with more room."
        raise OSError(f"a temporary copy in {folder!r} cannot be made: {error.strerror}. {way_out}") from error
    return Path(file.name)


def is_empty(path: Path) -> bool:
    """Return whether a file has no bytes, or a byte order mark alone."""
    with path.open("rb") as file:
        return not file.read(len(codecs.BOM_UTF8) + 1).removeprefix(codecs.BOM_UTF8)


class FileWatch:
    """Files that must not change: they are read several times, which must all see the same.

    Parameters
    ----------
    files : dict
        Paths, and what to call each in messages.
    """

    def __init__(self, files: Mapping[Path, str]) -> None:
        self._files = {path: (shown, _file_state(path)) for path, shown in files.items()}

    def check(self) -> None:
        """Refuse files that have changed or are gone."""
        for path, (shown, before) in self._files.items():
            now = _file_state(path)
            if now != before:
                raise ValueError(say_unsteady(shown, "changed" if now else "removed"))


def _file_state(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def say_unsteady(shown: str, happened: str = "removed") -> str:
    """Return the message that a file has changed."""
    return f"{shown} was {happened} while it was read. Run again once it is complete, or on a copy."


# --- formats and sources ------------------------------------------------------------------------------

# Columns examined in one pass through a file: polars takes longer and more memory than in proportion for many.
AT_ONCE = 400

# The column that numbers the rows of the file from 0; no file can have one of this name.
ROW = "\0row"

Key = TypeVar("Key", bound=Hashable)

# Types that few libraries know.
WIDE = (pl.Int128, pl.UInt128)


class Format:
    """Format of files: how they are recognised and read, and how messages refer to their rows.

    A new format is a subclass with `read`, or `scan` if it need not be read whole, and a line in `formats.FORMATS`.
    """

    name: str
    """The value of ``format=``."""
    suffixes: tuple[str, ...] = ()
    """Ends of file names that tell the format."""
    mark: bytes = b""
    """Regular expression of the first bytes that tell the format, whatever the file is called."""
    needs: tuple[str, ...] = ()
    """Packages that reading takes."""
    extra: str = ""
    """The extra of firstfactor that brings them."""
    label: str = ""
    """The format with an article, in messages about these packages."""
    loose: bool = False
    """True if text may represent numbers or missing values, because the format does not enforce column types."""
    untyped: bool = False
    """True if every column is text, whatever it represents."""
    has_tables: bool = False
    """True if a file may contain several tables."""
    is_lazy: bool = False
    """True if rows are read when they are needed, rather than all when the file is opened."""
    by_column: bool = False
    """True if single columns can be read without the others."""

    def prepare(self, path: Path, stack: contextlib.ExitStack) -> Path:
        """Return a path that the library takes: a copy where the path is not text, until the stack is closed."""
        return path if str(path).encode(errors="replace").decode() == str(path) else temporary_copy(path, stack)

    def read(self, path: Path, shown: str, table: str | None) -> pl.DataFrame:
        """Read a table of a file whole; ``table`` names it where the file has several."""
        raise NotImplementedError

    def scan(self, path: Path, shown: str, reading: RankSettings) -> "Source":
        """Open a file as a source."""
        for package in self.needs:
            require(package, self.label, self.extra)
        frame = self.read(path, shown, reading.table).lazy().with_row_index(ROW)
        return typed_source(path, shown, self, frame, reading.decimal)

    def place(self, source: "Source", row: int) -> str:  # noqa: ARG002
        """Return the place of a row in words."""
        return f"row {row + 1:,}"

    def fault(self, source: "Source") -> str | None:  # noqa: ARG002
        """Return why a file cannot be read, if a reason is found."""
        return None

    def last_fault(self, source: "Source") -> str | None:  # noqa: ARG002
        """Return a reason that is looked for only if `fault` finds none."""
        return None


class Frame(Format):
    """A data frame in memory."""

    name = "frame"


@dataclasses.dataclass(frozen=True)
class Source:
    """A table that has not been read yet."""

    path: Path
    """The file to read: not compressed, and a copy if it came through standard input."""
    shown: str
    """Name of the table in messages."""
    format: Format
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
    """Parameters of `rank` with which the file is read, including detected values."""
    header: int = 1
    """The line of the header."""
    at_once: int = AT_ONCE
    """Number of columns that are examined in one pass through the file."""
    known: dict[Any, Any] | None = None
    """What has been found of columns of a table in memory, which is read many times; None to keep nothing."""

    @property
    def files(self) -> dict[Path, str]:
        """Files that are read, and the name of each in messages."""
        return {self.path: self.shown}

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.dtypes)

    @functools.cached_property
    def _numbers(self) -> dict[str, str]:
        return {name: numbered(number) for number, name in enumerate(self.dtypes)}

    def column(self, name: str) -> pl.Expr:
        """Return the values of a column; polars would take a name such as * or ^x$ for a pattern."""
        return pl.col(self._numbers[name])

    def numeral(self, name: str) -> pl.Expr:
        """Return the values of a column of text as they would be written in English if they are numbers."""
        return in_english(self.column(name), self.decimal)

    def place(self, row: int) -> str:
        """Return the place of a row, in words a person can act on."""
        return self.format.place(self, row)

    def fault(self) -> str | None:
        """Return why the file cannot be read, if a reason is found."""
        return self.format.fault(self)

    def collect(self, frame: pl.LazyFrame) -> pl.DataFrame:
        """Run a query on the file in small pieces; an error names the line where the file is wrong."""
        damaged = f"{self.shown} is damaged: it cannot be read as {self.format.name}."
        try:
            return frame.collect(engine="streaming")
        except pl.exceptions.NoDataError as error:  # polars before 2.0; later ones return no rows
            raise ValueError(f"{self.shown} has no rows below its header.") from error
        except pl.exceptions.PolarsError as error:
            fault = self.fault() or self.format.last_fault(self) or (damaged if self.format.by_column else None)
            raise ValueError(fault or f"{self.shown} cannot be read: {first_line(error)}") from error
        except FileNotFoundError as error:
            raise ValueError(say_unsteady(self.shown)) from error
        except OSError as error:
            raise ValueError(f"{self.shown} cannot be read as {self.format.name}: {first_line(error)}") from error
        except pl.exceptions.PanicException as error:  # what polars does not expect of a file
            raise ValueError(damaged) from error

    def in_memory(self) -> "Source":
        """Return the same table in memory, which keeps what is found of its columns."""
        return dataclasses.replace(self, frame=self.collect(self.frame).lazy(), known={})

    def find(self, keys: Sequence[Key], find_new: Callable[[list[Key]], Iterable[Any]]) -> list[Any]:
        """Return what is known by keys, and let ``find_new`` find the rest."""
        known = {} if self.known is None else self.known
        new = [key for key in keys if key not in known]
        if new:
            known.update(zip(new, find_new(new), strict=True))
        return [known[key] for key in keys]

    def with_nulls(self, na: Sequence[str]) -> "Source":
        """Return the same table with null in place of the values that stand for it."""
        numbers = [number for number in map(_as_float, na) if number is not None]

        def marked(name: str, dtype: pl.DataType) -> pl.Expr | None:
            column = self.column(name)
            if dtype == pl.String:
                number = as_number(self.numeral(name))
                return (column.str.strip_chars() if self.format.loose else column).is_in(na) | number.is_in(numbers)
            if dtype in (pl.Categorical, pl.Enum):
                return column.cast(pl.String).is_in(na)
            return column.cast(pl.Float64).is_in(numbers) if dtype.is_numeric() else None

        questions = ((self.column(name), marked(name, dtype)) for name, dtype in self.dtypes.items())
        nulls = [pl.when(question.fill_null(False)).then(None).otherwise(column).name.keep()
                 for column, question in questions if question is not None]  # fmt: skip
        return dataclasses.replace(self, frame=self.frame.with_columns(nulls)) if na else self


def _as_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def typed_source(path: Path, shown: str, kind: Format, frame: pl.LazyFrame, decimal: str | None = None) -> Source:
    """Return a source whose columns have types of their own; ``frame`` has them by name, and `ROW`."""
    schema = frame.collect_schema()
    header = [name for name in schema.names() if name != ROW]
    if not header:
        raise ValueError(f"{shown} has no columns.")
    names, unnamed = name_columns(header, shown, kind.loose)
    frame = frame.rename({name: numbered(number) for number, name in enumerate(header)})
    dtypes = dict(zip(names, (schema[name] for name in header), strict=True))
    return Source(path, shown, kind, frame, dtypes, unnamed=unnamed, decimal=decimal or ".")


def frame_source(frame: pl.DataFrame, shown: str, decimal: str | None = None) -> Source:
    """Return a data frame as a source; its types are taken as they are."""
    return typed_source(Path(), shown, Frame(), frame.lazy().with_row_index(ROW), decimal)


def name_columns(header: Sequence[str], shown: str, loose: bool = True) -> tuple[list[str], frozenset[str]]:
    """Return a name for each column, and which of the names are made up.

    With ``loose``, needless blanks are removed from names, unless two of them would become one.
    """
    tidy = [tidy_name(name) for name in header]
    differ_in_blanks = len({*tidy, ""}) < len({name for name in header if name.strip()} | {""})
    if differ_in_blanks or not loose:
        tidy = [name if name.strip() else "" for name in header]
    names = [name or f"column {number}" for number, name in enumerate(tidy, start=1)]
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"two columns of {shown} have the name {twice!r}. Rename one.")
    return names, frozenset(name for name, given in zip(names, tidy, strict=True) if not given)


def tidy_name(name: str) -> str:
    """Return a name with one blank where it has several or a line break, and none around it."""
    return " ".join(name.split())


def numbered(number: int) -> str:
    """Return what a column is called in the frame, given its number."""
    return f"\0{number}"


def choose_table(shown: str, what: str, tables: Sequence[str], wanted: str | None) -> str:
    """Return the table of a file that the user named, or the only one there is."""
    listed = ", ".join(map(repr, tables))
    if wanted is not None and wanted not in tables:
        raise InputError(
            "{table}: {shown} has no {what} {wanted!r}. It has: {listed}.",
            shown=shown,
            what=what,
            wanted=wanted,
            listed=listed or "none",
        )
    if not tables:
        raise ValueError(f"{shown} has no {what} with data.")
    if wanted is None and len(tables) > 1:
        raise InputError(
            "{shown} has {number} {what}s: name one with {table=}. They are: {listed}.",
            shown=shown,
            number=len(tables),
            what=what,
            listed=listed,
        )
    return wanted or tables[0]


def encoding_fault(path: Path, shown: str) -> str | None:
    """Return which line of a text file is not UTF-8."""
    with path.open("rb") as file:
        if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            return f"{shown} is UTF-16, not UTF-8. Convert it: iconv -f utf-16 -t utf-8 FILE > NEW_FILE."
        file.seek(0)
        for number, line in enumerate(file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return (
                    f"line {number:,} of {shown} is not UTF-8 (byte 0x{line[error.start]:02x} at column "
                    f"{error.start + 1}). Convert the file: iconv -f latin1 -t utf-8 FILE > NEW_FILE."
                )
    return None


def ask_by_column(
    source: Source,
    names: Sequence[str],
    questions: Callable[[str], dict[str, pl.Expr]],
    prepare: Callable[[Sequence[str]], pl.LazyFrame] | None = None,
) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return the number of rows, and answers to questions on every column.

    ``prepare`` makes the frame on which questions on some columns are asked; the default is that of the source.
    """
    n_rows, found = 0, dict[str, dict[str, Any]]()
    for start in range(0, len(names), source.at_once):
        some = names[start : start + source.at_once]
        frame = source.frame if prepare is None else prepare(some)
        asked = {name: questions(name) for name in some}
        numbered = (expression.alias(str(i)) for i, expression in enumerate(chain(*map(dict.values, asked.values()))))
        n_rows, *answers = source.collect(frame.select(pl.len().alias("n_rows"), *numbered)).row(0)
        given = iter(answers)
        found |= {name: dict(zip(keys, given, strict=False)) for name, keys in asked.items()}
    return n_rows, found
