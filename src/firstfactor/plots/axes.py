"""What all pictures share: colours, figures of the right size, and labels that fit."""

import builtins
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._utils.optional import require
from .._utils.shorten import shorten_all
from .._utils.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    NewFigure = Callable[..., Figure]

# From the palette of Okabe and Ito, which people with any colour vision tell apart.
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#8C8C8C"

# Of several series, in the palette of Okabe and Ito that everybody tells apart.
SERIES = (BLUE, VERMILION, "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

# A picture with more rows than this is no longer looked at; the rest is summed up in one.
MOST_ROWS = 60

ROW_HEIGHT, PANEL_WIDTH, PANEL_HEIGHT = 0.27, 2.9, 2.4  # inches

# Of a picture of two factors.
PAIR_SIZE = (5.2, 4.0)  # inches

# Of a chart with columns: its height, and what it may be higher for names that are turned.
CHART_HEIGHT, MOST_FOR_NAMES = 2.8, 1.6  # inches

# Names below the axes are shortened to no less than this, in points, before they are turned.
LEAST_ROOM = 80


@dataclass(frozen=True)
class Label:
    """A name that may be shortened, between texts that may not."""

    name: str
    before: str = ""
    after: str = ""

    def with_name(self, name: str) -> str:
        """The label with a shorter name."""
        return f"{self.before}{name}{self.after}"


def figure_maker() -> "NewFigure":
    """Return pyplot's way to make a figure where pyplot is in use, else one that leaves no trace."""
    figure = require("matplotlib.figure", "a plot")
    if "matplotlib.pyplot" in sys.modules or hasattr(builtins, "__IPYTHON__"):
        return require("matplotlib.pyplot", "a plot").figure  # type: ignore[no-any-return]
    return figure.Figure  # type: ignore[no-any-return]


def tall_axes(rows: int, new_figure: "NewFigure") -> "Axes":
    """The axes of a new figure that is high enough for some rows."""
    width = require("matplotlib", "a plot").rcParams["figure.figsize"][0]
    figure = new_figure(figsize=(width, 1.2 + ROW_HEIGHT * max(rows, 3)), layout="constrained")
    return figure.add_subplot()


def wide_axes(labels: Sequence[Label], new_figure: "NewFigure") -> "Axes":
    """The axes of a new figure with columns that have such labels: higher where these must be turned."""
    across = require("matplotlib", "a plot").rcParams["figure.figsize"][0]
    figure = new_figure(figsize=(across, CHART_HEIGHT), layout="constrained")
    ax: Axes = figure.add_subplot()
    like = ax.yaxis.label
    if labels and are_turned(labels, column_width(ax, len(labels)), like):
        longest = max(text_width(label.with_name(label.name), like) for label in labels) / 72
        figure.set_figheight(CHART_HEIGHT + min(longest, MOST_FOR_NAMES))
    return ax


def panel_columns(panels: int) -> int:
    """How many panels stand side by side."""
    return min(panels, 3)


def panels(panels: int, new_figure: "NewFigure") -> NDArray[Any]:
    """The axes of a new figure with panels in rows of up to three."""
    if not panels:
        return np.array([], dtype=object)
    across = panel_columns(panels)
    down = -(-panels // across)
    figure = new_figure(figsize=(PANEL_WIDTH * across + 0.4, PANEL_HEIGHT * down), layout="constrained")
    return np.array([figure.add_subplot(down, across, i + 1) for i in range(panels)], dtype=object)


def despine(ax: "Axes") -> None:
    """Take away the lines at the top and at the right."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def ink(ax: "Axes") -> Any:
    """The colour of text and lines."""
    return ax.xaxis.label.get_color()


def type_size(ax: "Axes") -> float:
    """The size of all text in points."""
    return float(ax.yaxis.label.get_fontsize())


def add_title(ax: "Axes", text: str, **settings: Any) -> None:
    """Write a title at the left, in the size of all text."""
    ax.set_title(text, loc="left", parse_math=False, font=ax.yaxis.label.get_fontproperties(), **settings)


def label_columns(ax: "Axes", labels: Sequence[Label], notes: Sequence[str] = (), inside: float = 0.0) -> None:
    """Name the columns at the bottom, from left to right: turned, and some left out, as there is room.

    Notes, one for each, stand below the names or behind them, if there is room for all of them. ``inside`` is how much
    room there is in the axes themselves, in points.
    """
    ax.set_xticks(range(len(labels)))
    if not labels:
        return
    tick, each = ax.get_xticklabels()[0], column_width(ax, len(labels))
    is_turned = are_turned(labels, each, tick)
    room = inside + room_below(ax) if is_turned else each - 6
    shown = _add_notes(fitting(labels, room, tick), notes, room, is_turned, tick)
    step = int(np.ceil(1.2 * float(tick.get_fontsize()) / each)) if is_turned else 1
    ax.set_xticks(range(0, len(labels), step), shown[::step], parse_math=False, rotation=90 if is_turned else 0)
    ax.tick_params(axis="x", length=0 if step == 1 else 3)


def column_width(ax: "Axes", columns: int) -> float:
    """The width of each of some columns of axes, in points."""
    return width(ax) / max(columns, 1)


def are_turned(labels: Sequence[Label], each: float, like: Any) -> bool:
    """Whether names do not fit side by side."""
    widest = max(text_width(label.with_name(printable(label.name)), like) for label in labels)
    return widest > each - 6 and each < LEAST_ROOM


def _add_notes(shown: list[str], notes: Sequence[str], room: float, is_turned: bool, like: Any) -> list[str]:
    """Labels with their notes, if these fit as well."""
    if not any(notes):
        return shown
    if not is_turned:
        fit = all(text_width(note, like) <= room for note in notes)
        return [f"{text}\n{note}" for text, note in zip(shown, notes, strict=True)] if fit else shown
    longer = [f"{text}  {note}" for text, note in zip(shown, notes, strict=True)]
    return longer if all(text_width(text, like) <= room for text in longer) else shown


def label_rows(ax: "Axes", labels: list[Label]) -> None:
    """Name the rows at the left, from top to bottom, shortened to the room there is."""
    ax.set_yticks(range(len(labels)))
    ax.set_ylim(max(len(labels), 1) - 0.4, -0.6)
    if labels:
        short = fitting(labels, room_at_the_left(ax), ax.get_yticklabels()[0])
        ax.set_yticks(range(len(labels)), short, parse_math=False)
    ax.tick_params(axis="y", length=0)
    despine(ax)


def rows_that_fit(ax: "Axes") -> int:
    """How many rows of text axes have room for."""
    tick = ax.get_yticklabels()[:1]
    line = 1.3 * (float(tick[0].get_fontsize()) if tick else 10)
    return int(np.clip(points(ax, ax.get_window_extent().height) // line, 3, MOST_ROWS))


def separate_thousands(ax: "Axes") -> None:
    """Write numbers of more than four digits on both axes as 18,820; a year has no separator."""
    from matplotlib.ticker import FuncFormatter, ScalarFormatter

    for axis in (ax.xaxis, ax.yaxis):
        plain = axis.get_major_formatter()
        largest = max(map(abs, axis.get_view_interval()))
        if isinstance(plain, ScalarFormatter) and 1e4 <= largest < 1e6:  # beyond, a power of ten stands at the axis
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}".replace("-", "−")))


def room_at_the_left(ax: "Axes") -> float:
    """How wide names beside the axes can be, in points, without leaving the figure or meeting other axes."""
    if ax.figure.get_layout_engine() is not None:  # it will move the axes to the right
        return 0.45 * width(ax)
    return _room_before(ax, 0)


def room_below(ax: "Axes") -> float:
    """How high names below the axes can be, in points, without leaving the figure or meeting other axes."""
    if ax.figure.get_layout_engine() is not None:  # it will move the axes up
        return 0.5 * points(ax, ax.get_window_extent().height)
    return _room_before(ax, 1)


def _room_before(ax: "Axes", along: int) -> float:
    """Points between axes and what is next to them: at the left if ``along`` is 0, below if it is 1."""
    box, across = ax.get_window_extent(), 1 - along
    ends = [ax.figure.bbox.min[along]]
    for other in ax.figure.axes:
        extent = other.get_window_extent()
        is_before = extent.max[along] <= box.min[along]
        if is_before and extent.min[across] < box.max[across] and box.min[across] < extent.max[across]:
            ends.append(extent.max[along])
    return points(ax, box.min[along] - max(ends)) - 8  # what lies between a name and the axes


def final_width(ax: "Axes") -> float:
    """How wide axes with names beside them will be at least, in points: a layout engine makes room for those."""
    return width(ax) * (1.0 if ax.figure.get_layout_engine() is None else 0.7)


def final_height(ax: "Axes") -> float:
    """How high axes with names below them will be at least, in points."""
    return points(ax, ax.get_window_extent().height) * (1.0 if ax.figure.get_layout_engine() is None else 0.6)


def width(ax: "Axes") -> float:
    """The width of axes in points."""
    return points(ax, ax.get_window_extent().width)


def points(ax: "Axes", pixels: float) -> float:
    """Return pixels of a figure in points, the unit of fonts."""
    return pixels * 72 / ax.figure.dpi


def fitting(labels: Sequence[Label], room: float, like: Any) -> list[str]:
    """Return labels with names shortened so that each fits in ``room`` points, set like other text."""

    def fits(row: int, name: str) -> bool:
        return text_width(labels[row].with_name(name), like) <= room

    short = shorten_all([printable(label.name) for label in labels], fits)
    return [label.with_name(name) for label, name in zip(labels, short, strict=True)]


def text_width(text: str, like: Any) -> float:
    """The width of a text in points, in the font of another one."""
    measure = require("matplotlib.textpath", "a plot").TextToPath().get_text_width_height_descent
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # characters that the font does not have: said when drawn
        return float(measure(text, like.get_fontproperties(), ismath=False)[0])
