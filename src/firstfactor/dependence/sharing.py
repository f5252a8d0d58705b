"""What the factors of a result share: what each explains alone, the tree, clusters and exchanges."""

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
from .tree import compare_factors, grow_tree

# Factors besides those in the tree whose share alone has a standard error: those that explain most.
MOST_ALONE = 10


def find_sharing(variances: Variances, kept: FactorSet, size: SampleSize, cut: float | str) -> Sharing:
    """What the selected factors and those related to them share.

    ``cut`` says how well the factors of a cluster explain each other, or is "auto": see
    `firstfactor.dependence.clusters`.
    """
    kept = tuple(sorted(i for i in kept if not variances.design.constant[i]))  # selected on other rows
    leaves, matrix = compare_factors(variances, kept, [i for i in variances.design.varying if i not in kept])
    grown = grow_tree(variances, kept, leaves, matrix, size)  # before others: sets that it needs are still cached
    alone = explain_alone(variances, kept, leaves, size)
    if grown is None:
        return Sharing(alone)
    cutter = Cutter(variances, kept, *grown, None if isinstance(cut, str) else cut)
    return Sharing(alone, cutter.clusters(), grown[0], cutter.exchanges(size))


def add_sharing(variances: Variances, indices: Indices, cut: float | str | None) -> Indices:
    """A result about all factors with what they share, if it has standard errors and ``cut`` is not None."""
    if cut is None or indices.uncertainty is None:
        return indices
    sharing = find_sharing(variances, variances.design.varying, indices.sample_size, cut)
    return replace(indices, sharing=sharing)


def explain_alone(variances: Variances, kept: FactorSet, leaves: FactorSet, size: SampleSize) -> Estimates:
    """What each factor explains by itself, as a share of what the selected ones explain: (factors,).

    Factors that explain little and are in no tree have no standard error, and come from nearest rows, which in one
    factor are near.
    """
    design, variance = variances.design, variances.response.variance
    values, unknown = np.zeros(design.n_factors), np.full(design.n_factors, np.nan)
    explained = variance - variances.of(kept)
    if explained <= variances.tolerance:  # there is nothing to have a share of
        return Estimates(unknown, unknown, unknown, unknown)
    varying = list(design.varying)
    values[varying] = (variance - variances.search.plus_each((), varying)) / explained
    most = np.argsort(-values, kind="stable")[:MOST_ALONE].tolist()
    looked_at = [i for i in varying if i in {*leaves, *most}]
    found = estimate(variances, closed_target(kept, [(i,) for i in looked_at]), size)
    values[looked_at] = found.values
    return found.expand(design.n_factors, looked_at, np.clip(values, 0.0, 1.0))
