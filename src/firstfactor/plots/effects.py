"""Effects: the mean of y in bins of one factor, unadjusted and with the other factors held fixed, and their panels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._utils.packages import require
from ..results.constants import LEVEL
from ..results.indices import Indices
from ..variance.conditional import Variances
from ..variance.partial_effects import Levels, partial_levels, plain_levels
from .axes import (
    GREY,
    SERIES,
    Label,
    despine,
    fitting,
    ink,
    label_columns,
    points,
    separate_thousands,
    text_width,
    type_size,
    width,
)
from .original_data import MISSING, AnalysedTable, Bins, OriginalColumn, OriginalTarget, make_bins

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Maximum number of points in a panel: more hide each other.
MOST_POINTS = 500

# Single numbers have ticks of their own if there are at most this many.
MOST_TICKS = 6

# Points that a number at the axis may need.
ROOM_FOR_TICK = 42

# Quantiles between which most values lie.
TAILS = 0.05, 0.95

# Maximum number of series in a panel in which each is drawn twice.
MOST_DOUBLE = 3

# Labels of the two kinds of lines.
HELD_FIXED, UNADJUSTED = "others held fixed", "unadjusted"

# Largest share of the height of a panel that a legend above its lines adds.
MOST_ADDED = 0.8


# Maximum number of series, such as classes, in a panel.
MOST_SERIES = 6

# Maximum number of factors held fixed: the more there are, the farther apart are rows with similar values.
MOST_OTHERS = 8


# --- read ----------------------------------------------------------------------------------------------------------


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


def read_effects(table: AnalysedTable, wanted: Sequence[int], least_rows: int = 1) -> list[Effect]:
    """Return the unadjusted effects of the factors ``wanted``, in that order; rarer levels are pooled.

    Levels without an order of their own are in the order of their effect.
    """
    values = table.target.values[:, shown_series(table.target)]
    effects = []
    for i, columns in table.columns(wanted).items():
        for name, column in columns:
            bins = make_bins(column, least_rows=least_rows)
            plain = plain_levels(bins.of_row, values)
            if table.indices.kinds[i] == "category" and values.shape[1] == 1 and not _have_order(column.levels):
                bins, plain = _sort_levels(bins, plain)
            effects.append(Effect(i, name, float(table.indices.shares[i]), column, bins, plain))
    return effects


def _have_order(levels: Sequence[str]) -> bool:
    """Return True if all levels are numbers, or there are none."""
    try:
        return all(map(np.isfinite, map(float, (level for level in levels if level != MISSING))))
    except ValueError:
        return False


def _sort_levels(bins: Bins, plain: Levels) -> tuple[Bins, Levels]:
    """Sort levels by decreasing mean, but missing values and levels that are pooled last."""
    last = [label == MISSING or label not in bins.named for label in bins.labels]
    order = np.lexsort((-plain.means[:, 0], np.array(last)))
    of_row, labels = np.argsort(order)[bins.of_row], tuple(bins.labels[b] for b in order)
    return replace(bins, of_row=of_row, labels=labels), Levels(plain.means[order], plain.standard_errors[order])


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


# --- draw ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """Entry of a legend."""

    text: str
    colour: str | None = None
    """Colour of the line; None for that of text."""
    is_dashed: bool = False


@dataclass(frozen=True)
class Line:
    """Line of one series, and its style."""

    means: NDArray[np.float64]
    band: tuple[NDArray[np.float64], NDArray[np.float64]] | None
    """Lower and upper limits of the interval of each mean; None without one."""
    colour: Any
    label: str
    is_main: bool
    """True for a thick solid line, False for a thin dashed one."""
    shift: float = 0.0
    """Horizontal distance from the middle of a level."""


def draw_effect(ax: "Axes", effect: Effect, target: OriginalTarget, legend: bool = True, least_rows: int = 1) -> None:
    """Draw one panel: the response against one column; if ``least_rows`` is above 1, no single rows."""
    lines = _lines(ax, effect, target, least_rows)
    shows_rows = len(target.series) == 1 and least_rows == 1
    if shows_rows:
        _draw_rows(ax, effect, target)
    if effect.column.levels:
        _draw_levels(ax, effect.bins, lines)
    else:
        _draw_numbers(ax, effect, lines, least_rows)
    if len(target.series) == 1:
        ax.set_ylim(*(core(target.values[:, 0]) if shows_rows else _cover(lines, target)))
    if legend:
        add_legend(ax, legend_entries([effect], target))
    despine(ax)
    separate_thousands(ax)
    room = points(ax, ax.get_window_extent().height)
    ax.set_ylabel(fitting([Label(target.label)], room, ax.yaxis.label)[0], parse_math=False)


def _cover(lines: Sequence[Line], target: OriginalTarget) -> tuple[float, float]:
    """Return limits that hold most values and all means, for panels that show no rows; of shares, from 0 to 1."""
    ends = [0.0, 1.0] if target.classes else np.quantile(target.values[:, 0], TAILS)
    means = np.concatenate([line.means for line in lines] + [ends])
    low, high = float(np.nanmin(means)), float(np.nanmax(means))
    return low - 0.06 * (high - low), high + 0.06 * (high - low)


def _lines(ax: "Axes", effect: Effect, target: OriginalTarget, least_rows: int) -> list[Line]:
    """Return the lines of each series: unadjusted, then with others held fixed; rarer bins are left out."""
    rare = np.where(np.bincount(effect.bins.of_row) < least_rows, np.nan, 0.0)
    shown = shown_series(target)
    held = effect.fixed is not None and bool(effect.others)
    double = held and len(shown) <= MOST_DOUBLE
    lines = []
    for k, series in enumerate(shown):
        colour, shift = SERIES[k], (k - (len(shown) - 1) / 2) / len(shown)
        if double:
            dashed = ink(ax) if len(shown) == 1 else colour
            lines.append(Line(effect.plain.means[:, k] + rare, None, dashed, UNADJUSTED, False, shift))
        levels = effect.plain if effect.fixed is None else effect.fixed
        half, means = NormalDist().inv_cdf((1 + LEVEL) / 2) * levels.standard_errors[:, k], levels.means[:, k] + rare
        low, middle, high = (_possible(target, values) for values in (means - half, means, means + half))
        band = None if effect.fixed is None else (low, high)
        lines.append(Line(middle, band, colour, target.series[series], True, shift))
    return lines


def _possible(target: OriginalTarget, levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Clip shares to the range from 0 to 1, which a sum of effects may leave."""
    return np.clip(levels, 0, 1) if target.classes else levels


