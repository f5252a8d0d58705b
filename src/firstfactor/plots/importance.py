"""The picture of importances: one bar per driver with its interval and what it explains alone; why others are out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._utils.text import list_names
from ..results.explanations import why_left_out
from ..results.formats import format_importance, format_p
from ..results.indices import Indices
from ..results.sharing import Driver
from ..results.wording import LEVEL, headline, intervals
from .axes import BLUE, MOST_ROWS, Label, add_title, final_width, label_rows, rows_that_fit, tall_axes, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .axes import NewFigure

# Factors that were left out are named in the picture of importances if there are no more than this.
MOST_LEFT_OUT = 8

# How dense the colour of bars is that may be chance, and of those of what factors explain alone.
PALE, PALEST = 0.4, 0.25

# Heights of bars: of what factors explain alone, and of importances in front of these.
HIGH, LOW = 0.7, 0.36


@dataclass(frozen=True)
class Bar:
    """One row of the picture of importances."""

    label: Label
    value: float
    note: str
    interval: tuple[float, float] | None = None
    """Both ends, within what is possible."""
    weak: bool = False
    alone: float = 0.0
    """What it explains alone, if that is known."""

    @property
    def end(self) -> float:
        """How far the bars and the interval reach."""
        return max(self.value, self.alone, 0.0 if self.interval is None else self.interval[1])


def draw_importance(indices: Indices, ax: "Axes | None", new_figure: "NewFigure") -> "Axes":
    """Draw importances into ``ax`` or into a figure that ``new_figure`` makes."""
    if ax is None:
        bars = _bars(indices, MOST_ROWS)
        ax = tall_axes(len(bars), new_figure)
    else:
        bars = _bars(indices, rows_that_fit(ax))
    colours = [(BLUE, PALE if bar.weak else 1.0) for bar in bars]
    has_alone = any(bar.alone for bar in bars)
    if has_alone:
        ax.barh(range(len(bars)), [bar.alone for bar in bars], height=HIGH, color=(BLUE, PALEST))
    ax.barh(range(len(bars)), [bar.value for bar in bars], height=LOW if has_alone else HIGH, color=colours)
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
    ax.set_xlabel(_axis_label(indices, bars))
    add_title(ax, headline(indices))
    return ax


def _axis_label(indices: Indices, bars: list[Bar]) -> str:
    """What bars, lines and pale bars are."""
    label = "fair share" if indices.is_shapley else "importance"
    label += f" with {100 * LEVEL:g} % interval" if any(bar.interval for bar in bars) else ""
    return f"{label}; pale: alone" if any(bar.alone for bar in bars) else label


def _draw_intervals(ax: "Axes", bars: list[Bar]) -> None:
    """Draw a line from one end of each interval to the other, in the colour of the axes."""
    rows = [(row, *bar.interval) for row, bar in enumerate(bars) if bar.interval is not None]
    if rows:
        row, low, high = zip(*rows, strict=True)
        ax.hlines(row, low, high, colors=ax.xaxis.label.get_color(), linewidth=1.4)


def _bars(indices: Indices, most: int) -> list[Bar]:
    """At most ``most`` rows: the selected factors, then those left out or how many there are."""
    drivers = indices.drivers
    shown = {i for driver in drivers for i in driver.factors}
    others = [i for i in indices.left_out.tolist() if i not in shown]
    room = most - bool(others)
    named = drivers if len(drivers) <= room else drivers[: room - 1]
    bars = _driver_bars(indices, named)
    if len(named) < len(drivers):
        next_best = format_importance(drivers[len(named)].lost)
        bars.append(Bar(Label(f"{len(drivers) - len(named):,} more"), 0.0, f"at most {next_best} each"))
    if len(others) <= min(most - len(bars), MOST_LEFT_OUT):
        bars += [Bar(Label(indices.names[i]), 0.0, why_left_out(indices, i)) for i in others]
    else:
        count = f"{len(others):,} left out" if drivers else f"all {len(others):,} factors"
        bars.append(Bar(Label(count), 0.0, "importance 0"))
    return bars


def _driver_bars(indices: Indices, drivers: Sequence[Driver]) -> list[Bar]:
    """The rows of what drives the response; what may be chance says so."""
    both_ends, weak = intervals(indices), indices.weak
    bars = []
    for driver in drivers:
        i, note, ends = driver.factors[0], format_importance(driver.lost), driver.interval
        is_chance = driver.cluster is None and bool(weak[i])
        if is_chance:
            note += f" (weak, p {format_p(float(indices.p_values[i]))})" if indices.has_p_values else " (weak)"
        if driver.cluster is None and np.isnan(both_ends[i]).any():
            ends = None
        bars.append(Bar(Label(_name(indices, driver)), driver.lost, note, ends, is_chance, _alone(indices, driver)))
    return bars


def _name(indices: Indices, driver: Driver) -> str:
    """A factor, or several that share what they tell."""
    last = "or" if driver.cluster is None or driver.cluster.any_will_do else "and"
    return list_names([indices.names[i] for i in driver.factors], last)


def _alone(indices: Indices, driver: Driver) -> float:
    """What a driver, or the best factor of several, explains alone; 0 where that is not known."""
    if indices.sharing is None:
        return 0.0
    return float(np.nan_to_num(indices.sharing.alone.values[list(driver.factors)]).max())
