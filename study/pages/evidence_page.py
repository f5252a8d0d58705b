"""The page on how good the calibrated rule is, docs/results/evidence.md: made from stored rows alone, never by hand."""

from pathlib import Path

from ..methods.ours import ALPHA
from ..paper.verdicts import REQUIREMENT_RULE
from ..runs.experiments import EVIDENCE, FEW
from ..runs.store import RESULTS
from .requirements_page import make_requirements_page, write_requirements_page
from .sections import Section
from .study_page import PAGE

EVIDENCE_PAGE = PAGE.with_name("evidence.md")

INTRODUCTION = f"""\
# What the evidence is worth

**In short:** on harder tables the calibrated rule keeps its level where nothing is to be found, rarely adds a false
factor to true ones, and finds small effects, interactions and factors of rare classes. For prediction, models on the
selected factors are on average slightly worse than models on all.

What `FIRST(rule="calibrated")` must find, and what it must not, on tables that are harder than those of the paper: rare
classes, zeros and skewed noise; true factors with false ones beside them; small effects in large tables, interactions,
and functions of other studies; real tables. The page is written by `python -m study show all` from the rows stored in
`study/results`; `python -m study run hard-noise` runs what is missing of one experiment and
`python -m study show hard-noise` shows it. [certainty.md](certainty.md) has the paper's problems and everyday data.

The calibrated rule has alpha = {ALPHA}; "the paper's rule" is `FIRST()`, Algorithm 3. All fits have one thread. Factors
are uniform on [0, 1], and independent where no ρ is given.

- {REQUIREMENT_RULE}
- Means of fewer than {FEW} repetitions are not judged."""


def write_evidence_page(page: Path = EVIDENCE_PAGE, folder: Path = RESULTS) -> None:
    """Write the page."""
    write_requirements_page(page, folder, INTRODUCTION, EVIDENCE)


def make_evidence_page(sections: list[Section]) -> str:
    """Return the page in Markdown."""
    return make_requirements_page(INTRODUCTION, sections)
