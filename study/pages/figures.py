"""One figure per experiment that is a figure in the paper."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ..data.setting import Setting
from ..paper import printed_numbers
from ..paper.claims.estimation import ESTIMATORS, FRIEDMAN
from ..paper.claims.real import abalone_selection, selection_number, subset_errors
from ..runs.experiments import CORRELATIONS, DIMENSIONS, FACTORS, RANKING, SELECTING
from ..scores.metrics import normalised_truth
from ..scores.results import NotRunError, Results, at
from .drawing import BOX, EMPHASIS, GREY, add_legend, draw_boxes, draw_lines, panels, save, styled, use_log_scale

GRID = tuple(tenth / 10 for tenth in range(10))
NAMES = {"ishigami": "Ishigami", "heavy-tailed": "Heavy-tailed", "friedman": "Friedman"}


def draw_estimators(results: Results) -> Figure:
    """Boxes of the estimators with the analytic value, one panel per factor."""
    names = {"NANNE": "NANNE-2", "NANNE-3": "NANNE-3", "NN": "NN-3"}
    values = [results.need(name, ESTIMATORS).importances for name in names]
    figure, grid = panels(1, 3, 3.2)
    for j, axes in enumerate(grid[0]):
        draw_boxes(axes, [of_method[:, j] for of_method in values], list(names.values()), BOX, 30)
        axes.axhline(printed_numbers.ISHIGAMI[j], color=EMPHASIS, linestyle="--", linewidth=1.5)
        axes.set_title(f"X{j + 1}: analytic value {printed_numbers.ISHIGAMI[j]:.3f} (dashed)")
    grid[0, 0].set_ylabel("total index")
    return figure


def draw_importance(results: Results) -> Figure:
    """Boxes of the normalised importances, one panel per method, with the truth."""
    methods = [name for name in ("FIRST", *RANKING) if results.find(name, FRIEDMAN).n > 1]
    if not methods:
        raise NotRunError
    columns = min(len(methods), 4)
    figure, grid = panels(-(-len(methods) // columns), columns, 2.4, sharex=True, sharey=True)
    factors = range(1, FRIEDMAN.n_factors + 1)
    for axes, method in zip(grid.flat, methods, strict=False):
        cell = results.find(method, FRIEDMAN)
        colour = EMPHASIS if method == "FIRST" else BOX
        draw_boxes(axes, list(cell.normalised.T), [str(j) for j in factors], colour, 7)
        beside = [j + 0.38 for j in factors]  # a cross on a small box would hide it
        axes.plot(beside, normalised_truth(FRIEDMAN), "x", color="black", markersize=4.5, markeredgewidth=1.4)
        axes.set_title(f"{method}: τ = {cell.mean('tau').value:.2f}", weight="bold" if method == "FIRST" else "normal")
        axes.tick_params(axis="x", labelsize=8)
    for axes in grid.flat[len(methods) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel("importance")
    figure.supxlabel("factor; crosses: truth", fontsize=9.5)
    return figure


def _by_problem(results: Results, methods: Sequence[str], metric: str, label: str) -> Figure:
    figure, grid = panels(1, len(FACTORS), 3.9, sharey=True)
    for axes, source in zip(grid[0], FACTORS, strict=True):
        draw_lines(axes, results, methods, [at(source, rho) for rho in GRID], metric)
        axes.set_title(f"{NAMES[source]}, p = {FACTORS[source]}")
    if metric == "exact":
        grid[0, 0].set_ylim(-0.05, 1.05)
    grid[0, 0].set_ylabel(label)
    add_legend(figure, grid.flat, 8)
    return figure


def draw_ranking(results: Results) -> Figure:
    """Rank agreement against correlation, one panel per problem."""
    return _by_problem(results, ("FIRST", *RANKING), "tau", "mean τ")


def draw_selection(results: Results) -> Figure:
    """Exact selection against correlation, one panel per problem."""
    return _by_problem(results, ("FIRST", *SELECTING), "exact", "share of exact selections")


def _by_metric(
    results: Results,
    sources: Sequence[str],
    metrics: Mapping[str, tuple[str, tuple[str, ...]]],
    setting: Callable[[str, float], Setting],
) -> Figure:
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


def draw_hundred(results: Results) -> Figure:
    """Rank agreement, exact selection and time with a hundred factors."""
    ranking = ("FIRST", "LASSO", "FILTER", "RF", "RF-SHAP", "RF-VS", "COSSO")
    metrics = {
        "tau": ("mean τ", ranking),
        "exact": ("exact selections", ("FIRST", "LASSO", "RF-VS", "COSSO", "KFOCI")),
        "seconds": ("mean seconds", (*ranking, "KFOCI")),
    }
    return _by_metric(results, ("friedman", "ishigami"), metrics, lambda source, rho: at(source, rho, 100))


def draw_classes(results: Results) -> Figure:
    """Exact selection, true and false positives with two classes."""
    methods = ("FIRST", "LASSO", "RF-VS", "COSSO", "VIMP-ACC", "KFOCI")
    metrics = {
        "exact": ("exact selections", methods),
        "true positives": ("true positives", methods),
        "false positives": ("false positives", methods),
    }
    return _by_metric(results, ("ishigami", "friedman"), metrics, lambda source, rho: at(source, rho, classes=True))


def draw_dimension(results: Results) -> Figure:
    """Time of FIRST against the number of factors, here and in the paper."""
    figure, grid = panels(1, 2, 3.6, sharey=True)
    markers = dict(zip(CORRELATIONS, "os^", strict=True))
    for axes, source in zip(grid[0], ("ishigami", "friedman"), strict=True):
        for rho, marker in markers.items():
            printed = [printed_numbers.DIMENSION[source, p, rho][2].value for p in DIMENSIONS]
            ours = [results.mean("FIRST", at(source, rho, p), "seconds").value for p in DIMENSIONS]
            axes.plot(DIMENSIONS, printed, marker=marker, color=GREY, linewidth=1.2, label=f"paper, ρ = {rho}")
            axes.plot(DIMENSIONS, ours, marker=marker, color=EMPHASIS, linewidth=2, label=f"here, ρ = {rho}")
        axes.set(xscale="log", xlabel="factors", title=NAMES[source])
        use_log_scale(axes)
        axes.set_xticks(DIMENSIONS, [f"{p:,}" for p in DIMENSIONS])
        axes.minorticks_off()
    grid[0, 0].set_ylabel("mean seconds of FIRST")
    add_legend(figure, grid.flat, 3)
    return figure


def draw_abalone(results: Results) -> Figure:
    """Error of a forest on every subset against the number of factors, FIRST's subset marked."""
    errors = subset_errors(results)[1:]
    chosen = selection_number(abalone_selection(results))
    counts = np.array([number.bit_count() for number in range(1, len(errors) + 1)])
    figure, grid = panels(1, 1, 3.8)
    axes = grid[0, 0]
    axes.plot(counts, errors, "o", color=BOX, markersize=4, alpha=0.7, markeredgewidth=0)
    axes.plot(counts[chosen - 1], errors[chosen - 1], "o", color=EMPHASIS, markersize=9, markeredgecolor="black")
    axes.annotate(
        f"selected by FIRST: {errors[chosen - 1]:.2f}",
        (counts[chosen - 1], errors[chosen - 1]),
        (0, 120),  # above all others
        textcoords="offset points",
        ha="center",
        arrowprops={"arrowstyle": "-", "color": "black"},
    )
    axes.set(xlabel="factors in the forest", ylabel="out-of-bag mean squared error")
    return figure


