"""The level of y in bins of one factor, as it looks and with the other factors held fixed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..results.indices import Indices
from ..variance.conditional import Variances
from ..variance.partial_effects import Levels, partial_levels, plain_levels
from .bins import Bins, make_bins
from .original_data import AnalysedTable, OriginalColumn, OriginalTarget

# Series, such as classes, in a panel of effects.
MOST_SERIES = 6

# Factors that are held fixed: the more there are, the farther away are rows with about the same values.
MOST_OTHERS = 8


@dataclass(frozen=True)
class Effect:
    """One column of a factor next to its name and importance, and the level of y in bins of it."""

    factor: int
    name: str
    importance: float
    column: OriginalColumn
    bins: Bins
    plain: Levels
    """Means of the series drawn, whatever the other factors: (bins, series)."""
    fixed: Levels | None = None
    """The same with others held fixed; None if that was not asked for or cannot be told."""
    others: tuple[int, ...] = ()
    """The factors that were held fixed; without any, ``fixed`` has the plain means with their standard errors."""


def read_effects(table: AnalysedTable, wanted: Sequence[int]) -> list[Effect]:
    """Return the effects of the factors ``wanted``, in that order, as they look."""
    values = table.target.values[:, shown_series(table.target)]
    effects = []
    for i, columns in table.columns(wanted).items():
        for name, column in columns:
            bins = make_bins(column)
            plain = plain_levels(bins.of_row, values)
            effects.append(Effect(i, name, float(table.indices.shares[i]), column, bins, plain))
    return effects


def hold_others_fixed(effects: Sequence[Effect], table: AnalysedTable) -> list[Effect]:
    """Return effects with what they are once the other selected factors are held fixed.

    Without the options of the analysis, they are returned as they are.
    """
    if not effects or table.options is None:
        return list(effects)
    others = [factors_held_fixed(table.indices, effect.factor) for effect in effects]
    with table.variances({i for some in others for i in some}) as variances:
        return [_hold_fixed(effect, some, table, variances) for effect, some in zip(effects, others, strict=True)]


def _hold_fixed(effect: Effect, others: tuple[int, ...], table: AnalysedTable, variances: Variances) -> Effect:
    """Return one effect with the others held fixed."""
    search, bins, values = variances.search, effect.bins, table.target.values[:, shown_series(table.target)]
    positions = None if effect.column.levels else effect.column.values
    fixed = partial_levels(search, others, bins.of_row, values, positions)
    plain = plain_levels(bins.of_row, values, search.weights, search.groups)
    if np.isnan(fixed.means).all():
        return replace(effect, plain=plain)
    return replace(effect, plain=plain, fixed=fixed, others=others)


def factors_held_fixed(indices: Indices, factor: int) -> tuple[int, ...]:
    """The factors that are held fixed: the selected ones, without those that stand in for the factor itself.

    Of many, the most important. Of several that stand in for each other the first comes before all others with a
    smaller joint index, and the rest last: alone, each of them counts for little.
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
    """The series that are drawn, in order: of many, those that vary most."""
    most: list[int] = np.sort(np.argsort(-target.values.var(axis=0), kind="stable")[:MOST_SERIES]).tolist()
    return most
