"""LASSO against other solvers and the original R package."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, lasso_path
from sklearn.preprocessing import StandardScaler

from study.methods.competitors.lasso import (
    LEAST_PENALTIES,
    _cross_validated,
    _end,
    _largest_within_one_standard_error,
    _path,
    _standardised,
    lasso,
)
from tests.study.r_packages import PROBLEMS, reference, small, with_reference


@pytest.mark.parametrize("classes", [False, True], ids=["numbers", "classes"])
def test_what_matters_is_selected_and_the_seed_decides_the_bits(classes):
    X, y, c = small()
    before = X.copy()
    outcome, again = (lasso(X, c if classes else y, seed=5) for _ in range(2))
    assert {0, 3} <= set(outcome.selected) and set(np.argsort(outcome.importances)[-2:]) == {0, 3}
    assert np.array_equal(outcome.importances, again.importances) and np.array_equal(X, before)
    assert outcome.selected == tuple(np.flatnonzero(outcome.importances))


def prepared(X):
    return _standardised(StandardScaler().fit(X), X)


def test_the_path_equals_scikit_learn_for_numbers():
    X, y, _ = small()
    rows, penalties = prepared(X), np.geomspace(2, 0.002, 20)
    ours = _path(rows, y, penalties)
    _, expected, _ = lasso_path(rows[:, 1:], y - y.mean(), alphas=penalties, tol=1e-12, max_iter=100_000)
    assert ours[:, 1:] == pytest.approx(expected.T, abs=1e-3)
    assert ours[:, 0] == pytest.approx(y.mean())


@pytest.mark.parametrize("penalty", [0.1, 0.01])
def test_the_path_equals_scikit_learn_for_two_classes(penalty):
    X, _, c = small()
    rows = prepared(X)
    ours = _path(rows, c, np.geomspace(0.3, penalty, 15))[-1]
    other = LogisticRegression(l1_ratio=1.0, solver="saga", C=1 / (penalty * len(c)), tol=1e-9, max_iter=100_000)
    other.fit(rows[:, 1:], c)
    assert ours == pytest.approx(np.append(other.intercept_, other.coef_), abs=1e-3)


def test_the_largest_penalty_within_one_standard_error_is_taken():
    means, standard_errors = np.array([4.0, 3.1, 2.9, 2.5, 2.6]), np.array([0.1, 0.1, 0.1, 0.5, 0.1])
    assert _largest_within_one_standard_error(means, standard_errors) == 2


def test_the_path_ends_when_penalties_explain_no_more():
    gains = np.array([0.0, 0.2, 0.2, 0.1, 0.1, 0.1, 1e-6, 0.1])
    assert _end(1 - gains.cumsum()) == 7
    assert _end(1 - np.linspace(0, 0.5, 100)) == 100
    assert _end(np.array([1, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4])) == LEAST_PENALTIES


def test_the_standard_error_is_that_of_the_folds():
    X, y, _ = small()
    means, standard_errors = _cross_validated(X, y, np.array([1e9]), seed=0)
    folds = np.random.default_rng(0).permutation(np.arange(150) % 10)
    errors = [np.mean((y[folds == k] - y[folds != k].mean()) ** 2) for k in range(10)]
    assert means == pytest.approx([np.mean(errors)])
    assert standard_errors == pytest.approx([np.std(errors, ddof=1) / np.sqrt(10)])


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_selected_from_noise(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 6))
    assert lasso(X, rng.normal(size=200), seed).selected == ()
    assert lasso(X, rng.uniform(size=200) < 0.3, seed).selected == ()


def test_classes_that_factors_separate_come_to_an_end():
    X = np.random.default_rng(0).normal(size=(60, 3))
    assert 0 in lasso(X, X[:, 0] > 0, seed=0).selected


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("number", range(1, 6))
@with_reference
def test_lasso_goes_the_way_of_glmnet(problem, number):
    """Ours lies on the same path; where it stops depends on folds drawn by chance."""
    X, y, expected = reference("LASSO", problem, number)
    rows = prepared(X)
    penalties = np.abs((y - y.mean()) @ rows).max() / y.size * np.geomspace(1, 1e-4, 100)
    path = np.abs(_path(rows, y, penalties)[:, 1:])
    theirs = int(np.abs(path - expected).max(axis=1).argmin())
    assert path[theirs] == pytest.approx(expected, abs=0.005)
    ours = np.sqrt(lasso(X, y, seed=1).importances)
    assert abs(int(np.abs(path - ours).max(axis=1).argmin()) - theirs) <= 5
    clear = np.flatnonzero(expected > 0.2)
    assert set(np.flatnonzero(ours > 0.2)) == set(clear)
