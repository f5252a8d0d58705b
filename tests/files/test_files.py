"""Tables from files: every format, what can be wrong with a file, and which columns can be factors."""

import contextlib
import datetime
import gzip
import json
import os
import re
import sqlite3
import sys
import zipfile

import duckdb
import numpy as np
import polars as pl
import pytest
import xlsxwriter
from tables import frame_of_all_kinds

from firstfactor.files.dataset import read_dataset
from firstfactor.files.formats import open_source
from firstfactor.files.inventory import take_inventory
from firstfactor.files.roles import Request, match_names
from firstfactor.files.text import csv_line
from firstfactor.parameters import Options, RankParameters

ROWS = 60


@pytest.fixture(scope="module")
def frame():
    return frame_of_all_kinds(ROWS)


def write(frame, path):
    kind = path.name.split(".")[1]
    {
        "csv": frame.write_csv,
        "txt": frame.write_csv,
        "tsv": lambda target: frame.write_csv(target, separator="\t"),
        "parquet": frame.write_parquet,
        "arrow": frame.write_ipc,
        "feather": frame.write_ipc,
        "ipc": frame.write_ipc,
        "jsonl": frame.write_ndjson,
        "ndjson": frame.write_ndjson,
    }[kind](path.with_name(f"t.{kind}"))
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    return path


def read(path, target="y", kind=None, table=None, na=(), decimal=None, **wanted):
    missing = "drop" if wanted.pop("drop_missing", False) else "error"
    forced = wanted.pop("forced", ())
    said = {name: wanted.pop(name) for name in ("categorical", "factor_groups", "period", "scale", "missing", "task")
            if name in wanted}  # fmt: skip
    parameters = RankParameters(format=kind, table=table, na=na, decimal=decimal, **wanted)
    with open_source(str(path), parameters) as source:
        return read_dataset(source, Request(target, parameters, Options(**{"missing": missing} | said), forced))


def read_text(tmp_path, text, target="y", name="table.csv", **wanted):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path, target, **wanted)


# --- formats --------------------------------------------------------------------------------------------


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


# --- formats that are read whole ------------------------------------------------------------------------


def write_tables(path, **tables):
    """Write tables by name into one file."""
    if path.suffix == ".xlsx":
        with xlsxwriter.Workbook(path) as book:
            for name, frame in tables.items():
                frame.write_excel(book, name)
            book.add_worksheet("Empty")
    elif path.suffix == ".duckdb":
        with duckdb.connect(str(path)) as connection:
            for name, frame in tables.items():
                connection.register("given", frame)
                connection.execute(f'create table "{name}" as select * from given')
    else:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            for name, frame in tables.items():
                frame.to_pandas().to_sql(name, connection, index=False)
    return path


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


def test_semicolons_byte_order_marks_and_windows_line_ends(tmp_path):
    table = read_text(tmp_path, b"\xef\xbb\xbfx;y\r\n1;2\r\n3;4.5\r\n5;4\r\n\r\n")
    assert table.X["x"].to_list() == [1, 3, 5] and table.y.to_list() == [2, 4.5, 4]


def test_decimal_commas_are_understood_where_they_separate_no_columns(tmp_path):
    table = read_text(tmp_path, "x;kind;y\n1,5;a,b;-2,25\n-0,5;a,b; 4,5e1\n,25;1,5;4\n")
    assert table.X["x"].to_list() == [1.5, -0.5, 0.25] and table.y.to_list() == [-2.25, 45, 4]
    assert table.X["kind"].to_list() == ["a,b", "a,b", "1,5"]


def test_commas_next_to_decimal_points_are_text(tmp_path):
    table = read_text(tmp_path, "x;y\n1,5;2.5\n2,5;3.5\n1,5;4.5\n")
    assert table.X["x"].to_list() == ["1,5", "2,5", "1,5"] and table.y.to_list() == [2.5, 3.5, 4.5]


def test_blanks_around_numbers_are_no_text(tmp_path):
    table = read_text(tmp_path, "x,y\n 1,2 \n 2.5, 3\n4,1e1\n")
    assert table.X["x"].to_list() == [1, 2.5, 4] and table.y.to_list() == [2, 3, 10]


def test_quoted_fields_may_hold_separators_quotes_and_line_breaks(tmp_path):
    table = read_text(tmp_path, 'x,y\n"a, ""b""\nc",1\nd,2\n"a, ""b""\nc",3\nd,4\n')
    assert table.X["x"].to_list() == ['a, "b"\nc', "d", 'a, "b"\nc', "d"]


