"""What the original R packages answer on 15 tables, to hold our versions of the competitors against.

The answers are stored next to this file; the tables are larger, and read from the folder ``FIRSTFACTOR_ORIGINALS``.
LASSO is glmnet, RF ranger, RF-SHAP fastshap, RF-VS VSURF, VIMP-R2 vimp, FILTER caret, COSSO cosso and KFOCI KPC.
"""

import os
from pathlib import Path

import numpy as np
import polars as pl

from .arrays import Floats

ANSWERS = Path(__file__).with_suffix(".jsonl")
FOLDER = "FIRSTFACTOR_ORIGINALS"
TABLES = tuple(
    (f"{source}_rho0.8_s{k}", n_factors)
    for source, n_factors in (("friedman_p10", 10), ("ishigami_p6", 6), ("heavy_p8", 8))
    for k in range(1, 6)
)


def answers() -> pl.DataFrame:
    """Return ``method``, ``table``, ``importances`` and ``seconds`` of the originals; 0 means not selected."""
    return pl.read_ndjson(ANSWERS)


def table(name: str) -> tuple[Floats, Floats]:
    """Return the factors and the response of one of the tables."""
    folder = os.environ.get(FOLDER)
    if folder is None:
        raise FileNotFoundError(f"{name}.csv is not part of the study; set {FOLDER} to the folder that holds it.")
    values = np.loadtxt(Path(folder, f"{name}.csv"), delimiter=",", skiprows=1)
    return values[:, :-1], values[:, -1]
