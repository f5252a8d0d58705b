"""Pure noise in everyday data: how often something is selected, and what comes of rows that are not independent."""

from ...data.labels import panel_size
from ...runs.experiments import EVERYDAY_NOISE, NOISE_PANELS
from ...scores.certainty import ceilings
from ...scores.results import Cell, Results
from ..layout import NOTHING, Table
from .cells import ceiling_text, mean_text
from .noise import tabulate_alarms

ON_PANELS = {"CALIBRATED": "groups", "CALIBRATED-UNGROUPED": "no groups", "FIRST": "groups, paper's rule"}


def tabulate_everyday_noise(results: Results) -> list[Table]:
    """How often something is selected where there is nothing; of panels, with groups and without."""
    rows = [
        (f"{panel_size(setting)}, {told}", *_panel(results.find(method, setting)))
        for setting in NOISE_PANELS
        for method, told in ON_PANELS.items()
    ]
    title = "Panels with `groups` and without, by the calibrated rule and by the paper's: mean ± standard error"
    header = ("", "selects", "factors", "R² ceiling", "highest", "runs")
    note = (
        "Selects: share of runs in which something is selected. The true ceiling is 0. Without groups, rows of one "
        "person are each other's neighbours in the factors that tell persons apart, and what belongs to the person "
        "seems to be explained. The paper's rule selects the best of all factors from any noise, in groups or not."
    )
    return [tabulate_alarms(results, EVERYDAY_NOISE), Table(title, header, rows, note)]


def _panel(cell: Cell) -> tuple[str, ...]:
    if not cell.n:
        return (*[NOTHING] * 4, "0")
    selected = [mean_text(cell, metric, decimals) for metric, decimals in (("any selected", 3), ("n selected", 1))]
    return (*selected, ceiling_text(cell), f"{ceilings(cell).max():.3f}", str(cell.n))