def test_blank_lines_are_not_rows(tmp_path):
    table = read_text(tmp_path, "x,y\n1,2\n\n2,1\n3,5\n\n\n")
    assert table.X["x"].to_list() == [1, 2, 3] and table.n_read == 3


def test_large_whole_numbers_keep_their_digits(tmp_path):
    table = read_text(tmp_path, f"x,y\n{2**60},1\n{2**60 + 1},2\n{2**60 + 2},4\n")
    assert table.X["x"].to_list() == [2**60, 2**60 + 1, 2**60 + 2]
    table = read_text(tmp_path, "x,y\n1e300,1\n2e300,2\n5e300,4\n")
    assert table.X["x"].to_list() == [1e300, 2e300, 5e300]


def test_large_whole_numbers_keep_their_digits_next_to_gaps_and_beyond_63_bits(tmp_path):
    text = f"x,z,y\n{2**53 + 1},{2**63 + 1},1\n{2**53 + 2},{2**63 + 2},2\n,{2**63 + 5},3\n{2**53 + 9},{2**63 + 7},9\n"
    table = read_text(tmp_path, text, drop_missing=True)
    assert table.X["x"].to_list() == [2**53 + 1, 2**53 + 2, 2**53 + 9]
    assert table.X["z"].to_list() == [2**63 + 1, 2**63 + 2, 2**63 + 7]
    table = read_text(tmp_path, f"x,y\n{2**60},1\n{2**60 + 1},2\n{2**60 + 2},4\n")
    assert table.X["x"].to_list() == [2**60, 2**60 + 1, 2**60 + 2]  # as float64, these are all the same
    table = read_text(tmp_path, f",z,y\n{2**53 + 1},0,1\n{2**53 + 3},1,2\n{2**53 + 4},0,4\n")
    assert table.left_out != {"column 1": "counts the rows"}  # as float64, these are one more each
    table = read_text(tmp_path, f",z,y\n{2**60},0,1\n{2**60 + 1},1,2\n{2**60 + 2},0,4\n")
    assert table.left_out == {"column 1": "counts the rows"}


