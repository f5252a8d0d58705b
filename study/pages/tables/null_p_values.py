"""p-values of factors that add nothing."""

from ...data.labels import label
from ...runs.experiments import ESTIMATORS, NULL_FACTORS
from ...scores.certainty import small_p_values
from ...scores.results import Results
from ..layout import NOTHING, Table
from .cells import runs_text


def tabulate_p_values(results: Results) -> list[Table]:
    """How often a factor that adds nothing has a small p-value."""
    rows = []
    for setting in NULL_FACTORS:
        cells = [results.find(name, setting) for name in ESTIMATORS]
        shares = [small_p_values(cell).text(3) if cell.n else NOTHING for cell in cells]
        rows.append((label(setting), *shares, runs_text(*cells)))
    header = ("", *(name.lower() for name in ESTIMATORS), "runs")
    note = (
        "Shares below 0.05 are on the safe side: beside factors that matter, one that adds nothing moves neighbours "
        "apart, so that it seems to do harm rather than good."
    )
    return [Table("Share of p-values up to 0.05 ± standard error, of factors that add nothing", header, rows, note)]
