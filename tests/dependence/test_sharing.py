"""Clusters, the tree, what is explained alone, and exchanges: which factors share information, and how."""

import numpy as np
import pandas as pd
import pytest
from sample_tables import mixed
from scipy.cluster.hierarchy import is_valid_linkage, linkage
from scipy.spatial.distance import squareform

from firstfactor import FIRST, Cluster, total_indices
from firstfactor.dependence import sharing as sharing_module
from firstfactor.dependence import tree as tree_module
from firstfactor.dependence.tree import merge
from firstfactor.results.sharing import Exchange


def paper_example(rows=1000, seed=0, noise=0.0):
    """Three normal factors, the last two correlated 0.9; the response is the sum of the first two."""
    rng = np.random.default_rng(seed)
    x1, x2, other = rng.normal(size=(3, rows))
    X = pd.DataFrame({"x1": x1, "x2": x2, "x3": 0.9 * x2 + np.sqrt(1 - 0.81) * other})
    return X, x1 + x2 + noise * rng.normal(size=rows)


def sizes(rows=600, seed=0):
    """Three measures of one size, two of one colour, one factor by itself and two that mean nothing."""
    rng = np.random.default_rng(seed)
    size, colour, alone, *nothing = rng.normal(size=(5, rows))
    measures = {name: size + 0.05 * rng.normal(size=rows) for name in ("length", "width", "weight")}
    shades = {name: colour + 0.05 * rng.normal(size=rows) for name in ("red", "green")}
    X = pd.DataFrame({**measures, "alone": alone, **shades, "u": nothing[0], "v": nothing[1]})
    return X, 2 * size + colour + alone + 0.3 * rng.normal(size=rows)


@pytest.fixture(scope="module")
def fitted():
    return FIRST(rule="calibrated", random_state=0).fit(*sizes())


# --- the paper's example -------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"rule": "calibrated", "random_state": 0}])
def test_x3_stands_in_for_x2_in_the_paper_s_example(parameters):
    """y given x1 and x3 keeps (1 − 0.81) of the variance of x2: of what is explained, 0.19/2 is lost."""
    found = FIRST(**parameters).fit(*paper_example(rows=2000, noise=0.1))
    assert sorted(found.selected_.tolist()) == [0, 1]
    (cluster,) = found.clusters_
    assert isinstance(cluster, Cluster)
    assert cluster.factors == ("x2", "x3") and cluster.representative == "x2"
    assert cluster.interchangeable
    with pytest.warns(FutureWarning, match="use interchangeable"):
        assert cluster.any_will_do
    assert cluster.joint == pytest.approx(0.5, abs=0.05)
    assert cluster.kept == pytest.approx((1.0, 0.81), abs=0.05)
    exchange = found.indices_.sharing.exchanges[2]
    assert (exchange.selected, exchange.stands_in) == (1, True)
    assert exchange.cost == pytest.approx(0.095, abs=0.02)
    assert exchange.kept == pytest.approx(0.81, abs=0.04)
    assert found.alone_ == pytest.approx([0.5, 0.5, 0.405], abs=0.05)
    assert found.explain("x2").startswith("x2 is selected, and x3 would do as well: without all of them, ")
    assert found.explain("x3").startswith("x3 stands in for x2: exchanging the two costs at most ")
    assert found.explain(0).startswith("x1 is selected: without it, ")
    assert found.explanations_.reasons == ("selected", "selected", "stands in")
    assert found.explanations_["x3"] == found.explain("x3") == found.explain(2)


def test_a_cluster_is_one_driver():
    indices = FIRST().fit(*paper_example()).indices_
    drivers = {driver.factors: driver for driver in indices.drivers}
    assert set(drivers) == {(0,), (1, 2)}
    pair = drivers[1, 2]
    assert pair.is_cluster and not drivers[0,].is_cluster
    assert pair.importance == indices.sharing.clusters[0].joint
    assert pair.interval == indices.sharing.clusters[0].interval()
    assert pair.interval[0] < pair.importance < pair.interval[1]
    lost = [driver.importance for driver in indices.drivers]
    assert lost == sorted(lost, reverse=True)


