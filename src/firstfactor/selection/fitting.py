"""The FIRST procedure: select factors on all rows or on half of them, then estimate their importances."""

import sys
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .._utils import checks
from .._utils.text import without_controls
from ..dependence.shapley import fair_shares
from ..dependence.sharing import find_sharing
from ..inference.estimates import index_values
from ..inference.row_order import add_order
from ..inference.sample_size import diagnose_sample_size
from ..inference.standard_errors import plug_in
from ..inference.targets import Target, total_target
from ..results.indices import Indices
from ..results.path import Path, Step
from ..results.uncertainty import SampleSize, Uncertainty
from ..settings import Settings
from ..variance.conditional import Variances, halves
from ..variance.totals import single_totals
from .algorithms import eliminate, forward_rule, select_forward
from .compact import make_compact
from .selection import OnStep, Selection, StepCallback, first_best, ignore_step


def fit(variances: Variances, procedure: Settings, callback: StepCallback = ignore_step) -> Indices:
    """Select factors and estimate their importances, as `FIRST` does."""
    selecting, estimating = halves(variances) if procedure.split else (variances, variances)
    method = "FIRST-FAST" if procedure.forward == "fast" else "FIRST"
    if procedure.rule == "calibrated":
        method += f" (calibrated, alpha = {procedure.alpha:g})"
    selection = _select(selecting, procedure, callback)
    if procedure.split:
        # p-values from the rows used for selection are too small.
        selection = replace(selection, p_values=None, n_selection_rows=selecting.design.n_rows)
    elif selection.p_values is None:
        selection = replace(selection, p_values=np.full(len(selection.kept), np.nan))
    return estimate_selected(estimating, selection, method, procedure=procedure, cluster_cut=procedure.cluster_cut)


def choose(variances: Variances, procedure: Settings) -> tuple[int, ...]:
    """Return the positions of the factors that `fit` selects, without estimating importances."""
    selecting = halves(variances)[0] if procedure.split else variances
    return _select(selecting, procedure, ignore_step, explain=False).kept


def _select(variances: Variances, procedure: Settings, callback: StepCallback, explain: bool = True) -> Selection:
    """Select factors, and add some if there are fewer than ``min_factors``."""
    selection = _select_compact(variances, procedure, callback, explain)
    if len(selection.kept) - len(selection.forced) >= procedure.min_factors:
        return selection
    on_step = in_context(callback, variances.design.names, selection.response_variance)
    return _add_to_minimum(variances, selection, procedure.min_factors, on_step)


def _select_compact(variances: Variances, procedure: Settings, callback: StepCallback, explain: bool) -> Selection:
    """Select factors by the rule and, with ``compact``, reduce them to a small set that explains nearly as much."""
    selection = _select_by_rule(variances, procedure, callback, explain)
    is_flag = checks.is_boolean(procedure.compact)
    if (is_flag and not procedure.compact) or len(selection.kept) < 2:
        return selection
    tolerance, variances = float(procedure.compact), variances.around(selection.kept)
    if is_flag:
        target = total_target(selection.kept, [])
        sure = plug_in(variances, target, diagnose_sample_size(variances, selection.kept, variances.of(selection.kept)))
        tolerance = float(np.hypot(sure.r2, sure.r2_bias))
    return make_compact(
        variances, selection, tolerance, in_context(callback, variances.design.names, selection.response_variance)
    )


def _select_by_rule(variances: Variances, procedure: Settings, callback: StepCallback, explain: bool) -> Selection:
    names, forced = variances.design.names, find_forced(variances, procedure)
    if procedure.rule == "calibrated":
        from .calibrated import CalibratedRule  # only if it is needed

        rule = CalibratedRule(variances, procedure)
        return rule.select(in_context(callback, names, rule.response_variance), forced, procedure.max_factors, explain)
    on_step = in_context(callback, names, variances.response.variance)
    forward = forward_rule(procedure.forward)
    entered, steps = select_forward(variances, forward, on_step, forced, procedure.max_factors)
    return eliminate(variances, entered, procedure.elimination, steps, on_step, forced)


