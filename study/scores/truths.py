"""The truth about the problems at every correlation of the study, kept in a file: it takes some minutes to compute.

``python -m study.scores.truths`` writes the file anew.
"""

import functools
import json
from pathlib import Path
from typing import TypedDict

import numpy as np

from firstfactor.problems import uniform_factors

from ..data.arrays import Floats
from ..data.everyday import REMOVALS, Removal
from ..data.functions import FUNCTIONS, G_VARIANCES, NOISE_SHARES, WITHOUT_NOISE, in_noise
from ..data.levels import N_LEVELS, SHARES
from ..data.setting import PROBLEMS, Setting

STORED = Path(__file__).with_suffix(".json")
N_OUTER = 10_000_000  # a hundred times the paper's: the errors of estimates from 10,000 rows are held against the truth
BLOCK = 100_000
CORRELATIONS = tuple(tenth / 10 for tenth in range(10))


class Truth(TypedDict):
    """What is known of a problem at a correlation."""

    indices: list[float]
    """Total indices of the factors of the model, relative to each other."""
    variance: float
    """Of the function, without noise, in units in which the noise has variance 1."""


PANEL: Truth = {"indices": [1 / 3] * 3, "variance": 1.5}
"""Three terms of variance ½ each; what no factor explains, of persons and of rows, has variance 1 together."""
_G = FUNCTIONS["g-function"]
G_FUNCTION: Truth = {
    "indices": (G_VARIANCES / (1 + G_VARIANCES) * (1 + _G.variance) / _G.variance).tolist(),
    "variance": _G.variance / _G.noise**2,
}
"""A product of independent factors of mean 1: without one, 1 + variance lacks a factor of 1 + that of its term."""
TOGETHER = [1.0, 1.0]
"""Total indices of two factors that do nothing alone, XOR and x₁x₂: without one, nothing is left."""
N_NODES = 12
"""Of Gauss-Legendre quadrature for each factor: enough for errors below 1e-9."""


def truth(setting: Setting) -> Floats:
    """Return the true total index of each factor, relative to the factors of the model; the others have 0."""
    indices = np.zeros(setting.n_factors)
    if setting.true_factors:
        indices[list(setting.true_factors)] = _stored()[setting.source][str(setting.correlation)]["indices"]
    return indices


def true_ceiling(setting: Setting) -> float:
    """Return the best R² that any model can reach: the noise has variance 1. Nothing can be said of pure noise."""
    if not setting.true_factors:
        return 0.0
    variance = _stored()[setting.source][str(setting.correlation)]["variance"]
    return variance / (variance + 1)


def known_ceiling(setting: Setting) -> float:
    """Return the best R² that any model can reach where factors are independent and some of their values missing."""
    variance = _stored()[setting.source][str(setting.correlation)]["variance"]
    return _known(setting.source, REMOVALS[setting.part])["variance"] / (variance + 1)


def known_truth(setting: Setting) -> Floats:
    """Return the true total index of each factor where factors are independent and some of their values missing."""
    indices = np.zeros(setting.n_factors)
    indices[list(setting.true_factors)] = _known(setting.source, REMOVALS[setting.part])["indices"]
    return indices


@functools.cache
def _known(source: str, removal: Removal) -> Truth:
    """Return the truth about the mean response given what is known, by quadrature; its variance is in its own unit.

    Of each factor either a value is known, or that it is missing; then all values count as often as they are missing.
    """
    points, weights = np.polynomial.legendre.leggauss(N_NODES)
    values, weights = (points + 1) / 2, weights / 2
    lost = weights * removal.chance(values)
    known = np.vstack([np.eye(N_NODES), lost / lost.sum()])
    likely = np.append(weights - lost, lost.sum())
    means = _responses(source, values)
    for _ in range(means.ndim):  # each time, the first axis goes to the end
        means = np.tensordot(means, known, (0, 1))
    square = _mean(means**2, likely)
    variance = square - _mean(means, likely) ** 2
    without = [_mean(np.tensordot(means, likely, (axis, 0)) ** 2, likely) for axis in range(means.ndim)]
    return {"indices": [(square - one) / variance for one in without], "variance": variance}


def _mean(values: Floats, likely: Floats) -> float:
    """Return the mean over all axes, each of which has the same probabilities."""
    for _ in range(values.ndim):
        values = np.tensordot(values, likely, (0, 0))
    return float(values)


def _responses(source: str, values: Floats) -> Floats:
    """Return the function where each of its factors has each of the values: one axis for each factor."""
    problem = PROBLEMS[source]
    grid = np.meshgrid(*[values] * len(problem.true_factors), indexing="ij")
    X = np.zeros((grid[0].size, problem.n_factors))
    X[:, problem.true_factors] = np.column_stack([axis.ravel() for axis in grid])
    return problem.function(X).reshape(grid[0].shape)


def compute(source: str, correlation: float, n_outer: int = N_OUTER) -> Truth:
    """Return the truth by Monte Carlo, indices by Double Monte Carlo."""
    problem = PROBLEMS[source]
    indices = problem.total_indices(correlation=correlation, n_outer=n_outer)
    return {
        "indices": indices[list(problem.true_factors)].round(6).tolist(),
        "variance": round(_variance(source, correlation, n_outer), 6),
    }


def _variance(source: str, correlation: float, n_rows: int) -> float:
    """Return the variance of the function, with factors drawn in blocks so that only responses are kept."""
    problem, rng = PROBLEMS[source], np.random.default_rng(0)
    n_factors = max(problem.true_factors) + 1
    blocks = [problem.function(uniform_factors(BLOCK, n_factors, correlation, rng)) for _ in range(n_rows // BLOCK)]
    return float(np.concatenate(blocks).var())


@functools.cache
def _stored() -> dict[str, dict[str, Truth]]:
    stored: dict[str, dict[str, Truth]] = json.loads(STORED.read_text())
    stored |= {"panel": {"0.0": PANEL}, "g-function": {"0.0": G_FUNCTION}}
    indices = {
        **{name: stored[name]["0.0"]["indices"] if name in stored else TOGETHER for name in WITHOUT_NOISE},
        **{f"levels-{n_levels}": list(SHARES) for n_levels in N_LEVELS},
    }
    for name, known in indices.items():
        for share in NOISE_SHARES:
            stored[in_noise(name, share)] = {"0.0": {"indices": known, "variance": (1 - share) / share}}
    return stored


if __name__ == "__main__":
    table = {source: {str(rho): compute(source, rho) for rho in CORRELATIONS} for source in PROBLEMS}
    STORED.write_text(json.dumps(table, indent=1) + "\n")