def test_whole_numbers_of_128_bits(tmp_path):
    near, far = [2**80, 2**80 + 1, 2**80 + 5], [2**80, 2**81, 2**82]
    columns = {"i": pl.Series([5, 7, 9], dtype=pl.Int128), "far": pl.Series(far, dtype=pl.Int128), "y": [1, 2, 4]}
    table = read(write(pl.DataFrame(columns), tmp_path / "t.parquet"))
    assert table.X["i"].to_list() == [5, 7, 9] and table.X["i"].dtype == pl.Int64
    assert table.X["far"].to_list() == [float(value) for value in far]
    path = write(pl.DataFrame({"near": pl.Series(near, dtype=pl.Int128), "y": [1, 2, 4]}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"'near' of t\.parquet holds whole numbers of more than 64 bits .* labels"):
        read(path)
    assert read(path, categorical=["near"]).X["near"].to_list() == [str(value) for value in near]


# --- numbers that are written otherwise -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "numbers", "done"),
    [
        (["$12.3", "-$4", "$1,234.5"], [12.3, -4, 1234.5], "$ and thousands separators removed"),
        (["12%", "3.5 %", "-1%"], [12, 3.5, -1], "% removed"),
        (["1,234", "987", "1,234,567.5"], [1234, 987, 1234567.5], "thousands separators removed"),
        (["1 234", "98", "12\u00a0345"], [1234, 98, 12345], "thousands separators removed"),
        (["1'234", "98", "12'345.5"], [1234, 98, 12345.5], "thousands separators removed"),
        (["(12)", "3", "(1.5)"], [-12, 3, -1.5], "parentheses taken for minus signs"),
        (["($1,200)", "$3", "NA"], [-1200, 3, None], "$ and thousands separators removed, parentheses taken for minus"),
        (["12 €", "4€", "€ 5"], [12, 4, 5], "€ removed"),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_numbers_with_units_and_separators_are_numbers(tmp_path, written, numbers, done, suffix):
    written = [None if value == "NA" and suffix == "parquet" else value for value in written]
    columns = {"price": written * 3, "x": list(range(9)), "y": [0.5 * i * i for i in range(9)]}
    table = read(write(pl.DataFrame(columns), tmp_path / f"t.{suffix}"), drop_missing=True)
    assert table.X["price"].to_list() == [number for number in numbers * 3 if number is not None]
    assert table.remarks[0].startswith(f"Column 'price' was read as numbers: {done}")
    kept = read(tmp_path / f"t.{suffix}", categorical=["price"], drop_missing=True)
    assert kept.X["price"].dtype == pl.String


@pytest.mark.parametrize(
    "written", [["$1", "€2", "$3"], ["5%", "6", "7%"], ["1,234", "1 234", "5"], ["0,123", "1,234", "5"]]
)
def test_numbers_written_in_several_ways_are_text(tmp_path, written):
    columns = {"price": written * 3, "y": [0.5 * i * i for i in range(9)]}
    assert read(write(pl.DataFrame(columns), tmp_path / "t.csv")).X["price"].to_list() == written * 3


def test_a_decimal_comma_goes_with_points_between_thousands(tmp_path):
    text = "x;z;y\n1.234,5;2.000;1,5 €\n-0,5;3.000;2 €\n3,25;4.500;3,25 €\n"
    table = read_text(tmp_path, text)
    assert table.X["x"].to_list() == [1234.5, -0.5, 3.25] and table.X["z"].to_list() == [2000, 3000, 4500]
    assert table.y.to_list() == [1.5, 2, 3.25] and table.reading["decimal"] == ","


def test_commas_that_may_be_either_have_to_be_explained(tmp_path):
    text = "x;y\n1,234;1\n2,345;2\n3,456;4\n"
    with pytest.raises(
        ValueError, match=r'commas in the numbers of table\.csv may be decimal.* Use decimal="," or decimal='
    ):
        read_text(tmp_path, text)
    assert read_text(tmp_path, text, decimal=",").X["x"].to_list() == [1.234, 2.345, 3.456]
    assert read_text(tmp_path, text, decimal=".").X["x"].to_list() == [1234, 2345, 3456]
    quoted = 'x,y\n"1,234",1\n"2,345",2\n"3,456",4\n'  # a file with commas between columns is an English one
    assert read_text(tmp_path, quoted).X["x"].to_list() == [1234, 2345, 3456]
    assert read_text(tmp_path, quoted.replace("2,345", "2,5")).X["x"].to_list() == [1.234, 2.5, 3.456]


# --- lines, names and headers ---------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow", "jsonl", "json"])
def test_names_that_polars_takes_for_patterns_or_nothing(tmp_path, suffix):
    frame = pl.DataFrame({"*": [1, 2, 4], "^x$": [3, 4, 6], "": [1, 3, 1], "^.*$": ["a", "b", "a"], "^y$": [1, 3, 9]})
    if suffix == "json":
        (tmp_path / "t.json").write_text(json.dumps(frame.to_dicts()))
    else:
        write(frame, tmp_path / f"t.{suffix}")
    table = read(tmp_path / f"t.{suffix}", "^y$")
    assert table.X.columns == ["*", "^x$", "column 3", "^.*$"]
    assert table.X.rows() == [(1, 3, 1, "a"), (2, 4, 3, "b"), (4, 6, 1, "a")]
    assert read(tmp_path / f"t.{suffix}", "*", drop=["^.*$"]).X.columns == ["^x$", "column 3", "^y$"]


@pytest.mark.parametrize("header", ["a, b ,y", '"a", "b", "y"', " a,b, y "])
def test_blanks_around_names_are_not_part_of_them(tmp_path, header):
    table = read_text(tmp_path, f"{header}\n1,2,3\n2,3,4\n5,6,8\n", " y")
    assert table.X.columns == ["a", "b"] and table.y.name == "y"


def test_names_that_differ_in_blanks_alone_are_kept(tmp_path):
    table = read(write(pl.DataFrame({"a": [1, 2, 3], "a ": [4, 5, 7], "y": [1, 2, 5]}), tmp_path / "t.parquet"))
    assert table.X.columns == ["a", "a "]


PLAIN = "a,b,y\n1,2,3\n2,3,4\n5,6,8\n"


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("\n", "\r"),
        PLAIN.replace("\n", "\r\n", 2).replace("\n5", "\r5"),
        PLAIN.replace("y\n", "y\n\n  \n"),
        PLAIN + "\n,,\n,,\n",
        "sep=;\n" + PLAIN.replace(",", ";"),
        "# made today, of this, and that, and more\n# x\n" + PLAIN,
        PLAIN.replace(",", "|"),
        PLAIN.replace("a,b", '"a","b"').replace(",", "\t"),
    ],
    ids=["CR", "mixed", "blank below header", "empty rows", "sep=", "comments", "bars", "tabs"],
)
def test_lines_that_are_no_rows_and_all_line_ends(tmp_path, text):
    table = read_text(tmp_path, text)
    assert table.X.rows() == [(1, 2), (2, 3), (5, 6)] and table.y.to_list() == [3, 4, 8]


