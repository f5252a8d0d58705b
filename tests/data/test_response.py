import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import norm
from sklearn.exceptions import DataConversionWarning

from firstfactor.data.response import mid_ranks, normal_scores, read_target


def read_response(y, n_rows, task="auto", **options):
    return read_target(y, n_rows).encode(task, **options)


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
    np.testing.assert_allclose(response.values[:, 0], np.array([1, 2, 4]) - 7 / 3)
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
    np.testing.assert_allclose(response.values[:, 0], np.array([1, 0, 1]) - 2 / 3)
    assert response.codes.tolist() == [1, 0, 1]


def test_the_task_can_be_said():
    assert read_response([0, 1, 0], 3, "regression").default_neighbors == 2
    assert read_response([0, 1, 0], 3, "classification").classes == (0, 1)


def test_a_column_vector_is_flattened_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector y was passed when a 1d array was expected"):
        response = read_response(np.array([[1], [2], [4]]), 3)
    assert response.values.shape == (3, 1)


def test_a_small_spread_on_a_large_offset_keeps_its_digits():
    assert read_response(1e15 + np.array([0.0, 1, 2]), 3).variance == 1.0
    np.testing.assert_allclose(read_response(1e15 + np.array([0.0, 1, 3]), 3).values[:, 0], np.array([0, 1, 3]) - 4 / 3)
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
        (pd.arrays.SparseArray([1j, 2, 3]), ValueError, "y must be real; got complex128"),
        ([1.0, 2, np.inf], ValueError, r"y contains infinity \(row 2\)"),
        ([1, 2], ValueError, r"y must have one value per row of X \(3\); got 2"),
        ([1, 2, 3, 5], ValueError, r"y must have one value per row of X \(3\); got 4"),
        ([5, 5, 5], ValueError, "y must vary, but all 3 values are 5"),
        (np.ones((3, 2)), ValueError, "y must vary, but all 3 values are 1.0"),
        (np.ones((3, 2, 2)), ValueError, r"y should be a 1d array.*or have a column for each output; got shape"),
        (np.ones((3, 0)), ValueError, r"y should be a 1d array.*got shape \(3, 0\)"),
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


def test_more_classes_are_a_column_each():
    response = read_response(["b", "a", "c", "a"], 4)
    assert (response.task, response.classes, response.default_neighbors) == ("classification", ("a", "b", "c"), 3)
    indicators = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1], [1, 0, 0]])
    np.testing.assert_allclose(response.values, indicators - indicators.mean(axis=0))
    gini = 1 - (0.5**2 + 2 * 0.25**2)
    assert response.variance == pytest.approx(gini * 4 / 3)
    assert response.codes.tolist() == [1, 0, 2, 0]


def test_few_whole_numbers_are_a_quantity_but_may_be_classes():
    y = np.arange(60) % 3
    response = read_response(y, 60)
    assert (response.task, response.n_values) == ("regression", 3)
    assert read_response(y, 60, "classification").classes == (0, 1, 2)
    assert read_response(y + 0.5, 60).n_values == 0
    assert read_response(np.arange(60), 60).n_values == 0


def test_labels_are_of_one_kind():
    with pytest.raises(TypeError, match="y must have labels of one kind, all numbers or all text; got int, str"):
        read_response(pd.Series([1, "a", 1, "a"], dtype="category"), 4)


def test_names_in_nearly_every_row_are_no_classes():
    with pytest.raises(ValueError, match=r"y has 40 classes in 60 rows: too many to tell apart\. Pool the rare ones"):
        read_response([f"u{i % 40}" for i in range(60)], 60)
    with pytest.raises(ValueError, match="y has 1,001 classes in 4,004 rows"):
        read_response([f"u{i % 1001}" for i in range(4004)], 4004)


def test_ordered_categories_are_numbers_at_their_ranks():
    levels = ["low", "middle", "high"]
    y = pd.Categorical(["high", "low", "middle", "high"], categories=levels, ordered=True)
    for given in (pd.Series(y), pl.Series(list(y), dtype=pl.Enum(levels))):
        response = read_response(given, 4)
        np.testing.assert_allclose(response.values[:, 0], np.array([2, 0, 1, 2]) - 1.25)
        assert response.task == "regression"
    assert read_response(pd.Series(y), 4, "classification").classes == ("high", "low", "middle")


