"""Least squares on the functions of a base: what it leaves of y and of other functions."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from firstfactor.evidence import regression
from firstfactor.evidence.regression import Regression
from tests.evidence.parts import functions_of, least_squares

WEIGHTS = {"plain": None, "weighted": np.random.default_rng(5).uniform(0.2, 3.0, size=400)}


def table(rows=400):
    rng = np.random.default_rng(0)
    levels = np.array(list("abcd"))[rng.integers(0, 4, size=rows)]
    return pd.DataFrame(
        {"a": rng.normal(size=rows), "b": rng.uniform(size=rows), "c": levels, "d": rng.poisson(2, rows)}
    )


def response(rows=400):
    return np.random.default_rng(1).normal(size=(2, rows)) + table(rows)["a"].to_numpy() ** 2


def terms_of(functions, base, each, pairs, threes=False):
    """The constant, so many functions of each factor, products of two functions and of three lines."""
    single = [functions.of(i)[:each].astype(float) for i in base]
    terms = [np.ones((1, functions.n_rows)), *single]
    for a, b in combinations(single, 2):
        terms += [(a[k] * b[m])[None] for k, m in pairs if k < len(a) and m < len(b)]
    if threes:
        terms += [(a[0] * b[0] * c[0])[None] for a, b, c in combinations(single, 3)]
    return np.concatenate(terms)


def regress(functions, base, weights=None, n_units=400):
    return Regression(functions, base, None if weights is None else np.sqrt(weights), n_units)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize(("base", "each"), [((), 0), ((0,), 10), ((2,), 3), ((0, 3), 10), ((0, 1, 2), 8)])
def test_residuals_are_those_of_least_squares(base, each, weights):
    functions, y = functions_of(table()), response()
    pairs = [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (1, 2), (2, 1)]
    expected = least_squares(terms_of(functions, base, each, pairs, threes=True), y, weights)
    np.testing.assert_allclose(regress(functions, base, weights).residuals(y), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("n_units", "each", "pairs", "threes"),
    [
        (412, 8, [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (1, 2), (2, 1)], True),
        (400, 8, [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (1, 2), (2, 1)], True),
        (350, 7, [(0, 0), (0, 1), (1, 0), (1, 1)], True),
        (100, 2, [(0, 0)], True),
        (72, 2, [(0, 0)], False),
        (64, 2, [], True),
        (20, 2, [], False),
    ],
)
def test_the_fewer_rows_or_groups_the_fewer_terms(n_units, each, pairs, threes):
    functions, y = functions_of(np.random.default_rng(0).normal(size=(400, 3))), response()
    terms = terms_of(functions, (0, 1, 2), each, pairs, threes)
    ours = regress(functions, (0, 1, 2), n_units=n_units)
    assert ours.n_coefficients == len(terms)
    np.testing.assert_allclose(ours.residuals(y), least_squares(terms, y), atol=1e-5)


def test_time_limits_the_number_of_terms(monkeypatch):
    functions = functions_of(np.random.default_rng(0).normal(size=(400, 3)))
    monkeypatch.setattr(regression, "MOST_COEFFICIENTS", 12.5)
    few, many = (regress(functions, (0, 1, 2), n_units=n).n_coefficients for n in (100, 400))
    assert few == many == 11


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_what_is_known_twice_counts_once(weights):
    X = table()
    twice = functions_of(X.assign(again=X["c"].str.upper()))
    base, y = regress(twice, (2, 4), weights), response()
    means_of_levels = np.array([(X["c"] == level) for level in "abcd"]).astype(float)
    np.testing.assert_allclose(base.residuals(y), least_squares(means_of_levels, y, weights), atol=1e-5)
    assert base.n_coefficients == 4


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_nothing_remains_of_what_the_base_knows(weights):
    functions = functions_of(table())
    base = regress(functions, (0, 2), weights)
    known = np.concatenate([functions.of(0), functions.of(2), functions.of(0)[:1] * functions.of(2)[1:2]])
    assert (base.remains(base.weigh(known)) == 0).all()


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_what_remains_of_functions_are_their_residuals(weights):
    functions = functions_of(table())
    base = regress(functions, (0, 2), weights)
    others = functions.of(1)
    expected = base.residuals(others.astype(float))
    np.testing.assert_allclose(base.remains(base.weigh(others)), expected, atol=1e-5)
    assert np.abs(expected).max() > 1


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_leverages_sum_to_the_number_of_coefficients(weights):
    base = regress(functions_of(table()), (0, 1, 2), weights)
    assert base.leverage.sum() == pytest.approx(base.n_coefficients)


def test_leverage_is_how_much_a_row_fits_itself():
    functions = functions_of(table())
    base = regress(functions, (0, 2))
    unit = np.zeros((1, 400))
    unit[0, 17] = 1
    assert base.leverage[17] == pytest.approx(1 - base.residuals(unit)[0, 17])


def test_no_row_fits_itself_entirely():
    X = pd.DataFrame({"level": ["a"] + ["b"] * 30 + ["c"] * 33})
    base = regress(functions_of(X), (0,), n_units=64)
    np.testing.assert_allclose(base.leverage, [0.9] + [1 / 30] * 30 + [1 / 33] * 33)


@pytest.mark.filterwarnings("error")
def test_weights_may_be_too_small_for_single_precision():
    weights = np.where(np.arange(400) < 100, 1e-200, 1.0)
    base = regress(functions_of(table()), (), weights)
    values = response().astype(np.float32)
    expected = np.where(weights < 1, 0.0, values)
    np.testing.assert_allclose(base.unweigh(base.weigh(values)), expected, rtol=1e-6)


def test_weighing_is_by_roots_and_can_be_undone():
    weights = WEIGHTS["weighted"]
    base = regress(functions_of(table()), (), weights)
    values = response()
    np.testing.assert_allclose(base.weigh(values), values * np.sqrt(weights))
    np.testing.assert_allclose(base.unweigh(base.weigh(values)), values)
    plain = regress(functions_of(table()), ())
    assert plain.weigh(values) is values and plain.unweigh(values) is values
    assert base.weigh(values.astype(np.float32)).dtype == np.float32
