"""Exact selection against correlation."""

from ...runs.experiments import BY_NAME, FACTORS
from ...scores.results import Results
from ..layout import Table
from .by_correlation import by_problem, grid_table


def tabulate_selection(results: Results) -> list[Table]:
    """Exact selection by problem, and of FIRST on a finer grid."""
    methods = BY_NAME["selection"].methods
    title = "Share of exact selections"
    return [
        *by_problem(results, methods, tuple(FACTORS), "exact", title),
        grid_table(results, "exact", f"{title} by FIRST"),
    ]
