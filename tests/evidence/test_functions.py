"""Functions of a factor: uncorrelated, with mean 0 and mean square 1, from smooth to rough."""

import numpy as np
import pandas as pd
import pytest
from designs import read_design

from firstfactor._utils.threads import Workers
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


def naive_line(values):
    """Values, those beyond a quartile by more than three quartile distances drawn in, with mean 0 and mean square 1."""
    ascending = sorted(values)
    low, high = ascending[len(values) // 4], ascending[len(values) - 1 - len(values) // 4]
    reach = 3 * (high - low)
    line = np.array([min(max(value, low - reach), high + reach) for value in values])
    line = line - line.mean()
    return line / np.sqrt(np.mean(line**2))


def naive_functions(values, most=10):
    """The line of some values, then functions of ranks without it: the uncorrelated ones nearest to what they were."""
    line = naive_line(values)
    found = [line]
    left = np.array([f - np.mean(f * line) * line for f in smooth_functions(values, most)[1:].astype(float)])
    if len(left):
        variances, directions = np.linalg.eigh(left @ left.T / len(values))
        found += list(directions @ np.diag(variances**-0.5) @ directions.T @ left)
    return np.array(found)


SHAPES = {
    "normal": np.random.default_rng(1).normal(size=80),
    "skewed": np.random.default_rng(2).exponential(size=80) ** 2,
    "far out": np.r_[1e6, -50.0, np.random.default_rng(3).uniform(size=78)],
    "tied": np.random.default_rng(4).integers(0, 5, size=80) ** 2.0,
    "two values": (np.arange(80) % 3 > 0) * 1.0,
}


@pytest.mark.parametrize("values", SHAPES.values(), ids=SHAPES)
def test_functions_of_a_number_are_its_line_and_what_that_leaves_of_functions_of_ranks(values):
    found = functions_of(values[:, None])
    np.testing.assert_allclose(found.of(0), naive_functions(values), atol=1e-4)
    assert found.n_plain(0) == 1
    np.testing.assert_array_equal(found.plain(0), found.of(0)[:1])
    np.testing.assert_allclose(found.multiplied(0), smooth_functions(values, 10)[:2], atol=1e-6)


def test_values_far_out_do_not_make_the_line():
    values = SHAPES["far out"]
    line = functions_of(values[:, None]).of(0)[0]
    assert line[0] == line.max() < 6  # it would be about 9
    assert np.corrcoef(line[2:], values[2:])[0, 1] > 0.999
    assert np.corrcoef(np.clip(values, -50, 50), line)[0, 1] < 0.9


def test_most_values_alike_have_the_line_of_their_ranks():
    values = np.r_[np.zeros(70), np.arange(1.0, 11.0) ** 3]
    found = functions_of(values[:, None])
    np.testing.assert_allclose(found.of(0), smooth_functions(values, 10), atol=1e-6)
    assert found.n_plain(0) == 1


@pytest.mark.parametrize("rows", [79, 80, 81, 82])
def test_shifting_scaling_and_reversing_a_factor_changes_nothing_but_signs(rows):
    rng = np.random.default_rng(0)
    x = np.r_[rng.standard_cauchy(size=rows)][:, None]
    plain = functions_of(x).of(0)
    np.testing.assert_allclose(functions_of(70 * x - 3).of(0), plain, atol=1e-3)
    turned = functions_of(-x).of(0)
    signs = np.sign((turned * plain).sum(axis=1, keepdims=True))
    assert signs[0] == -1
    np.testing.assert_allclose(signs * turned, plain, atol=1e-3)


def test_beyond_their_lines_factors_are_seen_by_their_ranks():
    X = np.random.default_rng(0).normal(size=(60, 1))
    plain, other = functions_of(X), functions_of(np.exp(5 * X))
    np.testing.assert_array_equal(plain.multiplied(0), other.multiplied(0))
    assert np.corrcoef(plain.of(0)[0], other.of(0)[0])[0, 1] < 0.9


def test_columns_without_ties_share_their_functions_of_ranks_with_those_computed_for_each():
    X = np.random.default_rng(0).normal(size=(60, 3))
    found = functions_of(X)
    for j in range(3):
        np.testing.assert_allclose(found.multiplied(j), smooth_functions(X[:, j], 10)[:2], atol=1e-6)
        np.testing.assert_allclose(found.of(j), naive_functions(X[:, j]), atol=1e-4)


def test_all_levels_and_gaps_are_plain():
    found = functions_of(columns())
    plain = dict(zip(columns().columns, map(found.n_plain, range(7)), strict=True))
    assert plain == {
        "distinct": 1,
        "tied": 1,
        "skewed": 1,
        "missing": 2,
        "tied and missing": 2,
        "category": 4,
        "boolean": 1,
    }
    assert [len(found.multiplied(i)) for i in range(7)] == [2, 2, 2, 2, 2, 2, 1]
    assert len(found.plain(5, most=3)) == 3 and len(found.plain(5, most=9)) == 4
    np.testing.assert_array_equal(found.multiplied(3)[0], found.of(3)[0])  # whether a value is missing


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
    assert found.n_plain(0) == 3
    of_each = [naive_functions(X[name].to_numpy(), 8) for name in "abc"]
    expected = np.concatenate([each[:1] for each in of_each] + [each[1:] for each in of_each])
    np.testing.assert_allclose(found.of(0), expected, atol=1e-4)
    np.testing.assert_allclose(found.multiplied(0), smooth_functions(X["a"].to_numpy(), 8)[:2], atol=1e-6)
    wide = functions_of(pd.DataFrame(rng.normal(size=(80, 40))), factor_groups={"all": list(range(40))})
    assert len(wide.of(0)) == 40 * 2


def test_factors_of_large_tables_have_fewer_functions():
    X = np.random.default_rng(0).normal(size=(20, 101))
    assert functions_of(X).of(0).shape == (6, 20)
    assert functions_of(X[:, :100]).of(0).shape == (10, 20)
    assert [functions_of(X[:, :n]).are_few for n in (100, 101)] == [True, False]


def test_blocks_hold_factors_with_equally_many_functions_that_fit_into_a_cache(monkeypatch):
    X = columns().assign(more=columns()["category"].str.upper(), again=columns()["distinct"] ** 2)
    found = functions_of(X)
    each = {i: (len(found.of(i)), found.n_plain(i)) for i in range(9)}
    assert sorted(i for block in found.blocks(range(9)) for i in block) == list(range(9))
    for most in (1, 4 * ROWS, 8 * ROWS):
        monkeypatch.setattr(functions, "BLOCK", most)
        blocks = found.blocks([0, 1, 2, 4, 5, 6, 7, 8])
        assert sorted(i for block in blocks for i in block) == [0, 1, 2, 4, 5, 6, 7, 8]
        for block in blocks:
            assert len({each[i] for i in block}) == 1
            assert len(block) == 1 or len(block) * each[block[0]][0] * ROWS <= most
    assert each[4] == (4, 2) and each[5] == each[7] == (4, 4)
    assert (5, 7) in blocks and (4,) in blocks


def test_constant_factors_have_no_functions():
    found = functions_of(np.column_stack([np.ones(10), np.arange(10)]))
    assert found.of(1).shape == (9, 10)
    with pytest.raises(KeyError):
        found.of(0)
