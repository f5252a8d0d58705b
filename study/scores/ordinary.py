"""Means and differences over all tables of several cells, and what models lose on real tables."""

from typing import Any

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


def loss(stored: dict[str, Any], method: str, model: str | None = None) -> Estimate:
    """Return by how much models of a real table are worse with selected factors than with all: the mean over folds.

    Of one model, or of the better one for each set of factors.
    """
    scores = stored["scores"]

    def best(which: str) -> Any:
        return max((np.array(scores[one][which]) for one in ([model] if model else scores)), key=np.mean)

    return estimate(best("all") - best(method))
