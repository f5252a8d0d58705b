"""The page on shares where they are known, docs/results/sharing.md: made from stored rows alone, never by hand."""

from pathlib import Path
from typing import Any

from firstfactor._utils.atomic_write import write_whole

from ..paper.verdicts import REQUIREMENT_RULE
from ..runs.experiments import FEW, SHARING
from ..runs.shared_tables import read_shared_tables
from ..runs.store import RESULTS
from ..scores.results import Results
from .requirements_page import make_requirements_page
from .sections import Section, make_section
from .shared_tables import describe_tables
from .study_page import PAGE

SHARING_PAGE = PAGE.with_name("sharing.md")

INTRODUCTION = f"""\
# Shares where they are known

**In short:** what factors explain alone, together and in pairs is estimated without noticeable bias where the truth
is known, and the intervals hold it about as often as they should. On real tables, clusters name columns that indeed
measure the same thing.

How well what each factor explains alone, what is lost without it, fair shares and pairs are estimated where the truth
is known, and what is said of real tables. The page is written by `python -m study show all` from the rows stored in
`study/results`; `python -m study run sharing` runs what is missing of one experiment and `python -m study show sharing`
shows it. [Factors that share information](../guide/sharing.md) explains the numbers.

- {REQUIREMENT_RULE}
- Means of fewer than {FEW} repetitions are not judged."""


def write_sharing_page(page: Path = SHARING_PAGE, folder: Path = RESULTS) -> None:
    """Write the page."""
    results = Results.load(folder)
    text = make_sharing_page([make_section(one.name, results) for one in SHARING], read_shared_tables())
    write_whole(page, lambda file: file.write(text.encode()))


def make_sharing_page(sections: list[Section], tables: dict[str, dict[str, Any]]) -> str:
    """Return the page in Markdown."""
    return make_requirements_page(INTRODUCTION, sections) + "\n" + describe_tables(tables)
