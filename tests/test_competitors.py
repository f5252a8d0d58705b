"""LASSO, FILTER and KFOCI: against plain versions, other solvers, and the original R packages."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree
from sklearn.linear_model import LogisticRegression, lasso_path
from sklearn.preprocessing import StandardScaler

from study.methods.competitors.kfoci import _means_with_each, _n_neighbors, _similarities, kfoci
from study.methods.competitors.lasso import (
    LEAST_PENALTIES,
    _cross_validated,
    _end,
    _largest_within_one_standard_error,
    _path,
    _standardised,
    lasso,
)
from study.methods.competitors.loess_filter import loess_filter

REFERENCE = Path(__file__).parents[2] / "shared" / "reference" / "competitors"
with_reference = pytest.mark.skipif(not REFERENCE.is_dir(), reason="the R packages' results are not beside us")


PROBLEMS = ("friedman_p10", "ishigami_p6", "heavy_p8")


def reference(system, problem, number):
    """Factors, response, and what R gives."""
    name = f"{problem}_rho0.8_s{number}.csv"
    rows = map(json.loads, (REFERENCE / "r_packages.jsonl").read_text().splitlines())
    (expected,) = (row["imp"] for row in rows if row["system"] == system and row["csv"] == name)
    table = np.loadtxt(REFERENCE / name, delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1], np.array(expected)


def small(seed=0):
    """Two correlated factors that matter and three that do not; a response and classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 5))
    X[:, 1] += X[:, 0]
    return X, 2 * X[:, 0] - X[:, 3] + rng.normal(size=150), X[:, 0] - X[:, 3] + rng.normal(size=150) > 0.4


@pytest.mark.parametrize("classes", [False, True], ids=["numbers", "classes"])
@pytest.mark.parametrize("method", [lasso, kfoci])
def test_what_matters_is_selected_and_the_seed_decides_the_bits(method, classes):
    X, y, c = small()
    before = X.copy()
    outcome, again = (method(X, c if classes else y, seed=5) for _ in range(2))
    assert {0, 3} <= set(outcome.selected) and set(np.argsort(outcome.importances)[-2:]) == {0, 3}
    assert np.array_equal(outcome.importances, again.importances) and np.array_equal(X, before)
    assert outcome.selected == tuple(np.flatnonzero(outcome.importances))


# LASSO


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


# FILTER


def test_a_parabola_is_explained_and_noise_is_not():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 2))
    outcome = loess_filter(X, X[:, 0] ** 2, seed=0)
    assert outcome.selected is None
    assert outcome.importances[0] == pytest.approx(1, abs=1e-3) and 0 <= outcome.importances[1] < 0.05


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("number", range(1, 6))
@with_reference
def test_filter_equals_caret(problem, number):
    X, y, expected = reference("FILTER", problem, number)
    assert loess_filter(X, y, seed=0).importances == pytest.approx(expected, abs=1e-12)


# KFOCI


def mean_similarity(base, similarities, n_neighbors):
    """Of rows without ties and their neighbours in some factors."""
    _, found = cKDTree(base).query(base, k=n_neighbors + 1)
    return np.mean([similarities[row, other] for row, *others in found for other in others])


def kfoci_naive(X, similarities, n_neighbors):
    selected, reached = [], -np.inf
    while len(selected) < X.shape[1]:
        left = set(range(X.shape[1])) - set(selected)
        scores = {j: mean_similarity(X[:, [*selected, j]], similarities, n_neighbors) for j in left}
        best = max(scores, key=scores.get)
        if scores[best] <= reached:
            break
        reached = scores[best]
        selected.append(best)
    return selected


def gaussian(y):
    pairs = np.abs(np.subtract.outer(y, y))
    return np.exp(-(pairs**2) / (2 * np.median(pairs[np.triu_indices(len(y), 1)]) ** 2))


def order_of(outcome):
    return [int(j) for j in np.argsort(-outcome.importances)[: len(outcome.selected)]]


@pytest.mark.parametrize("seed", range(3))
def test_kfoci_equals_the_plain_version(seed):
    X, y, _ = small(seed)
    assert order_of(kfoci(X, y, seed)) == kfoci_naive(X, gaussian(y), n_neighbors=8)


@pytest.mark.parametrize("seed", range(3))
def test_between_two_classes_it_counts_neighbours_of_the_same(seed):
    X, _, c = small(seed)
    assert order_of(kfoci(X, c, seed)) == kfoci_naive(X, np.equal.outer(c, c), n_neighbors=8)


@pytest.mark.parametrize("base", [(), (2,), (1, 4)])
def test_each_candidate_is_scored_by_its_own_neighbours(base):
    X, y, _ = small()
    squares = sum((np.subtract.outer(X[:, j], X[:, j]) ** 2 for j in base), np.zeros((150, 150)))
    candidates = np.ascontiguousarray(X[:, [0, 3]].T)
    order = np.argsort(squares, axis=1, kind="stable")
    scores = _means_with_each(candidates, squares, order, gaussian(y), 6)
    assert scores == pytest.approx([mean_similarity(X[:, [*base, j]], gaussian(y), 6) for j in (0, 3)], abs=1e-12)


def test_the_kernel_is_as_wide_as_the_median_distance():
    _, y, c = small()
    assert _similarities(y) == pytest.approx(gaussian(y), abs=1e-12)
    assert set(_similarities(c).ravel()) == {1.0, np.exp(-0.5)}


@pytest.mark.parametrize(("rows", "expected"), [(15, 1), (150, 8), (400, 20), (1000, 20)])
def test_one_row_of_twenty_is_a_neighbour_but_never_more_than_twenty(rows, expected):
    assert _n_neighbors(rows) == expected


def test_a_copy_of_a_selected_factor_adds_nothing():
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    assert kfoci(np.column_stack([x, x]), np.sin(3 * x) + 0.1 * rng.normal(size=200), seed=0).selected == (0,)


def test_tied_rows_have_neighbours_by_chance():
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.integers(0, 3, size=300), rng.integers(0, 2, size=300)]).astype(float)
    y = X[:, 0] + 0.1 * rng.normal(size=300)
    for seed in range(5):
        assert order_of(kfoci(X, y, seed))[0] == 0


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("number", range(1, 3))
@with_reference
def test_kfoci_selects_as_the_package_of_its_authors(problem, number):
    X, y, expected = reference("KFOCI", problem, number)
    assert np.array_equal(kfoci(X, y, seed=0).importances, expected)
