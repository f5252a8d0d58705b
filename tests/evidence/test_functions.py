"""Functions of a factor: uncorrelated, with mean 0 and mean square 1, from smooth to rough."""

import numpy as np
import pandas as pd
import pytest

from firstfactor._utils.threads import Workers
from firstfactor.data.design import read_design
from firstfactor.evidence import functions
from firstfactor.evidence.functions import FactorFunctions, level_functions, smooth_functions

ROWS = 200


def columns(rows=ROWS):
    rng = np.random.default_rng(0)
    number = rng.normal(size=rows)
    return pd.DataFrame(
        {
            "distinct": number,
            "tied": rng.integers(0, 6, size=rows),
            "skewed": np.floor(rng.exponential(size=rows) * 3),
            "missing": np.where(rng.uniform(size=rows) < 0.3, np.nan, number),
            "tied and missing": np.where(rng.uniform(size=rows) < 0.1, np.nan, rng.integers(0, 4, size=rows)),
            "category": np.array(list("abcde"))[rng.choice(5, size=rows, p=[0.4, 0.3, 0.2, 0.07, 0.03])],
            "boolean": rng.uniform(size=rows) < 0.2,
        }
    )


def functions_of(X, **options):
    design = read_design(X, **options)
    return FactorFunctions(design, Workers(1))


def gram_schmidt(vectors):
    """Each vector minus its part along those before, with mean square 1."""
    done = []
    for vector in vectors:
        left = vector.astype(float)
        for _ in range(2):
            for other in done:
                left = left - np.mean(left * other) * other
        done.append(left / np.sqrt(np.mean(left**2)))
    return np.array(done)


