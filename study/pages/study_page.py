"""The page with all results on the paper, docs/results/study.md: made from stored rows alone, never by hand."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from firstfactor._utils.atomic_write import write_whole

from ..methods.registry import NAMES
from ..paper.verdicts import NUMBER_RULE, ON_THE_PAPER, QUANTILE_RULE, STATEMENT_RULE
from ..runs.experiments import CORRELATIONS, FEW, PAPER
from ..runs.store import RESULTS
from ..scores.results import Results, at
from .figures.draw import FIGURES, draw_figure
from .layout import NOTHING, Table
from .markdown import link_to, section_parts, short_of
from .sections import Section, make_section
from .tables.cells import ratio_text

PAGE = Path(__file__).parents[2] / "docs" / "results" / "study.md"
PICTURES = PAGE.with_suffix("")
"""The folder with the page's figures."""

INTRODUCTION = f"""\
# The paper's study, run again

**In short:** most numbers of the paper come out again, to within chance, and so do most of its statements. Those that
do not are listed first, each with what was measured.

Huang and Joseph ([doi:10.1080/00401706.2025.2483531](https://doi.org/10.1080/00401706.2025.2483531)) show in tables and
figures what FIRST can do, next to other methods. This page shows the same experiments with this package and today's
software, and says where the results agree with the paper and where they differ. It is written by
`python -m study show all` from the rows stored in `study/results`; every number on it comes from one of those, or from
the paper.

    pip install -e '.[study]'
    python -m study list                 # the experiments, and how many of their rows are stored
    python -m study run selection        # what is missing of one; it can be stopped, and goes on when run again
    python -m study show selection       # its tables and verdicts in the terminal
    python -m study all --data FOLDER    # everything, and this page; FOLDER has the real tables

The rules:

- {NUMBER_RULE}
- {QUANTILE_RULE}
- {STATEMENT_RULE}
- Means of fewer than {FEW} repetitions are not judged. Times are of another machine and other software than the
  paper's, so they are judged only where the paper states a ratio.
- Kendall's τ is τ-b: by the formula in the paper, no ranking could reach 1 where most factors tie at 0."""


def write_page(page: Path = PAGE, folder: Path = RESULTS) -> None:
    """Write the page, and its figures next to it."""
    results = Results.load(folder)
    sections = [make_section(experiment.name, results) for experiment in PAPER]
    figures = page.with_suffix("")
    drawn = {name for name in FIGURES if draw_figure(name, results, figures) is not None}
    text = make_page(sections, drawn, results, page.stem)
    write_whole(page, lambda file: file.write(text.encode()))


def make_page(sections: list[Section], drawn: set[str], results: Results, figures: str) -> str:
    """Return the page in Markdown; ``drawn`` has the experiments with a figure in the folder ``figures``."""
    parts = [INTRODUCTION, "## In short", _summary(sections).markdown(), *_differences(sections)]
    parts += ["## Time", _times(results).markdown()]
    for section in sections:
        parts += section_parts(
            section, f"{figures}/{section.experiment.name}.svg" if section.experiment.name in drawn else ""
        )
    return "\n\n".join(parts) + "\n"


def _summary(sections: list[Section]) -> Table:
    judged = [section for section in sections if section.numbers or section.statements]
    rows = [[link_to(section), *map(str, _counts(section))] for section in judged]
    totals = map(str, np.sum([_counts(section) for section in sections], axis=0))
    header = ("", *(f"{things}: {verdict}" for things in ("numbers", "statements") for verdict in ON_THE_PAPER))
    title = "How many of the paper's printed numbers, and of its statements in words, agree with what is stored here:"
    return Table(title, header, [*rows, ["all", *totals]], strong=frozenset([len(rows)]))


def _counts(section: Section) -> list[int]:
    """Return how many numbers came to each verdict, then how many statements."""
    numbers, statements = zip(*(section.count(verdict) for verdict in ON_THE_PAPER), strict=True)
    return [*numbers, *statements]


def _differences(sections: list[Section]) -> Iterator[str]:
    """Yield lists of all that differs, with the reason where it is known."""
    statements = short_of(sections)
    numbers = [number for section in sections for number in section.numbers if number.verdict.falls_short]
    if statements:
        yield "Statements that differ:"
        yield "\n".join(statements)
    if numbers:
        yield "Printed numbers that differ (at two standard errors, some do so by chance):"
        lines = [f"- {one.label}: {one.measured}, paper {one.printed}. {one.reason}".rstrip() for one in numbers]
        yield "\n".join(dict.fromkeys(lines))  # the paper prints some in two tables


def _times(results: Results) -> Table:
    """Return the median time of every method on the Friedman function."""
    first = [_seconds(results, "FIRST", p) for p in (10, 100)]
    rows = []
    for method in (name for name in NAMES if any(name in experiment.methods for experiment in PAPER)):
        row = [method]
        for p, base in zip((10, 100), first, strict=True):
            times = _seconds(results, method, p)
            ratio = ratio_text(float(np.median(times) / np.median(base))) if len(times) and len(base) else NOTHING
            row += [f"{np.median(times):.3g}" if len(times) else NOTHING, ratio, str(len(times))]
        if row[3] != "0" or row[6] != "0":
            rows.append(row)
    header = ("", "p = 10: seconds", "× FIRST", "runs", "p = 100: seconds", "× FIRST", "runs")
    title = (
        "Median seconds on the Friedman function over ρ = 0, 0.5 and 0.9, one process per core with one thread each:"
    )
    note = (
        "RF-SHAP, RF-VS and VIMP-R2 ran while the machine had other work. VIMP-R2 grows ten forests for each factor on "
        "nearly all others, which takes too long with 100 of them."
    )
    strong = frozenset(k for k, row in enumerate(rows) if row[0] == "FIRST")
    return Table(title, header, rows, note, strong)


def _seconds(results: Results, method: str, n_factors: int) -> list[float]:
    cells = [results.find(method, at("friedman", rho, n_factors)) for rho in CORRELATIONS]
    return [seconds for cell in cells if cell.n for seconds in cell.values("seconds")]
