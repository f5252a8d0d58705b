"""FIRSTRank of pyfirst, the authors' package: factors in order of the cumulative variance that they explain."""

import importlib
from typing import Any

import numpy as np

from ..outcome import Outcome


def pyfirst_rank(X: Any, y: Any, seed: int) -> Outcome:
    """Cumulative shares by place, and which factor has which place."""
    found = importlib.import_module("pyfirst").FIRSTRank(X, y, noise=True, random_state=seed)
    return Outcome(np.asarray(found["explained_variance"], dtype=float), tuple(found["ranking"].tolist()))
