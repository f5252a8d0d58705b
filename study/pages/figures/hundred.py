"""A hundred factors: ranking, selection and time."""

from matplotlib.figure import Figure

from ...scores.results import Results, at
from .by_correlation import panels_by_metric


def draw_hundred(results: Results) -> Figure:
    """Rank agreement, exact selection and time with a hundred factors."""
    ranking = ("FIRST", "LASSO", "FILTER", "RF", "RF-SHAP", "RF-VS", "COSSO")
    metrics = {
        "tau": ("mean τ", ranking),
        "exact": ("exact selections", ("FIRST", "LASSO", "RF-VS", "COSSO", "KFOCI")),
        "seconds": ("mean seconds", (*ranking, "KFOCI")),
    }
    return panels_by_metric(results, ("friedman", "ishigami"), metrics, lambda source, rho: at(source, rho, 100))
