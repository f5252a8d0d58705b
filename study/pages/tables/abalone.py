"""Abalone: importances and errors of forests, next to what the paper prints."""

from ...paper import printed_numbers
from ...paper.claims.abalone import ABALONE, ALL_EIGHT, abalone_selection, increments, selection_number, subset_errors
from ...paper.verdicts import Compared, Printed, Verdict, verdict_of, within
from ...scores.results import NotRunError, Results
from ..layout import NOTHING, Table
from .printed_next_to_ours import Comparison

FOREST_TOLERANCE = 0.02
"""Forests of other software have no standard error to go by: their errors agree within 2 %."""


def compare_abalone(results: Results) -> Comparison:
    """Importances and errors on Abalone."""
    importances = results.find("FIRST", ABALONE).importances
    ours = importances[0].tolist() if len(importances) else [None] * ABALONE.n_factors
    try:
        grown = [f"{value:.3f}" for value in increments(results)]
    except NotRunError:
        grown = [NOTHING] * ABALONE.n_factors
    numbers = [
        _same(f"Importance of {name}", value, printed)
        for (name, (printed, _)), value in zip(printed_numbers.ABALONE.items(), ours, strict=True)
    ]
    rows = [
        (name, number.measured, number.printed, number.verdict, growth, printed.text)
        for (name, (_, printed)), number, growth in zip(printed_numbers.ABALONE.items(), numbers, grown, strict=True)
    ]
    header = ("Factor", "importance", "paper", "", "error grows by", "paper")
    note = "Importances agree if they are equal as printed. What a forest loses without a factor has no verdict."
    errors, of_forests = _forests(results)
    return [Table("Importances by FIRST, and what a forest loses", header, rows, note), errors], numbers + of_forests


def _forests(results: Results) -> tuple[Table, list[Compared]]:
    try:
        errors = subset_errors(results).tolist()
        ours, of_all = errors[selection_number(abalone_selection(results))], errors[ALL_EIGHT]
    except NotRunError:
        ours = of_all = None
    numbers = [
        _same("Error of a forest on FIRST's factors", ours, printed_numbers.ABALONE_ERROR, FOREST_TOLERANCE),
        _same("Error of a forest on all eight", of_all, printed_numbers.ABALONE_ERROR_OF_ALL, FOREST_TOLERANCE),
    ]
    rows = [(number.label, number.measured, number.printed, str(number.verdict)) for number in numbers]
    note = f"One forest each, of other software than the paper's: they agree within {100 * FOREST_TOLERANCE:.0f} %."
    return Table("Out-of-bag errors of random forests", ("", "error", "paper", ""), rows, note), numbers


def _same(label: str, value: float | None, printed: Printed, tolerance: float = 0.0) -> Compared:
    """Compare numbers that have no standard error."""
    if value is None:
        return Compared(label, NOTHING, printed.text, Verdict.NOT_RUN)
    agree = within(value - printed.value, tolerance * printed.value + printed.half_unit)
    return Compared(label, f"{value:.{printed.decimals}f}", printed.text, verdict_of(agree))
