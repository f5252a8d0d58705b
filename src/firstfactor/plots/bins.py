"""The rows of a column in bins: of numbers about as many rows in each, of categories their levels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .original_data import MISSING, OriginalColumn

# Bins of numbers in a panel of effects: at least and at most so many, and rows in each.
LEAST_BINS, MOST_BINS, ROWS_IN_BIN = 5, 12, 40

# Levels of a category in a picture; the rarer ones are pooled.
MOST_LEVELS = 8


@dataclass(frozen=True)
class Bins:
    """One column in bins, none of which is empty."""

    of_row: NDArray[np.intp]
    """The number of each row's bin, (rows,)."""
    centres: NDArray[np.float64]
    """The median of the numbers in each bin, (bins,), increasing; of categories, the position of the level. A last bin
    of missing numbers has none: not a number."""
    labels: tuple[str, ...]
    """What each bin is called; numbers have only that of missing ones."""
    edges: NDArray[np.float64]
    """The smallest number of each bin and the largest of all, (bins + 1,); empty for categories."""

    @property
    def has_missing(self) -> bool:
        """Whether the last bin is that of missing numbers."""
        return bool(np.isnan(self.centres[-1]))

    @property
    def numbers(self) -> int:
        """How many bins have a place on the axis."""
        return len(self.centres) - self.has_missing


def make_bins(column: OriginalColumn, most_bins: int | None = None, most_levels: int = MOST_LEVELS) -> Bins:
    """The bins of a column; ``most_bins`` of numbers, by default as many as the rows are enough for."""
    if column.levels:
        return _bin_levels(column, most_levels)
    if most_bins is None:
        most_bins = int(np.clip(column.known.sum() // ROWS_IN_BIN, LEAST_BINS, MOST_BINS))
    return _bin_numbers(column, most_bins)


def _bin_numbers(column: OriginalColumn, most: int) -> Bins:
    """Bins with about as many rows each; equal numbers share one, and missing ones have one of their own."""
    x = column.values[column.known]
    starts = np.unique(x)
    if len(starts) > most:
        starts = np.unique(np.quantile(x, np.linspace(0, 1, most + 1)[:-1]))
    of_row = np.full(column.values.size, len(starts))
    of_row[column.known] = np.searchsorted(starts, x, side="right") - 1
    filled, of_row = np.unique(of_row, return_inverse=True)
    centres = [np.median(column.values[of_row == b]) for b in range(len(filled))]
    lowest = [column.values[of_row == b].min() for b in range(len(filled)) if not np.isnan(centres[b])]
    edges = np.array([*lowest, *([x.max()] if x.size else [])])
    return Bins(of_row, np.array(centres), () if column.known.all() else (MISSING,), edges)


def _bin_levels(column: OriginalColumn, most: int) -> Bins:
    """Levels that occur, the rarest as one, the last."""
    present = np.flatnonzero(column.counts)
    kept, labels = present, [column.levels[i] for i in present]
    if len(present) > most:
        kept = np.sort(present[np.argsort(-column.counts[present], kind="stable")[: most - 1]])
        labels = [*(column.levels[i] for i in kept), f"{len(present) - len(kept)} others"]
    new = np.full(len(column.levels), len(kept))
    new[kept] = np.arange(len(kept))
    return Bins(new[column.codes], np.arange(len(labels), dtype=np.float64), tuple(labels), np.empty(0))
