"""The page on ordinary tables, docs/results/ordinary.md: made from stored rows alone, never by hand."""

from pathlib import Path
from typing import Any

from firstfactor._utils.atomic_write import write_whole

from ..methods.ours import ALPHA
from ..paper.verdicts import REQUIREMENT_RULE
from ..runs.experiments import FEW, ORDINARY
from ..runs.ordinary_real import read_ordinary_real
from ..runs.store import RESULTS
from ..scores.results import Results
from .ordinary_real import real_sections
from .requirements_page import make_requirements_page
from .sections import Section, make_section
from .study_page import PAGE

ORDINARY_PAGE = PAGE.with_name("ordinary.md")

INTRODUCTION = f"""\
# Ordinary tables, beside the tests made for them

**In short:** of weak lines and curves, the calibrated rule finds about as many as t-tests or spline tests with Holm's
procedure, at about the same rate of false factors. For some classes, counts and ordered levels, a generalised linear
model finds a little more. Models on the selected factors predict on average slightly worse than models on all.

How much `FIRST(rule="calibrated")` finds in small ordinary tables, beside the test that is best there: least squares
where truths are lines, splines where they are curves, a generalised linear model for classes and counts, products for
interactions, the lasso for more columns than rows. The page is written by `python -m study show all` from what is
stored in `study/results`; `python -m study run lines` runs what is missing of one experiment and
`python -m study show lines` shows it. [evidence.md](evidence.md) has harder tables.

alpha = {ALPHA} everywhere. Holm: Holm's procedure, which keeps the probability of any false factor at alpha. The lasso
is not made to keep it: its set is for prediction. All see the same tables; all fits have one thread.

- {REQUIREMENT_RULE}
- Means of fewer than {FEW} repetitions are not judged."""


def write_ordinary_page(page: Path = ORDINARY_PAGE, folder: Path = RESULTS) -> None:
    """Write the page."""
    results = Results.load(folder)
    text = make_ordinary_page([make_section(one.name, results) for one in ORDINARY], read_ordinary_real(folder))
    write_whole(page, lambda file: file.write(text.encode()))


def make_ordinary_page(sections: list[Section], real_tables: dict[str, dict[str, Any]]) -> str:
    """Return the page in Markdown."""
    return make_requirements_page(INTRODUCTION, [*sections, *real_sections(real_tables)])
