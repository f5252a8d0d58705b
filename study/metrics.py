"""How good the answers are: rank agreement, exact selection, true and false positives, one value per stored row."""

import functools

import numpy as np
import polars as pl
from scipy.stats import kendalltau

from .outcome import Floats
from .setting import PROBLEMS, Setting

KEYS = ["source", "n_rows", "n_factors", "correlation", "classes", "part"]


@functools.cache
def truth(setting: Setting) -> Floats:
    """Return the true total index of each factor, relative to the factors of the model."""
    return PROBLEMS[setting.source].total_indices(setting.n_factors, setting.correlation, n_outer=1_000_000)


def dense_importances(row: dict[str, object]) -> Floats:
    """Return the importance of every factor of a stored row, 0 included."""
    importances = np.zeros(row["n_factors"])  # type: ignore[call-overload]
    importances[row["factors"]] = row["importances"]
    return importances


def with_metrics(rows: pl.DataFrame) -> pl.DataFrame:
    """Add ``tau``, ``exact``, ``true_positives`` and ``false_positives`` (rates) to rows of simulated settings.

    Kendall's τ is τ-b: with the paper's formula, no ranking could reach 1 where most factors tie at 0.
    """
    return rows.with_columns(pl.DataFrame([_metrics(row) for row in rows.iter_rows(named=True)]))


def _metrics(row: dict[str, object]) -> dict[str, float | None]:
    setting = Setting(*(row[key] for key in KEYS))  # type: ignore[arg-type]
    tau = None if setting.classes else kendalltau(truth(setting), dense_importances(row)).statistic
    if row["selected"] is None:
        return {"tau": tau, "exact": None, "true_positives": None, "false_positives": None}
    true, found = set(setting.true_factors), set(row["selected"])  # type: ignore[call-overload]
    return {
        "tau": tau,
        "exact": float(found == true),
        "true_positives": len(found & true) / len(true),
        "false_positives": len(found - true) / max(setting.n_factors - len(true), 1),
    }