def _add_to_minimum(variances: Variances, selection: Selection, least: int, on_step: OnStep) -> Selection:
    """Add the factors that explain most beside the selected ones until there are ``least``, whatever the evidence."""
    unit = selection.response_variance / variances.response.variance  # the rule may have used some of the rows
    kept, steps = selection.kept, list(selection.steps)
    candidates = [i for i in variances.design.varying if i not in kept]
    while candidates and len(kept) - len(selection.forced) < least:
        explained = variances.response.variance - np.asarray(variances.plus_each(kept, candidates))
        best = candidates[first_best(explained, variances.tolerance)]
        base = variances.response.variance - variances.of(kept)
        steps.append(Step("minimum", kept, unit * base, tuple(candidates), unit * explained, (best,)))
        on_step(steps[-1])
        kept = tuple(sorted((*kept, best)))
        candidates.remove(best)
    p_values, evidence = selection.p_values, selection.evidence
    if p_values is not None:
        known = dict(zip(selection.kept, p_values.tolist(), strict=True))
        known |= {i: np.nan if evidence is None else evidence.p_values.get(i, np.nan) for i in kept if i not in known}
        p_values = np.array([known[i] for i in kept])
    if evidence is not None:
        evidence = evidence.without(kept)
    return replace(selection, kept=kept, steps=tuple(steps), p_values=p_values, evidence=evidence)


def find_forced(variances: Variances, procedure: Settings) -> tuple[int, ...]:
    """Return the positions of the forced factors, without constant ones, which distinguish no rows."""
    if procedure.forced is None:
        return ()
    forced = variances.design.locate("forced", procedure.forced)
    return tuple(i for i in forced if not variances.design.constant[i])


def in_context(callback: StepCallback, names: tuple[str, ...], total: float) -> OnStep:
    """Return a callback for single steps that adds the names of the factors and the response variance."""
    return lambda step: callback(Path(names, total, (step,)))


def log_step(path: Path) -> None:
    """Write the last step of a path to standard error."""
    phase, _, before, candidates, _, _, change = path.describe(path.steps[-1])
    line = f"[FIRST] {phase}: R² {before}, {candidates} candidates → {change}"
    print(without_controls(line), file=sys.stderr, flush=True)


def estimate_selected(
    variances: Variances,
    selection: Selection,
    method: str,
    uncertainty: bool = True,
    procedure: Settings | None = None,
    cluster_cut: float | str | None = Settings.cluster_cut,
) -> Indices:
    """Estimate the importances of selected factors, with standard errors if ``uncertainty``.

    ``procedure`` is that of `FIRST`. Results beyond the importances are computed on first access.
    """
    design, response, kept = variances.design, variances.response, selection.kept
    variances = variances.around(kept)
    values = np.zeros(design.n_factors)
    values[list(kept)], target, errors = _importances(variances, kept, procedure)
    noise = variances.of(kept)
    by_importance = sorted(kept, key=lambda i: -values[i])
    size = diagnose_sample_size(variances, by_importance, noise)
    sure, sharing = None, None
    if uncertainty:
        sure = variances.later(lambda: _uncertainty(variances, selection, target, size, errors))
    if uncertainty and cluster_cut is not None:
        sharing = variances.later(lambda: find_sharing(variances, kept, size, cluster_cut))
    return Indices(
        values=values,
        names=design.names,
        kinds=design.kinds,
        noise_variance=noise,
        response_variance=response.variance,
        n_rows=design.n_rows,
        n_averaged=variances.n_averaged,
        task=response.task,
        classes=response.classes,
        outputs=response.names,
        rows=variances.rows,
        inputs=design.inputs,
        method=method,
        estimator=variances.estimator,
        procedure=procedure,
        path=Path(
            design.names, selection.response_variance, selection.steps, selection.n_rows, selection.n_selection_rows
        ),
        uncertainty=sure,
        sample_size=size,
        kept=kept,
        forced=selection.forced,
        missing=tuple(design.n_missing.tolist()),
        findings=variances.later(lambda: add_order(variances.examine_data(kept), variances, by_importance)),
        sharing=sharing,
        evidence=selection.evidence,
    )


def _uncertainty(
    variances: Variances,
    selection: Selection,
    target: Target,
    size: SampleSize,
    errors: NDArray[np.float64] | float,
) -> Uncertainty:
    """Estimate the uncertainty of the importances, with the p-values of the selection if it has any."""
    sure, evidence = plug_in(variances, target, size).add_error(errors), selection.evidence
    if selection.p_values is not None:
        sure = replace(sure, p_values=selection.p_values)
    sure = sure.expand(variances.design.n_factors, selection.kept)
    if evidence is not None and selection.p_values is not None:
        sure.p_values[list(evidence.p_values)] = list(evidence.p_values.values())
    return sure


def _importances(
    variances: Variances, kept: tuple[int, ...], procedure: Settings | None
) -> tuple[NDArray[np.float64], Target, NDArray[np.float64] | float]:
    """Return the importances of selected factors, their estimand, and their Monte Carlo error."""
    if procedure is not None and procedure.importance == "shapley":
        shares = fair_shares(variances, kept)
        return index_values(variances, shares.target), shares.target, shares.errors
    rests = [tuple(j for j in kept if j != i) for i in kept]
    return single_totals(variances, kept), total_target(kept, rests), 0.0
