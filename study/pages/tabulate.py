"""Tables of results where the paper has a figure: one row per method, one column per setting."""

from collections.abc import Sequence

import numpy as np

from ..data.arrays import Floats
from ..data.setting import Setting
from ..paper.claims.estimation import ESTIMATORS, FRIEDMAN
from ..paper.printed_numbers import ISHIGAMI
from ..runs.experiments import BY_NAME, CORRELATIONS, FACTORS
from ..scores.metrics import normalised_truth
from ..scores.results import Cell, Results, at
from .layout import NOTHING, Table

GRID = tuple(tenth / 10 for tenth in range(10))


def tabulate_estimators(results: Results) -> list[Table]:
    """Estimates of the three indices, next to the analytic values."""
    rows = [("analytic", *(f"{value:.3f}" for value in ISHIGAMI), "")]
    for method in ("NANNE", "NANNE-3", "NN"):
        cell = results.find(method, ESTIMATORS)
        rows.append((method, *_means(cell.importances), str(cell.n)))
    return [Table("Mean total index of each factor ± standard error", ("", "X1", "X2", "X3", "runs"), rows)]


def _means(values: Floats) -> list[str]:
    if not len(values):
        return [NOTHING] * values.shape[1]
    errors = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return [f"{mean:.3f} ± {error:.3f}" for mean, error in zip(values.mean(axis=0), errors, strict=True)]


def tabulate_importance(results: Results) -> list[Table]:
    """Rank agreement, distance and time of each method; and mean importances."""
    methods = BY_NAME["importance"].methods
    rows = []
    for method in methods:
        cell = results.find(method, FRIEDMAN)
        rows.append(
            (method, *(_mean(cell, metric) for metric in ("tau", "distance")), *_times(results, method), str(cell.n))
        )
    header = ("", "τ", "distance", "seconds", "× FIRST", "runs")
    note = "Distance: half the sum of absolute differences between importances and truth, both with a sum of one."
    return [
        Table("Rank agreement and distance from the truth: mean ± standard error; median time", header, rows, note),
        _mean_importances(results, methods),
    ]


def _times(results: Results, method: str) -> tuple[str, str]:
    ours, theirs = (results.find(name, FRIEDMAN) for name in ("FIRST", method))
    if not theirs.n:
        return NOTHING, NOTHING
    median = np.median(theirs.values("seconds"))
    return f"{median:.3g}", ratio_text(median / np.median(ours.values("seconds"))) if ours.n else NOTHING


def ratio_text(ratio: float) -> str:
    """Return a ratio of times with two digits that count."""
    return f"{ratio:,.0f}" if ratio >= 9.95 else f"{ratio:.1f}"


def _mean_importances(results: Results, methods: Sequence[str]) -> Table:
    rows = [("truth", *(f"{value:.2f}" for value in normalised_truth(FRIEDMAN)))]
    largest = 0.0
    for method in methods:
        values = results.find(method, FRIEDMAN).normalised
        if len(values):
            rows.append((method, *(f"{value:.2f}" for value in values.mean(axis=0))))
            largest = max(largest, float(values.std(axis=0).max() / np.sqrt(len(values))))
    header = ("", *(f"X{j + 1}" for j in range(FRIEDMAN.n_factors)))
    note = f"Standard errors are at most {largest:.3f}." if largest else ""
    return Table("Mean importances, with a sum of one", header, rows, note)


def tabulate_ranking(results: Results) -> list[Table]:
    """Rank agreement by problem, and of FIRST on a finer grid."""
    methods = BY_NAME["ranking"].methods
    return [*_by_problem(results, methods, tuple(FACTORS), "tau", "Mean τ"), _grid(results, "tau", "Mean τ of FIRST")]


def tabulate_selection(results: Results) -> list[Table]:
    """Exact selection by problem, and of FIRST on a finer grid."""
    methods = BY_NAME["selection"].methods
    title = "Share of exact selections"
    return [
        *_by_problem(results, methods, tuple(FACTORS), "exact", title),
        _grid(results, "exact", f"{title} by FIRST"),
    ]


def tabulate_hundred(results: Results) -> list[Table]:
    """Rank agreement, exact selection and time with a hundred factors."""
    methods = BY_NAME["hundred"].methods
    ranking = tuple(name for name in methods if name != "KFOCI")  # selects in an order, but gives no importances
    selecting = tuple(name for name in methods if name not in ("FILTER", "RF", "RF-SHAP"))
    sources = ("friedman", "ishigami")
    return [
        *_by_problem(results, ranking, sources, "tau", "Mean τ", 100),
        *_by_problem(results, selecting, sources, "exact", "Share of exact selections", 100),
        *_by_problem(results, methods, sources, "seconds", "Mean seconds", 100),
    ]


def tabulate_classes(results: Results) -> list[Table]:
    """Exact selection, true and false positives with two classes."""
    methods, sources = BY_NAME["classes"].methods, ("ishigami", "friedman")
    titles = {
        "exact": "Share of exact selections",
        "true positives": "True positives",
        "false positives": "False positives",
    }
    return [
        table
        for metric, title in titles.items()
        for table in _by_problem(results, methods, sources, metric, title, classes=True)
    ]


def _by_problem(
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
        rows.append((method, *(_mean(cell, metric) for cell in cells), runs))
    strong = frozenset(k for k, method in enumerate(methods) if method == "FIRST")
    header = ("", *(f"ρ = {rho}" for rho in CORRELATIONS), "runs")
    return Table(title, header, rows, strong=strong)


def _mean(cell: Cell, metric: str) -> str:
    return str(cell.mean(metric)) if cell.n else NOTHING


def _grid(results: Results, metric: str, title: str) -> Table:
    rows = []
    for rho in GRID:
        cells = [results.find("FIRST", at(source, rho)) for source in FACTORS]
        rows.append((f"ρ = {rho}", *(_mean(cell, metric) for cell in cells), str(min(cell.n for cell in cells))))
    return Table(f"{title} ± standard error", ("", *(source.capitalize() for source in FACTORS), "runs"), rows)
