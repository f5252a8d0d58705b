"""The normal distribution for single numbers. scipy.special has it too, but takes longer to import than a small fit."""

import math
from statistics import NormalDist


def normal_cdf(value: float) -> float:
    """Probability that a standard normal variable is at most this value."""
    return math.erfc(-value / math.sqrt(2)) / 2


def normal_quantile(probability: float) -> float:
    """The value that a standard normal variable is below with this probability, between 0 and 1."""
    return NormalDist().inv_cdf(probability)
