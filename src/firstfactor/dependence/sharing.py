"""Shared information of the factors of a result: shares alone, the dependence tree, clusters and exchanges."""

from dataclasses import replace

import numpy as np

from ..inference.estimates import estimate
from ..inference.targets import FactorSet, closed_target
from ..results.estimates import Estimates
from ..results.indices import Indices
from ..results.sharing import Sharing
from ..results.uncertainty import SampleSize
from ..variance.conditional import Variances
from .clusters import Cutter
from .constants import MOST_ALONE
from .tree import compare_factors, grow_tree


def find_sharing(variances: Variances, kept: FactorSet, size: SampleSize, cut: float | str) -> Sharing:
    """Analyse the information that the selected factors share with each other and with factors related to them.

    ``cut`` is the share of each other that the factors of a cluster explain, or "auto": see
    `firstfactor.dependence.clusters`.
    """
    kept = tuple(sorted(i for i in kept if not variances.design.constant[i]))  # if selected on other rows
    leaves, matrix = compare_factors(variances, kept, [i for i in variances.design.varying if i not in kept])
    grown = grow_tree(variances, kept, leaves, matrix, size)  # first, while the sets that it needs are still cached
    alone = explain_alone(variances, kept, leaves, size)
    if grown is None:
        return Sharing(alone)
    cutter = Cutter(variances, kept, *grown, None if isinstance(cut, str) else cut)
    return Sharing(alone, cutter.clusters(), grown[0], cutter.exchanges(size))


def add_sharing(variances: Variances, indices: Indices, cut: float | str | None) -> Indices:
    """Add shared information to a result on all factors, if it has standard errors and ``cut`` is not None."""
    if cut is None or indices.uncertainty is None:
        return indices
    sharing = find_sharing(variances, variances.design.varying, indices.sample_size, cut)
    return replace(indices, sharing=sharing)


def explain_alone(variances: Variances, kept: FactorSet, leaves: FactorSet, size: SampleSize) -> Estimates:
    """Estimate the share of the variance explained by the selected factors that each factor explains by itself.

    Factors that explain little and are not in the tree have no standard error. Their shares are estimated from nearest
    rows, which are close in a single factor.
    """
    design, variance = variances.design, variances.response.variance
    values, unknown = np.zeros(design.n_factors), np.full(design.n_factors, np.nan)
    explained = variance - variances.of(kept)
    if explained <= variances.tolerance:  # shares of nothing are undefined
        return Estimates(unknown, unknown, unknown, unknown)
    varying = list(design.varying)
    values[varying] = (variance - variances.search.plus_each((), varying)) / explained
    most = np.argsort(-values, kind="stable")[:MOST_ALONE].tolist()
    looked_at = [i for i in varying if i in {*leaves, *most}]
    found = estimate(variances, closed_target(kept, [(i,) for i in looked_at]), size)
    values[looked_at] = found.values
    return found.expand(design.n_factors, looked_at, np.clip(values, 0.0, 1.0))
