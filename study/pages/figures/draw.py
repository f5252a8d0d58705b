"""Which experiment has which figure, and how it is drawn into a file."""

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from ...scores.results import NotRunError, Results
from .abalone import draw_abalone
from .classes import draw_classes
from .dimension import draw_dimension
from .estimators import draw_estimators
from .hundred import draw_hundred
from .importance import draw_importance
from .ranking import draw_ranking
from .selection import draw_selection
from .style import save, styled

FIGURES: dict[str, tuple[Callable[[Results], Figure], str]] = {
    "estimators": (draw_estimators, "Boxplots of three estimators of the total indices, with the analytic values"),
    "importance": (draw_importance, "Boxplots of importances for each method, with the truth as crosses"),
    "ranking": (draw_ranking, "Rank agreement of each method against correlation, on three problems"),
    "selection": (draw_selection, "Share of exact selections of each method against correlation, on three problems"),
    "hundred": (draw_hundred, "Rank agreement, exact selection and time of each method with 100 factors"),
    "dimension": (draw_dimension, "Time of FIRST against the number of factors, here and in the paper"),
    "abalone": (draw_abalone, "Out-of-bag error of random forests on all subsets of the Abalone factors"),
    "classes": (draw_classes, "Exact selection, true and false positives of each method with two classes"),
}
"""How to draw the figure of an experiment, and what it shows."""

CAPTIONS = {
    "estimators": "Boxes: quartiles and median; whiskers: 5 and 95 % of the runs.",
    "importance": "Boxes: quartiles and median; whiskers: 5 and 95 % of the runs; crosses: the truth.",
    "ranking": "Bars: two standard errors.",
    "selection": "Bars: two standard errors.",
    "hundred": "Bars: two standard errors.",
    "classes": "Bars: two standard errors.",
}


def draw_figure(name: str, results: Results, folder: Path) -> Path | None:
    """Draw the figure of an experiment into a folder, if it has one and its rows are stored."""
    if name not in FIGURES:
        return None
    path = folder / f"{name}.svg"
    with styled():
        try:
            save(FIGURES[name][0](results), path)
        except NotRunError:
            return None
    return path