FIGURES: dict[str, tuple[Callable[[Results], Figure], str]] = {
    "estimators": (draw_estimators, "Boxplots of three estimators of the total indices, with the analytic values"),
    "importance": (draw_importance, "Boxplots of importances for each method, with the truth as crosses"),
    "ranking": (draw_ranking, "Rank agreement of each method against correlation, on three problems"),
    "selection": (draw_selection, "Share of exact selections of each method against correlation, on three problems"),
    "hundred": (draw_hundred, "Rank agreement, exact selection and time of each method with 100 factors"),
    "dimension": (draw_dimension, "Time of FIRST against the number of factors, here and in the paper"),
    "abalone": (draw_abalone, "Out-of-bag error of random forests on all subsets of the Abalone factors"),
    "classes": (draw_classes, "Exact selection, true and false positives of each method with two classes"),
}
"""How to draw the figure of an experiment, and what it shows."""

CAPTIONS = {
    "estimators": "Boxes: quartiles and median; whiskers: 5 and 95 % of the runs.",
    "importance": "Boxes: quartiles and median; whiskers: 5 and 95 % of the runs; crosses: the truth.",
    "ranking": "Bars: two standard errors.",
    "selection": "Bars: two standard errors.",
    "hundred": "Bars: two standard errors.",
    "classes": "Bars: two standard errors.",
}


def draw_figure(name: str, results: Results, folder: Path) -> Path | None:
    """Draw the figure of an experiment into a folder, if it has one and its rows are stored."""
    if name not in FIGURES:
        return None
    path = folder / f"{name}.svg"
    with styled():
        try:
            save(FIGURES[name][0](results), path)
        except NotRunError:
            return None
    return path
