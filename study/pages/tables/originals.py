"""Tables of our versions of the competitors next to the original R packages, on the tables on which those ran."""

import numpy as np

from ...data import originals
from ...data.arrays import Floats
from ...data.setting import PROBLEMS, Setting
from ...runs.experiments import RANKING
from ...scores.metrics import kendall_tau
from ...scores.results import Cell, Results
from ..layout import NOTHING, Table

SELECTIONS = ("LASSO", "RF-VS", "COSSO", "KFOCI")
"""Methods of which the selection of the original is known."""
SIZES = {"LASSO": 0.5, "FILTER": 1.0, "RF": 1.0, "RF-SHAP": 1.0, "COSSO": 0.5, "VIMP-R2": 1.0}
"""The power of our importances that the original measures, where it measures the same: of squares, the root."""

FAMILIES = {"friedman": "friedman", "ishigami": "ishigami", "heavy": "heavy-tailed"}
NOTE = (
    "τ: mean rank agreement of our importances with the original's. Same: tables with the same selection. Size: our "
    "mean importance over the original's, smallest and largest of the factors of the function. Seconds of the "
    "originals were taken on another machine."
)
REASONS = (
    "LASSO and COSSO choose their penalty with random folds, and COSSO its knots at random: on Friedman the selection "
    "of either varies with the seed, in R as here. RF-VS has impurity importances here, as in the paper, and "
    "permutation importances in the original's answers. The original of VIMP-R2 tells no selection, and its estimates "
    "vary by the folds as much as ours."
)


def tabulate_originals(results: Results) -> list[Table]:
    """How our competitors agree with the R packages: order of the factors, selected set, size of importances, time."""
    header = ("", "τ", "same", "size", "seconds", "in R")
    tables = []
    for family, source in FAMILIES.items():
        rows = [(method, *_likeness(results, method, family, source)) for method in (*RANKING, "KFOCI")]
        tables.append(Table(f"Our versions and the R packages: {source.capitalize()}", header, rows))
    tables[-1] = Table(tables[-1].title, header, tables[-1].rows, f"{NOTE} {REASONS}")
    return tables


def _likeness(results: Results, method: str, family: str, source: str) -> tuple[str, ...]:
    """Return rank agreement, equal selections, sizes and times of one method on the tables of one problem."""
    answers = originals.answers()
    names = [(name, p) for name, p in originals.TABLES if name.startswith(family)]
    cells = [results.find(method, Setting(name, 1000, p, 0.8, part="original")) for name, p in names]
    known = {row["table"]: row for row in answers.filter(answers["method"] == method).iter_rows(named=True)}
    if not all(cell.n for cell in cells):
        return (NOTHING,) * 5
    theirs = np.array([known[name]["importances"] for name, _ in names], dtype=float)
    ours = np.concatenate([cell.importances for cell in cells])
    taus = [kendall_tau(original, own[None])[0] for original, own in zip(theirs, ours, strict=True)]
    seconds = [
        np.median([cell.values("seconds")[0] for cell in cells]),
        np.median([known[n]["seconds"] for n, _ in names]),
    ]
    return (
        f"{np.mean(taus):.2f}",
        _same(cells, theirs) if method in SELECTIONS else "",
        _sizes(ours ** SIZES[method], theirs, source) if method in SIZES else "",
        *(f"{np.median(times):.3g}" for times in seconds),
    )


def _same(cells: list[Cell], theirs: Floats) -> str:
    equal = [
        cell.rows["selected"].to_list()[0] == np.flatnonzero(original > 0).tolist()
        for cell, original in zip(cells, theirs, strict=True)
    ]
    return f"{sum(equal)} of {len(equal)}"


def _sizes(ours: Floats, theirs: Floats, source: str) -> str:
    factors = list(PROBLEMS[source].true_factors)
    own, original = (importances[:, factors].mean(axis=0) for importances in (ours, theirs))
    ratios = own[original > 0] / original[original > 0]
    return f"{ratios.min():.2f}–{ratios.max():.2f}"
