"""Test problems with known answers: functions to draw tables from, and their true indices."""

from .copula import CopulaInputs
from .monte_carlo import MonteCarloIndices, monte_carlo_total_indices
from .problem import Problem, friedman, heavy_tailed, ishigami, uniform_factors

__all__ = [
    "CopulaInputs",
    "MonteCarloIndices",
    "Problem",
    "friedman",
    "heavy_tailed",
    "ishigami",
    "monte_carlo_total_indices",
    "uniform_factors",
]
