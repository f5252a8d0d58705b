"""Accuracy of the estimators."""

from matplotlib.figure import Figure

from ...paper import printed_numbers
from ...paper.claims.estimators import ESTIMATORS
from ...scores.results import Results
from .style import BOX, EMPHASIS, draw_boxes, panels


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
