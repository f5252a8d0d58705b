"""Real tables: how many factors are selected and how well they predict, next to what the paper prints."""

from ...data.setting import Setting
from ...paper import printed_numbers
from ...paper.verdicts import Compared, Verdict, quantiles_agree, verdict_of
from ...runs.experiments import FEW
from ...scores.estimates import Quantiles, quantiles
from ...scores.results import Cell, Results
from ..layout import NOTHING, Table
from .printed_next_to_ours import Comparison, number_texts


def compare_tables(results: Results, sizes: dict[str, tuple[int, int]], classes: bool) -> Comparison:
    """Real tables: how many factors were selected, and how well they predict."""
    rows: list[tuple[str, ...]] = []
    compared, strong = [], set()
    metric = "accuracy" if classes else "error"
    for source, size in sizes.items():
        name, counts, ratios = printed_numbers.REAL_TABLES[source]
        for method in ("FIRST", "FIRST-INTEGERS"):
            cell = results.find(method, Setting(source, *size, classes=classes, part="train"))
            numbers = [
                _quantiles(f"{name}: selected factors", cell, "n selected", counts, 0),
                _quantiles(f"{name}: {metric} ratio", cell, "error ratio", ratios, 2),
            ]
            if method == "FIRST":
                compared += numbers
                strong.add(len(rows))
            rows.append((name if method == "FIRST" else "unscaled integers", *number_texts(numbers), str(cell.n)))
    header = ("", "selected", "paper", "", metric, "paper", "", "runs")
    note = (
        f"Median (20 % to 80 % quantile); {metric} as a multiple of that with all factors. Verdicts on FIRST count, "
        "those of the variant with unscaled integers do not."
    )
    title = "Number of selected factors, and forests on them against forests on all"
    return [Table(title, header, rows, note, frozenset(strong))], compared


def _quantiles(label: str, cell: Cell, metric: str, printed: Quantiles, decimals: int) -> Compared:
    if cell.n < FEW:
        return Compared(label, NOTHING, printed.text(decimals), Verdict.NOT_RUN)
    measured = quantiles(cell.values(metric))
    verdict = verdict_of(quantiles_agree(measured, printed, 0.5 * 10.0**-decimals))
    reason = printed_numbers.REASONS.get(cell.setting.source, "")
    return Compared(label, measured.text(decimals), printed.text(decimals), verdict, reason)
