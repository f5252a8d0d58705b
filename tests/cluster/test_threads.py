"""A cluster whose workers are threads of this process: the same bits as in memory, from the same tasks as elsewhere."""

import asyncio
import gc

import numpy as np
import pandas as pd
import polars as pl
import pytest

from firstfactor import FIRST, rank, total_indices
from firstfactor.cluster.client import quiet

distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")

N_ROWS, N_FACTORS = 120, 70  # two blocks


@pytest.fixture(scope="module")
def client():
    options = {"processes": False, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with quiet(), distributed.Client(**options) as client:
        yield client


@pytest.fixture(scope="module")
def table():
    """Numbers, text and gaps."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(N_ROWS, N_FACTORS)), columns=[f"x{j}" for j in range(N_FACTORS)])
    y = 3 * X.x0 + 2 * X.x68 + 0.1 * rng.normal(size=N_ROWS)
    X["x5"], X["x7"] = rng.choice(list("abc"), N_ROWS), X.x7.mask(rng.uniform(size=N_ROWS) < 0.1)
    return X.assign(y=y)


def assert_same(one, other):
    assert one.kept == other.kept
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.p_values, other.p_values)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(
    "settings",
    [{}, {"rule": "calibrated"}, {"missing": "drop", "factor_groups": {"both": ["x1", "x66"]}}, {"n_outer": 40}],
    ids=str,
)
def test_a_data_frame_in_partitions(table, settings):
    X, groups = table.drop(columns="y"), np.arange(N_ROWS) // 2
    lazy = dd.from_pandas(table, npartitions=3)
    here = FIRST(random_state=0, **settings).fit(X, table.y, groups=groups)
    there = FIRST(random_state=0, **settings).fit(lazy[list(X.columns)], lazy["y"], groups=groups)
    assert_same(here.indices_, there.indices_)


@pytest.mark.usefixtures("client")
def test_arrays_in_chunks(table):
    X, y = table[["x0", "x1", "x2", "x68"]].to_numpy(), table.y.to_numpy()
    lazy_X, lazy_y = da.from_array(X, chunks=(50, 3)), da.from_array(y, chunks=50)
    np.testing.assert_array_equal(total_indices(X, y).values, total_indices(lazy_X, lazy_y).values)


def test_files_that_workers_read(client, table, tmp_path):
    pl.from_pandas(table).write_parquet(tmp_path / "table.parquet")
    path, address = tmp_path / "table.parquet", client.scheduler.address
    assert_same(rank(path, "y").indices, rank(path, "y", scheduler=address).indices)


@pytest.mark.usefixtures("client")
def test_a_column_that_changes_its_type(table):
    parts = [table[["x0", "x1"]][:60], table[["x0", "x1"]][60:].assign(x1="text")]
    lazy = dd.from_map(lambda i: parts[i], [0, 1], meta=parts[0][:0])
    with pytest.raises(TypeError, match=r"column 'x1' of X changes its type: it is float64 in partition 0 and \w+ in"):
        FIRST().fit(lazy, table.y)


def test_timeouts_that_dask_leaves_are_collected_without_a_word(caplog):
    loop = asyncio.new_event_loop()
    with quiet():
        left = loop.create_future()
        left.set_exception(TimeoutError("Timeout"))
        alive = [left]
        alive.append(alive)
        del left, alive
    gc.collect()
    loop.close()
    assert not caplog.records
