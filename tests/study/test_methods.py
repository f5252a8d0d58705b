"""Every method of the study finds the one factor that matters."""

import numpy as np
import pytest

from firstfactor import FIRST
from study.methods import registry
from study.methods.registry import NAMES, method

ESTIMATING = {name + end for name in ("NEAREST", "EXTRAPOLATED") for end in ("", "-SUBSAMPLE", "-UNGROUPED")}
DROPPING = {"SPLINE-DROP", "PRODUCTS-DROP", "GP-DROP"}
ONLY_RANKING = {"FILTER", "RF", "RF-SHAP", "ADAPTIVE", *ESTIMATING, *DROPPING}


BY_PLACE = {"CUMULATIVE", "PYFIRST-RANK"}
OF_MANY = {"KNOCKOFFS"}
OF_SETS = {"SHARING", "SHARING-ADAPTIVE"}
OF_THREE = {"BEST-THREE"}  # all of three factors


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name in NAMES if name not in {"VIMP-ACC", *BY_PLACE, *OF_SETS, *OF_MANY, *OF_THREE}]
)
def test_every_method_finds_the_one_factor_that_matters(name):
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(150, 3))
    y = 3 * X[:, 1] + 0.1 * rng.normal(size=150)
    if name == "CALIBRATED-FDR" and "control" not in FIRST().get_params():
        pytest.skip("FIRST controls no false discovery rate yet")
    if name == "FIRST-INTEGERS":
        X = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c"])
    outcome = method(name)(X, y, 0)
    assert outcome.importances.shape == (3,) and (outcome.importances >= 0).all()
    assert outcome.importances.argmax() == 1
    assert (outcome.selected is None) == (name in ONLY_RANKING)
    assert outcome.selected is None or 1 in outcome.selected
    again = method(name)(X, y, 0)
    assert np.array_equal(again.importances, outcome.importances) and again.selected == outcome.selected


@pytest.mark.parametrize("name", sorted(BY_PLACE))
def test_every_method_that_orders_all_factors_begins_with_the_one_that_matters(name):
    if name == "PYFIRST-RANK":
        pytest.importorskip("pyfirst")
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(150, 3))
    outcome = method(name)(X, 3 * X[:, 1] + 0.1 * rng.normal(size=150), 0)
    assert outcome.selected[0] == 1 and sorted(outcome.selected) == [0, 1, 2]
    assert outcome.importances.shape == (3,) and outcome.importances[-1] == pytest.approx(1)


@pytest.mark.parametrize(
    "name", ["FIRST", "FIRST-FAST", "CALIBRATED", "NANNE-BE", "LASSO", "RF-VS", "COSSO", "VIMP-ACC", "KFOCI"]
)
def test_every_method_for_classes_finds_the_one_factor_that_matters(name):
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(300, 3))
    outcome = method(name)(X, X[:, 1] + 0.1 * rng.normal(size=300) > 0.5, 0)
    assert outcome.importances.argmax() == 1 and 1 in outcome.selected


@pytest.mark.parametrize("name", NAMES)
def test_a_method_is_warmed_up_with_a_table_that_it_takes(name, monkeypatch):
    tables = []
    monkeypatch.setattr(registry, "method", lambda _: lambda X, y, _: tables.append((X, y)))
    registry.warm_up(name)
    ((X, y),) = tables
    assert isinstance(X, np.ndarray) == (name != "FIRST-INTEGERS")
    assert y.dtype == (bool if name == "VIMP-ACC" else float)


def test_knockoffs_find_factors_where_there_are_enough_to_find():
    pytest.importorskip("hidimstat")
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 40))
    found = method("KNOCKOFFS")(X, X[:, :15].sum(axis=1) + rng.normal(size=300), 0)
    assert set(range(15)) <= set(found.selected) and len(found.selected) <= 18
