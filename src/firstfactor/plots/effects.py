"""The picture of an effect: y against one factor, with its local mean."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..results.indices import Indices
from .axes import GREY, SERIES, Label, despine, fitting, points, text_width, width
from .original_data import Column, Target, count_rows, read_columns, read_target

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Points in a panel of effects: more only hide each other.
MOST_POINTS = 500

# Levels of a category in a panel of effects; the rarer ones are pooled.
MOST_LEVELS = 8

# Series, such as classes, in a panel of effects.
MOST_SERIES = 6

# What a row of the legend takes of the height of a panel.
LEGEND_ROW = 0.16

# Labels of levels with less room than this, in points, are turned.
NARROW_LABEL = 28


@dataclass(frozen=True)
class Effect:
    """One column of a factor next to its name and importance."""

    factor: int
    name: str
    importance: float
    column: Column


def read_effects(X: Any, y: Any, indices: Indices, wanted: Sequence[int]) -> tuple[list[Effect], Target]:
    """The columns of the factors ``wanted``, in that order, and the response."""
    effects: dict[int, list[Effect]] = {i: [] for i in wanted}
    for i, name, column in read_columns(X, indices, set(wanted)):
        effects[i].append(Effect(i, name, float(indices.shares[i]), column))
    return [effect for i in wanted for effect in effects[i]], read_target(y, count_rows(X), indices)


def draw_effect(ax: "Axes", effect: Effect, target: Target) -> None:
    """Draw one panel: the response against one column."""
    draw = _draw_levels if effect.column.levels else _draw_numbers
    draw(ax, effect.column, target)
    if len(target.series) > 1:
        _add_legend(ax, min(len(target.series), MOST_SERIES))
    despine(ax)
    room = points(ax, ax.get_window_extent().height)
    ax.set_ylabel(fitting([Label(target.label)], room, ax.yaxis.label)[0], parse_math=False)


def _add_legend(ax: "Axes", n_series: int) -> None:
    """Name the series above the lines, two in a row."""
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + LEGEND_ROW * -(-n_series // 2) * (high - low))
    ax.legend(fontsize="small", frameon=False, loc="upper left", ncols=2, handlelength=1, borderaxespad=0)


def _series(target: Target) -> list[tuple[str, str, NDArray[np.float64]]]:
    """Label, colour and values of each series that is drawn: of many, those that vary most."""
    most = np.sort(np.argsort(-target.values.var(axis=0), kind="stable")[:MOST_SERIES])
    return [(target.series[k], SERIES[number], target.values[:, k]) for number, k in enumerate(most.tolist())]


def _draw_numbers(ax: "Axes", column: Column, target: Target) -> None:
    """Draw rows as dots and their local mean as a line; of several series, only the lines."""
    rows = np.flatnonzero(column.known)
    if rows.size == 0:
        return
    values, target = column.values[rows], replace(target, values=target.values[rows])
    if len(target.series) == 1:
        rng = np.random.default_rng(0)
        drawn = _draw_some(rng, len(values))
        ax.plot(values[drawn], _jittered(rng, target, drawn), ".", color=GREY, markersize=4, alpha=0.6, mew=0)
        ax.set_ylim(*_core(target.values[:, 0]))
    for label, colour, series in _series(target):
        centres, means = local_means(values, series)
        ax.plot(centres, means, "-o", color=colour, linewidth=2, markersize=3.5, label=label)
    ax.set_xlim(*_core(values))


def _draw_levels(ax: "Axes", column: Column, target: Target) -> None:
    """Draw rows as dots in a strip for each level, and its mean as a dash; of several series, only the dashes."""
    codes, labels = _pooled(column)
    if len(target.series) == 1:
        rng = np.random.default_rng(0)
        drawn = _draw_some(rng, len(codes))
        spread = codes[drawn] + rng.uniform(-0.3, 0.3, size=len(drawn))
        ax.plot(spread, _jittered(rng, target, drawn), ".", color=GREY, markersize=4, alpha=0.6, mew=0)
        ax.set_ylim(*_core(target.values[:, 0]))
    counts = np.maximum(np.bincount(codes, minlength=len(labels)), 1)
    for label, colour, series in _series(target):
        means = np.bincount(codes, weights=series, minlength=len(labels)) / counts
        ends = np.arange(len(labels)) - 0.38, np.arange(len(labels)) + 0.38
        ax.hlines(means, *ends, color=colour, linewidth=3, label=label)
    ax.set_xlim(-0.6, len(labels) - 0.4)
    ax.set_xticks(range(len(labels)))
    tick = ax.get_xticklabels()[0]
    each = width(ax) / len(labels) - 6
    steep = each < min(NARROW_LABEL, max(text_width(label, tick) for label in labels))
    room = 0.5 * points(ax, ax.get_window_extent().height) if steep else each
    shown = fitting([Label(label) for label in labels], room, tick)
    ax.set_xticks(range(len(labels)), shown, parse_math=False, rotation=90 if steep else 0)


def local_means(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The median of x and the mean of y in bins of about as many rows each; equal values of x share a bin."""
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
    """The rows to draw: all, or as many as can be told apart."""
    if n_rows <= MOST_POINTS:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, MOST_POINTS, replace=False))


def _jittered(rng: np.random.Generator, target: Target, drawn: NDArray[np.intp]) -> NDArray[np.float64]:
    """The response of some rows; classes are spread a little so that rows do not hide each other."""
    values: NDArray[np.float64] = target.values[drawn, 0]
    return values + rng.uniform(-0.04, 0.04, size=len(drawn)) if target.classes else values


def _core(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return limits for an axis: all values, or without the outermost 2 % where these are far away."""
    low, high = np.quantile(values, [0.01, 0.99]).tolist()
    span = high - low
    if span == 0 or (values.min() >= low - span and values.max() <= high + span):
        low, high = float(values.min()), float(values.max())
        span = high - low or 1.0
    return low - 0.06 * span, high + 0.06 * span
