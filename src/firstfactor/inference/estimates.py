"""Indices of a target, and of all pairs of factors, with their uncertainty."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ..neighbors.strategy import Floats
from ..results.estimates import Estimates
from ..results.interactions import Interactions
from ..results.uncertainty import SampleSize
from ..variance.conditional import ROUNDING, Variances
from .standard_errors import plug_in
from .targets import FactorSet, Target, interaction_target


def estimate(variances: Variances, target: Target, size: SampleSize) -> Estimates:
    """Return the indices of a target; p-values test a true value of 0 against a positive one."""
    sure = plug_in(variances, target, size)
    return Estimates(index_values(variances, target), sure.standard_errors, sure.p_values, sure.bias)


def index_values(variances: Variances, target: Target) -> Floats:
    """Return the indices of a target, (indices,); 0 where nothing is explained."""
    explained = 1 - target.left(variances)
    return target.effects(variances) / explained if explained > ROUNDING else np.zeros(len(target.coefficients))


def find_interactions(variances: Variances, factors: FactorSet, among: Sequence[int], size: SampleSize) -> Interactions:
    """Estimate the interactions of all pairs of the factors ``among``, relative to all ``factors``."""
    pairs = tuple(combinations([i for i in among if i in factors], 2))
    found = estimate(variances, interaction_target(factors, [((i,), (j,)) for i, j in pairs]), size)
    either = 2 * np.minimum(found.p_values, 1 - found.p_values)
    return Interactions(variances.design.names, pairs, replace(found, p_values=either))
