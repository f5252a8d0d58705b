"""The paper's algorithms: forward selection (3 and S1), backward elimination (2), and a ranking by forward steps.

Ties between factors go to the one that comes first in the table. Explained variances that differ by less than 1e-12 of
Var(Y) are tied: such differences are due to rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..results.path import Step
from ..variance.conditional import Variances
from ..variance.totals import single_totals
from .selection import OnStep, Selection, first_best, ignore_step


@dataclass(frozen=True)
class ForwardRule:
    """Variant of forward selection: the difference between Algorithms 3 and S1."""

    drops: bool
    """True if candidates that do not help now are not tried again in the same pass."""
    strict: bool
    """True if a candidate must raise the explained variance to help; False if it must only not lower it."""
    passes: int


def forward_rule(forward: str | int) -> ForwardRule:
    """Return the rule for a value of the parameter ``forward``."""
    if forward == "full":
        return ForwardRule(drops=False, strict=True, passes=1)
    if forward == "fast":
        return ForwardRule(drops=True, strict=False, passes=1)
    return ForwardRule(drops=True, strict=True, passes=int(forward))


def select_forward(
    variances: Variances, rule: ForwardRule, on_step: OnStep, forced: tuple[int, ...] = (), most: int | None = None
) -> tuple[tuple[int, ...], list[Step]]:
    """Add factors one at a time, the one that explains most first, until none helps or ``most`` have entered.

    Forced factors are in the set from the beginning.
    """
    entered = forced
    steps: list[Step] = []
    for _ in range(rule.passes):
        before = entered
        candidates = tuple(i for i in variances.design.varying if i not in entered)
        while candidates and (most is None or len(entered) - len(forced) < most):
            step = _forward_step(variances, entered, candidates, rule)
            steps.append(step)
            on_step(step)
            if not step.chosen:
                break
            entered += step.chosen
            candidates = _still_open(step, rule, variances.tolerance)
        if entered == before:
            break
    return entered, steps


def _forward_step(variances: Variances, base: tuple[int, ...], candidates: tuple[int, ...], rule: ForwardRule) -> Step:
    """Find the candidate with the largest V̂ together with the base, and add it if that helps."""
    total = variances.response.variance
    base_explained = total - variances.of(base)
    explained = total - variances.plus_each(base, candidates)
    best = first_best(explained, variances.tolerance)
    chosen: tuple[int, ...] = ()
    if _helps(explained[best] - base_explained, rule, variances.tolerance):
        chosen = (candidates[best],)
    return Step("forward", base, base_explained, candidates, explained, chosen)


def _still_open(step: Step, rule: ForwardRule, tolerance: float) -> tuple[int, ...]:
    """Return the candidates for the next step."""
    gains = step.explained - step.base_explained
    return tuple(
        i
        for i, gain in zip(step.candidates, gains, strict=True)
        if i not in step.chosen and not (rule.drops and not _helps(gain, rule, tolerance))
    )


def _helps(gain: float, rule: ForwardRule, tolerance: float) -> bool:
    return bool(gain > tolerance if rule.strict else gain >= -tolerance)


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
    return Selection(
        kept=kept, steps=tuple(steps), response_variance=total, n_rows=variances.design.n_rows, forced=tuple(forced)
    )


def rank_by_gain(variances: Variances) -> tuple[int, ...]:
    """Order all varying factors, without a stopping rule; each explains most together with those before it.

    With noise, the explained variance can fall with every factor: the order depends on its value, not on its gain.
    """
    order: tuple[int, ...] = ()
    left = list(variances.design.varying)
    while left:
        best = first_best(-np.asarray(variances.plus_each(order, left)), variances.tolerance)
        order += (left.pop(best),)
    return order
