"""Importances estimated from the rows that chose the factors, and from other rows."""

from dataclasses import replace

from ...runs.experiments import CHOOSING, CHOSEN, ESTIMATORS, FEW, NOT_CHOSEN
from ...scores import certainty
from ...scores.estimates import estimate
from ...scores.results import Cell, Results
from ..layout import NOTHING, Table
from .cells import mean_text, size_text


def tabulate_after_selection(results: Results) -> list[Table]:
    """How much too large importances and the ceiling are after a selection, with and without a split."""
    header = ("", "all found", "true factors", "false factors", "ceiling", "runs")
    note = (
        "All found: share of runs in which all factors of the model are selected. True factors: in these, estimated "
        "minus true index, mean over the factors. False factors: sum of their importances. Ceiling: estimated minus "
        "true. Given: nothing but the factors of the model, and nothing to choose."
    )
    tables = []
    for setting in (one for one in CHOSEN if one.true_factors):
        rows = [_after_selection(results.find(name, setting), name) for name in CHOOSING]
        rows += [
            _after_selection(results.find(name, given), f"given, N = {given.n_rows:,}: {name}")
            for name in ESTIMATORS
            for given in NOT_CHOSEN
            if given.n_rows in (setting.n_rows, setting.n_rows // 2)
        ]
        tables.append(Table(f"Friedman, {size_text(setting)}, ρ = 0.8: mean ± standard error", header, rows))
    noise = [
        _from_noise(results.find(name, setting), f"p = {setting.n_factors}: {name}")
        for setting in CHOSEN
        if not setting.true_factors
        for name in CHOOSING
    ]
    return [
        *tables[:-1],
        replace(tables[-1], note=note),
        Table("Pure noise, N = 1,000: mean ± standard error", ("", "factors", "R² ceiling", "highest", "runs"), noise),
    ]


def _after_selection(cell: Cell, title: str) -> tuple[str, ...]:
    if not cell.n:
        return (title, *[NOTHING] * 4, "0")
    found = certainty.all_found(cell)
    too_large = certainty.overestimation(cell).text(3, sign=True) if found.sum() >= FEW else NOTHING
    others, ceiling = certainty.given_to_others(cell).text(3), certainty.ceiling_error(cell).text(3, sign=True)
    return (title, str(estimate(found.astype(float), share=True)), too_large, others, ceiling, str(cell.n))


def _from_noise(cell: Cell, title: str) -> tuple[str, ...]:
    if not cell.n:
        return (title, *[NOTHING] * 3, "0")
    ceiling, highest = certainty.ceiling_error(cell), certainty.ceilings(cell).max()
    return (title, mean_text(cell, "n selected", 1), ceiling.text(3, sign=True), f"{highest:.3f}", str(cell.n))