# --- clusters ------------------------------------------------------------------------------------------


def test_each_thing_that_is_measured_several_times_is_a_cluster(fitted):
    first, second = fitted.clusters_
    assert set(first.factors) == {"length", "width", "weight"}
    assert set(second.factors) == {"red", "green"}
    assert first.joint > second.joint
    assert min(first.kept + second.kept) > 0.9
    assert [fitted.factor_names_[i] for i in first.positions] == list(first.factors)
    assert fitted.explain("v").startswith("v is left out: not enough evidence beside ")


def test_the_joint_index_is_that_of_the_selected_factors_among_them(fitted):
    X, y = sizes()
    kept = sorted(fitted.selected_.tolist())
    for cluster in fitted.clusters_:
        members = [X.columns[i] for i in kept if i in cluster.positions]
        joint = total_indices(X.iloc[:, kept], y, subset=members, variance_estimator="adaptive", uncertainty=True)
        assert cluster.joint == pytest.approx(joint.values[0], rel=1e-9)
        assert cluster.standard_error == pytest.approx(joint.standard_errors[0], rel=1e-9)
        assert cluster.bias == pytest.approx(joint.uncertainty.bias[0], rel=1e-9)


def test_noise_has_no_clusters():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(200, 1))
    X = a + 0.1 * rng.normal(size=(200, 4))
    assert FIRST(rule="calibrated", random_state=0).fit(X, rng.normal(size=200)).clusters_ == ()


def test_independent_factors_are_no_cluster():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    found = FIRST().fit(X, X.sum(axis=1))
    assert found.clusters_ == ()
    assert found.explanations_.reasons == ("selected",) * 4


def test_several_that_are_needed_and_not_missed_are_a_cluster():
    """Each of four is nearly known from the others; none stands in for all, and none is missed much."""
    rng = np.random.default_rng(0)
    common, other = rng.normal(size=(2, 2000))
    X = np.column_stack([*(common + 0.7 * rng.normal(size=(4, 2000))), other])
    found = FIRST(forced=range(5), variance_estimator="extrapolated").fit(X, common + other)
    shared = [cluster for cluster in found.clusters_ if set(cluster.positions) == {0, 1, 2, 3}]
    assert len(shared) == 1
    assert not shared[0].interchangeable
    assert shared[0].joint > 4 * found.importances_[:4].max()


@pytest.mark.parametrize("cut", [0.0, 0.5, 0.95, 1.0])
def test_a_given_cut_takes_what_explains_each_other_so_well(cut):
    found = FIRST(cluster_cut=cut).fit(*paper_example())
    heights = [node.dependence for node in found.tree_.nodes]
    assert len(heights) == (2 if len(found.tree_.leaves) == 3 else 1)
    for cluster in found.clusters_:
        assert cluster.dependence >= cut
    if cut == 0.0:
        assert len(found.clusters_) == 1 and len(found.clusters_[0].factors) == len(found.tree_.leaves)
    if cut == 0.5:
        assert [set(cluster.factors) for cluster in found.clusters_] == [{"x2", "x3"}]
    if cut == 1.0:
        assert found.clusters_ == ()


def test_a_cut_of_none_looks_at_nothing_and_selects_the_same():
    X, y = paper_example()
    found, plain = FIRST(cluster_cut=None).fit(X, y), FIRST().fit(X, y)
    assert found.indices_.sharing is None and found.clusters_ == () and found.tree_ is None
    assert np.isnan(found.alone_).all()
    np.testing.assert_array_equal(found.importances_, plain.importances_)
    np.testing.assert_array_equal(found.standard_errors_, plain.standard_errors_)
    assert found.explanations_.reasons == ("selected", "selected", "adds nothing")
    assert "alone" not in found.indices_.to_frame() and "alone" in plain.indices_.to_frame()


