"""CSV and TSV files: separators, headers, quotes, blank lines and line ends; and faults with their lines."""

import re

import numpy as np
import polars as pl
import pytest
from reading import read, read_text, write

from firstfactor import rank
from firstfactor.tables.text import csv_line

X = np.random.default_rng(0).normal(size=60).round(4).tolist()

LINES = "".join(f"{x},{2 * x}\n" for x in X)


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


def test_the_line_of_a_row_counts_line_breaks_in_quotes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('x,y\n"a\nb",1\n\n"c",2\n')
    assert [csv_line(path, ",", row) for row in range(3)] == [2, 4, 5]


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