@pytest.mark.parametrize("above", ["", "# a comment\n# and one more\n", "sep=,\n"])
def test_lines_above_and_below_the_header_count(tmp_path, above):
    with pytest.raises(ValueError, match=rf"'a' .* has 1 missing value \(on line {above.count(chr(10)) + 4}\)"):
        read_text(tmp_path, above + PLAIN.replace("y\n", "y\n\n").replace("2,3,4", ",3,4"))


def test_a_header_without_a_name_for_row_names_or_for_a_separator_at_the_end(tmp_path):
    table = read_text(tmp_path, "a,y\nu,1,2\nv,2,3\nw,5,8\n")
    assert table.X["a"].to_list() == [1, 2, 5] and table.left_out == {"column 1": "text, all different"}
    table = read_text(tmp_path, "a,y\n1,2,\n2,3,\n5,8,\n")
    assert table.X["a"].to_list() == [1, 2, 5] and table.left_out == {"column 3": "no values"}


# --- what is wrong with a file --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "table.csv is empty."),
        ("\n1,2\n", "the first line of table.csv is blank"),
        ("x,y\n", "table.csv has no rows below its header."),
        ("x,x,y\n1,2,3\n", "two columns of table.csv have the name 'x'. Rename one."),
        ("x,z,y\n1,2,3\n4,5\n6,7,8\n", "line 3 of table.csv has 2 fields, but the header has 3."),
        ("x,z,y\n1,2,3\n4,5,6\n6,7,8,9\n", "line 4 of table.csv has 4 fields, but the header has 3."),
        ('x,y\n"a\nb",1\n"c\n', "the double quote opened on line 4 of table.csv is never closed."),
        ("x,y\n1,2\nKöln,3\n".encode("latin1"), "line 3 of table.csv is not UTF-8 (byte 0xf6 at column 2)."),
        ("xö,y\n1,2\n".encode("latin1"), "line 1 of table.csv is not UTF-8"),
        ("x,y\n1,2\n".encode("utf-16"), "table.csv is UTF-16, not UTF-8. Convert it: iconv"),
        ("x,y\n1,2\n", "table.csv has 1 row; at least 3 are needed."),
        ("x,y\n1,2\n2,3\n", "table.csv has 2 rows; at least 3 are needed."),
        ("y\n1\n2\n3\n", "table.csv has only one column, 'y'. Columns of text files must be separated by commas"),
        ("x y\n1 2\n", "the columns of table.csv seem to be separated by blanks; it must be commas, semicolons,"),
        ("x,y\n1,2\n".encode("utf-16-le"), "table.csv is not UTF-8 text: it holds NUL bytes. If it is UTF-16, convert"),
        ('x,y\n"a",1\n5" pipe,2\n' + "b,3\n" * 9, "line 3 of table.csv has a double quote in the middle of a field"),
        ("x,y\n1,2\n2,inf\n", "column 'y' of table.csv has an infinite value on line 3."),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_text(tmp_path, text)


def test_a_ragged_line_is_told_even_in_columns_that_are_not_read(tmp_path):
    with pytest.raises(ValueError, match=r"line 3 of table\.csv has 4 fields"):
        read_text(tmp_path, "x,y,z\n1,2,3\n1,2,3,4\n5,6,7\n", factors=["x"])


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


def test_a_column_of_numbers_with_stray_text_is_told_with_its_line(tmp_path):
    rows = [f"{i},{i % 7}" for i in range(20_000)]
    rows[12_345] = "oops,3"
    text = "x,y\n" + "\n".join(rows) + "\n"
    with pytest.raises(ValueError, match=r"'x' of table\.csv holds numbers, but for 'oops' on line 12,347, of 20,000"):
        read_text(tmp_path, text)
    kept = read_text(tmp_path, text, categorical=["x"])
    assert kept.X["x"][12_345] == "oops" and kept.categorical == ("x",)
    lines = "".join(f'{{"x": {x}, "y": {y}}}\n' for x, y in (row.split(",") for row in rows)).replace("oops", '"oops"')
    with pytest.raises(ValueError, match=r"column 'x' of t\.jsonl holds numbers, but for 'oops' on line 12,346"):
        read_text(tmp_path, lines, name="t.jsonl")


