"""The p-value of the next step where all true factors are in."""

import numpy as np

from ...data.evidence import NEXT_STEP
from ...data.labels import label
from ...methods.ours import ALPHA
from ...scores.certainty import alarms_of_next_step, next_p_values
from ...scores.results import Results
from ..layout import NOTHING, Table


def tabulate_next_step(results: Results) -> list[Table]:
    """How often chance lets a further factor in, and the quartiles of the p-values."""
    rows = []
    for setting in NEXT_STEP:
        cell = results.find("CALIBRATED-NEXT", setting)
        if not cell.n:
            rows.append((label(setting), *[NOTHING] * 4, "0"))
            continue
        quartiles = np.quantile(next_p_values(cell), [0.25, 0.5, 0.75])
        rows.append(
            (label(setting), alarms_of_next_step(cell).text(3), *(f"{value:.2f}" for value in quartiles), str(cell.n))
        )
    header = ("", f"p ≤ {ALPHA}", "quartile", "median", "quartile", "runs")
    note = f"p-values that are just right have a share of {ALPHA} and quartiles of 0.25, 0.5 and 0.75."
    return [Table("Share of small p-values of the next step ± standard error", header, rows, note)]
