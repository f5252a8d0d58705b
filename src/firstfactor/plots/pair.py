"""Plot of two factors: the mean of y in cells of both, as colours."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._utils.packages import require
from .axes import (
    Label,
    despine,
    final_height,
    fitting,
    room_at_the_left,
    room_below,
    separate_thousands,
    text_width,
    type_size,
    width,
)
from .original_data import MISSING, AnalysedTable, Bins, make_bins

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

# Minimum and maximum number of bins or levels of each factor, and number of rows in a cell.
LEAST_SIDE, MOST_SIDE, ROWS_IN_CELL = 3, 8, 15

# The colour map goes from dark blue to bright yellow and suits all kinds of colour vision. More steps could not be told
# apart and would make the page larger. The darkest colours would be invisible on a dark page.
COLOUR_MAP, COLOUR_STEPS, DARKEST = "cividis", 32, 0.12


@dataclass(frozen=True)
class Side:
    """One of the two factors."""

    name: str
    bins: Bins
    shows_ends: bool = True
    """False if the smallest and the largest number, which are those of single rows, have no labels."""

    @property
    def labels(self) -> list[str]:
        """Label of each bin, or of each edge of ranges of numbers."""
        if not self.bins.edges.size:
            return list(self.bins.labels)
        if self.bins.is_ranges:
            labels = _write_numbers(self.bins.edges)
            return labels if self.shows_ends else ["", *labels[1:-1], ""]
        return _write_numbers(self.bins.centres[: self.bins.numbers])

    @property
    def count(self) -> int:
        """Number of bins."""
        return len(self.bins.centres)


@dataclass(frozen=True)
class Pair:
    """Two factors, and the mean of y in each of their cells."""

    across: Side
    up: Side
    means: Floats
    """Mean in each cell, of shape (bins up, bins across); NaN without rows."""
    counts: NDArray[np.intp]
    """Number of rows in each cell, of shape (bins up, bins across)."""
    label: str
    """Label of the mean."""


# --- read ----------------------------------------------------------------------------------------------------------


def read_pair(table: AnalysedTable, first: int, second: int, least_rows: int = 1) -> Pair:
    """Return two factors, given by position, with the mean of y in their cells; of grouped columns, the first.

    Cells with fewer than ``least_rows`` rows are blank.

    Of several classes or outputs, it is that of the one whose mean varies most between cells.
    """
    columns, target = table.columns((first, second)), table.target
    most = int(np.clip(np.sqrt(len(target.values) / ROWS_IN_CELL), LEAST_SIDE, MOST_SIDE))
    sides = (columns[i][0] for i in (first, second))
    across, up = (Side(name, make_bins(column, most, MOST_SIDE, least_rows), least_rows == 1) for name, column in sides)
    cell = up.bins.of_row * across.count + across.bins.of_row
    counts = np.bincount(cell, minlength=across.count * up.count)
    sums = np.column_stack([np.bincount(cell, series, minlength=counts.size) for series in target.values.T])
    means = sums / np.maximum(counts, 1)[:, None]
    spread = (counts[:, None] * (means - target.values.mean(axis=0)) ** 2).sum(axis=0)
    shown = int(np.argmax(spread))
    label = target.label
    if len(target.series) > 1:
        series = target.series[shown]
        label = f"share of {target.name} = {series}" if target.classes else f"{series}, standardised"
    shape = up.count, across.count
    seen = np.where(counts >= least_rows, means[:, shown], np.nan)
    return Pair(across, up, seen.reshape(shape), counts.reshape(shape), label)


def _write_numbers(values: Floats) -> list[str]:
    """Format numbers with enough decimals to distinguish them, and with exponents only if needed."""
    largest, span = float(np.abs(values).max()), float(np.ptp(values)) or float(np.abs(values).max())
    different = len(set(values.tolist()))
    if span < 1e-3 or largest >= 1e7:
        ways = [f"{{:.{digits}g}}" for digits in range(3, 18)]
    else:
        first = 0 if (values == np.round(values)).all() else max(1 - int(np.floor(np.log10(span))), 0)
        ways = [f"{{:,.{decimals}f}}" for decimals in range(first, 18)]
    for way in ways:
        texts = [way.format(value) for value in values.tolist()]
        if len(set(texts)) == different:
            break
    return [text.replace("-", "−") for text in texts]


# --- draw ----------------------------------------------------------------------------------------------------------


def draw_pair(ax: "Axes", pair: Pair) -> None:
    """Draw the cells as colours, with a colour bar at the right; cells without rows are blank."""
    colours = _colours()
    mesh = ax.pcolormesh(np.ma.masked_invalid(pair.means), cmap=colours, edgecolor="face", linewidth=0.3)
    scale = ax.figure.colorbar(mesh, ax=ax, pad=0.02, aspect=30)
    scale.outline.set_visible(False)
    separate_thousands(scale.ax)
    if scale.solids is not None:
        scale.solids.set_edgecolor("face")  # else there are white lines between the steps
    short = fitting([Label(pair.label)], final_height(ax), ax.yaxis.label)[0]
    scale.set_label(short, parse_math=False, size=type_size(ax))
    scale.ax.tick_params(labelsize=type_size(ax))
    _label_side(ax, pair.across, is_across=True)
    _label_side(ax, pair.up, is_across=False)
    despine(ax)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)


def _colours() -> Any:
    """Return the colour map."""
    all_colours = require("matplotlib", "a plot").colormaps[COLOUR_MAP]
    return require("matplotlib.colors", "a plot").ListedColormap(all_colours(np.linspace(DARKEST, 1, COLOUR_STEPS)))


def _label_side(ax: "Axes", side: Side, is_across: bool) -> None:
    """Label the edges of ranges, or the middle of single values and levels, and the axis."""
    axis = ax.xaxis if is_across else ax.yaxis
    labels = side.labels
    places = np.arange(len(labels)) + (0.0 if side.bins.is_ranges else 0.5)
    if side.bins.has_missing:
        labels, places = [*labels, MISSING], np.append(places, side.count - 0.5)
    name = ax.yaxis.label
    if is_across:
        each = width(ax) / side.count - 6
        is_turned = each < max(text_width(label, name) for label in labels)
        shown = fitting(
            [Label(label) for label in labels], room_below(ax) - 2 * type_size(ax) if is_turned else each, name
        )
        ax.set_xticks(places, shown, parse_math=False, rotation=90 if is_turned else 0)
    else:
        shown = fitting([Label(label) for label in labels], room_at_the_left(ax) - 2 * type_size(ax), name)
        ax.set_yticks(places, shown, parse_math=False)
    axis.set_tick_params(length=3 if side.bins.is_ranges else 0)
    room = width(ax) if is_across else final_height(ax)
    axis.set_label_text(fitting([Label(side.name)], room, name)[0], parse_math=False)
