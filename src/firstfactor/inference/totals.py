"""Total indices (Algorithm 1) and closed indices of all factors, or of a set, without a selection."""

from collections.abc import Sequence

import numpy as np

from ..data.table import Factors
from ..neighbors.strategy import Floats
from ..results.indices import Indices
from ..results.uncertainty import SampleSize, Uncertainty
from ..variance.conditional import Variances
from ..variance.totals import group_total, single_totals
from .estimates import index_values
from .row_order import add_order
from .sample_size import diagnose_sample_size
from .standard_errors import by_subsamples, plug_in
from .targets import FactorSet, closed_target, total_target


def estimate_totals(
    variances: Variances, subset: Factors | None = None, noise: bool = True, method: str | None = None
) -> Indices:
    """Compute the total index of every factor, or of a set, with standard errors by ``method`` unless it is None."""
    design, everything = variances.design, variances.design.varying
    variances = variances.around(everything)
    group = None if subset is None else design.locate("subset", subset)
    if group is None:
        values = single_totals(variances, everything, noise)
        rests = [tuple(j for j in everything if j != i) for i in everything]
        order = [everything[k] for k in np.argsort(-values, kind="stable").tolist()]
    else:
        values = np.array([group_total(variances, everything, group, noise)])
        rests, order = [tuple(i for i in everything if i not in group)], list(everything)
    uncertainty, size = None, diagnose_sample_size(variances, order, variances.of(everything))
    if method is not None:
        estimate = plug_in if method == "plug-in" else by_subsamples
        uncertainty = estimate(variances, total_target(everything, rests, noise), size)
    return relative_to_all(variances, "NANNE" if noise else "NN", values, uncertainty, size, order, group)


def estimate_closed(variances: Variances, subset: Factors | None = None) -> Indices:
    """Estimate the closed index of every factor, or of a set, with standard errors."""
    everything = variances.design.varying
    variances = variances.around(everything)
    group = None if subset is None else variances.design.locate("subset", subset)
    known = set(everything)
    sets = [(i,) for i in everything] if group is None else [tuple(i for i in group if i in known)]
    target = closed_target(everything, sets)
    size = diagnose_sample_size(variances, everything, variances.of(everything))
    sure = plug_in(variances, target, size)
    values = np.maximum(index_values(variances, target), 0.0)
    return relative_to_all(variances, "closed", values, sure, size, everything, group)


def relative_to_all(
    variances: Variances,
    method: str,
    values: Floats,
    uncertainty: Uncertainty | None,
    size: SampleSize,
    order: Sequence[int],
    group: FactorSet | None = None,
) -> Indices:
    """Return the result of a method on all factors: a value for each varying factor, or for a set of them.

    ``order`` lists the factors, most important first.
    """
    design, everything = variances.design, variances.design.varying
    names, kinds, positions = design.names, design.kinds, everything
    if group is not None:
        names, kinds, positions = (" + ".join(design.names[i] for i in group),), (), (0,)
    all_values = np.zeros(len(names))
    all_values[list(positions)] = values
    return Indices(
        values=all_values,
        names=names,
        kinds=kinds,
        noise_variance=0.0 if method == "NN" else variances.of(everything),
        response_variance=variances.response.variance,
        n_rows=design.n_rows,
        n_averaged=variances.n_averaged,
        task=variances.response.task,
        classes=variances.response.classes,
        outputs=variances.response.names,
        rows=variances.rows,
        inputs=design.inputs if group is None else (),
        missing=tuple(design.n_missing.tolist()) if group is None else (),
        method=method,
        estimator=variances.estimator,
        uncertainty=None if uncertainty is None else uncertainty.expand(len(names), positions),
        sample_size=size,
        kept=None if method in ("NANNE", "NN") else tuple(positions),
        findings=variances.later(lambda: add_order(variances.examine_data(everything), variances, order)),
    )
