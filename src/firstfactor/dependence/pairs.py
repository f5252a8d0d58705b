"""Interactions: pairs of factors that work together, and pairs that replace each other."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ..inference.estimates import estimate
from ..inference.targets import FactorSet, interaction_target
from ..results.interactions import Interactions
from ..results.uncertainty import SampleSize
from ..variance.conditional import Variances


def find_interactions(variances: Variances, factors: FactorSet, among: Sequence[int], size: SampleSize) -> Interactions:
    """Estimate the interactions of all pairs of the factors ``among``, relative to all ``factors``."""
    pairs = tuple(combinations([i for i in among if i in factors], 2))
    found = estimate(variances, interaction_target(factors, [((i,), (j,)) for i, j in pairs]), size)
    either = 2 * np.minimum(found.p_values, 1 - found.p_values)
    return Interactions(variances.design.names, pairs, replace(found, p_values=either))
