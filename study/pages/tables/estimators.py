"""Accuracy of the estimators: estimates of the Ishigami indices next to the analytic values."""

import numpy as np

from ...data.arrays import Floats
from ...paper.claims.estimators import ESTIMATORS
from ...paper.printed_numbers import ISHIGAMI
from ...scores.results import Results
from ..layout import NOTHING, Table


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
