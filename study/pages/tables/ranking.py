"""Rank agreement against correlation."""

from ...runs.experiments import BY_NAME, FACTORS
from ...scores.results import Results
from ..layout import Table
from .by_correlation import by_problem, grid_table


def tabulate_ranking(results: Results) -> list[Table]:
    """Rank agreement by problem, and of FIRST on a finer grid."""
    methods = BY_NAME["ranking"].methods
    return [
        *by_problem(results, methods, tuple(FACTORS), "tau", "Mean τ"),
        grid_table(results, "tau", "Mean τ of FIRST"),
    ]
