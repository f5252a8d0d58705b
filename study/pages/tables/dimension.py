"""FIRST with 50 to 1,000 factors, next to what the paper prints."""

from ...paper import printed_numbers
from ...paper.verdicts import Compared
from ...scores.results import Results, at
from ..layout import Table
from .cells import seconds_text
from .printed_next_to_ours import SIZES, Comparison, compare_number, number_texts


def compare_dimension(results: Results) -> Comparison:
    """FIRST with many factors."""
    parts = [_exact_by_size(results, source) for source in ("ishigami", "friedman")]
    return [table for table, _ in parts], [number for _, numbers in parts for number in numbers]


def _exact_by_size(results: Results, source: str) -> tuple[Table, list[Compared]]:
    """Return τ, exact selection and time of FIRST by number of factors and correlation."""
    rows, compared = [], []
    for p, rho in SIZES:
        cell = results.find("FIRST", at(source, rho, p))
        tau, exact, seconds = printed_numbers.DIMENSION[source, p, rho]
        numbers = [compare_number("FIRST", cell, "tau", tau), compare_number("FIRST", cell, "exact", exact)]
        rows.append((f"p = {p:,}, ρ = {rho}", *number_texts(numbers), seconds_text(cell), seconds.text, str(cell.n)))
        compared += numbers
    header = ("", "τ", "paper", "", "exact", "paper", "", "seconds", "paper", "runs")
    return Table(f"FIRST on {source.capitalize()}: mean ± standard error", header, rows), compared
