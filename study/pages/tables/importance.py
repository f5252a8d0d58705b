"""Importances on the Friedman function: how near to the truth each method comes, and how fast."""

from collections.abc import Sequence

import numpy as np

from ...paper.claims.importance import FRIEDMAN
from ...runs.experiments import BY_NAME
from ...scores.metrics import normalised_truth
from ...scores.results import Results
from ..layout import NOTHING, Table
from .cells import mean_text, ratio_text


def tabulate_importance(results: Results) -> list[Table]:
    """Rank agreement, distance and time of each method; and mean importances."""
    methods = BY_NAME["importance"].methods
    rows = []
    for method in methods:
        cell = results.find(method, FRIEDMAN)
        rows.append(
            (
                method,
                *(mean_text(cell, metric) for metric in ("tau", "distance")),
                *_times(results, method),
                str(cell.n),
            )
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
