"""The level of y in bins of one factor, as it looks and with the other factors held fixed."""

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.observations import Table, read_table
from ..data.stored_table import ColumnTable
from ..parameters import Options
from ..results.indices import Indices
from ..variance.conditional import Variances, how_to_read, make_variances
from ..variance.partial_effects import Levels, partial_levels, plain_levels
from .bins import Bins, make_bins
from .original_data import OriginalColumn, OriginalTarget, analysed_rows, count_rows, read_columns, read_target

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


def read_effects(
    X: Any,
    y: Any,
    indices: Indices,
    wanted: Sequence[int],
    options: Options | None = None,
    sample_weight: Any = None,
    groups: Any = None,
) -> tuple[list[Effect], OriginalTarget]:
    """The columns of the factors ``wanted``, in that order, and the response.

    With ``options``, those of the analysis, effects are also found with the other selected factors held fixed.
    """
    columns: dict[int, list[tuple[str, OriginalColumn]]] = {i: [] for i in wanted}
    for i, name, column in read_columns(X, indices, set(wanted)):
        columns[i].append((name, column))
    target = read_target(y, count_rows(X), indices)
    shown = target.values[:, shown_series(target)]
    effects = []
    for i in wanted:
        for name, column in columns[i]:
            bins = make_bins(column)
            plain = plain_levels(bins.of_row, shown)
            effects.append(Effect(i, name, float(indices.shares[i]), column, bins, plain))
    if options is None:
        return effects, target
    return hold_others_fixed(effects, target, X, y, indices, options, sample_weight, groups), target


def hold_others_fixed(
    effects: Sequence[Effect],
    target: OriginalTarget,
    X: Any,
    y: Any,
    indices: Indices,
    options: Options,
    sample_weight: Any = None,
    groups: Any = None,
) -> list[Effect]:
    """Effects with what they are once the other selected factors are held fixed."""
    if not effects:
        return []
    shown = target.values[:, shown_series(target)]
    others = {i for effect in effects for i in factors_held_fixed(indices, effect.factor)}
    with open_again(X, y, indices, others, options, sample_weight, groups) as variances:
        return [_hold_fixed(effect, variances, indices, shown) for effect in effects]


def _hold_fixed(effect: Effect, variances: Variances, indices: Indices, values: NDArray[np.float64]) -> Effect:
    """One effect with the others held fixed."""
    search, bins = variances.search, effect.bins
    others = factors_held_fixed(indices, effect.factor)
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


def open_again(
    X: Any,
    y: Any,
    indices: Indices,
    factors: Collection[int],
    options: Options,
    sample_weight: Any,
    groups: Any,
    estimator: str = "nearest",
) -> Variances:
    """The rows that were analysed, as they were analysed, to look at some factors; nothing is drawn at random."""
    if isinstance(X, ColumnTable):
        X = X.only([j for i in factors for j in indices.members[i]])
    plain = replace(options, n_neighbors=None, n_outer=None, missing="level", estimator=estimator, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # all was said when the table was analysed
        table = read_table(X, y, how_to_read(plain), sample_weight, groups)
        return make_variances(_on_analysed_rows(table, indices, count_rows(X)).observe(), plain)


def _on_analysed_rows(table: Table, indices: Indices, n_rows: int) -> Table:
    """The table without rows that were not analysed: those with a weight of 0, or with missing values."""
    wanted = analysed_rows(indices, n_rows)
    given = np.arange(n_rows) if table.rows is None else table.rows
    if not np.isin(wanted, given).all():
        raise ValueError("sample_weight must be that of the analysis; it is 0 for rows that were analysed.")
    return table if wanted.size == given.size else table.on_rows(np.searchsorted(given, wanted))


def shown_series(target: OriginalTarget) -> list[int]:
    """The series that are drawn, in order: of many, those that vary most."""
    most: list[int] = np.sort(np.argsort(-target.values.var(axis=0), kind="stable")[:MOST_SERIES]).tolist()
    return most
