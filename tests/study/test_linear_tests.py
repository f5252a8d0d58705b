"""Tests of linear models with Holm's procedure, held against statsmodels and easy tables."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from statsmodels.stats.multitest import multipletests

from study.methods.competitors import blocks
from study.methods.competitors.linear_tests import (
    lasso_set,
    ols_holm,
    products_of_three,
    products_of_two,
    spline_holm,
)


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.fixture
def mixed(rng):
    """Two numbers and a category, of which the first number and the category matter."""
    levels = rng.integers(4, size=300)
    X = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300), "c": pd.Categorical(list("wxyz"))[levels]})
    return X, X["a"].to_numpy() + np.array([0.0, 1.0, -1.0, 0.5])[levels] + rng.normal(size=300)


def test_holm_is_that_of_statsmodels(rng):
    p_values = rng.uniform(size=12) ** 3
    np.testing.assert_allclose(blocks.holm(p_values), multipletests(p_values, method="holm")[1])


def test_p_values_are_those_of_statsmodels(mixed):
    X, y = mixed
    columns = np.column_stack(blocks.dummies(X))
    assert columns.shape == (300, 5)
    fitted = sm.OLS(y, sm.add_constant(columns)).fit()
    of_category = float(fitted.f_test(np.eye(6)[3:]).pvalue)
    expected = [*fitted.pvalues[1:3], of_category]
    np.testing.assert_allclose(blocks.block_p_values(blocks.dummies(X), y), expected, rtol=1e-6)


def test_a_block_that_others_make_up_has_no_p_value_of_its_own(mixed):
    X, y = mixed
    coarse = X["c"].isin(["w", "x"]).to_numpy(dtype=float)[:, None]
    found = blocks.block_p_values([*blocks.dummies(X), coarse], y)
    assert found[3] == 1 and found[0] < 1e-10
    without = blocks.block_p_values(blocks.dummies(X), y)
    np.testing.assert_allclose(found[:2], without[:2], rtol=1e-6)


def test_with_more_columns_than_rows_nothing_is_tested(rng):
    assert ols_holm(rng.normal(size=(20, 30)), rng.normal(size=20), 0).selected == ()


def test_splines_have_four_columns_and_are_lines_outside(rng):
    (found,) = blocks.splines(rng.normal(size=(500, 1)))
    assert found.shape == (500, 4) and np.linalg.matrix_rank(found) == 4
    at = np.linspace(5, 9, 5)
    x = np.concatenate([rng.normal(size=500), at])
    (found,) = blocks.splines(x[:, None])
    np.testing.assert_allclose(np.diff(found[-5:], n=2, axis=0), 0, atol=1e-8)
    few, many = blocks.splines(np.column_stack([np.arange(500) % 2, np.arange(500) % 3]))
    assert few.shape == (500, 1) and many.shape == (500, 2)


def test_least_squares_find_lines_and_splines_find_curves(mixed, rng):
    X, y = mixed
    assert ols_holm(X, y, 0).selected == (0, 2) and spline_holm(X, y, 0).selected == (0, 2)
    half = rng.normal(size=(200, 4))
    table = np.vstack([half, -half])  # no line explains anything of what is the same on both sides
    curve = np.tile(half[:, 2] ** 2 + rng.normal(size=200), 2)
    assert ols_holm(table, curve, 0).selected == () and spline_holm(table, curve, 0).selected == (2,)


def test_products_find_what_matters_only_together(rng):
    X = rng.normal(size=(300, 6))
    noise = 0.5 * rng.normal(size=300)
    assert products_of_two(X, X[:, 1] * X[:, 4] + noise, 0).selected == (1, 4)
    assert products_of_three(X, X[:, 0] * X[:, 2] * X[:, 5] + noise, 0).selected == (0, 2, 5)


def test_the_lasso_keeps_what_predicts(mixed):
    X, y = mixed
    found = lasso_set(X, y, 0)
    assert {0, 2} <= set(found.selected) and found.importances.shape == (3,)
    again = lasso_set(X, y, 0)
    assert np.array_equal(found.importances, again.importances)
