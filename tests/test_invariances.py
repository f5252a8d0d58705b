"""What must not change the answer does not."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from sample_tables import friedman, tables

from firstfactor import FIRST, total_indices

seeds = st.integers(0, 1000)


def importances(X, y, **options):
    return FIRST(task="regression", **options).fit(X, y).importances_


def same(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)


@given(tables(), seeds)
def test_order_of_rows(table, seed):
    X, y = table
    order = np.random.default_rng(seed).permutation(len(y))
    same(importances(X.iloc[order], y[order]), importances(X, y))


@given(tables(), seeds)
def test_order_of_columns_in_indices(table, seed):
    X, y = table
    order = np.random.default_rng(seed).permutation(X.shape[1])
    same(
        total_indices(X.iloc[:, order], y, task="regression").values,
        total_indices(X, y, task="regression").values[order],
    )


def test_order_of_columns_in_selection():
    X, y = friedman()
    order = np.random.default_rng(1).permutation(X.shape[1])
    same(importances(X[:, order], y), importances(X, y)[order])


@given(tables(), st.floats(-1e3, 1e3), st.sampled_from([-3.0, 0.01, 1e4]))
def test_shift_and_scale_of_the_response(table, shift, factor):
    X, y = table
    same(importances(X, shift + factor * y), importances(X, y))


@given(tables())
def test_renaming_levels(table):
    X, y = table
    renamed = X.replace({"a": "zebra", "b": "apple", "c": "a"})
    same(importances(renamed, y), importances(X, y))


@given(tables())
def test_renaming_classes(table):
    X, y = table
    high = y > np.median(y)
    high[:2] = [True, False]
    ref = FIRST().fit(X, high).importances_
    for labels in (["no", "yes"], ["z", "b"], [7, -7], [0.5, 0.25]):
        same(FIRST().fit(X, np.array(labels)[high.astype(int)]).importances_, ref)


@given(tables(), st.integers(0, 4))
def test_adding_a_constant_column(table, where):
    X, y = table
    more = X.copy()
    more.insert(min(where, X.shape[1]), "same", "x")
    selector = FIRST(task="regression").fit(more, y)
    same(pd.Series(selector.importances_, more.columns).drop("same"), importances(X, y))
    assert selector.importances_[more.columns.get_loc("same")] == 0


@given(tables())
def test_units_of_numeric_factors(table):
    X, y = table
    other = X.assign(**{c: 1000 * X[c] - 7 for c in X.select_dtypes("number")})
    same(importances(other, y), importances(X, y))


@given(tables(most_factors=1))
def test_a_copy_of_the_only_factor_never_enters(table):
    X, y = table
    selector = FIRST(task="regression").fit(X.assign(copy=X["f0"]), y)
    same(selector.importances_, [*importances(X, y), 0])


def test_same_bits_for_any_number_of_threads():
    X, y = friedman(400)
    one, two, all_cores = (FIRST(n_jobs=n, n_outer=200, random_state=5).fit(X, y) for n in (1, 2, -1))
    assert one.importances_.tobytes() == two.importances_.tobytes() == all_cores.importances_.tobytes()
    assert one.noise_variance_ == two.noise_variance_
    for a, b in zip(one.path_.steps, two.path_.steps, strict=True):
        assert a.explained.tobytes() == b.explained.tobytes()


def test_the_seed_decides_the_outer_rows():
    X, y = friedman(200)

    def fit(seed):
        return FIRST(n_outer=0.3, random_state=seed).fit(X, y).importances_.tolist()

    assert fit(0) == fit(0)
    assert fit(0) != fit(1)
    assert fit(np.random.default_rng(4)) == fit(np.random.default_rng(4))
    assert len(fit(None)) == X.shape[1]
