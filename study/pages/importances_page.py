"""The page on how good importances are, docs/results/importances.md: made from stored rows alone, never by hand."""

from pathlib import Path
from typing import Any

from firstfactor._utils.atomic_write import write_whole

from ..paper.verdicts import REQUIREMENT_RULE
from ..runs.experiments import FEW, IMPORTANCES, REAL_IMPORTANCES
from ..runs.importances_real import N_HALVES, read_importances_real
from ..runs.store import RESULTS
from ..scores.results import Results
from .layout import Table
from .requirements_page import make_requirements_page
from .sections import Section, make_section
from .study_page import PAGE

IMPORTANCES_PAGE = PAGE.with_name("importances.md")

INTRODUCTION = f"""\
# Importances: how precise, how sure

**In short:** where effects are lines or smooth curves, the error of an importance is close to the least that any
estimator can have; where they bend or interact, it is at most about that of the best of the others here. Intervals
hold the truth about as often as they should.

How far `total_indices(X, y, variance_estimator="adaptive")` is from the truth, beside the least error that any
estimator can have, the other two estimators, and models that are fitted again without each factor; and how often its
intervals hold the truth. The page is written by `python -m study show all` from the rows stored in `study/results`;
`python -m study run additive` runs what is missing of one experiment and `python -m study show additive` shows it.

Error: the root mean square error of shares, over all factors and all runs of a cell, nulls included. A cell is a kind
of table with its numbers of rows and factors. The constants of the estimator were chosen on twelve other functions. Two
of its parts, the bend of the fit and the number of products, were added after six tables of each of the harder kinds
had shown where intervals failed; the tables below are others of these kinds. Three faults came to light here and were
mended since: one of ten earlier tables of lines led to a higher threshold for local fits, one table below to the number
of rows that local fits to y need, and those of XOR to a better projection of the bend. The errors for XOR and x₁x₂ then
led to regressions on other factors that are used only beyond chance, and to dropping functions that are shrunk most;
both thresholds were chosen on 15 to 40 other tables of each kind. All tables below were run again after that.

- {REQUIREMENT_RULE}
- Means of fewer than {FEW} repetitions are not judged."""


def write_importances_page(page: Path = IMPORTANCES_PAGE, folder: Path = RESULTS) -> None:
    """Write the page."""
    results = Results.load(folder)
    text = make_importances_page(
        [make_section(one.name, results) for one in IMPORTANCES], read_importances_real(folder)
    )
    write_whole(page, lambda file: file.write(text.encode()))


def make_importances_page(sections: list[Section], real_tables: dict[str, Any]) -> str:
    """Return the page in Markdown."""
    real = Section(REAL_IMPORTANCES, [_show(name, table) for name, table in real_tables.items()], [], [])
    return make_requirements_page(INTRODUCTION, [*sections, *([real] if real_tables else [])])


def _show(name: str, table: dict[str, Any]) -> Table:
    """Return the shares of one table and its ceiling, with intervals and spread."""
    rows = [
        [
            factor,
            *(_interval(found[each]) for each in ("extrapolated", "adaptive")),
            f"{2 * 1.96 * found['spread']:.3f}",
        ]
        for factor, found in [*table["factors"].items(), ("R² ceiling", table["ceiling"])]
    ]
    return Table(
        f"{name}, {table['n_rows']:,} rows: shares with 95 % intervals, and the width of an interval that {N_HALVES} "
        "fits to halves of the rows would give.",
        ("", "extrapolated, before", "adaptive, now", "width by halves"),
        rows,
    )


def _interval(numbers: list[float]) -> str:
    value, low, high = numbers
    return f"{value:.3f} ({low:.3f}–{high:.3f})"
