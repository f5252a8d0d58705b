"""Tables from files: every format, what can be wrong with a file, and which columns can be factors."""

import datetime
import gzip
import re

import numpy as np
import polars as pl
import pytest

from firstfactor import faults
from firstfactor.files import Reading, open_source
from firstfactor.inventory import match_names, take_inventory
from firstfactor.tables import Request, read_table

ROWS = 60


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "id": [f"u{i:03}" for i in range(ROWS)],
            "size": rng.normal(size=ROWS),
            "count": rng.integers(0, 5, size=ROWS),
            "make": np.array(["ash", "elm", "oak"])[rng.integers(0, 3, size=ROWS)],
            "when": [datetime.date(2024, 1, 1) + datetime.timedelta(days=i) for i in range(ROWS)],
            "y": rng.normal(size=ROWS),
        }
    )


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
    with open_source(str(path), Reading(kind, table, tuple(na), decimal)) as source:
        return read_table(source, Request(target, **wanted))


def read_text(tmp_path, text, target="y", name="table.csv", **wanted):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path, target, **wanted)


# --- formats --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "txt", "tsv", "parquet", "arrow", "feather", "ipc", "jsonl", "ndjson"])
@pytest.mark.parametrize("zipped", ["", ".gz"])
def test_every_format_gives_the_same_table(frame, tmp_path, suffix, zipped):
    table = read(write(frame, tmp_path / f"t.{suffix}{zipped}"))
    assert table.X.columns == ["size", "count", "make"]
    assert table.X["size"].to_list() == frame["size"].to_list()
    assert table.X["count"].to_list() == frame["count"].to_list()
    assert table.X["make"].to_list() == frame["make"].to_list()
    assert table.y.to_list() == frame["y"].to_list()
    assert table.left_out == {"id": "text, all different", "when": "dates or times"}
    assert (table.n_read, table.n_drawn, table.n_dropped) == (ROWS, None, 0)


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "arrow", "jsonl"])
def test_a_name_that_tells_nothing_needs_a_format(frame, tmp_path, kind):
    path = write(frame, tmp_path / f"t.{kind}").rename(tmp_path / "table")
    assert read(path, kind=kind).X.width == 3
    if kind in ("parquet", "arrow"):
        assert read(path).X.width == 3  # the first bytes tell
    else:
        with pytest.raises(ValueError, match=r"'table' does not tell the format\. Name it with --format"):
            read(path)


def test_temporary_files_go_away(frame, tmp_path):
    with open_source(str(write(frame, tmp_path / "t.csv.gz"))) as source:
        unpacked = source.path
        assert unpacked.exists()
    assert not unpacked.exists()


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
    packed = gzip.compress(np.random.default_rng(0).bytes(2000))
    with pytest.raises(ValueError, match=r"t\.csv\.gz is damaged"):
        read_text(tmp_path, packed[:1000], name="t.csv.gz")


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


def test_the_line_of_a_row_counts_line_breaks_in_quotes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('x,y\n"a\nb",1\n\n"c",2\n')
    assert [faults.csv_line(path, ",", row) for row in range(3)] == [2, 4, 5]


# --- missing values and rows ----------------------------------------------------------------------------

GAPS = "x,z,unused,y\n1,a,,1\n2,NA,,2\n,b,,3\n4,a,,4\n5,b,,nan\n6,a,,6\n"


