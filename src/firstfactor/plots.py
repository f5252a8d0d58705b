"""Pictures of a result: importances, the path of the selection, effects. In colours that everybody tells apart.

Each function draws into the axes it is given and returns them. Given none, it makes a figure that is as high as its
contents need and as wide as matplotlib's setting ``figure.figsize`` says. The figure belongs to pyplot where pyplot is
in use (it has been imported, or this is a notebook), so that it shows up as with other packages; otherwise nothing
global is touched. Nothing is ever shown or saved from here.
"""

import builtins
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._extras import require
from .indices import Indices
from .observed import Column, Target, count_rows, indices_of, printable, read_columns, read_target
from .path import Path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    NewFigure = Callable[..., Figure]

# From the palette of Okabe and Ito, which people with any colour vision tell apart.
BLUE, VERMILLION, GREY = "#0072B2", "#D55E00", "#8C8C8C"

# A picture with more rows than this is no longer looked at; the rest is summed up in one.
MOST_ROWS = 60

# Factors that were left out are named in the picture of importances if there are no more than this.
MOST_LEFT_OUT = 8

# Points in a panel of effects: more only hide each other.
MOST_POINTS = 500

# Levels of a category in a panel of effects; the rarer ones are pooled.
MOST_LEVELS = 8

# Labels of levels with less room than this, in points, are turned.
NARROW_LABEL = 28

ROW_HEIGHT, PANEL_WIDTH, PANEL_HEIGHT = 0.27, 2.9, 2.4  # inches


