"""Tables that are larger than memory: factors stay in files, of which a few columns at a time are read.

Parquet and Arrow files are read by column; others are converted to Parquet first.
"""

import contextlib
import copy
import os
import tempfile
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .._utils.atomic_write import temporary_file
from ..data.design import Design
from ..data.observations import Dropped
from ..data.stored_table import AT_A_TIME, ColumnTable
from .budget import Budget, Plan
from .dataset import Contents, Dataset, Wanted, read_dataset, refuse_few_rows, sort_gaps
from .formats import FORMATS
from .inventory import ColumnInfo
from .plain_file import FileWatch
from .roles import Request
from .source import ROW, Source, numbered

Show = Callable[[str], None]

# Bytes of a row group of a converted file, few enough to be written in little memory; and its fewest rows.
ROW_GROUP, LEAST_ROWS = 64 * 10**6, 1000

# Bytes of text that polars reads at a time; its own number takes three times as much memory, and is no faster.
TEXT_AT_A_TIME = 4 * 10**6

# How memory is used on a cluster, whose workers have memory of their own: a little is for columns that pages show.
WITHOUT_LIMIT = Plan(AT_A_TIME, room=2**28, jobs=-1)

# Messages of operating systems about a full disk.
FULL = ("No space left", "os error 28", "os error 112", "Disk quota exceeded")


def open_dataset(opened: "contextlib.AbstractContextManager[Source]", request: Request, show: Show) -> Dataset:
    """Return the table of a source that is yet to be opened, with its factors in files.

    Without a limit of memory, the workers of a cluster read them.
    """
    from ..selection import fitting  # noqa: F401 (what takes memory besides the table is known once it is loaded)

    budget = None if request.settings.memory is None else Budget(request)
    with contextlib.ExitStack() as kept:
        with contextlib.ExitStack() as original, _text_in_small_pieces():
            source = original.enter_context(opened)
            is_by_column = source.format.by_column
            before = FileWatch(source.files)

            def keep(wanted: Wanted) -> Contents:
                plan = WITHOUT_LIMIT if budget is None else budget.plan(wanted)
                if not is_by_column:
                    wanted = _convert(wanted, kept, show)
                return _store(wanted, before if is_by_column else FileWatch(wanted.source.files), plan)

            dataset = read_dataset(source if budget is None else budget.examine_in_pieces(source), request, keep)
            if is_by_column:
                kept.push(original.pop_all())
        cast(StoredFrame, dataset.X).own(kept.pop_all())
    return dataset


@contextlib.contextmanager
def _text_in_small_pieces() -> Iterator[None]:
    name = "POLARS_CSV_CHUNK_SIZE"
    before = os.environ.get(name)
    os.environ[name] = before or str(TEXT_AT_A_TIME)
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]


