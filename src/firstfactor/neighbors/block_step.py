"""Forward step for one block of candidates, cut into tasks that can run anywhere."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from .candidate_search import CandidateSearch, TreeSearch
from .strategy import Floats

Item = TypeVar("Item")


class PartialStep(NamedTuple):
    """Results of some of the tasks of a step."""

    alone: dict[int, float]
    """Mean variance in the base plus a candidate, for candidates that were searched separately."""
    shared: tuple[int, ...]
    """Candidates that were searched together."""
    sums: list[Floats]
    """Sums of variances over the rows of each task, (candidates,)."""
    weight: float
    """Total weight of all outer rows."""


@dataclass(frozen=True)
class BlockStep:
    """Plan of the search for the candidates of one block in a base."""

    alone: tuple[int, ...]
    """Candidates that are searched separately."""
    search_alone: Callable[[Sequence[int]], Floats]
    """Function that returns the mean variance in the base plus each of some candidates."""
    shared: CandidateSearch | None
    """Search for all other candidates together."""
    weight: float
    """Total weight of all outer rows."""

    def run(self, part: int = 0, parts: int = 1) -> PartialStep:
        """Run part number ``part`` of ``parts`` of the step."""
        alone = _cut(self.alone, part, parts)
        means = dict(zip(alone, self.search_alone(alone).tolist(), strict=True))
        if self.shared is None:
            return PartialStep(means, (), [], self.weight)
        sums = self.shared.sums(_cut(self.shared.tasks(), part, parts))
        return PartialStep(means, tuple(self.shared.candidates), sums, self.weight)


def run_all(steps: Sequence[BlockStep]) -> dict[int, float]:
    """Return the mean variance in the base plus each candidate of several blocks.

    One search serves all blocks if each step searches the same tree, cut into the same tasks, and there are no ties:
    the order in which ties are found depends on what is searched together, and so does the last bit.
    """
    searches = [step.shared for step in steps if isinstance(step.shared, TreeSearch) and not step.alone]
    is_one = len(searches) == len(steps) > 1 and len({len(search.tasks()) for search in searches}) == 1
    if is_one and not any(search.has_ties for search in searches):  # in the sampled rows
        together = searches[0].beside(searches[1:])
        found = replace(steps[0], shared=together).run()
        if not together.has_ties:
            return put_together([found])
    means: dict[int, float] = {}
    for step in steps:
        means |= put_together([step.run()])
    return means


def _cut(items: Sequence[Item], part: int, parts: int) -> Sequence[Item]:
    """Return one of ``parts`` consecutive parts of a list."""
    return items[len(items) * part // parts : len(items) * (part + 1) // parts]


def put_together(parts: Sequence[PartialStep]) -> dict[int, float]:
    """Return the mean variance in the base plus each candidate, from all parts of a step in order.

    Sums are added task by task, so that the result is bit-for-bit identical for any number of parts.
    """
    means: dict[int, float] = {}
    for part in parts:
        means |= part.alone
    first = parts[0]
    if first.shared:
        total: Floats = np.sum([sums for part in parts for sums in part.sums], axis=0)
        means |= dict(zip(first.shared, (total / first.weight).tolist(), strict=True))
    return means
