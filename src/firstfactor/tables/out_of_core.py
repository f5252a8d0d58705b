"""Tables that are larger than memory: factors stay in files, of which a few columns at a time are read.

Parquet and Arrow files are read by column; others are converted to Parquet first. A `Budget` says how much memory an
analysis needs at least, and what is left for columns that are read more than once. Its figures were measured and
rounded up. Most memory is taken by arrays with a number for each row; how many of them exist at a time does not depend
on the table.
"""

import contextlib
import copy
import os
import tempfile
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import ceil
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .._utils.atomic_write import temporary_file
from .._utils.checks import InputError
from .._utils.memory import memory_used, parse_size, say_bytes
from .._utils.threads import Workers
from ..data.design import Design
from ..data.observations import Dropped
from ..data.stored_columns import cut_factors
from ..data.stored_table import AT_A_TIME, ColumnTable
from .dataset import Contents, Dataset, Wanted, read_dataset, refuse_few_rows, sort_gaps
from .formats import FORMATS
from .inventory import ColumnInfo
from .roles import Request, as_list, split_names
from .source import AT_ONCE, ROW, FileWatch, Source, numbered

MB = 10**6

# Bytes of compiled kernels when they are loaded, and of the compiler if they are not yet compiled.
KERNELS, COMPILER = 90 * MB, 220 * MB

# Bytes that polars takes to read any file, and to go through text in pieces.
READING, CONVERTING = 40 * MB, 220 * MB

# Numbers for each row: always, and as copies of each column that is read.
ALWAYS, COPIES = 12, 5

# Numbers for each row that a thread takes to search in a set of factors, besides copies of each of its columns; more of
# them if it makes fits; and the least number of factors that there must be memory for.
SEARCH, COPIES_OF_BASE, FITS, LEAST_BASE = 12, 3, 24, 8

# Numbers for each row and each output, of which a class is one: always, and for each thread.
OUTPUT, OUTPUT_OF_THREAD = 4, 4

# Bytes for each row that the calibrated rule tests on, and for each of these and each factor.
TEST_ROW, TEST_CELL, LEAST_CELLS = 7000, 4, 800

# Rows that the calibrated rule tests on at most.
MOST_TESTED = 50_000

# The share of the limit that is not used: allocators round up.
SPARE = 0.05


@dataclass(frozen=True)
class Plan:
    """Division of the memory."""

    at_a_time: int
    """Number of factors that are read together."""
    room: int
    """Bytes for columns that are kept."""
    jobs: int
    """Number of threads that memory suffices for."""


