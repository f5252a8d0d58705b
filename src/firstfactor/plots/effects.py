"""The picture of an effect: y against one factor, as it looks and with the other factors held fixed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._utils.normal import normal_quantile
from ..results.wording import LEVEL
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
from .bins import Bins
from .effect_levels import Effect, shown_series
from .legend import Entry, add_legend, line_style
from .original_data import MISSING, OriginalTarget

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Points in a panel of effects: more only hide each other.
MOST_POINTS = 500

# Series in a panel where each is drawn twice.
MOST_DOUBLE = 3

# What the two kinds of lines are called.
HELD_FIXED, AS_IT_LOOKS = "others held fixed", "as it looks"


@dataclass(frozen=True)
class Line:
    """The levels of one series, and how they are drawn."""

    means: NDArray[np.float64]
    band: tuple[NDArray[np.float64], NDArray[np.float64]] | None
    """Both ends of the interval of each level; None without."""
    colour: Any
    label: str
    is_main: bool
    """Whether it is drawn thick; others are thin and dashed."""
    shift: float = 0.0
    """How far beside the middle of a level it is drawn."""


def draw_effect(ax: "Axes", effect: Effect, target: OriginalTarget, legend: bool = True) -> None:
    """Draw one panel: the response against one column."""
    lines = _lines(ax, effect, target)
    if len(target.series) == 1:
        _draw_rows(ax, effect, target)
    if effect.column.levels:
        _draw_levels(ax, effect.bins, lines)
    else:
        _draw_numbers(ax, effect, lines)
    if len(target.series) == 1:
        ax.set_ylim(*_core(target.values[:, 0]))
    if legend:
        add_legend(ax, legend_entries([effect], target))
    despine(ax)
    separate_thousands(ax)
    room = points(ax, ax.get_window_extent().height)
    ax.set_ylabel(fitting([Label(target.label)], room, ax.yaxis.label)[0], parse_math=False)


def _lines(ax: "Axes", effect: Effect, target: OriginalTarget) -> list[Line]:
    """What is drawn of each series: levels as they look, then with others held fixed."""
    shown = shown_series(target)
    held = effect.fixed is not None and bool(effect.others)
    double = held and len(shown) <= MOST_DOUBLE
    lines = []
    for k, series in enumerate(shown):
        colour, shift = SERIES[k], (k - (len(shown) - 1) / 2) / len(shown)
        if double:
            dashed = ink(ax) if len(shown) == 1 else colour
            lines.append(Line(effect.plain.means[:, k], None, dashed, AS_IT_LOOKS, False, shift))
        levels = effect.plain if effect.fixed is None else effect.fixed
        half, means = normal_quantile((1 + LEVEL) / 2) * levels.standard_errors[:, k], levels.means[:, k]
        low, middle, high = (_possible(target, values) for values in (means - half, means, means + half))
        band = None if effect.fixed is None else (low, high)
        lines.append(Line(middle, band, colour, target.series[series], True, shift))
    return lines


def _possible(target: OriginalTarget, levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Levels as they can be: a sum of effects may leave the range of shares."""
    return np.clip(levels, 0, 1) if target.classes else levels


def legend_entries(effects: Sequence[Effect], target: OriginalTarget) -> list[Entry]:
    """What a legend explains; nothing where one line speaks for itself."""
    shown = shown_series(target)
    entries = [Entry(target.series[series], SERIES[k]) for k, series in enumerate(shown)] if len(shown) > 1 else []
    if not any(effect.fixed is not None and effect.others for effect in effects):
        return entries
    entries.append(Entry(HELD_FIXED, SERIES[0] if len(shown) == 1 else None))
    if len(shown) <= MOST_DOUBLE:
        entries.append(Entry(AS_IT_LOOKS, is_dashed=True))
    return entries


def _draw_rows(ax: "Axes", effect: Effect, target: OriginalTarget) -> None:
    """Draw some rows as pale dots; those of a level beside each other."""
    rng = np.random.default_rng(0)
    rows = np.flatnonzero(effect.column.known)
    if len(rows) > MOST_POINTS:
        rows = np.sort(rng.choice(rows, MOST_POINTS, replace=False))
    x, y = effect.column.values[rows], target.values[rows, 0]
    if not effect.column.levels and effect.bins.numbers:  # beyond the axis is the place of missing values
        x = np.where(x <= _core(effect.column.values[effect.column.known])[1], x, np.nan)
    if effect.column.levels:
        x = effect.bins.of_row[rows] + rng.uniform(-0.3, 0.3, size=len(rows))
    if target.classes:  # so that rows do not hide each other
        y = y + rng.uniform(-0.04, 0.04, size=len(rows))
    ax.plot(x, y, ".", color=GREY, markersize=4, alpha=0.45, mew=0)


def _draw_numbers(ax: "Axes", effect: Effect, lines: list[Line]) -> None:
    """Draw levels as lines from bin to bin, and that of missing values apart at the right."""
    bins = effect.bins
    if not bins.numbers:
        return
    low, high = _core(effect.column.values[effect.column.known])
    x, apart = bins.centres[: bins.numbers], high + 0.06 * (high - low)
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
    """Draw the level of missing values."""
    if line.band is not None:
        ax.vlines(x, line.band[0][-1], line.band[1][-1], color=line.colour, linewidth=1.2)
    if line.is_main:
        ax.plot([x], [line.means[-1]], "D", color=line.colour, markersize=4.5)
    else:
        ax.plot([x], [line.means[-1]], "D", color="none", markeredgecolor=line.colour, markersize=4.5, mew=0.9)


def _name_missing(ax: "Axes", edge: float, apart: float) -> None:
    """Set the place of missing values apart at the right, and name it below, where no number is in the way."""
    low, end = ax.get_xlim()[0], 2 * apart - edge
    room = (text_width(MISSING, ax.yaxis.label) / 2 + 2 * type_size(ax)) * (end - low) / width(ax)
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= min(edge, apart - room)]
    labels = ax.xaxis.get_major_formatter().format_ticks(ticks)
    ax.set_xticks([*ticks, apart], [*labels, MISSING])
    ax.axvline(edge, color=GREY, linewidth=0.6, alpha=0.6)
    ax.set_xlim(low, end)


def _draw_levels(ax: "Axes", bins: Bins, lines: list[Line]) -> None:
    """Draw the level of y of each level of a category as a dash with its interval; several series side by side."""
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
    label_columns(ax, [Label(label) for label in bins.labels])


def _core(values: NDArray[np.float64]) -> tuple[float, float]:
    """Limits for an axis: all values, or without the outermost 2 % where these are far away."""
    low, high = np.quantile(values, [0.01, 0.99]).tolist()
    span = high - low
    if span == 0 or (values.min() >= low - span and values.max() <= high + span):
        low, high = float(values.min()), float(values.max())
        span = high - low or max(1.0, 1e-6 * abs(high))  # of huge numbers, 1 would be lost to rounding
    return low - 0.06 * span, high + 0.06 * span
