"""Contents of the page on the table: effects, a pair of factors that work together, and summaries of columns."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from .._utils.text import list_names, printable, shorten
from ..data.design import Kind
from ..data.stored_table import ColumnTable
from ..data.table import flatten_names
from ..inference.estimates import find_interactions
from ..inference.sample_size import diagnose_sample_size
from ..plots.effects import TAILS, Effect, core, hold_others_fixed, legend_entries, read_effects
from ..plots.original_data import FEWEST_ROWS, AnalysedTable, OriginalColumn, OriginalTarget
from ..plots.pair import Pair, read_pair
from ..results.constants import LEAST_LOST
from ..results.formats import format_number
from ..results.indices import Indices, ranking_lines
from ..results.ranking_line import RankingLine
from ..results.wording import without_point

# Maximum numbers of entries that are shown; the page says how many more there are.
MOST_EFFECTS, MOST_SUMMARIES, MOST_CLASSES = 12, 40, 12

# Number of bars of a histogram of numbers, and the most of one of levels.
BARS = 16

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
    summaries: "dict[str, Summary]"
    """Summary of each column, by name, in the order of the ranking."""
    least_rows: int
    """Fewest rows that anything that is shown comes from; 1 unless the table is sensitive."""


class Summary(NamedTuple):
    """Kind of a column, its values in a few words, and its histogram as the path of a picture of height 1."""

    kind: Kind | str
    values: str
    histogram: str


def read_data(table: AnalysedTable, sensitive: bool = False) -> Data:
    """Read what the page shows of the table; effects with other factors held fixed need the options of the analysis."""
    least_rows = FEWEST_ROWS if sensitive else 1
    indices = table.indices
    apart = 0 if indices.path is None else indices.path.n_selection_rows
    if len(table.rows) != indices.n_rows + apart or (indices.rows is not None and indices.rows[-1] >= table.n_rows):
        expected = f"{indices.n_rows}, and {apart} to select on" if apart else f"{indices.n_rows}"
        raise ValueError(f"X must have the rows that were analysed ({expected}); got {table.n_rows}.")
    first = representatives(indices)
    wanted = [*first, *(i for i in indices.selected.tolist() if i not in first)]
    n_effects, n_drawn = sum(len(indices.members[i]) for i in wanted), _how_many(indices, wanted, MOST_EFFECTS)
    effects = read_effects(table, in_order_of_lines(indices, wanted[:n_drawn]), least_rows)
    shown = hold_others_fixed(effects[:MOST_EFFECTS], table)
    everything = in_order_of_lines(indices, range(len(indices.names)))
    summaries = _summarise_each(table, everything[:MOST_SUMMARIES], least_rows)
    return Data(table.target, shown, n_effects, strongest_pair(table, least_rows), summaries, least_rows)


def in_order_of_lines(indices: Indices, factors: Collection[int]) -> list[int]:
    """Return factors in the order of the lines of the ranking."""
    lines = (one for line in ranking_lines(indices) for each in line.members or (line,) for one in (each, *each.same))
    return [line.factors[0] for line in lines if line.factors[0] in factors]


def representatives(indices: Indices) -> list[int]:
    """Return the first selected factor of each driver, or else its first; the most important driver comes first."""
    return [_representative(indices, driver) for driver in indices.drivers]


def _representative(indices: Indices, driver: RankingLine) -> int:
    return next((i for i in driver.factors if indices.support[i]), driver.factors[0])


def strongest_pair(table: AnalysedTable, least_rows: int) -> Pair | None:
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
    return None if best is None else read_pair(table, *found.pairs[best], least_rows)


def _how_many(indices: Indices, factors: Sequence[int], n_columns: int) -> int:
    """Return the number of factors, from the first, that have ``n_columns`` columns together."""
    ends = np.cumsum([len(indices.members[i]) for i in factors])
    return int(np.searchsorted(ends, n_columns)) + 1


def _summarise_each(table: AnalysedTable, factors: Sequence[int], least_rows: int) -> dict[str, Summary]:
    """Return the summaries of the columns of some factors, in this order, with one column at a time in memory."""
    found: dict[int, dict[str, Summary]] = {i: {} for i in factors}
    dates = _find_dates(table.X)
    for i, name, column in table.each_column(found.keys()):
        values = summarise(column, name in dates, least_rows)
        found[i][name] = Summary(table.indices.kinds[i], values, draw_histogram(column, least_rows))
    return {name: summary for of_factor in found.values() for name, summary in of_factor.items()}


def draw_histogram(column: OriginalColumn, least_rows: int = 1) -> str:
    """Return the path of a histogram that is as wide as it has bars and 1 high; rarer bars are left out."""
    if column.levels:
        counts = np.sort(column.counts[column.counts >= least_rows])[::-1][:BARS]
    else:
        counts = count_numbers(column)[0]
        counts = np.where(counts >= least_rows, counts, 0)
    heights = counts / max(counts.max(initial=0), 1)
    return "".join(f"M{bar} 1v{-height:.3g}h.9V1" for bar, height in enumerate(heights.tolist()) if height)


def count_numbers(column: OriginalColumn) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the number of rows of each bar of a histogram of numbers, and the edges of the bars."""
    known = column.values[column.known]
    low, high = core(known) if known.size else (0.0, 1.0)
    return np.histogram(np.clip(known, low, high), BARS, (low, high))


