"""Abalone: random forests on all subsets of the factors."""

import numpy as np
from matplotlib.figure import Figure

from ...paper.claims.abalone import abalone_selection, selection_number, subset_errors
from ...scores.results import Results
from .style import BOX, EMPHASIS, panels


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
