"""A page of experiments with requirements: how many are reached, which are not, and all tables."""

from pathlib import Path

from firstfactor._utils.atomic_write import write_whole

from ..paper.verdicts import ON_REQUIREMENTS
from ..runs.experiments import Experiment
from ..scores.results import Results
from .layout import Table
from .markdown import link_to, section_parts, short_of
from .sections import Section, make_section


def write_requirements_page(page: Path, folder: Path, introduction: str, experiments: tuple[Experiment, ...]) -> None:
    """Write the page from the rows in a folder."""
    results = Results.load(folder)
    text = make_requirements_page(introduction, [make_section(one.name, results) for one in experiments])
    write_whole(page, lambda file: file.write(text.encode()))


def make_requirements_page(introduction: str, sections: list[Section]) -> str:
    """Return the page in Markdown."""
    parts = [introduction, "## In short", _summary(sections).markdown()]
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
