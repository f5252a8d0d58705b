"""Local fits equal those in plain loops, and serve any response."""

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_tables import as_lists, friedman, mixed, tables

from firstfactor import total_indices
from firstfactor.settings import Options
from firstfactor.variance.conditional import open_variances
from firstfactor.variance.local_linear import LocalLinear

BANDS = (4, 9)


def fits_of(X, y, factors, bands=BANDS, **options):
    with open_variances(X, y, Options(task="regression", **options)) as variances:
        everyone = np.arange(variances.design.n_rows)
        local = LocalLinear(variances.search, [i for i in factors if not variances.design.constant[i]], bands)
        errors = local.errors(variances.response.values, everyone)
        flat = errors._replace(values=errors.values[:, :, 0], fits=errors.fits[:, :, 0])
        return local, flat, variances.response.values[:, 0]


def naive_errors(X, y, factors):
    columns = naive.standardise(as_lists(X))
    factors = [i for i in factors if i in naive.varying(columns)]
    centred = (y - y.mean()).tolist()
    return [[naive.local_error(columns, centred, factors, m, band) for m in range(len(y))] for band in BANDS]


def assert_same(ours, expected):
    np.testing.assert_allclose(ours, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())


@given(tables(), st.data())
def test_errors_equal_those_in_plain_loops(table, data):
    X, y = table
    factors = data.draw(st.lists(st.integers(0, X.shape[1] - 1), min_size=1, unique=True))
    _, errors, _ = fits_of(X, y, factors)
    assert_same(errors.values, naive_errors(X, y, factors))


@pytest.mark.parametrize("make", [friedman, mixed])
def test_errors_of_larger_tables_equal_those_in_plain_loops(make):
    X, y = make(rows=120)
    X, factors = pd.DataFrame(X), [0, 1, 2, 3]
    _, errors, _ = fits_of(X, y, factors)
    assert_same(errors.values, naive_errors(X, y, factors))


@pytest.mark.parametrize("grouped", [False, True])
@given(table=tables(), data=st.data())
def test_the_reach_of_neighbours_needs_no_fits(grouped, table, data):
    X, y = table
    factors = data.draw(st.lists(st.integers(0, X.shape[1] - 1), min_size=1, unique=True))
    groups = np.arange(len(y)) // 3 if grouped else None
    with open_variances(X, y, Options(task="regression"), groups=groups) as variances:
        varying = [i for i in factors if not variances.design.constant[i]]
        local = LocalLinear(variances.search, varying, (1, *BANDS))
    rows = np.arange(0, len(y), 2)
    np.testing.assert_array_equal(local.reach(rows), local.fit(rows).reach)


def test_without_factors_the_fit_is_the_mean_of_the_other_rows():
    X, y = friedman(rows=50)
    _, errors, values = fits_of(X, y, [])
    others = (values.sum() - values) / 49
    np.testing.assert_allclose(errors.fits, [others, others])
    np.testing.assert_allclose(errors.squared_weights, 1 / 49)


def test_a_linear_response_is_foretold_almost_exactly():
    X = np.random.default_rng(0).uniform(size=(500, 2))
    y = 3 * X[:, 0] - 2 * X[:, 1]
    _, errors, values = fits_of(X, y, [0, 1], bands=(12, 24))
    assert np.mean(errors.values**2) < 2e-4 * values.var()


def test_rows_at_one_place_are_foretold_by_the_mean_of_the_others_there():
    group = np.repeat([0, 1, 2], 40)
    y = np.random.default_rng(0).normal(size=120) + group
    _, errors, values = fits_of(group[:, None], y, [0], bands=(12,), categorical=[0])
    sums = np.bincount(group, values)
    np.testing.assert_allclose(errors.fits[0], (sums[group] - values) / 39)


def test_blocks_of_rows_give_the_same_fits_as_all_at_once():
    X, y = friedman(rows=900)
    local, errors, values = fits_of(X, y, [0, 6, 7])
    means = local.point_means(values[:, None])
    at_once = local.fit(np.arange(900)).errors(values[:, None], means)
    for ours, expected in zip(errors, at_once, strict=True):
        np.testing.assert_array_equal(ours, expected.reshape(ours.shape))


def test_a_fit_takes_all_of_several_equal_rows():
    """Six rows at one place, more than a fit looks for, while another column has many distinct values."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": np.r_[np.zeros(6), rng.normal(size=8)], "b": np.r_[np.zeros(6), rng.normal(size=8)]})
    y = rng.normal(size=14)
    _, errors, _ = fits_of(X, y, [0, 1])
    assert_same(errors.values, naive_errors(X, y, [0, 1]))


def test_rows_with_a_level_of_their_own_are_foretold_by_all_others():
    """All others are equally far, and more than a fit looks for."""
    X = pd.DataFrame({"make": [*"abcdefghijkl", *"mnopqrs" * 2]})
    y = np.random.default_rng(0).normal(size=26)
    _, errors, values = fits_of(X, y, [0])
    np.testing.assert_allclose(errors.fits[:, :12], [(values.sum() - values[:12]) / 25] * 2)
    assert_same(errors.values, naive_errors(X, y, [0]))


@pytest.mark.parametrize("estimator", ["nearest", "extrapolated"])
@given(tables(), st.data())
def test_the_order_of_rows_means_nothing(estimator, table, data):
    X, y = table
    order = data.draw(st.permutations(range(len(y))))
    first, second = (
        total_indices(X.iloc[rows].reset_index(drop=True), y[rows], variance_estimator=estimator, task="regression")
        for rows in (list(range(len(y))), order)
    )
    np.testing.assert_allclose(second.values, first.values, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(second.noise_variance, first.noise_variance, rtol=1e-9, atol=1e-9 * y.var())
