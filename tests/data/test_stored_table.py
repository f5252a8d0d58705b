"""Tables that are read a few columns at a time give the same bits as tables in memory."""

import gc
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstfactor.data.observations import EncodingOptions, read_table
from firstfactor.data.stored_columns import MOST_IN_BLOCK, JoinedColumns, cut_factors
from firstfactor.data.stored_table import ColumnCache, ColumnTable
from firstfactor.selection.fitting import fit
from firstfactor.settings import Settings
from firstfactor.variance.conditional import open_variances


class Frame(ColumnTable):
    """A frame in memory that tells which columns were read."""

    def __init__(self, frame, room):
        self._frame, self.room, self.n_read = frame, room, 0
        self.names, self.n_rows = tuple(frame.columns), len(frame)

    def read(self, columns):
        self.n_read += len(columns)
        assert len(columns) <= 9  # 8 factors, one of two columns
        return self._frame.select([self.names[j] for j in columns])


def make_table(n_rows, n_factors, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_rows, n_factors))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, -1] + rng.normal(size=n_rows)
    columns = {f"x{j}": X[:, j] for j in range(n_factors)}
    columns["x3"] = rng.choice(list("abc"), n_rows)
    columns["x4"] = rng.integers(0, 4, n_rows)
    columns["x5"] = np.where(rng.uniform(size=n_rows) < 0.1, np.nan, X[:, 5])
    return pl.DataFrame(columns), y


def indices_of(X, y, **given):
    settings = Settings(random_state=0, **given).resolve_estimator()
    with open_variances(X, y, settings) as variances:
        return fit(variances, settings)


SETTINGS = [
    {},
    {"rule": "calibrated"},
    {"scale": False},
    {"scale": {"x1": 2.0, "x6*": 3.0}, "categorical": ["x4"]},
    {"factor_groups": {"both": ["x1", "x69"]}, "period": {"x2": 1.0}},
    {"missing": "drop"},
    {"split": True},
    {"n_outer": 40, "forward": "fast"},
    {"variance_estimator": "extrapolated", "max_factors": 2},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("room", [0, 100_000, 10**9])
def test_the_same_bits_however_much_room_there_is(settings, room):
    X, y = make_table(200, 70)
    here, there = indices_of(X, y, **settings), indices_of(Frame(X, room), y, **settings)
    assert here.kept == there.kept
    assert here.inputs == there.inputs
    assert here.findings == there.findings
    for name in ("values", "standard_errors", "p_values"):
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
    for one, other in zip(here.path.steps, there.path.steps, strict=True):
        np.testing.assert_array_equal(one.explained, other.explained)
    assert repr(here) == repr(there)


def test_with_room_columns_are_read_few_times():
    X, y = make_table(200, 70)
    frame = Frame(X, 10**9)
    indices_of(frame, y)
    assert frame.n_read <= 3 * 70  # facts, the search, and some rows to see which factors are alike


@settings(max_examples=30)
@given(st.integers(1, 1000))
def test_blocks_cover_all_factors_evenly(n_factors):
    blocks = cut_factors(n_factors)
    assert [i for block in blocks for i in block] == list(range(n_factors))
    sizes = [len(block) for block in blocks]
    assert max(sizes) <= MOST_IN_BLOCK
    assert max(sizes) - min(sizes) <= 1


def test_joined_columns():
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(10, width)) for width in (2, 1, 3)]
    joined, whole = JoinedColumns(parts), np.hstack(parts)
    assert joined.shape == whole.shape
    for columns in ([0], [3, 5], [5, 0, 2], list(range(6))):
        values, where = joined.view(columns)
        np.testing.assert_array_equal(values[:, where], whole[:, columns])
        assert values.flags.c_contiguous
    assert joined.view([3, 5])[0] is parts[2]
    np.testing.assert_array_equal(joined.on_rows(np.array([3, 1])).view(range(6))[0], whole[[3, 1]])
    np.testing.assert_allclose(joined.sum(lambda values, j: values * j, range(6)), whole @ np.arange(6))
    assert joined.map(lambda values, j: (values[0], j), [4, 1]) == [(whole[0, 4], 4), (whole[0, 1], 1)]


def test_values_too_large_without_scale_are_refused():
    X, y = make_table(50, 10)
    X = X.with_columns(x6=pl.col("x6") * 1e60)
    with pytest.raises(ValueError, match=r"scale=False is for values below .* column 'x6'"):
        indices_of(Frame(X, 0), y, scale=False)


def test_what_is_said_about_columns_is_said_about_parts():
    reading = EncodingOptions(
        categorical=["b", "d"], scale={"c": 2.0}, factor_groups={"g": ["a", "c"]}, period={"d*": 3.0}
    )
    some = reading.of_columns(("a", "b", "c", "d"), [2, 3])
    assert some == replace(reading, categorical=[1], scale={0: 2.0}, factor_groups={"g": [0]}, period={1: 3.0})
    with pytest.raises(ValueError, match="no column 'zz'"):
        EncodingOptions(categorical=["zz"]).of_columns(("a",), [0])


def test_missing_values_are_refused_when_they_are_read():
    X, y = make_table(50, 10)
    with pytest.raises(ValueError, match="column 'x5' of X contains NaN"):
        read_table(Frame(X, 0), y, EncodingOptions(missing="error")).observe()


# --- what is kept ----------------------------------------------------------------------------------------


def test_what_was_not_wanted_for_longest_goes_first():
    room, mine, other = ColumnCache(3 * 80), object(), object()
    for j in range(3):
        room.put(mine, j, np.full(10, float(j)))
    assert room.get(mine, 0)[0] == 0
    room.put(other, 1, np.full(10, 7.0))
    assert room.get(mine, 1) is None and room.get(mine, 0) is not None and room.get(other, 1)[0] == 7
    room.forget(mine)
    assert room.get(mine, 0) is None and room.get(other, 1)[0] == 7


def test_what_is_set_aside_leaves_less_for_columns():
    room, owner = ColumnCache(5 * 80), object()
    for j in range(5):
        room.put(owner, j, np.zeros(10))
    table = room.make(3 * 80, lambda: np.zeros((10, 3)))
    assert table is not None and [room.get(owner, j) is not None for j in range(5)] == [False] * 3 + [True] * 2
    assert room.make(3 * 80, lambda: np.zeros((10, 3))) is None
    del table
    gc.collect()
    assert room.make(3 * 80, lambda: np.zeros((10, 3))) is not None
    with pytest.raises(ZeroDivisionError):
        room.make(80, lambda: 1 / 0)
    assert room.make(5 * 80, lambda: np.zeros((10, 5))) is not None