@pytest.mark.parametrize("name", columns().columns)
def test_functions_are_uncorrelated_with_mean_0_and_mean_square_1(name):
    found = functions_of(columns()[[name]]).of(0).astype(float)
    np.testing.assert_allclose(found.mean(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(found @ found.T / ROWS, np.eye(len(found)), atol=1e-5)


@pytest.mark.parametrize("name", columns().columns)
def test_equal_values_have_equal_functions(name):
    values = columns()[name]
    found = functions_of(columns()[[name]]).of(0)
    for value in values.unique():
        rows = values.isna() if pd.isna(value) else values == value
        assert (found[:, rows] == found[:, rows][:, :1]).all()


@pytest.mark.parametrize(
    ("name", "number"),
    [("distinct", 10), ("tied", 5), ("missing", 11), ("tied and missing", 4), ("category", 4), ("boolean", 1)],
)
def test_there_are_as_many_functions_as_values_tell_apart_but_no_more_than_ten_of_a_number(name, number):
    assert len(functions_of(columns()[[name]]).of(0)) == number


def test_smooth_functions_are_a_line_a_parabola_and_cosines_made_orthogonal():
    for values in (np.arange(50.0), np.random.default_rng(1).integers(0, 30, size=100)):
        rank = np.array([np.mean(values < v) + np.mean(values == v) / 2 for v in values])
        raw = [np.ones(values.size), rank, rank**2, *(np.cos(np.pi * k * rank) for k in (1, 2, 3))]
        expected = gram_schmidt(raw)[1:]
        ours = smooth_functions(values, 5)
        signs = np.sign((ours * expected).sum(axis=1, keepdims=True))
        np.testing.assert_allclose(ours * signs, expected, atol=1e-5)


def test_of_two_values_there_is_one_function_and_of_one_value_none():
    assert smooth_functions(np.array([3.0, 1.0, 3.0, 1.0, 1.0]), 10).shape == (1, 5)
    assert smooth_functions(np.full(5, 7.0), 10).shape == (0, 5)


def test_functions_see_ranks_only():
    X = np.random.default_rng(0).normal(size=(60, 1))
    np.testing.assert_array_equal(functions_of(X).of(0), functions_of(np.exp(5 * X)).of(0))


def test_columns_without_ties_share_their_functions_with_those_computed_for_each():
    X = np.random.default_rng(0).normal(size=(60, 3))
    found = functions_of(X)
    for j in range(3):
        np.testing.assert_allclose(found.of(j), smooth_functions(X[:, j], 10), atol=1e-6)


@pytest.mark.parametrize("rows", [2, 3, 5, 10])
def test_few_rows_have_fewer_functions(rows):
    assert functions_of(np.arange(rows)[:, None] ** 2.0).of(0).shape == (rows - 1, rows)


def test_levels_are_contrasted_with_rarer_ones():
    levels = np.repeat([3.0, 1.0, 2.0], [2, 5, 3])
    found = level_functions(levels, 100)
    by_frequency = [1.0, 2.0, 3.0]
    np.testing.assert_allclose(found, gram_schmidt([np.ones(10), *(levels == v for v in by_frequency[:2])])[1:], 1e-5)
    assert (found[1][levels == 1.0] == 0).all()


def test_the_rarest_levels_are_taken_together():
    levels = np.repeat(np.arange(6.0), [9, 8, 7, 3, 2, 1])
    found = level_functions(levels, 4)
    assert len(found) == 3
    assert np.unique(found[:, levels >= 3], axis=1).shape[1] == 1
    np.testing.assert_allclose(found @ found.T / levels.size, np.eye(3), atol=1e-5)


def test_a_missing_value_has_a_function_of_its_own_and_none_of_the_others():
    found, missing = functions_of(columns()[["missing"]]).of(0), columns()["missing"].isna()
    assert np.unique(found[0]).size == 2
    assert (found[1:, missing] == 0).all()
    assert (found[1:, ~missing] != 0).any(axis=1).all()


def test_only_whether_there_is_a_value_is_known():
    X = pd.DataFrame({"a": np.where(np.arange(30) % 3 == 0, np.nan, 5.0)})
    assert functions_of(X).of(0).shape == (1, 30)


def test_factors_of_several_columns_have_the_functions_of_each():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 5)), columns=list("abcde"))
    found = functions_of(X, factor_groups={"abc": ["a", "b", "c"]})
    assert len(found.of(0)) == 3 * 8  # about 24 in all
    np.testing.assert_allclose(found.of(0)[8:16], smooth_functions(X["b"].to_numpy(), 8), atol=1e-6)
    wide = functions_of(pd.DataFrame(rng.normal(size=(80, 40))), factor_groups={"all": list(range(40))})
    assert len(wide.of(0)) == 40 * 2


def test_factors_of_large_tables_have_fewer_functions():
    X = np.random.default_rng(0).normal(size=(20, 101))
    assert functions_of(X).of(0).shape == (6, 20)
    assert functions_of(X[:, :100]).of(0).shape == (10, 20)
    assert [functions_of(X[:, :n]).are_few for n in (100, 101)] == [True, False]


def test_blocks_hold_factors_with_equally_many_functions_that_fit_into_a_cache(monkeypatch):
    found = functions_of(columns())
    each = {i: len(found.of(i)) for i in range(7)}
    assert sorted(i for block in found.blocks(range(7)) for i in block) == list(range(7))
    for most in (1, 4 * ROWS, 8 * ROWS):
        monkeypatch.setattr(functions, "BLOCK", most)
        blocks = found.blocks([0, 1, 2, 4, 5, 6])
        assert sorted(i for block in blocks for i in block) == [0, 1, 2, 4, 5, 6]
        for block in blocks:
            assert len({each[i] for i in block}) == 1
            assert len(block) == 1 or len(block) * each[block[0]] * ROWS <= most
    assert (4, 5) in blocks  # both have 4


def test_constant_factors_have_no_functions():
    found = functions_of(np.column_stack([np.ones(10), np.arange(10)]))
    assert found.of(1).shape == (9, 10)
    with pytest.raises(KeyError):
        found.of(0)
