"""From a source to a table: missing values, samples, and columns that are wanted by name."""

import json
import re

import polars as pl
import pytest
from reading import read, read_text, write
from sample_tables import frame_of_all_kinds

from firstfactor.tables.roles import match_names

ROWS = 60


@pytest.fixture(scope="module")
def frame():
    return frame_of_all_kinds(ROWS)


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


def test_only_dates_of_factors_are_said_to_be_ambiguous(tmp_path):
    rows = [f"{1 + i % 5}/{1 + i % 7}/2024,{i % 3},{i}" for i in range(35)]
    text = "when,x,y\n" + "\n".join(rows)
    assert "'when' were read as month/day/year" in read_text(tmp_path, text).remarks[0]
    assert read_text(tmp_path, text, groups="when").remarks == ()
    assert read_text(tmp_path, text, categorical=["when"]).remarks == ()
