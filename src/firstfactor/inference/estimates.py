"""Indices of a target, with their uncertainty."""

import numpy as np

from ..neighbors.strategy import Floats
from ..results.estimates import Estimates
from ..results.uncertainty import SampleSize
from ..variance.conditional import ROUNDING, Variances
from .standard_errors import plug_in
from .targets import Target


def estimate(variances: Variances, target: Target, size: SampleSize) -> Estimates:
    """Return the indices of a target; p-values test a true value of 0 against a positive one."""
    sure = plug_in(variances, target, size)
    return Estimates(index_values(variances, target), sure.standard_errors, sure.p_values, sure.bias)


def index_values(variances: Variances, target: Target) -> Floats:
    """Return the indices of a target, (indices,); 0 where nothing is explained."""
    explained = 1 - target.left(variances)
    return target.effects(variances) / explained if explained > ROUNDING else np.zeros(len(target.coefficients))
