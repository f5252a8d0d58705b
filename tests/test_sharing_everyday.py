"""What factors share: what must not change it, what must, on tables of every kind, and what is refused."""

import pickle
import re
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_tables import everyday_tables, friedman, mixed, tables
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from firstfactor import FIRST, closed_indices, cumulative_ranking, interactions, shapley_effects
from firstfactor.variance import conditional

few = settings(max_examples=15)
seeds = st.integers(0, 1000)


def shared(X, y, sample_weight=None, groups=None, **options):
    """Numbers of all that looks at what factors share: none depends on the order of anything."""
    selector = FIRST(importance="shapley", **options).fit(X, y, sample_weight, groups)
    fair = shapley_effects(X, y, sample_weight=sample_weight, groups=groups, **options)
    options = {"variance_estimator": "nearest", **options}
    closed = closed_indices(X, y, sample_weight=sample_weight, groups=groups, **options)
    pairs = interactions(X, y, sample_weight=sample_weight, groups=groups, **options)
    return {
        "importances": selector.importances_,
        "alone": selector.alone_,
        "fair": fair.values,
        "closed": closed.values,
        "pairs": {
            frozenset(pairs.names[i] for i in pair): v for pair, v in zip(pairs.pairs, pairs.values, strict=True)
        },
    }


def same(ours, theirs, order=slice(None)):
    """Equal but for rounding, which differences of variances make larger."""
    for name in ("importances", "alone", "fair", "closed"):
        np.testing.assert_allclose(ours[name], theirs[name][order], rtol=1e-6, atol=1e-6, err_msg=name)
    assert ours["pairs"] == pytest.approx(theirs["pairs"], rel=1e-6, abs=1e-6)


def related(rows=150, seed=0):
    """Numbers and levels, two of them nearly the same."""
    X, y = mixed(rows, seed)
    noise = np.random.default_rng(seed + 1).normal(size=rows)
    return X.assign(weight=X["size"] + 0.1 * noise), y


def clusters(selector):
    return {frozenset(cluster.factors) for cluster in selector.clusters_}


# --- what must not change anything ---------------------------------------------------------------------


def test_order_of_rows_and_columns():
    X, y = related()
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
    plain, other = shared(X, y), shared(X.iloc[rows, columns], y[rows])
    same(other, plain, columns)
    one, two = FIRST().fit(X, y), FIRST().fit(X.iloc[rows, columns], y[rows])
    assert clusters(one) == clusters(two) == {frozenset({"size", "weight"})}
    rankings = (
        cumulative_ranking(*each, variance_estimator="nearest") for each in ((X, y), (X.iloc[rows, columns], y[rows]))
    )
    assert len({ranking.ranking for ranking in rankings}) == 1
    sentences = dict(zip(one.explanations_.names, one.explanations_.sentences, strict=True))
    assert sentences == dict(zip(two.explanations_.names, two.explanations_.sentences, strict=True))


@few
@given(tables(), st.sampled_from([(7.0, 100.0), (-1e3, -3.0), (0.0, 0.01)]))
def test_shift_and_scale_of_the_response(table, change):
    X, y = table
    shift, scale = change
    same(shared(X, shift + scale * y, task="regression"), shared(X, y, task="regression"))


@few
@given(tables(least_rows=10), seeds)
def test_names_of_classes_and_levels(table, seed):
    X, _ = table
    codes = np.random.default_rng(seed).integers(0, 3, size=len(X))
    codes[:3] = [0, 1, 2]
    renamed = X.replace({"a": "zebra", "b": "apple", "c": "a"})
    same(shared(renamed, np.array(list("zyx"))[codes]), shared(X, np.array(list("abc"))[codes]))


