import datetime
import decimal
import re

import naive
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from designs import read_design
from sample_tables import as_lists, mixed

from firstfactor.data.encoding import FAR, LARGEST
from firstfactor.neighbors.kernels.neighbor_list import INCOMPARABLE


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


def test_euclidean_points_have_the_distances_of_the_rows():
    X, _ = mixed(30)
    points = read_design(X.assign(same=1.0)).euclidean()
    columns = naive.standardise(as_lists(X))
    expected = [[naive.distance(columns, range(5), m, n) for n in range(30)] for m in range(30)]
    np.testing.assert_allclose(np.linalg.norm(points[:, None] - points, axis=2), expected, atol=1e-9)


def test_factors_can_be_constant_in_some_rows():
    design = read_design(np.column_stack([[1.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0]]))
    assert design.varying == (0, 1)
    part = design.on_rows(np.array([0, 1]))
    assert part.constant.tolist() == [True, False]
    np.testing.assert_array_equal(part.values, design.values[:2])


def test_factors_are_located_once_and_in_the_order_of_the_table():
    design = read_design(mixed(30)[0])
    assert design.locate("subset", ["count", "size", "count"]) == (0, 4)
    assert design.locate("subset", [4, 0, 0]) == (0, 4)


def test_only_whole_numbers_have_a_span():
    spans = read_design(mixed(30)[0]).spans
    assert spans[4] == 5
    assert np.isnan(spans[:4]).all()


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_extreme_units_keep_their_digits(size):
    X = np.random.default_rng(0).normal(size=(40, 2))
    scaled, ref = (np.diff(read_design(table).values, axis=0) for table in (size * X, X))
    np.testing.assert_allclose(scaled, ref, rtol=1e-9)
    plain, ref = (np.diff(table, axis=0) for table in (read_design(size * X, scale=False).values, X))
    np.testing.assert_allclose(plain[:, 0] / plain[:, 1], ref[:, 0] / ref[:, 1], rtol=1e-9)


def test_whole_numbers_of_both_signs_may_be_as_large_as_can_be():
    assert read_design(np.array([[-1.7e308], [1.7e308], [1e308]])).kinds == ("number",)


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


LARGE = [2**60, 2**60 + 1, 2**60 + 3]


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"n": LARGE}),
        pd.DataFrame({"n": pd.array(LARGE, dtype="Int64")}),
        pd.DataFrame({"n": pd.array(LARGE, dtype="uint64[pyarrow]")}),
        pd.DataFrame({"n": pd.Series(LARGE, dtype=object)}),
        pd.DataFrame({"n": [2**100, 2**100 + 1, 2**100 + 3]}),
        pd.DataFrame({"n": [decimal.Decimal(n) for n in LARGE]}),
        pd.DataFrame({"n": [2.0**60, decimal.Decimal(2**60 + 1), 2**60 + 3]}),
        pl.DataFrame({"n": LARGE}, schema={"n": pl.Int128}),
        pl.DataFrame({"n": [2**100, 2**100 + 1, 2**100 + 3]}, schema={"n": pl.UInt128}),
        pl.DataFrame({"n": LARGE}, schema={"n": pl.Decimal(38, 4)}),
        pa.table({"n": pa.array([decimal.Decimal(n) for n in LARGE], pa.decimal128(38, 2))}),
        pa.table({"n": pa.array([decimal.Decimal(n) for n in LARGE], pa.decimal256(60, 2))}),
        np.array([[n] for n in LARGE], dtype=object),
        [[n] for n in LARGE],
        [[n, 0.5] for n in LARGE],
    ],
)
def test_counters_beyond_float64_keep_their_differences_whatever_their_type(X):
    values = read_design(X).values[:, 0]
    np.testing.assert_allclose(values - values[0], np.array([0, 1, 3]) / np.std([0, 1, 3], ddof=1), rtol=1e-15)


def test_large_numbers_keep_their_labels_as_categories():
    design = read_design(pl.DataFrame({"n": LARGE}, schema={"n": pl.Int128}), categorical=["n"])
    assert design.categorical.all() and len(set(design.values[:, 0])) == 3


