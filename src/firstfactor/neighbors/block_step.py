"""A forward step for one block of candidates, cut into tasks that can be done anywhere."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from .candidate_search import CandidateSearch, TreeSearch
from .strategy import Floats

Item = TypeVar("Item")


class PartialStep(NamedTuple):
    """What some of the tasks of a step found."""

    alone: dict[int, float]
    """The mean variance in the base plus a candidate, for candidates that were searched by themselves."""
    shared: tuple[int, ...]
    """The candidates that were searched together."""
    sums: list[Floats]
    """The sums of variances over the rows of each task, (candidates,)."""
    weight: float
    """What all outer rows count together."""


@dataclass(frozen=True)
class BlockStep:
    """How the candidates of one block are searched in a base."""

    alone: tuple[int, ...]
    """Candidates that are searched by themselves."""
    search_alone: Callable[[Sequence[int]], Floats]
    """The mean variance in the base plus each of some candidates."""
    shared: CandidateSearch | None
    """The search for all others together."""
    weight: float
    """What all outer rows count together."""

    def run(self, part: int = 0, parts: int = 1) -> PartialStep:
        """One of so many parts of the step."""
        alone = _cut(self.alone, part, parts)
        means = dict(zip(alone, self.search_alone(alone).tolist(), strict=True))
        if self.shared is None:
            return PartialStep(means, (), [], self.weight)
        sums = self.shared.sums(_cut(self.shared.tasks(), part, parts))
        return PartialStep(means, tuple(self.shared.candidates), sums, self.weight)


def run_all(steps: Sequence[BlockStep]) -> dict[int, float]:
    """The mean variance in the base plus each candidate of several blocks.

    It is one search where each step is one in the same tree, cut into the same tasks, and there are no ties: in which
    order these are found depends on what is searched together, and so does the last bit.
    """
    searches = [step.shared for step in steps if isinstance(step.shared, TreeSearch) and not step.alone]
    is_one = len(searches) == len(steps) > 1 and len({len(search.tasks()) for search in searches}) == 1
    if is_one and not any(search.has_ties for search in searches):  # in the rows that were sampled
        together = searches[0].beside(searches[1:])
        found = replace(steps[0], shared=together).run()
        if not together.has_ties:
            return put_together([found])
    means: dict[int, float] = {}
    for step in steps:
        means |= put_together([step.run()])
    return means


def _cut(items: Sequence[Item], part: int, parts: int) -> Sequence[Item]:
    """One of so many parts of a list, one after the other."""
    return items[len(items) * part // parts : len(items) * (part + 1) // parts]


def put_together(parts: Sequence[PartialStep]) -> dict[int, float]:
    """The mean variance in the base plus each candidate, from all parts of a step in order.

    Sums are added task by task: the result has the same bits, however many parts there are.
    """
    means: dict[int, float] = {}
    for part in parts:
        means |= part.alone
    first = parts[0]
    if first.shared:
        total: Floats = np.sum([sums for part in parts for sums in part.sums], axis=0)
        means |= dict(zip(first.shared, (total / first.weight).tolist(), strict=True))
    return means