def test_nine_of_ten_numbers_are_numbers_with_something_wrong(tmp_path):
    rows = [f"{'high' if i == 3 else i},{i * i}" for i in range(10)]
    with pytest.raises(ValueError, match="holds numbers, but for 'high' on line 5"):
        read_text(tmp_path, "x,y\n" + "\n".join(rows) + "\n")
    assert read_text(tmp_path, "x,z,y\n" + "\n".join(f"1,{row}" for row in rows[:9]) + "\n").left_out


def test_few_labels_most_of_which_are_numbers_are_labels(tmp_path):
    cylinders = ["4", "6", "8"] * 20 + ["rotary"]
    table = read_text(tmp_path, "x,y\n" + "".join(f"{x},{i}\n" for i, x in enumerate(cylinders)))
    assert table.X["x"].to_list() == cylinders
    assert table.remarks == ("Column 'x' was taken for categories: 'rotary' is no number.",)
    with pytest.raises(ValueError, match=r"but for '\?' on line 62, of 61 values\. Use na='\?'"):
        read_text(tmp_path, "x,y\n" + "".join(f"{x},{i}\n" for i, x in enumerate([*cylinders[:-1], "?"])))


def test_the_line_of_a_row_counts_line_breaks_in_quotes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('x,y\n"a\nb",1\n\n"c",2\n')
    assert [csv_line(path, ",", row) for row in range(3)] == [2, 4, 5]


@pytest.mark.parametrize("mark", ["?", "-", ".", "unknown"])
def test_a_mark_among_numbers_is_suggested_as_missing(tmp_path, mark):
    share = 20 if mark == "unknown" else 4  # a word has to be rare, or it may be a label
    text = "x,y\n" + "".join(f"{mark if i % share == 3 else i},{i % 7}\n" for i in range(40))
    message = (
        rf"holds numbers, but for '{re.escape(mark)}' on line 5 and \d more, .* Use na='{re.escape(mark)}' if it st"
    )
    with pytest.raises(ValueError, match=message):
        read_text(tmp_path, text)
    table = read_text(tmp_path, text, na=[mark], drop_missing=True)
    assert table.n_dropped == 40 // share and table.X["x"].dtype == pl.Float64 and table.reading["na"] == (mark,)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_numbers_and_words_can_stand_for_missing_values(tmp_path, suffix):
    columns = {"x": [1.0, -999.0, 3.0, 4.0, 7.0], "k": ["a", "b", "none", "a", "b"], "n": [1, 2, 5, -999, 7]}
    path = write(pl.DataFrame({**columns, "y": [1, 2, 4, 8, 9]}), tmp_path / f"t.{suffix}")
    assert read(path).n_read == 5
    with pytest.raises(
        ValueError, match=r"3 columns of .* have missing values: 'x' 1 \(on (line|row) \d\), 'k' 1, 'n' 1\."
    ):
        read(path, na=["-999", "none"])


# --- missing values and rows ----------------------------------------------------------------------------

GAPS = "x,z,unused,y\n1,a,,1\n2,NA,,2\n,b,,3\n4,a,,4\n5,b,,nan\n6,a,,6\n"


