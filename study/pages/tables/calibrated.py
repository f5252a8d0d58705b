"""Selection by the calibrated rule and by the paper's."""

from ...data.labels import label
from ...paper.claims.requirements import EXACT
from ...runs.experiments import CALIBRATED
from ...scores.certainty import paired_difference
from ...scores.results import Results
from ..layout import NOTHING, Table
from .cells import mean_text, runs_text


def tabulate_calibrated(results: Results) -> list[Table]:
    """Exact selection, true and false positives by the calibrated rule and by the paper's."""
    exact, rates = [], []
    for setting in CALIBRATED:
        ours, theirs = (results.find(name, setting) for name in ("CALIBRATED", "FIRST"))
        difference = paired_difference(ours, theirs, "exact").text(2, sign=True) if ours.n and theirs.n else NOTHING
        required = f"{EXACT[setting]:.2f}" if setting in EXACT else ""
        exact.append(
            (
                label(setting),
                mean_text(ours, "exact"),
                required,
                mean_text(theirs, "exact"),
                difference,
                runs_text(ours, theirs),
            )
        )
        shown = [
            mean_text(cell, metric, decimals)
            for cell in (ours, theirs)
            for metric, decimals in (("true positives", 2), ("false positives", 3))
        ]
        rates.append((label(setting), *shown, runs_text(ours, theirs)))
    return [
        Table(
            "Share of exact selections ± standard error",
            ("", "calibrated", "required", "paper's rule", "difference", "runs"),
            exact,
            "Both rules see the same tables, and the difference has the standard error of pairs.",
        ),
        Table(
            "Rates of true and false positives ± standard error: the calibrated rule, and the paper's",
            ("", "TPR", "FPR", "paper: TPR", "FPR", "runs"),
            rates,
        ),
    ]
