"""Rows that follow each other: found in series, not in tables that are shuffled or sorted."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sample_tables import friedman
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from firstfactor import FIRST, DataQualityWarning, rank, total_indices
from firstfactor.inference.row_order import fit_other_blocks, rank_correlation
from firstfactor.settings import Options
from firstfactor.variance.conditional import open_variances


def series(rng, rows, columns=1, memory=0.9):
    """Columns in which each row has something of the one before."""
    values = rng.normal(size=(rows, columns))
    for i in range(1, rows):
        values[i] = memory * values[i - 1] + np.sqrt(1 - memory**2) * values[i]
    return values


def order_found(X, y, result=None, **options):
    """What is said about the order of rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = FIRST(**options).fit(X, y).indices_ if result is None else result(X, y)
    return [one for one in found.findings if one.kind == "order"]


@pytest.mark.parametrize("rows", [200, 1000])
@pytest.mark.parametrize("options", [{}, {"split": True, "random_state": 0}])
def test_series_are_found_whether_factors_are_series_or_not(rows, options):
    rng = np.random.default_rng(0)
    for _ in range(3):
        assert order_found(series(rng, rows, 4), series(rng, rows)[:, 0], **options)
        X = rng.normal(size=(rows, 4))
        (found,) = order_found(X, X[:, 0] + X[:, 1] ** 2 + series(rng, rows)[:, 0], **options)
        assert found.count == rows and "alike beyond what the factors explain (correlation 0." in found.sentence


def test_rows_of_a_block_are_no_neighbours():
    """Where all factors change slowly, the nearest rows are those next in time, which would explain the series."""
    left = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        with open_variances(series(rng, 500, 5, memory=0.99), series(rng, 500)[:, 0], Options()) as variances:
            left.append(rank_correlation(fit_other_blocks(variances.search, range(5))))
    assert np.mean(left) > 0.45  # about 0.3 if they were


def test_several_outputs_and_classes_are_series_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    assert order_found(X, series(rng, 500, 2))
    assert order_found(X, series(rng, 500)[:, 0] > 0)
    assert order_found(X, np.array(["a", "b", "c"])[np.digitize(series(rng, 500)[:, 0], [-0.5, 0.5])])
    assert not order_found(X, rng.normal(size=(500, 2)))


def test_a_long_table_is_looked_at_in_part():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 2))
    (found,) = order_found(X, X[:, 0] + np.repeat(rng.normal(size=300), 100), n_outer=200, random_state=0)
    assert found.count == 2000


def test_tables_in_no_order_get_no_word():
    rng = np.random.default_rng(1)
    for rows in (60, 200, 1000):
        for _ in range(20):
            X = rng.normal(size=(rows, 3))
            assert not order_found(X, X[:, 0] + rng.standard_t(2, size=rows))
    y = series(rng, 500)[:, 0]
    assert order_found(X[:500], y) and not order_found(X[:500], rng.permutation(y))


def test_what_the_factors_explain_is_no_order():
    """The response follows because a selected factor does."""
    rng = np.random.default_rng(2)
    for rows in (300, 1000):
        X = np.column_stack([series(rng, rows), rng.normal(size=(rows, 2))])
        y = 2 * X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=rows)
        assert not order_found(X, y)
        assert order_found(X[:, 1:], y)


@pytest.mark.parametrize("rows", [60, 150, 400, 1000])
@pytest.mark.parametrize("function", [lambda x: 3 * x, lambda x: np.sin(6 * x), lambda x: 1.0 * (x > 0.4)])
@pytest.mark.parametrize("noise", [0, 0.02, 0.3])
def test_a_table_sorted_by_a_factor_is_in_no_order_of_time(rows, function, noise):
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(size=rows))
    X = np.column_stack([x, rng.normal(size=rows)])
    assert not order_found(X, function(x) + noise * rng.normal(size=rows))
    assert not order_found(X[::-1], function(x) + noise * rng.normal(size=rows)[::-1])


def test_a_designed_grid_is_in_no_order_of_time():
    rng = np.random.default_rng(0)
    X = np.array([(a, b) for a in range(30) for b in range(20)], float)
    for noise in (0, 0.01, 0.1):
        assert not order_found(X, np.sin(X[:, 0] / 5) * np.cos(X[:, 1] / 4) + noise * rng.normal(size=600))


def test_a_series_with_its_dates_is_still_one():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=700), "x": rng.normal(size=700)})
    assert order_found(X, X["x"] + 2 * series(rng, 700, memory=0.8)[:, 0])


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("labels", ["abc", "bca"])
def test_a_table_sorted_by_class_is_in_no_order_of_time(load, labels):
    X, y = load(return_X_y=True)
    assert not order_found(X, np.array(list(labels))[y])
    assert not order_found(X, np.array(list(labels))[y], total_indices)


def test_a_table_sorted_by_the_response_is_in_no_order_of_time():
    X, y = load_diabetes(return_X_y=True)
    assert not order_found(X, y)
    up = np.argsort(y)
    for order in (up, up[::-1], np.concatenate([up[::2], up[1::2]])):  # the last one: sorted by another column first
        assert not order_found(X[order], y[order])


def test_a_table_of_counts_is_in_no_order_of_time():
    rng = np.random.default_rng(0)
    cells = [(a, b) for a in range(3) for b in "xyz" for _ in range(rng.integers(20, 90))]
    X = pd.DataFrame(cells, columns=["a", "b"])
    y = (rng.random(len(X)) < 0.2 + 0.2 * X["a"]).to_numpy()
    order = np.lexsort((y, X["b"], X["a"]))
    assert not order_found(X.iloc[order], y[order])
    blocks = np.repeat(rng.random(len(X) // 20 + 1) < 0.5, 20)[: len(X)]  # the same factors, but a series
    assert order_found(X, blocks)


def test_groups_mend_it():
    rng = np.random.default_rng(0)
    X, y = series(rng, 400, 3), series(rng, 400)[:, 0]
    with pytest.warns(DataQualityWarning, match=r"Use blocks of rows, such as one for each month, .* as groups=\.$"):
        FIRST().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataQualityWarning)
        FIRST().fit(X, y, groups=np.arange(400) // 20)


def test_total_indices_say_it_too():
    rng = np.random.default_rng(0)
    assert order_found(rng.normal(size=(300, 4)), series(rng, 300)[:, 0], total_indices)
    assert not order_found(*friedman(300), total_indices)


def test_the_command_says_what_to_type(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(series(rng, 300, 4), columns=["a", "b", "c", "y"])
    with pytest.warns(DataQualityWarning):
        ranking = rank(table, "y")
    (found,) = ranking.indices.findings
    assert found.kind == "order" and found.command_advice.endswith("that one shares little with the next.")
    assert "Use --groups with a column" in found.command_advice
    ranking.report(tmp_path / "page.html")
    assert "alike beyond what the factors explain" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert '"kind": "order"' in ranking.to_json()


def test_a_table_with_the_zeros_last_is_no_series_in_time():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(400, 3))
    visits = np.sort(rng.random(400) < 0.5)[::-1] * np.exp(x[:, 0] + rng.normal(size=400))
    assert not order_found(x, visits)
    hours = np.where(np.arange(400) < 200, 8 + series(rng, 400)[:, 0], 0.0)
    assert order_found(x, hours)  # within the rows that are not 0, it is one