def test_missing_values_are_an_error_that_names_the_column_and_the_line(tmp_path):
    message = (
        "2 columns of table.csv have missing values: 'y' 1 (on line 6), 'x' 1. Use --missing drop to leave out the "
        "2 of 6 rows with missing values, or --drop to leave out columns."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        read_text(tmp_path, GAPS, factors=["x"])


def test_rows_with_missing_values_are_dropped_and_counted(tmp_path):
    table = read_text(tmp_path, GAPS, drop_missing=True)
    assert table.X.rows() == [(1, "a"), (4, "a"), (6, "a")]
    assert table.n_dropped == 3
    assert table.left_out == {"unused": "no values"}


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
    assert match_names("--factors", ["x*"], names, "t") == ["x1", "x2", "x10"]
    assert match_names("--factors", ["z,x?"], names, "t") == ["x1", "x2", "z"]
    assert match_names("--factors", ["y[1]", "a,b"], names, "t") == ["y[1]", "a,b"]
    with pytest.raises(ValueError, match=r"--drop: t has no column 'Z1'\. Did you mean"):
        match_names("--drop", ["Z1"], names, "t")
    with pytest.raises(ValueError, match=r"--drop: t has no column 'q\*'\. The columns are: 'x1', 'x2'"):
        match_names("--drop", ["q*"], names, "t")


def test_an_unknown_target_gets_the_nearest_names(frame, tmp_path):
    path = write(frame, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"--target: t\.parquet has no column 'Siez'\. Did you mean 'size'\?"):
        read(path, "Siez")
    with pytest.raises(ValueError, match=r"--target is needed.* The columns of t\.parquet are 'id', 'size', 'count'"):
        read(path, None)


def test_factors_drop_and_the_order_of_the_table(frame, tmp_path):
    path = write(frame, tmp_path / "t.csv")
    assert read(path, factors=["make", "size"]).X.columns == ["size", "make"]
    assert read(path, factors=["*"], drop=["c*", "id"]).X.columns == ["size", "make"]
    with pytest.raises(ValueError, match=r"no factors are left in t\.csv besides the target 'y'"):
        read(path, drop=["*"])
    with pytest.raises(ValueError, match=r"no column that can be a factor of 'y' \('id': text, all different"):
        read(path, factors=["i*", "wh*"])


def test_text_that_names_rows_is_kept_if_asked_for(frame, tmp_path):
    table = read(write(frame, tmp_path / "t.csv"), categorical=["id", "count"])
    assert table.X.columns == ["id", "size", "count", "make"]
    assert table.categorical == ("id", "count")


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([f"ticket {i % 40}" for i in range(60)], "text, 40 different values in 60 rows"),
        ([f"town {i % 25}" for i in range(60)], None),
        ([str(i % 3) for i in range(60)], None),
        ([f"{i % 12 + 1}/{i % 28 + 1}/2024" for i in range(60)], "dates or times"),
        ([f"2024-01-{i % 28 + 1:02}T10:{i:02}:00Z" for i in range(60)], "dates or times"),
        ([f"{i % 24}:{i:02}" for i in range(60)], "dates or times"),
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
    assert table.X.columns == ["wet"]
    assert set(table.left_out.values()) == {"neither numbers nor text", "dates or times"}
    assert [name for name, why in table.left_out.items() if why.startswith("neither")] == ["list", "pair", "bits"]


def test_a_column_that_counts_the_rows_is_remarked_on(tmp_path):
    table = read_text(tmp_path, "n,x,y\n1,5,2\n2,4,8\n3,9,7\n")
    assert table.X.columns == ["n", "x"]
    assert table.remarks[0].startswith("'n' only counts the rows")


def test_the_nameless_index_of_a_data_frame_is_left_out(tmp_path):
    table = read_text(tmp_path, ",x,y\n0,5,2\n1,4,8\n2,9,7\n")
    assert table.X.columns == ["x"] and table.left_out == {"column 1": "counts the rows"}
    assert read_text(tmp_path, ",x,y\n4,5,2\n1,4,8\n2,9,7\n").X.columns == ["column 1", "x"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x,y\n1,a\n2,b\n3,c\n",
            "column 'y' of table.csv holds 3 different texts; a response is numbers or two classes",
        ),
        ("x,y\n1,2024-01-01\n2,2024-01-02\n", "column 'y' of table.csv holds dates or times"),
        ("x,y\n1,\n2,\n", "column 'y' of table.csv has no values"),
    ],
)
def test_columns_that_cannot_be_a_target(tmp_path, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_text(tmp_path, text)
