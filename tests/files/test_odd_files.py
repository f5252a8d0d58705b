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
import xlsxwriter

from firstfactor import rank
from firstfactor.files.formats import open_source
from firstfactor.files.inventory import take_inventory
from firstfactor.files.source import AT_ONCE, Source

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


def longest_query(tmp_path, monkeypatch, n_columns):
    """Return the length of the longest question that is asked to find out what so many columns hold."""
    path = tmp_path / f"{n_columns}.csv"
    rows = (",".join(str((i * j) % 7 / 4) for j in range(n_columns)) for i in range(4))
    path.write_text("\n".join([",".join(f"x{j}" for j in range(n_columns)), *rows]))
    lengths, collect = [], Source.collect
    with open_source(str(path)) as source:
        monkeypatch.setattr(
            Source,
            "collect",
            lambda self, frame: lengths.append(len(frame.explain(optimized=False))) or collect(self, frame),
        )
        take_inventory(source, source.names, ())
    monkeypatch.undo()
    return max(lengths)


def test_what_a_file_is_asked_does_not_grow_with_the_columns_of_other_questions(tmp_path, monkeypatch):
    assert longest_query(tmp_path, monkeypatch, 5 * AT_ONCE) < 1.2 * longest_query(tmp_path, monkeypatch, AT_ONCE)


def test_a_sheet_with_many_columns_without_names_takes_little_memory(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        sheet = book.add_worksheet()
        for row, values in enumerate([["x", "y"], *([x, 2 * x] for x in X)]):
            sheet.write_row(row, 0, values)
        sheet.write(60, 5000, 1)
    with open_source(str(tmp_path / "t.xlsx")) as source:
        assert len(source.names) == 5001 and source.names[2] == "column 3"
        assert sum(map(len, source.frame.collect_schema().names())) < 10**5
    assert rank(str(tmp_path / "t.xlsx"), "y", factors="x").indices.names == ("x",)
