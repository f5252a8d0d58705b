"""Several rows of one person: the R² ceiling with groups and without."""

from ...runs.experiments import ESTIMATORS, PANEL
from ...scores.certainty import qualities
from ...scores.results import Cell, Results
from ..layout import NOTHING, Table
from .cells import ceiling_text
from .coverage import quality_cells

WAYS = {"": "groups", "-UNGROUPED": "no groups"}


def tabulate_panel_ceiling(results: Results) -> list[Table]:
    """The R² ceiling, and the indices of the factors."""
    cells = {
        f"{name.lower()}, {told}": results.find(name + end, PANEL)
        for name in reversed(ESTIMATORS)
        for end, told in WAYS.items()
    }
    note = (
        "Deviation: standard deviation over runs, which the mean standard error should be like. Covered: share of "
        "intervals of 95 % that hold the truth."
    )
    header = ("", "truth", "bias", "deviation", "standard error", "covered", "runs")
    return [
        Table(
            "R² ceiling: mean ± standard error",
            ("", "truth", "mean", "deviation", "standard error", "covered", "runs"),
            [(title, *_ceiling(cell)) for title, cell in cells.items()],
            note,
        ),
        *(
            Table(f"Indices: {title}", header, _indices(cell))
            for title, cell in cells.items()
            if "nearest" not in title
        ),
    ]


def _ceiling(cell: Cell) -> tuple[str, ...]:
    if not cell.n:
        return (*[NOTHING] * 5, "0")
    true, _, *others = quality_cells(qualities(cell)[-1])
    return (true, ceiling_text(cell, 4), *others, str(cell.n))


def _indices(cell: Cell) -> list[tuple[str, ...]]:
    if not cell.n:
        return [("", *[NOTHING] * 5, "0")]
    return [(one.name, *quality_cells(one), str(cell.n)) for one in qualities(cell)[:-1]]
