"""Figures that several experiments share: lines against correlation."""

from collections.abc import Callable, Mapping, Sequence

from matplotlib.figure import Figure

from ...data.labels import NAMES
from ...data.setting import Setting
from ...runs.experiments import CORRELATIONS, FACTORS, GRID
from ...scores.results import Results, at
from .style import add_legend, draw_lines, panels, use_log_scale


def panels_by_problem(results: Results, methods: Sequence[str], metric: str, label: str) -> Figure:
    """Return a figure with a panel for each problem."""
    figure, grid = panels(1, len(FACTORS), 3.9, sharey=True)
    for axes, source in zip(grid[0], FACTORS, strict=True):
        draw_lines(axes, results, methods, [at(source, rho) for rho in GRID], metric)
        axes.set_title(f"{NAMES[source]}, p = {FACTORS[source]}")
    if metric == "exact":
        grid[0, 0].set_ylim(-0.05, 1.05)
    grid[0, 0].set_ylabel(label)
    add_legend(figure, grid.flat, 8)
    return figure


def panels_by_metric(
    results: Results,
    sources: Sequence[str],
    metrics: Mapping[str, tuple[str, tuple[str, ...]]],
    setting: Callable[[str, float], Setting],
) -> Figure:
    """Return a figure with a row of panels for each problem, and a column for each metric."""
    figure, grid = panels(len(sources), len(metrics), 2.9, sharex=True)
    for row, source in zip(grid, sources, strict=True):
        for axes, (metric, (label, methods)) in zip(row, metrics.items(), strict=True):
            draw_lines(axes, results, methods, [setting(source, rho) for rho in CORRELATIONS], metric)
            axes.set_title(f"{NAMES[source]}: {label}")
            if metric == "seconds":
                use_log_scale(axes)
            else:
                axes.set_ylim(-0.05, 1.05)
    add_legend(figure, grid.flat, 8)
    return figure
