"""Columns of a table distributed over workers."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.design import Design, join_designs
from ..data.stored_columns import ColumnsElsewhere, Floats, OfBlock, OfColumn, StoredColumns, cut_factors
from . import tasks
from .client import Cluster, Handle

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


class ClusterColumns(ColumnsElsewhere):
    """Columns in blocks on workers; single columns are fetched when needed."""

    def __init__(self, cluster: Cluster, blocks: Sequence[Handle], facts: Sequence[Design]) -> None:
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


def place_columns(cluster: Cluster, blocks: Sequence[Handle]) -> ClusterColumns:
    """Return the columns of blocks that are on the cluster."""
    cluster.keep_copies()
    facts = cluster.compute(
        lambda: [cluster.submit(f"describe block {k}", tasks.facts_of, block.future) for k, block in enumerate(blocks)]
    )
    return ClusterColumns(cluster, blocks, facts)
