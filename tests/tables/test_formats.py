"""Files of every format: how it is found out, what can be wrong with a file, and the same table from all."""

import contextlib
import gzip
import json
import os
import re
import sqlite3
import sys
import zipfile

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
from reading import read, read_text, write, write_tables
from sample_tables import frame_of_all_kinds

from firstfactor import rank
from firstfactor.settings import find
from firstfactor.tables.dataset import read_dataset
from firstfactor.tables.formats import FORMATS, open_source
from firstfactor.tables.roles import Request

X = np.random.default_rng(0).normal(size=60).round(4).tolist()

LINES = "".join(f"{x},{2 * x}\n" for x in X)


ROWS = 60


@pytest.fixture(scope="module")
def frame():
    return frame_of_all_kinds(ROWS)


@pytest.mark.parametrize("suffix", ["csv", "txt", "tsv", "parquet", "arrow", "feather", "ipc", "jsonl", "ndjson"])
@pytest.mark.parametrize("zipped", ["", ".gz"])
def test_every_format_gives_the_same_table(frame, tmp_path, suffix, zipped):
    table = read(write(frame, tmp_path / f"t.{suffix}{zipped}"))
    assert table.X.columns == ["size", "count", "make", "when"]
    assert table.X["when"].to_list() == frame["when"].to_list()
    assert table.X["size"].to_list() == frame["size"].to_list()
    assert table.X["count"].to_list() == frame["count"].to_list()
    assert table.X["make"].to_list() == frame["make"].to_list()
    assert table.y.to_list() == frame["y"].to_list()
    assert table.left_out == {"id": "text, all different"}
    assert (table.n_read, table.n_drawn, table.n_dropped) == (ROWS, None, 0)


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "arrow", "jsonl"])
def test_a_name_that_tells_nothing_needs_a_format(frame, tmp_path, kind):
    path = write(frame, tmp_path / f"t.{kind}").rename(tmp_path / "table")
    assert read(path, kind=kind).X.width == 4
    if kind in ("parquet", "arrow"):
        assert read(path).X.width == 4  # the first bytes tell
    else:
        with pytest.raises(ValueError, match=r"'table' does not tell the format\. Name it with format="):
            read(path)


@pytest.mark.parametrize("suffix", ["xlsx", "sqlite", "duckdb"])
@pytest.mark.parametrize("zipped", ["", ".gz"])
def test_workbooks_and_databases_give_the_same_table(frame, tmp_path, suffix, zipped):
    path = write_tables(tmp_path / f"t.{suffix}", only=frame)
    if zipped:
        path = tmp_path / f"t.{suffix}.gz"
        path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    table = read(path)
    assert table.X["size"].to_list() == pytest.approx(frame["size"].to_list(), rel=1e-14)
    assert table.X["count"].to_list() == frame["count"].to_list()
    assert table.X["make"].to_list() == frame["make"].to_list()
    assert table.X["when"].cast(pl.Date).to_list() == frame["when"].to_list()
    assert table.left_out == {"id": "text, all different"}
    assert table.remarks == ()


@pytest.mark.parametrize("suffix", ["xlsx", "sqlite", "duckdb"])
def test_one_of_several_tables_has_to_be_named(frame, tmp_path, suffix):
    path = write_tables(tmp_path / f"t.{suffix}", one=frame, two=frame.head(20))
    kind = "sheet" if suffix == "xlsx" else "table"
    with pytest.raises(ValueError, match=rf"has 2 {kind}s: name one with table=\. They are: 'one', 'two'\."):
        read(path)
    with pytest.raises(ValueError, match=rf"table: t\.{suffix} has no {kind} 'three'\. It has: 'one', 'two'\."):
        read(path, table="three")
    table = read(path, table="two")
    assert table.n_read == 20 and table.reading["table"] == "two"


def test_a_file_without_tables_takes_no_name(tmp_path):
    with pytest.raises(ValueError, match=r"table= is for excel, sqlite, duckdb files; table\.csv is read as csv"):
        read_text(tmp_path, "x,y\n1,2\n", table="one")


@pytest.mark.parametrize(("suffix", "kind"), [("xlsx", "excel"), ("sqlite", "sqlite"), ("duckdb", "duckdb")])
@pytest.mark.parametrize("name", ["t.db", "t.csv", "t"])
def test_the_first_bytes_tell_workbooks_and_databases(frame, tmp_path, suffix, kind, name):
    path = write_tables(tmp_path / f"t.{suffix}", only=frame).rename(tmp_path / name)
    assert read(path).reading["format"] == kind