@pytest.mark.parametrize(
    "column",
    [
        pd.array([1, 2, 4], dtype="Int8"),
        pd.array([1, 2, 4], dtype="Float64"),
        pd.array([1, 2, 4], dtype="int64[pyarrow]"),
        pd.arrays.SparseArray([1, 2, 4]),
        pd.arrays.SparseArray([1.0, 2.0, 4.0], fill_value=1.0),
        np.array([1, 2, 4], dtype=np.longdouble),
        np.array([1, 2, 4], dtype=np.float16),
    ],
)
def test_nullable_arrow_and_sparse_numbers_are_numbers(column):
    design = read_design(pd.DataFrame({"a": column}))
    assert design.kinds == ("number",)
    np.testing.assert_allclose(
        design.values[:, 0] - design.values[0, 0], np.array([0, 1, 3]) / np.std([1, 2, 4], ddof=1)
    )


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(list("uvu"), categories=list("zvyu")),
        pd.Categorical([7, 3, 7]),
        pd.array(list("uvu"), dtype="string[pyarrow]"),
        pd.array(list("uvu"), dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
        pd.array([True, False, True], dtype="boolean"),
        pd.array([True, False, True], dtype="bool[pyarrow]"),
    ],
)
def test_other_categories_have_the_levels_they_use(column):
    design = read_design(pd.DataFrame({"a": column}))
    a, b, c = design.values[:, 0]
    assert design.kinds == ("category",) and a == c != b


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(list("uvz"), categories=list("zvyu"), ordered=True)),
        pl.Series(list("uvz"), dtype=pl.Enum(list("zvyu"))),
    ],
)
def test_ordered_categories_are_numbers_at_their_ranks(column):
    frame = pl.DataFrame({"a": column}) if isinstance(column, pl.Series) else pd.DataFrame({"a": column})
    design = read_design(frame)
    assert design.kinds == ("ordered",) and np.isinf(design.caps).all()
    np.testing.assert_allclose(np.diff(design.values[:, 0]), np.diff([3, 1, 0]) / np.std([3, 1, 0], ddof=1))
    assert read_design(frame, categorical=["a"]).kinds == ("category",)


DAYS = [datetime.date(2024, 2, 28), datetime.date(2024, 3, 1), datetime.date(2024, 3, 4)]
MOMENTS = [datetime.datetime(2024, 2, 28, 12), datetime.datetime(2024, 3, 1, 12), datetime.datetime(2024, 3, 4, 12)]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.to_datetime(DAYS)),
        pd.Series(pd.to_datetime(MOMENTS)).dt.tz_localize("Asia/Tokyo"),
        pd.Series(DAYS, dtype=object),
        pd.Series([moment.replace(tzinfo=datetime.UTC) for moment in MOMENTS], dtype=object),
        pl.Series(DAYS),
        pl.Series(MOMENTS, dtype=pl.Datetime("ms", "UTC")),
        pl.Series([datetime.timedelta(days) for days in (0, 2, 5)]),
        pd.Series([datetime.timedelta(days) for days in (0, 2, 5)]),
        pd.Series([datetime.timedelta(days) for days in (0, 2, 5)], dtype=object),
        np.array(DAYS, dtype="M8[D]"),
        np.array([0, 2, 5], dtype="m8[D]"),
    ],
)
def test_dates_are_numbers_of_days(column):
    X = column[:, None] if isinstance(column, np.ndarray) else pd.DataFrame({"a": column})
    X = pl.DataFrame({"a": column}) if isinstance(column, pl.Series) else X
    design = read_design(X, scale={0: 1.0})
    assert design.kinds == ("date",)
    np.testing.assert_allclose(design.values[:, 0] - design.values[0, 0], [0, 2, 5])


@pytest.mark.parametrize("column", [pl.Series, lambda times: pd.Series(times, dtype=object)])
def test_times_of_day_are_parts_of_a_day(column):
    times = column([datetime.time(6), datetime.time(12, 30), datetime.time(18)])
    frame = pl.DataFrame({"a": times}) if isinstance(times, pl.Series) else pd.DataFrame({"a": times})
    values = read_design(frame, scale={"a": 1 / 24}).values[:, 0]
    np.testing.assert_allclose(values - values[0], [0, 6.5, 12])


@pytest.mark.parametrize("dtype", [float, int, "M8[D]", bool, object])
def test_masked_values_are_missing(dtype):
    hidden = np.ma.array(np.array([[0, 1], [1, 0], [0, 1]]).astype(dtype), mask=[[0, 0], [0, 1], [0, 1]])
    assert read_design(hidden).n_missing.tolist() == [0, 2]


