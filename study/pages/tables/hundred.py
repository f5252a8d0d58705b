"""A hundred factors: ranking, selection and time."""

from ...runs.experiments import BY_NAME
from ...scores.results import Results
from ..layout import Table
from .by_correlation import by_problem


def tabulate_hundred(results: Results) -> list[Table]:
    """Rank agreement, exact selection and time with a hundred factors."""
    methods = BY_NAME["hundred"].methods
    ranking = tuple(name for name in methods if name != "KFOCI")  # selects in an order, but gives no importances
    selecting = tuple(name for name in methods if name not in ("FILTER", "RF", "RF-SHAP"))
    sources = ("friedman", "ishigami")
    return [
        *by_problem(results, ranking, sources, "tau", "Mean τ", 100),
        *by_problem(results, selecting, sources, "exact", "Share of exact selections", 100),
        *by_problem(results, methods, sources, "seconds", "Mean seconds", 100),
    ]
