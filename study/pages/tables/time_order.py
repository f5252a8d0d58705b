"""Rows in time order: how often something is selected from noise, with and without groups."""

from ...data.difficult import BLOCK
from ...data.evidence import IN_TIME
from ...scores.results import Results
from ..layout import Table
from .cells import ceiling_text, mean_text

WAYS = {"CALIBRATED-UNGROUPED": "no groups", "CALIBRATED": f"blocks of {BLOCK} rows as groups"}


def tabulate_time_order(results: Results) -> list[Table]:
    """How often something is selected, and what seems to be explained."""
    rows = []
    for method, told in WAYS.items():
        cell = results.find(method, IN_TIME)
        shown = [mean_text(cell, metric, decimals) for metric, decimals in (("any selected", 3), ("n selected", 1))]
        rows.append((told, *shown, ceiling_text(cell), str(cell.n)))
    header = ("", "selects", "factors", "R² ceiling", "runs")
    note = "Selects: share of runs in which something is selected. The true ceiling is 0."
    return [Table("By the calibrated rule: mean ± standard error", header, rows, note)]
