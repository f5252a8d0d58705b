"""Dask collections, or a table in memory, distributed once as blocks of columns over the workers."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.design import Design, group_columns, join_designs
from ..data.observations import EncodingOptions, StoredFactors, StoredTable
from ..data.stored_columns import Floats, OfBlock, OfColumn, RemoteColumns, StoredColumns, cut_factors
from ..data.stored_table import ColumnTable
from ..data.table import refuse_duplicate_names
from . import tasks
from .client import DaskCluster, Handle, current_cluster

# Maximum number of fetched columns kept here: those of the selected factors.
MOST_KEPT = 32

# Some rows of all columns are fetched if they have no more values than this: 128 MiB.
MOST_VALUES = 2**24


class KeptColumns:
    """Columns in memory, by index; the least recently used is dropped first."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._columns: dict[int, Floats] = {}

    def get(self, column: int) -> Floats | None:
        """Return a column, (rows,), or None."""
        with self._lock:
            values = self._columns.pop(column, None)
            if values is not None:
                self._columns[column] = values
            return values

    def put(self, column: int, values: Floats) -> None:
        """Keep a column."""
        with self._lock:
            self._columns[column] = values
            while len(self._columns) > self._most:
                del self._columns[next(iter(self._columns))]


class ClusterColumns(RemoteColumns):
    """Columns in blocks on workers; single columns are fetched when needed."""

    def __init__(self, cluster: DaskCluster, blocks: Sequence[Handle], facts: Sequence[Design]) -> None:
        self.cluster, self.blocks = cluster, blocks
        self._facts = facts
        widths = [part.caps.size for part in facts]
        self._block_of = np.repeat(np.arange(len(facts)), widths)
        self._first = np.cumsum([0, *widths[:-1]]).tolist()
        self.shape = facts[0].n_rows, int(self._block_of.size)
        self.at_a_time = self.shape[1]
        self._kept = KeptColumns(MOST_KEPT)
        self._owners: dict[int, str] = {}
        self._made_of_blocks: dict[tuple[int, OfBlock], Handle] = {}

    def owners(self) -> dict[int, str]:
        """Return the address of the worker of each block: balanced, and unchanged while the worker lives."""
        alive = self.cluster.workers
        owners = {k: owner for k, owner in self._owners.items() if owner in alive}
        for k in range(len(self.blocks)):
            if k not in owners and alive:
                owners[k] = min(alive, key=list(owners.values()).count)
        self._owners = owners
        return owners

    def _by_block(self, columns: Sequence[int]) -> dict[int, list[int]]:
        """Return some columns by block, numbered as in their blocks."""
        cut: dict[int, list[int]] = {}
        for j in columns:
            block = int(self._block_of[j])
            cut.setdefault(block, []).append(j - self._first[block])
        return cut

    def _ask(self, name: str, function: Any, columns: Sequence[int], *arguments: Any) -> list[Any]:
        """Return the result of a function of each block with some of the columns, given their indices."""
        cut = self._by_block(columns)
        found: list[Any] = self.cluster.compute(
            lambda: [
                self.cluster.submit(f"{name} block {k}", function, self.blocks[k].future, own, *arguments)
                for k, own in cut.items()
            ]
        )
        return found

    def view(self, columns: Sequence[int]) -> tuple[Floats, NDArray[np.intp]]:
        """Fetch some columns, (rows, columns), and return them with the position of each."""
        found = {j: values for j in columns if (values := self._kept.get(j)) is not None}
        missing = sorted(j for j in columns if j not in found)
        if missing:
            fetched = np.hstack(self._ask("fetch columns", tasks.take, missing, None))
            for k, j in enumerate(missing):  # blocks, and columns within a block, are in order
                found[j] = fetched[:, k].copy()
                self._kept.put(j, found[j])
        return np.column_stack([found[j] for j in columns]), np.arange(len(columns))

    def each_block(self, name: str, make: OfBlock, ask: OfBlock, factors: Sequence[int], *shared: Any) -> list[Any]:
        """Return the result of a function for each block with some of the factors, computed by its worker.

        The object made from a block stays on its worker.
        """
        blocks, given = cut_factors(sum(part.n_factors for part in self._facts)), self.cluster.share(shared)
        wanted = {k: [i for i in factors if i in block] for k, block in enumerate(blocks)}

        def submit() -> list[Any]:
            owners = self.owners()
            return [
                self.cluster.submit(
                    f"{name} block {k}",
                    tasks.ask_block,
                    self._made(k, make),
                    ask,
                    own,
                    given.future,
                    worker=owners.get(k),
                )
                for k, own in wanted.items()
                if own
            ]

        answers: list[Any] = self.cluster.compute(submit)
        given.release()
        return answers

    def _made(self, k: int, make: OfBlock) -> Any:
        """Return the future of the object made from a block."""
        name = f"make functions of block {k}"
        if (k, make) in self._made_of_blocks:
            return self._made_of_blocks[k, make].future
        made = self.cluster.keep(
            lambda: self.cluster.submit(
                name, tasks.make_of_block, self.blocks[k].future, make, worker=self.owners().get(k)
            )
        )
        self._made_of_blocks[k, make] = made
        return made.future

    def on_rows(self, rows: NDArray[np.intp], many_functions: bool = False) -> StoredColumns | Floats:
        """Return the columns on some rows: here if these and functions of them are few, else on the workers."""
        everything = range(self.shape[1])
        if rows.size * self.shape[1] <= MOST_VALUES and not many_functions:
            return np.hstack(self._ask("fetch some rows of", tasks.take, everything, rows))
        shared = self.cluster.share(rows)
        blocks = [self._on_rows(k, shared) for k in range(len(self.blocks))]
        return place_columns(self.cluster, blocks)

    def _on_rows(self, k: int, rows: Handle) -> Handle:
        name = f"take some rows of block {k}"
        return self.cluster.keep(
            lambda: self.cluster.submit(
                name, tasks.place_on_rows, self.blocks[k].future, rows.future, worker=self.owners().get(k)
            )
        )

    def map(self, ask: OfColumn, columns: Sequence[int]) -> list[Any]:
        """Return the result of a function for each column, computed by the workers that have them."""
        answers = self._answers("look at columns of", tasks.ask_columns, ask, sorted(columns))
        found = dict(
            zip(sorted(columns), [answer for some in self.cluster.compute(answers) for answer in some], strict=True)
        )
        return [found[j] for j in columns]

    def sum(self, ask: OfColumn, columns: Sequence[int]) -> NDArray[Any]:
        """Return the sum over columns of the array that a function returns for each, added up on the cluster."""
        answers = self._answers("add up columns of", tasks.sum_columns, ask, columns)
        total: NDArray[Any] = self.cluster.compute(lambda: self.cluster.submit("add up blocks", tasks.add, answers()))
        return total

    def _answers(self, name: str, function: Any, ask: OfColumn, columns: Sequence[int]) -> Any:
        """Return a function that submits a task for each block."""
        cut, shared = self._by_block(columns), self.cluster.share(ask)
        return lambda: [
            self.cluster.submit(
                f"{name} block {k}", function, self.blocks[k].future, shared.future, own, self._first[k]
            )
            for k, own in cut.items()
        ]

    @property
    def facts(self) -> Design:
        """Design of all factors, with these columns as its values."""
        return replace(join_designs(self._facts), values=self)


