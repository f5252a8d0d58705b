"""Generalised linear models with Holm's procedure."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from scipy.special import expit

from study.methods.competitors.glm_tests import logistic_holm, logistic_p_values, ordered_holm, poisson_holm


@pytest.fixture
def factors():
    return np.random.default_rng(6).normal(size=(400, 4))


def test_classes_counts_and_levels_are_explained_by_their_factor(factors):
    rng = np.random.default_rng(7)
    assert logistic_holm(factors, rng.uniform(size=400) < expit(factors[:, 1]), 0).selected == (1,)
    assert poisson_holm(factors, rng.poisson(np.exp(0.4 * factors[:, 2])).astype(float), 0).selected == (2,)
    latent = factors[:, 3] + rng.logistic(size=400)
    assert ordered_holm(factors[:, 2:], np.digitize(latent, [-1, 0, 1.0]).astype(float), 0).selected == (1,)


def test_p_values_are_likelihood_ratios(factors):
    y = (np.random.default_rng(8).uniform(size=400) < expit(0.3 * factors[:, 0])).astype(float)
    together, without = (
        sm.Logit(y, sm.add_constant(columns)).fit(disp=False).llf for columns in (factors, factors[:, 1:])
    )
    assert logistic_p_values(factors, y)[0] == pytest.approx(stats.chi2.sf(2 * (together - without), 1), rel=1e-6)


def test_a_factor_that_separates_the_classes_is_not_trusted(factors):
    assert logistic_holm(factors, factors[:, 0] > 0, 0).selected == ()


def test_levels_that_others_make_up_add_nothing(factors):
    rng = np.random.default_rng(9)
    levels = rng.integers(6, size=400)
    table = pd.DataFrame({"x": factors[:, 0], "fine": pd.Categorical(levels), "coarse": pd.Categorical(levels // 2)})
    y = (rng.uniform(size=400) < expit(levels - 2.5)).astype(float)
    p_values = logistic_p_values(table, y)
    assert p_values[2] == 1 and p_values[1] < 1


def test_a_constant_response_gives_nothing(factors):
    assert logistic_holm(factors, np.zeros(400, dtype=bool), 0).selected == ()