def _find_dates(X: Any) -> set[str]:
    """Return the names of columns with dates, which are numbers of days since 1970 in the analysis."""
    if isinstance(X, ColumnTable):
        return X.dates
    frame = nw.from_native(flatten_names(X), pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return set()
    return {str(name) for name, kind in frame.schema.items() if isinstance(kind, nw.Date | nw.Datetime)}


def summarise(column: OriginalColumn, are_dates: bool = False, least_rows: int = 1) -> str:
    """Return the range of numbers or dates, or the most frequent levels, in a few words; rarer levels are not named."""
    if not column.levels:
        return _summarise_numbers(column, _format_date if are_dates else format_number, least_rows)
    most = [i for i in np.argsort(-column.counts, kind="stable")[:3] if column.counts[i] >= least_rows]
    named = [f"{brief(column.levels[i])} ({column.counts[i]:,})" for i in most]
    shown = ", ".join(named + ["…"] * (len(column.levels) > len(most)))
    return f"{len(column.levels):,} levels: {shown}"


def _format_date(days: float) -> str:
    """Return the date that is a number of days after 1970-01-01."""
    return str(np.datetime64("1970-01-01") + np.timedelta64(int(np.floor(days)), "D"))


def _summarise_numbers(column: OriginalColumn, write: Callable[[float], str], least_rows: int) -> str:
    known = column.values[column.known]
    n_missing = column.values.size - known.size
    missing = f"; {n_missing:,} missing" if n_missing else ""
    if known.size < least_rows or known.size == 0:
        return f"{'fewer than ' + str(least_rows) if known.size else 'no'} values"
    ends = (0.0, 1.0) if least_rows == 1 else TAILS
    low, middle, high = map(write, np.quantile(known, [ends[0], 0.5, ends[1]]).tolist())
    mostly = "" if least_rows == 1 else "mostly "
    return (f"{mostly}{low} to {high}, median {middle}" if low != high else f"about {low}") + missing


def brief(text: str, most: int = 40) -> str:
    """Return a text shortened in the middle to a maximum length."""
    return shorten(text, lambda shorter: len(shorter) <= most)


def describe_data(data: Data, indices: Indices) -> dict[str, Any]:
    """Return what the page shows of the data, as plain values by name."""
    target = data.target
    shown = list(data.summaries.items())[:MOST_SUMMARIES]
    return {
        "response_summary": _summarise_target(target, data.least_rows),
        "response_histogram": draw_histogram(_as_column(target), data.least_rows),
        "bars": BARS,
        "least_rows": data.least_rows,
        "classes": [*map(without_point, target.classes)],
        "n_outputs": len(indices.outputs),
        "summaries": [(printable(name), *summary) for name, summary in shown],
        "more_summaries": max(sum(map(len, indices.members)) - len(shown), 0),
        "more_effects": data.n_effects - len(data.effects),
        "legend": legend_entries(data.effects, target),
        "held_fixed": any(effect.fixed is not None and effect.others for effect in data.effects),
        "pair_label": "" if data.pair is None else data.pair.label,
        "pair": None if data.pair is None else [printable(side.name) for side in (data.pair.across, data.pair.up)],
    }


def _as_column(target: OriginalTarget) -> OriginalColumn:
    """Return the response, or the first of several outputs, as a column."""
    if not target.classes:
        return OriginalColumn(target.values[:, 0], ())
    codes = target.values[:, 0] if len(target.classes) == 2 else target.values.argmax(axis=1)
    return OriginalColumn(codes.astype(np.float64), tuple(map(without_point, target.classes)))


def _summarise_target(target: OriginalTarget, least_rows: int) -> str:
    """Return the range of the response, the number of rows of each class, or the names of the outputs."""
    column = _as_column(target)
    if target.classes:
        counts = zip(column.levels, column.counts.tolist(), strict=True)
        named = [f"{brief(label)} ({count:,})" for label, count in counts if count >= least_rows]
        others = [f"{len(column.levels) - len(named)} with few rows"] if len(named) < len(column.levels) else []
        return list_names([*named, *others], most=MOST_CLASSES)
    if len(target.series) > 1:
        return list_names([*map(brief, target.series)], most=MOST_CLASSES)
    return summarise(column, least_rows=least_rows)
