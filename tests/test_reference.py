"""The authors' first R release, digit for digit."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from firstfactor import FIRST, backward_elimination, total_indices

REFERENCE = Path(__file__).parent / "reference"
CASES = {case["case"]: case for case in map(json.loads, (REFERENCE / "r_first_1.0.jsonl").read_text().splitlines())}

METHODS = {
    "nn": lambda X, y, options: total_indices(X, y, noise=False, **options).values,
    "nanne": lambda X, y, options: total_indices(X, y, **options).values,
    "nanne_k5": lambda X, y, options: total_indices(X, y, **{**options, "n_neighbors": 5}).values,
    "nanne_be": lambda X, y, options: backward_elimination(X, y, **options).values,
    "first": lambda X, y, options: FIRST(**options).fit(X, y).importances_,
    "first_fast": lambda X, y, options: FIRST(forward="fast", **options).fit(X, y).importances_,
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", CASES)
def test_equals_the_r_package(case, method):
    X = pd.read_csv(REFERENCE / f"{case}.csv")
    y = X.pop("target")
    options = {"n_neighbors": CASES[case]["n_neighbors"], "scale": CASES[case]["rescale"]}
    np.testing.assert_allclose(METHODS[method](X, y, options), CASES[case][method], rtol=0, atol=1e-9)


def test_variance_of_the_response():
    X = pd.read_csv(REFERENCE / "mixed.csv")
    y = X.pop("target")
    assert total_indices(X, y).response_variance == pytest.approx(CASES["mixed"]["var_y"], abs=1e-9)


def test_abalone_table_of_the_paper():
    folder = Path(os.environ.get("FIRSTFACTOR_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not (folder / "abalone.csv").exists():
        pytest.skip("abalone.csv is not here: set FIRSTFACTOR_DATA to the folder that holds it")
    X = pd.read_csv(folder / "abalone.csv")
    y = X.pop("target")
    selector = FIRST(n_jobs=2).fit(X, y)
    assert selector.importances_.round(3).tolist() == [0.016, 0.012, 0.022, 0, 0.040, 0.094, 0.019, 0.031]
