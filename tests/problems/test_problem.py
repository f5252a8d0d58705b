"""The test functions of the paper, against the formulas worked out by hand."""

import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.special import ndtr, ndtri

from firstfactor import FIRST
from firstfactor.problems import Problem, friedman, heavy_tailed, ishigami, uniform_factors

ALL = (friedman, ishigami, heavy_tailed)


@pytest.mark.parametrize(
    ("problem", "row", "expected"),
    [
        (friedman, {0: 0.5, 6: 1.0, 7: 0.0, 8: 1.0, 9: 0.5}, 10 + 5 + 10 + 2.5 - 10 - 10),
        (ishigami, {0: 0.75, 1: 0.25, 2: 1.0}, 1 + 7 + 0.1 * math.pi**4),
        (heavy_tailed, {0: 0.5, 1: 0.0, 2: 0.0, 5: 0.1}, -4 * math.log(2) / math.cos(0.5)),
        (heavy_tailed, {0: 0.0, 1: 1.0, 2: 1.0, 5: 0.1}, math.e),
    ],
)
def test_a_value_worked_out_by_hand(problem, row, expected):
    X = np.full((1, problem.n_factors), 0.3)
    for j, value in row.items():
        X[0, j] = value
    assert problem.function(X)[0] == pytest.approx(expected)


@pytest.mark.parametrize("problem", ALL, ids=lambda problem: problem.name)
def test_only_the_true_factors_change_the_response(problem):
    X = np.random.default_rng(0).uniform(size=(1, problem.n_factors))
    before = problem.function(X)[0]
    for j in range(problem.n_factors):
        moved = X.copy()
        moved[0, j] = 1 - moved[0, j] / 2
        assert (problem.function(moved)[0] != before) == (j in problem.true_factors)


@pytest.mark.parametrize(("problem", "rows"), [(friedman, 1000), (ishigami, 1000), (heavy_tailed, 5000)])
def test_first_finds_the_true_factors(problem, rows):
    X, y = problem.sample(rows, seed=0)
    assert sorted(FIRST().fit(X, y).selected_) == list(problem.true_factors)


def test_factors_are_uniform_and_correlated_as_told():
    X, _ = friedman.sample(20_000, correlation=0.6, seed=1)
    assert X.min() >= 0 and X.max() <= 1
    assert np.abs(X.mean(axis=0) - 0.5).max() < 0.01
    # Between uniform marginals, a normal correlation r becomes 6/π arcsin(r/2).
    for gap in (1, 2, 3):
        expected = 6 / math.pi * math.asin(0.6**gap / 2)
        assert np.corrcoef(X[:, 0], X[:, gap])[0, 1] == pytest.approx(expected, abs=0.02)


def test_noise_has_the_standard_deviation_asked_for():
    X, y = ishigami.sample(20_000, noise=0.5, seed=2)
    assert np.std(y - ishigami.function(X)) == pytest.approx(0.5, abs=0.01)


def test_the_same_seed_gives_the_same_table():
    for first, second in zip(heavy_tailed.sample(50, seed=3), heavy_tailed.sample(50, seed=3), strict=True):
        assert np.array_equal(first, second)