def legend_entries(effects: Sequence[Effect], target: OriginalTarget) -> list[Entry]:
    """Return the entries of the legend; none if there is only one kind of line."""
    shown = shown_series(target)
    entries = [Entry(target.series[series], SERIES[k]) for k, series in enumerate(shown)] if len(shown) > 1 else []
    if not any(effect.fixed is not None and effect.others for effect in effects):
        return entries
    entries.append(Entry(HELD_FIXED, SERIES[0] if len(shown) == 1 else None))
    if len(shown) <= MOST_DOUBLE:
        entries.append(Entry(UNADJUSTED, is_dashed=True))
    return entries


def _draw_rows(ax: "Axes", effect: Effect, target: OriginalTarget) -> None:
    """Draw a sample of the rows as pale dots; those of a level are spread out."""
    rng = np.random.default_rng(0)
    rows = np.flatnonzero(effect.column.known)
    if len(rows) > MOST_POINTS:
        rows = np.sort(rng.choice(rows, MOST_POINTS, replace=False))
    x, y = effect.column.values[rows], target.values[rows, 0]
    if not effect.column.levels and effect.bins.numbers:  # missing values are drawn beyond the axis
        x = np.where(x <= core(effect.column.values[effect.column.known])[1], x, np.nan)
    if effect.column.levels:
        x = effect.bins.of_row[rows] + rng.uniform(-0.3, 0.3, size=len(rows))
    elif 1 < effect.bins.numbers <= MOST_TICKS and not effect.bins.is_ranges:
        x = x + 0.15 * np.diff(effect.bins.centres[: effect.bins.numbers]).min() * rng.uniform(-1, 1, size=len(rows))
    if target.classes:  # jitter, so that rows do not hide each other
        y = y + rng.uniform(-0.04, 0.04, size=len(rows))
    ax.plot(x, y, ".", color=GREY, markersize=4, alpha=0.45, mew=0)


