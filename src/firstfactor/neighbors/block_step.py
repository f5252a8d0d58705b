"""A forward step for one block of candidates, cut into tasks that can be done anywhere."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from .candidate_search import CandidateSearch
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