def _convert(wanted: Wanted, stack: contextlib.ExitStack, show: Show) -> Wanted:
    """Write what is wanted to a temporary Parquet file, with the types that it would have in memory."""
    source, columns = wanted.source, [*wanted.others, *wanted.used]
    folder = tempfile.gettempdir()
    show(f"converting {source.shown} to Parquet in {folder}")
    # Columns are numbered: polars would take a name such as ^x$ for a pattern.
    typed = wanted.select(columns).select(pl.nth(number).alias(numbered(number)) for number in range(len(columns)))
    rows = max(ROW_GROUP // (8 * len(columns)), LEAST_ROWS)
    try:
        path = Path(stack.enter_context(temporary_file(folder)).name)
        source.collect(typed.sink_parquet(path, row_group_size=rows, compression="lz4", lazy=True))
    except (OSError, ValueError) as error:
        is_full = any(words in str(error.__cause__) for words in FULL)
        if isinstance(error, ValueError) and not is_full:
            raise
        why = (error.strerror or str(error)) if isinstance(error, OSError) else "no space is left"
        raise OSError(
            f"the table cannot be converted to Parquet in {folder!r}: {why}. Set TMPDIR to a folder with more room, "
            "or convert the file to Parquet."
        ) from error
    frame = pl.scan_parquet(path, row_index_name=ROW, glob=False)
    schema = frame.collect_schema()
    dtypes = {column.name: schema[numbered(number)] for number, column in enumerate(columns)}
    converted = Source(path, source.shown, FORMATS["parquet"], frame, dtypes, reading=source.reading)
    others, used = (
        [replace(column, removed=None, writing=None, large=False, trimmed=False) for column in some]
        for some in (wanted.others, wanted.used)
    )
    return replace(wanted, source=converted, others=others, used=used, drawn=None)


def _store(wanted: Wanted, files: FileWatch, plan: Plan) -> Contents:
    """Read targets, weights and groups into memory, and leave all factors in their files."""
    others = _read_checked(wanted, wanted.others, files)
    known = np.logical_and.reduce([others.get_column(name).is_not_null().to_numpy() for name in wanted.roles.targets])
    rows, dropped = known, Dropped(int((~known).sum()))
    if wanted.request.settings.missing == "drop":
        rows, dropped = _drop_incomplete(wanted, files, known, plan.at_a_time)
    refuse_few_rows(wanted, int(rows.sum()), dropped)
    schema = wanted.select(wanted.used).collect_schema()
    columns, periods = dict[str, ColumnInfo](), dict[str, float]()
    for column in wanted.used:
        columns[column.name] = column
        if wanted.request.settings.date_parts and schema[column.name].is_temporal():
            values = _read_checked(wanted, [column], files).to_series()
            parts, repeating = wanted.split(values.filter(pl.Series(rows)))
            columns |= dict.fromkeys((part.name for part in parts), column)
            periods |= repeating
    frame = StoredFrame(wanted, files, rows, columns, plan)
    has_dates = any(dtype.is_temporal() for dtype in schema.values())
    return Contents(others.filter(pl.Series(rows)), frame, periods, dropped, 0, has_dates)


def _drop_incomplete(
    wanted: Wanted, files: FileWatch, known: NDArray[np.bool_], at_a_time: int
) -> tuple[NDArray[np.bool_], Dropped]:
    """Return the rows without any missing value, (rows,), and how many others there are."""
    complete, gaps = known.copy(), list[tuple[str, int]]()
    columns = [column for column in wanted.used if column.missing]
    for start in range(0, len(columns), at_a_time):
        for values in _read_checked(wanted, columns[start : start + at_a_time], files):
            present = values.is_not_null().to_numpy()
            gaps.append((values.name, int((known & ~present).sum())))
            complete &= present
    return complete, Dropped(int((~known).sum()), int((known & ~complete).sum()), costs=sort_gaps(gaps))


def _read_checked(wanted: Wanted, columns: Sequence[ColumnInfo], files: FileWatch) -> pl.DataFrame:
    """Read some columns from files that must not have changed."""
    try:
        frame = wanted.read(columns)
    except ValueError:
        files.check()  # its message says more
        raise
    files.check()
    return frame


class StoredFrame(ColumnTable):
    """The factors of a table, in files; `read` returns the same columns as a data frame in memory has.

    Parameters
    ----------
    wanted : Wanted
        The table.
    files : FileWatch
        Its files.
    rows : bool array of shape (n_rows,)
        Which rows are used.
    columns : dict
        The column of the file that each factor is made of.
    plan : Plan
        How memory is used.
    """

    def __init__(
        self, wanted: Wanted, files: FileWatch, rows: NDArray[np.bool_], columns: dict[str, ColumnInfo], plan: Plan
    ) -> None:
        self._wanted, self._files = wanted, files
        self._rows = None if rows.all() else pl.Series(rows)
        self._made_of = tuple(columns.values())
        self.names, self.n_rows = tuple(columns), int(rows.sum())
        self.at_a_time, self.room, self.jobs = plan.at_a_time, plan.room, plan.jobs
        self._close: Callable[[], object] = lambda: None
        self._only: frozenset[int] | None = None
        self._whole: StoredFrame | None = None  # files are closed with the whole table

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs to read columns: temporary files are removed by this one."""
        others = ("_close", "kept", "facts", "_whole")
        return {name: value for name, value in vars(self).items() if name not in others}

    def own(self, resources: contextlib.ExitStack) -> None:
        """Close resources, such as a temporary file, when the table is closed, forgotten, or the process ends."""
        self._close = weakref.finalize(self, _close, resources)

    @property
    def dates(self) -> set[str]:
        """The names of columns that hold dates."""
        schema = self._wanted.select(list(dict.fromkeys(self._made_of))).collect_schema()
        return {name for name, dtype in schema.items() if dtype in (pl.Date, pl.Datetime)}

    def read(self, columns: Sequence[int]) -> pl.DataFrame:
        """Read some columns, by position, in this order."""
        wanted = [j for j in columns if self._only is None or j in self._only]
        made_of = list(dict.fromkeys(self._made_of[j] for j in wanted))
        others = [self.names[j] for j in columns if j not in wanted]
        made = {name: pl.zeros(self.n_rows, eager=True).alias(name) for name in others}
        if made_of:
            made |= {each.name: each for values in self._files_read(made_of) for each in self._wanted.split(values)[0]}
        return pl.DataFrame([made[self.names[j]] for j in columns])

    def _files_read(self, columns: Sequence[ColumnInfo]) -> pl.DataFrame:
        frame = _read_checked(self._wanted, columns, self._files)
        return frame if self._rows is None else frame.filter(self._rows)

    def only(self, columns: Collection[int]) -> "StoredFrame":
        """Return the same table with columns other than these taken as constants, which are not read."""
        some = copy.copy(self)
        some._whole, some._only = self, frozenset(columns)
        some.facts = [(reading, _without_others(design, some._only)) for reading, design in self.facts]
        return some

    def close(self) -> None:
        """Remove temporary files; nothing can be read afterwards."""
        self._close()


def _without_others(design: Design, columns: frozenset[int]) -> Design:
    """Return a design in which factors made of other columns are constant."""
    others = np.array([not columns >= set(own) for own in design.inputs])
    return replace(design, constant=design.constant | others)


def _close(resources: contextlib.ExitStack) -> None:
    with contextlib.suppress(ValueError):  # changes since the last reading no longer matter
        resources.close()
