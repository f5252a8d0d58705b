"""The picture of importances: one bar per factor with its interval, and why others were left out."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..results.formats import format_importance, format_p
from ..results.indices import Indices
from ..results.wording import LEVEL, headline, intervals
from .axes import BLUE, MOST_ROWS, Label, add_title, final_width, label_rows, rows_that_fit, tall_axes, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .axes import NewFigure

# Factors that were left out are named in the picture of importances if there are no more than this.
MOST_LEFT_OUT = 8

# How dense the colour of bars is that may be chance.
PALE = 0.4


@dataclass(frozen=True)
class Bar:
    """One row of the picture of importances."""

    label: Label
    value: float
    note: str
    interval: tuple[float, float] | None = None
    """Both ends, within what is possible."""
    weak: bool = False

    @property
    def end(self) -> float:
        """How far the bar and its interval reach."""
        return self.value if self.interval is None else max(self.value, self.interval[1])


def draw_importance(indices: Indices, ax: "Axes | None", new_figure: "NewFigure") -> "Axes":
    """Draw importances into ``ax`` or into a figure that ``new_figure`` makes."""
    if ax is None:
        bars = _bars(indices, MOST_ROWS)
        ax = tall_axes(len(bars), new_figure)
    else:
        bars = _bars(indices, rows_that_fit(ax))
    colours = [(BLUE, PALE if bar.weak else 1.0) for bar in bars]
    ax.barh(range(len(bars)), [bar.value for bar in bars], height=0.7, color=colours)
    right = 0.0
    for row, bar in enumerate(bars):
        note = ax.annotate(bar.note, (bar.end, row), (4, 0), textcoords="offset points", va="center")
        note.set_alpha(1 if bar.end else 0.7)
        right = max(right, bar.end / (1 - min((text_width(bar.note, note) + 8) / final_width(ax), 0.7)))
    ax.set_xlim(0, right or 1.0)
    if max(bar.end for bar in bars) <= 1 < right:  # a note needs the room: the scale ends where indices do
        ax.set_xticks(np.linspace(0, 1, 6))
    _draw_intervals(ax, bars)
    label_rows(ax, [bar.label for bar in bars])
    known = any(bar.interval for bar in bars)
    ax.set_xlabel(f"importance with {100 * LEVEL:g} % interval" if known else "importance (total index)")
    add_title(ax, headline(indices))
    return ax


def _draw_intervals(ax: "Axes", bars: list[Bar]) -> None:
    """Draw a line from one end of each interval to the other, in the colour of the axes."""
    rows = [(row, *bar.interval) for row, bar in enumerate(bars) if bar.interval is not None]
    if rows:
        row, low, high = zip(*rows, strict=True)
        ax.hlines(row, low, high, colors=ax.xaxis.label.get_color(), linewidth=1.4)


def _bars(indices: Indices, most: int) -> list[Bar]:
    """At most ``most`` rows: the selected factors, then those left out or how many there are."""
    selected, others = indices.selected.tolist(), indices.left_out.tolist()
    room = most - bool(others)
    named = selected if len(selected) <= room else selected[: room - 1]
    bars = _selected_bars(indices, named)
    if len(named) < len(selected):
        next_best = format_importance(float(indices.shares[selected[len(named)]]))
        bars.append(Bar(Label(f"{len(selected) - len(named):,} more"), 0.0, f"at most {next_best} each"))
    if len(others) <= min(most - len(bars), MOST_LEFT_OUT):
        bars += [Bar(Label(indices.names[i]), 0.0, indices.why_left_out(i)) for i in others]
    else:
        count = f"{len(others):,} left out" if selected else f"all {len(others):,} factors"
        bars.append(Bar(Label(count), 0.0, "importance 0"))
    return bars


def _selected_bars(indices: Indices, factors: list[int]) -> list[Bar]:
    """The rows of factors with an index; those that may be chance say so."""
    both_ends, weak, shares = intervals(indices), indices.weak, indices.shares
    bars = []
    for i in factors:
        note = format_importance(float(shares[i]))
        if weak[i]:
            note += f" (weak, p {format_p(float(indices.p_values[i]))})" if indices.has_p_values else " (weak)"
        ends = None if np.isnan(both_ends[i]).any() else (float(both_ends[i, 0]), float(both_ends[i, 1]))
        bars.append(Bar(Label(indices.names[i]), float(shares[i]), note, ends, bool(weak[i])))
    return bars
