"""`rank` with a cluster: files are read by the workers, data frames are sent."""

import logging
import re

import numpy as np
import polars as pl
import pytest

from firstfactor import rank
from firstfactor.cli.errors import exit_on_error
from firstfactor.cluster import client as client_module

pytest.importorskip("distributed")

from cluster.processes import Processes

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    cluster = Processes(tmp_path_factory.mktemp("cluster"))
    yield cluster.address
    cluster.close()


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pl.DataFrame(rng.uniform(size=(300, 70)), schema=[f"x{j}" for j in range(70)])
    y = 3 * X["x0"] + 2 * X["x68"] ** 2 + 0.1 * rng.normal(size=300)
    text = pl.Series("x1", rng.choice(list("abc"), 300))
    return X.with_columns(text, y=y.set(y < 0.2, None))


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for start in range(0, 300, 100):
        table[start : start + 100].write_parquet(folder / f"part-{start}.parquet")
    return folder


def assert_same(one, other):
    assert one.indices.kept == other.indices.kept
    np.testing.assert_array_equal(one.indices.values, other.indices.values)
    np.testing.assert_array_equal(one.indices.p_values, other.indices.p_values)
    assert repr(one) == repr(other)
    assert one.notes() == other.notes()


@pytest.mark.parametrize("rule", ["paper", "calibrated"])
def test_workers_read_files(address, table, folder, rule):
    here = rank(folder, "y", rule=rule)
    there = rank(folder, "y", rule=rule, scheduler=address)
    assert_same(here, there)
    np.testing.assert_array_equal(here.indices.values, rank(table, "y", rule=rule, scheduler=address).indices.values)


def test_text_files_are_converted_and_reports_are_written(address, table, tmp_path):
    table.write_csv(tmp_path / "data.csv")
    here, there = (rank(tmp_path / "data.csv", "y", missing="drop", **more) for more in ({}, {"scheduler": address}))
    assert_same(here, there)
    there.report(tmp_path / "page.html")
    assert "x68" in (tmp_path / "page.html").read_text()


def test_workers_that_cannot_read_the_files_say_so(address, folder, monkeypatch):
    path = folder / "part-0.parquet"

    share = client_module.DaskCluster.share

    def move_away_and_share(self, value, *more):
        if path.exists():
            path.rename(folder / "elsewhere")
        return share(self, value, *more)

    monkeypatch.setattr(client_module.DaskCluster, "share", move_away_and_share)
    try:
        with pytest.raises(OSError, match=r"a worker on .* cannot read the table: .*part-0.parquet was removed"):
            rank(folder, "y", scheduler=address)
    finally:
        (folder / "elsewhere").rename(path)


def test_progress_and_the_number_of_workers(folder):
    said = []
    found = rank(folder, "y", workers=1, max_factors=1, progress=said.append)
    assert found.settings["workers"] == 1
    assert any("starting 1 worker" in each for each in said)
    assert any(each.startswith("searching: +") for each in said)


@pytest.mark.parametrize("moment", ["searching (workers", "searching: +"])
def test_a_scheduler_that_is_lost_is_told_in_one_line(folder, tmp_path, monkeypatch, capfd, moment):
    monkeypatch.setattr(client_module, "PATIENCE", 0.2)
    monkeypatch.setattr("firstfactor.cluster.client.PATIENCE_AT_START", 3)
    own = Processes(tmp_path, n_workers=1)

    def lose(text):
        if text.startswith(moment):
            own.close()

    levels = [logging.getLogger(name).level for name in ("distributed", "distributed.client")]
    with pytest.raises(SystemExit) as end, exit_on_error(debug=False):
        rank(folder, "y", scheduler=own.address, progress=lose)
    assert end.value.code == 2
    said = capfd.readouterr().err
    assert re.fullmatch(r"error: the cluster at tcp://127\S* was lost. Start it again .* with --checkpoint, .*\n", said)
    assert levels == [logging.getLogger(name).level for name in ("distributed", "distributed.client")]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scheduler": "tcp://127.0.0.1:1"}, "no Dask scheduler with workers at 'tcp://127.0.0.1:1'"),
        ({"scheduler": "nonsense"}, "no Dask scheduler with workers at 'nonsense'"),
        ({"workers": 0}, "workers must be a whole number of at least 1"),
        ({"workers": 2, "scheduler": "tcp://127.0.0.1:1"}, "does not go with"),
        ({"workers": 2, "memory": "1GB"}, "does not go with"),
        ({"workers": 2, "unique": True}, "unique= does not go with workers="),
    ],
)
def test_errors(folder, settings, message, monkeypatch):
    monkeypatch.setattr("firstfactor.cluster.client.PATIENCE_AT_START", 2)
    with pytest.raises(ValueError, match=message):
        rank(folder, "y", **settings)
