"""The study's random forest against slow versions and scikit-learn."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from firstfactor.problems import friedman
from study.methods.forest import forest_kernels
from study.methods.forest.forest import grow, root_of, third_of


def tied_table(n_rows=120, n_factors=4, seed=0):
    """Factors of few and of many levels, and a response that needs all of them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, [3, 8, 40, 10_000], size=(n_rows, n_factors)).astype(float)
    return X, X @ [1.0, 0.5, 0.1, 0.0004] + rng.normal(size=n_rows)


def weights_of(tree, seed, n_rows):
    """How often each row is in the bootstrap sample of a tree."""
    weight = np.zeros(n_rows, dtype=np.int64)
    state = np.zeros(1, dtype=np.uint64)
    forest_kernels._start(state, np.uint64(seed), tree)
    forest_kernels._bootstrap(weight, np.empty(n_rows, dtype=np.uint16), np.empty(n_rows, dtype=np.uint16), state)
    return weight


def explained_by(x, y, weight, threshold):
    """Sum of squares that a split explains, by the formula."""
    left, right = weight * (x <= threshold), weight * (x > threshold)
    return (left @ y) ** 2 / left.sum() + (right @ y) ** 2 / right.sum()


def best_explained(X, y, weight):
    """Sum of squares that the best split between two values met in a node explains."""
    best = -np.inf
    for x in X.T:
        values = np.unique(x[weight > 0])
        for threshold in (values[:-1] + values[1:]) / 2:
            best = max(best, explained_by(x, y, weight, threshold))
    return best


def test_every_split_is_the_best_one_and_lies_halfway_between_values_of_the_node():
    X, y = tied_table(n_rows=60)
    y -= y.mean()
    grown = grow(X, y, n_trees=3, mtry=4, seed=5)
    decrease = np.zeros(4)
    for tree, start in enumerate(grown.starts[:-1]):
        members = {0: weights_of(tree, 5, len(y))}
        for node in range(grown.starts[tree + 1] - start):
            at, weight = start + node, members[node]
            assert grown.size[at] == weight.sum()
            assert grown.value[at] == pytest.approx(weight @ y / weight.sum())
            j = grown.factor[at]
            assert (j < 0) == (weight.sum() <= 5 or len(np.unique(X[weight > 0], axis=0)) == 1)
            if j < 0:
                continue
            explained = explained_by(X[:, j], y, weight, grown.threshold[at])
            assert explained == pytest.approx(best_explained(X, y, weight))
            values = np.unique(X[weight > 0, j])
            assert np.isclose(grown.threshold[at], (values[:-1] + values[1:]) / 2).any()
            decrease[j] += explained - (weight @ y) ** 2 / weight.sum()
            members[grown.left[at]] = weight * (X[:, j] <= grown.threshold[at])
            members[grown.left[at] + 1] = weight * (X[:, j] > grown.threshold[at])
    np.testing.assert_allclose(grown.impurity_importances, decrease / 3)


@pytest.mark.parametrize("levels", [2, 30, 10_000])
def test_trees_of_one_factor_equal_those_of_scikit_learn(levels):
    rng = np.random.default_rng(levels)
    X = rng.integers(0, levels, size=(300, 1)) / 7
    y = np.sin(X[:, 0]) + rng.normal(size=300)
    new = rng.uniform(-1, X.max() + 1, size=(500, 1))
    expected = np.zeros(len(new))
    for tree in range(5):
        weight = weights_of(tree, 1, 300)
        expected += DecisionTreeRegressor().fit(X, y, sample_weight=weight).predict(new) / 5
    np.testing.assert_allclose(grow(X, y, n_trees=5, mtry=1, min_node=1, seed=1).predict(new), expected)


def test_out_of_bag_predictions_come_from_trees_that_did_not_see_the_row():
    X, y = tied_table()
    sums, counts = np.zeros(len(y)), np.zeros(len(y))
    whole = grow(X, y, n_trees=8, seed=2)
    for tree in range(8):
        start, end = whole.starts[tree : tree + 2]
        outside = weights_of(tree, 2, len(y)) == 0
        alone = forest_kernels.predict(
            np.ascontiguousarray(X.T),
            np.array([0, end - start]),
            *(part[start:end] for part in (whole.factor, whole.threshold, whole.left, whole.value)),
        )
        sums[outside] += alone[outside]
        counts[outside] += 1
    seen = counts > 0
    np.testing.assert_allclose(whole.oob_predictions[seen], sums[seen] / counts[seen])
    assert np.isnan(whole.oob_predictions[~seen]).all()
    assert whole.oob_error() == pytest.approx(np.mean((y - sums / np.maximum(counts, 1))[seen] ** 2))


@pytest.mark.slow
def test_forests_are_as_good_as_those_of_scikit_learn():
    X, y = friedman.sample(500, correlation=0.5, seed=1)
    X[:, :2] = X[:, :2].round(1)
    new, truth = friedman.sample(1000, correlation=0.5, seed=2)
    ours = [grow(X, y, 300, mtry=3, min_node=1, seed=seed) for seed in range(3)]
    theirs = [RandomForestRegressor(300, max_features=3, oob_score=True, random_state=s).fit(X, y) for s in range(3)]
    error = np.mean([np.mean((one.oob_prediction_ - y) ** 2) for one in theirs])
    assert np.mean([one.oob_error() for one in ours]) == pytest.approx(error, rel=0.04)
    test_error = np.mean([np.mean((one.predict(new) - truth) ** 2) for one in theirs])
    assert np.mean([np.mean((one.predict(new) - truth) ** 2) for one in ours]) == pytest.approx(test_error, rel=0.04)
    shares = np.mean([one.impurity_importances for one in ours], axis=0)
    np.testing.assert_allclose(
        shares / shares.sum(), np.mean([one.feature_importances_ for one in theirs], axis=0), atol=0.01
    )


