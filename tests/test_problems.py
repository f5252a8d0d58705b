"""The test functions of the paper, against the formulas worked out by hand."""

import math

import numpy as np
import pytest

from firstfactor import FIRST
from firstfactor.problems import friedman, heavy_tailed, ishigami

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


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match=r"n_factors must be at least 10 for friedman; got 9\."):
        friedman.sample(10, n_factors=9)
    with pytest.raises(ValueError, match=r"correlation must be from 0 to 1; got 1\.2\."):
        friedman.sample(10, correlation=1.2)
