"""Outer rows, halves and parts of a table."""

import numpy as np
import pytest
from sample_tables import friedman, mixed

from firstfactor import FIRST
from firstfactor.settings import Options
from firstfactor.variance.conditional import draw_halves, halves, open_variances
from firstfactor.variance.extrapolated import ExtrapolatedSearch


def outer_rows(X, y, n_outer, **options):
    with open_variances(X, y, Options(n_outer=n_outer, random_state=1, **options)) as variances:
        return variances.search.outer.tolist()


def twins(X, y):
    return outer_rows(X, y, 40, subsample="twinning")


def test_twins_are_alike_in_factors_and_response():
    pytest.importorskip("twinning", reason="drawing twins needs the extra twinning")
    (X, y), (other_X, other_y) = friedman(120, seed=0), friedman(120, seed=1)
    assert len(set(twins(X, y))) == 40
    assert twins(X, y) == twins(X, y)
    assert twins(X, y) != twins(other_X, y)
    assert twins(X, y) != twins(X, other_y)


def test_twins_do_not_depend_on_the_order_of_levels():
    pytest.importorskip("twinning", reason="drawing twins needs the extra twinning")
    X, y = mixed(120)
    renamed = X.assign(make=X["make"].map({"ash": 2, "elm": 0, "oak": 1}), wet=~X["wet"])
    numbered = X.assign(make=X["make"].map({"ash": 0, "elm": 1, "oak": 2}))
    assert outer_rows(renamed, y, 40, subsample="twinning", categorical=["make"]) == outer_rows(
        numbered, y, 40, subsample="twinning", categorical=["make"]
    )


@pytest.mark.parametrize(
    ("n_outer", "size"), [(None, 50), (1.0, 50), (50, 50), (0.5, 25), (7, 7), (1, 1), (0.001, 1), (0.05, 2)]
)
def test_how_many_outer_rows(n_outer, size):
    rows = outer_rows(*friedman(50), n_outer)
    assert len(rows) == len(set(rows)) == size


@pytest.mark.parametrize("classes", [False, True])
def test_halves_share_out_all_rows_and_classes(classes):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(100.0), rng.normal(size=100)])
    y = np.arange(100) % 10 == 0 if classes else rng.normal(size=100)
    for seed in range(5):
        with open_variances(X, y, Options(random_state=seed)) as variances:
            parts = halves(variances)
            order = np.argsort(variances.design.values[:, 0])
            rows = [np.searchsorted(variances.design.values[order, 0], part.design.values[:, 0]) for part in parts]
        assert [len(part) for part in rows] == [50, 50]
        assert sorted(np.concatenate(rows)) == list(range(100))
        if classes:
            assert [int(y[part].sum()) for part in rows] == [5, 5]


def test_halves_keep_groups_together_and_have_as_many_of_them():
    X, y = friedman(120)
    groups = np.arange(120) // 8
    for seed in range(5):
        with open_variances(X, y, Options(random_state=seed), groups=groups) as variances:
            first, second = draw_halves(variances.rng, variances.response, variances.search.groups)
        assert sorted(np.concatenate([first, second])) == list(range(120))
        assert not set(groups[first]) & set(groups[second])
        assert (len(set(groups[first])), len(set(groups[second]))) == (8, 7)
        assert (np.diff(first) > 0).all() and (np.diff(second) > 0).all()


def test_parts_are_estimated_as_the_whole_is():
    X, y = friedman(200)
    with open_variances(X, y, Options(variance_estimator="extrapolated", random_state=0)) as variances:
        half = halves(variances)[0]
        assert half.of([0, 6]) == ExtrapolatedSearch(half.search).one([0, 6]) != half.search.one([0, 6])


def test_classes_have_three_neighbours_and_numbers_two():
    X, y = friedman(50)
    for response, expected in ((y, 2), (y > 0, 3)):
        with open_variances(X, response, Options()) as variances:
            assert variances.search.n_neighbors == expected


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_of_the_response_change_no_selection(unit):
    X, y = friedman(100)
    X = np.column_stack([X, 5 - 3 * X[:, 0]])
    np.testing.assert_array_equal(FIRST().fit(X, unit * y).support_, FIRST().fit(X, y).support_)


def test_constant_factors_explain_nothing():
    X, y = friedman(60)
    X[:, 3] = 2.5
    with open_variances(X, y, Options()) as variances:
        assert variances.of([3]) == variances.response.variance
        assert variances.of([0, 3, 6]) == variances.of([0, 6])
        assert variances.plus_each([3, 6], [0]) == variances.plus_each([6], [0])
