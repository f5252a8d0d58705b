"""All formats, which of them a file has, and how it is opened: the first bytes tell the format, then the name."""

import contextlib
import dataclasses
import re
import struct
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from .._utils.checks import InputError
from .._utils.text import first_line
from ..settings import RankSettings
from .json_file import Json, JsonLines
from .named_tables import DuckDb, Excel, Sqlite
from .source import ROW, FileWatch, Format, Source, is_empty, on_disk, typed_source
from .text import Csv, Tsv

# How a file is read by default.
DEFAULTS = RankSettings()


class Parquet(Format):
    """Columns with types, in groups of rows."""

    name = "parquet"
    suffixes = (".parquet", ".pq")
    mark = rb"PAR1\x15"
    is_lazy = True
    by_column = True

    def scan(self, path: Path, shown: str, reading: RankSettings) -> Source:
        """Open a file of which polars reads single columns."""
        scan = pl.scan_parquet(path, row_index_name=ROW, glob=False)
        return typed_source(path, shown, self, scan, reading.decimal)


class Arrow(Format):
    """Columns with types, as they are in memory."""

    name = "arrow"
    suffixes = (".arrow", ".feather", ".ipc")
    mark = rb"ARROW1\0\0"
    is_lazy = True
    by_column = True

    def scan(self, path: Path, shown: str, reading: RankSettings) -> Source:
        """Open a file of which polars reads single columns."""
        return typed_source(path, shown, self, pl.scan_ipc(path, row_index_name=ROW, glob=False), reading.decimal)


class Stata(Format):
    """A data set of Stata."""

    name = "stata"
    suffixes = (".dta",)
    needs = ("pandas", "pyarrow")
    extra = "stata"
    label = "a Stata file"

    def read(self, path: Path, shown: str, table: str | None) -> pl.DataFrame:  # noqa: ARG002
        """Read a file with pandas."""
        import pandas as pd

        try:
            return pl.from_pandas(pd.read_stata(path))
        except (ValueError, struct.error) as error:
            raise ValueError(f"{shown} cannot be read as stata: {str(error).splitlines()[0]}") from error


# A new format needs a line here, and its name among the choices of ``format`` in `settings`.
FORMATS: dict[str, Format] = {
    each.name: each
    for each in (
        Csv(), Tsv(), Parquet(), Arrow(), JsonLines(), Json(), Excel(), Sqlite(), DuckDb(), Stata(),
    )
}  # fmt: skip

_BY_SUFFIX = {suffix: each for each in FORMATS.values() for suffix in each.suffixes}


@contextlib.contextmanager
def open_source(data: str, reading: RankSettings = DEFAULTS, name: str | None = None) -> Iterator[Source]:
    """Open a file, or standard input if ``data`` is "-", for as long as the context lasts.

    ``name`` is what to call it in messages, if not by its own name.
    """
    shown = name or ("standard input" if data == "-" else Path(data).name)
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(on_disk(data, shown))
        if is_empty(path):
            raise ValueError(f"{shown} is empty.")
        kind = FORMATS[reading.format] if reading.format else _guess_format(data, path, shown)
        path = kind.prepare(path, stack)
        watch = FileWatch({path: shown})
        if reading.table is not None and not kind.has_tables:
            some = ", ".join(each.name for each in FORMATS.values() if each.has_tables)
            raise InputError(
                "{table=} is for {some} files; {shown} is read as {format}.", some=some, shown=shown, format=kind.name
            )
        try:
            source = kind.scan(path, shown, reading)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise ValueError(f"{shown} cannot be read as {kind.name}: {first_line(error)}") from error
        except pl.exceptions.PanicException as error:  # what polars does not expect of a file
            raise ValueError(
                f"{shown} cannot be read as {kind.name}: it is damaged, or a column has a type that polars does not "
                "know. Write it anew, without that column."
            ) from error
        known = {"format": kind.name, "table": reading.table, "na": tuple(reading.na), "decimal": source.decimal}
        yield dataclasses.replace(source, reading=known).with_nulls(tuple(reading.na))
        watch.check()


def _guess_format(data: str, path: Path, shown: str) -> Format:
    """Return the format that the first bytes or the name tell; standard input is CSV if they do not."""
    with path.open("rb") as file:
        start = file.read(16)
    marked = next((each for each in FORMATS.values() if each.mark and re.match(each.mark, start)), None)
    found = marked or named_format(data)
    if found is None and data != "-":
        raise InputError(
            "the name {shown!r} does not tell the format. Name it with {format=} ({formats}), or let it end in one of "
            "{suffixes}, with or without .gz.",
            shown=shown,
            formats=", ".join(FORMATS),
            suffixes=", ".join(_BY_SUFFIX),
        )
    return found or FORMATS["csv"]


def named_format(data: str) -> Format | None:
    """Return the format that a name tells, if it tells any."""
    suffixes = [suffix.lower() for suffix in Path(data).suffixes if suffix.lower() != ".gz"]
    return _BY_SUFFIX.get(suffixes[-1]) if suffixes else None
