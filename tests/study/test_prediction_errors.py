"""Parts of real tables to select on, and how forests predict the others."""

import numpy as np
import pandas as pd
import pytest

from study.data import setting as settings
from study.data.setting import Setting
from study.runs import prediction_errors

N = 100


@pytest.fixture(autouse=True)
def a_table(monkeypatch):
    """A table in the place of all real ones: the first of two factors decides."""
    X = pd.DataFrame(np.random.default_rng(0).uniform(size=(N, 2)), columns=["a", "b"])
    tables = {"numbers": (X, 10 * X["a"].to_numpy()), "classes": (X, X["a"].to_numpy() > 0.5)}
    for module in (settings, prediction_errors):
        monkeypatch.setattr(module, "load", lambda name: tables[name])
    return tables


def test_a_shuffled_target_has_the_same_values_in_another_order(a_table):
    setting = Setting("numbers", N, 2, part="shuffled")
    X, y = setting.draw(0)
    same, before = a_table["numbers"]
    assert X is same and np.array_equal(np.sort(y), np.sort(before)) and abs(np.corrcoef(y, before)[0, 1]) < 0.3
    assert not np.array_equal(y, setting.draw(1)[1])


def test_every_row_is_in_one_of_five_folds_and_other_divisions_follow():
    setting = Setting("numbers", N, 2, part="fold")
    for first in (0, 5):
        parts = [setting.rows(first + k) for k in range(5)]
        assert np.array_equal(np.sort(np.concatenate([test for _, test in parts])), np.arange(N))
        assert all(np.array_equal(np.setdiff1d(np.arange(N), test), train) for train, test in parts)
    assert not np.array_equal(setting.rows(0)[1], setting.rows(5)[1])
    X, y = setting.draw(3)
    assert len(X) == len(y) == 80 and np.array_equal(10 * X["a"], y)


def test_errors_of_folds_are_shares_of_the_variance_that_is_not_predicted(a_table):
    setting, variance = Setting("numbers", N, 2, part="fold"), a_table["numbers"][1].var()
    nothing = [prediction_errors.test_errors(setting, k, ())[0] for k in range(5)]
    assert np.mean(nothing) == pytest.approx(1, abs=0.1)
    selected, of_all = prediction_errors.test_errors(setting, 0, (0,))
    assert selected < of_all < 0.2
    whole = Setting("numbers", N, 2, part="train")
    assert prediction_errors.test_errors(whole, 0, ())[0] == pytest.approx(variance, rel=0.5)


def test_errors_of_classes_are_shares_of_rows():
    setting = Setting("classes", N, 2, classes=True, part="fold")
    selected, of_all = prediction_errors.test_errors(setting, 0, (0,))
    assert selected <= of_all <= 0.2 and prediction_errors.test_errors(setting, 0, ())[0] > 0.3
    assert (20 * of_all) % 1 == pytest.approx(0)
