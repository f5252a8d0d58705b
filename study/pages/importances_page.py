"""The page on how good importances are, docs/results/importances.md: made from stored rows alone, never by hand."""

from pathlib import Path

from ..paper.verdicts import REQUIREMENT_RULE
from ..runs.experiments import FEW, IMPORTANCES
from ..runs.store import RESULTS
from .requirements_page import make_requirements_page, write_requirements_page
from .sections import Section
from .study_page import PAGE

IMPORTANCES_PAGE = PAGE.with_name("importances.md")

INTRODUCTION = f"""\
# Importances: how precise, how sure

How far `total_indices(X, y, estimator="adaptive")` is from the truth, beside the least error that any estimator can
have, the other two estimators, and models that are fitted again without each factor; and how often its intervals hold
the truth. The page is written by `python -m study show all` from the rows stored in `study/results`;
`python -m study run additive` runs what is missing of one experiment and `python -m study show additive` shows it.

Error: the root mean square error of shares, over all factors and all runs of a cell, nulls included. A cell is a kind
of table with its numbers of rows and factors. The constants of the estimator were chosen on twelve other functions. Two
of its parts, the bend of the fit and the number of products, were added after six tables of each of the harder kinds
had shown where intervals failed; the tables below are others of these kinds.

- {REQUIREMENT_RULE}
- Means of fewer than {FEW} repetitions are not judged."""


def write_importances_page(page: Path = IMPORTANCES_PAGE, folder: Path = RESULTS) -> None:
    """Write the page."""
    write_requirements_page(page, folder, INTRODUCTION, IMPORTANCES)


def make_importances_page(sections: list[Section]) -> str:
    """Return the page in Markdown."""
    return make_requirements_page(INTRODUCTION, sections)
