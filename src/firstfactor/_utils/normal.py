"""Normal distribution for single numbers: importing scipy.special takes longer than a small fit."""

import math
from statistics import NormalDist


def normal_cdf(value: float) -> float:
    """Return the probability that a standard normal variable is at most ``value``."""
    return math.erfc(-value / math.sqrt(2)) / 2


def normal_quantile(probability: float) -> float:
    """Return the standard normal quantile of a probability between 0 and 1."""
    return NormalDist().inv_cdf(probability)