def test_missing_values_can_be_refused_and_are_counted_in_every_column():
    gaps = {f"g{j}": [1.0 if i >= j else None for i in range(20)] for j in range(13)}
    message = (
        "X contains NaN in 12 columns (rows): 'g12' (12), 'g11' (11), 'g10' (10), 'g9' (9), 'g8' (8), 'g7' (7), "
        "'g6' (6), 'g5' (5), 'g4' (4), 'g3' (3) and 2 more. Use missing=\"level\" to take"
    )
    for X in (pd.DataFrame(gaps), pl.DataFrame(gaps), pa.table(gaps)):
        with pytest.raises(ValueError, match=re.escape(message)):
            read_design(X, missing="error")
    with pytest.raises(ValueError, match=re.escape("'x12' (12), 'x11' (11)")):
        read_design(pd.DataFrame(gaps).to_numpy(dtype=float), missing="error")
    with pytest.raises(ValueError, match=re.escape("column 'g2' of X contains NaN (2 rows, the first is row 0)")):
        read_design(pd.DataFrame(gaps)[["g0", "g2"]], missing="error")
    assert read_design(pd.DataFrame(gaps)).n_missing.tolist() == list(range(13))


@pytest.mark.parametrize(
    ("X", "row"),
    [
        (pd.DataFrame({"bad": [1.0, 2.0, None, 2.0]}), 2),
        (pd.DataFrame({"bad": ["u", None, "v", "v"]}), 1),
        (pd.DataFrame({"bad": pd.Categorical(["u", None, "v", "v"])}), 1),
        (pd.DataFrame({"bad": pd.Categorical(["u", None, "v", "v"], ordered=True)}), 1),
        (pd.DataFrame({"bad": pd.array([True, None, False, True], dtype="boolean")}), 1),
        (pd.DataFrame({"bad": pd.array([1, None, 3, 4], dtype="Int64")}), 1),
        (pd.DataFrame({"bad": pd.arrays.SparseArray([0.0, 1.0, np.nan, 2.0])}), 2),
        (pd.DataFrame({"bad": [datetime.date(2020, 1, 1), None, datetime.date(2020, 1, 3)] * 2}).iloc[:4], 1),
        (pd.DataFrame({"bad": pd.to_datetime(["2020-01-01", None, "2020-01-03", "2020-01-05"])}), 1),
        (pl.DataFrame({"bad": [1.0, None, 2.0, 5.0]}), 1),
        (pl.DataFrame({"bad": [1.0, float("nan"), 2.0, 5.0]}), 1),
        (pl.DataFrame({"bad": [2**60, None, 2**60 + 1, 2**60 + 5]}), 1),
        (pa.table({"bad": ["u", None, "v", "v"]}), 1),
        (np.array([[1], [None], [2], [3]], dtype=object), 1),
        (np.array([[pd.NA], [1], [2], [3]], dtype=object), 0),
        (np.array([[1.0], [np.nan], [2.0], [3.0]]), 1),
        (np.array(["2020-01-01", "NaT", "2020-01-02", "2020-01-04"], dtype="M8[D]")[:, None], 1),
    ],
)
def test_a_missing_value_is_a_level_as_far_from_every_known_one_as_another_category(X, row):
    design = read_design(X)
    assert design.n_missing.tolist() == [1] and design.caps.tolist() == [2.0]
    gaps = np.abs(design.values[:, 0] - design.values[row, 0])
    others = np.arange(4) != row
    assert (gaps[others] >= FAR).all()
    assert gaps[row] == 0
    if not design.categorical[0]:
        known = design.values[others, 0]
        assert np.ptp(known) < 10
        assert np.std(known, ddof=1) == pytest.approx(1)


def test_numbers_that_are_far_from_missing_ones_can_be_told_by_the_square_of_the_difference():
    assert (2 * LARGEST) ** 2 < INCOMPARABLE < (FAR - 2 * LARGEST) ** 2


def test_a_column_without_values_is_constant():
    X = pd.DataFrame({"a": [1.0, 2, 3], "none": [np.nan] * 3, "text": [None] * 3})
    design = read_design(X)
    assert design.kinds == ("number", "constant", "constant")
    assert design.n_missing.tolist() == [0, 3, 3]
    assert read_design(pd.DataFrame({"a": [7.0, None, 7.0]})).kinds == ("number",)  # known or not