def test_text_that_looks_like_a_mark_is_text(tmp_path):
    assert read_text(tmp_path, "species,DUCK,y\n1,2,3\n2,3,4\n5,6,8\n").X.columns == ["species", "DUCK"]


def test_other_zip_archives_are_to_be_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("t.csv", "x,y\n1,2\n")
    with pytest.raises(ValueError, match=r"t\.zip is a zip archive: unpack it first"):
        read(tmp_path / "t.zip")


def test_a_stata_file(frame, tmp_path):
    labelled = frame.drop("when").to_pandas().assign(make=lambda table: table["make"].astype(str).astype("category"))
    labelled.to_stata(tmp_path / "t.dta", write_index=False)
    table = read(tmp_path / "t.dta")
    assert table.X["make"].to_list() == frame["make"].to_list() and table.y.to_list() == frame["y"].to_list()


ROWS_OF_JSON = [{"x": 1, "k": "a", "y": 2}, {"x": 2, "k": "b", "y": 5}, {"x": 4, "k": "a", "y": 3}]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(ROWS_OF_JSON, indent=1),
        "\n".join(map(json.dumps, ROWS_OF_JSON)),
        json.dumps({name: [row[name] for row in ROWS_OF_JSON] for name in "xky"}),
        json.dumps({name: {i: row[name] for i, row in enumerate(ROWS_OF_JSON)} for name in "xky"}),
        json.dumps({"columns": list("xky"), "index": [0, 1, 2], "data": [list(row.values()) for row in ROWS_OF_JSON]}),
    ],
    ids=["records", "lines", "lists", "columns", "split"],
)
def test_json_in_all_the_ways_that_pandas_writes_it(tmp_path, content):
    table = read_text(tmp_path, content, name="t.json")
    assert table.X.rows() == [(1, "a"), (2, "b"), (4, "a")] and table.y.to_list() == [2, 5, 3]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.xlsx", "no", "t.xlsx cannot be read as excel: "),
        ("t.sqlite", "no", "t.sqlite cannot be read as sqlite: file is not a database."),
        ("t.duckdb", "no", "t.duckdb cannot be read as duckdb: "),
        ("t.dta", "no", "t.dta cannot be read as stata: "),
        ("t.json", '[{"x": 1},\n{', "t.json is not JSON: expecting property name enclosed in double quotes on line 2."),
        ("t.json", "3", 't.json must hold a list of rows such as [{"x": 1, "y": 2}, …]'),
        ("t.json", b"\xff{}", "line 1 of t.json is not UTF-8"),
        (
            "t.sav",
            "no",
            "'t.sav' does not tell the format. Name it with format= (csv, tsv, parquet, arrow, jsonl, json, ",
        ),
    ],
)
def test_files_that_are_not_what_they_are_called(tmp_path, name, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_text(tmp_path, text, name=name)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [("t.xlsx", "fastexcel", "excel"), ("t.duckdb", "duckdb", "sql"), ("t.dta", "pandas", "stata")],
)
def test_a_format_that_needs_an_extra_says_so(tmp_path, monkeypatch, name, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"file needs {package}: pip install 'firstfactor\[{extra}\]'"):
        read_text(tmp_path, "no", name=name)


def test_text_in_loosely_typed_files_is_read_as_in_csv_files(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "t.db")) as connection, connection:
        connection.execute("create table t (x, z, y)")
        rows = [("?" if i % 9 == 4 else i * 0.5, str(i * i % 7), i) for i in range(18)]
        connection.executemany("insert into t values (?, ?, ?)", rows)
    with pytest.raises(
        ValueError, match=r"'x' of t\.db holds numbers, but for '\?' on row 5 and 1 more.* Use na='\?' if"
    ):
        read(tmp_path / "t.db")
    table = read(tmp_path / "t.db", na=["?"], drop_missing=True)
    assert len(table.X) == 16 and table.X.dtypes == [pl.Float64, pl.Float64]
    assert "Columns 'x' and 'z' were read as numbers: stored as text." in table.remarks


def test_temporary_files_go_away(frame, tmp_path):
    with open_source(str(write(frame, tmp_path / "t.csv.gz"))) as source:
        unpacked = source.path
        assert unpacked.exists()
    assert not unpacked.exists()


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_file_that_grows_while_it_is_read_is_told(frame, tmp_path, suffix):
    path = write(frame, tmp_path / f"t.{suffix}")

    def read_while_it_grows():
        with open_source(str(path)) as source, path.open("ab") as file:
            file.write(path.read_bytes().splitlines(keepends=True)[-1])
            file.flush()
            read_dataset(source, Request("y"))

    with pytest.raises(ValueError, match=rf"t\.{suffix} was changed while it was read\. Run again"):
        read_while_it_grows()


