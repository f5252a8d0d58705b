"""Tables that do not fit into memory: factors are read, encoded and scaled a few at a time."""

import threading
import weakref
from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .design import Design, build_design, group_columns, join_designs
from .encoding import Encoded, encode_table, refuse_missing
from .observations import EncodingOptions, StoredFactors, StoredTable
from .stored_columns import Floats, OfBlock, RemoteColumns, StoredColumns

# Number of factors read together: reading makes a few copies of their columns.
AT_A_TIME = 8

# Memory for many functions of some columns, as a multiple of that of the columns.
FUNCTIONS = 8


class ColumnTable(StoredTable):
    """Table of which a few columns at a time are read from a file."""

    names: tuple[str, ...]
    """Names of the columns."""
    n_rows: int
    """Number of rows."""
    room: int
    """Maximum number of bytes of columns kept in memory."""
    at_a_time: int = AT_A_TIME
    """Number of factors that are read together."""
    jobs: int = -1
    """Number of threads for which memory suffices."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns, as in a data frame."""
        return list(self.names)

    def __len__(self) -> int:
        return self.n_rows

    def close(self) -> None:
        """Remove temporary files, if there are any."""

    @cached_property
    def kept(self) -> "ColumnCache":
        """Columns that are kept in memory."""
        return ColumnCache(self.room)

    @cached_property
    def facts(self) -> "list[tuple[EncodingOptions, Design]]":
        """Designs of all rows without values, with their parameters; building one requires the whole table."""
        return []

    @property
    def dates(self) -> set[str]:
        """Names of the columns that hold dates."""
        return set()

    @abstractmethod
    def read(self, columns: Sequence[int]) -> Any:
        """Return a data frame of some columns, by position, in this order."""

    def open(self, reading: EncodingOptions) -> StoredFactors:
        """Return its columns, read with the given parameters."""
        return ReadFactors(self, reading)

    def only(self, columns: Collection[int]) -> "ColumnTable":  # noqa: ARG002
        """Return a table in which all other columns may be treated as constants and need not be read."""
        return self


def encode_part(frame: Any, names: tuple[str, ...], columns: Sequence[int], reading: EncodingOptions) -> Encoded:
    """Encode some columns of a table; ``names`` are those of all columns."""
    some = reading.of_columns(names, columns)
    return replace(encode_table(frame, some.categorical or None), names=tuple(names[j] for j in columns))


def design_part(encoded: Encoded, names: tuple[str, ...], columns: Sequence[int], reading: EncodingOptions) -> Design:
    """Return the factors of some columns of a table, scaled as in a design of the whole table."""
    if reading.missing == "error":
        refuse_missing(encoded)
    some = reading.of_columns(names, columns)
    design = build_design(encoded, some.scale, some.factor_groups, some.period, is_part=True)
    return replace(design, inputs=tuple(tuple(columns[k] for k in members) for members in design.inputs))


