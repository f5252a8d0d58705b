"""RF and RF-SHAP: importances of a random forest."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from firstfactor.problems import friedman
from study.methods.competitors import random_forest
from study.methods.forest.forest import grow
from tests.study.r_packages import PROBLEMS, reference, with_reference


def test_shap_values_add_up_to_the_predictions():
    X, y = friedman.sample(200, seed=5)
    grown = grow(X, y, n_trees=20, seed=5)
    values = random_forest._shap_values(grown, X[10:30], X[:10])
    np.testing.assert_allclose(values.sum(axis=1), grown.predict(X[10:30]) - grown.predict(X[:10]).mean(), atol=1e-4)


@pytest.mark.slow
def test_methods_are_deterministic():
    X, y = friedman.sample(100, seed=6)
    for method in (random_forest.random_forest, random_forest.random_forest_shap):
        np.testing.assert_array_equal(method(X, y, 1).importances, method(X, y, 1).importances)
        assert method(X, y > 10, 1).selected is None


@with_reference
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("number", range(1, 6))
def test_random_forest_is_like_ranger(problem, number):
    X, y, theirs = reference("RF", problem, number)
    ours = random_forest.random_forest(X, y, 1).importances
    np.testing.assert_allclose(ours, theirs, rtol=0.25)
    assert kendalltau(ours, theirs).statistic > 0.9
