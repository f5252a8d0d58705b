"""FIRST and FIRST-FAST, next to what the paper prints."""

from ...paper import printed_numbers
from ...paper.verdicts import Compared
from ...scores.results import Results, at
from ..layout import Table
from .cells import runs_text, seconds_text
from .printed_next_to_ours import SIZES, SYMBOLS, Comparison, compare_number, number_texts

BOTH = ("FIRST", "FIRST-FAST")


def compare_fast(results: Results) -> Comparison:
    """FIRST and FIRST-FAST; the paper's numbers of FIRST are partly those of the experiment before."""
    parts = [_fast_by_size(results, k, metric) for k, metric in enumerate(("tau", "true positives", "false positives"))]
    tables = [table for table, _ in parts]
    return [*tables, _fast_times(results)], [number for _, numbers in parts for number in numbers]


def _fast_by_size(results: Results, k: int, metric: str) -> tuple[Table, list[Compared]]:
    """Return the metric that the paper prints as the k-th in a cell."""
    rows, compared = [], []
    for p, rho in SIZES:
        cells = {method: results.find(method, at("friedman", rho, p)) for method in BOTH}
        numbers = [
            compare_number(method, cells[method], metric, printed_numbers.FAST[method, p, rho][k]) for method in BOTH
        ]
        rows.append((f"p = {p:,}, ρ = {rho}", *number_texts(numbers), runs_text(*cells.values())))
        compared += numbers
    header = ("", "FIRST", "paper", "", "FAST", "paper", "", "runs")
    return Table(f"Mean {SYMBOLS[metric]} ± standard error on Friedman", header, rows), compared


def _fast_times(results: Results) -> Table:
    rows = []
    for p, rho in SIZES:
        cells = [results.find(method, at("friedman", rho, p)) for method in BOTH]
        theirs = [printed_numbers.FAST[method, p, rho][-1].text for method in BOTH]
        rows.append(
            (
                f"p = {p:,}, ρ = {rho}",
                seconds_text(cells[0]),
                theirs[0],
                seconds_text(cells[1]),
                theirs[1],
                runs_text(*cells),
            )
        )
    return Table("Mean seconds on Friedman", ("", "FIRST", "paper", "FAST", "paper", "runs"), rows)
