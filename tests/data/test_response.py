import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning

from firstfactor.data.response import read_response


@pytest.mark.parametrize(
    "y",
    [
        [1, 2, 4],
        np.array([1.0, 2, 4]),
        pd.Series([1, 2, 4], index=[5, 6, 7]),
        pl.Series([1, 2, 4]),
        pa.chunked_array([[1, 2, 4]]),
        np.array([1, 2, 4], dtype=object),
        pd.Series([1, 2, 4], dtype="Int64"),
    ],
)
def test_numbers(y):
    response = read_response(y, 3)
    assert (response.task, response.classes, response.default_neighbors) == ("regression", (), 2)
    np.testing.assert_allclose(response.values, np.array([1, 2, 4]) - 7 / 3)
    assert response.variance == pytest.approx(7 / 3)


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"]),
        [True, False, True],
        np.array([3.5, -1, 3.5]),
        pd.Series(["b", "a", "b"], dtype="category"),
        pl.Series(["b", "a", "b"], dtype=pl.Categorical),
        pd.Series(["b", "a", "b"], dtype=object),
    ],
)
def test_two_classes(y):
    response = read_response(y, 3)
    assert (response.task, response.default_neighbors) == ("classification", 3)
    assert list(response.classes) == sorted(set(y))
    np.testing.assert_allclose(response.values, np.array([1, 0, 1]) - 2 / 3)


def test_the_task_can_be_said():
    assert read_response([0, 1, 0], 3, "regression").default_neighbors == 2
    assert read_response([0, 1, 0], 3, "classification").classes == (0, 1)


def test_a_column_vector_is_flattened_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector y was passed when a 1d array was expected"):
        response = read_response(np.array([[1], [2], [4]]), 3)
    assert response.values.shape == (3,)


def test_a_small_spread_on_a_large_offset_keeps_its_digits():
    assert read_response(1e15 + np.array([0.0, 1, 2]), 3).variance == 1.0
    np.testing.assert_allclose(read_response(1e15 + np.array([0.0, 1, 3]), 3).values, np.array([0, 1, 3]) - 4 / 3)
    assert read_response(2**62 + np.array([0, 1, 2]), 3).variance == 1.0
    assert read_response([2**100, 2**100 + 1, 2**100 + 2], 3).variance == 1.0
    assert read_response(pl.Series([2**60, 2**60 + 1, 2**60 + 2], dtype=pl.Int128), 3).variance == 1.0


def test_two_large_numbers_are_two_classes():
    response = read_response(pl.Series([2**60, 2**60 + 1, 2**60], dtype=pl.Int128), 3)
    assert response.classes == (2**60, 2**60 + 1)


@pytest.mark.parametrize(
    ("y", "kind", "message"),
    [
        (None, ValueError, "requires y to be passed, but the target y is None"),
        ([1.0, np.nan, 2], ValueError, r"y contains NaN \(row 1\).*not supported yet"),
        (["a", None, "b"], ValueError, r"y contains NaN \(row 1\)"),
        ([None, np.nan, 2.0], ValueError, r"y contains NaN \(2 rows, the first is row 0\)"),
        (pd.arrays.SparseArray([1j, 2, 3]), ValueError, "y must be real; got complex128"),
        ([1.0, 2, np.inf], ValueError, r"y contains infinity \(row 2\)"),
        ([1, 2], ValueError, r"y must have one value per row of X \(3\); got 2"),
        ([1, 2, 3, 5], ValueError, r"y must have one value per row of X \(3\); got 4"),
        ([5, 5, 5], ValueError, "y must vary, but all 3 values are 5"),
        (["a", "b", "c"], ValueError, "y has 3 classes; more than two are not supported yet"),
        (
            np.ones((3, 2)),
            ValueError,
            r"y should be a 1d array.*\(3, 2\). Several outputs are not supported yet",
        ),
        (pd.date_range("2020", periods=3), TypeError, "y holds dates or times"),
        (
            [1e300, 2e300, -1e300],
            ValueError,
            r"y must have a variance that float64 can hold.*2e\+300.*Change its units",
        ),
        ([1e-200, 2e-200, 4e-200], ValueError, "y must have a variance that float64 can hold"),
        ([1, 2, "a"], TypeError, "y must hold values of one kind"),
    ],
)
def test_refused_with_a_clear_error(y, kind, message):
    with pytest.raises(kind, match=message):
        read_response(y, 3)


def test_text_is_no_quantity():
    with pytest.raises(ValueError, match="y must hold numbers for task=\"regression\"; got labels such as 'b'"):
        read_response(["b", "a", "b"], 3, "regression")


def test_more_than_two_numeric_classes():
    with pytest.raises(ValueError, match="y has 3 classes; more than two are not supported yet"):
        read_response([0, 1, 2], 3, "classification")


def test_some_rows_are_centred_anew_and_must_vary():
    response = read_response([1.0, 1.0, 2.0, 5.0], 4)
    part = response.on_rows(np.array([0, 2, 3]))
    np.testing.assert_allclose(part.values, np.array([1, 2, 5]) - 8 / 3)
    assert (part.variance, part.task) == (pytest.approx(13 / 3), "regression")
    with pytest.raises(ValueError, match="y does not vary in 2 rows drawn from 4"):
        response.on_rows(np.array([0, 1]))
