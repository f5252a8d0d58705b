"""Two classes: selection against correlation."""

from ...runs.experiments import BY_NAME
from ...scores.results import Results
from ..layout import Table
from .by_correlation import by_problem


def tabulate_classes(results: Results) -> list[Table]:
    """Exact selection, true and false positives with two classes."""
    methods, sources = BY_NAME["classes"].methods, ("ishigami", "friedman")
    titles = {
        "exact": "Share of exact selections",
        "true positives": "True positives",
        "false positives": "False positives",
    }
    return [
        table
        for metric, title in titles.items()
        for table in by_problem(results, methods, sources, metric, title, classes=True)
    ]