@pytest.mark.slow
def test_two_classes_are_told_apart_as_well_as_by_scikit_learn():
    X, y = friedman.sample(500, seed=1)
    classes = y > np.median(y)
    ours = grow(X, classes, seed=1)
    theirs = RandomForestClassifier(500, max_features=3, oob_score=True, random_state=1).fit(X, classes)
    assert ours.oob_error() == pytest.approx(1 - theirs.oob_score_, abs=0.025)
    assert set(np.unique(ours.value)) == {0.0, 1.0}
    assert np.mean((ours.predict(X) > 0.5) == classes) > 0.99


def test_classes_as_numbers_give_shares_of_ones():
    X, y = friedman.sample(300, seed=1)
    grown = grow(X, (y > np.median(y)).astype(float), min_node=10, seed=1)
    assert len(np.unique(grown.value)) > 10 and grown.value.min() >= 0 and grown.value.max() <= 1
    assert 0.02 < grown.oob_error() < 0.25  # a mean squared error


@pytest.mark.slow
def test_permutation_importance_is_what_shuffling_adds_to_the_error():
    X, y = friedman.sample(400, seed=3)
    grown = grow(X, y, n_trees=400, mtry=3, seed=3, permute=True)
    rng = np.random.default_rng(0)
    expected = np.zeros(10)
    columns = np.ascontiguousarray(X.T)
    for tree in range(400):
        start, end = grown.starts[tree : tree + 2]
        nodes = [part[start:end] for part in (grown.factor, grown.threshold, grown.left, grown.value)]
        outside = weights_of(tree, 3, 400) == 0
        roots = np.array([0, end - start])
        before = np.mean((forest_kernels.predict(columns[:, outside], roots, *nodes) - y[outside]) ** 2)
        for j in range(10):
            shuffled = columns[:, outside].copy()
            rng.shuffle(shuffled[j])
            expected[j] += np.mean((forest_kernels.predict(shuffled, roots, *nodes) - y[outside]) ** 2) - before
    expected /= 400
    np.testing.assert_allclose(grown.permutation_importances, expected, rtol=0.1, atol=0.15)
    assert grow(X, y, n_trees=2).permutation_importances is None


def test_a_factor_that_no_tree_uses_has_no_importance():
    X, y = friedman.sample(200, seed=0)
    X[:, 4] = 1.0
    grown = grow(X, y, n_trees=50, seed=0, permute=True)
    assert grown.impurity_importances[4] == grown.permutation_importances[4] == 0
    assert grown.impurity_importances[0] > 0 and grown.permutation_importances[0] > 0


def test_neighbouring_numbers_are_told_apart():
    X = np.where(np.arange(100) % 2, np.nextafter(1.0, 2.0), np.nextafter(np.nextafter(1.0, 2.0), 2.0))[:, None]
    y = np.arange(100) % 2.0
    np.testing.assert_array_equal(grow(X, y, n_trees=5).predict(X), y)


def test_a_constant_response_makes_trees_of_one_leaf():
    grown = grow(np.arange(30.0)[:, None], np.full(30, 2.5), n_trees=4)
    assert len(grown.factor) == 4 and grown.oob_error() == 0
    np.testing.assert_array_equal(grown.predict(np.zeros((2, 1))), 2.5)


@pytest.mark.parametrize(("shift", "scale"), [(1e6, 1.0), (0.0, 1e-9), (-3.0, 1e12)])
def test_units_of_the_response_do_not_matter(shift, scale):
    X, y = friedman.sample(200, seed=4)
    plain, other = grow(X, y, n_trees=20, seed=4), grow(X, y * scale + shift, n_trees=20, seed=4)
    np.testing.assert_array_equal(other.factor, plain.factor)
    np.testing.assert_allclose(other.predict(X), plain.predict(X) * scale + shift, rtol=1e-9)


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    X, y = friedman.sample(200, seed=4)
    first, again, other = (grow(X, y, n_trees=20, seed=seed, permute=True) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first.threshold, again.threshold)
    np.testing.assert_array_equal(first.permutation_importances, again.permutation_importances)
    assert not np.array_equal(first.oob_predictions, other.oob_predictions, equal_nan=True)


def test_trees_of_one_forest_and_of_the_next_seed_differ():
    samples = {weights_of(tree, seed, 50).tobytes() for tree in range(50) for seed in range(50)}
    assert len(samples) == 2500


def test_too_many_rows_are_refused():
    with pytest.raises(ValueError, match="at most 65,536 rows; got 65,537"):
        grow(np.zeros((65_537, 1)), np.zeros(65_537))


def test_candidates_per_node_follow_the_r_packages():
    assert [root_of(p) for p in (1, 8, 10, 100)] == [1, 2, 3, 10]
    assert [third_of(p) for p in (1, 2, 8, 100)] == [1, 1, 2, 33]