@few
@given(tables(), st.integers(0, 4))
def test_a_constant_column(table, where):
    X, y = table
    more = X.copy()
    more.insert(min(where, X.shape[1]), "same", "x")
    others = [more.columns.get_loc(name) for name in X]
    plain, found = shared(X, y, task="regression"), shared(more, y, task="regression")
    same({name: values if name == "pairs" else values[others] for name, values in found.items()}, plain)
    assert all(found[name][more.columns.get_loc("same")] == 0 for name in ("importances", "fair", "closed"))
    assert not found["alone"][more.columns.get_loc("same")] > 0
    selector = FIRST(task="regression").fit(more, y)
    assert selector.explain("same") == "same is constant: it has the same value in every row."
    assert clusters(selector) == clusters(FIRST(task="regression").fit(X, y))


def test_a_copy_makes_a_cluster_and_changes_no_other_factor():
    X, y = related()
    X = X.drop(columns="weight")
    plain, found = FIRST().fit(X, y), FIRST().fit(X.assign(copy=X["load"]), y)
    assert clusters(plain) == set() and clusters(found) == {frozenset({"load", "copy"})}
    np.testing.assert_allclose(found.importances_, [*plain.importances_, 0.0])
    np.testing.assert_allclose(found.alone_, [*plain.alone_, plain.alone_[1]])
    assert found.explain("copy") == "copy stands in for load: exchanging the two costs next to nothing."
    (cluster,) = found.clusters_
    assert cluster.kept == (1.0, 1.0) and cluster.joint == pytest.approx(found.importances_[1])
    assert cluster.representative == "load"


def test_a_copy_shares_and_the_others_keep_their_fair_share():
    X, y = related(rows=400)
    X = X[["size", "load", "make"]]
    plain, found = shapley_effects(X, y).values, shapley_effects(X.assign(copy=X["load"]), y).values
    assert found[1] == pytest.approx(found[3], rel=1e-9)
    assert found[1] + found[3] == pytest.approx(plain[1], abs=0.1)


