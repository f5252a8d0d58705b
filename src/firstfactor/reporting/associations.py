"""Which selected factor stands in for one that was left out: the strongest association of two columns."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..plots.original_data import Column


@dataclass(frozen=True)
class Association:
    """How closely two columns go together: from 0 to 1, or from −1 to 1 for two numbers."""

    strength: float
    measure: str


@dataclass(frozen=True)
class StandIn:
    """A factor that was left out, and the selected one that it goes with most closely."""

    left_out: str
    selected: str
    association: Association


def strongest(left_out: str, column: Column, selected: Mapping[str, Column]) -> StandIn:
    """The selected factor with the strongest association; the first of several equally strong ones."""
    found = {i: associate(column, other) for i, other in selected.items()}
    best = max(found, key=lambda i: abs(found[i].strength))
    return StandIn(left_out, best, found[best])


def associate(one: Column, other: Column) -> Association:
    """Measure the association of two columns of the same rows.

    Two numbers: Spearman's rank correlation. A number and a category: the correlation ratio of the ranks, the share of
    their variance that lies between the levels, as a square root. Two categories: Cramér's V. The last two are
    corrected for what many levels reach by chance.
    """
    if one.levels and other.levels:
        return Association(_cramers_v(one.codes, other.codes), "Cramér’s V")
    if one.levels:
        return Association(_correlation_ratio(one.codes, other.ranks), "correlation ratio")
    if other.levels:
        return Association(_correlation_ratio(other.codes, one.ranks), "correlation ratio")
    return Association(_correlation(one.ranks, other.ranks), "Spearman")


def _correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Pearson's correlation; 0 for a constant."""
    x, y = x - x.mean(), y - y.mean()
    scale = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / scale) if scale else 0.0


def _correlation_ratio(codes: NDArray[np.intp], ranks: NDArray[np.float64]) -> float:
    """√(1 − (within / (n − k)) / (total / (n − 1))) for k levels: ε, the η that chance does not raise."""
    counts = np.bincount(codes)
    levels, rows = np.count_nonzero(counts), len(codes)
    means = np.bincount(codes, weights=ranks) / np.maximum(counts, 1)
    within, total = ((ranks - means[codes]) ** 2).sum(), ((ranks - ranks.mean()) ** 2).sum()
    if levels == rows or total == 0:
        return 0.0
    return float(np.sqrt(max(1 - within / (rows - levels) / (total / (rows - 1)), 0.0)))


def _cramers_v(one: NDArray[np.intp], other: NDArray[np.intp]) -> float:
    """V with the correction of Bergsma (2013)."""
    rows = len(one)
    pairs, counts = np.unique(np.stack([one, other]), axis=1, return_counts=True)
    of_one, of_other = np.bincount(one), np.bincount(other)
    phi2 = float((counts**2 / (of_one[pairs[0]] * of_other[pairs[1]])).sum()) - 1
    r, c = np.count_nonzero(of_one), np.count_nonzero(of_other)
    phi2 = max(phi2 - (r - 1) * (c - 1) / (rows - 1), 0.0)
    least = min(r - (r - 1) ** 2 / (rows - 1), c - (c - 1) ** 2 / (rows - 1)) - 1
    return float(np.sqrt(min(phi2 / least, 1.0))) if least > 0 else 0.0
