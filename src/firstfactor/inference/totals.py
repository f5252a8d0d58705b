"""Total indices of all factors, or of a set, without a selection (Algorithm 1)."""

import numpy as np

from ..data.table import Factors
from ..results.indices import Indices
from ..variance.conditional import Variances
from ..variance.totals import group_total, single_totals
from .row_order import add_order
from .sample_size import diagnose_sample_size
from .standard_errors import by_subsamples, plug_in
from .targets import total_target


def estimate_totals(
    variances: Variances, subset: Factors | None = None, noise: bool = True, method: str | None = None
) -> Indices:
    """The total index of every factor, or of a set; with standard errors by ``method`` unless that is None."""
    design, everything = variances.design, variances.design.varying
    if subset is None:
        names, kinds, positions = design.names, design.kinds, everything
        values = np.zeros(design.n_factors)
        values[list(everything)] = single_totals(variances, everything, noise)
        rests = tuple(tuple(j for j in everything if j != i) for i in everything)
        order = sorted(everything, key=lambda i: -values[i])
    else:
        group = design.locate("subset", subset)
        names, kinds, positions = (" + ".join(design.names[i] for i in group),), (), (0,)
        values = np.array([group_total(variances, everything, group, noise)])
        rests = (tuple(i for i in everything if i not in group),)
        order = list(everything)
    uncertainty, left = None, variances.of(everything)
    size = diagnose_sample_size(variances, order, left)
    if method is not None:
        estimate = plug_in if method == "plug-in" else by_subsamples
        uncertainty = estimate(variances, total_target(everything, rests, noise), size).expand(len(names), positions)
    return Indices(
        values=values,
        names=names,
        kinds=kinds,
        noise_variance=left if noise else 0.0,
        response_variance=variances.response.variance,
        n_rows=design.n_rows,
        task=variances.response.task,
        classes=variances.response.classes,
        outputs=variances.response.names,
        rows=variances.rows,
        inputs=design.inputs if subset is None else (),
        missing=tuple(design.n_missing.tolist()) if subset is None else (),
        method="NANNE" if noise else "NN",
        estimator=variances.estimator,
        uncertainty=uncertainty,
        sample_size=size,
        findings=add_order(variances.examine_data(everything), variances, order),
    )
