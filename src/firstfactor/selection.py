"""Forward selection and backward elimination.

Ties between factors go to the one that stands first in the table. Explained variances that differ by less
than 1e-12 of Var(Y) are tied: such differences come from rounding.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from . import _checks
from .crowding import look_around, warn_if_crowded
from .data_quality import examine, warn_of_data
from .indices import Indices, single_totals
from .path import Path, Step
from .text import without_controls
from .uncertainty import Question, plug_in
from .variance import Options, Variances, open_variances

Report = Callable[[Step], None]


@dataclass(frozen=True)
class ForwardRule:
    """How forward selection goes on: the difference between Algorithms 3 and S1."""

    drops: bool
    """Whether candidates that do not help now are not looked at again in the same pass."""
    strict: bool
    """Whether a candidate must gain to enter and to stay, or merely not lose."""
    passes: int


def forward_rule(forward: str | int) -> ForwardRule:
    """Return the rule that the parameter ``forward`` stands for."""
    if _checks.is_integer(forward):
        if int(forward) < 1:
            raise ValueError(f"forward must be at least 1 pass; got {forward!r}.")
        return ForwardRule(drops=True, strict=True, passes=int(forward))
    if forward == "full":
        return ForwardRule(drops=False, strict=True, passes=1)
    if forward == "fast":
        return ForwardRule(drops=True, strict=False, passes=1)
    raise ValueError(
        f'forward must be "full" (Algorithm 3), "fast" (FIRST-FAST) or a number of passes; got {forward!r}.'
    )


def backward_elimination(
    X: Any, y: Any, *, elimination: str = "batch", uncertainty: bool = False, **options: Unpack[Options]
) -> Indices:
    """Estimate importances after backward elimination from all factors (NANNE-BE, Algorithm 2).

    Factors with a total index of 0 are removed and the others estimated anew, until all are positive.

    Parameters
    ----------
    X, y, **options
        As in `total_indices`.
    elimination : {"batch", "single"}
        Whether to remove all factors with index 0 at a time, or only the least useful one.
    uncertainty : bool
        Whether to compute standard errors and p-values as well.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import backward_elimination
    >>> X = np.random.default_rng(0).uniform(size=(500, 3))
    >>> y = np.sin(6 * X[:, 0]) + X[:, 1]
    >>> backward_elimination(X, y)
    NANNE-BE: Var(Y) = 0.6288, of which explained 0.6253 and noise 0.003544
    factor  importance
    x0          0.8138
    x1          0.1012
    x2          0.0000
    """
    _check_elimination(elimination)
    with open_variances(X, y, **options) as variances:
        selection = eliminate(variances, variances.design.varying, elimination)
        indices = appraise(variances, selection, "NANNE-BE", uncertainty)
    warn_of_data(indices.findings)
    warn_if_crowded(indices.crowding, len(selection.kept), indices.n_rows)
    return indices


@dataclass(frozen=True)
class Selection:
    """Factors that were selected, and how."""

    kept: tuple[int, ...]
    steps: tuple[Step, ...]
    total: float
    """The variance that the steps explain parts of."""
    n_rows: int
    """How many rows it was made on."""
    p_values: NDArray[np.float64] | None = None
    """Evidence for each factor kept, where the rule asks for it."""
    rows_apart: int = 0
    """How many rows were set apart for it, if importances are to be estimated on others."""


def select(variances: Variances, forward: str | int, elimination: str, report: Report) -> Selection:
    """FIRST: forward selection, then backward elimination (Algorithm 3, or S1 for ``forward="fast"``)."""
    rule = forward_rule(forward)
    _check_elimination(elimination)
    entered, steps = select_forward(variances, rule, report)
    return eliminate(variances, entered, elimination, steps, report)


def appraise(variances: Variances, selection: Selection, method: str, uncertainty: bool = True) -> Indices:
    """Estimate the importance of selected factors, and how sure that is."""
    design, response, kept = variances.design, variances.response, selection.kept
    values, sure = np.zeros(design.n_factors), None
    values[list(kept)] = single_totals(variances, kept)
    if uncertainty:
        sure = plug_in(variances, Question(kept, tuple(tuple(j for j in kept if j != i) for i in kept)))
        if selection.p_values is not None:
            sure = replace(sure, p_values=selection.p_values)
        sure = sure.spread_over(design.n_factors, kept)
    noise = variances.of(kept)
    crowding = look_around(variances, sorted(kept, key=lambda i: -values[i]), noise)
    return Indices(
        values,
        design.names,
        design.kinds,
        noise,
        response.variance,
        design.n_rows,
        response.task,
        method,
        Path(design.names, selection.total, selection.steps, selection.n_rows, selection.rows_apart),
        sure,
        crowding,
        kept,
        examine(variances, kept),
    )


def select_forward(variances: Variances, rule: ForwardRule, report: Report) -> tuple[tuple[int, ...], list[Step]]:
    """Enter factors one at a time, the one that explains most first, until none helps."""
    entered: tuple[int, ...] = ()
    steps: list[Step] = []
    for _ in range(rule.passes):
        before = entered
        candidates = tuple(i for i in variances.design.varying if i not in entered)
        while candidates:
            step = _forward_step(variances, entered, candidates, rule)
            steps.append(step)
            report(step)
            if not step.chosen:
                break
            entered += step.chosen
            candidates = _still_open(step, rule, variances.tolerance)
        if entered == before:
            break
    return entered, steps


def _forward_step(variances: Variances, base: tuple[int, ...], candidates: tuple[int, ...], rule: ForwardRule) -> Step:
    """Find the candidate with the largest V̂ of the base with it, and let it in if that helps."""
    total = variances.response.variance
    base_explained = total - variances.of(base)
    explained = total - variances.plus_each(base, candidates)
    best = _first_best(explained, variances.tolerance)
    chosen: tuple[int, ...] = ()
    if _helps(explained[best] - base_explained, rule, variances.tolerance):
        chosen = (candidates[best],)
    return Step("forward", base, base_explained, candidates, explained, chosen)


def _still_open(step: Step, rule: ForwardRule, tolerance: float) -> tuple[int, ...]:
    """Return the candidates left for the next step."""
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
    report: Report = lambda _: None,
) -> Selection:
    """Remove factors that add nothing until every one left does (Algorithm 2)."""
    total = variances.response.variance
    kept = tuple(sorted(factors))
    steps = list(steps)
    while kept:
        totals = single_totals(variances, kept)
        explained = total - variances.minus_each(kept)
        removed = tuple(i for i, index in zip(kept, totals, strict=True) if index == 0)
        if removed and elimination == "single":
            removed = (kept[_first_best(explained, variances.tolerance)],)
        step = Step("elimination", kept, total - variances.of(kept), kept, explained, removed)
        steps.append(step)
        report(step)
        if not removed:
            break
        kept = tuple(i for i in kept if i not in removed)
    return Selection(kept, tuple(steps), total, variances.design.n_rows)


def _check_elimination(elimination: str) -> None:
    _checks.one_of("elimination", elimination, ("batch", "single"))


def _first_best(scores: NDArray[np.float64], tolerance: float) -> int:
    return int(np.flatnonzero(scores >= scores.max() - tolerance)[0])


def narrate(names: tuple[str, ...], response_variance: float) -> Report:
    """Return a report that writes each step to standard error as it happens."""
    path = Path(names, response_variance, ())

    def write(step: Step) -> None:
        phase, _, before, candidates, _, _, change = path.describe(step)
        line = f"[FIRST] {phase}: R² {before}, {candidates} candidates → {change}"
        print(without_controls(line), file=sys.stderr, flush=True)

    return write
