"""The picture of stability: how often each factor was selected on halves of the rows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .axes import BLUE, GREY, MOST_ROWS, VERMILION, Label, add_title, final_width, label_rows, rows_that_fit, tall_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..results.stability import Stability
    from .axes import NewFigure

# Factors that were never selected are named if there are no more than this.
MOST_NEVER = 8


@dataclass(frozen=True)
class Bar:
    """One row of the picture of stability."""

    label: Label
    frequency: float
    note: str
    selected: bool


def draw_stability(result: "Stability", ax: "Axes | None", new_figure: "NewFigure") -> "Axes":
    """Draw frequencies into ``ax`` or into a figure that ``new_figure`` makes."""
    if ax is None:
        bars = _bars(result, MOST_ROWS)
        ax = tall_axes(len(bars), new_figure)
    else:
        bars = _bars(result, rows_that_fit(ax))
    colours = [BLUE if bar.selected else GREY for bar in bars]
    ax.barh(range(len(bars)), [bar.frequency for bar in bars], height=0.7, color=colours)
    for row, bar in enumerate(bars):
        note = ax.annotate(bar.note, (bar.frequency, row), (4, 0), textcoords="offset points", va="center")
        note.set_alpha(1 if bar.frequency else 0.7)
        note.set_bbox({"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1})  # the threshold stays behind
    room = min(32 / final_width(ax), 0.5)  # for the note of a bar that reaches 1
    ax.set_xlim(0, 1 / (1 - room))
    ax.spines["bottom"].set_bounds(0, 1)
    ax.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    _draw_threshold(ax, result.threshold)
    label_rows(ax, [bar.label for bar in bars])
    ax.set_xlabel("share of halves in which selected")
    add_title(ax, _headline(result), pad=20)
    return ax


def _draw_threshold(ax: "Axes", threshold: float) -> None:
    """Draw the threshold with its name above the axes, where no bar can be in its way."""
    ax.axvline(threshold, color=VERMILION, linestyle="--", linewidth=1.2)
    ax.annotate(
        f"threshold {threshold:g}",
        (threshold, 1),
        (0, 3),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="center",
        va="bottom",
        color=VERMILION,
    )


def _bars(result: "Stability", most: int) -> list[Bar]:
    """At most ``most`` rows: factors as often as they were selected, the rest summed up."""
    ever = [i for i in result.order.tolist() if result.frequencies[i]]
    never = [i for i in result.order.tolist() if not result.frequencies[i]]
    room = most - bool(never)
    named = ever if len(ever) <= room else ever[: room - 1]
    bars = [_bar(result, i) for i in named]
    if len(named) < len(ever):
        next_best = _format(float(result.frequencies[ever[len(named)]]))
        bars.append(Bar(Label(f"{len(ever) - len(named):,} more"), 0.0, f"at most {next_best} each", False))
    if len(never) <= min(most - len(bars), MOST_NEVER):
        bars += [_bar(result, i) for i in never]
    else:
        count = f"{len(never):,} others" if ever else f"all {len(never):,} factors"
        bars.append(Bar(Label(count), 0.0, "never selected", False))
    return bars


def _bar(result: "Stability", factor: int) -> Bar:
    frequency = float(result.frequencies[factor])
    note = _format(frequency) if frequency else "never selected"
    return Bar(Label(result.names[factor]), frequency, note, frequency >= result.threshold)


def _format(frequency: float) -> str:
    """A frequency with two decimals, never a 0 or 1 that is none."""
    return "<0.01" if frequency < 0.005 else ">0.99" if 0.995 <= frequency < 1 else f"{frequency:.2f}"


def _headline(result: "Stability") -> str:
    """In a few words what was found."""
    count, total = result.selected.size, len(result.names)
    return f"{count:,} of {total:,} reach the threshold ({2 * result.n_pairs:,} halves)"
