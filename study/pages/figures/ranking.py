"""Rank agreement against correlation."""

from matplotlib.figure import Figure

from ...runs.experiments import RANKING
from ...scores.results import Results
from .by_correlation import panels_by_problem


def draw_ranking(results: Results) -> Figure:
    """Rank agreement against correlation, one panel per problem."""
    return panels_by_problem(results, ("FIRST", *RANKING), "tau", "mean τ")