def place_columns(cluster: DaskCluster, blocks: Sequence[Handle]) -> ClusterColumns:
    """Return the columns of blocks that are on the cluster."""
    cluster.keep_copies()
    facts = cluster.compute(
        lambda: [cluster.submit(f"describe block {k}", tasks.facts_of, block.future) for k, block in enumerate(blocks)]
    )
    return ClusterColumns(cluster, blocks, facts)


# --- tables -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClusterTable(StoredTable):
    """Table whose columns the workers of a cluster read."""

    cluster: DaskCluster


@dataclass(frozen=True)
class DaskTable(ClusterTable):
    """Dask DataFrame or Array."""

    names: tuple[str, ...]
    partitions: tuple[Handle, ...]
    """Pandas frames or numpy arrays of all columns."""
    sizes: tuple[int, ...]
    """Number of rows of each partition."""

    def open(self, reading: EncodingOptions) -> "ClusterFactors":
        """Return its columns on the workers, as numbers."""

        def read(k: int, columns: Sequence[int], worker: str | None) -> Handle:
            return self.cluster.keep(
                lambda: self.cluster.submit(
                    f"read block {k}",
                    tasks.encode_block,
                    [
                        self.cluster.submit(f"cut partition {n} for block {k}", tasks.take_columns, one.future, columns)
                        for n, one in enumerate(self.partitions)
                    ],
                    self.names,
                    columns,
                    reading,
                    worker=worker,
                )
            )

        return ClusterFactors(
            self.cluster, sum(self.sizes), Layout.make(self.cluster, self.names, reading), read, self.partitions
        )


