"""True total indices of the problems at every correlation of the study, kept in a file: they take a minute to compute.

``python -m study.truths`` writes the file anew.
"""

import functools
import json
from pathlib import Path

import numpy as np

from .outcome import Floats
from .setting import PROBLEMS, Setting

STORED = Path(__file__).with_suffix(".json")
N_OUTER = 1_000_000  # ten times the paper's, since some factors are close to each other
CORRELATIONS = tuple(tenth / 10 for tenth in range(10))


def truth(setting: Setting) -> Floats:
    """Return the true total index of each factor, relative to the factors of the model; the others have 0."""
    indices = np.zeros(setting.n_factors)
    indices[list(setting.true_factors)] = _stored()[setting.source][str(setting.correlation)]
    return indices


def compute(source: str, correlation: float) -> list[float]:
    """Return the true total indices of the factors of the model, by Double Monte Carlo."""
    problem = PROBLEMS[source]
    indices = problem.total_indices(correlation=correlation, n_outer=N_OUTER)
    found: list[float] = indices[list(problem.true_factors)].round(6).tolist()
    return found


@functools.cache
def _stored() -> dict[str, dict[str, list[float]]]:
    stored: dict[str, dict[str, list[float]]] = json.loads(STORED.read_text())
    return stored


if __name__ == "__main__":
    table = {source: {str(rho): compute(source, rho) for rho in CORRELATIONS} for source in PROBLEMS}
    STORED.write_text(json.dumps(table, indent=1) + "\n")
