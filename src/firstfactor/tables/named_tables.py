"""Files with named tables: workbooks and databases."""

import contextlib
import logging
import re
import shutil
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import polars as pl

from .._utils.text import first_line
from ..settings import RankSettings
from .source import Format, Source, choose_table

# A sheet is read with all cells up to its last one, filled or not. This many are always allowed; of more, one in
# fifty must be filled.
_MOST_CELLS, _MOST_EMPTY = 20_000_000, 50

# Bytes that are searched together. No match is longer than the overlap.
_BLOCK, _OVERLAP = 2**20, 2**10

# Parts of a workbook that hold sheets.
_XLSX = re.compile(r"/?xl/worksheets/[^/]+\.xml", re.IGNORECASE)
_XLSB = re.compile(r"/?xl/worksheets/[^/]+\.bin", re.IGNORECASE)
_ODS = "content.xml"

# The place of a row or cell in an xlsx file: the column in letters, and the row.
_REFERENCE = re.compile(rb"""\sr\s*=\s*["']([A-Za-z]*)(\d+)["']""")

# Rows and cells of an ods file, with the contents of their tags.
_TAG = re.compile(rb"<table:table-(row|cell)\b([^>]{0,900})>")
_REPEATED = re.compile(rb"""number-(?:rows|columns)-repeated\s*=\s*["'](\d+)["']""")

# Records of an xlsb file: that of a row, and those of filled cells.
_ROW_RECORD, _CELL_RECORDS = 0, range(1, 12)


class _Extent(NamedTuple):
    """Numbers of cells of a sheet that are filled and that are read."""

    filled: int
    read: int


class Excel(Format):
    """A workbook of Excel or OpenDocument."""

    name = "excel"
    suffixes = (".xlsx", ".xls", ".xlsb", ".ods")
    mark = rb"PK\x03\x04|\xd0\xcf\x11\xe0"
    needs = ("fastexcel",)
    extra = "excel"
    label = "an Excel file"
    loose = True
    has_tables = True

    def scan(self, path: Path, shown: str, reading: RankSettings) -> Source:
        """Open a file, which must not be a zip archive of anything else."""
        if zipfile.is_zipfile(path) and not _is_workbook(path):
            raise ValueError(f"{shown} is a zip archive: unpack it first.")
        return super().scan(path, shown, reading)

    def read(self, path: Path, shown: str, table: str | None) -> pl.DataFrame:
        """Read a sheet; numbers with true or false among them are text."""
        import fastexcel

        logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it warns of columns without values
        _refuse_far_cells(path, shown)
        try:
            book = fastexcel.read_excel(path.read_bytes())
            filled = [name for name in book.sheet_names if book.load_sheet(name, header_row=None, n_rows=1).width]
            sheet, frame = _load(fastexcel, book, choose_table(shown, "sheet", filled, table))
        except fastexcel.FastExcelError as error:
            raise ValueError(f"{shown} cannot be read as excel: {first_line(error)}") from error
        generated = [column.column_name_from == "generated" for column in sheet.available_columns()]
        frame.columns = [_blank(i) if generated[i] else name for i, name in enumerate(frame.columns)]
        # A cell far to the right makes thousands of columns without values, which need not be examined as text.
        empty = [values.name for values in frame if values.null_count() == len(values)]
        frame = frame.with_columns(pl.lit(None).alias(name) for name in empty)
        return frame.filter(~pl.all_horizontal(pl.all().is_null()))

    def place(self, source: Source, row: int) -> str:  # noqa: ARG002
        """Return the place of a row in words: blank rows above the header are not known."""
        return f"row {row + 1:,} below the header"


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.startswith("xl/") or name == "content.xml" for name in archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError, OSError):
        return True  # its fault is told when it is read


def _blank(number: int) -> str:
    """Return a name for a column without one: blanks that no other column has."""
    return f"{number:b}".translate({ord("0"): "\u2000", ord("1"): "\u2001"})


def _load(fastexcel: Any, book: Any, name: str) -> tuple[Any, pl.DataFrame]:
    """Return a sheet, and the same as a frame."""
    try:
        sheet = book.load_sheet(name, schema_sample_rows=None, dtype_coercion="strict")
        return sheet, sheet.to_polars()
    except fastexcel.UnsupportedColumnTypeCombinationError:  # cells of a column are of several kinds
        sheet = book.load_sheet(name, schema_sample_rows=None)
    frame: pl.DataFrame = sheet.to_polars()
    text: pl.DataFrame = book.load_sheet(name, dtypes="string").to_polars()
    for position, written in enumerate(text):
        # fastexcel makes 1 of true among numbers.
        if frame.to_series(position).dtype.is_numeric() and written.is_in(["true", "false"]).any():
            frame.replace_column(position, written)
    return sheet, frame