@dataclass(frozen=True)
class ReadByWorkers(ClusterTable):
    """Table in files that every worker can read: each reads the columns of its blocks."""

    table: ColumnTable

    def open(self, reading: EncodingOptions) -> "ClusterFactors":
        """Return its columns on the workers, as numbers."""
        names, shared = self.table.names, self.cluster.share(self.table)

        def read(k: int, columns: Sequence[int], worker: str | None) -> Handle:
            return self.cluster.keep(
                lambda: self.cluster.submit(
                    f"read block {k}", tasks.read_block, shared.future, columns, reading, worker=worker
                )
            )

        return ClusterFactors(self.cluster, self.table.n_rows, Layout.make(self.cluster, names, reading), read)


def open_collection(X: Any) -> DaskTable:
    """Return a Dask DataFrame or Array as a table."""
    cluster = current_cluster()
    if X.ndim != 2:
        raise ValueError(f"X must be 2-dimensional, rows by factors; got {X.ndim} dimension(s).")
    names = _names(X)
    if not hasattr(X, "columns") and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})  # whole rows
    delayed = np.ravel(X.to_delayed()).tolist()
    partitions = tuple(cluster.keep(partial(cluster.client.compute, one)) for one in delayed)
    sizes = cluster.compute(
        lambda: [cluster.submit(f"count rows of partition {n}", len, one.future) for n, one in enumerate(partitions)]
    )
    return DaskTable(cluster, names, partitions, tuple(sizes))


def without_rows(X: Any) -> Any:
    """Return a table in memory with the columns of a Dask collection, and no rows."""
    return X._meta if hasattr(X, "columns") else np.empty((0, X.shape[1]), X.dtype)


def take_columns(X: Any, columns: Sequence[int]) -> Any:
    """Return some columns of a Dask collection, by position."""
    return X[[X.columns[j] for j in columns]] if hasattr(X, "columns") else X[:, list(columns)]


def _names(X: Any) -> tuple[str, ...]:
    if not hasattr(X, "columns"):
        return tuple(f"x{j}" for j in range(X.shape[1]))
    refuse_duplicate_names(X.columns)
    return tuple(map(str, X.columns))


def fetch(values: Any) -> Any:
    """Return a whole Dask collection, in the order of its partitions."""
    cluster = current_cluster()
    found = cluster.compute(lambda: cluster.client.compute(values))
    return found.reset_index(drop=True) if hasattr(found, "reset_index") else found


