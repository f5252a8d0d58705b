"""One scan for every subset equals a search for each of them, on data made to be difficult."""

import numpy as np
import pandas as pd
import pytest
from designs import read_design

from firstfactor import shapley_effects, total_indices
from firstfactor._utils.threads import Workers
from firstfactor.neighbors import search as search_module
from firstfactor.neighbors.kernels.subset_scan import BLOCK
from firstfactor.neighbors.search import Search
from firstfactor.settings import Options
from firstfactor.variance.conditional import open_variances


def search(X, y, n_neighbors, outer=None, n_jobs=1, weights=None, groups=None, **reading):
    design, y = read_design(X, **reading), np.asarray(y, dtype=float).reshape(len(y), -1)
    outer = np.arange(len(y)) if outer is None else outer
    return Search(design, y - y.mean(axis=0), outer, n_neighbors, Workers(n_jobs), weights, groups)


def make_table(kind, rows=60):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(rows, 5)), columns=list("abcde"))
    if kind == "tied":
        X = X.round(0)
    if kind == "repeated":
        X = X.iloc[np.arange(rows) // 2].reset_index(drop=True)
    if kind == "mixed":
        X["a"], X["c"] = rng.choice(["u", "v", "w"], rows), rng.integers(0, 3, rows)
        X.loc[::7, "b"] = np.nan
    if kind == "grouped":
        X["f"], X["g"] = rng.normal(size=rows), rng.normal(size=rows)
    if kind == "many":
        X = pd.DataFrame(rng.normal(size=(rows, 9)), columns=list("abcdefghi"))
    return X, rng.normal(size=rows) + X.iloc[:, -1].to_numpy(float)


@pytest.fixture
def always(monkeypatch):
    """Scan for every subset, whatever it costs."""
    monkeypatch.setattr(search_module, "cost_of_subsets", lambda *_: -1.0)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("kind", ["plain", "tied", "repeated", "mixed", "grouped", "many"])
@pytest.mark.parametrize("n_neighbors", [2, 3, 5])
def test_one_scan_equals_a_search_for_each_subset(kind, n_neighbors):
    X, y = make_table(kind)
    options = {"factor_groups": {"both": ["f", "g"]}} if kind == "grouped" else {}
    found = search(X, y, n_neighbors, **options)
    factors = tuple(found.design.varying)
    means = found.every_subset(factors, 1)
    assert len(means) == 2 ** len(factors) - 1
    alone = search(X, y, n_neighbors, **options)
    for subset, mean in means.items():
        assert mean == pytest.approx(alone.one(subset), rel=1e-9, abs=1e-12)
        expected = alone.contributions(subset, 1)
        np.testing.assert_allclose(found.contributions(subset, 1).rows, expected.rows, rtol=1e-9, atol=1e-12)


def assert_scan_equals_searches(X, y, n_neighbors):
    found, alone = search(X, y, n_neighbors), search(X, y, n_neighbors)
    means = found.every_subset(tuple(found.design.varying), 1)
    assert means == pytest.approx({subset: alone.one(subset) for subset in means}, rel=1e-9, abs=1e-12)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("kind", ["plain", "tied", "mixed"])
@pytest.mark.parametrize("n_neighbors", [2, 4])
def test_several_blocks_of_rows_are_scanned(kind, n_neighbors):
    assert_scan_equals_searches(*make_table(kind, 2 * BLOCK + 37), n_neighbors)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("step", [1e-3, 1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize("n_neighbors", [2, 3])
def test_distances_that_float32_cannot_tell_apart_are_compared_in_float64(step, n_neighbors):
    rng = np.random.default_rng(5)
    X = rng.integers(0, 3, size=(80, 6)) * (1.0 + step * rng.random((80, 6)))
    assert_scan_equals_searches(X, rng.normal(size=80), n_neighbors)


@pytest.mark.usefixtures("always")
def test_distances_too_small_for_float32_are_compared_in_float64():
    rng = np.random.default_rng(6)
    X = rng.choice([0.0, 1.0], size=(80, 5)) + 1e-12 * rng.integers(0, 4, size=(80, 5)) ** 2
    X[0] = 1e9  # all others are the nearer to each other
    assert_scan_equals_searches(X, rng.normal(size=80), 2)


@pytest.mark.usefixtures("always")
def test_more_ties_than_there_was_room_for_are_all_in_the_ball():
    rng = np.random.default_rng(7)
    X = np.column_stack([rng.choice([0.0, 1.0], size=(1200, 6)), rng.normal(size=1200)])
    assert_scan_equals_searches(X, rng.normal(size=1200), 2)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("weighted", [False, True])
def test_outer_rows_and_weights_count_as_in_a_search_for_each(weighted):
    X, y = make_table("plain")
    weights = np.random.default_rng(0).uniform(0.5, 2, size=len(y)) if weighted else None
    outer = np.arange(0, 60, 4)
    found = search(X, y, 2, outer, weights=weights).every_subset((0, 1, 2, 3, 4), 3)
    alone = search(X, y, 2, outer, weights=weights)
    for subset, mean in found.items():
        assert mean == pytest.approx(alone.one(subset), rel=1e-9)


@pytest.mark.usefixtures("always")
def test_several_outputs_and_threads_give_the_same_bits():
    X, y = make_table("plain")
    y = np.column_stack([y, y**2])
    assert search(X, y, 2, n_jobs=2).every_subset(range(5), 1) == search(X, y, 2).every_subset(range(5), 1)


def test_a_scan_is_left_out_where_it_is_slower_or_knows_no_groups():
    X, y = make_table("tied", rows=400)
    few = X.assign(a=X["a"] > 0, b=X["b"] > 0, c=X["c"] > 0, d=X["d"] > 0, e=X["e"] > 0)
    assert search(few, y, 2).every_subset(range(5), 1) == {}
    plain, y = make_table("plain")
    assert search(plain, y, 2).every_subset(range(4), 1) == {}
    assert search(plain, y, 2, groups=np.arange(60) // 3).every_subset(range(5), 1) == {}


@pytest.mark.usefixtures("always")
def test_too_many_balls_are_not_kept(monkeypatch):
    X, y = make_table("plain")
    monkeypatch.setattr(search_module, "MAX_SUBSET_BALLS", 100)
    found = search(X, y, 2)
    assert found.every_subset(range(5), 1)[0, 1] == pytest.approx(search(X, y, 2).one((0, 1)))
    assert found.contributions((0, 1), 1).rows.shape == (60,)


@pytest.mark.usefixtures("always")
def test_variances_remember_every_subset():
    X, y = make_table("plain")
    with open_variances(X, y, Options()) as variances, open_variances(X, y, Options()) as others:
        variances.precompute_subsets((0, 1, 2, 3, 4), 1)
        assert variances.of((1, 3)) == pytest.approx(others.of((1, 3)), rel=1e-12)


@pytest.mark.usefixtures("always")
def test_how_far_neighbours_are_is_known_after_a_scan():
    X, y = make_table("plain")
    scanned, alone = search(X, y, 2), search(X, y, 2)
    scanned.every_subset(range(5), 1)
    np.testing.assert_array_equal(scanned.balls(range(5)).reach, alone.balls(range(5)).reach)
    fair, total = shapley_effects(X, y), total_indices(X, y, uncertainty=True)
    assert fair.sample_size.distance_share == pytest.approx(total.sample_size.distance_share)
    assert fair.uncertainty.r2_bias == pytest.approx(total.uncertainty.r2_bias)
    assert np.isfinite(fair.interval()).all()