def _refuse_far_cells(path: Path, shown: str) -> None:
    """Refuse a sheet with few cells that are so far from each other that they would fill the memory."""
    for part, extent in _extents(path):
        if extent.read > max(_MOST_CELLS, _MOST_EMPTY * extent.filled):
            raise ValueError(
                f"a sheet of {shown} ({part}) has {extent.filled:,} filled cells, but the last of them is so far off "
                f"that {extent.read:,} cells would be read. Delete the rows and columns beyond the table, or save it "
                "as CSV."
            )


def _extents(path: Path) -> Iterator[tuple[str, _Extent]]:
    """Yield the extent of each sheet; of a damaged file, only of what can be read, since its fault is told later."""
    if not zipfile.is_zipfile(path):  # xls, which has no more than 65,536 rows and 256 columns
        return
    try:
        with zipfile.ZipFile(path) as archive:
            for part in archive.namelist():
                measure = _measure_xlsx if _XLSX.fullmatch(part) else _measure_xlsb if _XLSB.fullmatch(part) else None
                measure = _measure_ods if part == _ODS else measure
                if measure is not None:
                    with archive.open(part) as file:
                        yield part, measure(file)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError):
        return


def _blocks(file: IO[bytes]) -> Iterator[tuple[bytes, int]]:
    """Yield a file in pieces that overlap, and how many bytes of each were already in the one before."""
    block, seen = b"", 0
    while new := file.read(_BLOCK):
        block = block[-_OVERLAP:] if seen or block else b""
        seen = len(block)
        block += new
        yield block, seen


def _measure_xlsx(file: IO[bytes]) -> _Extent:
    filled, rows, columns = 0, 0, set[bytes]()
    for block, _ in _blocks(file):  # what is seen twice does not matter: this is an upper bound
        found = _REFERENCE.findall(block)
        filled += sum(1 for letters, _ in found if letters)
        rows = max([rows, *(int(digits[:20]) for _, digits in found)])
        columns.update({letters for letters, _ in found})
    return _Extent(filled, rows * max(map(_column_number, columns), default=0))


def _column_number(letters: bytes) -> int:
    """Return the number of a column: A is 1, AA is 27."""
    number = 0
    for letter in letters[:20].upper():
        number = 26 * number + letter - ord("A") + 1
    return number


def _measure_ods(file: IO[bytes]) -> _Extent:
    filled = read = 0
    rows = 1
    for block, seen in _blocks(file):
        for tag in _TAG.finditer(block):
            if tag.end() <= seen:
                continue
            times = max([1, *(int(digits[:20]) for digits in _REPEATED.findall(tag[2]))])
            if tag[1] == b"row":
                rows = times
            elif b"value" in tag[2]:  # empty cells are repeated up to the end of the sheet
                filled += 1
                read += rows * times
    return _Extent(filled, read)


def _measure_xlsb(file: IO[bytes]) -> _Extent:
    filled, rows, columns = 0, 0, 0
    while (kind := _read_number(file, 2)) is not None:
        size = _read_number(file, 4) or 0
        start = file.read(min(size, 4))
        if kind == _ROW_RECORD:
            rows = max(rows, int.from_bytes(start, "little") + 1)
        elif kind in _CELL_RECORDS:
            filled += 1
            columns = max(columns, int.from_bytes(start, "little") + 1)
        while (left := min(size - len(start), _BLOCK)) > 0:
            if not file.read(left):
                break
            size -= left
    return _Extent(filled, rows * columns)


def _read_number(file: IO[bytes], longest: int) -> int | None:
    """Return a number of an xlsb file, of seven bits a byte; None at the end."""
    number = 0
    for position in range(longest):
        byte = file.read(1)
        if not byte:
            return None
        number |= (byte[0] & 0x7F) << (7 * position)
        if byte[0] < 0x80:
            break
    return number


# --- databases, which may come from anybody: they read no other file, and stay as they are ------------

# A view of a DuckDB file could otherwise read files, load extensions, or see the variables of this program.
_CLOSED: dict[str, Any] = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "lock_configuration": "true",
}

