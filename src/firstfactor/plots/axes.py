"""Figures of the right size, colours, fonts, and labels that fit; matplotlib cannot shorten a label.

Constrained layout moves axes to make space for their labels. Labels are shortened so that the axes keep most of it, or
so that labels of axes that are given do not leave their figure or overlap with other axes.
"""

import builtins
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._utils.packages import require
from .._utils.text import printable, shorten_all

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    NewFigure = Callable[..., Figure]

# Colours of the palette of Okabe and Ito, which can be told apart with any kind of colour vision.
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#8C8C8C"

# Colours of several series, from the same palette.
SERIES = (BLUE, VERMILION, "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

# Maximum number of rows of a chart; the last one stands for all others.
MOST_ROWS = 60

ROW_HEIGHT, PANEL_WIDTH, PANEL_HEIGHT = 0.27, 2.9, 2.4  # inches

# Size of a plot of two factors.
PAIR_SIZE = (5.2, 4.0)  # inches

# Height of a chart with columns, and the most that rotated names add to it.
CHART_HEIGHT, MOST_FOR_NAMES = 2.8, 1.6  # inches

# Names below the axes are shortened to no less than this width, in points, before they are rotated.
LEAST_ROOM = 80

# Length of a slanted name beside its height and its width.
SLOPE = 2**0.5

# Font with a box for every character, which matplotlib uses if no other font has one.
LAST_RESORT = "Last Resort"


@dataclass(frozen=True)
class Label:
    """Label with a name that may be shortened, between texts that may not."""

    name: str
    before: str = ""
    after: str = ""

    def with_name(self, name: str) -> str:
        """Return the label with another name."""
        return f"{self.before}{name}{self.after}"


def figure_maker() -> "NewFigure":
    """Return the function of pyplot that makes a figure if pyplot is in use, else one without global state."""
    figure = require("matplotlib.figure", "a plot")
    if "matplotlib.pyplot" in sys.modules or hasattr(builtins, "__IPYTHON__"):
        return require("matplotlib.pyplot", "a plot").figure  # type: ignore[no-any-return]
    return figure.Figure  # type: ignore[no-any-return]


def tall_axes(rows: int, new_figure: "NewFigure") -> "Axes":
    """Return the axes of a new figure that is high enough for a number of rows."""
    width = require("matplotlib", "a plot").rcParams["figure.figsize"][0]
    figure = new_figure(figsize=(width, 1.2 + ROW_HEIGHT * max(rows, 3)), layout="constrained")
    return figure.add_subplot()


def wide_axes(labels: Sequence[Label], new_figure: "NewFigure") -> "Axes":
    """Return the axes of a new figure for columns with these labels; it is higher if they have to be rotated."""
    across = require("matplotlib", "a plot").rcParams["figure.figsize"][0]
    figure = new_figure(figsize=(across, CHART_HEIGHT), layout="constrained")
    ax: Axes = figure.add_subplot()
    like = ax.yaxis.label
    if labels and are_turned(labels, column_width(ax, len(labels)), like):
        longest = max(text_width(label.with_name(label.name), like) for label in labels) / 72
        figure.set_figheight(CHART_HEIGHT + min(longest, MOST_FOR_NAMES))
    return ax


def panel_columns(panels: int) -> int:
    """Return the number of panels side by side."""
    return min(panels, 3)


def panels(panels: int, new_figure: "NewFigure") -> NDArray[Any]:
    """Return the axes of a new figure with panels in rows of up to three."""
    if not panels:
        return np.array([], dtype=object)
    across = panel_columns(panels)
    down = -(-panels // across)
    figure = new_figure(figsize=(PANEL_WIDTH * across + 0.4, PANEL_HEIGHT * down), layout="constrained")
    return np.array([figure.add_subplot(down, across, i + 1) for i in range(panels)], dtype=object)


def despine(ax: "Axes") -> None:
    """Remove the lines at the top and at the right."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def ink(ax: "Axes") -> Any:
    """Return the colour of text and lines."""
    return ax.xaxis.label.get_color()


def type_size(ax: "Axes") -> float:
    """Return the font size of all text in points."""
    return float(ax.yaxis.label.get_fontsize())


def add_title(ax: "Axes", text: str, **settings: Any) -> None:
    """Add a title at the left, in the font size of all text."""
    ax.set_title(text, loc="left", parse_math=False, font=ax.yaxis.label.get_fontproperties(), **settings)


def label_columns(
    ax: "Axes", labels: Sequence[Label], notes: Sequence[str] = (), inside: float = 0.0, slanted: bool = False
) -> None:
    """Label the columns at the bottom; if space is short, labels are rotated or slanted, and some are left out.

    Notes, one for each column, are added below or after the names if there is space for all of them. ``inside`` is the
    space within the axes that labels may use, in points.
    """
    ax.set_xticks(range(len(labels)))
    if not labels:
        return
    tick, each = ax.get_xticklabels()[0], column_width(ax, len(labels))
    is_turned = are_turned(labels, each, tick)
    is_slanted = is_turned and slanted and each >= 1.2 * SLOPE * float(tick.get_fontsize())
    room = inside + room_below(ax) if is_turned else each - 6
    if is_slanted:
        room = SLOPE * min(room, room_at_the_left(ax) + each / 2)
    shown = _add_notes(fitting(labels, room, tick), notes, room, is_turned, tick)
    step = int(np.ceil(1.2 * float(tick.get_fontsize()) / each)) if is_turned else 1
    how: dict[str, Any] = {"rotation": 90 if is_turned else 0}
    if is_slanted:
        how = {"rotation": 45, "horizontalalignment": "right", "rotation_mode": "anchor"}
    ax.set_xticks(range(0, len(labels), step), shown[::step], parse_math=False, **how)
    ax.tick_params(axis="x", length=0 if step == 1 else 3)


def column_width(ax: "Axes", columns: int) -> float:
    """Return the width of each column of the axes in points."""
    return width(ax) / max(columns, 1)


def are_turned(labels: Sequence[Label], each: float, like: Any) -> bool:
    """Return True if labels do not fit side by side."""
    widest = max(text_width(label.with_name(printable(label.name)), like) for label in labels)
    return widest > each - 6 and each < LEAST_ROOM


def _add_notes(shown: list[str], notes: Sequence[str], room: float, is_turned: bool, like: Any) -> list[str]:
    """Return labels with their notes, or without them if not all fit."""
    if not any(notes):
        return shown
    if not is_turned:
        fit = all(text_width(note, like) <= room for note in notes)
        return [f"{text}\n{note}" for text, note in zip(shown, notes, strict=True)] if fit else shown
    longer = [f"{text}  {note}" for text, note in zip(shown, notes, strict=True)]
    return longer if all(text_width(text, like) <= room for text in longer) else shown


def label_rows(ax: "Axes", labels: list[Label]) -> None:
    """Label the rows at the left, from top to bottom, with names shortened to the available width."""
    ax.set_yticks(range(len(labels)))
    ax.set_ylim(max(len(labels), 1) - 0.4, -0.6)
    if labels:
        short = fitting(labels, room_at_the_left(ax), ax.get_yticklabels()[0])
        ax.set_yticks(range(len(labels)), short, parse_math=False)
    ax.tick_params(axis="y", length=0)
    despine(ax)


def rows_that_fit(ax: "Axes") -> int:
    """Return the number of rows of text that fit into axes."""
    tick = ax.get_yticklabels()[:1]
    line = 1.3 * (float(tick[0].get_fontsize()) if tick else 10)
    return int(np.clip(points(ax, ax.get_window_extent().height) // line, 3, MOST_ROWS))


def separate_thousands(ax: "Axes") -> None:
    """Format numbers of more than four digits on both axes as 18,820; years have no separator."""
    from matplotlib.ticker import FuncFormatter, ScalarFormatter

    for axis in (ax.xaxis, ax.yaxis):
        plain = axis.get_major_formatter()
        largest = max(map(abs, axis.get_view_interval()))
        if isinstance(plain, ScalarFormatter) and 1e4 <= largest < 1e6:  # beyond, a power of ten stands at the axis
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}".replace("-", "−")))


def room_at_the_left(ax: "Axes") -> float:
    """Return the width in points that labels at the left can have without leaving the figure or reaching other axes."""
    if ax.figure.get_layout_engine() is not None:  # it will move the axes to the right
        return 0.45 * width(ax)
    return _room_before(ax, 0)


def room_below(ax: "Axes") -> float:
    """Return the height in points that labels below can have without leaving the figure or reaching other axes."""
    if ax.figure.get_layout_engine() is not None:  # it will move the axes up
        return 0.5 * points(ax, ax.get_window_extent().height)
    return _room_before(ax, 1)


def _room_before(ax: "Axes", along: int) -> float:
    """Return the points between axes and their neighbour or the edge, at the left (``along`` 0) or below (1)."""
    box, across = ax.get_window_extent(), 1 - along
    ends = [ax.figure.bbox.min[along]]
    for other in ax.figure.axes:
        extent = other.get_window_extent()
        is_before = extent.max[along] <= box.min[along]
        if is_before and extent.min[across] < box.max[across] and box.min[across] < extent.max[across]:
            ends.append(extent.max[along])
    return points(ax, box.min[along] - max(ends)) - 8  # between labels and the axes


def final_width(ax: "Axes") -> float:
    """Return the least width in points of axes after a layout engine has made space for labels at the left."""
    return width(ax) * (1.0 if ax.figure.get_layout_engine() is None else 0.7)


def final_height(ax: "Axes") -> float:
    """Return the least height in points of axes after a layout engine has made space for labels below."""
    return points(ax, ax.get_window_extent().height) * (1.0 if ax.figure.get_layout_engine() is None else 0.6)


def width(ax: "Axes") -> float:
    """Return the width of axes in points."""
    return points(ax, ax.get_window_extent().width)


def points(ax: "Axes", pixels: float) -> float:
    """Convert pixels of a figure to points, the unit of fonts."""
    return pixels * 72 / ax.figure.dpi


def fitting(labels: Sequence[Label], room: float, like: Any) -> list[str]:
    """Return labels with names shortened so that each fits into ``room`` points in the font of another text."""

    def fits(row: int, name: str) -> bool:
        return text_width(labels[row].with_name(name), like) <= room

    short = shorten_all([printable(label.name) for label in labels], fits)
    return [label.with_name(name) for label, name in zip(labels, short, strict=True)]


def text_width(text: str, like: Any) -> float:
    """Return the width of a text in points, in the font of another text."""
    measure = require("matplotlib.textpath", "a plot").TextToPath().get_text_width_height_descent
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on missing characters, which matplotlib repeats when it draws
        return float(measure(text, like.get_fontproperties(), ismath=False)[0])


# --- fonts for names in any script ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fallback:
    """Fonts for characters that the fonts in use lack."""

    families: tuple[str, ...]
    """Installed fonts with these characters."""
    lacking: str
    """Characters that no installed font has."""


@contextmanager
def fonts_for(texts: Iterable[str]) -> Iterator[None]:
    """Add installed fonts with the characters of ``texts`` to those in use, within a ``with`` block."""
    families = find_fallback(texts).families
    matplotlib = require("matplotlib", "a plot")
    with matplotlib.rc_context({"font.family": [*matplotlib.rcParams["font.family"], *families]}):
        yield


def find_fallback(texts: Iterable[str]) -> Fallback:
    """Return installed fonts with the characters that the fonts in use lack."""
    manager = require("matplotlib.font_manager", "a plot")
    in_use = require("matplotlib", "a plot").rcParams["font.family"]
    lacking = {character for text in texts for character in printable(text)}
    for family in in_use:
        lacking -= _held(manager.findfont(manager.FontProperties(family=[family])), lacking)
    families: list[str] = []
    upright = (font for font in manager.fontManager.ttflist if font.style == "normal")
    for font in sorted(upright, key=lambda font: (font.name, font.fname)):
        if not lacking:
            break
        found = set() if font.name.startswith(LAST_RESORT) else _held(font.fname, lacking)
        if found:
            families.append(font.name)
            lacking -= found
    return Fallback(tuple(families), "".join(sorted(lacking)))


def _held(path: str, characters: set[str]) -> set[str]:
    """Return those of some characters that a font has."""
    try:
        font = require("matplotlib.font_manager", "a plot").get_font(path)
    except (OSError, RuntimeError):  # a damaged or missing file
        return set()
    if not font.scalable:  # bitmaps of emoji, which cannot be drawn as text
        return set()
    return {character for character in characters if font.get_char_index(ord(character))}
