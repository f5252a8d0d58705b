"""All factors in order of what each adds, beside the authors' package."""

from ...data.labels import label
from ...runs.experiments import IN_ORDER
from ...scores.estimates import estimate
from ...scores.results import Results
from ...scores.sharing import right_order, true_cumulative_shares
from ..layout import NOTHING, Table

NAMES = {"CUMULATIVE": "cumulative_ranking", "PYFIRST-RANK": "pyfirst.FIRSTRank"}


def tabulate_cumulative(results: Results) -> list[Table]:
    """How often the order is right, and cumulative shares beside the truth."""
    rows: list[tuple[str, ...]] = []
    for setting in IN_ORDER:
        true = [f"{share:.3f}" for share in true_cumulative_shares(setting)]
        rows.append((f"{label(setting).split(',')[0]}: truth", NOTHING, *true, NOTHING))
        for method, name in NAMES.items():
            cell = results.find(method, setting)
            if not cell.n:
                rows.append((name, *[NOTHING] * 4, "0"))
                continue
            shares = [estimate(column).text(3) for column in cell.importances.T]
            rows.append((name, str(right_order(cell)), *shares, str(cell.n)))
    header = ("", "right order", "first", "first two", "all three", "runs")
    return [Table("Mean ± standard error", header, rows, "Right order: share of runs with the order x₁, x₂, x₃.")]
