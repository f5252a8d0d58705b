"""Tables of ours next to numbers that the paper prints, with a verdict on each."""

from collections.abc import Iterable

from ..data.setting import Setting
from ..paper import printed_numbers
from ..paper.claims.real import ABALONE, ALL_EIGHT, abalone_selection, increments, selection_number, subset_errors
from ..paper.verdicts import Compared, Printed, Verdict, agrees, quantiles_agree, verdict_of, within
from ..runs.experiments import CORRELATIONS, DIMENSIONS, FEW
from ..scores.estimates import Quantiles, quantiles
from ..scores.results import Cell, NotRunError, Results, at
from .layout import NOTHING, Table

FOREST_TOLERANCE = 0.02
"""Forests of other software have no standard error to go by: their errors agree within 2 %."""

SYMBOLS = {"tau": "τ", "exact": "exact", "true positives": "TPR", "false positives": "FPR"}

BOTH = ("FIRST", "FIRST-FAST")
SIZES = [(p, rho) for p in DIMENSIONS for rho in CORRELATIONS]

Comparison = tuple[list[Table], list[Compared]]


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
        numbers = [_number("FIRST", cell, "tau", tau), _number("FIRST", cell, "exact", exact)]
        rows.append((f"p = {p:,}, ρ = {rho}", *_texts(numbers), _seconds(cell), seconds.text, str(cell.n)))
        compared += numbers
    header = ("", "τ", "paper", "", "exact", "paper", "", "seconds", "paper", "runs")
    return Table(f"FIRST on {source.capitalize()}: mean ± standard error", header, rows), compared


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
        numbers = [_number(method, cells[method], metric, printed_numbers.FAST[method, p, rho][k]) for method in BOTH]
        rows.append((f"p = {p:,}, ρ = {rho}", *_texts(numbers), _runs(cells.values())))
        compared += numbers
    header = ("", "FIRST", "paper", "", "FAST", "paper", "", "runs")
    return Table(f"Mean {SYMBOLS[metric]} ± standard error on Friedman", header, rows), compared


def _fast_times(results: Results) -> Table:
    rows = []
    for p, rho in SIZES:
        cells = [results.find(method, at("friedman", rho, p)) for method in BOTH]
        theirs = [printed_numbers.FAST[method, p, rho][-1].text for method in BOTH]
        rows.append(
            (f"p = {p:,}, ρ = {rho}", _seconds(cells[0]), theirs[0], _seconds(cells[1]), theirs[1], _runs(cells))
        )
    return Table("Mean seconds on Friedman", ("", "FIRST", "paper", "FAST", "paper", "runs"), rows)


def _number(method: str, cell: Cell, metric: str, printed: Printed) -> Compared:
    at = cell.setting
    label = f"{method} on {at.source.capitalize()}, p = {at.n_factors:,}, ρ = {at.correlation}: {SYMBOLS[metric]}"
    if cell.n < FEW:
        return Compared(label, NOTHING, printed.text, Verdict.NOT_RUN)
    measured = cell.mean(metric)
    tied = at.source == "friedman" and at.correlation == 0 and metric == "tau"
    return Compared(
        label, str(measured), printed.text, verdict_of(agrees(measured, printed)), printed_numbers.TIED if tied else ""
    )


def _texts(numbers: Iterable[Compared]) -> list[str]:
    return [text for number in numbers for text in (number.measured, number.printed, number.verdict)]


def _seconds(cell: Cell) -> str:
    return f"{cell.mean('seconds').value:.2f}" if cell.n else NOTHING


def _runs(cells: Iterable[Cell]) -> str:
    return str(min(cell.n for cell in cells))


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
            rows.append((name if method == "FIRST" else "unscaled integers", *_texts(numbers), str(cell.n)))
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