def test_more_factors_than_in_the_paper():
    X, y = ishigami.sample(30, n_factors=20, seed=0)
    assert X.shape == (30, 20) and y.shape == (30,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_rows": 0}, "n_rows must be a whole number of at least 1; got 0."),
        ({"n_rows": 2.5}, "n_rows must be a whole number of at least 1; got 2.5."),
        ({"n_factors": 9}, "n_factors must be a whole number of at least 10 (the function friedman uses x10); got 9."),
        ({"correlation": 1.2}, "correlation must be a number from 0 to 1; got 1.2."),
        ({"correlation": None}, "correlation must be a number from 0 to 1; got None."),
        ({"noise": -1}, "noise must be a number of at least 0; got -1."),
        ({"noise": math.nan}, "noise must be a number of at least 0; got nan."),
        ({"noise": math.inf}, "noise must be a number of at least 0; got inf."),
        ({"seed": -1}, "seed must be None, a non-negative integer or a numpy Generator; got -1."),
        ({"frame": "arrow"}, "frame must be one of 'pandas', 'polars', 'pyarrow'; got 'arrow'."),
    ],
)
def test_wrong_parameters_are_refused(given, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        friedman.sample(**{"n_rows": 10, **given})


def test_present_draws_stay_as_they_are():
    X, y = friedman.sample(1000, correlation=0.5, noise=2.0, seed=4)
    rng = np.random.default_rng(4)
    assert np.array_equal(X, uniform_factors(1000, 10, 0.5, rng))
    assert np.array_equal(y, friedman.function(X) + 2.0 * rng.normal(size=1000))


@pytest.mark.parametrize("problem", ALL, ids=lambda problem: problem.name)
def test_classes_are_as_probable_as_told(problem):
    X, y = problem.sample(40_000, correlation=0.3, seed=5, classes=True)
    assert y.dtype == bool and y.shape == (40_000,)
    probability = ndtr(problem.function(X))
    for rows in (probability >= 0, probability < 0.2, (probability > 0.3) & (probability < 0.7), probability > 0.8):
        error = np.sqrt(np.mean(probability[rows] * (1 - probability[rows])) / rows.sum())
        assert abs(y[rows].mean() - probability[rows].mean()) < 4 * error


def test_noise_makes_classes_less_certain():
    X, y = friedman.sample(40_000, noise=3.0, seed=6, classes=True)
    expected = ndtr(friedman.function(X) / 3)
    unsure = (expected > 0.6) & (expected < 0.9)
    assert y[unsure].mean() == pytest.approx(expected[unsure].mean(), abs=0.01)
    X, y = friedman.sample(1000, noise=0, seed=6, classes=True)
    assert np.array_equal(y, friedman.function(X) > 0)


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize(
    ("frame", "table", "column"),
    [
        ("pandas", pd.DataFrame, pd.Series),
        ("polars", pl.DataFrame, pl.Series),
        ("pyarrow", pa.Table, pa.ChunkedArray),
    ],
)
def test_tables_hold_the_same_numbers_under_the_names_of_the_paper(frame, table, column, classes):
    X, y = ishigami.sample(400, seed=7, classes=classes)
    named, response = ishigami.sample(400, seed=7, classes=classes, frame=frame)
    assert isinstance(named, table) and isinstance(response, column)
    names = named.column_names if frame == "pyarrow" else list(named.columns)
    assert names == ["x1", "x2", "x3", "x4", "x5", "x6"]
    assert all(np.array_equal(np.asarray(named[name]), X[:, j]) for j, name in enumerate(names))
    assert np.asarray(response).dtype == y.dtype and np.array_equal(np.asarray(response), y)
    assert frame == "pyarrow" or response.name == "y"
    assert np.array_equal(FIRST().fit(named, response).importances_, FIRST().fit(X, y).importances_)


def test_true_indices_of_friedman_equal_those_by_quadrature():
    nodes, weights = np.polynomial.legendre.leggauss(40)
    x, w = (nodes + 1) / 2, weights / 2
    wave = 10 * np.sin(np.pi * np.outer(x, x))
    wave_variance = w @ wave**2 @ w - (w @ wave @ w) ** 2
    wave_total = w @ (w @ wave**2 - (w @ wave) ** 2)
    # The other parts by hand: Var 20(x8 − ½)² = 20/9; E(10 − 20 x10)²/12 = 25/9; E(5 − 20 x9)²/12 = 175/36.
    totals = np.array([wave_total, wave_total, 20 / 9, 25 / 9, 175 / 36])
    variance = wave_variance + 20 / 9 + 175 / 36
    expected = np.zeros(10)
    expected[[0, 6, 7, 8, 9]] = totals / variance
    assert friedman.total_indices() == pytest.approx(expected, abs=0.005)


def test_truth_is_zero_outside_the_model_for_any_number_of_factors():
    values = heavy_tailed.total_indices(n_factors=20, correlation=0.6, n_outer=2000)
    assert values.shape == (20,)
    assert tuple(np.flatnonzero(values)) == heavy_tailed.true_factors
    assert np.array_equal(values[:8], heavy_tailed.total_indices(correlation=0.6, n_outer=2000))


def test_truth_takes_the_correlation_of_the_positions_of_the_factors():
    """x₁ and x₃ of a plane are two apart, so given one the other's score keeps the variance 1 − ρ⁴."""
    plane = Problem("plane", lambda X: ndtri(X[:, 0]) + ndtri(X[:, 2]), (0, 2), 3)
    rho = 0.8
    expected = (1 - rho**4) / (2 + 2 * rho**2)
    assert plane.total_indices(correlation=rho) == pytest.approx([expected, 0, expected], abs=0.003)


def test_exchangeable_factors_tie_exactly_when_independent():
    independent, correlated = friedman.total_indices(), friedman.total_indices(correlation=0.5)
    assert independent[0] == independent[6]
    assert correlated[0] > correlated[6] + 0.03


def test_factors_declared_exchangeable_can_change_places():
    for problem in ALL:
        X = np.random.default_rng(8).uniform(size=(100, problem.n_factors))
        for first, second in problem.exchangeable:
            swapped = X.copy()
            swapped[:, [first, second]] = X[:, [second, first]]
            assert problem.function(swapped) == pytest.approx(problem.function(X), rel=1e-12)


def test_truth_refuses_what_samples_refuse():
    with pytest.raises(ValueError, match=r"correlation must be a number from 0 to 1; got 1\.2\."):
        friedman.total_indices(correlation=1.2)
    with pytest.raises(ValueError, match=r"n_factors must be a whole number of at least 3"):
        ishigami.total_indices(n_factors=2)