@pytest.mark.parametrize(
    ("changed", "stands_in"),
    [({}, True), ({"kept": 0.74}, False), ({"dependence": 0.29}, False), ({"is_sure": False}, False)],
)
def test_who_stands_in_is_strict(changed, stands_in):
    given = {"selected": 0, "cost": 0.1, "kept": 0.75, "dependence": 0.3, "is_sure": True}
    assert Exchange(**given | changed).stands_in == stands_in


# --- the tree ------------------------------------------------------------------------------------------


def test_the_tree_is_that_of_scipy():
    rng = np.random.default_rng(0)
    matrix = rng.uniform(size=(9, 9))
    np.fill_diagonal(matrix, 1.0)
    alike = (matrix + matrix.T) / 2
    expected = linkage(squareform(1 - alike, checks=False), "average")
    found = list(merge(tuple(range(9)), matrix))
    np.testing.assert_allclose([1 - height for _, _, height in found], expected[:, 2])
    assert [sorted(children) for children, _, _ in found] == [
        sorted(row) for row in expected[:, :2].astype(int).tolist()
    ]
    assert [len(below) for _, below, _ in found] == expected[:, 3].tolist()


def test_a_tree_has_a_node_less_than_leaves_and_prints(fitted):
    tree = fitted.tree_
    assert len(tree.nodes) == len(tree.leaves) - 1
    assert set(tree.order) == set(tree.leaves) and len(tree.order) == len(tree.leaves)
    assert is_valid_linkage(tree.linkage)
    assert all(a.dependence >= b.dependence - 1e-12 for a, b in zip(tree.nodes, tree.nodes[1:], strict=False))
    assert tree.nodes[-1].joint == 1.0  # without all, everything is lost
    assert len(str(tree).splitlines()) == len(tree.nodes) + 1
    names = [tree.names[i] for i in tree.leaves]
    assert {"length", "width", "weight", "red", "green", "alone"} <= set(names)
    assert not {"u", "v"} & set(names)  # related to nothing that is selected


def test_only_so_many_of_the_most_related_are_in_a_tree(monkeypatch):
    monkeypatch.setattr(tree_module, "MAX_LEAVES", 4)
    X, y = sizes()
    found = FIRST(max_factors=3).fit(X, y)
    assert len(found.tree_.leaves) == 4
    assert set(found.selected_) < set(found.tree_.leaves)


def test_one_factor_is_no_tree_and_none_is_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    assert FIRST().fit(X[:, :1], X[:, 0]).tree_ is None
    nothing = FIRST(rule="calibrated", random_state=0).fit(X, np.random.default_rng(5).normal(size=100))
    assert nothing.selected_.size == 0 and nothing.tree_ is None and nothing.clusters_ == ()
    assert np.isnan(nothing.alone_).all()  # a share of nothing
    assert set(nothing.explanations_.reasons) == {"lacks evidence"}
    assert all("not enough evidence (p = " in sentence for sentence in nothing.explanations_.sentences)


# --- alone ---------------------------------------------------------------------------------------------


def test_factors_that_explain_most_alone_have_intervals(monkeypatch):
    monkeypatch.setattr(sharing_module, "MOST_ALONE", 1)
    X, y = sizes()
    found = FIRST().fit(X, y)
    alone = found.indices_.sharing.alone
    known = np.isfinite(alone.standard_errors)
    assert set(np.flatnonzero(known)) == {*found.tree_.leaves, int(np.argmax(alone.values))}
    low, high = alone.interval()[known].T
    assert (low <= alone.values[known]).all() and (alone.values[known] <= high).all()
    np.testing.assert_array_equal(found.alone_, alone.values)


def test_what_is_explained_alone_is_a_share_from_0_to_1():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        found = FIRST().fit(rng.normal(size=(30, 6)), rng.normal(size=30))
        assert ((found.alone_ >= 0) & (found.alone_ <= 1)).all()