def test_missing_values_are_an_error_that_names_the_column_and_the_line(tmp_path):
    message = (
        "2 columns of table.csv have missing values: 'x' 1 (on line 4), 'z' 1. Use missing=\"level\" to take \"not "
        'known" for a value of its own, missing="drop" to leave out the 2 of 6 rows with missing values, or drop= to '
        "leave out columns."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        read_text(tmp_path, GAPS)


def test_missing_values_are_kept_unless_said_otherwise(tmp_path):
    table = read_text(tmp_path, GAPS, missing="level")
    assert table.X.rows() == [(1, "a"), (2, None), (None, "b"), (4, "a"), (6, "a")]
    assert table.y.to_list() == [1, 2, 3, 4, 6] and table.left_out == {"unused": "no values"}
    assert table.say_dropped() == ["1 row without a value of y was left out."]


def test_gaps_in_rows_without_a_target_are_no_reason_to_refuse(tmp_path):
    assert len(read_text(tmp_path, "x,y\n1,2\n,\n3,4\n5,7\n").X) == 3
    assert len(read_text(tmp_path, "x,z,y\n1,1,2\n,5,\n3,2,4\n5,3,7\n").X) == 3


def test_columns_with_missing_values_are_counted_most_first(tmp_path):
    rows = [",".join("" if i < j else str(i + 1) for j in range(13)) + f",{i}" for i in range(20)]
    text = ",".join(f"x{j}" for j in range(13)) + ",y\n" + "\n".join(rows)
    with pytest.raises(
        ValueError, match=r"12 columns of table\.csv have missing values: 'x12' 12 \(first on line 2\), 'x11' 11, "
    ) as told:
        read_text(tmp_path, text)
    assert "'x3' 3 and 2 more columns. Use missing=\"level\" to take" in str(told.value)
    assert 'missing="drop" to leave out the 12 of 20 rows' in str(told.value)
    with pytest.raises(
        ValueError, match=r"0 of 3 rows .* Missing values: 'x' 2, 'z' 1\. Use missing=\"level\" to keep these rows\."
    ):
        read_text(tmp_path, "x,z,y\n,1,2\n3,,4\n,2,3\n", drop_missing=True)


def test_rows_with_missing_values_are_dropped_and_counted(tmp_path):
    table = read_text(tmp_path, GAPS, drop_missing=True)
    assert table.X.rows() == [(1, "a"), (4, "a"), (6, "a")]
    assert table.n_dropped == 3
    assert table.say_dropped() == [
        "1 row without a value of y was left out.",
        "2 rows with missing values were left out ('x' 1, 'z' 1); 3 of 5 are left.",
    ]
    assert table.left_out == {"unused": "no values"}


def test_blanks_around_a_mark_do_not_make_it_a_value(tmp_path):
    table = read_text(tmp_path, "x,z,y\n1, a ,1\n NA ,b,2\n3, N/A,3\n4,b,5\n6, a ,6\n", drop_missing=True)
    assert table.X.rows() == [(1, "a"), (4, "b"), (6, "a")]


def test_rows_dropped_from_a_sample_are_those_that_were_drawn(tmp_path):
    rows = [f"{'' if i % 3 == 0 else i},{i}" for i in range(60)]
    table = read_text(tmp_path, "x,y\n" + "\n".join(rows) + "\n", sample=30, drop_missing=True)
    assert (table.n_read, table.n_drawn) == (60, 30)
    assert len(table.X) == 30 - table.n_dropped
    assert 0 < table.n_dropped < 20


def test_copies_left_out_are_counted(tmp_path):
    table = read_text(tmp_path, "x,y\n1,2\n3,4\n1,2\n5,6\n1,2\n,1\n", unique=True, drop_missing=True)
    assert table.X["x"].to_list() == [1, 3, 5]
    assert (table.n_copies, table.n_dropped) == (2, 1)


def test_only_columns_in_use_count(tmp_path):
    table = read_text(tmp_path, GAPS.replace("nan", "5"), factors=["z"], drop_missing=True)
    assert table.n_dropped == 1


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "jsonl"])
def test_nulls_and_nans_of_typed_files_are_missing(tmp_path, suffix):
    x, z, y = [1.0, None, 3.0, float("nan"), 5.0, 6.0], ["a", "b", None, "a", "b", "b"], [1, 2, 3, 4, 6, 7]
    rows = {"x": x, "z": z, "y": y}
    path = write(pl.DataFrame(rows), tmp_path / f"t.{suffix}")
    with pytest.raises(ValueError, match=rf"t\.{suffix} have missing values: 'x' 2 \(first on (row|line) 2\), 'z' 1\."):
        read(path)
    assert read(path, drop_missing=True).y.to_list() == [1, 6, 7]


def test_words_are_values_in_files_that_tell_what_is_missing(tmp_path):
    path = write(pl.DataFrame({"z": ["NA", "b", "NA", "b"], "y": [1, 2, 3, 5]}), tmp_path / "t.parquet")
    assert read(path).X["z"].to_list() == ["NA", "b", "NA", "b"]


