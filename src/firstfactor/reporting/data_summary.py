"""Contents of the page on the table: effects, a pair of factors that work together, and summaries of columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from .._utils.text import list_names, printable, shorten
from ..data.design import Kind
from ..data.stored_table import ColumnTable
from ..data.table import flatten_names
from ..dependence.pairs import find_interactions
from ..inference.sample_size import diagnose_sample_size
from ..plots.effect_levels import Effect, hold_others_fixed, read_effects
from ..plots.effects import legend_entries
from ..plots.original_data import AnalysedTable, OriginalColumn, OriginalTarget
from ..plots.pair import Pair, read_pair
from ..results.constants import LEAST_LOST
from ..results.formats import format_number
from ..results.indices import Indices
from ..results.ranking_line import RankingLine
from ..results.wording import without_point

# Maximum numbers of entries that are shown; the page says how many more there are.
MOST_EFFECTS, MOST_SUMMARIES, MOST_CLASSES = 12, 40, 12

# Maximum number of factors whose pairs are compared: the most important one of each driver.
MOST_FACTORS = 5


@dataclass(frozen=True)
class Data:
    """Contents of the page on the table."""

    target: OriginalTarget
    effects: list[Effect]
    n_effects: int
    """Number of effects, including those that are not shown."""
    pair: Pair | None
    """Two factors that work together; None if no pair clearly does."""
    summaries: dict[str, tuple[Kind, str]]
    """Kind of each column and summary of its values, by name."""


def read_data(table: AnalysedTable) -> Data:
    """Read what the page shows of the table; effects with other factors held fixed need the options of the analysis."""
    indices = table.indices
    apart = 0 if indices.path is None else indices.path.n_selection_rows
    if len(table.rows) != indices.n_rows + apart or (indices.rows is not None and indices.rows[-1] >= table.n_rows):
        expected = f"{indices.n_rows}, and {apart} to select on" if apart else f"{indices.n_rows}"
        raise ValueError(f"X must have the rows that were analysed ({expected}); got {table.n_rows}.")
    first = representatives(indices)
    wanted = [*first, *(i for i in indices.selected.tolist() if i not in first)]
    n_effects, n_drawn = sum(len(indices.members[i]) for i in wanted), _how_many(indices, wanted, MOST_EFFECTS)
    effects = read_effects(table, wanted[:n_drawn])
    others = indices.left_out.tolist()[: max(MOST_SUMMARIES - n_effects, 0)]
    dates = _find_dates(table.X)
    summaries = {
        effect.name: (indices.kinds[effect.factor], summarise(effect.column, effect.name in dates))
        for effect in effects
    }
    for some in (wanted[n_drawn:], others):
        summaries |= _summarise_each(table, some, dates)
    shown = hold_others_fixed(effects[:MOST_EFFECTS], table)
    return Data(table.target, shown, n_effects, strongest_pair(table), summaries)


def representatives(indices: Indices) -> list[int]:
    """Return the first selected factor of each driver, or else its first; the most important driver comes first."""
    return [_representative(indices, driver) for driver in indices.drivers]


def _representative(indices: Indices, driver: RankingLine) -> int:
    return next((i for i in driver.factors if indices.support[i]), driver.factors[0])


def strongest_pair(table: AnalysedTable) -> Pair | None:
    """Return the two factors that work together most, with the mean of y over both; None if no pair clearly does."""
    indices = table.indices
    drivers = [driver for driver in indices.drivers[:MOST_FACTORS] if driver.importance >= LEAST_LOST]
    among = tuple(sorted(_representative(indices, driver) for driver in drivers))
    if len(among) < 2 or table.options is None:
        return None
    with table.variances(among, "adaptive") as variances:
        variances = variances.around(among)
        size = diagnose_sample_size(variances, among, variances.of(among))
        found = find_interactions(variances, among, among, size)
    best = found.strongest(together=True)
    return None if best is None else read_pair(table, *found.pairs[best])


def _how_many(indices: Indices, factors: Sequence[int], n_columns: int) -> int:
    """Return the number of factors, from the first, that have ``n_columns`` columns together."""
    ends = np.cumsum([len(indices.members[i]) for i in factors])
    return int(np.searchsorted(ends, n_columns)) + 1


def _summarise_each(table: AnalysedTable, factors: Sequence[int], dates: set[str]) -> dict[str, tuple[Kind, str]]:
    """Return kind and summary of the columns of some factors, in this order, with one column at a time in memory."""
    found: dict[int, dict[str, tuple[Kind, str]]] = {i: {} for i in factors}
    for i, name, column in table.each_column(found.keys()):
        found[i][name] = table.indices.kinds[i], summarise(column, name in dates)
    return {name: summary for of_factor in found.values() for name, summary in of_factor.items()}


def _find_dates(X: Any) -> set[str]:
    """Return the names of columns with dates, which are numbers of days since 1970 in the analysis."""
    if isinstance(X, ColumnTable):
        return X.dates
    frame = nw.from_native(flatten_names(X), pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return set()
    return {str(name) for name, kind in frame.schema.items() if isinstance(kind, nw.Date | nw.Datetime)}


def summarise(column: OriginalColumn, are_dates: bool = False) -> str:
    """Return the range of numbers or dates, or the most frequent levels, in a few words."""
    if not column.levels:
        return _summarise_numbers(column, _format_date if are_dates else format_number)
    most = np.argsort(-column.counts, kind="stable")[:3]
    shown = ", ".join(f"{brief(column.levels[i])} ({column.counts[i]:,})" for i in most)
    return f"{len(column.levels):,} levels: {shown}" + (", …" if len(column.levels) > 3 else "")


def _format_date(days: float) -> str:
    """Return the date that is a number of days after 1970-01-01."""
    return str(np.datetime64("1970-01-01") + np.timedelta64(int(np.floor(days)), "D"))


def _summarise_numbers(column: OriginalColumn, write: Callable[[float], str]) -> str:
    known = column.values[column.known]
    n_missing = column.values.size - known.size
    missing = f"; {n_missing:,} missing" if n_missing else ""
    if known.size == 0:
        return "no values"
    low, middle, high = map(write, np.quantile(known, [0, 0.5, 1]).tolist())
    return (f"{low} to {high}, median {middle}" if low != high else f"about {low}") + missing


def brief(text: str, most: int = 40) -> str:
    """Return a text shortened in the middle to a maximum length."""
    return shorten(text, lambda shorter: len(shorter) <= most)


def describe_data(data: Data, indices: Indices) -> dict[str, Any]:
    """Return what the page shows of the data, as plain values by name."""
    target = data.target
    shown = list(data.summaries.items())[:MOST_SUMMARIES]
    return {
        "response_summary": _summarise_target(target),
        "classes": [*map(without_point, target.classes)],
        "n_outputs": len(indices.outputs),
        "summaries": [(printable(name), kind, text) for name, (kind, text) in shown],
        "more_summaries": max(sum(map(len, indices.members)) - len(shown), 0),
        "more_effects": data.n_effects - len(data.effects),
        "legend": legend_entries(data.effects, target),
        "held_fixed": any(effect.fixed is not None and effect.others for effect in data.effects),
        "pair_label": "" if data.pair is None else data.pair.label,
        "pair": None if data.pair is None else [printable(side.name) for side in (data.pair.across, data.pair.up)],
    }


def _summarise_target(target: OriginalTarget) -> str:
    """Return the range of the response, the number of rows of each class, or the names of the outputs."""
    if target.classes:
        counts = target.values.sum(axis=0).astype(int).tolist()
        counts = [len(target.values) - counts[0], *counts] if len(target.classes) == 2 else counts
        shown = [
            f"{brief(without_point(label))} ({count:,})" for label, count in zip(target.classes, counts, strict=True)
        ]
        return list_names(shown, most=MOST_CLASSES)
    if len(target.series) > 1:
        return list_names([*map(brief, target.series)], most=MOST_CLASSES)
    return summarise(OriginalColumn(target.values[:, 0], ()))
