"""Backward elimination (Algorithm 2)."""

from collections.abc import Sequence

import numpy as np

from ..results.path import Step
from ..variance.conditional import Variances
from ..variance.totals import single_totals
from .selection import OnStep, Selection, first_best, ignore_step


def eliminate(
    variances: Variances,
    factors: Sequence[int],
    elimination: str,
    steps: Sequence[Step] = (),
    on_step: OnStep = ignore_step,
    forced: Sequence[int] = (),
) -> Selection:
    """Remove factors with a total index of 0 until all are positive (Algorithm 2); forced factors stay."""
    total = variances.response.variance
    kept = tuple(sorted(factors))
    steps = list(steps)
    while kept:
        totals = single_totals(variances, kept)
        explained = total - variances.minus_each(kept)
        removed = tuple(i for i, index in zip(kept, totals, strict=True) if index == 0 and i not in forced)
        if len(removed) > 1 and elimination == "single":
            best = first_best(explained[np.isin(kept, removed)], variances.tolerance)
            removed = (removed[best],)
        step = Step("elimination", kept, total - variances.of(kept), kept, explained, removed)
        steps.append(step)
        on_step(step)
        if not removed:
            break
        kept = tuple(i for i in kept if i not in removed)
    return Selection(kept=kept, steps=tuple(steps), total=total, n_rows=variances.design.n_rows, forced=tuple(forced))