# --- the same bits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ["nearest", "extrapolated", "adaptive"])
@pytest.mark.parametrize("what", ["fit", "compact", "shapley", "closed", "pairs", "ranking"])
def test_the_same_bits_for_any_number_of_threads_and_each_time(estimator, what, monkeypatch):
    monkeypatch.setattr(conditional, "SMALL", 0)
    monkeypatch.setattr(conditional, "SMALL_FOR_FITS", 0)
    X, y = friedman(rows=120, factors=10)
    X = np.column_stack([X[:, [0, 6, 7, 8]], X[:, 7] + 0.01 * X[:, 1]])

    def numbers(n_jobs):
        options = {"n_jobs": n_jobs, "variance_estimator": estimator, "random_state": 0}
        if what in ("fit", "compact"):
            found = FIRST(importance="shapley", compact=what == "compact", **options).fit(X, y)
            tree = found.tree_
            joints = [] if tree is None else [node.joint for node in tree.nodes]
            return [found.importances_, found.standard_errors_, found.alone_, joints, [found.explanations_.sentences]]
        if what in ("shapley", "closed"):
            found = (shapley_effects if what == "shapley" else closed_indices)(X, y, **options)
            return [found.values, found.standard_errors, found.p_values]
        found = (interactions if what == "pairs" else cumulative_ranking)(X, y, **options)
        return [found.values, found.estimates.standard_errors if what == "pairs" else found.cumulative.standard_errors]

    one, two, again = numbers(1), numbers(2), numbers(2)
    for a, b, c in zip(one, two, again, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(b, c)


# --- tables of every kind ------------------------------------------------------------------------------


def look_at(X, y, sample_weight=None, groups=None, **options):
    """A fitted FIRST with fair shares that add up, after all functions were called and read."""
    more = {"sample_weight": sample_weight, "groups": groups}
    selector = FIRST(importance="shapley", compact=0.01, **options).fit(X, y, **more)
    if selector.selected_.size and selector.explained_variance_ > 0:
        assert selector.importances_.sum() == pytest.approx(1, abs=1e-6)
    assert len(selector.explanations_) == len(selector.factor_names_) == selector.alone_.size
    if selector.indices_.explained_variance > 1e-9 * selector.indices_.response_variance:
        assert ((selector.alone_ >= 0) & (selector.alone_ <= 1)).all()
    fair = shapley_effects(X, y, **more, **options)
    if fair.explained_variance > 1e-9 * fair.response_variance:
        assert fair.values.sum() == pytest.approx(1, abs=1e-6)
    pairs, ranking = interactions(X, y, **more, **options), cumulative_ranking(X, y, **more, **options)
    assert np.isfinite(pairs.values).all() and np.isfinite(ranking.values).all()
    assert len(ranking.order) == fair.support.sum()
    for result in (
        selector.tree_,
        selector.explanations_,
        fair,
        pairs,
        ranking,
        closed_indices(X, y, **more, **options),
    ):
        assert isinstance(str(result), str)
    return selector


def test_two_and_three_classes_and_several_outputs():
    X, y = related(rows=300)
    ranks = y.argsort().argsort()
    for response in (y > np.median(y), np.array(list("abc"))[ranks // 100], np.column_stack([y, X["size"]])):
        found = look_at(X, response)
        assert frozenset({"size", "weight"}) in clusters(found)


@few
@given(everyday_tables())
def test_gaps_outputs_weights_and_groups_of_rows(table):
    X, Y, weights, groups = table
    look_at(X, Y if Y.shape[1] > 1 else Y[:, 0], weights, groups, n_neighbors=2, task="regression")


def test_groups_of_columns_are_one_factor():
    X, y = related(rows=300)
    found = look_at(X, y, factor_groups={"measure": ["size", "weight"]})
    assert "measure" in found.factor_names_ and clusters(found) == set()
    fair = shapley_effects(X, y, factor_groups={"measure": ["size", "weight"]})
    assert len(fair.values) == 5 and fair.values.sum() == pytest.approx(1)


def test_circles_and_dates():
    rng = np.random.default_rng(0)
    hour = rng.uniform(0, 24, size=400)
    X = pd.DataFrame(
        {"hour": hour, "clock": (hour + 0.05 * rng.normal(size=400)) % 24, "day": rng.integers(0, 300, 400)}
    )
    X["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(X["day"], unit="D")
    y = np.cos(2 * np.pi * hour / 24) + X["day"].dt.day_of_year / 100
    found = look_at(X, y.to_numpy(), period={"hour": 24, "clock": 24})
    assert clusters(found) == {frozenset({"hour", "clock"})}


def test_more_factors_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 40))
    found = FIRST(importance="shapley", compact=True).fit(X, X[:, 0])
    assert found.importances_.sum() == pytest.approx(1) and len(found.explanations_) == 40
    assert len(closed_indices(X, X[:, 0]).values) == len(cumulative_ranking(X, X[:, 0]).order) == 40
    assert len(interactions(X, X[:, 0], factors=[0, 1, 2]).pairs) == 3


@pytest.mark.parametrize("rows", range(3, 11))
@pytest.mark.parametrize("kind", ["numbers", "words", "both"])
def test_few_rows(rows, kind):
    rng = np.random.default_rng(rows)
    X = pd.DataFrame({"a": rng.normal(size=rows), "b": rng.choice(["u", "v"], rows), "c": rng.integers(0, 2, rows)})
    X = X[{"numbers": ["a", "c"], "words": ["b"], "both": ["a", "b", "c"]}[kind]]
    look_at(X, rng.normal(size=rows), task="regression")


def test_nothing_varies():
    X, y = np.ones((20, 3)), np.random.default_rng(0).normal(size=20)
    found = look_at(X, y)
    assert found.explanations_.reasons == ("constant",) * 3
    assert closed_indices(X, y).values.tolist() == [0, 0, 0]
    assert cumulative_ranking(X, y).order == () and cumulative_ranking(X, y).r2_ceiling == 0
    assert interactions(X, y).pairs == ()


# --- scikit-learn --------------------------------------------------------------------------------------


def test_parameters_survive_scikit_learn():
    given = {"importance": "shapley", "compact": 0.05, "cluster_cut": 0.5}
    selector = clone(FIRST(**given))
    assert {name: selector.get_params()[name] for name in given} == given
    assert FIRST().set_params(**given).get_params() == selector.get_params()
    X, y = friedman(rows=200)
    pipeline = make_pipeline(selector, LinearRegression()).fit(X, y)
    assert pipeline[0].importances_.sum() == pytest.approx(1) and pipeline.predict(X).shape == (200,)
    assert pipeline[0].transform(X).shape[1] == pipeline[0].selected_.size


def test_results_survive_copies_and_pickles():
    selector = FIRST().fit(*related())
    for other in (deepcopy(selector), pickle.loads(pickle.dumps(selector))):
        assert other.clusters_ == selector.clusters_
        assert other.tree_.nodes == selector.tree_.nodes
        assert str(other.explanations_) == str(selector.explanations_)
        assert other.explain("size") == selector.explain("size")


# --- what is refused -----------------------------------------------------------------------------------

COMPACT = "compact must be True, False or a number from 0 to 1, such as 0.01; got {}."
CUT = 'cluster_cut must be "auto", a number from 0 to 1 or None; got {}.'
IMPORTANCE = "importance must be one of 'total', 'shapley'; got {}."


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        *(({"compact": value}, COMPACT) for value in (-0.1, 1.1, None, "yes", np.nan, np.inf, [0.1], 1j)),
        *(({"cluster_cut": value}, CUT) for value in (-0.1, 1.1, "Auto", "", True, np.nan, [0.5], 1j)),
        *(({"importance": value}, IMPORTANCE) for value in ("Total", "sobol", None, True, 1, ["total"])),
    ],
)
def test_wrong_parameters_are_named_with_the_rule_and_the_value(parameters, message):
    (value,) = parameters.values()
    with pytest.raises(ValueError, match=f"^{re.escape(message.format(repr(value)))}$"):
        FIRST(**parameters).fit(*friedman(rows=20))


