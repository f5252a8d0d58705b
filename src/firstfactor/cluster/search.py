"""Searches on a cluster: in each step one factor is sent to all workers, and a number per candidate returned."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from ..data.design import Design
from ..neighbors.candidate_search import put_together
from ..neighbors.search import AskEach, Search, SingleFactors
from ..neighbors.strategy import DISCRETE, Floats
from . import tasks
from .client import DaskCluster, Handle
from .table import ClusterColumns

# Number of tasks of a step for each thread of the cluster, so that none waits long, and maximum number for a block.
TASKS_PER_THREAD, MOST_PARTS = 4, 64


def count_parts(n_blocks: int, n_workers: int, n_threads: int) -> int:
    """Return the number of tasks for the search of a block, given the numbers of workers and of all their threads.

    Where every worker has a block, more tasks than it has threads would wait, and move to others with the whole block.
    """
    most = MOST_PARTS if n_blocks < n_workers else max(n_threads // max(n_workers, 1), TASKS_PER_THREAD)
    return min(max(-(-TASKS_PER_THREAD * n_threads // n_blocks), 1), most)


def kind_of_search(design: Design) -> type[Search]:
    """Return the class of search for a design: on the cluster if its factors are there."""
    return ClusterSearch if isinstance(design.values, ClusterColumns) else Search


@dataclass(frozen=True)
class ClusterSearch(Search):
    """`Search` whose factors are on the workers of a cluster."""

    def _again(self, design: Design, **changes: Any) -> Search:
        """Return the same kind of search in another design; one that is in memory is searched here."""
        return kind_of_search(design)(design=design, workers=self.workers, **changes)

    @property
    def _stored(self) -> ClusterColumns:
        return cast(ClusterColumns, self.design.values)

    @property
    def _cluster(self) -> DaskCluster:
        return self._stored.cluster

    @cached_property
    def _space(self) -> Handle:
        """Data that every worker needs, sent once."""
        return self._cluster.share(tasks.SearchData(self.y, self.outer, self.n_neighbors, self.weights, self.groups))

    @cached_property
    def _known(self) -> Handle:
        return self._cluster.share(self.columns(self.design.varying))

    @cached_property
    def _factors(self) -> dict[int, Handle]:
        """Handles of the single factors of bases."""
        return {}

    def _factor(self, factor: int) -> Any:
        """Return the future of one factor; it stays on the workers that have used it."""
        if factor not in self._factors:
            block, name = self._stored.blocks[self._block(factor)], f"take {self.design.names[factor]}"
            self._factors[factor] = self._cluster.keep(
                lambda: self._cluster.submit(name, tasks.take_factor, block.future, factor)
            )
        return self._factors[factor].future

    def close(self) -> None:
        """Release everything kept on the cluster for this search."""
        self._cluster.release()

    def _block(self, factor: int) -> int:
        """Return the index of the block of a factor."""
        return next(k for k, block in enumerate(self.design.blocks) if factor in block)

    def _by_block(self, factors: Sequence[int]) -> dict[int, list[int]]:
        """Return some factors by the index of their block."""
        return {self._block(some[0]): some for some in self.design.in_blocks(factors)}

    def columns(self, factors: Sequence[int]) -> SingleFactors:  # noqa: ARG002
        """Return results for all factors alone, computed once, where they are stored."""
        return self.known if self.known is not None else self._described

    @cached_property
    def _described(self) -> SingleFactors:
        """Results for all factors alone."""

        def submit() -> list[Any]:
            owners = self._stored.owners()
            return [
                self._cluster.submit(
                    f"sort columns of block {k}", tasks.describe, block.future, self._space.future, worker=owners.get(k)
                )
                for k, block in enumerate(self._stored.blocks)
            ]

        parts: list[SingleFactors] = self._cluster.compute(submit)
        variance = np.concatenate([part.variance for part in parts])
        distinct = np.concatenate([part.distinct for part in parts])
        return SingleFactors(
            variance, distinct, np.where(distinct <= DISCRETE * self.design.n_rows, distinct, np.inf), {}
        )

    def _variances_alone(self, factors: Sequence[int]) -> Floats:
        """Return the mean variance of y in the balls of each factor alone."""
        variance = self.columns(factors).variance.copy()
        sought = [i for i in factors if self.groups is not None or not self.design.single[i]]
        cut = self._by_block(sought)
        found = self._cluster.compute(
            lambda: [
                self._cluster.submit(
                    f"search columns of block {k}",
                    tasks.search_alone,
                    self._stored.blocks[k].future,
                    self._space.future,
                    self.columns(sought).of(self.design.blocks[k]),
                    some,
                )
                for k, some in cut.items()
            ]
        )
        for some, means in zip(cut.values(), found, strict=True):
            variance[some] = means
        return variance[list(factors)]

    def map_remote(self, ask: AskEach, base: Sequence[int], candidates: Sequence[int]) -> Floats:
        """Return a function of each candidate, (candidates,), evaluated where its block is."""
        cut = self._by_block(candidates)

        def submit() -> list[Any]:
            factors = [self._factor(i) for i in base]
            return [
                self._cluster.submit(
                    f"step {len(base) + 1} fit block {k}",
                    tasks.search_each,
                    self._stored.blocks[k].future,
                    factors,
                    self._space.future,
                    self._known.future,
                    ask,
                    [i],
                )
                for k, some in cut.items()
                for i in some
            ]

        in_order = [i for some in cut.values() for i in some]
        found = dict(zip(in_order, self._cluster.compute(submit), strict=True))
        return np.concatenate([found[i] for i in candidates])

    def plus_each(self, base: Sequence[int], candidates: Sequence[int]) -> Floats:
        """Return the mean variance in ``base`` plus each candidate; tasks are parts of blocks, run where these are."""
        if not base:
            return self._variances_alone(candidates)
        cut = self._by_block(candidates)
        step, n_workers = len(base) + 1, len(self._cluster.workers)
        parts = count_parts(len(cut), n_workers, self._cluster.n_threads)
        is_even = len(cut) % max(n_workers, 1) == 0  # else some workers would have to wait for others

        def submit() -> list[list[Any]]:
            factors, owners = [self._factor(i) for i in base], self._stored.owners()
            return [submit_block(k, factors, owners.get(k)) for k in cut]

        def submit_block(k: int, factors: list[Any], owner: str | None) -> list[Any]:
            prepared = self._cluster.submit(
                f"step {step} prepare block {k}",
                tasks.prepare,
                self._stored.blocks[k].future,
                factors,
                self._space.future,
                self._known.future,
                cut[k],
                worker=owner,
            )
            # Submitted right behind it: tasks run in order of submission, and a prepared block takes memory.
            worker, name = owner if is_even else None, f"step {step} search block {k}"
            return [
                self._cluster.submit(name, tasks.run_part, prepared, part, parts, worker=worker)
                for part in range(parts)
            ]

        found: dict[int, float] = {}
        for some in self._cluster.compute(submit):
            found |= put_together(some)
        return np.array([found[i] for i in candidates])

    def _each_alone(self, sets: list[tuple[int, ...]]) -> Floats:
        """Return the mean variance in each of some sets, one task each."""

        def submit() -> list[Any]:
            return [
                self._cluster.submit(
                    f"search {len(factors)} factors",
                    tasks.search_set,
                    [self._factor(i) for i in factors],
                    self._space.future,
                    self._known.future,
                )
                for factors in sets
                if factors
            ]

        found = iter(self._cluster.compute(submit))
        return np.array([next(found) if factors else self.response_variance for factors in sets])
