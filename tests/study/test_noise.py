"""Tables of pure noise and of several kinds of factors."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from study.data.setting import Setting


def test_mixed_factors_are_numbers_whole_numbers_and_categories():
    X, y = Setting("noise-mixed", 500, 20).draw(0)
    assert X.shape == (500, 20) and y.dtype == float
    assert all(X.iloc[:, j].dtype == float for j in range(10))
    assert all(set(X.iloc[:, j]) == set(range(10)) for j in range(10, 15))
    assert [X.iloc[:, j].nunique() for j in range(15, 20)] == [2, 3, 4, 5, 6]
    assert all(X.iloc[:, j].dtype == "category" for j in range(15, 20))


@pytest.mark.parametrize("source", ["noise", "noise-cauchy", "noise-mixed"])
def test_noise_does_not_depend_on_any_factor(source):
    setting = Setting(source, 2000, 8)
    X, y = setting.draw(0)
    columns = X.T if isinstance(X, np.ndarray) else [X[name].factorize()[0] for name in X]
    assert setting.true_factors == ()
    assert min(spearmanr(column, y).pvalue for column in columns) > 0.001


def test_a_mixed_response_depends_on_its_true_factors_alone():
    setting = Setting("mixed", 2000, 6)
    X, y = setting.draw(0)
    small = [j for j in range(6) if spearmanr(X.iloc[:, j].factorize(sort=True)[0], y).pvalue < 1e-6]
    assert tuple(small) == setting.true_factors


def test_two_classes_of_noise_are_about_as_frequent():
    _, y = Setting("noise", 1000, 10, classes=True).draw(0)
    assert y.dtype == bool and 0.45 < y.mean() < 0.55