def test_columns_can_be_grouped():
    X = pd.DataFrame({"a": [1.0, 2, 4], "b": [2.0, 1, 3], "c": list("uvu"), "d": [0.0, 5, 1]})
    design = read_design(X, factor_groups={"size": ["d", "a"], "rest": "c"})
    assert design.names == ("size", "b", "rest")
    assert design.kinds == ("group", "number", "category")
    assert (design.columns, design.inputs) == (((0, 1), (2,), (3,)), ((0, 3), (1,), (2,)))
    plain = read_design(X)
    np.testing.assert_array_equal(design.values, plain.values[:, [0, 3, 1, 2]])
    assert read_design(X, factor_groups={"all": "*"}).names == ("all",)
    assert read_design(X, factor_groups={"a": ["a", "b"]}).names == ("a", "c", "d")


@pytest.mark.parametrize("left_out", [0, 1])
@pytest.mark.parametrize("dtype", [float, bool])
def test_one_hot_columns_that_are_grouped_are_the_category_that_they_encode(left_out, dtype):
    codes = np.random.default_rng(0).integers(0, 4, size=30)
    one_hot = (codes[:, None] == np.arange(left_out, 4)).astype(dtype)
    design = read_design(pd.DataFrame(one_hot, columns=[f"make_{k}" for k in range(left_out, 4)]),
                         factor_groups={"make": "make_*"})  # fmt: skip
    assert design.kinds == ("category",) and design.caps.tolist() == [2.0]
    assert len(set(zip(design.values[:, 0], codes, strict=True))) == 4
    one_hot[3, :2] = 1
    assert read_design(one_hot, factor_groups={"make": np.arange(4 - left_out)}).kinds == ("group",)


def test_a_tiny_period_makes_no_value_missing():
    design = read_design(np.array([[0.0], [1.0], [2.5]]), period={0: 5e-324})
    assert np.isfinite(design.values).all() and np.isinf(design.caps).all()


def test_a_periodic_factor_is_a_circle():
    hours = np.array([0.0, 1, 23, 12, 6])
    design = read_design(pd.DataFrame({"hour": hours}), period={"hour": 24})
    assert design.kinds == ("periodic",)
    points = design.values
    squared = ((points[:, None] - points) ** 2).sum(axis=2)
    assert squared[0, 1] == pytest.approx(squared[0, 2])
    assert squared[0, 3] == squared.max()
    assert points.var(axis=0, ddof=1).sum() == pytest.approx(1)
    own_units = read_design(pd.DataFrame({"hour": [0.0, 0.1, 12]}), period={"hour": 24}, scale={"hour": 1.0}).values
    assert np.linalg.norm(own_units[0] - own_units[1]) == pytest.approx(0.1, rel=1e-3)
    gaps = read_design(pd.DataFrame({"hour": [0.0, None, 12, None]}), period={"hour": 24})
    assert gaps.caps.tolist() == [1, 1]
    assert (gaps.values[1] == gaps.values[3]).all()


def test_units_can_be_given():
    X = pd.DataFrame({"a": [1.0, 2, 4], "b": [10.0, 20, 50], "c": list("uvu")})
    design = read_design(X, scale={"a": 2.0})
    np.testing.assert_allclose(np.diff(design.values[:, 0]), [0.5, 1])
    np.testing.assert_array_equal(design.values[:, 1:], read_design(X).values[:, 1:])
    np.testing.assert_array_equal(read_design(X, scale={}).values, read_design(X).values)
    huge = read_design(X.assign(a=X["a"] * 1e200), scale={"a": 2e200})
    np.testing.assert_allclose(np.diff(huge.values[:, 0]), [0.5, 1])


@pytest.mark.parametrize(("factor", "unit"), [(1e-30, 1e300), (1e-310, 1e300), (1e300, 1e-300)])
def test_units_in_which_nothing_is_left_of_values_are_refused(factor, unit):
    X = pd.DataFrame({"a": np.array([0.0, 2, 4]) * factor, "b": [1.0, 2, 4]})
    with pytest.raises(ValueError, match="scale of 'a' must be a unit that its values are not too"):
        read_design(X, scale={"a": unit})


