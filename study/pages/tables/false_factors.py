"""False factors beside true ones, at several sizes and correlations."""

from ...data.evidence import CORRELATIONS, FALSE_FACTORS, SIZES, WITH_TRUE_FACTORS
from ...data.labels import NAMES
from ...data.setting import Setting
from ...scores.certainty import pooled
from ...scores.results import Results
from ..layout import NOTHING, Table
from .cells import mean_text, runs_text

HEADER = ("", *(f"N = {n:,}, p = {p}" for n, p in SIZES), "runs")


def tabulate_false_factors(results: Results) -> list[Table]:
    """How often a false factor is selected, and how often the selection is exact."""
    false = Table(
        "Share of runs in which a false factor is selected ± standard error",
        HEADER,
        [*_rows(results, "any false"), _overall(results)],
        "Runs: the fewest of the three sizes.",
        frozenset([len(WITH_TRUE_FACTORS) * len(CORRELATIONS)]),
    )
    return [false, Table("Share of exact selections ± standard error", HEADER, _rows(results, "exact"))]


def _rows(results: Results, metric: str) -> list[tuple[str, ...]]:
    rows = []
    for source in WITH_TRUE_FACTORS:
        for rho in CORRELATIONS:
            cells = [results.find("CALIBRATED", Setting(source, *size, rho)) for size in SIZES]
            shares = [mean_text(cell, metric) for cell in cells]
            rows.append((f"{NAMES[source]}, ρ = {rho}", *shares, runs_text(*cells)))
    return rows


def _overall(results: Results) -> tuple[str, ...]:
    """Return the shares over all functions and correlations."""
    by_size = [
        [
            results.find("CALIBRATED", setting)
            for setting in FALSE_FACTORS
            if (setting.n_rows, setting.n_factors) == size
        ]
        for size in SIZES
    ]
    shares = [pooled(cells, "any false").text(2) if any(cell.n for cell in cells) else NOTHING for cells in by_size]
    return ("all", *shares, f"{sum(cell.n for cells in by_size for cell in cells):,}")
