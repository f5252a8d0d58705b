"""Plot of a selection: the share explained after each step, from left to right."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..results.formats import format_p
from ..results.indices import Indices
from ..results.path import Path, Step
from ..results.wording import is_calibrated, name_nothing
from .axes import (
    BLUE,
    VERMILION,
    Label,
    add_title,
    are_turned,
    column_width,
    despine,
    label_columns,
    points,
    room_below,
    text_width,
    type_size,
    wide_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .axes import NewFigure

# Maximum number of factors of one step that are named, and of the characters of their names together.
MOST_NAMED, MOST_CHARACTERS = 3, 30

# Space above R² = 1 for its value, as a share of the axis.
HEADROOM = 0.12

# Points that rotated names need below the axes, or else the share of the height of the axes that they use.
LEAST_BELOW, ROOM_INSIDE = 60, 0.45

# Smaller p-values are not shown.
BEYOND_DOUBT = 0.0005


@dataclass(frozen=True)
class Stop:
    """Column of the plot: a change of the set of factors, and R² after it."""

    label: Label
    r2: float
    stays: bool
    """True for factors that enter and are never removed, and for the start."""
    p_value: float | None = None


def stops(path: Path, final_r2: float) -> list[Stop]:
    """Return the changes of a selection in order, after the start if that is not empty."""
    found = []
    first = path.steps[0] if path.steps else None
    if first is not None and first.base:
        start = f"{len(first.base):,} always in" if first.phase == "forward" else f"all {len(first.base):,}"
        found.append(Stop(Label(start), first.base_explained / path.response_variance, True))
    left = set(path.removed)
    for step, following in zip(path.steps, (*path.steps[1:], None), strict=False):
        if step.chosen:
            r2 = final_r2 if following is None else following.base_explained / path.response_variance
            if step.entering and not step.leaving and found:  # more factors explain no less; estimates vary
                r2 = max(r2, found[-1].r2)
            stays = bool(step.entering) and not left.intersection(step.entering)
            found.append(Stop(_label(path, step), r2, stays, step.p_value))
    return found


def _label(path: Path, step: Step) -> Label:
    """Return the label of a step: the factors that enter or leave."""
    if step.entering and step.leaving:  # one for several
        return Label(path.names[step.entering[0]], "+ ", f" for {len(step.leaving):,}")
    sign, names = "+ " if step.entering else "− ", [path.names[i] for i in step.chosen]
    together = ", ".join(names)
    if len(names) == 1 or (len(names) <= MOST_NAMED and len(together) <= MOST_CHARACTERS):
        return Label(together, sign)
    return Label(names[0], sign, f", {len(names) - 1:,} more")


def draw_path(indices: Indices, ax: "Axes | None", new_figure: "NewFigure") -> "Axes":
    """Draw the path into ``ax``, or into a figure made by ``new_figure``."""
    if indices.path is None:
        raise ValueError(
            f"result must come from a selection; {indices.method} has no path. Use FIRST or backward_elimination, or "
            "plot_importance for the indices."
        )
    found = stops(indices.path, indices.r2_ceiling)
    labels = [stop.label for stop in found]
    if ax is None:
        ax = wide_axes(labels, new_figure)
    ceiling = _draw_ceiling(ax, indices)
    inside = _set_limits(ax, found)
    _draw_stops(ax, found, ceiling)
    label_columns(ax, labels, [_note(stop) for stop in found], inside)
    ax.set_ylabel(_axis_label(indices))
    changes = sum(bool(stop.label.before) for stop in found)
    add_title(ax, f"{changes:,} step{'' if changes == 1 else 's'}" if found else name_nothing(indices))
    if ax.get_legend_handles_labels()[0]:
        corner = 1, inside / points(ax, ax.get_window_extent().height)
        ax.legend(frameon=False, loc="lower right", bbox_to_anchor=corner, borderaxespad=0.3, fontsize=type_size(ax))
    despine(ax)
    return ax


def _note(stop: Stop) -> str:
    """Return the p-value of a step; empty if there is none, or if it is very small."""
    return "" if stop.p_value is None or stop.p_value < BEYOND_DOUBT else f"p {format_p(stop.p_value)}"


def _axis_label(indices: Indices) -> str:
    """Return the label of R²: that of the calibrated rule, of the rows for selection, or of all rows."""
    if is_calibrated(indices):
        return "R² so far (sums of functions)"
    apart = indices.path is not None and indices.path.n_selection_rows
    return "R² so far (rows selected on)" if apart else "R² of the factors so far"


def _draw_ceiling(ax: "Axes", indices: Indices) -> float:
    """Draw the ceiling and return its value; NaN without drawing it if the path cannot end there."""
    if is_calibrated(indices) or (indices.path is not None and indices.path.n_selection_rows):
        return np.nan
    ceiling = indices.r2_ceiling
    ax.axhline(ceiling, color=VERMILION, linestyle="--", linewidth=1.2, label=f"ceiling {ceiling:.2f}", zorder=1)
    return ceiling


def _set_limits(ax: "Axes", found: list[Stop]) -> float:
    """Set the axis of R² from 0 to 1; return the space for names within the axes, in points.

    There is some if there is too little space below and no layout engine: the axis line then moves up.
    """
    low = min(0.0, *(stop.r2 for stop in found)) if found else 0.0
    high = low + (1 - low) * (1 + HEADROOM)
    each, height = column_width(ax, len(found)), points(ax, ax.get_window_extent().height)
    is_tight = bool(found) and are_turned([stop.label for stop in found], each, ax.yaxis.label)
    inside = ROOM_INSIDE if is_tight and room_below(ax) < LEAST_BELOW else 0.0
    ax.set_ylim(low - (high - low) * inside / (1 - inside), high)
    ax.set_yticks(np.linspace(0, 1, 6))
    ax.spines["left"].set_bounds(low, 1)
    ax.spines["bottom"].set_position(("data", low))
    ax.set_xlim(-0.6, max(len(found), 1) - 0.4)
    return inside * height


def _draw_stops(ax: "Axes", found: list[Stop], ceiling: float) -> None:
    """Draw R² after each step."""
    columns = np.arange(len(found))
    r2 = np.array([stop.r2 for stop in found])
    stays = np.array([stop.stays for stop in found], dtype=bool)
    size = float(np.clip(0.6 * column_width(ax, len(found)), 2, 6))
    ax.plot(columns, r2, color=BLUE, linewidth=1.4, alpha=0.5)
    ax.plot(columns[stays], r2[stays], "o", color=BLUE, markersize=size)
    if not stays.all():
        ax.plot(columns[~stays], r2[~stays], "X", color=VERMILION, markersize=size + 1, label="removed")
    _write_values(ax, r2, ceiling)


def _write_values(ax: "Axes", r2: NDArray[np.float64], ceiling: float) -> None:
    """Annotate points with R², above them, or below if the ceiling would cross it.

    If not all fit, only some are annotated, including the last.
    """
    if not r2.size:
        return
    low, high = ax.get_ylim()
    unit = (high - low) * type_size(ax) / points(ax, ax.get_window_extent().height)  # the height of a digit
    room = text_width("0.00", ax.yaxis.label) + 4
    for column in range(r2.size - 1, -1, -int(np.ceil(room / column_width(ax, r2.size)))):
        is_below = 0.2 * unit < ceiling - r2[column] < 2 * unit and r2[column] > 2 * unit
        offset, end = ((0, -5), "top") if is_below else ((0, 5), "bottom")
        ax.annotate(
            f"{r2[column]:.2f}",
            (column, r2[column]),
            offset,
            textcoords="offset points",
            ha="center",
            va=end,
            fontsize=type_size(ax),
        )
