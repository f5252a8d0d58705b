"""A table that is larger than memory: its factors stay in Parquet or Arrow files, or are converted to Parquet first."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import polars as pl

from .._utils.atomic_write import temporary_file
from ..data.stored_table import AT_A_TIME
from .budget import Budget, Plan
from .dataset import Contents, Dataset, Wanted, read_dataset
from .roles import Request
from .source import ROW, Source, numbered
from .stored_frame import Files, StoredFrame, store
from .values import select_columns

Show = Callable[[str], None]

# Formats of which single columns can be read.
BY_COLUMN = ("parquet", "arrow")

# Bytes of a row group of a converted file: few enough to be written in little memory. It has so many rows at least.
ROW_GROUP, LEAST_ROWS = 64 * 10**6, 1000

# Bytes of text that polars reads at a time; its own number takes three times as much memory, and is no faster.
TEXT_AT_A_TIME = 4 * 10**6

# How memory is used on a cluster, whose workers have memory of their own: a little is for columns that pages show.
WITHOUT_LIMIT = Plan(AT_A_TIME, room=2**28, jobs=-1)

# What operating systems say of a full disk.
FULL = ("No space left", "os error 28", "os error 112", "Disk quota exceeded")


def open_dataset(opened: "contextlib.AbstractContextManager[Source]", request: Request, show: Show) -> Dataset:
    """The table of a source that is yet to be opened, with its factors in files.

    Without a limit of memory, they are read by others.
    """
    from ..selection import fitting  # noqa: F401 (what takes memory besides the table is known once it is loaded)

    budget = None if request.parameters.memory is None else Budget(request)
    with contextlib.ExitStack() as kept:
        with contextlib.ExitStack() as original, text_in_small_pieces():
            source = original.enter_context(opened)
            is_by_column = source.kind in BY_COLUMN
            before = Files(source)

            def keep(wanted: Wanted) -> Contents:
                plan = WITHOUT_LIMIT if budget is None else budget.plan(wanted)
                if not is_by_column:
                    wanted = convert(wanted, kept, show)
                return store(wanted, before if is_by_column else Files(wanted.source), plan)

            dataset = read_dataset(source if budget is None else budget.look_in_pieces(source), request, keep)
            if is_by_column:
                kept.push(original.pop_all())
        cast(StoredFrame, dataset.X).own(kept.pop_all())
    return dataset


@contextlib.contextmanager
def text_in_small_pieces() -> Iterator[None]:
    """Let polars read text in small pieces."""
    name = "POLARS_CSV_CHUNK_SIZE"
    before = os.environ.get(name)
    os.environ[name] = before or str(TEXT_AT_A_TIME)
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]


def convert(wanted: Wanted, stack: contextlib.ExitStack, show: Show) -> Wanted:
    """The part of a table that is wanted, in a temporary Parquet file, with the types that it would have in memory."""
    source, columns = wanted.source, [*wanted.others, *wanted.used]
    show(f"converting {source.shown} to Parquet in {tempfile.gettempdir()}")
    typed = select_columns(source, columns, wanted.drawn, wanted.roles.categorical)
    typed = typed.select(pl.nth(number).alias(str(number)) for number in range(len(columns)))
    rows = max(ROW_GROUP // (8 * len(columns)), LEAST_ROWS)
    try:
        path = Path(stack.enter_context(temporary_file(tempfile.gettempdir())).name)
        source.collect(typed.sink_parquet(path, row_group_size=rows, compression="lz4", lazy=True))
    except OSError as error:
        raise OSError(_say_no_copy(error.strerror or str(error))) from error
    except ValueError as error:
        if any(words in str(error.__cause__) for words in FULL):
            raise OSError(_say_no_copy("no space is left")) from error
        raise
    plain = {column.name: replace(column, removed=None, writing=None, large=False, trimmed=False) for column in columns}
    others, used = ([plain[column.name] for column in some] for some in (wanted.others, wanted.used))
    return replace(wanted, source=_scan(path, source, [*plain]), others=others, used=used, drawn=None)


def _scan(path: Path, source: Source, names: Sequence[str]) -> Source:
    """A converted file as a source; its columns have numbers for names."""
    frame = pl.scan_parquet(path, row_index_name=ROW, glob=False)
    schema = frame.collect_schema()
    dtypes = {name: schema[str(number)] for number, name in enumerate(names)}
    frame = frame.rename({str(number): numbered(number) for number in range(len(names))})
    return Source(path, source.shown, "parquet", frame, dtypes, reading=source.reading)


def _say_no_copy(why: str) -> str:
    return (
        f"the table cannot be converted to Parquet in {tempfile.gettempdir()!r}: {why}. Set TMPDIR to a folder with "
        "more room, or convert the file to Parquet."
    )