def test_an_exchange_costs_at_most_what_is_said():
    said = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x1, x2 = rng.normal(size=(2, 500))
        X = np.column_stack([x1, x2, 0.9 * x2 + 0.19**0.5 * rng.normal(size=500)])
        found = FIRST(rule="calibrated").fit(X, x1 + x2 + 0.5 * rng.normal(size=500))
        if sorted(found.selected_) == [0, 1]:
            said.append(found.indices_.sharing.exchanges[2].cost)
    assert len(said) > 15
    assert np.mean(np.array(said) >= 0.095) > 0.9  # (1 − 0.9²)/2 is the truth
    assert np.mean(said) < 0.2


def test_rounding_decides_neither_who_represents_nor_what_an_exchange_costs():
    X, y = mixed(150)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rows = rng.permutation(150)
        found = FIRST().fit(X.assign(copy=(1.1 + seed / 10) * X["size"]).iloc[rows, rng.permutation(6)], y[rows])
        (cluster,) = found.clusters_
        assert cluster.kept == (1.0, 1.0)
        assert cluster.positions[0] in found.selected_
        assert [exchange.cost for exchange in found.indices_.sharing.exchanges.values()] == [0.0]


def test_of_very_many_factors_some_rows_tell_which_are_related(monkeypatch):
    X, y = sizes()
    leaves = FIRST(max_factors=3).fit(X, y).tree_.leaves
    monkeypatch.setattr(tree_module, "VERY_MANY", 2)
    monkeypatch.setattr(tree_module, "FEW_ROWS", 100)
    assert FIRST(max_factors=3).fit(X, y).tree_.leaves == leaves
    monkeypatch.setattr(tree_module, "ROUGHLY_RELATED", 1.1)
    assert len(FIRST(max_factors=3).fit(X, y).tree_.leaves) == 3


def test_a_cut_takes_nothing_without_a_selected_factor():
    rng = np.random.default_rng(0)
    size, other, noise = rng.normal(size=(3, 500))
    related = 0.6 * size + 0.8 * other
    found = FIRST(max_factors=1, cluster_cut=0.8).fit(np.column_stack([size, related, related + 0.02 * noise]), size)
    assert found.selected_.tolist() == [0]
    assert max(found.tree_.nodes, key=lambda node: node.dependence).positions == (1, 2)
    assert found.clusters_ == ()


def test_all_selected_factors_together_are_no_cluster():
    """Each of four is nearly known from the others, and there is nothing else."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=2000)
    X = (common + 0.7 * rng.normal(size=(4, 2000))).T
    found = FIRST(forced=range(4), variance_estimator="extrapolated").fit(X, common)
    assert all(len(cluster.factors) < 4 for cluster in found.clusters_)


def test_a_factor_that_knows_half_of_another_does_not_stand_in_for_it():
    rng = np.random.default_rng(0)
    x1, x2, other = rng.normal(size=(3, 1000))
    X = np.column_stack([x1, x2, 0.75 * x2 + np.sqrt(1 - 0.75**2) * other])
    found = FIRST(max_factors=2).fit(X, x1 + x2)
    assert sorted(found.selected_.tolist()) == [0, 1] and 2 in found.tree_.leaves
    assert found.clusters_ == ()
    exchange = found.indices_.sharing.exchanges[2]
    assert exchange.kept == pytest.approx(0.56, abs=0.07) and not exchange.stands_in
    assert "stands in" not in found.explain("x2")


def test_fair_shares_of_a_cluster_add_up_to_what_there_is():
    rng = np.random.default_rng(45)
    X, y = rng.integers(0, 3, size=(12, 3)).astype(float), rng.normal(size=12)
    selector = FIRST(importance="shapley", cluster_cut=0.0, random_state=0).fit(X, y)
    assert selector.importances_.min() < 0
    assert selector.indices_.drivers[0].importance == pytest.approx(1)
