"""The page on how sure answers are, docs/results/certainty.md: made from stored rows alone, never by hand."""

from pathlib import Path

from ..methods.ours import ALPHA
from ..paper.verdicts import REQUIREMENT_RULE
from ..runs.experiments import CERTAINTY, FEW
from ..runs.store import RESULTS
from .requirements_page import make_requirements_page, write_requirements_page
from .sections import Section
from .study_page import PAGE

CERTAINTY_PAGE = PAGE.with_name("certainty.md")

INTRODUCTION = f"""\
# How sure the answers are

**In short:** from pure noise the calibrated rule selects something about as often as alpha allows, and the paper's
rule always does. On the paper's problems it selects exactly the true factors in about nine tables of ten or more;
most misses are one false factor, which alpha allows in a tenth of tables. Intervals of 95 % hold the truth about as
often as they should, or a little more often.

What `FIRST(rule="calibrated")`, standard errors, intervals and p-values must reach, and what they do on data where the
truth is known: pure noise, and the paper's problems. The page is written by `python -m study show all` from the rows
stored in `study/results`; `python -m study run noise` runs what is missing of one experiment and
`python -m study show noise` shows it. The study of the paper itself is in [study.md](study.md).

The calibrated rule has alpha = {ALPHA}; "the paper's rule" is `FIRST()`, Algorithm 3. NEAREST and EXTRAPOLATED are the
two estimators: the paper's, and local linear fits that remove most of its distance bias. All fits have one thread.

- {REQUIREMENT_RULE}
- Means of fewer than {FEW} repetitions are not judged."""


def write_certainty_page(page: Path = CERTAINTY_PAGE, folder: Path = RESULTS) -> None:
    """Write the page."""
    write_requirements_page(page, folder, INTRODUCTION, CERTAINTY)


def make_certainty_page(sections: list[Section]) -> str:
    """Return the page in Markdown."""
    return make_requirements_page(INTRODUCTION, sections)
