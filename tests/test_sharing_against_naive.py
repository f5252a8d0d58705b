"""What factors explain alone, together, in pairs and in orders equals the plain loops."""

from itertools import combinations

import naive
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sample_tables import as_lists, mixed, tables

from firstfactor import FIRST, closed_indices, cumulative_ranking, interactions, shapley_effects
from firstfactor.dependence.sharing import Cutter
from firstfactor.neighbors import search as search_module
from firstfactor.selection.compact import make_compact
from firstfactor.selection.selection import Selection, ignore_step
from firstfactor.settings import Options
from firstfactor.variance.conditional import open_variances

neighbours = st.sampled_from([2, 3])
few = settings(max_examples=settings().max_examples * 2 // 5)
plain = {"task": "regression", "variance_estimator": "nearest"}


def prepare(table):
    """A table as both want it, with its varying factors and whether they explain anything, so that shares are known."""
    X, y = table
    columns = naive.standardise(as_lists(X))
    return X, y, columns, y.tolist(), naive.varying(columns)


def assume_explained(columns, y, factors, k):
    """Shares of next to nothing are nothing but rounding."""
    explained = naive.explained_variance(columns, y, factors, k)
    assume(abs(explained) > 1e-3 * naive.variance(y))


def close(comp, ref):
    np.testing.assert_allclose(comp, ref, rtol=1e-7, atol=1e-8)


@few
@given(tables(), neighbours, st.data())
def test_closed_indices_of_factors_and_sets(table, k, data):
    X, y, columns, values, factors = prepare(table)
    assume_explained(columns, values, factors, k)
    found = closed_indices(X, y, n_neighbors=k, **plain)
    ref = [
        max(naive.closed_index(columns, values, factors, [i], k), 0) if i in factors else 0 for i in range(X.shape[1])
    ]
    close(found.values, ref)
    group = data.draw(st.lists(st.integers(0, X.shape[1] - 1), unique=True))
    ref = max(naive.closed_index(columns, values, factors, group, k), 0)
    close(closed_indices(X, y, subset=group, n_neighbors=k, **plain).values, [ref])


@few
@given(tables(), neighbours)
def test_interactions_of_all_pairs(table, k):
    X, y, columns, values, factors = prepare(table)
    assume_explained(columns, values, factors, k)
    found = interactions(X, y, n_neighbors=k, **plain)
    assert found.pairs == tuple(combinations(factors, 2))
    close(found.values, [naive.interaction(columns, values, factors, i, j, k) for i, j in found.pairs])


@few
@given(tables(most_rows=14), neighbours)
def test_shapley_effects_of_all_orders(table, k):
    X, y, columns, values, factors = prepare(table)
    assume_explained(columns, values, factors, k)
    ref = naive.shapley_effects(columns, values, factors, k)
    found = shapley_effects(X, y, n_neighbors=k, task="regression")
    close(found.values, [ref.get(i, 0.0) for i in range(X.shape[1])])


def test_shapley_effects_from_one_scan_are_those_of_all_orders(monkeypatch):
    """Five factors, so that the scan of every subset is used."""
    monkeypatch.setattr(search_module, "cost_of_subsets", lambda *_: -1.0)
    X, y = mixed(rows=25)
    columns = naive.standardise(as_lists(X))
    known = {}  # each set once: 120 orders of 5 factors
    monkeypatch.setattr(naive, "conditional_variance", remembering(naive.conditional_variance, known))
    ref = naive.shapley_effects(columns, y.tolist(), range(5), 2)
    close(shapley_effects(X, y).values, [ref[i] for i in range(5)])
    assert len(known) == 2**5


def remembering(function, known):
    def remembered(table, y, factors, *more):
        key = tuple(sorted(factors))
        if key not in known:
            known[key] = function(table, y, list(key), *more)
        return known[key]

    return remembered


@few
@given(tables(), neighbours)
def test_cumulative_ranking(table, k):
    X, y, columns, values, factors = prepare(table)
    assume_explained(columns, values, factors, k)
    order, shares = naive.cumulative_ranking(columns, values, k)
    found = cumulative_ranking(X, y, n_neighbors=k, **plain)
    assert list(found.order) == order
    close(found.values, shares)
    close(found.gains.sum(), shares[-1])


@few
@given(tables(), neighbours, st.sampled_from([0.0, 0.05, 0.2, 0.5]), st.booleans())
def test_compact_sets(table, k, tolerance, force):
    X, y, columns, values, factors = prepare(table)
    assume(len(factors) > 1)
    forced = tuple(factors[:1]) if force else ()
    ref = naive.compact_set(columns, values, factors, tolerance + 1e-9, k, forced)  # sets that are equally good
    with open_variances(X, y, Options(n_neighbors=k, task="regression")) as variances:
        selection = Selection(tuple(factors), (), variances.response.variance, len(y), forced=forced)
        found = make_compact(variances, selection, tolerance + 1e-9, ignore_step)

        def explained(some):
            return variances.of(some) / variances.response.variance

        assert len(found.kept) == len(ref)
        assert explained(found.kept) == pytest.approx(explained(ref), rel=1e-7, abs=1e-9)


@few
@given(tables(), neighbours, st.data())
def test_what_a_factor_keeps_in_place_of_others(table, k, data):
    """1 if it explains as much as all of them with the other selected factors, 0 if no more than these alone."""
    X, y, columns, values, factors = prepare(table)
    assume(len(factors) > 1)
    members = data.draw(st.lists(st.sampled_from(factors), unique=True, min_size=1))
    kept = data.draw(st.lists(st.sampled_from(factors), unique=True, min_size=1))
    other = data.draw(st.sampled_from(members))
    rest = [i for i in kept if i not in members]
    least, most, instead = (
        naive.conditional_variance(columns, values, sorted(some), k) for some in (kept, rest, {*rest, other})
    )
    lost = most - least
    assume(lost <= 1e-13 * naive.variance(values) or lost > 1e-6 * naive.variance(values))
    ref = 1.0 if lost <= 1e-13 * naive.variance(values) else min(max((most - instead) / lost, 0.0), 1.0)
    with open_variances(X, y, Options(n_neighbors=k, task="regression")) as variances:
        cutter = Cutter(variances, tuple(kept), None, None, None)
        close(cutter.keeps(tuple(members), other), ref)


@few
@given(tables(), neighbours)
def test_what_is_explained_alone_is_a_closed_index_of_the_selected_factors(table, k):
    X, y, columns, values, _ = prepare(table)
    found = FIRST(k, task="regression").fit(X, y)
    kept = sorted(found.selected_.tolist())
    if not kept:
        assert np.isnan(found.alone_).all()
        return
    assume_explained(columns, values, kept, k)
    explained = naive.explained_variance(columns, values, kept, k)
    alone = [naive.explained_variance(columns, values, [i], k) / explained for i in naive.varying(columns)]
    close(found.alone_[naive.varying(columns)], np.clip(alone, 0, 1))
