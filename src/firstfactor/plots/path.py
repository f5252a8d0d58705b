"""The picture of a selection: how much is explained after each step."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..results.formats import format_p
from ..results.indices import Indices
from ..results.path import Path
from ..results.wording import is_calibrated, name_nothing
from .axes import BLUE, MOST_ROWS, VERMILLION, Label, label_rows, rows_that_fit, tall_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .axes import NewFigure


@dataclass(frozen=True)
class Stop:
    """One row of the picture of the path: a change, and what is explained after it."""

    label: Label
    r2: float
    stays: bool
    """Whether this is a factor that enters and is still there at the end, or the start."""


def stops(path: Path, final_r2: float) -> list[Stop]:
    """What changed in a selection, in order, after the start if that is not empty."""
    found = []
    first = path.steps[0] if path.steps else None
    if first is not None and first.base:
        start = f"{len(first.base):,} always in" if first.phase == "forward" else f"all {len(first.base):,}"
        found.append(Stop(Label(start), first.base_explained / path.response_variance, True))
    for step, following in zip(path.steps, (*path.steps[1:], None), strict=False):
        if not step.chosen:
            continue
        r2 = final_r2 if following is None else following.base_explained / path.response_variance
        more = f" and {len(step.chosen) - 1:,} more" if len(step.chosen) > 1 else ""
        if step.p_value is not None:
            more += f" (p {format_p(step.p_value)})"
        entering = step.phase == "forward"
        stays = entering and not set(step.chosen) & set(path.removed)
        found.append(Stop(Label(path.names[step.chosen[0]], "+ " if entering else "− ", more), r2, stays))
    return found


def draw_path(indices: Indices, ax: "Axes | None", new_figure: "NewFigure") -> "Axes":
    """Draw the path into ``ax`` or into a figure that ``new_figure`` makes."""
    if indices.path is None:
        raise ValueError(
            f"result must come from a selection; {indices.method} has no path. Use FIRST or backward_elimination, or "
            "plot_importance for the indices."
        )
    found = stops(indices.path, indices.r2_ceiling)
    if ax is None:
        most = MOST_ROWS
        ax = tall_axes(min(len(found), most), new_figure)
    else:
        most = rows_that_fit(ax)
    shown = found if len(found) <= most else [*found[: most // 2], *found[len(found) - most + most // 2 :]]
    _draw_stops(ax, shown, _draw_ceiling(ax, indices))
    ax.set_xlabel(_axis_label(indices))
    changes = sum(bool(stop.label.before) for stop in found)
    skipped = f" ({len(found) - len(shown):,} not shown)" if len(shown) < len(found) else ""
    steps = f"{changes:,} step{'' if changes == 1 else 's'}{skipped}"
    ax.set_title(steps if found else name_nothing(indices), loc="left")
    return ax


def _axis_label(indices: Indices) -> str:
    """Say what R² is: the calibrated rule measures its own, and other rows give another one."""
    if is_calibrated(indices):
        return "R² so far (sums of functions)"
    apart = indices.path is not None and indices.path.rows_apart
    return "R² so far (rows selected on)" if apart else "R² of the factors so far"


def _draw_ceiling(ax: "Axes", indices: Indices) -> float:
    """Draw the ceiling and return where it is; it is left out where the path does not lead there."""
    if is_calibrated(indices) or (indices.path is not None and indices.path.rows_apart):
        return 0.0
    ceiling = indices.r2_ceiling
    ax.axvline(ceiling, color=VERMILLION, linestyle="--", linewidth=1.2, label=f"ceiling {ceiling:.2f}")
    return ceiling


def _draw_stops(ax: "Axes", shown: list[Stop], ceiling: float) -> None:
    """Draw what is explained row by row."""
    rows = np.arange(len(shown))
    r2 = np.array([stop.r2 for stop in shown])
    stays = np.array([stop.stays for stop in shown], dtype=bool)
    ax.plot(r2, rows, color=BLUE, linewidth=1.2, alpha=0.5)
    ax.plot(r2[stays], rows[stays], "o", color=BLUE, markersize=6)
    if not stays.all():
        ax.plot(r2[~stays], rows[~stays], "X", color=VERMILLION, markersize=7, label="removed by elimination")
    for row, stop in enumerate(shown):
        ax.annotate(f"{stop.r2:.2f}", (stop.r2, row), (-5, -2), textcoords="offset points", va="top", ha="right")
    low, high = min(0.0, float(r2.min(initial=0))), max(ceiling, float(r2.max(initial=0)), 0.05)
    ax.set_xlim(low - 0.14 * (high - low), 1.08 * high)
    label_rows(ax, [stop.label for stop in shown])
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, loc="best" if shown else "upper right")
