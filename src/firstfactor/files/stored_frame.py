"""Factors that stay in their files: a few columns at a time are read, as they would be in memory."""

import contextlib
import copy
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..data.design import Design
from ..data.stored_table import ColumnTable
from .budget import Plan
from .dataset import Contents, Wanted, split_column
from .gaps import Dropped, count_costs, refuse_few_rows
from .inventory import ColumnInfo
from .many_files import ManyFiles
from .plain_file import file_state, say_unsteady
from .source import Source
from .values import read_columns, select_columns


class Files:
    """The files that a table is read from, which must not change."""

    def __init__(self, source: Source) -> None:
        parts = source.parts if isinstance(source, ManyFiles) else (source,)
        self._states = {part.path: (part.shown, file_state(part.path)) for part in parts}

    def check(self) -> None:
        """Refuse files that are not what they were."""
        for path, (shown, before) in self._states.items():
            now = file_state(path)
            if now != before:
                raise ValueError(say_unsteady(shown, "changed" if now else "removed"))


class StoredFrame(ColumnTable):
    """The factors of a table, in files; what `read` gives is what the same columns of a data frame would be."""

    def __init__(
        self, wanted: Wanted, files: Files, rows: NDArray[np.bool_], columns: Mapping[str, ColumnInfo], plan: Plan
    ) -> None:
        self._wanted, self._files = wanted, files
        self._rows = None if rows.all() else pl.Series(rows)
        self._made_of = tuple(columns.values())
        self.names, self.n_rows = tuple(columns), int(rows.sum())
        self.at_a_time, self.room, self.jobs = plan.at_a_time, plan.room, plan.jobs
        self._close: Callable[[], object] = lambda: None
        self._only: frozenset[int] | None = None
        self._whole: StoredFrame | None = None  # whose end is that of its files

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs to read columns: what is temporary is removed by this one."""
        others = ("_close", "kept", "facts", "_whole")
        return {name: value for name, value in vars(self).items() if name not in others}

    def own(self, resources: contextlib.ExitStack) -> None:
        """Close resources, such as a temporary file, when the table is closed, forgotten, or the process ends."""
        self._close = weakref.finalize(self, _close, resources)

    @property
    def columns(self) -> list[str]:
        """The names of the columns, as those of a data frame."""
        return list(self.names)

    def __len__(self) -> int:
        return self.n_rows

    @property
    def dates(self) -> set[str]:
        """The names of columns that hold dates."""
        columns = dict.fromkeys(self._made_of)
        schema = self._select(list(columns)).collect_schema()
        return {name for name, dtype in schema.items() if dtype in (pl.Date, pl.Datetime)}

    def read(self, columns: Sequence[int]) -> pl.DataFrame:
        """Some columns, by position, in this order."""
        wanted = [j for j in columns if self._only is None or j in self._only]
        made_of = list(dict.fromkeys(self._made_of[j] for j in wanted))
        others = [self.names[j] for j in columns if j not in wanted]
        made = {name: pl.zeros(self.n_rows, eager=True).alias(name) for name in others}
        if made_of:
            frame = self._files_read(made_of)
            made |= {each.name: each for column in made_of for each in self._split(frame, column)}
        return pl.DataFrame([made[self.names[j]] for j in columns])

    def only(self, columns: Collection[int]) -> "StoredFrame":
        """The same table, of which columns other than these are taken for constants and are not read."""
        some = copy.copy(self)
        some._whole, some._only = self, frozenset(columns)
        some.facts = [(reading, _without_others(design, some._only)) for reading, design in self.facts]
        return some

    def close(self) -> None:
        """Remove what is temporary; nothing can be read any more."""
        self._close()

    def _split(self, frame: pl.DataFrame, column: ColumnInfo) -> list[pl.Series]:
        return split_column(self._wanted, frame.get_column(column.name))[0]

    def _files_read(self, columns: Sequence[ColumnInfo]) -> pl.DataFrame:
        frame = read_checked(self._wanted, columns, self._files)
        return frame if self._rows is None else frame.filter(self._rows)

    def _select(self, columns: Sequence[ColumnInfo]) -> pl.LazyFrame:
        wanted = self._wanted
        return select_columns(wanted.source, columns, wanted.drawn, wanted.roles.categorical)


def _without_others(design: Design, columns: frozenset[int]) -> Design:
    """What is known of factors, those that are made of other columns taken for constants."""
    others = np.array([not columns >= set(own) for own in design.inputs])
    return replace(design, constant=design.constant | others)


def _close(resources: contextlib.ExitStack) -> None:
    with contextlib.suppress(ValueError):  # what changed since the last reading is no longer of interest
        resources.close()


def read_checked(wanted: Wanted, columns: Sequence[ColumnInfo], files: Files) -> pl.DataFrame:
    """Some columns, from files that are what they were."""
    try:
        frame = read_columns(wanted.source, columns, wanted.drawn, wanted.roles.categorical)
    except ValueError:
        files.check()  # says more
        raise
    files.check()
    return frame


def store(wanted: Wanted, files: Files, plan: Plan) -> Contents:
    """Targets, weights and groups in memory, and all factors where they are."""
    others = read_checked(wanted, wanted.others, files)
    known = np.logical_and.reduce([others.get_column(name).is_not_null().to_numpy() for name in wanted.roles.targets])
    rows, dropped = known, Dropped(int((~known).sum()))
    if wanted.request.options.missing == "drop":
        rows, dropped = _drop_incomplete(wanted, files, known, plan.at_a_time)
    refuse_few_rows(wanted.source, wanted.n_rows, int(rows.sum()), dropped)
    columns, periods, has_dates = _name_columns(wanted, files, rows)
    frame = StoredFrame(wanted, files, rows, columns, plan)
    return Contents(others.filter(pl.Series(rows)), frame, periods, dropped, 0, has_dates)


def _drop_incomplete(
    wanted: Wanted, files: Files, known: NDArray[np.bool_], at_a_time: int
) -> tuple[NDArray[np.bool_], Dropped]:
    """The rows without any missing value, (rows,), and how many others there are."""
    complete, gaps = known.copy(), list[tuple[str, int]]()
    for some in _in_turn([column for column in wanted.used if column.missing], at_a_time):
        for values in read_checked(wanted, some, files):
            present = values.is_not_null().to_numpy()
            gaps.append((values.name, int((known & ~present).sum())))
            complete &= present
    return complete, Dropped(int((~known).sum()), int((known & ~complete).sum()), count_costs(gaps))


def _in_turn(columns: Sequence[ColumnInfo], at_a_time: int) -> Iterator[Sequence[ColumnInfo]]:
    return (columns[start : start + at_a_time] for start in range(0, len(columns), at_a_time))


def _name_columns(
    wanted: Wanted, files: Files, rows: NDArray[np.bool_]
) -> tuple[dict[str, ColumnInfo], dict[str, float], bool]:
    """What each column is made of, the periods of parts of dates, and whether there are dates."""
    schema = select_columns(wanted.source, wanted.used, wanted.drawn, wanted.roles.categorical).collect_schema()
    columns, periods = dict[str, ColumnInfo](), dict[str, float]()
    for column in wanted.used:
        columns[column.name] = column
        if wanted.request.parameters.date_parts and schema[column.name].is_temporal():
            values = read_checked(wanted, [column], files).to_series()
            parts, repeating = split_column(wanted, values.filter(pl.Series(rows)))
            columns |= dict.fromkeys((part.name for part in parts), column)
            periods |= repeating
    return columns, periods, any(dtype.is_temporal() for dtype in schema.values())