def test_a_sample_is_drawn_by_its_seed(frame, tmp_path):
    path = write(frame, tmp_path / "t.csv")
    first, again, other = (read(path, sample=20, seed=seed) for seed in (1, 1, 2))
    assert first.X.equals(again.X) and not first.X.equals(other.X)
    assert first.n_drawn == 20 and len(first.X) == 20
    rows = [frame["y"].to_list().index(value) for value in first.y]
    assert rows == sorted(rows) and len(set(rows)) == 20
    assert read(path, sample=ROWS).n_drawn is None


def test_a_sample_of_a_file_with_blank_lines_can_hold_any_row(tmp_path):
    text = "x,y\n" + "\n\n".join(f"{i},{i % 3}" for i in range(10)) + "\n"
    drawn = {x for seed in range(20) for x in read_text(tmp_path, text, sample=5, seed=seed).X["x"].to_list()}
    assert drawn == set(range(10))


# --- columns --------------------------------------------------------------------------------------------


def test_names_and_globs():
    names = ["x1", "x2", "x10", "y[1]", "a,b", "z"]
    assert match_names("factors", ["x*"], names, "t") == ["x1", "x2", "x10"]
    assert match_names("factors", ["z,x?"], names, "t") == ["x1", "x2", "z"]
    assert match_names("factors", ["X*"], [*names, "X3"], "t") == ["X3"]
    assert match_names("factors", ["y[1]", "a,b"], names, "t") == ["y[1]", "a,b"]
    with pytest.raises(ValueError, match=r"drop: t has no column 'Z1'\. Did you mean"):
        match_names("drop", ["Z1"], names, "t")
    with pytest.raises(ValueError, match=r"drop: t has no column 'q\*'\. The columns are: 'x1', 'x2'"):
        match_names("drop", ["q*"], names, "t")


def test_an_unknown_target_gets_the_nearest_names(frame, tmp_path):
    path = write(frame, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"target: t\.parquet has no column 'Siez'\. Did you mean 'size'\?"):
        read(path, "Siez")
    with pytest.raises(ValueError, match=r"target= is needed.* The columns of t\.parquet are 'id', 'size', 'count'"):
        read(path, None)


def test_factors_drop_and_the_order_of_the_table(frame, tmp_path):
    path = write(frame, tmp_path / "t.csv")
    assert read(path, factors=["make", "size"]).X.columns == ["size", "make"]
    assert read(path, factors=["*"], drop=["c*", "id"]).X.columns == ["size", "make", "when"]
    with pytest.raises(ValueError, match=r"no factors are left in t\.csv besides the target 'y'"):
        read(path, drop=["*"])
    with pytest.raises(ValueError, match=r"no column that can be a factor of 'y' \('id': text, all different"):
        read(path, factors=["i*"])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_dates_are_categories_if_asked_for(frame, tmp_path, suffix):
    table = read(write(frame, tmp_path / f"t.{suffix}"), categorical=["when"])
    assert table.X.columns == ["size", "count", "make", "when"] and table.categorical == ("when",)
    assert table.X["when"].to_list() == [str(day) for day in frame["when"]]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (
            {"factors": ["odd", "size"]},
            "factors: column 'odd' of t.parquet cannot be a factor: dates, but '2023-02-29' is none. Use categ",
        ),
        (
            {"factors": ["id"]},
            "'id' of t.parquet cannot be a factor: text, all different. Use categorical='id' to take",
        ),
        (
            {"categorical": ["list"]},
            "categorical: column 'list' of t.parquet cannot be a factor: neither numbers nor te",
        ),
        (
            {"categorical": ["void"]},
            "categorical: column 'void' of t.parquet cannot be a factor: no values. Leave it out.",
        ),
        ({"categorical": ["y"]}, "categorical: column 'y' is the target. Use task=\"classification\""),
        ({"categorical": ["make"], "drop": ["make"]}, "categorical: column 'make' is not a factor here, because of"),
        ({"factors": ["make", "size"], "drop": ["make"]}, "drop: column 'make' is also named in factors=."),
    ],
)
def test_a_column_asked_for_by_name_is_never_left_out_silently(frame, tmp_path, wanted, message):
    more = frame.with_columns(list=pl.lit([1, 2]), void=pl.lit(None, pl.Float64), odd=pl.lit("2023-02-29"))
    path = write(more, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=re.escape(message)):
        read(path, **wanted)


def test_globs_may_match_more_than_can_be_used(frame, tmp_path):
    table = read(write(frame, tmp_path / "t.csv"), factors=["*"], categorical=["*"], drop=["w*"])
    assert table.X.columns == ["id", "size", "count", "make"]
    assert table.categorical == ("id", "size", "count", "make")