def plot_importance(result: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the importance of each factor as a bar, the most important first.

    Factors that were left out are listed with the reason, or counted if there are many of them.

    Parameters
    ----------
    result : FIRST or Indices
        A fitted `FIRST`, or what `total_indices` or `backward_elimination` return.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure, high enough for all rows.

    Returns
    -------
    Axes
    """
    return draw_importance(indices_of(result), ax, _figure_maker())


def plot_path(result: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw the share of the variance explained (R²) after each step of the selection, from top to bottom.

    Factors enter one at a time; those that elimination takes out again are marked where they enter and where they
    leave. The dashed line is the ceiling: what the factors selected explain in the end.

    Parameters
    ----------
    result : FIRST or Indices
        A fitted `FIRST`, or what `backward_elimination` returns.
    ax : matplotlib Axes, optional
        Where to draw. Default: a new figure, high enough for all steps.

    Returns
    -------
    Axes
    """
    return draw_path(indices_of(result), ax, _figure_maker())


def plot_effects(X: Any, y: Any, result: Any, ax: Any = None) -> NDArray[Any]:
    """Draw y against each selected factor, with its local mean.

    For numbers the local mean is that of rows with about the same value (bins with as many rows each); for categories,
    that of each level. With two classes, y is 1 for the second and 0 for the first, and its mean is a share. Of many
    rows some are drawn; means are over all of them. The effect of a factor that acts through others is not seen in
    its local mean.

    Parameters
    ----------
    X : array-like or table of shape (rows, factors)
        The factors that were analysed.
    y : array-like of shape (rows,)
        The response.
    result : FIRST or Indices
        As in `plot_importance`.
    ax : Axes or array of them, optional
        Where to draw, one for each selected factor. Default: a new figure.

    Returns
    -------
    array of Axes
        One for each selected factor, the most important first; empty if none was selected.
    """
    indices = indices_of(result)
    effects, target = read_effects(X, y, indices, indices.selected.tolist())
    axes = _panels(len(effects), _figure_maker()) if ax is None else np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if len(axes) != len(effects):
        raise ValueError(f"ax must have one Axes per selected factor ({len(effects)}); got {len(axes)}.")
    if effects:
        labels = [Label(effect.name, after=f" ({format_importance(effect.importance)})") for effect in effects]
        titles = _fitting(labels, min(map(_width, axes)), axes[0].yaxis.label)
    for number, (panel, effect) in enumerate(zip(axes, effects, strict=True)):
        draw_effect(panel, effect, target)
        panel.set_title(titles[number], loc="left", parse_math=False, font=panel.yaxis.label.get_fontproperties())
        if ax is None and number % _columns(len(effects)):
            panel.set_ylabel("")
    return axes


# --- importance ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Label:
    """A name that may be shortened, between texts that may not."""

    name: str
    before: str = ""
    after: str = ""

    def with_name(self, name: str) -> str:
        """Return the label with a shorter name."""
        return f"{self.before}{name}{self.after}"


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
        ax = _tall_axes(len(bars), new_figure)
    else:
        bars = _bars(indices, _rows_that_fit(ax))
    ax.barh(range(len(bars)), [bar.value for bar in bars], height=0.7, color=BLUE)
    right = 0.0
    for row, bar in enumerate(bars):
        note = ax.annotate(bar.note, (bar.value, row), (4, 0), textcoords="offset points", va="center")
        note.set_alpha(1 if bar.value else 0.7)
        right = max(right, bar.value / (1 - min((_text_width(bar.note, note) + 8) / _final_width(ax), 0.7)))
    ax.set_xlim(0, right or 1.0)
    _label_rows(ax, [bar.label for bar in bars])
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


# --- path ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stop:
    """One row of the picture of the path: a change, and what is explained after it."""

    label: Label
    r2: float
    stays: bool
    """Whether this is a factor that enters and is still there at the end, or the start."""


def stops(path: Path, final_r2: float) -> list[Stop]:
    """Return what changed in a selection, in order, after the start if that is not empty."""
    found = []
    first = path.steps[0] if path.steps else None
    if first is not None and first.base:
        found.append(Stop(Label(f"all {len(first.base):,}"), first.base_explained / path.response_variance, True))
    for step, following in zip(path.steps, (*path.steps[1:], None), strict=True):
        if not step.chosen:
            continue
        r2 = final_r2 if following is None else following.base_explained / path.response_variance
        more = f" and {len(step.chosen) - 1:,} more" if len(step.chosen) > 1 else ""
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
        ax = _tall_axes(min(len(found), most), new_figure)
    else:
        most = _rows_that_fit(ax)
    shown = found if len(found) <= most else [*found[: most // 2], *found[len(found) - most + most // 2 :]]
    _draw_stops(ax, shown, ceiling_of(indices))
    ax.set_xlabel("R² of the factors so far")
    changes = sum(bool(stop.label.before) for stop in found)
    skipped = f" ({len(found) - len(shown):,} not shown)" if len(shown) < len(found) else ""
    steps = f"{changes:,} step{'' if changes == 1 else 's'}{skipped}"
    ax.set_title(steps if found else "No factor explains anything of y", loc="left")
    return ax


def _draw_stops(ax: "Axes", shown: list[Stop], ceiling: float) -> None:
    """Draw the ceiling, and what is explained row by row."""
    rows = np.arange(len(shown))
    r2 = np.array([stop.r2 for stop in shown])
    stays = np.array([stop.stays for stop in shown], dtype=bool)
    ax.axvline(ceiling, color=VERMILLION, linestyle="--", linewidth=1.2, label=f"ceiling {ceiling:.2f}")
    ax.plot(r2, rows, color=BLUE, linewidth=1.2, alpha=0.5)
    ax.plot(r2[stays], rows[stays], "o", color=BLUE, markersize=6)
    if not stays.all():
        ax.plot(r2[~stays], rows[~stays], "X", color=VERMILLION, markersize=7, label="removed by elimination")
    for row, stop in enumerate(shown):
        ax.annotate(f"{stop.r2:.2f}", (stop.r2, row), (-5, -2), textcoords="offset points", va="top", ha="right")
    low = min(0.0, float(r2.min(initial=0)))
    ax.set_xlim(low - 0.14 * (max(ceiling, 0.05) - low), 1.08 * max(ceiling, float(r2.max(initial=0)), 0.05))
    _label_rows(ax, [stop.label for stop in shown])
    ax.legend(frameon=False, loc="best" if shown else "upper right")


# --- effects ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Effect:
    """The values of one factor next to its name and importance."""

    name: str
    importance: float
    column: Column


def read_effects(X: Any, y: Any, indices: Indices, wanted: Sequence[int]) -> tuple[list[Effect], Target]:
    """Return the factors at the positions ``wanted``, in that order, and the response."""
    columns = dict(read_columns(X, indices, set(wanted)))
    effects = [Effect(indices.names[i], float(indices.values[i]), columns[i]) for i in wanted]
    return effects, read_target(y, count_rows(X), indices.task)


def draw_effect(ax: "Axes", effect: Effect, target: Target) -> None:
    """Draw one panel: the response against one factor."""
    draw = _draw_levels if effect.column.levels else _draw_numbers
    draw(ax, effect.column, target)
    _despine(ax)
    room = _points(ax, ax.get_window_extent().height)
    ax.set_ylabel(_fitting([Label(target.label)], room, ax.yaxis.label)[0], parse_math=False)


def _draw_numbers(ax: "Axes", column: Column, target: Target) -> None:
    """Draw rows as dots and their local mean as a line."""
    rng = np.random.default_rng(0)
    drawn = _draw_some(rng, len(column.values))
    ax.plot(column.values[drawn], _jittered(rng, target, drawn), ".", color=GREY, markersize=4, alpha=0.6, mew=0)
    centres, means = local_means(column.values, target.values)
    ax.plot(centres, means, "-o", color=BLUE, linewidth=2, markersize=3.5)
    ax.set_xlim(*_core(column.values))
    ax.set_ylim(*_core(target.values))


def _draw_levels(ax: "Axes", column: Column, target: Target) -> None:
    """Draw rows as dots in a strip for each level, and its mean as a dash."""
    codes, labels = _pooled(column)
    rng = np.random.default_rng(0)
    drawn = _draw_some(rng, len(codes))
    spread = codes[drawn] + rng.uniform(-0.3, 0.3, size=len(drawn))
    ax.plot(spread, _jittered(rng, target, drawn), ".", color=GREY, markersize=4, alpha=0.6, mew=0)
    means = np.bincount(codes, weights=target.values) / np.bincount(codes)
    ax.hlines(means, np.arange(len(labels)) - 0.38, np.arange(len(labels)) + 0.38, color=BLUE, linewidth=3)
    ax.set_xlim(-0.6, len(labels) - 0.4)
    ax.set_ylim(*_core(target.values))
    ax.set_xticks(range(len(labels)))
    tick = ax.get_xticklabels()[0]
    each = _width(ax) / len(labels) - 6
    steep = each < min(NARROW_LABEL, max(_text_width(label, tick) for label in labels))
    room = 0.5 * _points(ax, ax.get_window_extent().height) if steep else each
    shown = _fitting([Label(label) for label in labels], room, tick)
    ax.set_xticks(range(len(labels)), shown, parse_math=False, rotation=90 if steep else 0)


def local_means(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the median of x and the mean of y in bins of about as many rows each; equal values of x share a bin."""
    bins = int(np.clip(len(x) // 40, 5, 20))
    edges = np.unique(x)
    if len(edges) > bins:
        edges = np.unique(np.quantile(x, np.linspace(0, 1, bins + 1)[:-1]))
    bin_of = np.searchsorted(edges, x, side="right") - 1
    members = [bin_of == number for number in np.unique(bin_of)]
    return np.array([np.median(x[rows]) for rows in members]), np.array([y[rows].mean() for rows in members])


def _pooled(column: Column) -> tuple[NDArray[np.intp], list[str]]:
    """Return level codes and labels with the rarest levels as one, the last."""
    codes = column.codes
    if len(column.levels) <= MOST_LEVELS:
        return codes, list(column.levels)
    kept = np.sort(np.argsort(-column.counts, kind="stable")[: MOST_LEVELS - 1])
    new = np.full(len(column.levels), len(kept))
    new[kept] = np.arange(len(kept))
    return new[codes], [*(column.levels[i] for i in kept), f"{len(column.levels) - len(kept)} others"]


def _draw_some(rng: np.random.Generator, n_rows: int) -> NDArray[np.intp]:
    """Return the rows to draw: all, or as many as can be told apart."""
    if n_rows <= MOST_POINTS:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, MOST_POINTS, replace=False))


def _jittered(rng: np.random.Generator, target: Target, drawn: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the response of some rows; classes are spread a little so that rows do not hide each other."""
    values = target.values[drawn]
    return values + rng.uniform(-0.04, 0.04, size=len(drawn)) if target.classes else values


def _core(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return limits for an axis: all values, or without the outermost 2 % where these are far away."""
    low, high = np.quantile(values, [0.01, 0.99]).tolist()
    span = high - low
    if span == 0 or (values.min() >= low - span and values.max() <= high + span):
        low, high = float(values.min()), float(values.max())
        span = high - low or 1.0
    return low - 0.06 * span, high + 0.06 * span


# --- figures and text ---------------------------------------------------------------------------------------------


def _figure_maker() -> "NewFigure":
    """Return pyplot's way to make a figure where pyplot is in use, else one that leaves no trace."""
    figure = require("matplotlib.figure", "a plot")
    if "matplotlib.pyplot" in sys.modules or hasattr(builtins, "__IPYTHON__"):
        return require("matplotlib.pyplot", "a plot").figure  # type: ignore[no-any-return]
    return figure.Figure  # type: ignore[no-any-return]


def _tall_axes(rows: int, new_figure: "NewFigure") -> "Axes":
    """Return the axes of a new figure that is high enough for some rows."""
    width = require("matplotlib", "a plot").rcParams["figure.figsize"][0]
    figure = new_figure(figsize=(width, 1.2 + ROW_HEIGHT * max(rows, 3)), layout="constrained")
    return figure.add_subplot()


def _columns(panels: int) -> int:
    """Return how many panels stand side by side."""
    return min(panels, 3)


def _panels(panels: int, new_figure: "NewFigure") -> NDArray[Any]:
    """Return the axes of a new figure with panels in rows of up to three."""
    if not panels:
        return np.array([], dtype=object)
    across = _columns(panels)
    down = -(-panels // across)
    figure = new_figure(figsize=(PANEL_WIDTH * across + 0.4, PANEL_HEIGHT * down), layout="constrained")
    return np.array([figure.add_subplot(down, across, i + 1) for i in range(panels)], dtype=object)


def _despine(ax: "Axes") -> None:
    """Take away the lines at the top and at the right."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _label_rows(ax: "Axes", labels: list[Label]) -> None:
    """Name the rows at the left, from top to bottom, shortened to the room there is."""
    ax.set_yticks(range(len(labels)))
    ax.set_ylim(max(len(labels), 1) - 0.4, -0.6)
    if labels:
        short = _fitting(labels, _room_at_the_left(ax), ax.get_yticklabels()[0])
        ax.set_yticks(range(len(labels)), short, parse_math=False)
    ax.tick_params(axis="y", length=0)
    _despine(ax)


def _rows_that_fit(ax: "Axes") -> int:
    """Return how many rows of text axes have room for."""
    tick = ax.get_yticklabels()[:1]
    line = 1.3 * (float(tick[0].get_fontsize()) if tick else 10)
    return int(np.clip(_points(ax, ax.get_window_extent().height) // line, 3, MOST_ROWS))


def _room_at_the_left(ax: "Axes") -> float:
    """Return how wide names beside the axes can be, in points, without leaving the figure or meeting other axes."""
    if ax.figure.get_layout_engine() is not None:  # it will move the axes to the right
        return 0.45 * _width(ax)
    box = ax.get_window_extent()
    ends = [ax.figure.bbox.x0]
    for other in ax.figure.axes:
        extent = other.get_window_extent()
        if extent.x1 <= box.x0 and extent.y0 < box.y1 and box.y0 < extent.y1:
            ends.append(extent.x1)
    return _points(ax, box.x0 - max(ends)) - 8  # what lies between a name and the axes


def _final_width(ax: "Axes") -> float:
    """Return how wide axes with names beside them will be at least, in points: a layout engine makes room for those."""
    return _width(ax) * (1.0 if ax.figure.get_layout_engine() is None else 0.7)


def _width(ax: "Axes") -> float:
    """Return the width of axes in points."""
    return _points(ax, ax.get_window_extent().width)


def _points(ax: "Axes", pixels: float) -> float:
    """Return pixels of a figure in points, the unit of fonts."""
    return pixels * 72 / ax.figure.dpi


def _fitting(labels: Sequence[Label], room: float, like: Any) -> list[str]:
    """Return labels with names shortened so that each fits in ``room`` points, set like other text."""

    def fits(row: int, name: str) -> bool:
        return _text_width(labels[row].with_name(name), like) <= room

    short = shorten_all([printable(label.name) for label in labels], fits)
    return [label.with_name(name) for label, name in zip(labels, short, strict=True)]


def _text_width(text: str, like: Any) -> float:
    """Return the width of a text in points, in the font of another one."""
    measure = require("matplotlib.textpath", "a plot").TextToPath().get_text_width_height_descent
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # characters that the font does not have: said when drawn
        return float(measure(text, like.get_fontproperties(), ismath=False)[0])


def shorten_all(names: list[str], fits: Callable[[int, str], bool]) -> list[str]:
    """Return names shortened until they fit, in the middle, or around what tells them apart if that lies there."""
    short = [shorten(name, partial(fits, row)) for row, name in enumerate(names)]
    alike = defaultdict(set)
    for name, text in zip(names, short, strict=True):
        alike[text].add(name)
    for row, name in enumerate(names):
        others = alike[short[row]]
        if len(others) > 1:
            start = _shared([*others])
            end = len(name) - _shared([other[start:][::-1] for other in others])
            short[row] = shorten(name, partial(fits, row), start, end)
    return short


def _shared(names: list[str]) -> int:
    """Return how many characters all names begin with."""
    return next((i for i, column in enumerate(zip(*names, strict=False)) if len(set(column)) > 1), min(map(len, names)))


def shorten(name: str, fits: Callable[[str], bool], start: int = 0, end: int = 0) -> str:
    """Return the name, or as much of it as fits: its two ends, or what lies around ``start`` to ``end``."""
    if fits(name):
        return name

    def keep(characters: int) -> str:
        if end > start:
            low = max(start - (characters + 1) // 2, 0)
            return f"…{name[low : end + characters // 2]}…"
        return f"{name[: (characters + 1) // 2]}…{name[len(name) - characters // 2 :]}"

    least, most = 0 if end > start else 2, max(2, len(name) - 1)
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if fits(keep(middle)) else (least, middle - 1)
    return keep(least)
