"""Files that are odd, though valid, and files that no reader expects."""

import gzip
import json
import os

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

from firstfactor import rank
from firstfactor.files.input_file import open_source
from firstfactor.files.inventory import take_inventory
from firstfactor.files.source import Source

X = np.random.default_rng(0).normal(size=60).round(4).tolist()
LINES = "".join(f"{x},{2 * x}\n" for x in X)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [";", ",", "\t", "|"])
@pytest.mark.parametrize("start", ["sep=", "SEP="])
def test_the_line_that_tells_excel_the_separator_is_understood(tmp_path, start, mark, end):
    text = f"{start}{mark}\nx,y\n{LINES}".replace(",", mark if mark != "," else ",").replace("\n", end)
    (tmp_path / "t.csv").write_text(text, newline="")
    assert rank(str(tmp_path / "t.csv"), "y").dataset.X["x"].to_list() == X


@pytest.mark.parametrize("text", ["sep=;", "sep=;\n", "sep=,\r\n"])
def test_that_line_alone_is_no_table(tmp_path, text):
    (tmp_path / "t.csv").write_text(text, newline="")
    with pytest.raises(ValueError, match=r"^t\.csv has no header and no rows\.$"):
        rank(str(tmp_path / "t.csv"), "y")


def test_a_name_may_begin_like_that_line(tmp_path):
    (tmp_path / "t.csv").write_text(f"sep=,y\n{LINES}".replace("sep=,y", "sep=x,y"))
    assert rank(str(tmp_path / "t.csv"), "y").indices.names == ("sep=x",)


@pytest.mark.parametrize("control", ["\x01", "\x01\x02\x03", "\x1f"])
def test_cells_may_hold_control_characters(tmp_path, control):
    rows = "".join(f"{x},a{control if x > 0 else ''}b,{2 * x}\n" for x in X)
    (tmp_path / "t.csv").write_text(f"x,k,y\n{rows}")
    table = rank(str(tmp_path / "t.csv"), "y").dataset
    assert table.X["k"].to_list() == [f"a{control if x > 0 else ''}b" for x in X]


def test_control_characters_of_every_kind_are_no_text(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"x,y\n" + bytes([*range(1, 9), *range(14, 32)]) + b",1\n" + LINES.encode())
    with pytest.raises(ValueError, match=r"^t\.csv is not text: it holds control characters"):
        rank(str(tmp_path / "t.csv"), "y")


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "arrow", "json"])
def test_paths_need_not_be_utf_8(tmp_path, suffix):
    path = os.path.join(os.fsencode(tmp_path), b"\xff\xfe." + suffix.encode())
    frame = pl.DataFrame({"x": X, "y": [2 * x for x in X]})
    writers = {"csv": "write_csv", "jsonl": "write_ndjson", "parquet": "write_parquet", "arrow": "write_ipc"}
    with open(path, "wb") as file:
        if suffix == "json":
            file.write(json.dumps(frame.to_dict(as_series=False)).encode())
        else:
            getattr(frame, writers[suffix])(file)
    ranking = rank(os.fsdecode(path), "y")
    assert ranking.dataset.X["x"].to_list() == X
    files = json.loads(ranking.to_json())["data"]["files"]
    assert files == [os.fsdecode(path)]
    assert ranking.to_json().encode()
    ranking.report(tmp_path / "page.html")


def test_types_that_polars_does_not_know_are_told(tmp_path):
    union = pa.UnionArray.from_sparse(pa.array([0] * 60, pa.int8()), [pa.array(X)])
    table = pa.table({"x": X, "y": X, "u": union})
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as file:
        file.write_table(table)
    with pytest.raises(ValueError, match=r"^t\.arrow cannot be read as arrow: it is damaged, or a column has a type"):
        rank(str(tmp_path / "t.arrow"), "y")
    with pytest.raises(ValueError, match=r"^data: a column has a type that polars cannot read: "):
        rank(table, "y")


def test_a_table_without_columns_is_told(tmp_path):
    pa.parquet.write_table(pa.table({"x": X}).select([]), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"^t\.parquet has no columns\.$"):
        rank(str(tmp_path / "t.parquet"), "y")
    with pytest.raises(ValueError, match=r"^the table has no columns\.$"):
        rank(pl.DataFrame(), "y")


def test_a_small_file_that_unpacks_to_many_rows_is_refused_within_the_memory_that_is_allowed(tmp_path):
    block = "".join(f"{i % 97},{i % 10}\n" for i in range(2000)).encode()
    with gzip.open(tmp_path / "t.csv.gz", "wb") as file:
        file.write(b"x,y\n")
        for _ in range(2000):
            file.write(block)
    assert (tmp_path / "t.csv.gz").stat().st_size < 200_000
    with pytest.raises(ValueError, match=r"^memory must be at least [\d.]+ [MG]B for this table; got '1GB'"):
        rank(str(tmp_path / "t.csv.gz"), "y", memory="1GB")


def passes(tmp_path, monkeypatch, n_columns):
    """Return how often a file with so many columns is read to find out what they hold."""
    path = tmp_path / f"{n_columns}.csv"
    rows = (",".join(str((i * j) % 7 / 4) for j in range(n_columns)) for i in range(4))
    path.write_text("\n".join([",".join(f"x{j}" for j in range(n_columns)), *rows]))
    counted = []
    collect = Source.collect
    monkeypatch.setattr(Source, "collect", lambda self, frame: counted.append(1) or collect(self, frame))
    with open_source(str(path)) as source:
        counted.clear()
        take_inventory(source, source.names, ())
    return len(counted)


def test_a_wide_file_is_read_no_more_often_than_a_narrow_one(tmp_path, monkeypatch):
    assert passes(tmp_path, monkeypatch, 3000) == passes(tmp_path, monkeypatch, 30)