def test_group_and_unit_options_that_make_no_sense_are_refused():
    X = pd.DataFrame({"a": [1.0, 2, 4], "b": [10.0, 20, 50], "c": list("uvu")})
    for options, message in [
        ({"factor_groups": {"s": ["a", "b"], "t": ["b"]}}, "column 'b' is in 's' and in 't'; a column belongs to one"),
        ({"factor_groups": {"c": ["a", "b"]}}, "'c' is also a column of X that is not in it. Use another name"),
        ({"factor_groups": {"s": ["z"]}}, "factor_groups must name columns of X; there is no column 'z'"),
        ({"factor_groups": {"s": []}}, "factor_groups must have a name and at least one column for each; got 's'"),
        ({"factor_groups": {"s": [[0, 1], [2]]}}, "factor_groups must be a plain list of columns; got .*0, 1.*2"),
        ({"period": {"c": 24}}, "period is for numbers, but column 'c' of X holds categories"),
        ({"period": {"a": 0}}, "period of 'a' must be above 0; got 0"),
        ({"period": {"a": "day"}}, "period of 'a' must be a number of at least 0; got 'day'"),
        ({"scale": {"c": 2.0}}, "scale is for numbers, but column 'c'"),
        ({"scale": {"a": 1e-300}}, "scale of 'a' must be a unit that its values are not too large for; got 1e-300"),
        ({"scale": {"a": 1e300}}, "scale of 'a' must be a unit that its values are not too small for; got 1e\\+300"),
    ]:
        with pytest.raises(ValueError, match=message):
            read_design(X, **options)
    with pytest.raises(TypeError, match="factor_groups must map names of factors to columns"):
        read_design(X, factor_groups=["a", "b"])
    with pytest.raises(TypeError, match="period must map columns to numbers"):
        read_design(X, period=24)


def table(**columns):
    return pd.DataFrame({"fine": [1.0, 2.0, 3.0], **columns})


FRAME = table()


@pytest.mark.parametrize(
    ("X", "kind", "message"),
    [
        (table(bad=[1.0, 2.0, -np.inf]), ValueError, r"column 'bad' of X contains infinity \(row 2\)"),
        (np.full((3, 1), np.inf), ValueError, r"column 'x0' of X contains infinity \(row 0\)"),
        (
            table(bad=["1", "2.5", "3e4"]),
            ValueError,
            r"'bad' of X holds numbers written as text \(such as '1'\)",
        ),
        (table(bad=[1, "a", 2]), TypeError, "'bad' of X must hold values of one kind.*got int, str"),
        (table(bad=[{}, {}, {}]), TypeError, "'bad' of X must hold numbers, text or categories; got dict"),
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
        (
            np.ones((2, 2)) * 1j,
            ValueError,
            "column 'x0' of X must be real; got complex128. Complex data not supported: use",
        ),
        (table(bad=[1j, 2, 3]), ValueError, "column 'bad' of X must be real; got complex128"),
        (
            table(bad=pd.Series([1j, 2, 3], dtype=object)),
            ValueError,
            "column 'bad' of X must be real; got complex, int",
        ),
        (table(bad=pd.period_range("2020", periods=3, freq="M")), TypeError, "column 'bad' of X holds periods of time"),
        (
            table(bad=pd.interval_range(0, 3)),
            TypeError,
            r"column 'bad' of X must hold .*; got Interval. Use the middle of each interval",
        ),
        (
            table(bad=pd.Series(pd.period_range("2020", periods=3, freq="M"), dtype=object)),
            TypeError,
            "periods of time",
        ),
        (table(bad=[b"u", b"v", b"u"]), TypeError, "'bad' of X must hold .*; got bytes. Decode it to text, or drop it"),
        (np.array([[b"u"], [b"v"]]), TypeError, "'x0' of X must hold .*; got bytes. Decode it to text"),
        (pl.DataFrame({"bad": [b"u", b"v"]}), TypeError, "'bad' of X must hold .*; got Binary. Decode it to text"),
        (
            pl.DataFrame({"bad": [{"a": 1}] * 3}),
            TypeError,
            "'bad' of X must hold .*; got Struct.* Give each field a column",
        ),
        (table(bad=[np.ones(2)] * 3), TypeError, "'bad' of X must hold .*; got ndarray. Convert it"),
        ([[10**400], [1]], ValueError, "column 'x0' of X has numbers beyond 1.8e308, which float64 cannot hold"),
        (np.array([[np.longdouble("1e400")], [1]]), ValueError, r"column 'x0' of X contains infinity \(row 0\)"),
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
    with pytest.raises(ValueError, match="scale=False mixes categories or missing values with numbers"):
        read_design(X[["huge"]].assign(label=list("abb")), scale=False)
