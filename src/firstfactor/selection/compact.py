"""Compact selection: a small set of factors that explains nearly as much as all selected ones."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from ..evidence.constants import MAX_EXCHANGES
from ..results.path import Step
from ..variance.conditional import Variances
from .selection import OnStep, Selection


class CompactSearch:
    """Search for a small set of factors that explains at most ``tolerance``, a share of Var(Y), less than the best."""

    def __init__(self, variances: Variances, selection: Selection, tolerance: float) -> None:
        self._variances = variances
        self._forced = selection.forced
        self._total = variances.response.variance
        self._tolerance = tolerance * self._total
        self._unit = selection.response_variance / self._total  # earlier steps may have been measured on fewer rows
        self._all = selection.kept
        self._best = self._explained(selection.kept)
        """Variance that the best set so far explains."""

    def narrow(self, kept: tuple[int, ...]) -> Step:
        """Return a step that removes a factor or exchanges two for one; its ``chosen`` is empty if neither is possible.

        The factor with the smallest loss is removed; forced factors stay. If none can be removed, two may be exchanged
        for a factor that was removed before: of several that can replace each other, the best one is then kept.
        """
        free = tuple(i for i in kept if i not in self._forced)
        explained = self._total - self._variances.minus_each(kept)[np.isin(kept, free)]
        self._best = max(self._best, float(explained.max(initial=0.0)))
        chosen: tuple[int, ...]
        if free and self._is_enough(float(explained.max())):
            chosen = (free[int(np.argmax(explained))],)
        else:
            chosen = self._exchange(kept, free)
        return Step("compact", kept, self._unit * self._explained(kept), free, self._unit * explained, chosen)

    def _exchange(self, kept: tuple[int, ...], free: tuple[int, ...]) -> tuple[int, ...]:
        """Return two factors that leave and one that returns, if the new set explains enough; otherwise nothing."""
        tried = list(self._exchanges(kept, free))
        if not tried or len(tried) > MAX_EXCHANGES:
            return ()
        explained = self._variances.search.workers.map(lambda change: self._explained(_change(kept, change)), tried)
        best = int(np.argmax(explained))
        return tried[best] if self._is_enough(explained[best]) else ()

    def _exchanges(self, kept: tuple[int, ...], free: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        for two in combinations(free, 2):
            for other in self._all:
                if other not in kept:
                    yield (*two, other)

    def _is_enough(self, explained: float) -> bool:
        return self._best - explained <= self._tolerance

    def _explained(self, factors: tuple[int, ...]) -> float:
        return self._total - self._variances.of(factors)


def make_compact(variances: Variances, selection: Selection, tolerance: float, on_step: OnStep) -> Selection:
    """Remove factors from a selection at a total cost of at most ``tolerance``, a share of Var(Y)."""
    search, kept, steps = CompactSearch(variances, selection, tolerance), selection.kept, list(selection.steps)
    while len(kept) > 1:
        step = search.narrow(kept)
        steps.append(step)
        on_step(step)
        if not step.chosen:
            break
        kept = _change(kept, step.chosen)
    return selection.narrow(kept, tuple(steps))


def _change(kept: tuple[int, ...], changed: tuple[int, ...]) -> tuple[int, ...]:
    """Return a set of factors after ``changed`` left it or, if they were not in it, entered."""
    return tuple(sorted(set(kept).symmetric_difference(changed)))
