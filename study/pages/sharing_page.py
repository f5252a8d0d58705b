"""The page on factors that share information, docs/sharing.md: what users read is written by hand, evidence is not."""

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

MARK = "<!-- From here on, `python -m study show all` writes this page. -->"

INTRODUCTION = f"""\
{MARK}

# The evidence

What follows is written by `python -m study show all` from the rows stored in `study/results`;
`python -m study run sharing` runs what is missing of one experiment and `python -m study show sharing` shows it.

- {REQUIREMENT_RULE}
- Means of fewer than {FEW} repetitions are not judged."""


def write_sharing_page(page: Path = SHARING_PAGE, folder: Path = RESULTS) -> None:
    """Write what follows the mark, and leave what stands before it."""
    results = Results.load(folder)
    by_hand = page.read_text(encoding="utf-8").partition(MARK)[0] if page.exists() else ""
    text = by_hand + make_evidence([make_section(one.name, results) for one in SHARING], read_shared_tables())
    write_whole(page, lambda file: file.write(text.encode()))


def make_evidence(sections: list[Section], tables: dict[str, dict[str, Any]]) -> str:
    """Return what follows what is written by hand, in Markdown."""
    return make_requirements_page(INTRODUCTION, sections) + "\n" + describe_tables(tables)
