"""Means and differences over all tables of several cells."""

import numpy as np

from .certainty import same_repetitions
from .estimates import Estimate, estimate
from .metrics import SHARES
from .results import Cell


def pooled_mean(cells: list[Cell], metric: str) -> Estimate:
    """Return the mean over all repetitions of several cells."""
    return estimate(np.concatenate([cell.values(metric) for cell in cells]), share=metric in SHARES)


def pooled_difference(cells: list[Cell], others: list[Cell], metric: str) -> Estimate:
    """Return the mean difference over tables that both methods have seen, in several settings."""
    differences = []
    for cell, other in zip(cells, others, strict=True):
        ours, theirs = same_repetitions(cell, other)
        differences.append(cell.values(metric)[ours] - other.values(metric)[theirs])
    return estimate(np.concatenate(differences))
