"""Two classes: selection against correlation."""

from matplotlib.figure import Figure

from ...scores.results import Results, at
from .by_correlation import panels_by_metric


def draw_classes(results: Results) -> Figure:
    """Exact selection, true and false positives with two classes."""
    methods = ("FIRST", "LASSO", "RF-VS", "COSSO", "VIMP-ACC", "KFOCI")
    metrics = {
        "exact": ("exact selections", methods),
        "true positives": ("true positives", methods),
        "false positives": ("false positives", methods),
    }
    return panels_by_metric(
        results, ("ishigami", "friedman"), metrics, lambda source, rho: at(source, rho, classes=True)
    )
