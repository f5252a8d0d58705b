"""The page on how sure answers are, docs/certainty.md: made from stored rows alone, never by hand."""

from pathlib import Path

from firstfactor._utils.atomic_write import write_whole

from ..methods.ours import ALPHA
from ..paper.verdicts import ON_REQUIREMENTS, REQUIREMENT_RULE
from ..runs.experiments import CERTAINTY, FEW
from ..runs.store import RESULTS
from ..scores.results import Results
from .layout import Table
from .markdown import link_to, section_parts, short_of
from .sections import Section, make_section
from .study_page import PAGE

CERTAINTY_PAGE = PAGE.with_name("certainty.md")

INTRODUCTION = f"""\
# How sure the answers are

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
    results = Results.load(folder)
    text = make_certainty_page([make_section(experiment.name, results) for experiment in CERTAINTY])
    write_whole(page, lambda file: file.write(text.encode()))


def make_certainty_page(sections: list[Section]) -> str:
    """Return the page in Markdown."""
    parts = [INTRODUCTION, "## In short", _summary(sections).markdown()]
    missed = short_of(sections)
    if missed:
        parts += ["Not reached:", "\n".join(missed)]
    for section in sections:
        parts += section_parts(section)
    return "\n\n".join(parts) + "\n"


def _summary(sections: list[Section]) -> Table:
    judged = [section for section in sections if section.statements]
    counts = [[section.count(verdict)[1] for verdict in ON_REQUIREMENTS] for section in judged]
    rows = [[link_to(section), *map(str, row)] for section, row in zip(judged, counts, strict=True)]
    totals = ["all", *(str(sum(column)) for column in zip(*counts, strict=True))]
    return Table(
        "How many requirements are reached:", ("", *ON_REQUIREMENTS), [*rows, totals], "", frozenset([len(rows)])
    )