class Budget:
    """Memory that a run may use."""

    def __init__(self, request: Request) -> None:
        from ..neighbors.kernels.kernel_cache import is_compiled

        self._said = request.settings.memory
        self._request = request
        self._limit = parse_size("memory", self._said)
        self._start = memory_used()
        self._process = self._start + KERNELS + (0 if is_compiled() else COMPILER)

    @property
    def left(self) -> float:
        """Bytes that are left for data."""
        return (1 - SPARE) * self._limit - self._process

    def examine_in_pieces(self, source: Source) -> Source:
        """Return the same source, of which only as many columns are examined in one pass as fit into memory."""
        if not source.format.by_column:
            table = 0 if source.format.is_lazy else max(memory_used() - self._start, 0)
            self._refuse_if_above(CONVERTING + table)
            return source
        n_rows = source.collect(source.frame.select(pl.len())).item()
        self._refuse_if_above(READING + 8 * n_rows * ALWAYS)
        width = max(_bytes_of(dtype) for dtype in source.dtypes.values())
        most = int((self.left - READING) / 2 // max(3 * width * n_rows, 1))
        return replace(source, at_once=min(max(most, 1), AT_ONCE))

    def plan(self, wanted: Wanted) -> Plan:
        """Return how memory is divided; an error tells how much is needed if there is too little."""
        threads = Workers(self._request.settings.n_jobs).count
        ways = [(jobs, some) for jobs in range(threads, 0, -1) for some in ((AT_A_TIME, 2) if jobs > 1 else (2, 1))]
        need = 0.0
        for jobs, at_a_time in ways:
            need = self._need(wanted, jobs) + self._reading(wanted, max(at_a_time, jobs))
            if need <= self.left:
                return Plan(at_a_time, int(self.left - need), jobs)
        raise self._too_little(need)

    def _reading(self, wanted: Wanted, at_a_time: int) -> float:
        """Return the bytes needed to read some number of factors."""
        widest = max(_bytes_of(wanted.source.dtypes[column.name]) for column in wanted.used)
        names = [column.name for column in wanted.used]
        groups = [_count_matches(some, names) for some in (self._request.settings.factor_groups or {}).values()]
        return READING + (8 * COPIES + widest) * _rows(wanted) * max([at_a_time, *groups])

    def _need(self, wanted: Wanted, jobs: int) -> float:
        """Return the bytes needed for all but reading, with some number of threads."""
        settings = self._request.settings
        n_rows, p, calibrated = _rows(wanted), len(wanted.used), settings.rule == "calibrated"
        fits = FITS if calibrated or settings.variance_estimator == "extrapolated" else 0
        base = min(LEAST_BASE + len(as_list(settings.forced)), p) if settings.selects else p
        outputs = _count_outputs(wanted, settings.task)
        numbers = ALWAYS + 2 * len(wanted.roles.others) + jobs * (SEARCH + COPIES_OF_BASE * base + fits)
        numbers += outputs * (OUTPUT + OUTPUT_OF_THREAD * jobs)
        if settings.selects and not calibrated:
            numbers += _padded_block(p)
        tested = min(n_rows, MOST_TESTED, _outer_rows(settings.n_outer, n_rows)) if calibrated else 0
        return 8 * n_rows * numbers + tested * (TEST_ROW + TEST_CELL * max(p, LEAST_CELLS))

    def _refuse_if_above(self, need: float) -> None:
        if need > self.left:
            raise self._too_little(need)

    def _too_little(self, need: float) -> InputError:
        return InputError(
            "{memory} must be at least {least} for this table; got {said!r}. Allow for more, or use fewer rows "
            "({sample=}) or columns ({factors=}).",
            least=say_bytes((need + self._process) / (1 - SPARE)),
            said=self._said,
        )


def _rows(wanted: Wanted) -> int:
    return wanted.n_rows if wanted.drawn is None else len(wanted.drawn)


def _count_outputs(wanted: Wanted, task: str) -> int:
    """Return the number of outputs: each class is one."""
    source, count = wanted.source, 0
    for column in wanted.others:
        if column.name not in wanted.roles.targets:
            continue
        if column.holds != "text" and task != "classification":
            count += 1
        else:
            values = source.frame.select(source.column(column.name).n_unique())
            count += column.levels or source.collect(values).item()
    return count


def _count_matches(wanted: Any, names: Sequence[str]) -> int:
    """Return how many names match names and globs."""
    patterns = split_names(as_list(wanted), names)
    return sum(any(fnmatchcase(name, pattern) for pattern in patterns) for name in names)


def _padded_block(n_factors: int) -> int:
    """Return the number of columns of the largest block of candidates, which come in whole vectors."""
    from ..neighbors.kernels.simd import WIDTH

    return WIDTH * ceil(max(map(len, cut_factors(n_factors))) / WIDTH)


def _outer_rows(n_outer: int | float | None, n_rows: int) -> int:
    if n_outer is None:
        return n_rows
    return int(n_outer) if n_outer >= 1 and not isinstance(n_outer, float) else int(n_outer * n_rows) + 1


def _bytes_of(dtype: pl.DataType) -> int:
    """Return the bytes of one value, roughly."""
    return 40 if dtype == pl.String else 16 if dtype in (pl.Int128, pl.UInt128) else 8


# --- factors that stay in files -----------------------------------------------------------------------

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