def test_faults_of_other_formats(tmp_path):
    with pytest.raises(ValueError, match=r"line 2 of t\.jsonl is not a JSON object"):
        read_text(tmp_path, '{"x": 1, "y": 2}\n{"x": 1, \n', name="t.jsonl")
    with pytest.raises(ValueError, match=r"t\.parquet cannot be read as parquet"):
        read_text(tmp_path, "no", name="t.parquet")
    with pytest.raises(ValueError, match=r"t\.arrow cannot be read as arrow"):
        read_text(tmp_path, "no", name="t.arrow")
    mixed = r"^'x' is a number or text on line 1 of t\.jsonl and true or false on line 3: "
    with pytest.raises(ValueError, match=mixed):
        read_text(tmp_path, '{"x": 1, "y": 2}\n{"x": 2, "y": 2}\n{"x": true, "y": 3}\n', name="t.jsonl")
    with pytest.raises(ValueError, match=r"^line 2 of t\.jsonl is not a JSON object.* write null\.$"):
        read_text(tmp_path, '{"x": 1, "y": 2}\n{"x": NaN, "y": 2}\n', name="t.jsonl")
    with pytest.raises(ValueError, match=r"^t\.jsonl has no rows\.$"):
        read_text(tmp_path, "\n\n", name="t.jsonl")
    packed = gzip.compress(np.random.default_rng(0).bytes(2000))
    with pytest.raises(ValueError, match=r"t\.csv\.gz is damaged"):
        read_text(tmp_path, packed[:1000], name="t.csv.gz")


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl"])
def test_files_without_contents_are_empty(tmp_path, name, content):
    with pytest.raises(ValueError, match=r"^t\.\w+ is empty\.$"):
        read_text(tmp_path, content, name=name)


def test_a_damaged_file_on_which_polars_panics_is_told(frame, tmp_path):
    write(frame, tmp_path / "t.arrow")
    with open_source(str(tmp_path / "t.arrow")) as source:
        panicking = source.frame.map_batches(_panic, streamable=True)
        with pytest.raises(ValueError, match=r"^t\.arrow is damaged: it cannot be read as arrow\.$"):
            source.collect(panicking)


def _panic(_):
    raise pl.exceptions.PanicException("assertion failed")


def test_a_name_that_looks_like_a_pattern_is_a_name(frame, tmp_path):
    frame.write_ndjson(tmp_path / "[t?*].jsonl")
    assert len(read(tmp_path / "[t?*].jsonl").X) == ROWS
    assert os.listdir(tmp_path) == ["[t?*].jsonl"]


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "table.csv").write_text("x,y\n1,2\n")
    with pytest.raises(ValueError, match=r"there is no file '.*tabel\.csv'\. Did you mean '.*table\.csv'\?"):
        read(tmp_path / "tabel.csv")
    with pytest.raises(ValueError, match="is not a file"):
        read(tmp_path)


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
    assert rank(table, "y", drop=["x"]).dataset.X.columns == ["u"]  # value by value


def test_a_table_without_columns_is_told(tmp_path):
    pa.parquet.write_table(pa.table({"x": X}).select([]), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"^t\.parquet has no columns\.$"):
        rank(str(tmp_path / "t.parquet"), "y")
    with pytest.raises(ValueError, match=r"^the table has no columns\.$"):
        rank(pl.DataFrame(), "y")


@pytest.mark.slow
def test_a_small_file_that_unpacks_to_many_rows_is_refused_within_the_memory_that_is_allowed(tmp_path):
    block = "".join(f"{i % 97},{i % 10}\n" for i in range(2000)).encode()
    with gzip.open(tmp_path / "t.csv.gz", "wb") as file:
        file.write(b"x,y\n")
        for _ in range(2000):
            file.write(block)
    assert (tmp_path / "t.csv.gz").stat().st_size < 200_000
    with pytest.raises(ValueError, match=r"^memory must be at least [\d.]+ [MG]B for this table; got '1GB'"):
        rank(str(tmp_path / "t.csv.gz"), "y", memory="1GB")


def test_every_format_is_a_choice_of_its_parameter():
    assert tuple(FORMATS) == find("format").metadata["choices"]
    suffixes = [suffix for each in FORMATS.values() for suffix in each.suffixes]
    assert len(suffixes) == len(set(suffixes))
