"""The picture of importances: one bar per factor, and why others were left out."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._axes import BLUE, MOST_ROWS, Label, final_width, label_rows, rows_that_fit, tall_axes, text_width
from .indices import Indices

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._axes import NewFigure

# Factors that were left out are named in the picture of importances if there are no more than this.
MOST_LEFT_OUT = 8


@dataclass(frozen=True)
class Bar:
    """One row of the picture of importances."""

    label: Label
    value: float
    note: str


def draw_importance(indices: Indices, ax: "Axes | None", new_figure: "NewFigure") -> "Axes":
    """Draw importances into ``ax`` or into a figure that ``new_figure`` makes."""
    if ax is None:
        bars = _bars(indices, MOST_ROWS)
        ax = tall_axes(len(bars), new_figure)
    else:
        bars = _bars(indices, rows_that_fit(ax))
    ax.barh(range(len(bars)), [bar.value for bar in bars], height=0.7, color=BLUE)
    right = 0.0
    for row, bar in enumerate(bars):
        note = ax.annotate(bar.note, (bar.value, row), (4, 0), textcoords="offset points", va="center")
        note.set_alpha(1 if bar.value else 0.7)
        right = max(right, bar.value / (1 - min((text_width(bar.note, note) + 8) / final_width(ax), 0.7)))
    ax.set_xlim(0, right or 1.0)
    label_rows(ax, [bar.label for bar in bars])
    ax.set_xlabel("importance (total index)")
    ax.set_title(_headline(indices), loc="left")
    return ax


def ceiling_of(indices: Indices) -> float:
    """Return the ceiling as a share: an estimate below 0 means that nothing is explained."""
    return max(indices.r2_ceiling, 0.0)


def format_importance(value: float) -> str:
    """Return an importance with three decimals, never a 0 that is none."""
    return "<0.001" if 0 < value < 0.0005 else f"{value:.3f}"


def _bars(indices: Indices, most: int) -> list[Bar]:
    """Return at most ``most`` rows: the selected factors, then those left out or how many there are."""
    selected, others = indices.selected.tolist(), indices.left_out.tolist()
    room = most - bool(others)
    named = selected if len(selected) <= room else selected[: room - 1]
    bars = [
        Bar(Label(indices.names[i]), float(indices.values[i]), format_importance(float(indices.values[i])))
        for i in named
    ]
    if len(named) < len(selected):
        next_best = format_importance(float(indices.values[selected[len(named)]]))
        bars.append(Bar(Label(f"{len(selected) - len(named):,} more"), 0.0, f"at most {next_best} each"))
    if len(others) <= min(most - len(bars), MOST_LEFT_OUT):
        bars += [Bar(Label(indices.names[i]), 0.0, indices.why_left_out(i)) for i in others]
    else:
        count = f"{len(others):,} left out" if selected else f"all {len(others):,} factors"
        bars.append(Bar(Label(count), 0.0, "importance 0"))
    return bars


def _headline(indices: Indices) -> str:
    """Return the ceiling in a few words."""
    if indices.method == "NN":
        return "y taken to be free of noise"
    return f"R² of any model: at most {ceiling_of(indices):.2f}"
