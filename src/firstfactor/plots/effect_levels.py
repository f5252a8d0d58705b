"""Mean of y in bins of one factor, unadjusted and with the other factors held fixed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..results.indices import Indices
from ..variance.conditional import Variances
from ..variance.partial_effects import Levels, partial_levels, plain_levels
from .original_data import MISSING, AnalysedTable, OriginalColumn, OriginalTarget

# Maximum number of series, such as classes, in a panel.
MOST_SERIES = 6

# Maximum number of factors held fixed: the more there are, the farther apart are rows with similar values.
MOST_OTHERS = 8

# Minimum and maximum number of bins of a numeric column, and number of rows in each.
LEAST_BINS, MOST_BINS, ROWS_IN_BIN = 5, 12, 40

# Maximum number of levels of a category; the rarest are pooled.
MOST_LEVELS = 8


@dataclass(frozen=True)
class Bins:
    """One column in bins, none of which is empty."""

    of_row: NDArray[np.intp]
    """Bin of each row, of shape (rows,)."""
    centres: NDArray[np.float64]
    """Median of the numbers in each bin, or position of the level, of shape (bins,); NaN for a last bin of missing
    numbers."""
    labels: tuple[str, ...]
    """Label of each level; for numbers, only that of missing ones."""
    edges: NDArray[np.float64]
    """Smallest number of each bin and largest of all, of shape (bins + 1,); empty for categories."""

    @property
    def has_missing(self) -> bool:
        """True if the last bin is that of missing numbers."""
        return bool(np.isnan(self.centres[-1]))

    @property
    def numbers(self) -> int:
        """Number of bins without that of missing numbers."""
        return len(self.centres) - self.has_missing


@dataclass(frozen=True)
class Effect:
    """Effect of one column of a factor: the mean of y in its bins."""

    factor: int
    name: str
    importance: float
    column: OriginalColumn
    bins: Bins
    plain: Levels
    """Unadjusted means of the series that are drawn, of shape (bins, series)."""
    fixed: Levels | None = None
    """Means with the other factors held fixed; None if not requested or unknown."""
    others: tuple[int, ...] = ()
    """Factors that were held fixed; without any, ``fixed`` has the unadjusted means and their standard errors."""


def read_effects(table: AnalysedTable, wanted: Sequence[int]) -> list[Effect]:
    """Return the unadjusted effects of the factors ``wanted``, in that order."""
    values = table.target.values[:, shown_series(table.target)]
    effects = []
    for i, columns in table.columns(wanted).items():
        for name, column in columns:
            bins = make_bins(column)
            plain = plain_levels(bins.of_row, values)
            effects.append(Effect(i, name, float(table.indices.shares[i]), column, bins, plain))
    return effects


def hold_others_fixed(effects: Sequence[Effect], table: AnalysedTable) -> list[Effect]:
    """Add the means with the other selected factors held fixed to effects.

    Without the options of the analysis, effects are returned unchanged.
    """
    if not effects or table.options is None:
        return list(effects)
    others = [factors_held_fixed(table.indices, effect.factor) for effect in effects]
    with table.variances({i for some in others for i in some}) as variances:
        return [_hold_fixed(effect, some, table, variances) for effect, some in zip(effects, others, strict=True)]


def _hold_fixed(effect: Effect, others: tuple[int, ...], table: AnalysedTable, variances: Variances) -> Effect:
    """Add the means with the other factors held fixed to one effect."""
    search, bins, values = variances.search, effect.bins, table.target.values[:, shown_series(table.target)]
    positions = None if effect.column.levels else effect.column.values
    fixed = partial_levels(search, others, bins.of_row, values, positions)
    plain = plain_levels(bins.of_row, values, search.weights, search.groups)
    if np.isnan(fixed.means).all():
        return replace(effect, plain=plain)
    return replace(effect, plain=plain, fixed=fixed, others=others)


def factors_held_fixed(indices: Indices, factor: int) -> tuple[int, ...]:
    """Return the factors to hold fixed: the selected ones, without those that stand in for the factor itself.

    If there are many, these are the most important. The other members of a cluster come last, because each of them
    adds little to its representative.
    """
    clusters = () if indices.sharing is None else indices.sharing.clusters
    alike = {factor}.union(*(cluster.positions for cluster in clusters if factor in cluster.positions))
    first, rest = [], []
    for driver in indices.drivers:
        members = [i for i in driver.factors if indices.support[i] and i not in alike]
        first += members[:1]
        rest += members[1:]
    return tuple((first + rest)[:MOST_OTHERS])


def shown_series(target: OriginalTarget) -> list[int]:
    """Return the series to draw, in order: if there are many, those that vary most."""
    most: list[int] = np.sort(np.argsort(-target.values.var(axis=0), kind="stable")[:MOST_SERIES]).tolist()
    return most


# --- bins -----------------------------------------------------------------------------------------------------------


def make_bins(column: OriginalColumn, most_bins: int | None = None, most_levels: int = MOST_LEVELS) -> Bins:
    """Return the bins of a column; the default of ``most_bins`` depends on the number of rows."""
    if column.levels:
        return _bin_levels(column, most_levels)
    if most_bins is None:
        most_bins = int(np.clip(column.known.sum() // ROWS_IN_BIN, LEAST_BINS, MOST_BINS))
    return _bin_numbers(column, most_bins)


def _bin_numbers(column: OriginalColumn, most: int) -> Bins:
    """Return bins with about the same number of rows; ties share a bin, and missing numbers have their own."""
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
    """Return the levels that occur; the rarest are pooled in the last bin."""
    present = np.flatnonzero(column.counts)
    kept, labels = present, [column.levels[i] for i in present]
    if len(present) > most:
        kept = np.sort(present[np.argsort(-column.counts[present], kind="stable")[: most - 1]])
        labels = [*(column.levels[i] for i in kept), f"{len(present) - len(kept)} others"]
    new = np.full(len(column.levels), len(kept))
    new[kept] = np.arange(len(kept))
    return Bins(new[column.codes], np.arange(len(labels), dtype=np.float64), tuple(labels), np.empty(0))
