"""Pure noise: how often something is selected."""

from collections.abc import Iterable

from ...data.labels import label
from ...data.setting import Setting
from ...paper.claims.requirements import allowed_alarms
from ...runs.experiments import PURE_NOISE
from ...scores.results import Results
from ..layout import NOTHING, Table
from .cells import mean_text


def tabulate_noise(results: Results) -> list[Table]:
    """How often something is selected where there is nothing."""
    return [tabulate_alarms(results, PURE_NOISE)]


def tabulate_alarms(results: Results, settings: Iterable[Setting]) -> Table:
    """How often something is selected in some settings of pure noise, by both rules."""
    rows = []
    for setting in settings:
        ours, theirs = (results.find(name, setting) for name in ("CALIBRATED", "FIRST"))
        rows.append(
            (
                label(setting),
                mean_text(ours, "any selected", 3),
                f"{allowed_alarms(ours.n):.3f}" if ours.n else NOTHING,
                str(ours.n),
                mean_text(theirs, "any selected"),
                mean_text(theirs, "n selected", 1),
                str(theirs.n),
            )
        )
    header = ("", "calibrated", "allowed", "runs", "paper's rule", "factors", "runs")
    note = "Factors: how many the paper's rule selects on average."
    return Table("Share of runs in which something is selected ± standard error", header, rows, note)
