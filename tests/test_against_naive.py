"""Every fast path equals the method in plain loops."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_tables import as_lists, tables

from firstfactor import FIRST, backward_elimination, explained_variance, total_indices

neighbours = st.sampled_from([2, 3, 5])
task = {"task": "regression"}


def close(comp, ref):
    np.testing.assert_allclose(comp, ref, rtol=1e-9, atol=1e-11)


@given(tables(), neighbours, st.data())
def test_explained_variance_of_any_subset(table, k, data):
    X, y = table
    subset = data.draw(st.lists(st.integers(0, X.shape[1] - 1), unique=True))
    ref = naive.explained_variance(naive.standardise(as_lists(X)), y.tolist(), subset, k)
    close(explained_variance(X, y, subset, n_neighbors=k, **task), ref)


@given(tables(), neighbours, st.booleans(), st.booleans())
def test_total_indices(table, k, noise, scale):
    X, y = table
    columns = naive.standardise(as_lists(X)) if scale else as_lists(X)
    ref = naive.total_indices(columns, y.tolist(), k, noise)
    close(total_indices(X, y, noise=noise, n_neighbors=k, scale=scale, **task).values, ref)


@given(tables(), neighbours, st.booleans(), st.data())
def test_total_index_of_a_set(table, k, noise, data):
    X, y = table
    group = data.draw(st.lists(st.sampled_from(list(X.columns)), unique=True))
    everything = list(range(X.shape[1]))
    positions = [X.columns.get_loc(name) for name in group]
    ref = naive.total_index(naive.standardise(as_lists(X)), y.tolist(), everything, positions, k, noise)
    close(total_indices(X, y, subset=group, noise=noise, n_neighbors=k, **task).values, [ref])


@given(tables(), neighbours, st.sampled_from(["batch", "single"]))
def test_backward_elimination(table, k, elimination):
    X, y = table
    ref = naive.backward_elimination(naive.standardise(as_lists(X)), y.tolist(), k, elimination=elimination)
    close(backward_elimination(X, y, n_neighbors=k, elimination=elimination, **task).values, ref)


@given(tables(), neighbours, st.sampled_from(["full", "fast", 1, 2]), st.sampled_from(["batch", "single"]))
def test_first(table, k, forward, elimination):
    X, y = table
    ref = naive.first(naive.standardise(as_lists(X)), y.tolist(), k, forward, elimination)
    selector = FIRST(k, forward=forward, elimination=elimination, **task).fit(X, y)
    close(selector.importances_, ref)


@given(tables(least_rows=8), st.integers(1, 7))
def test_outer_rows(table, n_outer):
    X, y = table
    seed = 3
    outer = np.sort(np.random.default_rng(seed).choice(len(y), n_outer, replace=False))
    factors = list(range(X.shape[1]))
    ref = np.mean(naive.ball_variances(naive.standardise(as_lists(X)), y.tolist(), factors, 2, outer))
    comp = explained_variance(X, y, factors, n_neighbors=2, n_outer=n_outer, random_state=seed, **task)
    if X.nunique().max() > 1:
        close(np.var(y, ddof=1) - comp, ref)


@pytest.mark.parametrize("factors", [3, 20])
@pytest.mark.parametrize("k", [2, 3, 25])
def test_as_many_neighbours_as_rows_and_many_dimensions(factors, k):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(25, factors)), rng.normal(size=25)
    ref = naive.total_indices(naive.standardise(X.T.tolist()), y.tolist(), k)
    close(total_indices(X, y, n_neighbors=k).values, ref)
