"""Charts of bars: the importance of each driver, and selection frequencies on random half-samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..results.constants import LEVEL
from ..results.formats import format_importance
from ..results.indices import Indices, ranking_lines
from ..results.ranking_line import RankingLine
from ..results.stability import Stability
from ..results.wording import headline, importance_words
from .axes import (
    BLUE,
    GREY,
    MOST_ROWS,
    VERMILION,
    Label,
    add_title,
    final_width,
    label_rows,
    rows_that_fit,
    tall_axes,
    text_width,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .axes import NewFigure

# Factors that were left out, or never selected, are named if there are at most this many.
MOST_NAMED = 8

# Opacity of bars with weak evidence, and of bars for the share that factors explain alone.
PALE, PALEST = 0.4, 0.25

# Heights of bars: for the share that factors explain alone, and of importances in front of these.
HIGH, LOW = 0.7, 0.36


@dataclass(frozen=True)
class Bar:
    """One row of a chart."""

    label: Label
    value: float = 0.0
    note: str = ""
    interval: tuple[float, float] | None = None
    alone: float = 0.0
    """Share that the factor explains alone, if known."""
    is_strong: bool = True
    """False for factors with weak evidence, or whose frequency is below the threshold."""

    @property
    def end(self) -> float:
        """Largest value of the bars and the interval."""
        return max(self.value, self.alone, 0.0 if self.interval is None else self.interval[1])


def draw_importance(indices: Indices, ax: "Axes | None", new_figure: "NewFigure") -> "Axes":
    """Draw importances into ``ax``, or into a figure made by ``new_figure``."""
    lines = ranking_lines(indices)
    bars = _importance_bars(lines, MOST_ROWS if ax is None else rows_that_fit(ax))
    ax = tall_axes(len(bars), new_figure) if ax is None else ax
    has_alone = any(bar.alone for bar in bars)
    if has_alone:
        ax.barh(range(len(bars)), [bar.alone for bar in bars], height=HIGH, color=(BLUE, PALEST))
    colours = [(BLUE, 1.0 if bar.is_strong else PALE) for bar in bars]
    ax.barh(range(len(bars)), [bar.value for bar in bars], height=LOW if has_alone else HIGH, color=colours)
    right = 0.0
    for row, bar in enumerate(bars):
        note = ax.annotate(bar.note, (bar.end, row), (4, 0), textcoords="offset points", va="center")
        note.set_alpha(1 if bar.end else 0.7)
        right = max(right, bar.end / (1 - min((text_width(bar.note, note) + 8) / final_width(ax), 0.7)))
    ax.set_xlim(0, right or 1.0)
    if max(bar.end for bar in bars) <= 1 < right:  # only a note extends beyond 1, the largest possible importance
        ax.set_xticks(np.linspace(0, 1, 6))
    intervals = [(row, *bar.interval) for row, bar in enumerate(bars) if bar.interval is not None]
    if intervals:
        rows, low, high = zip(*intervals, strict=True)
        ax.hlines(rows, low, high, colors=ax.xaxis.label.get_color(), linewidth=1.4)
    label_rows(ax, [bar.label for bar in bars])
    ax.set_xlabel(_axis_label(indices, bars))
    add_title(ax, headline(indices))
    return ax


def _axis_label(indices: Indices, bars: Sequence[Bar]) -> str:
    """Return the meaning of bars, lines and pale bars."""
    label = importance_words(indices).axis
    label += f" with {100 * LEVEL:g} % interval" if any(bar.interval for bar in bars) else ""
    return f"{label}; pale: alone" if any(bar.alone for bar in bars) else label


def _importance_bars(lines: Sequence[RankingLine], most: int) -> list[Bar]:
    """Return at most ``most`` bars: the drivers, then the factors that were left out, or their number."""
    drivers = [line for line in lines if line.rank is not None]
    others = lines[len(drivers) :]
    room = most - bool(others)
    named = drivers if len(drivers) <= room else drivers[: room - 1]
    bars = [
        Bar(Label(line.name), line.importance, _note(line), line.shown_interval, line.alone or 0.0, not line.weak)
        for line in named
    ]
    if len(named) < len(drivers):
        next_best = format_importance(drivers[len(named)].importance)
        bars.append(Bar(Label(f"{len(drivers) - len(named):,} more"), note=f"at most {next_best} each"))
    if len(others) <= min(most - len(bars), MOST_NAMED):
        bars += [Bar(Label(line.name), note=line.reason) for line in others]
    else:
        count = f"{len(others):,} left out" if drivers else f"all {len(others):,} factors"
        bars.append(Bar(Label(count), note="importance 0"))
    return bars


def _note(line: RankingLine) -> str:
    """Return the importance of a driver, and whether the evidence is weak."""
    weak = f" (weak, p {line.p_text})" if line.p_text else " (weak)"
    return line.importance_text + weak * line.weak


def draw_stability(result: Stability, ax: "Axes | None", new_figure: "NewFigure") -> "Axes":
    """Draw selection frequencies into ``ax``, or into a figure made by ``new_figure``."""
    bars = _stability_bars(result, MOST_ROWS if ax is None else rows_that_fit(ax))
    ax = tall_axes(len(bars), new_figure) if ax is None else ax
    colours = [BLUE if bar.is_strong else GREY for bar in bars]
    ax.barh(range(len(bars)), [bar.value for bar in bars], height=HIGH, color=colours)
    for row, bar in enumerate(bars):
        note = ax.annotate(bar.note, (bar.value, row), (4, 0), textcoords="offset points", va="center")
        note.set_alpha(1 if bar.value else 0.7)
        note.set_bbox({"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1})  # hides the threshold behind it
    room = min(32 / final_width(ax), 0.5)  # for the note of a bar that reaches 1
    ax.set_xlim(0, 1 / (1 - room))
    ax.spines["bottom"].set_bounds(0, 1)
    ax.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    ax.axvline(result.threshold, color=VERMILION, linestyle="--", linewidth=1.2)
    ax.annotate(
        f"threshold {result.threshold:g}",
        (result.threshold, 1),  # above the axes, where there are no bars
        (0, 3),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="center",
        va="bottom",
        color=VERMILION,
    )
    label_rows(ax, [bar.label for bar in bars])
    ax.set_xlabel("selection frequency")
    count, total = result.selected.size, len(result.names)
    add_title(ax, f"{count:,} of {total:,} reach the threshold ({2 * result.n_pairs:,} half-samples)", pad=20)
    return ax


def _stability_bars(result: Stability, most: int) -> list[Bar]:
    """Return at most ``most`` bars: the factors by decreasing frequency, then the number of others."""
    ever = [i for i in result.order.tolist() if result.frequencies[i]]
    never = [i for i in result.order.tolist() if not result.frequencies[i]]
    room = most - bool(never)
    named = ever if len(ever) <= room else ever[: room - 1]
    bars = [_stability_bar(result, i) for i in named]
    if len(named) < len(ever):
        next_best = _format_frequency(float(result.frequencies[ever[len(named)]]))
        bars.append(Bar(Label(f"{len(ever) - len(named):,} more"), note=f"at most {next_best} each", is_strong=False))
    if len(never) <= min(most - len(bars), MOST_NAMED):
        bars += [_stability_bar(result, i) for i in never]
    else:
        count = f"{len(never):,} others" if ever else f"all {len(never):,} factors"
        bars.append(Bar(Label(count), note="never selected", is_strong=False))
    return bars


def _stability_bar(result: Stability, factor: int) -> Bar:
    """Return the bar of one factor."""
    frequency = float(result.frequencies[factor])
    note = _format_frequency(frequency) if frequency else "never selected"
    return Bar(Label(result.names[factor]), frequency, note, is_strong=frequency >= result.threshold)


def _format_frequency(frequency: float) -> str:
    """Format a frequency with two decimals; only exact frequencies of 0 and 1 are shown as such."""
    return "<0.01" if frequency < 0.005 else ">0.99" if 0.995 <= frequency < 1 else f"{frequency:.2f}"