@pytest.mark.parametrize(
    "parameters", [{"compact": v} for v in (0, 1, 0.5, np.float32(0.1))] + [{"cluster_cut": np.float64(0.3)}]
)
def test_any_kind_of_number_is_a_number(parameters):
    assert FIRST(**parameters).fit(*friedman(rows=30)).importances_.shape == (10,)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("x9", "must name columns of X; there is no column 'x9'. The columns are: 'x0', 'x1', 'x2'"),
        (3, "must hold column names or positions from 0 to 2; got 3."),
        ([0, -1], "must hold column names or positions from 0 to 2; got -1."),
        ([0.5], "must hold column names or positions from 0 to 2; got 0.5."),
        ([True, False], r"as a mask must have one entry per factor \(3\); got 2."),
        ([[0], [1, 2]], "must be a plain list of columns; got"),
    ],
)
def test_wrong_factors_are_named_with_the_rule_and_the_value(value, message):
    X, y = friedman(rows=30)
    with pytest.raises(ValueError, match=f"^factors {message}"):
        interactions(X[:, :3], y, factors=value)
    with pytest.raises(ValueError, match=f"^subset {message}"):
        closed_indices(X[:, :3], y, subset=value)


@pytest.mark.parametrize("value", [None, 1, "yes", 0.5])
def test_uncertainty_is_a_flag(value):
    with pytest.raises(ValueError, match="uncertainty must be True or False; got "):
        shapley_effects(*friedman(rows=20), uncertainty=value)


@pytest.mark.parametrize("function", [closed_indices, shapley_effects, interactions, cumulative_ranking])
def test_options_that_do_not_exist_are_named_with_the_nearest(function):
    with pytest.raises(TypeError, match=r"there is no option 'n_neighbours'. Did you mean 'n_neighbors'\?"):
        function(*friedman(rows=20), n_neighbours=3)
    with pytest.raises(ValueError, match="estimator must be one of 'nearest', 'extrapolated', 'adaptive'; got 'best'"):
        function(*friedman(rows=20), variance_estimator="best")
    X, y = friedman(rows=20)
    found = function(X[:, :3], y)
    estimates = getattr(found, "estimates", getattr(found, "cumulative", found))
    with pytest.raises(ValueError, match="level must be a number from 0 to 1; got 95"):
        estimates.interval(95)
