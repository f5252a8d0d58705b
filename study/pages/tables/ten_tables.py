"""Ten real tables: what is selected from shuffled targets, and what a forest loses by the selection."""

from ...data.evidence import FOLDS, SHUFFLED
from ...data.labels import label
from ...scores.results import Cell, Results
from ..layout import NOTHING, Table
from .cells import mean_text


def tabulate_ten_tables(results: Results) -> list[Table]:
    """How often something is selected from shuffled targets, and R² or accuracy of forests."""
    rows = []
    for of_shuffled, of_folds in zip(SHUFFLED, FOLDS, strict=True):
        shuffled, folds = (results.find("CALIBRATED", setting) for setting in (of_shuffled, of_folds))
        cells = (mean_text(shuffled, "any selected"), str(shuffled.n), *_of_forests(folds), str(folds.n))
        rows.append((label(of_shuffled), *cells))
    header = ("", "shuffled", "runs", "factors", "selected", "all", "loss", "runs")
    note = (
        "Shuffled: share of runs in which something is selected from a shuffled target. Factors: how many are selected "
        "from the true one. Selected, all: R² or accuracy of a forest on these and on all factors; loss: by how much "
        "the first is lower. Runs of the latter are folds, whose standard errors are not those of independent tables."
    )
    return [Table("The calibrated rule on ten real tables: mean ± standard error", header, rows, note)]


def _of_forests(cell: Cell) -> tuple[str, ...]:
    if not cell.n:
        return (NOTHING,) * 4
    scores = [f"{cell.mean(metric).value:.3f}" for metric in ("score", "score of all")]
    return (f"{cell.mean('n selected').value:.1f}", *scores, cell.mean("loss").text(3, sign=True))