def test_text_that_names_rows_is_kept_if_asked_for(frame, tmp_path):
    table = read(write(frame, tmp_path / "t.csv"), categorical=["id", "count"])
    assert table.X.columns == ["id", "size", "count", "make", "when"]
    assert table.categorical == ("id", "count")
    assert table.X["count"].dtype == pl.Int64  # labels as they are written


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([f"ticket {i % 40}" for i in range(60)], "text, 40 different values in 60 rows"),
        ([f"town {i % 25}" for i in range(60)], None),
        ([str(i % 3) for i in range(60)], None),
        ([f"{i % 12 + 1}/{i % 28 + 1}/2024" for i in range(60)], None),
        ([f"2024-01-{i % 28 + 1:02}T10:{i:02}:00Z" for i in range(60)], None),
        ([f"{i % 24}:{i:02}" for i in range(60)], None),
        ([f"2024-01-{i % 31 + 1}" for i in range(59)] + ["2024-02-30"], "dates, but '2024-02-30' is none"),
        (["31/12/2024", "12/31/2024"] * 30, "dates that are not all written in one way"),
        (["2024-12-31", "12/31/2024"] * 30, "dates that are not all written in one way"),
        (["2024-12-31", "10:30"] * 30, "dates that are not all written in one way"),
        ([f"cabin {i}" if i < 25 else "" for i in range(60)], None),
        ([f"cabin {i}" if i < 35 else "" for i in range(60)], "text, all different"),
        ([""] * 60, "no values"),
    ],
)
def test_which_columns_of_text_can_be_factors(tmp_path, values, why):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{value},{i % 7}\n" for i, value in enumerate(values)))
    with open_source(str(path)) as source:
        assert take_inventory(source, ["x"], [])[0].why_left_out == why


def test_types_that_cannot_be_factors(tmp_path):
    columns = {
        "list": [[1, 2]] * 4,
        "pair": [{"a": 1}] * 4,
        "time": [datetime.time(1), datetime.time(2), datetime.time(3), datetime.time(4)],
        "span": [datetime.timedelta(1)] * 4,
        "text date": ["2024-01-01"] * 4,
        "bits": [b"a"] * 4,
        "wet": [True, False, True, False],
        "y": [1, 2, 3, 5],
    }
    table = read(write(pl.DataFrame(columns), tmp_path / "t.parquet"))
    assert table.X.columns == ["time", "span", "text date", "wet"]
    assert set(table.left_out.values()) == {"neither numbers nor text"}
    assert [*table.left_out] == ["list", "pair", "bits"]


def test_the_nameless_index_of_a_part_of_a_data_frame_is_left_out(tmp_path):
    frame = pl.DataFrame({"": [7, 3, 12, 5], "x": [5, 4, 9, 9], "y": [2, 8, 7, 1]})
    for path in (write(frame, tmp_path / "t.csv"), write(frame, tmp_path / "t.parquet")):
        assert read(path).left_out == {"column 1": "no name, all different"}
        assert read(path, factors=["column 1", "x"]).X.columns == ["column 1", "x"]


def test_nameless_measurements_are_factors(tmp_path):
    frame = pl.DataFrame({"": [7.5, 3.0, 12.0, 5.0], "x": [5, 4, 9, 9], "y": [2, 8, 7, 1]})
    for path in (write(frame, tmp_path / "t.csv"), write(frame, tmp_path / "t.parquet")):
        assert read(path).X.columns == ["column 1", "x"]


def test_the_nameless_index_of_a_data_frame_is_left_out(tmp_path):
    table = read_text(tmp_path, ",x,y\n0,5,2\n1,4,8\n2,9,7\n")
    assert table.X.columns == ["x"] and table.left_out == {"column 1": "counts the rows"}
    assert read_text(tmp_path, ",x,y\n4,5,2\n1,4,8\n4,9,7\n").X.columns == ["column 1", "x"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x,y\n1,a\n2,b\n3,c\n",
            "column 'y' of table.csv holds 3 different texts in 3 rows; a class needs several rows. Name a column with",
        ),
        ("x,y\n1,2024-01-01\n2,2024-01-02\n", "column 'y' of table.csv holds dates or times"),
        ("x,y\n1,\n2,\n", "column 'y' of table.csv has no values"),
    ],
)
def test_columns_that_cannot_be_a_target(tmp_path, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_text(tmp_path, text)
