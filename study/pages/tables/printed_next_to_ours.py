"""Numbers that the paper prints for each number of factors and correlation, held against ours."""

from collections.abc import Iterable

from ...paper import printed_numbers
from ...paper.verdicts import Compared, Printed, Verdict, agrees, verdict_of
from ...runs.experiments import CORRELATIONS, DIMENSIONS, FEW
from ...scores.results import Cell
from ..layout import NOTHING, Table

SYMBOLS = {"tau": "τ", "exact": "exact", "true positives": "TPR", "false positives": "FPR"}
SIZES = [(p, rho) for p in DIMENSIONS for rho in CORRELATIONS]
Comparison = tuple[list[Table], list[Compared]]


def compare_number(method: str, cell: Cell, metric: str, printed: Printed) -> Compared:
    """Return a printed mean with ours, and the verdict."""
    at = cell.setting
    label = f"{method} on {at.source.capitalize()}, p = {at.n_factors:,}, ρ = {at.correlation}: {SYMBOLS[metric]}"
    if cell.n < FEW:
        return Compared(label, NOTHING, printed.text, Verdict.NOT_RUN)
    measured = cell.mean(metric)
    tied = at.source == "friedman" and at.correlation == 0 and metric == "tau"
    return Compared(
        label, str(measured), printed.text, verdict_of(agrees(measured, printed)), printed_numbers.TIED if tied else ""
    )


def number_texts(numbers: Iterable[Compared]) -> list[str]:
    """Return the cells of a row: ours, the paper's and the verdict, one after the other."""
    return [text for number in numbers for text in (number.measured, number.printed, number.verdict)]
