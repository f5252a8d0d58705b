"""Importances on the Friedman function."""

from matplotlib.figure import Figure

from ...paper.claims.importance import FRIEDMAN
from ...runs.experiments import RANKING
from ...scores.metrics import normalised_truth
from ...scores.results import NotRunError, Results
from .style import BOX, EMPHASIS, draw_boxes, panels


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
