"""SQLite and DuckDB files, which may come from anybody: they read no other file, and stay as they are."""

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from .._utils.text import first_line
from .source import Format, choose_table

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
