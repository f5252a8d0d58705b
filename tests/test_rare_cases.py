"""What is said and done in cases that are rare."""

import io
import math
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from designs import read_design

from firstfactor import FIRST, rank, total_indices
from firstfactor._utils import memory
from firstfactor._utils.atomic_write import errors_naming
from firstfactor._utils.threads import Workers
from firstfactor.neighbors import space
from firstfactor.results.wording import headline


def table(n_rows=100, n_factors=3):
    X = np.random.default_rng(0).normal(size=(n_rows, n_factors))
    return X, X[:, 0] + X[:, 1] ** 2


def frame(X, y):
    return pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])]).with_columns(y=y)


def test_a_ranking_explains_a_factor_as_the_estimator_does():
    X, y = table()
    ranking, fitted = rank(frame(X, y), "y"), FIRST(rule="calibrated", random_state=0).fit(X, y)
    assert [ranking.explain(f"x{j}") for j in range(3)] == list(fitted.explanations_.sentences)
    assert len(fitted.explanations_) == 3 and fitted.explanations_["x1"] == ranking.explain("x1")
    with pytest.raises(KeyError, match="there is no factor 'x9'; the factors are 'x0', 'x1' and 'x2'"):
        fitted.explanations_["x9"]


def test_indices_that_take_y_to_be_free_of_noise_say_so():
    assert headline(total_indices(*table(), noise=False)) == "y taken to be free of noise"
    assert headline(total_indices(*table())).startswith("R² ceiling: ")


def test_a_parameter_that_must_be_a_mapping():
    with pytest.raises(TypeError, match=r"period must be a mapping, such as .*; got 24"):
        FIRST(period=24).fit(*table())


def test_total_indices_of_many_factors_come_without_intervals():
    note = "No intervals: with this method they take too long for more than 30 factors."
    X, y = table(60, 31)
    assert note in rank(frame(X, y), "y", method="total").notes()
    assert note not in rank(frame(X[:, :30], y), "y", method="total").notes()


def test_a_search_refuses_what_kernels_do_not_expect(monkeypatch):
    X, y = table()
    design = read_design(X)
    search = {"y": y[:, None], "outer": np.arange(100), "n_neighbors": 2, "workers": Workers(1)}
    for values in (np.asfortranarray(design.values), design.values.astype(np.float32)):
        with pytest.raises(TypeError, match="values of the design must be C-ordered float64; got float"):
            space.SearchSpace(replace(design, values=values), **search)
    monkeypatch.setattr(space, "MAX_ROWS", 99)
    with pytest.raises(ValueError, match=r"X must have at most 99 rows; got 100\. Use"):
        space.SearchSpace(design, **search)


def test_time_is_counted_where_the_system_does_not_tell_it(monkeypatch):
    def refuse(*_, **__):
        raise FileNotFoundError

    before = memory.since_start()
    monkeypatch.setattr("builtins.open", refuse)
    assert 0 < memory.since_start() < before + 60
    monkeypatch.setattr("builtins.open", lambda *_, **__: io.StringIO("nothing that makes sense"))
    assert math.isfinite(memory.since_start())


def test_an_error_that_names_a_file_keeps_its_name():
    with pytest.raises(OSError, match="other") as caught, errors_naming("mine"):
        raise FileNotFoundError(2, "No such file", "other")
    assert caught.value.filename == "other"
    with pytest.raises(OSError, match="mine"), errors_naming("mine"):
        raise OSError(28, "No space left on device")


def test_half_precision_is_read_without_a_warning():
    x = np.linspace(-2, 2, 40).astype(np.float16)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert total_indices(x[:, None], x.astype(float)).values == pytest.approx(1.0)
        with pytest.raises(ValueError, match="2-dimensional"):
            total_indices(pd.Series(x), x.astype(float))


def test_a_column_whose_only_label_is_nan_is_a_category():
    X = pd.DataFrame({"label": ["nan", "nan", "名", "nan"] * 10, "x": np.arange(40.0)})
    weights = (X["label"] == "nan").to_numpy(float)
    total_indices(X, X["x"], sample_weight=weights)
    total_indices(X[weights > 0], X["x"][weights > 0])


def test_one_outer_row_at_the_place_of_its_neighbours_is_no_fault():
    """The narrower fit reaches nowhere, the wider one far."""
    X = pd.DataFrame({"x": ["ash", "elm"] * 30})
    y = np.arange(60.0) % 7
    for seed in range(5):
        found = total_indices(X, y, variance_estimator="extrapolated", n_outer=1, scale=False, random_state=seed)
        assert np.isfinite(found.values).all()


@pytest.mark.parametrize(
    ("first", "second", "n_columns"),
    [
        ([2, 2, 1, 1, 1, 1], list("aaabbb"), 2),
        (list("aabbbb"), list("ddddce"), 2),
        (list("baaaaa"), [False, True, False, False, False, False], 2),
        ([2, 1, 1, 1, 1, 1], [5, 6, 5, 5, 5, 5], 2),
        ([2**62 + 1, 2**62, 2**62, 2**62, 2**62, 2**62], [0, 1, 1, 0, 0, 0], 2),
        ([1, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0], 1),
        ([1, 0, 0, 0, 0, 0], [False, True, True, False, False, False], 1),
    ],
)
def test_only_columns_given_as_zeros_and_ones_are_a_one_hot_code(first, second, n_columns):
    X = pd.DataFrame({"a": first, "b": second, "x": [0.1, 0.1, 0.4, 0.6, 0.6, 0.6]})
    design = read_design(X, factor_groups={"both": ["a", "b"]})
    assert [len(columns) for columns in design.columns] == [n_columns, 1]


def test_weights_that_no_square_could_hold_count_as_zero():
    rng = np.random.default_rng(0)
    X, weights = rng.random((40, 2)), np.ones(40)
    weights[0] = 1e-231
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = total_indices(X, X[:, 0], sample_weight=weights)
    assert found.values.tolist() == total_indices(X[1:], X[1:, 0]).values.tolist()
