"""KFOCI against a plain version and the original R package."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from study.methods.competitors.kfoci import _means_with_each, _n_neighbors, _similarities, kfoci
from tests.study.r_packages import PROBLEMS, reference, small, with_reference


@pytest.mark.parametrize("classes", [False, True], ids=["numbers", "classes"])
def test_what_matters_is_selected_and_the_seed_decides_the_bits(classes):
    X, y, c = small()
    before = X.copy()
    outcome, again = (kfoci(X, c if classes else y, seed=5) for _ in range(2))
    assert {0, 3} <= set(outcome.selected) and set(np.argsort(outcome.importances)[-2:]) == {0, 3}
    assert np.array_equal(outcome.importances, again.importances) and np.array_equal(X, before)
    assert outcome.selected == tuple(np.flatnonzero(outcome.importances))


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
