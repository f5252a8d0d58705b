"""Too few rows for so many factors: the R² ceiling next to how far neighbours are."""

from firstfactor.inference.constants import MAX_DISTANCE_SHARE

from ...runs.experiments import (
    ESTIMATORS,
    TOO_FEW_ROWS,
)
from ...scores import certainty
from ...scores.results import Results
from ...scores.truths import true_ceiling
from ..layout import NOTHING, Table
from .cells import runs_text, size_text


def tabulate_too_few_rows(results: Results) -> list[Table]:
    """The R² ceiling next to how far neighbours are."""
    rows = []
    for setting in TOO_FEW_ROWS:
        cells = [results.find(name, setting) for name in ESTIMATORS]
        if not all(cell.n for cell in cells):
            rows.append((size_text(setting), *[NOTHING] * 4, "0"))
            continue
        share = certainty.distance_share(cells[0])
        errors = [certainty.ceiling_error(cell).text(3, sign=True) for cell in cells]
        rows.append(
            (
                size_text(setting),
                f"{share:.3f}",
                "yes" if share > MAX_DISTANCE_SHARE else "no",
                *errors,
                runs_text(*cells),
            )
        )
    header = ("", "distance share", "warns", *(name.lower() for name in ESTIMATORS), "runs")
    title = f"R² ceiling, estimated minus true ({true_ceiling(TOO_FEW_ROWS[0]):.3f}): mean ± standard error"
    return [Table(title, header, rows)]