class ReadFactors(StoredFactors):
    """Columns of a `ColumnTable`."""

    def __init__(self, table: ColumnTable, reading: EncodingOptions, rows: NDArray[np.intp] | None = None) -> None:
        self._table, self._reading, self._rows = table, reading, rows
        self.names = table.names
        self.n_rows = table.n_rows if rows is None else rows.size
        self.at_a_time = table.at_a_time
        self._inputs, _ = group_columns(table.names, reading.factor_groups or {})

    def on_rows(self, rows: NDArray[np.intp]) -> "ReadFactors":
        """Return some rows."""
        return ReadFactors(self._table, self._reading, rows if self._rows is None else self._rows[rows])

    def find_gaps(self, rows: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Return a mask of the given rows that lack a value, and the number of such rows for each column."""
        incomplete, counts = np.zeros(int(rows.sum()), dtype=bool), []
        for columns in _in_turn(len(self.names), self.at_a_time):
            gaps, of_columns = self._encode(columns).find_gaps(rows)
            incomplete |= gaps
            counts.append(of_columns)
        return incomplete, np.concatenate(counts)

    def design(self) -> Design:
        """Return the factors, whose values are read when needed."""
        known = self._table.facts if self._rows is None else []
        facts = next((facts for reading, facts in known if reading == self._reading), None)
        if facts is None:
            in_turn = _in_turn(len(self._inputs), self.at_a_time)
            facts = join_designs([self.read(factors).without_values() for factors in in_turn])
            known.append((self._reading, facts))
        return replace(facts, values=ReadColumns(self, facts, self._table.kept))

    def read(self, factors: Sequence[int]) -> Design:
        """Return some factors with their values."""
        columns = sorted(j for i in factors for j in self._inputs[i])
        return design_part(self._encode(columns), self.names, columns, self._reading)

    def _encode(self, columns: Sequence[int]) -> Encoded:
        encoded = encode_part(self._table.read(columns), self.names, columns, self._reading)
        return encoded if self._rows is None else encoded.on_rows(self._rows)


def _in_turn(count: int, at_a_time: int) -> list[range]:
    """Return the integers from 0 to ``count`` − 1 in ranges of ``at_a_time``."""
    return [range(start, min(start + at_a_time, count)) for start in range(0, count, at_a_time)]


def _when_gone(what: object, act: Callable[[Any], None], given: object) -> None:
    """Call a function when an object is garbage collected, but not at the end of the process."""
    weakref.finalize(what, act, given).atexit = False


class ColumnCache:
    """Cache of columns of one table, shared by all its users: the most recently used columns are kept."""

    def __init__(self, size: int) -> None:
        self._size = size
        # Reentrant, because arrays may be garbage collected, and their memory given back, at any point.
        self._lock = threading.RLock()
        self._columns: dict[tuple[object, int], Floats] = {}
        self._used, self._set_aside = 0, 0

    def get(self, owner: object, column: int) -> Floats | None:
        """Return a column, (rows,), or None."""
        with self._lock:
            values = self._columns.pop((owner, column), None)
            if values is not None:
                self._columns[owner, column] = values
            return values

    def put(self, owner: object, column: int, values: Floats) -> None:
        """Keep a column; the least recently used columns are dropped if memory is short."""
        with self._lock:
            before = self._columns.pop((owner, column), None)
            self._columns[owner, column] = values
            self._used += values.nbytes - (0 if before is None else before.nbytes)
            self._make_room()

    def forget(self, owner: object) -> None:
        """Drop the columns of one owner."""
        with self._lock:
            for key in [key for key in self._columns if key[0] is owner]:
                self._used -= self._columns.pop(key).nbytes

    def make(self, size: int, make: Callable[[], Floats]) -> Floats | None:
        """Make an array and reserve bytes for it and its derivatives while it lives; return None if it is too large.

        Cached columns are dropped to free memory for it.
        """
        with self._lock:
            if size > self._size - self._set_aside:
                return None
            self._set_aside += size
            self._make_room()
        try:
            values = make()
        except BaseException:
            self._give_back(size)
            raise
        _when_gone(values, self._give_back, size)
        return values

    def _give_back(self, size: int) -> None:
        with self._lock:
            self._set_aside -= size

    def _make_room(self) -> None:
        while self._columns and self._used > self._size - self._set_aside:
            self._used -= self._columns.pop(next(iter(self._columns))).nbytes


class ReadColumns(RemoteColumns):
    """Columns that are read when needed; the most recently used are kept as memory permits."""

    def __init__(
        self, factors: ReadFactors, facts: Design, room: ColumnCache, rows: NDArray[np.intp] | None = None
    ) -> None:
        self._factors, self._facts, self._room, self._rows = factors, facts, room, rows
        self.at_a_time = factors.at_a_time
        self._factor_of = np.repeat(np.arange(facts.n_factors), [len(own) for own in facts.columns])
        n_rows = factors.n_rows if rows is None else rows.size
        self.shape = n_rows, self._factor_of.size
        self._owner = object()
        _when_gone(self, room.forget, self._owner)

    def view(self, columns: Sequence[int]) -> tuple[Floats, NDArray[np.intp]]:
        """Return some columns, (rows, columns), and the position of each."""
        found = {j: values for j in columns if (values := self._room.get(self._owner, j)) is not None}
        wanted = sorted({int(self._factor_of[j]) for j in columns if j not in found})
        for start in range(0, len(wanted), self.at_a_time):
            found |= self._read(wanted[start : start + self.at_a_time])
        if len(columns) == 1:
            return found[columns[0]][:, None], np.zeros(1, np.intp)
        return np.column_stack([found[j] for j in columns]), np.arange(len(columns))

    def _read(self, factors: Sequence[int]) -> dict[int, Floats]:
        """Read the columns of some factors, (rows,) each."""
        values = np.asarray(self._factors.read(factors).values)
        some = slice(None) if self._rows is None else self._rows
        found = {j: values[some, k].copy() for k, j in enumerate(self._facts.columns_of(factors))}
        for j, column in found.items():
            self._room.put(self._owner, j, column)
        return found

    def each_block(  # noqa: D102
        self,
        name: str,  # noqa: ARG002
        make: OfBlock,
        ask: OfBlock,
        factors: Sequence[int],
        *shared: Any,
    ) -> list[Any]:
        here = replace(self._facts, values=self)  # one block at a time, and nothing is kept
        return [ask(make(here.on_factors(some)), range(len(some)), *shared) for some in here.in_blocks(factors)]

    def on_rows(self, rows: NDArray[np.intp], many_functions: bool = False) -> StoredColumns | Floats:
        """Return the columns on some rows; in memory if they fit, if needed together with many functions of them."""
        some = ReadColumns(self._factors, self._facts, self._room, rows if self._rows is None else self._rows[rows])
        size = 8 * rows.size * self.shape[1] * (FUNCTIONS if many_functions else 1)
        values = self._room.make(size, some.all)
        return some if values is None else values

    def all(self) -> Floats:
        """Read all columns, (rows, columns); those of constant factors are 0."""
        values, varying = np.zeros(self.shape), self._facts.varying
        for some in _in_turn(len(varying), self.at_a_time):
            columns = self._facts.columns_of([varying[k] for k in some])
            values[:, columns] = self.view(columns)[0]
        return values
