"""`rank(where=...)`: the rows of a table that are used, by ranges and values of columns."""

import datetime
import gzip
import json

import numpy as np
import polars as pl
import pytest
from command import run_here

from firstfactor import rank
from firstfactor.settings import RankSettings
from firstfactor.tables.dataset import read_dataset
from firstfactor.tables.formats import open_source
from firstfactor.tables.roles import Request
from firstfactor.tables.source import frame_source

N = 60
FRAME = pl.DataFrame(
    {
        "x": np.arange(N) / 2,
        "age": [None if row % 10 == 0 else row for row in range(N)],
        "region": pl.Series(["north", "south", "south, west"] * (N // 3)),
        "is_new": pl.Series([True, False] * (N // 2)),
        "day": pl.Series([datetime.date(2024, 1, 1) + datetime.timedelta(days=row) for row in range(N)]),
        "time": pl.Series([datetime.datetime(2024, 1, 1, 12) + datetime.timedelta(hours=row) for row in range(N)]),
        "y": np.cos(np.arange(N)),
    }
)
AGE, REGION, NEW, DAY = FRAME["age"], FRAME["region"], FRAME["is_new"], FRAME["day"]

FILTERS = {
    "both ends": ({"age": (11, 29)}, (AGE >= 11) & (AGE <= 29)),
    "from": ({"age": (11, None)}, AGE >= 11),
    "to": ({"x": (None, 7.5)}, FRAME["x"] <= 7.5),
    "numbers": ({"age": [1, 2, "3", 99.0]}, AGE.is_in([1, 2, 3])),
    "levels": ({"region": ["north", "south, west"]}, REGION != "south"),
    "one level": ({"region": "north"}, REGION == "north"),
    "switch": ({"is_new": [True]}, NEW),
    "days": ({"day": ("2024-01-05", datetime.date(2024, 1, 31))}, (DAY.dt.month() == 1) & (DAY.dt.day() >= 5)),
    "times": ({"time": ("2024-01-01T18:00", "2024-01-02")}, FRAME["time"].is_between(
        datetime.datetime(2024, 1, 1, 18), datetime.datetime(2024, 1, 2, 23))),
    "several": ({"age": (11, None), "region": ["north"]}, (AGE >= 11) & (REGION == "north")),
    "the response": ({"y": (0, None)}, FRAME["y"] >= 0),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("where")
    FRAME.write_csv(folder / "table.csv")
    FRAME.write_parquet(folder / "table.parquet")
    FRAME.write_ndjson(folder / "table.jsonl")
    (folder / "table.csv.gz").write_bytes(gzip.compress((folder / "table.csv").read_bytes()))
    return folder


def read(folder, kind, where, **more):
    request = Request("y", RankSettings.parse({"where": where, **more}))
    if kind == "frame":
        return read_dataset(frame_source(FRAME, "the table"), request)
    with open_source(str(folder / f"table.{kind}")) as source:
        return read_dataset(source, request)


@pytest.mark.parametrize("kind", ["frame", "csv", "csv.gz", "parquet", "jsonl"])
@pytest.mark.parametrize("name", FILTERS)
def test_only_these_rows_are_read(folder, kind, name):
    where, wanted = FILTERS[name]
    data = read(folder, kind, where)
    assert data.X["x"].to_list() == FRAME.filter(wanted.fill_null(False))["x"].to_list()
    assert (data.n_read, data.n_chosen) == (N, len(data.y))
    assert data.remarks[0].startswith(f"{len(data.y)} of {N} rows were used: those with ")


def test_the_result_is_that_of_the_rows_alone():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(300, 3)), schema=list("abc")).with_columns(y=pl.col("a") + pl.col("b"))
    part, alone = rank(frame, "y", where={"c": (0, None)}), rank(frame.filter(pl.col("c") >= 0), "y")
    assert part.indices.values.tolist() == alone.indices.values.tolist()
    assert json.loads(part.to_json())["data"]["rows_chosen"] == len(alone.dataset.y)


def test_a_table_in_memory_is_filtered_once_for_each_filter(folder):
    with open_source(str(folder / "table.csv")) as source:
        source = source.in_memory()
        for low in (5, 10, 15, 20, 25, 5):
            data = read_dataset(source, Request("y", RankSettings.parse({"where": {"age": (low, None)}})))
            assert len(data.y) == int((low <= AGE).sum())
        assert len(source.known["filtered"]) == 3


def test_a_filter_goes_before_a_draw_and_a_gap(folder):
    data = read(folder, "csv", {"x": (5, None)}, sample=20, missing="drop")
    assert data.n_drawn == 20 and data.X["x"].min() >= 5 and data.X["age"].null_count() == 0


WRONG = {
    "no such column": ({"agee": (1, 2)}, "no column 'agee'. Did you mean 'age'"),
    "no such level": ({"region": ["nroth"]}, "no value 'nroth'. Did you mean 'north'"),
    "range of labels": ({"region": ("a", "b")}, "holds no numbers or dates. Name its values in a list"),
    "text as a number": ({"age": ("old", None)}, "must be a number; got 'old'"),
    "number as a date": ({"day": (5, None)}, "must be a date such as 2024-12-31; got 5"),
    "labels of numbers": ({"age": ["old"]}, "holds numbers; got 'old'"),
    "no rows": ({"age": (1000, None)}, "0 of 60 rows of the table are left; at least 3 are needed"),
    "no condition": ({"age": (None, None)}, "must have a range (low, high) or a list of values"),
    "no values": ({"age": []}, "must have a range (low, high) or a list of values"),
    "bare number": ({"age": 5}, "must have a range (low, high) or a list of values"),
    "no mapping": ("age > 5", "must be a mapping"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_filters_are_refused(name):
    where, message = WRONG[name]
    with pytest.raises((ValueError, TypeError)) as caught:
        rank(FRAME, "y", where=where)
    assert message in str(caught.value) and "where" in str(caught.value)


@pytest.mark.parametrize("elsewhere", [{"memory": "1GB"}, {"workers": 1}])
def test_tables_that_are_not_in_memory_are_refused(folder, elsewhere):
    with pytest.raises(ValueError, match=r"where= does not go with (memory|workers)=\. Leave out one"):
        rank(str(folder / "table.parquet"), "y", where={"age": (1, None)}, **elsewhere)


def test_the_command_takes_the_same(folder):
    options = ["--where", 'region=north,"south, west"', "--where", "age=11..", "--where", "day=2024-01-05..2024-12-31"]
    done = run_here("rank", folder / "table.csv", "-t", "y", "--drop", "time", *options, "--json", "-")
    assert done.returncode == 0, done.stderr
    chosen = (REGION != "south") & (AGE >= 11) & (datetime.date(2024, 1, 5) <= DAY)
    assert json.loads(done.stdout)["data"]["rows_used"] == int(chosen.fill_null(False).sum())


@pytest.mark.parametrize("text", ["age", "=5", "age=", "age=1..2 --where age=3..4"])
def test_a_filter_that_is_none_is_refused(folder, text):
    options = [part for one in text.split(" --where ") for part in ("--where", one)]
    done = run_here("rank", folder / "table.csv", "-t", "y", *options)
    assert done.returncode == 2 and b"--where" in done.stderr
