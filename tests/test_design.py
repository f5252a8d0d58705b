import datetime
import decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from tables import mixed

from firstfactor.design import read_design


def test_numbers_are_standardised_up_to_a_shift():
    X = np.random.default_rng(0).gamma(2.0, size=(50, 3)) * [1, 1e-9, 1e9]
    design = read_design(X)
    for table in (X, np.asfortranarray(X), pd.DataFrame(X), X.astype(np.float32)):
        assert read_design(table).values.flags.c_contiguous
    np.testing.assert_allclose(design.values - design.values.mean(0), (X - X.mean(0)) / X.std(0, ddof=1), atol=1e-12)


def test_without_scaling_distances_keep_their_ratio():
    X = np.array([[0.0, 10.0], [3.0, 30.0], [7.0, 20.0]])
    design = read_design(pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": list("uvu")}), scale=False)
    squared = (design.values[0, :2] - design.values[1, :2]) ** 2
    assert squared[1] / squared[0] == pytest.approx(400 / 9)
    assert design.caps[2] / squared[0] == pytest.approx(2 / 9)
    assert np.isinf(design.caps[:2]).all()


def test_tables_of_all_makes_read_alike():
    X, _ = mixed(30)
    ref = read_design(X)
    assert ref.names == ("size", "load", "make", "wet", "count")
    assert ref.categorical.tolist() == [False, False, True, True, False]
    lists = X.to_numpy(dtype=object).tolist()
    for table in (pl.from_pandas(X), pa.Table.from_pandas(X), nw.from_native(X), X.astype(object), lists):
        comp = read_design(table)
        assert comp.categorical.tolist() == ref.categorical.tolist()
        np.testing.assert_array_equal(comp.values, ref.values)
    assert read_design(lists).names == ("x0", "x1", "x2", "x3", "x4")


@pytest.mark.parametrize("dtype", ["category", "string"])
def test_pandas_text_types_are_categories(dtype):
    design = read_design(pd.DataFrame({"a": pd.Series(list("xyx"), dtype=dtype)}))
    assert design.categorical.all()
    a, b, c = design.values.ravel()
    assert a == c
    assert (a - b) ** 2 > design.caps[0] == 2


def test_other_number_types_are_numbers():
    X = pd.DataFrame(
        {"nullable": pd.array([1, 2, 4], dtype="Int64"), "decimal": [decimal.Decimal(n) for n in (1, 2, 4)]}
    )
    design = read_design(X)
    assert not design.categorical.any()
    np.testing.assert_allclose(design.values[:, 0], design.values[:, 1])
    polars = pl.DataFrame({"d": [1, 2, 4]}, schema={"d": pl.Decimal(10, 2)})
    np.testing.assert_allclose(read_design(polars).values[:, 0], design.values[:, 0])


@pytest.mark.parametrize("categorical", [["count"], [4], "count", 4, np.array([False] * 4 + [True])])
def test_categorical_overrides(categorical):
    X, _ = mixed(30)
    assert read_design(X, categorical).categorical.tolist() == [False, False, True, True, True]


def test_numbers_as_text_can_be_declared_labels():
    design = read_design(pd.DataFrame({"zip": ["30332", "10001", "30332"]}), categorical=["zip"])
    assert design.categorical.all()


def test_the_input_is_not_modified():
    X = np.random.default_rng(0).normal(size=(20, 3))
    before = X.copy()
    X.setflags(write=False)
    read_design(X)
    read_design(np.asfortranarray(X), scale=False)
    np.testing.assert_array_equal(X, before)


def test_constant_columns_are_told():
    X = pd.DataFrame({"a": [1.0, 2, 3], "b": [5.0] * 3, "c": ["u"] * 3, "d": [-1e300] * 3, "e": [True] * 3})
    design = read_design(X)
    assert design.constant.tolist() == [False, True, True, True, True]
    assert design.varying == (0,)


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_extreme_units_keep_their_digits(size):
    X = np.random.default_rng(0).normal(size=(40, 2))
    scaled, ref = (np.diff(read_design(table).values, axis=0) for table in (size * X, X))
    np.testing.assert_allclose(scaled, ref, rtol=1e-9)
    plain, ref = (np.diff(table, axis=0) for table in (read_design(size * X, scale=False).values, X))
    np.testing.assert_allclose(plain[:, 0] / plain[:, 1], ref[:, 0] / ref[:, 1], rtol=1e-9)


@pytest.mark.parametrize("offset", [1e15, -1e15, 2**52])
def test_a_small_spread_on_a_large_offset_keeps_its_digits(offset):
    steps = np.array([0.0, 1, 2, 5, 3])
    values = read_design((offset + steps)[:, None]).values[:, 0]
    np.testing.assert_allclose(values - values[0], steps / steps.std(ddof=1), rtol=1e-15)


@pytest.mark.parametrize(
    ("integers", "steps"),
    [
        (np.array([2**62, 2**62 + 1, 2**62 + 3]), [0, 1, 3]),
        (np.array([-(2**62) - 3, -(2**62), -(2**62) - 1]), [0, 3, 2]),
        (np.array([2**63, 2**63 + 1, 2**63 + 3], dtype=np.uint64), [0, 1, 3]),
    ],
)
def test_integers_beyond_float64_keep_their_differences(integers, steps):
    values = read_design(integers[:, None]).values[:, 0]
    np.testing.assert_allclose(values - values[0], np.array(steps) / np.std(steps, ddof=1), rtol=1e-15)


def table(**columns):
    return pd.DataFrame({"fine": [1.0, 2.0, 3.0], **columns})


DATE = pd.date_range("2020-01-01", periods=3)
FRAME = table()


@pytest.mark.parametrize(
    ("X", "kind", "message"),
    [
        (
            table(bad=[1.0, np.nan, 3.0]),
            ValueError,
            r"column 'bad' of X contains NaN \(row 1\).*not supported yet",
        ),
        (table(bad=[1.0, 2.0, None]), ValueError, r"column 'bad' of X contains NaN \(row 2\)"),
        (table(bad=["u", None, "v"]), ValueError, r"column 'bad' of X contains NaN \(row 1\)"),
        (
            table(bad=pd.Categorical(["u", None, "v"])),
            ValueError,
            r"column 'bad' of X contains NaN \(row 1\)",
        ),
        (pl.DataFrame({"bad": [1.0, None]}), ValueError, r"column 'bad' of X contains NaN \(row 1\)"),
        (pl.DataFrame({"bad": [1.0, float("nan")]}), ValueError, r"column 'bad' of X contains NaN \(row 1\)"),
        (np.array([[1, None], [2, 3]], dtype=object), ValueError, r"column 'x1' of X contains NaN \(row 0\)"),
        (table(bad=[1.0, 2.0, -np.inf]), ValueError, r"column 'bad' of X contains infinity \(row 2\)"),
        (np.full((3, 1), np.inf), ValueError, r"column 'x0' of X contains infinity \(row 0\)"),
        (table(bad=DATE), TypeError, "column 'bad' of X holds dates or times. Turn it into numbers"),
        (table(bad=DATE.date), TypeError, "column 'bad' of X holds dates or times"),
        (
            np.array([["2020-01-01"], ["2020-01-02"]], dtype="M8[D]"),
            TypeError,
            "'x0' of X holds dates or times",
        ),
        (table(bad=[datetime.timedelta(i) for i in range(3)]), TypeError, "'bad' of X holds dates or times"),
        (
            table(bad=["1", "2.5", "3e4"]),
            ValueError,
            r"'bad' of X holds numbers written as text \(such as '1'\)",
        ),
        (table(bad=[1, "a", 2]), TypeError, "'bad' of X must hold values of one kind.*got int, str"),
        (table(bad=[{}, {}, {}]), TypeError, "'bad' of X must hold values of one kind.*got dict"),
        (
            pl.DataFrame({"bad": [[1], [2]]}),
            TypeError,
            "'bad' of X must hold numbers, text or categories; got List",
        ),
        (np.ones(3), ValueError, r"X must be 2-dimensional, rows by factors; got 1 dimension\(s\). Reshape"),
        (np.ones((2, 2, 2)), ValueError, "got 3 dimension"),
        ([[1, 2], [3]], ValueError, "X must be a table: every row needs the same number of values"),
        (np.ones((3, 0)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
        (np.ones((1, 3)), ValueError, "X must have at least 2 rows; got n_samples = 1"),
        (FRAME.iloc[:0], ValueError, "X must have at least 2 rows; got n_samples = 0"),
        (np.ones((2, 2)) * 1j, ValueError, "Complex data not supported"),
        (scipy.sparse.eye(3), TypeError, r"X must be dense: sparse data is not supported. Use X.toarray\(\)"),
        (pl.LazyFrame({"a": [1, 2]}), TypeError, "X must be a table in memory; got a lazy one"),
        (
            pd.concat([FRAME, FRAME], axis=1),
            ValueError,
            "X must have distinct column names; repeated: 'fine'",
        ),
        (
            pa.table([[1, 2], [3, 4]], names=["a", "a"]),
            ValueError,
            "X must have distinct column names; repeated: 'a'",
        ),
        (
            table(bad=[1e300, 1.0, 2.0]),
            ValueError,
            "'bad' of X has values more than 130 orders of magnitude apart",
        ),
    ],
)
def test_refused_with_a_clear_error(X, kind, message):
    with pytest.raises(kind, match=message):
        read_design(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"categorical": ["colour"]},
            "categorical must name columns of X; there is no column 'colour'.*'fine'",
        ),
        ({"categorical": [7]}, "categorical must hold column names or positions from 0 to 0; got 7"),
        ({"categorical": [-1]}, "positions from 0 to 0; got -1"),
        ({"categorical": 1.5}, "positions from 0 to 0; got 1.5"),
        (
            {"categorical": [True, False]},
            r"categorical as a mask must have one entry per factor \(1\); got 2",
        ),
        ({"scale": "yes"}, "scale must be True or False; got 'yes'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        read_design(FRAME, **options)


def test_units_too_far_apart_to_share():
    X = pd.DataFrame({"huge": [1e200, 2e200, 4e200], "small": [1.0, 2.0, 4.0]})
    read_design(X)
    with pytest.raises(ValueError, match=r"'small' of X has values.*scale=True"):
        read_design(X, scale=False)
    with pytest.raises(ValueError, match="scale=False mixes categories with numbers"):
        read_design(X[["huge"]].assign(label=list("abb")), scale=False)