@dataclass(frozen=True)
class Layout:
    """Distribution of columns over blocks and workers."""

    names: tuple[str, ...]
    """Names of the columns."""
    reading: EncodingOptions
    blocks: list[range]
    """Factors of each block."""
    columns: list[list[int]]
    """Columns of each block."""
    workers: list[str | None]
    """Preferred worker of each block."""

    @classmethod
    def make(cls, cluster: DaskCluster, names: tuple[str, ...], reading: EncodingOptions) -> "Layout":
        """Assign blocks to the workers in turn."""
        reading.of_columns(names, range(len(names)))  # raises an error for unknown names
        inputs, _ = group_columns(names, reading.factor_groups or {})
        blocks = cut_factors(len(inputs))
        alive: list[str | None] = [*cluster.workers] or [None]
        columns = [sorted(j for i in block for j in inputs[i]) for block in blocks]
        return cls(names, reading, blocks, columns, [alive[k % len(alive)] for k in range(len(blocks))])


class ClusterFactors(StoredFactors):
    """Columns of a table on the workers, as numbers that are not yet scaled."""

    def __init__(
        self,
        cluster: DaskCluster,
        n_rows: int,
        layout: Layout,
        read: Callable[[int, Sequence[int], str | None], Handle],
        raw: Sequence[Handle] = (),
        rows: NDArray[np.intp] | None = None,
    ) -> None:
        self._cluster, self._layout, self._read, self._raw, self._rows = cluster, layout, read, raw, rows
        self.names = layout.names
        self.n_rows = n_rows if rows is None else rows.size

    @cached_property
    def _encoded(self) -> list[Handle]:
        """Columns of each block, as numbers."""
        return [self._read(k, self._layout.columns[k], worker) for k, worker in enumerate(self._layout.workers)]

    def on_rows(self, rows: NDArray[np.intp]) -> "ClusterFactors":
        """Return some rows."""
        rows = rows if self._rows is None else self._rows[rows]
        some = ClusterFactors(self._cluster, self.n_rows, self._layout, self._read, self._raw, rows)
        vars(some)["_encoded"] = self._encoded  # read only once
        return some

    def find_gaps(self, rows: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Return a mask of the given rows that lack a value, and the number of such rows for each column."""
        shared = self._cluster.share(rows)
        found = self._cluster.compute(
            lambda: [
                self._cluster.submit(f"find gaps in block {k}", tasks.find_gaps, one.future, shared.future)
                for k, one in enumerate(self._encoded)
            ]
        )
        incomplete, counts = np.zeros(int(rows.sum()), dtype=bool), np.zeros(len(self.names), np.intp)
        for columns, (gaps, of_columns) in zip(self._layout.columns, found, strict=True):
            incomplete |= gaps
            counts[columns] = of_columns
        return incomplete, counts

    def design(self) -> Design:
        """Return the scaled factors, on the workers."""
        rows = None if self._rows is None else self._cluster.share(self._rows)
        blocks = [self._scaled(k, rows) for k in range(len(self._layout.blocks))]
        columns = place_columns(self._cluster, blocks)
        for one in (*self._encoded, *self._raw):
            one.release()  # created again if a worker is lost
        return columns.facts

    def _scaled(self, k: int, rows: Handle | None) -> Handle:
        layout, encoded = self._layout, self._encoded[k]
        return self._cluster.keep(
            lambda: self._cluster.submit(
                f"scale block {k}",
                tasks.place_block,
                encoded.future,
                None if rows is None else rows.future,
                layout.names,
                layout.columns[k],
                tuple(layout.blocks[k]),
                layout.reading,
                worker=layout.workers[k],
            )
        )


def spread(design: Design, cluster: DaskCluster) -> Design:
    """Send the factors of a table in memory here to the workers in blocks."""

    def owner(k: int) -> str | None:
        alive = cluster.workers
        return alive[k % len(alive)] if alive else None

    blocks = [
        cluster.share(tasks.Placed(design.on_factors(block), tuple(block)), partial(owner, k))
        for k, block in enumerate(design.blocks)
    ]
    return replace(place_columns(cluster, blocks).facts, inputs=design.inputs)