def _draw_numbers(ax: "Axes", effect: Effect, lines: list[Line], least_rows: int) -> None:
    """Draw means as lines from bin to bin, and that of missing values apart at the right."""
    bins = effect.bins
    if not bins.numbers:
        return
    low, high = core(effect.column.values[effect.column.known] if least_rows == 1 else bins.centres[: bins.numbers])
    x = bins.centres[: bins.numbers]
    if not bins.is_ranges and 1 < bins.numbers <= MOST_TICKS:
        beside = 0.25 * np.diff(x).min()
        low, high = min(low, x[0] - beside), max(high, x[-1] + beside)
        ax.set_xticks(x)
    else:
        ax.locator_params(axis="x", nbins=max(int(width(ax) // ROOM_FOR_TICK), 2))
    apart = high + 0.06 * (high - low)
    for line in lines:
        means = line.means[: bins.numbers]
        if line.band is not None:
            low_end, high_end = (end[: bins.numbers] for end in line.band)
            ax.fill_between(x, low_end, high_end, color=line.colour, alpha=0.2, linewidth=0)
        marker: dict[str, Any] = {"marker": "o", "markersize": 3.5, "label": line.label} if line.is_main else {}
        ax.plot(x, means, color=line.colour, **line_style(not line.is_main), **marker)
        if bins.has_missing:
            _draw_missing(ax, apart, line)
    ax.set_xlim(low, high)
    if bins.has_missing:
        _name_missing(ax, high, apart)


def _draw_missing(ax: "Axes", x: float, line: Line) -> None:
    """Draw the mean of rows with missing values."""
    if line.band is not None:
        ax.vlines(x, line.band[0][-1], line.band[1][-1], color=line.colour, linewidth=1.2)
    if line.is_main:
        ax.plot([x], [line.means[-1]], "D", color=line.colour, markersize=4.5)
    else:
        ax.plot([x], [line.means[-1]], "D", color="none", markeredgecolor=line.colour, markersize=4.5, mew=0.9)


def _name_missing(ax: "Axes", edge: float, apart: float) -> None:
    """Separate missing values at the right by a line, and label them; numbers in the way are removed."""
    low, end = ax.get_xlim()[0], 2 * apart - edge
    room = (text_width(MISSING, ax.yaxis.label) / 2 + 2 * type_size(ax)) * (end - low) / width(ax)
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= min(edge, apart - room)]
    labels = ax.xaxis.get_major_formatter().format_ticks(ticks)
    ax.set_xticks([*ticks, apart], [*labels, MISSING])
    ax.axvline(edge, color=GREY, linewidth=0.6, alpha=0.6)
    ax.set_xlim(low, end)


def _draw_levels(ax: "Axes", bins: Bins, lines: list[Line]) -> None:
    """Draw the mean of each level of a category as a dash with its interval; several series side by side."""
    n_series = max(sum(line.is_main for line in lines), 1)
    for line in lines:
        middle = bins.centres + 0.8 * line.shift
        half = 0.38 / n_series
        ends = middle - half, middle + half
        if line.is_main:
            ax.hlines(line.means, *ends, color=line.colour, linewidth=3, label=line.label)
        else:
            ax.hlines(line.means, *ends, color=line.colour, **line_style(is_dashed=True))
        if line.band is not None:
            ax.vlines(middle, *line.band, color=line.colour, linewidth=1.2)
    ax.set_xlim(-0.6, len(bins.labels) - 0.4)
    label_columns(ax, [Label(label) for label in bins.labels], slanted=True)


def core(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the limits of an axis: the range of all values, or without the outermost 2 % if these are far away."""
    low, high = np.quantile(values, [0.01, 0.99]).tolist()
    span = high - low
    if span == 0 or (values.min() >= low - span and values.max() <= high + span):
        low, high = float(values.min()), float(values.max())
        span = high - low or max(1.0, 1e-6 * abs(high))  # 1 would be lost to rounding next to large numbers
    return low - 0.06 * span, high + 0.06 * span


# --- legends --------------------------------------------------------------------------------------------------------


def add_legend(ax: "Axes", entries: Sequence[Entry]) -> None:
    """Add a legend above the lines of a panel, in as many columns as fit."""
    if not entries:
        return
    columns = _columns(ax, entries, width(ax))
    low, high = ax.get_ylim()
    ax.set_yticks([tick for tick in ax.get_yticks() if low <= tick <= high])  # none beside the legend
    row = 1.5 * type_size(ax) / points(ax, ax.get_window_extent().height)
    ax.set_ylim(low, high + (high - low) * min(row * -(-len(entries) // columns), MOST_ADDED))
    _write(ax, ax, entries, width(ax), columns, loc="upper left", borderaxespad=0)


def add_figure_legend(ax: "Axes", entries: Sequence[Entry]) -> None:
    """Add a legend of all panels at the top of the figure, which must have a layout engine."""
    if entries:
        room = points(ax, ax.figure.bbox.width)
        _write(ax.figure, ax, entries, room, _columns(ax, entries, room), loc="outside upper left")


def _columns(ax: "Axes", entries: Sequence[Entry], room: float) -> int:
    """Return the number of entries that fit side by side into ``room`` points."""
    widest = max(text_width(text, ax.yaxis.label) for text in _texts(ax, entries, room)) + 3.5 * type_size(ax)
    return int(np.clip(room // widest, 1, len(entries)))


def _texts(ax: "Axes", entries: Sequence[Entry], room: float) -> list[str]:
    """Return the texts of the entries, shortened to the width of a row."""
    return fitting([Label(entry.text) for entry in entries], room - 5 * type_size(ax), ax.yaxis.label)


def _write(where: Any, ax: "Axes", entries: Sequence[Entry], room: float, columns: int, **settings: Any) -> None:
    """Add the legend to axes or a figure, without parsing formulas in its texts."""
    make_line = require("matplotlib.lines", "a plot").Line2D
    texts = _texts(ax, entries, room)
    handles = [
        make_line([], [], color=entry.colour or ink(ax), label=text, **line_style(entry.is_dashed))
        for entry, text in zip(entries, texts, strict=True)
    ]
    compact = {"frameon": False, "handlelength": 1.6, "columnspacing": 1, "labelspacing": 0.3}
    legend = where.legend(handles=handles, fontsize=type_size(ax), ncols=columns, **compact, **settings)
    for text in legend.get_texts():
        text.set_parse_math(False)


def line_style(is_dashed: bool) -> dict[str, Any]:
    """Return the style of thin dashed lines or thick solid ones."""
    return {"linestyle": (0, (3.5, 1.8)), "linewidth": 1.1} if is_dashed else {"linestyle": "-", "linewidth": 2.4}
