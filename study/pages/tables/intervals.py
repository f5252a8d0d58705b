"""Intervals of indices and of the R² ceiling: how often they hold the truth, and how wide they are."""

from ...data.evidence import INTERVALS
from ...data.labels import label
from ...paper.claims.evidence import LEAST_INDEX, relative_widths
from ...scores.certainty import qualities
from ...scores.results import Results
from ..layout import NOTHING, Table


def tabulate_intervals(results: Results) -> list[Table]:
    """Coverage and width of the intervals of each setting."""
    rows: list[tuple[str, ...]] = []
    for setting in INTERVALS:
        cell = results.find("EXTRAPOLATED", setting)
        title = f"{label(setting).split(',')[0]}, {setting.n_rows:,}"
        if not cell.n:
            rows.append((title, *[NOTHING] * 5, "0"))
            continue
        found = qualities(cell)
        rows += [
            (
                f"{title}: {one.name}",
                f"{one.truth:.4f}",
                one.bias.text(4, sign=True),
                one.covered.text(3),
                f"{one.mean_width:.4f}",
                f"{width:.2f}",
                str(cell.n),
            )
            for one, width in zip(found, relative_widths(found, setting), strict=True)
        ]
    header = ("", "truth", "bias", "covered", "width", "wider", "runs")
    note = (
        "Covered: share of intervals of 95 % that hold the truth. Wider: mean width over that of intervals that take "
        f"account of chance alone. Indices up to {LEAST_INDEX} are not judged."
    )
    return [Table("By function and number of rows: mean ± standard error", header, rows, note)]