def test_outputs_are_standardised_and_add_to_one():
    y = np.array([[1.0, 10], [2, 40], [4, 20]])
    for given in (y, pd.DataFrame(y, columns=["a", "b"]), pl.DataFrame({"a": y[:, 0], "b": y[:, 1]})):
        response = read_response(given, 3)
        assert (response.task, response.classes) == ("regression", ())
        expected = (y - y.mean(axis=0)) / y.std(axis=0, ddof=1) / np.sqrt(2)
        np.testing.assert_allclose(response.values, expected)
        assert response.variance == pytest.approx(1)
    assert response.names == ("a", "b")
    weighted = read_response(y, 3, output_weights=[3, 1]).values.var(axis=0, ddof=1)
    np.testing.assert_allclose(weighted, [0.75, 0.25])


def test_outputs_may_be_classes_too():
    response = read_response(pd.DataFrame({"a": [1.0, 2, 4, 3], "b": list("uvwu")}), 4)
    assert response.values.shape == (4, 4)
    assert response.task == "regression"
    np.testing.assert_allclose(response.values.var(axis=0, ddof=1).sum(), 1)
    assert read_response(pd.DataFrame({"a": list("uvuv"), "b": list("uvwu")}), 4).task == "classification"


@pytest.mark.parametrize("weights", [[1.0], [1, 2, 3], [0, 0]])
def test_output_weights_are_one_for_each(weights):
    with pytest.raises(ValueError, match=r"output_weights must hold a number for each output \(2\)"):
        read_response(np.array([[1.0, 10], [2, 40], [4, 20]]), 3, output_weights=weights)


def test_output_weights_are_a_list():
    with pytest.raises(TypeError, match=r"output_weights must be a list of numbers; got 0.5"):
        read_response(np.array([[1.0, 10], [2, 40], [4, 20]]), 3, output_weights=0.5)


def test_huge_output_weights_are_as_good_as_others():
    y = np.array([[1.0, 10], [2, 40], [4, 20]])
    np.testing.assert_allclose(read_response(y, 3, output_weights=[1.5e308] * 2).values, read_response(y, 3).values)


def test_ranks_and_normal_scores():
    y = np.array([10.0, 1e6, 20, 20, -3])
    np.testing.assert_array_equal(mid_ranks(y), [1.5, 4.5, 3, 3, 0.5])
    scores = normal_scores(y)
    assert scores.sum() == pytest.approx(0) and (np.argsort(scores) == np.argsort(y)).all()
    np.testing.assert_allclose(normal_scores(np.array([7.0, 3.0, 7.0, 3.0])), norm.ppf([0.75, 0.25] * 2))
    np.testing.assert_allclose(read_response(y, 5, response_scale="ranks").values[:, 0], mid_ranks(y) - 2.5)
    np.testing.assert_allclose(read_response(y, 5, response_scale="normal-scores").values[:, 0], scores)
    with pytest.raises(ValueError, match='response_scale="ranks" is for quantities; y has classes'):
        read_response(list("abab"), 4, response_scale="ranks")


@pytest.mark.parametrize("y", [[1.0, 2, 4, 8], list("aabc")])
def test_weights_that_leave_one_row_are_refused(y):
    with pytest.raises(ValueError, match="sample_weight must be shared by several rows; one of 4 has nearly all of it"):
        read_target(y, 4).encode(weights=np.array([4, 1e-12, 1e-200, 1e-12]))


def test_weights_change_the_mean_and_the_variance():
    y, weights = np.array([1.0, 2, 4, 8]), np.array([1.0, 3, 1, 2])
    response = read_target(y, 4).encode(weights=weights)
    assert weights @ response.values[:, 0] == pytest.approx(0)
    mean = weights @ y / 7
    assert response.variance == pytest.approx(weights @ (y - mean) ** 2 / (7 - 15 / 7))
    equal = read_target(y, 4).encode(weights=np.full(4, 0.3))
    assert equal.variance == pytest.approx(y.var(ddof=1))


def test_missing_outputs_are_told_row_by_row():
    target = read_target(pd.DataFrame({"a": [1.0, np.nan, 3, 4], "b": ["u", "v", None, "u"]}), 4)
    assert target.missing.tolist() == [False, True, True, False]
    with pytest.raises(ValueError, match="y must vary, but all 2 values are 'u'"):
        target.on_rows(np.array([0, 3])).encode()


def test_some_rows_are_centred_anew_and_must_vary():
    response = read_response([1.0, 1.0, 2.0, 5.0], 4)
    part = response.on_rows(np.array([0, 2, 3]))
    np.testing.assert_allclose(part.values[:, 0], np.array([1, 2, 5]) - 8 / 3)
    assert (part.variance, part.task) == (pytest.approx(13 / 3), "regression")
    with pytest.raises(ValueError, match="y does not vary in 2 rows drawn from 4"):
        response.on_rows(np.array([0, 1]))
