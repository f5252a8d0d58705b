"""What the calibrated rule finds where the truth is known, and what the paper's rule does."""

from collections.abc import Callable

from ...data.labels import label
from ...data.setting import Setting
from ...paper.claims.evidence import FOUND
from ...scores.results import Results
from ..layout import Table
from .cells import mean_text

NOTE = (
    "Found: mean share of the factors sought that is selected. Exact: share of runs in which all are, and no false "
    "one. False: share of runs with a false factor."
)


def found_in(experiment: str, settings: tuple[Setting, ...]) -> Callable[[Results], list[Table]]:
    """Return what makes the tables of an experiment."""

    def tabulate(results: Results) -> list[Table]:
        ours = [(*_row(results, "CALIBRATED", one), _required(experiment, one)) for one in settings]
        theirs = [_row(results, "FIRST", one) for one in settings]
        header = ("", "found", "exact", "false", "runs")
        return [
            Table("The calibrated rule: mean ± standard error", (*header, "required"), ours, NOTE),
            Table("The paper's rule: mean ± standard error", header, theirs),
        ]

    return tabulate


def _row(results: Results, method: str, setting: Setting) -> tuple[str, ...]:
    cell = results.find(method, setting)
    return (label(setting), *(mean_text(cell, one) for one in ("found", "exact", "any false")), str(cell.n))


def _required(experiment: str, setting: Setting) -> str:
    if setting not in FOUND[experiment]:
        return ""
    metric, least = FOUND[experiment][setting]
    return f"{metric} {least:.2f}"
