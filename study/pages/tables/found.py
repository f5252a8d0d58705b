"""What the calibrated rule finds where the truth is known, and the paper's rule beside it."""

from collections.abc import Callable

from ...data.labels import label
from ...data.setting import Setting
from ...paper.claims.evidence import FOUND
from ...scores.results import Results
from ..layout import Table
from .cells import mean_text


def found_in(experiment: str, settings: tuple[Setting, ...], metric: str) -> Callable[[Results], list[Table]]:
    """Return what makes the table of an experiment; the metric is the one shown of the paper's rule."""

    def tabulate(results: Results) -> list[Table]:
        rows = [_row(results, setting, metric, FOUND[experiment]) for setting in settings]
        note = (
            "Found: mean share of the factors sought that is selected. Exact: share of runs in which they are, and no "
            "false one. False: share of runs with a false factor. *: a requirement."
        )
        header = ("", "found", "exact", "false", "runs", f"paper: {metric}", "runs")
        return [Table("The calibrated rule, and the paper's: mean ± standard error", header, rows, note)]

    return tabulate


def _row(
    results: Results, setting: Setting, metric: str, required: dict[Setting, tuple[str, float]]
) -> tuple[str, ...]:
    ours, theirs = (results.find(name, setting) for name in ("CALIBRATED", "FIRST"))
    wanted = required.get(setting, ("",))[0]
    shown = [mean_text(ours, one) + "*" * (one == wanted) for one in ("found", "exact", "any false")]
    return (label(setting), *shown, str(ours.n), mean_text(theirs, metric), str(theirs.n))