_TABLES_OF_SQLITE = "select name from sqlite_master where type in ('table', 'view') and name not glob 'sqlite[_]*'"

# The two bytes of a SQLite file that say how it is written, and what they are where that is with a write-ahead log.
_WRITTEN, _WITH_LOG = slice(18, 20), b"\2\2"


class Sqlite(Format):
    """A database of SQLite."""

    name = "sqlite"
    suffixes = (".sqlite", ".sqlite3")
    mark = rb"SQLite format 3\0"
    loose = True
    has_tables = True

    def prepare(self, path: Path, stack: contextlib.ExitStack) -> Path:  # noqa: ARG002
        """Return the path as it is: SQLite takes any bytes."""
        return path

    def read(self, path: Path, shown: str, table: str | None) -> pl.DataFrame:
        """Read a table or view."""
        try:
            with _open_sqlite(path) as connection:
                tables = [name for (name,) in connection.execute(_TABLES_OF_SQLITE)]
                query = f"select * from {_quoted(choose_table(shown, 'table', tables, table))}"
                return pl.read_database(query, connection, infer_schema_length=None)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise ValueError(f"{shown} cannot be read as sqlite: {first_line(error)}") from error
        except (pl.exceptions.PolarsError, TypeError, OverflowError) as error:
            raise ValueError(f"{shown} cannot be read as sqlite: a column holds values of several kinds.") from error


@contextlib.contextmanager
def _open_sqlite(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a SQLite file for reading, without leaving files beside it.

    SQLite makes two files for a database with a write-ahead log. Without a log, the database is complete by itself and
    is opened as a file that nobody changes. A log that nobody has open is read together with a copy of the database.
    """
    path = path.resolve()
    log, index = (path.with_name(f"{path.name}{suffix}") for suffix in ("-wal", "-shm"))
    with contextlib.ExitStack() as stack:
        mode = "mode=ro"
        with path.open("rb") as file:
            has_log = file.read(_WRITTEN.stop)[_WRITTEN] == _WITH_LOG
        if has_log and not (log.exists() and log.stat().st_size):
            mode = "mode=ro&immutable=1"
        elif has_log and not index.exists():
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="firstfactor-")))
            for file_with_rows, name in ((path, "copy"), (log, "copy-wal")):
                shutil.copyfile(file_with_rows, folder / name)
            path = folder / "copy"
        connection = stack.enter_context(contextlib.closing(sqlite3.connect(f"{path.as_uri()}?{mode}", uri=True)))
        connection.execute("pragma trusted_schema = off")
        connection.execute("pragma query_only = on")
        if hasattr(connection, "setconfig"):  # Python 3.12
            connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)  # type: ignore[attr-defined]
        yield connection


class DuckDb(Format):
    """A database of DuckDB."""

    name = "duckdb"
    suffixes = (".duckdb",)
    mark = rb"(?s:.{8})DUCK(?s:.{1,3})\0"
    needs = ("duckdb", "pyarrow")
    extra = "sql"
    label = "a DuckDB file"
    has_tables = True

    def read(self, path: Path, shown: str, table: str | None) -> pl.DataFrame:
        """Read a table or view; in schemas other than main, the name of the schema stands before it."""
        import duckdb

        try:
            with duckdb.connect(str(path), read_only=True, config=_CLOSED) as connection:
                tables = _tables_of_duckdb(connection)
                schema, name = tables[choose_table(shown, "table", sorted(tables), table)]
                return pl.read_database(f"select * from {_quoted(schema)}.{_quoted(name)}", connection)
        except duckdb.PermissionException as error:
            raise ValueError(
                f"{shown} cannot be read as duckdb: the table reads another file or loads an extension, which is not "
                "allowed. Write its rows to a table of their own."
            ) from error
        except duckdb.Error as error:
            raise ValueError(f"{shown} cannot be read as duckdb: {first_line(error)}") from error


def _tables_of_duckdb(connection: Any) -> dict[str, tuple[str, str]]:
    """Return the schema and the name of each table and view, by the name that the user gives."""
    listing = "select table_schema, table_name from information_schema.tables where table_catalog = current_database()"
    found = [(schema, name) for schema, name in connection.execute(listing).fetchall()]
    main = {name: (schema, name) for schema, name in found if schema == "main"}
    return {f"{schema}.{name}": (schema, name) for schema, name in found if schema != "main"} | main


def _quoted(name: str) -> str:
    """Return a name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'
