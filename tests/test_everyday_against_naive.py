"""Missing values, several outputs and classes, weights, groups of rows and of columns equal the plain loops."""

import naive
import numpy as np
import pandas as pd
import pytest
from designs import read_design
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sample_tables import as_lists, as_lists_with_gaps, as_rows, everyday_tables, mixed, tables

from firstfactor import FIRST, explained_variance, total_indices
from firstfactor._utils.threads import Workers
from firstfactor.neighbors import search as search_module
from firstfactor.neighbors.search import Search
from firstfactor.settings import Options
from firstfactor.variance.conditional import open_variances
from firstfactor.variance.local_linear import LocalLinear

neighbours = st.sampled_from([2, 3])
few = settings(max_examples=settings().max_examples // 2)  # each has several of the cases that matter


def close(comp, ref):
    np.testing.assert_allclose(comp, ref, rtol=1e-9, atol=1e-11)


def fits_groups(groups, n_rows, k):
    return groups is None or n_rows - np.bincount(groups).max() + 1 >= k


@pytest.fixture(params=["cheapest", "shared", "line", "alone"])
def way(request, monkeypatch):
    """Have the plans choose by cost, always share a search, along a line where there is one, or never."""
    costs = {"shared": np.inf, "line": np.inf, "alone": -1.0}
    if request.param in costs:
        monkeypatch.setattr(search_module, "cost_alone", lambda points, *_: np.full_like(points, costs[request.param]))
    if request.param == "line":
        monkeypatch.setattr(search_module, "FEW_ROWS", 0)


@pytest.mark.usefixtures("way")
@few
@given(everyday_tables(), neighbours, st.data())
def test_every_way_to_search(table, k, data):
    X, Y, weights, groups = table
    assume(fits_groups(groups, len(Y), k))
    design = read_design(X)
    varying = list(design.varying)
    assume(len(varying) > 1)
    found = Search(design, Y - Y.mean(axis=0), np.arange(len(Y)), k, Workers(1), weights, groups)
    columns, y = naive.standardise(as_lists_with_gaps(X)), as_rows(Y)

    def ref(factors):
        return naive.conditional_variance(columns, y, factors, k, weights, groups)

    base = data.draw(st.lists(st.sampled_from(varying), unique=True, max_size=len(varying) - 1))
    candidates = [i for i in varying if i not in base]
    close(found.plus_each(base, candidates), [ref([*base, i]) for i in candidates])
    rests = [[j for j in varying if j != i] for i in varying]
    close(found.minus_each(varying, [*varying, None]), [ref(rest) for rest in [*rests, varying]])
    close(found.one(varying), ref(varying))


@few
@given(everyday_tables(), neighbours)
def test_total_indices(table, k):
    X, Y, weights, groups = table
    assume(fits_groups(groups, len(Y), k) and Y.shape[1] == 1)
    ref = naive.total_indices(naive.standardise(as_lists_with_gaps(X)), as_rows(Y), k, weights=weights, groups=groups)
    comp = total_indices(X, Y[:, 0], n_neighbors=k, sample_weight=weights, groups=groups, task="regression")
    close(comp.values, ref)


@few
@given(everyday_tables(), neighbours)
def test_outputs_are_standardised_and_summed(table, k):
    X, Y, weights, groups = table
    assume(fits_groups(groups, len(Y), k) and Y.shape[1] > 1)
    deviations = [np.sqrt(naive.variance(Y[:, j].tolist(), weights)) for j in range(Y.shape[1])]
    ref = naive.total_indices(
        naive.standardise(as_lists_with_gaps(X)), as_rows(Y / deviations), k, weights=weights, groups=groups
    )
    close(total_indices(X, Y, n_neighbors=k, sample_weight=weights, groups=groups, task="regression").values, ref)


@few
@given(tables(least_rows=10), st.integers(0, 1000))
def test_classes_are_indicators(table, seed):
    X, _ = table
    labels = np.array(list("cab"))[np.random.default_rng(seed).integers(0, 3, size=len(X))]
    labels[:3] = list("abc")
    columns = naive.standardise(as_lists(X))
    indicators = [tuple(float(label == one) for one in "abc") for label in labels]
    close(total_indices(X, labels).values, naive.total_indices(columns, indicators, 3))
    close(total_indices(X, labels).response_variance, naive.variance(indicators))


@few
@given(tables(most_factors=5), neighbours, st.data())
def test_columns_that_are_grouped(table, k, data):
    X, y = table
    assume(X.shape[1] > 1)
    members = data.draw(st.lists(st.sampled_from(list(X.columns)), min_size=2, unique=True))
    assume(len({*map(tuple, X[members].isin([0, 1, True, False]).all(axis=1).to_frame().to_numpy())}) == 1)
    assume(not X[members].isin([0, 1]).to_numpy().all())  # one-hot columns become a category
    positions = tuple(sorted(X.columns.get_loc(name) for name in members))
    columns = naive.standardise(as_lists(X))
    factors = [i for i in naive.varying(columns) if i not in positions]
    group = tuple(i for i in positions if i in naive.varying(columns))
    ref = naive.total_indices(columns, y.tolist(), k, factors=[*factors, *([group] if group else [])])
    comp = total_indices(X, y, n_neighbors=k, factor_groups={"several": members}, task="regression")
    assume(abs(comp.response_variance - comp.noise_variance) > 1e-9 * comp.response_variance)  # shares of nothing
    values = dict(zip(comp.names, comp.values, strict=True))
    close(
        [values[name] for name in X.columns if name not in members],
        [ref[X.columns.get_loc(name)] for name in X.columns if name not in members],
    )
    close(values["several"], ref[group[0]] if group else 0.0)


@few
@given(everyday_tables(), st.data())
def test_local_fits(table, data):
    X, Y, _, groups = table
    assume(fits_groups(groups, len(Y), 2))
    columns = naive.standardise(as_lists_with_gaps(X))
    factors = data.draw(st.lists(st.sampled_from(range(X.shape[1])), min_size=1, unique=True))
    with open_variances(X, Y[:, 0], Options(task="regression"), groups=groups) as variances:
        factors = [i for i in factors if not variances.design.constant[i]]
        assume(factors)
        local = LocalLinear(variances.search, factors, (4, 9))
        y = variances.response.values
        comp = local.errors(y, np.arange(len(y)))
    rows = y[:, 0].tolist()
    ref, together = (
        np.array([[measure(columns, rows, factors, m, b, groups) for m in range(len(y))] for b in (4, 9)])
        for measure in (naive.local_fit, naive.squared_group_weights)
    )
    np.testing.assert_allclose(comp.fits[:, :, 0], ref, rtol=1e-7, atol=1e-7 * np.abs(ref).max())
    if groups is None:
        np.testing.assert_allclose(comp.squared_weights, together, rtol=1e-7)
    else:  # between one by one and together, and the errors are as much smaller
        alike = naive.intraclass_correlation((y[:, 0] - ref[0]).tolist(), groups)
        alone = [[naive.squared_group_weights(columns, rows, factors, m, b, groups, False) for m in range(len(y))]
                 for b in (4, 9)]  # fmt: skip
        expected = (1 - alike) * np.array(alone) + alike * together
        np.testing.assert_allclose(comp.squared_weights, expected, rtol=1e-6)
        np.testing.assert_allclose(comp.values[:, :, 0], (y[:, 0] - ref) / np.sqrt(1 + expected), rtol=1e-6, atol=1e-6)


# --- what must not change the answer --------------------------------------------------------------------------------


def fitted(X, y, sample_weight=None, groups=None, **options):
    return FIRST(**options).fit(X, y, sample_weight, groups).indices_


def same_bits(a, b):
    assert a.values.tobytes() == b.values.tobytes()
    assert (a.noise_variance, a.response_variance) == (b.noise_variance, b.response_variance)
    np.testing.assert_array_equal(a.standard_errors, b.standard_errors)


@few
@given(tables())
def test_what_is_absent_changes_no_bit(table):
    X, y = table
    plain = fitted(X, y, task="regression")
    same_bits(fitted(X, y, task="regression", missing="error"), plain)
    same_bits(fitted(X, y, np.full(len(y), 0.3), task="regression"), plain)
    same_bits(fitted(X, y, task="regression", factor_groups={name: [name] for name in X}), plain)
    same_bits(fitted(X, y[:, None].repeat(1, axis=1).ravel(), task="regression", period={}), plain)
    close(fitted(X, y, groups=np.arange(len(y)), task="regression").values, plain.values)


@few
@given(everyday_tables(), st.sampled_from([0.01, 3.0, 1e6]))
def test_only_the_ratio_of_weights_counts(table, factor):
    X, Y, weights, groups = table
    assume(weights is not None and fits_groups(groups, len(Y), 2))
    ref = total_indices(X, Y[:, 0], sample_weight=weights, groups=groups, task="regression").values
    close(total_indices(X, Y[:, 0], sample_weight=factor * weights, groups=groups, task="regression").values, ref)


@few
@given(tables(least_rows=10), st.integers(0, 1000))
def test_a_weight_of_zero_removes_the_row(table, seed):
    X, y = table
    weights = np.random.default_rng(seed).integers(0, 3, size=len(y)).astype(float)
    weights[:4] = 1
    kept = weights > 0
    assume(np.ptp(y[kept]) > 0)
    # Levels are numbered as they appear. With other numbers, sums are added up in another order.
    words = X.select_dtypes(exclude="number")
    assume(all(words[name][kept].unique().tolist() == words[name].unique().tolist() for name in words))
    ref = fitted(X[kept].reset_index(drop=True), y[kept], weights[kept], task="regression")
    same_bits(fitted(X, y, weights, task="regression"), ref)


@few
@given(everyday_tables(), st.permutations(range(4)))
def test_groups_are_names_only(table, names):
    X, Y, _, groups = table
    assume(groups is not None and fits_groups(groups, len(Y), 2))
    ref = total_indices(X, Y[:, 0], groups=groups, task="regression").values
    renamed = np.array([f"person {names[g] if g < 4 else g}" for g in groups])
    close(total_indices(X, Y[:, 0], groups=renamed, task="regression").values, ref)


@few
@given(tables(least_rows=10), st.integers(0, 1000), st.permutations(["u", "v", "w"]))
def test_classes_are_names_only(table, seed, names):
    X, _ = table
    codes = np.random.default_rng(seed).integers(0, 3, size=len(X))
    codes[:3] = [0, 1, 2]
    ref = total_indices(X, np.array(list("abc"))[codes])
    comp = total_indices(X, np.array(names)[codes])
    close(comp.values, ref.values)
    close(comp.noise_variance, ref.noise_variance)


@few
@given(everyday_tables(), st.integers(0, 1000))
def test_the_order_of_rows_means_nothing(table, seed):
    X, Y, weights, groups = table
    assume(fits_groups(groups, len(Y), 2))
    order = np.random.default_rng(seed).permutation(len(Y))
    Y = Y if Y.shape[1] > 1 else Y[:, 0]
    ref = total_indices(X, Y, sample_weight=weights, groups=groups, task="regression").values
    weights, groups = (None if each is None else each[order] for each in (weights, groups))
    close(total_indices(X.iloc[order], Y[order], sample_weight=weights, groups=groups, task="regression").values, ref)


@few
@given(tables())
def test_identical_outputs_give_the_answer_of_one(table):
    X, y = table
    one, three = (fitted(X, given, task="regression") for given in (y, np.column_stack([y, 5 * y - 1, -y])))
    close(three.values, one.values)
    close(three.r2_ceiling, one.r2_ceiling)
    np.testing.assert_allclose(three.standard_errors, one.standard_errors, rtol=1e-6, atol=1e-9)


def test_two_classes_are_one_column_and_three_are_three():
    X, y = mixed(200)
    two = np.where(y > np.median(y), "high", "low")
    assert total_indices(X, two).response_variance == pytest.approx(0.25 * 200 / 199)
    X["tag"] = np.where(np.arange(200) % 2, "u", "v")
    close(
        total_indices(X, np.column_stack([two == "high", two == "low"]).astype(float)).values,
        total_indices(X, two, task="classification").values,
    )


@pytest.mark.parametrize("rule", ["paper", "calibrated"])
@pytest.mark.parametrize("what", ["missing", "classes", "outputs", "weights", "groups", "columns"])
def test_same_bits_for_any_number_of_threads(rule, what):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    y = X["a"] + X["b"] ** 2 + 0.3 * rng.normal(size=300)
    more = {}
    options = {"rule": rule, "random_state": 0}
    if what == "missing":
        X = X.mask(rng.uniform(size=X.shape) < 0.2)
    elif what == "classes":
        y = pd.cut(y, 4, labels=list("abcd")).astype(str)
    elif what == "outputs":
        y = np.column_stack([y, X["c"], rng.normal(size=300)])
    elif what == "weights":
        more["sample_weight"] = rng.uniform(0.5, 2, size=300)
    elif what == "groups":
        more["groups"] = np.arange(300) // 4
    else:
        options["factor_groups"] = {"cd": ["c", "d"]}
    one, two = (FIRST(n_jobs=n, **options).fit(X, y, **more) for n in (1, 2))
    assert one.importances_.tobytes() == two.importances_.tobytes()
    assert one.selected_.size and one.noise_variance_ == two.noise_variance_


def test_explained_variance_takes_weights_and_groups():
    X, y = mixed(60)
    weights, groups = np.arange(1.0, 61), np.arange(60) // 3
    columns = naive.standardise(as_lists(X))
    ref = naive.explained_variance(columns, y.tolist(), [0, 2], 2, weights, groups)
    # weights have a mean of 1 in the package, which changes nothing
    close(explained_variance(X, y, [0, 2], sample_weight=weights, groups=groups), ref)
