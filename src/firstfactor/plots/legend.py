"""Legends that say once what lines mean, in the type size of all text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.optional import require
from .axes import Label, fitting, ink, points, text_width, type_size, width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The most of the height of a panel that a legend above its lines adds.
MOST_ADDED = 0.8


@dataclass(frozen=True)
class Entry:
    """What one kind of line means."""

    text: str
    colour: str | None = None
    """None for that of text."""
    is_dashed: bool = False


def add_legend(ax: "Axes", entries: Sequence[Entry]) -> None:
    """Explain the lines of a panel above them, in as many columns as there is room for."""
    if not entries:
        return
    columns = _columns(ax, entries, width(ax))
    low, high = ax.get_ylim()
    ax.set_yticks([tick for tick in ax.get_yticks() if low <= tick <= high])  # none beside the legend
    row = 1.5 * type_size(ax) / points(ax, ax.get_window_extent().height)
    ax.set_ylim(low, high + (high - low) * min(row * -(-len(entries) // columns), MOST_ADDED))
    _write(ax, ax, entries, width(ax), columns, loc="upper left", borderaxespad=0)


def add_figure_legend(ax: "Axes", entries: Sequence[Entry]) -> None:
    """Explain the lines of all panels at the top of the figure, which must have a layout engine."""
    if entries:
        room = points(ax, ax.figure.bbox.width)
        _write(ax.figure, ax, entries, room, _columns(ax, entries, room), loc="outside upper left")


def _columns(ax: "Axes", entries: Sequence[Entry], room: float) -> int:
    """How many entries stand side by side in so many points."""
    widest = max(text_width(text, ax.yaxis.label) for text in _texts(ax, entries, room)) + 3.5 * type_size(ax)
    return int(np.clip(room // widest, 1, len(entries)))


def _texts(ax: "Axes", entries: Sequence[Entry], room: float) -> list[str]:
    """Texts shortened so that one stands in a row."""
    return fitting([Label(entry.text) for entry in entries], room - 5 * type_size(ax), ax.yaxis.label)


def _write(where: Any, ax: "Axes", entries: Sequence[Entry], room: float, columns: int, **settings: Any) -> None:
    """Write the legend into axes or a figure; its texts are no formulas."""
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
    """How lines are drawn that are in the background, and others."""
    return {"linestyle": (0, (3.5, 1.8)), "linewidth": 1.1} if is_dashed else {"linestyle": "-", "linewidth": 2.4}
