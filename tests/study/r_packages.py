"""What the original R packages give on some tables, where these are beside the repository; and a small table."""

import json
from pathlib import Path

import numpy as np
import pytest

REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "competitors"
with_reference = pytest.mark.skipif(not REFERENCE.is_dir(), reason="the R packages' results are not beside us")
PROBLEMS = ("friedman_p10", "ishigami_p6", "heavy_p8")


def reference(system, problem, number):
    """Factors, response, and what R gives."""
    name = f"{problem}_rho0.8_s{number}.csv"
    rows = map(json.loads, (REFERENCE / "r_packages.jsonl").read_text().splitlines())
    (expected,) = (row["imp"] for row in rows if row["system"] == system and row["csv"] == name)
    table = np.loadtxt(REFERENCE / name, delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1], np.array(expected)


def small(seed=0):
    """Two correlated factors that matter and three that do not; a response and classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 5))
    X[:, 1] += X[:, 0]
    return X, 2 * X[:, 0] - X[:, 3] + rng.normal(size=150), X[:, 0] - X[:, 3] + rng.normal(size=150) > 0.4
