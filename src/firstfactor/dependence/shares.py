"""Closed indices and Shapley effects of all factors, without a selection."""

import numpy as np

from ..data.table import Factors
from ..inference.estimates import index_values
from ..inference.sample_size import diagnose_sample_size
from ..inference.standard_errors import plug_in
from ..inference.targets import closed_target
from ..inference.totals import relative_to_all
from ..results.indices import Indices
from ..variance.conditional import Variances
from .shapley import fair_shares


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


def estimate_shapley(variances: Variances, uncertainty: bool) -> Indices:
    """Estimate the Shapley effect of every factor, with standard errors if ``uncertainty``."""
    everything, sure = variances.design.varying, None
    variances = variances.around(everything)
    shares = fair_shares(variances, everything, uncertainty)
    size = diagnose_sample_size(variances, everything, variances.of(everything))
    if uncertainty:
        sure = plug_in(variances, shares.target, size)
        sure = sure.add_error(shares.errors)
    values = index_values(variances, shares.target)
    order = [everything[k] for k in np.argsort(-values, kind="stable").tolist()]
    return relative_to_all(variances, "Shapley", values, sure, size, order)
