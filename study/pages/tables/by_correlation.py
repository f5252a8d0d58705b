"""Tables that several experiments share: one row per method, one column per correlation."""

from collections.abc import Sequence

from ...data.setting import Setting
from ...runs.experiments import CORRELATIONS, FACTORS, GRID
from ...scores.results import Results, at
from ..layout import Table
from .cells import mean_text


def by_problem(
    results: Results,
    methods: Sequence[str],
    sources: Sequence[str],
    metric: str,
    title: str,
    n_factors: int | None = None,
    classes: bool = False,
) -> list[Table]:
    """Return one table per problem, with a row per method and a column per correlation."""
    tables = []
    for source in sources:
        settings = [at(source, rho, n_factors, classes) for rho in CORRELATIONS]
        heading = f"{title} ± standard error: {source.capitalize()}"
        tables.append(_by_correlation(results, methods, settings, metric, heading))
    return tables


def _by_correlation(
    results: Results, methods: Sequence[str], settings: Sequence[Setting], metric: str, title: str
) -> Table:
    rows = []
    for method in methods:
        cells = [results.find(method, setting) for setting in settings]
        counts = sorted({cell.n for cell in cells})
        runs = f"{counts[0]}–{counts[-1]}" if len(counts) > 1 else str(counts[0])
        rows.append((method, *(mean_text(cell, metric) for cell in cells), runs))
    strong = frozenset(k for k, method in enumerate(methods) if method == "FIRST")
    header = ("", *(f"ρ = {rho}" for rho in CORRELATIONS), "runs")
    return Table(title, header, rows, strong=strong)


def grid_table(results: Results, metric: str, title: str) -> Table:
    """Return means of FIRST: a row per correlation of the finer grid, a column per problem."""
    rows = []
    for rho in GRID:
        cells = [results.find("FIRST", at(source, rho)) for source in FACTORS]
        rows.append((f"ρ = {rho}", *(mean_text(cell, metric) for cell in cells), str(min(cell.n for cell in cells))))
    return Table(f"{title} ± standard error", ("", *(source.capitalize() for source in FACTORS), "runs"), rows)
