"""Exact selection against correlation."""

from matplotlib.figure import Figure

from ...runs.experiments import SELECTING
from ...scores.results import Results
from .by_correlation import panels_by_problem


def draw_selection(results: Results) -> Figure:
    """Exact selection against correlation, one panel per problem."""
    return panels_by_problem(results, ("FIRST", *SELECTING), "exact", "share of exact selections")
