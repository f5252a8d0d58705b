"""Several files, folders and patterns as one table: the same answer as that of the table itself, or a clear error."""

import datetime
import gzip
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sample_tables import frame_of_all_kinds

from firstfactor import rank
from firstfactor.settings import RankSettings
from firstfactor.tables.dataset import read_dataset
from firstfactor.tables.find_files import find_files, name_all, short_names
from firstfactor.tables.formats import open_source
from firstfactor.tables.many_files import common_type, open_files
from firstfactor.tables.roles import Request
from firstfactor.tables.written import sure_decimal

ROWS = 90

WRITE = {
    "csv": pl.DataFrame.write_csv,
    "parquet": pl.DataFrame.write_parquet,
    "arrow": pl.DataFrame.write_ipc,
    "jsonl": pl.DataFrame.write_ndjson,
}


@pytest.fixture(scope="module")
def frame():
    return frame_of_all_kinds(ROWS)


def write(frame, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    WRITE[path.suffix[1:]](frame, path)
    return path


def write_parts(frame, folder, suffix, names=("a", "b", "c")):
    """Write a table in as many parts as there are names, of different lengths."""
    cuts = np.linspace(0, len(frame) ** 0.5, len(names) + 1) ** 2
    cuts = cuts.round().astype(int)
    return [
        str(write(frame[start:end], folder / f"{name}.{suffix}"))
        for name, start, end in zip(names, cuts[:-1], cuts[1:], strict=True)
    ]


def read(files, target="y", missing="error", **reading):
    parameters = RankSettings(**reading, missing=missing)
    with open_files([str(file) for file in files], parameters) as source:
        return read_dataset(source, Request(target, parameters))


def read_texts(tmp_path, *texts, **reading):
    """The table in CSV files a.csv, b.csv and so on."""
    files = [tmp_path / f"{chr(97 + i)}.csv" for i in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(files, **reading)


def read_frames(tmp_path, *frames, suffix="parquet", **reading):
    files = [write(frame, tmp_path / f"{chr(97 + i)}.{suffix}") for i, frame in enumerate(frames)]
    return read(files, **reading)


def assert_equal_tables(table, whole):
    assert_frame_equal(table.X, whole.X)
    assert table.y.to_list() == whole.y.to_list()
    assert (table.left_out, table.n_read, table.remarks) == (whole.left_out, whole.n_read, whole.remarks)


# --- the same table -------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", WRITE)
def test_parts_give_the_table_that_they_are_parts_of(frame, tmp_path, suffix):
    files = write_parts(frame, tmp_path / "parts", suffix)
    with open_source(str(write(frame, tmp_path / f"whole.{suffix}"))) as source:
        whole = read_dataset(source, Request("y"))
    assert_equal_tables(read(files), whole)
    assert_equal_tables(read(find_files(tmp_path / "parts")), whole)
    assert_equal_tables(read(find_files(f"{tmp_path}/parts/*.{suffix}")), whole)


def test_the_answer_is_that_of_the_one_table(frame, tmp_path):
    files = write_parts(frame, tmp_path / "parts", "parquet")
    whole = rank(frame, "y").to_frame("polars")
    for data in (files, tmp_path / "parts", str(tmp_path / "parts" / "*"), [Path(file) for file in files]):
        ranking = rank(data, "y")
        assert_frame_equal(ranking.to_frame("polars"), whole)
        assert ranking.files == tuple(files)
        assert ranking.dataset.shown == "a.parquet … c.parquet (3 files)"
    assert rank(tmp_path / "parts", "y").path == str(tmp_path / "parts")
    assert rank(files, "y").path == ", ".join(files)


def test_a_sample_is_drawn_from_all_files(frame, tmp_path):
    files = write_parts(frame, tmp_path, "csv")
    with open_source(str(write(frame, tmp_path / "whole" / "t.csv"))) as source:
        whole = read_dataset(source, Request("y", RankSettings(sample=20)))
    assert_equal_tables(read(files, sample=20), whole)


def test_one_file_is_read_as_if_it_stood_alone(frame, tmp_path):
    file = str(write(frame, tmp_path / "year=2024" / "a.parquet"))
    for data in (file, [file], Path(file)):
        ranking = rank(data, "y", sample=30)
        assert (ranking.path, ranking.files, ranking.dataset.shown) == (file, (file,), "a.parquet")
        assert "year" not in ranking.dataset.X.columns
    assert "year" in rank(tmp_path, "y", sample=30).dataset.X.columns
    with open_files([str(write(frame, tmp_path / "plain" / "a.csv"))]) as source:
        assert (source.shown, source.place(2)) == ("a.csv", "line 4")


def test_compressed_parts(frame, tmp_path):
    files = write_parts(frame, tmp_path, "csv")
    for file in files[1:]:
        Path(f"{file}.gz").write_bytes(gzip.compress(Path(file).read_bytes()))
    assert_equal_tables(read([files[0], f"{files[1]}.gz", f"{files[2]}.gz"]), read(files))


def test_databases(frame, tmp_path):
    for name, rows in (("a", frame[:50]), ("b", frame[50:])):
        with closing(sqlite3.connect(tmp_path / f"{name}.sqlite")) as connection:
            rows.to_pandas().to_sql("t", connection, index=False)
    table = read([tmp_path / "a.sqlite", tmp_path / "b.sqlite"])
    assert table.y.to_list() == frame["y"].to_list() and table.reading["format"] == "sqlite"


def test_files_are_not_read_before_they_are_asked_for(frame, tmp_path):
    files = write_parts(frame, tmp_path, "parquet")
    with open_files(files) as source:
        plan = source.frame.select(source.column("size")).explain(engine="streaming")
    assert "Parquet SCAN" in plan and "PROJECT 1/6 COLUMNS" in plan


def test_a_part_may_have_no_rows(frame, tmp_path):
    table = read_frames(tmp_path, frame, frame.clear(), frame)
    assert table.n_read == 2 * ROWS
    texts = ["x,y\n1,2\n2,3\n4,4\n", "x,y\n", "x,y\n5,6\n"]
    if int(pl.__version__.partition(".")[0]) < 2:
        with pytest.raises(ValueError, match=r"b\.csv has no rows below its header\."):
            read_texts(tmp_path, *texts)
    else:
        assert read_texts(tmp_path, *texts).y.to_list() == [2, 3, 4, 6]


def test_columns_may_be_in_another_order(frame, tmp_path):
    mixed = frame.select(reversed(frame.columns))
    for suffix in WRITE:
        table = read_frames(tmp_path, frame[:40], mixed[40:], suffix=suffix)
        assert table.X.columns == ["size", "count", "make", "when"]
        assert table.X["count"].to_list() == frame["count"].to_list() and table.y.to_list() == frame["y"].to_list()


def test_rows_are_counted_through_all_files(tmp_path):
    rows = [f"{i},{i * i % 7},{i % 5}\n" for i in range(40)]
    table = read_texts(tmp_path, ",x,y\n" + "".join(rows[:15]), ",x,y\n\n" + "".join(rows[15:]))
    assert table.left_out == {"column 1": "counts the rows"}


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_index_of_each_part_is_no_factor(frame, tmp_path, suffix):
    counted = [part.with_row_index(" ") for part in (frame[:40], frame[40:])]
    assert read_frames(tmp_path, *counted, suffix=suffix).left_out["column 1"] == "counts the rows"
    repeated = counted[1].with_columns(pl.lit(7).alias(" "))
    assert "column 1" in read_frames(tmp_path, counted[0], repeated, suffix=suffix).X.columns


def test_missing_marks_count_in_all_files(tmp_path):
    table = read_texts(tmp_path, "x,y\n-9,1\n2,2\n", "y;x\n3;-9,0\n4;2,5\n5;0,5\n", na=["-9"], missing="level")
    assert table.X["x"].to_list() == [None, 2, None, 2.5, 0.5] and table.reading["na"] == ("-9",)


# --- which files ----------------------------------------------------------------------------------------


def touch(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def found(data, folder):
    return [os.path.relpath(file, folder) for file in find_files(data)]


def test_files_of_a_folder_are_sorted_and_hidden_ones_passed_over(tmp_path):
    touch(tmp_path, "b.csv", "a.csv", "a/2.csv", "a/10.csv", "_SUCCESS", "_temporary/c.csv", ".b.csv.crc", ".d/e.csv")
    touch(tmp_path, "_part=1/f.csv")
    assert found(tmp_path, tmp_path) == ["_part=1/f.csv", "a/10.csv", "a/2.csv", "a.csv", "b.csv"]


def test_a_folder_may_be_a_link_if_it_is_named(tmp_path):
    touch(tmp_path, "real/a.csv", "real/b/c.csv")
    (tmp_path / "data").symlink_to(tmp_path / "real")
    assert found(tmp_path / "data", tmp_path) == ["data/a.csv", "data/b/c.csv"]
    assert found(f"{tmp_path}/data/**/*.csv", tmp_path) == ["data/a.csv", "data/b/c.csv"]


def test_links_of_a_folder_to_itself_are_not_followed(tmp_path):
    touch(tmp_path, "data/a.csv", "data/b/c.csv")
    for i in range(3):  # 3 ** 40 paths for those who follow them
        (tmp_path / "data" / f"link{i}").symlink_to(".")
    (tmp_path / "data" / "latest").symlink_to("b")
    assert found(tmp_path / "data", tmp_path) == ["data/a.csv", "data/b/c.csv"]
    assert found(f"{tmp_path}/data/**/*.csv", tmp_path) == ["data/a.csv", "data/b/c.csv"]
    assert found(f"{tmp_path}/data/**", tmp_path) == ["data/a.csv", "data/b/c.csv"]


@pytest.mark.parametrize("to", ["other", "other/secret.csv", "."])
def test_links_out_of_a_folder_are_refused(tmp_path, to):
    touch(tmp_path, "other/secret.csv", "data/a.csv")
    (tmp_path / "data" / "link.csv").symlink_to(tmp_path / to)
    with pytest.raises(
        ValueError, match=r"the folder '.*data' holds a link that leads out of it: 'link\.csv' to '.*'\. "
    ):
        find_files(tmp_path / "data")


def test_links_to_files_that_are_hidden_in_a_folder_are_followed(tmp_path):
    touch(tmp_path, "data/.store/1", "data/a.csv")
    (tmp_path / "data" / "b.csv").symlink_to(tmp_path / "data" / ".store" / "1")
    assert found(tmp_path / "data", tmp_path) == ["data/a.csv", "data/b.csv"]


def test_a_pattern_passes_over_what_is_hidden_and_over_links_to_folders(tmp_path):
    touch(tmp_path, "d/a.csv", "d/.h/b.csv", "d/.c.csv", "o/d.csv")
    (tmp_path / "d" / "link").symlink_to(tmp_path / "o")
    assert found(f"{tmp_path}/d/**/*.csv", tmp_path) == ["d/a.csv"]
    assert found(f"{tmp_path}/d/.h/**/*.csv", tmp_path) == ["d/.h/b.csv"]
    assert found(f"{tmp_path}/d/**/.h/*.csv", tmp_path) == ["d/.h/b.csv"]
    assert found(f"{tmp_path}/d/*/*.csv", tmp_path) == ["d/link/d.csv"]


def test_patterns(tmp_path):
    touch(tmp_path, "d/b.csv", "d/a.csv", "d/e/c.csv", "d/note.md", "f/g.csv")
    assert found(f"{tmp_path}/d/*.csv", tmp_path) == ["d/a.csv", "d/b.csv"]
    assert found(f"{tmp_path}/d/**/*.csv", tmp_path) == ["d/a.csv", "d/b.csv", "d/e/c.csv"]
    assert found(f"{tmp_path}/f/**", tmp_path) == ["f/g.csv"]
    assert found(f"{tmp_path}/[ef]", tmp_path) == ["f/g.csv"]  # a folder that matches is searched
    assert found([f"{tmp_path}/d/[b].csv", tmp_path / "f"], tmp_path) == ["d/b.csv", "f/g.csv"]
    with pytest.raises(ValueError, match=r"data: no file matches the pattern '.*x\?\.csv'\. Correct it"):
        find_files(f"{tmp_path}/x?.csv")
    with pytest.raises(ValueError, match="data: no file matches"):
        find_files(f"{tmp_path}/nothing/**")


def test_a_file_whose_name_is_a_pattern_is_a_file(frame, tmp_path):
    touch(tmp_path, "a1.csv", "a[1].csv")
    assert found(f"{tmp_path}/a[1].csv", tmp_path) == ["a[1].csv"]
    files = [str(write(frame[:40], tmp_path / "[a*].jsonl")), str(write(frame[40:], tmp_path / "[b?].jsonl"))]
    assert read(files).n_read == ROWS


def test_a_name_is_taken_as_it_is_and_standard_input_stands_alone():
    assert find_files("nothing.csv") == ("nothing.csv",)
    assert find_files("-") == find_files(["-"]) == ("-",)
    with pytest.raises(ValueError, match=r"data: standard input \(-\) cannot be read together with files\. Name"):
        find_files(["-", "a.csv"])
    with pytest.raises(ValueError, match=r"data: the list of files is empty\. Name at least one\."):
        rank([], "y")
    with pytest.raises(
        ValueError, match=r"data must have 2 dimensions, rows by factors; got an array of shape \(2,\)\."
    ):
        rank([1, 2], "y")


def test_a_folder_without_files(tmp_path):
    touch(tmp_path, "_SUCCESS", ".hidden")
    with pytest.raises(ValueError, match=r"data: the folder '.*' holds no files; names that begin with \. or _ do"):
        find_files(tmp_path)


@pytest.mark.parametrize("other", ["b.parquet is parquet", "sub/b.tsv is tsv", "b.md is of none that its name tells"])
def test_a_folder_with_several_formats(tmp_path, other):
    touch(tmp_path, "d/a.csv", "d/c.csv.gz", f"d/{other.split()[0]}")
    message = f"holds files of different formats: a.csv is csv, {other}. Say which to read with a pattern such as "
    with pytest.raises(ValueError, match=re.escape(message) + r"'.*d/\*\*/\*\.csv'\.$"):
        find_files(tmp_path / "d")
    assert found(f"{tmp_path}/d/**/*.csv", tmp_path) == ["d/a.csv"]


def test_the_pattern_to_use_names_a_format_that_is_known(tmp_path):
    touch(tmp_path, "README", "t.csv")
    with pytest.raises(ValueError, match=r"README is of none that its name tells, t\.csv is csv.* '.*/\*\*/\*\.csv'"):
        find_files(tmp_path)


def test_a_folder_that_cannot_be_listed(tmp_path, monkeypatch):
    def walk(folder, onerror, **_):
        onerror(PermissionError(13, "Permission denied", folder))
        return []

    monkeypatch.setattr(os, "walk", walk)
    with pytest.raises(PermissionError):
        find_files(tmp_path)


def test_the_same_file_twice(tmp_path):
    touch(tmp_path, "a.csv", "b.csv")
    a, link = str(tmp_path / "a.csv"), tmp_path / "link.csv"
    with pytest.raises(ValueError, match=r"data: '.*a\.csv' is named twice\. Leave out one\."):
        find_files([a, tmp_path / "b.csv", a])
    link.symlink_to(a)
    with pytest.raises(ValueError, match=r"data: '.*a\.csv' and '.*link\.csv' are the same file\. Leave out one\."):
        find_files(tmp_path)
    with pytest.raises(ValueError, match="are the same file"):
        find_files([tmp_path / "b.csv", f"{tmp_path}/./b.csv"])


def test_what_files_are_called():
    assert short_names(["d/a.csv", "d/b.csv"]) == ["a.csv", "b.csv"]
    assert short_names(["d/e/a.csv", f"{os.getcwd()}/d/a.csv"]) == [f"e{os.sep}a.csv", "a.csv"]
    assert name_all(["d/a.csv"]) == "a.csv"
    assert name_all([f"d/{i:04}.csv" for i in range(1200)]) == "0000.csv … 1199.csv (1,200 files)"
    assert name_all(["d/k=1/a.csv", "d/k=2/a.csv"]) == "d (2 files)"
    assert name_all(["/d/a.csv", "/e/a.csv"]) == "/ (2 files)"


# --- folders that name columns --------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", WRITE)
def test_folders_name_columns(frame, tmp_path, suffix):
    for year, month, start in ((2023, "01", 0), (2024, "12", 30), (2024, "2", 60)):
        write(frame[start : start + 30], tmp_path / "d" / f"year={year}" / f"month={month}" / f"part-0.{suffix}")
    table = read(find_files(tmp_path / "d"))
    assert table.shown == "d (3 files)"
    assert table.X.columns == ["size", "count", "make", "when", "year", "month"]
    assert table.X["year"].to_list() == [2023] * 30 + [2024] * 60
    assert table.X["month"].to_list() == [1] * 30 + [12] * 30 + [2] * 30
    assert table.X["year"].dtype.is_numeric() and table.y.to_list() == frame["y"].to_list()
    with open_files(find_files(f"{tmp_path}/d/year=2024/*/*")) as source:
        assert source.collect(source.frame.select(source.column("year"))).height == 60  # read by itself


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_folders_may_name_texts_and_nothing(frame, tmp_path, suffix):
    for i, kind in enumerate(("a%2Fb c", "__HIVE_DEFAULT_PARTITION__", "3")):
        write(frame[i * 30 : i * 30 + 30], tmp_path / f"kind={kind}" / f"t.{suffix}")
    table = read(find_files(tmp_path), missing="level")
    assert table.X["kind"].to_list() == ["3"] * 30 + [None] * 30 + ["a/b c"] * 30


def test_a_number_may_be_missing_and_a_long_one_is_text(frame, tmp_path):
    for i, year in enumerate(("__HIVE_DEFAULT_PARTITION__", "-7", "12")):
        write(frame[i * 30 : i * 30 + 30], tmp_path / "d" / f"year={year}" / f"id={i:020}" / "t.parquet")
    with open_files(find_files(tmp_path / "d")) as source:
        assert (source.dtypes["year"], source.dtypes["id"]) == (pl.Int64, pl.String)
        years = source.collect(source.frame.select(source.column("year"))).to_series()
    assert years.to_list() == [-7] * 30 + [12] * 30 + [None] * 30


def test_a_column_of_the_files_goes_before_that_of_the_folders(frame, tmp_path):
    write(frame[:40], tmp_path / "make=7" / "count=7" / "t.parquet")
    write(frame[40:], tmp_path / "make=8" / "count=8" / "t.parquet")
    table = read(find_files(tmp_path))
    assert table.X["make"].to_list() == frame["make"].to_list()
    assert table.X["count"].to_list() == frame["count"].to_list()


def test_a_folder_can_name_the_target(frame, tmp_path):
    write(frame[:40], tmp_path / "sick=no" / "t.csv")
    write(frame[40:], tmp_path / "sick=yes" / "t.csv")
    assert read(find_files(tmp_path), target="sick").y.to_list() == ["no"] * 40 + ["yes"] * 50


def test_folders_that_name_different_columns(frame, tmp_path):
    write(frame, tmp_path / "d" / "year=1" / "a.csv")
    write(frame, tmp_path / "d" / "b.csv")
    message = "data: year=1/a.csv is in a folder that names 'year', but b.csv is not. Every file must be in folders"
    with pytest.raises(ValueError, match=message):
        read(find_files(tmp_path / "d"))
    with pytest.raises(ValueError, match=message):
        read(reversed(find_files(tmp_path / "d")))


# --- columns and types that differ ----------------------------------------------------------------------

X = [1, 2, 3, 4]
Y = pl.Series("y", [1.5, 2.5, 0.5, 3.5])


def with_y(**columns):
    return pl.DataFrame(columns).with_columns(Y)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_column_that_is_not_in_all_files(tmp_path, reverse):
    frames = [with_y(x=X, z=X), with_y(x=X)]
    has, has_not = "ba" if reverse else "ab"
    message = rf"data: column 'z' of {has}\.parquet is not in {has_not}\.parquet\. All files must have the same columns"
    with pytest.raises(ValueError, match=message + r": add it, rename it, or leave the column out \(drop=\)\."):
        read_frames(tmp_path, *frames[:: -1 if reverse else 1])
    assert read_frames(tmp_path, *frames[:: -1 if reverse else 1], drop=["z"]).X.columns == ["x"]


@pytest.mark.parametrize(
    ("one", "other", "types"),
    [
        (X, list("abcd"), "Int64 in a.parquet and String in b.parquet"),
        (X, [True, False] * 2, "Int64 in a.parquet and Boolean in b.parquet"),
        (X, [datetime.date(2024, 1, 1)] * 4, "Int64 in a.parquet and Date in b.parquet"),
        ([[1]] * 4, X, r"List\(Int64\) in a.parquet and Int64 in b.parquet"),
        ([datetime.timedelta(1)] * 4, [datetime.date(2024, 1, 1)] * 4, r"Duration\(.*\) in a.parquet and Date in b"),
    ],
)
def test_a_column_that_changes_its_type(tmp_path, one, other, types):
    frames = [with_y(x=one, z=X), with_y(x=other, z=X)]
    with pytest.raises(ValueError, match=rf"data: column 'x' is {types}.*\. Its values must be of one kind in all"):
        read_frames(tmp_path, *frames)
    assert read_frames(tmp_path, *frames, drop="x").X.columns == ["z"]
    assert read_frames(tmp_path, *frames, drop=["[x]"]).X.columns == ["z"]


def test_the_file_that_decides_the_type_is_named(tmp_path):
    frames = [with_y(x=X), with_y(x=[1.5] * 4), with_y(x=X), with_y(x=["a"] * 4)]
    with pytest.raises(ValueError, match=r"'x' is Float64 in b\.parquet and String in d\.parquet"):
        read_frames(tmp_path, *frames)


def test_numbers_get_the_wider_type(tmp_path):
    small, wide, real = (pl.Series("x", X, dtype) for dtype in (pl.Int32, pl.Int64, pl.Float64))
    table = read_frames(tmp_path, with_y(x=small), with_y(x=wide))
    assert (table.X["x"].dtype, table.X["x"].to_list()) == (pl.Int64, X * 2)
    for frames in ([with_y(x=small), with_y(x=real), with_y(x=wide)], [with_y(x=real), with_y(x=wide)]):
        table = read_frames(tmp_path, *frames)
        assert (table.X["x"].dtype, table.X["x"].to_list()) == (pl.Float64, X * len(frames))


def test_whole_numbers_with_and_without_sign_keep_their_differences(tmp_path):
    unsigned = with_y(x=pl.Series([2**60 + i for i in X], dtype=pl.UInt64))
    table = read_frames(tmp_path, unsigned, with_y(x=[-1, -2, -3, -4]))
    assert (table.X["x"].dtype, table.X["x"].to_list()) == (pl.Int64, [2**60 + i for i in X] + [-1, -2, -3, -4])


def test_whole_numbers_too_large_for_floats(tmp_path):
    large, real = with_y(x=[2**53 + 1, 2, 3, 4]), with_y(x=[0.5, 1.0, 2, 3])
    with pytest.raises(
        ValueError,
        match=r"data: column 'x' is Int64 in b\.parquet and Float64 in others, and some of its whole numbers",
    ):
        read_frames(tmp_path, real, large)
    exact = with_y(x=[-(2**53), None, 3, 4])
    assert read_frames(tmp_path, real, exact, missing="level").X["x"].to_list()[4] == -(2.0**53)
    assert read_frames(tmp_path, real, with_y(x=pl.Series([None] * 4, dtype=pl.Int64)), missing="level").n_read == 8


def test_a_column_without_values_has_the_type_of_the_others(tmp_path):
    empty, full = with_y(x=[None] * 4), with_y(x=list("abab"))
    for frames in ((empty, full), (full, empty), (empty, full, empty)):
        table = read_frames(tmp_path, *frames, missing="level")
        expected = [value for frame in frames for value in frame["x"].to_list()]
        assert table.X["x"].to_list() == expected
    assert read_frames(tmp_path, with_y(x=[None] * 4, z=X), with_y(x=[None] * 4, z=X)).left_out == {"x": "no values"}


def test_dates_and_times(tmp_path):
    day = datetime.datetime(2024, 1, 2)
    dates, times = with_y(x=[day.date()] * 3 + [datetime.date(2025, 1, 1)]), with_y(x=[day.replace(hour=7)] * 4)
    table = read_frames(tmp_path, dates, times.cast({"x": pl.Datetime("ms")}), times.cast({"x": pl.Datetime("ns")}))
    assert table.X["x"].to_list()[:5:4] == [day, day.replace(hour=7)]
    with pytest.raises(ValueError, match=r"'x' is Datetime\(.*\) in a\.parquet and Datetime\(.*'UTC'\) in b\.parquet"):
        read_frames(tmp_path, times, times.with_columns(pl.col("x").dt.replace_time_zone("UTC")))


def test_categories_with_other_levels(tmp_path):
    one, other = ["ash", "elm", "ash", "elm"], ["oak", "elm", "oak", "ash"]
    for dtypes in (
        [pl.Categorical, pl.Categorical],
        [pl.Enum(["ash", "elm"]), pl.Enum(["oak", "elm", "ash"])],
        [pl.Categorical, pl.String],
        [pl.String, pl.Enum(["ash", "elm", "oak"])],
    ):
        first, second = (with_y(x=pl.Series(v, dtype=d)) for v, d in zip((one, other), dtypes, strict=True))
        for suffix in ("parquet", "arrow"):
            table = read_frames(tmp_path, first, second, suffix=suffix)
            assert (table.X["x"].dtype, table.X["x"].to_list()) == (pl.Categorical, one + other)


def test_an_order_of_levels_that_files_agree_on_is_kept(tmp_path):
    few, many = pl.Enum(["low", "high"]), pl.Enum(["none", "low", "mid", "high"])
    one, other = pl.Series(["low", "high"] * 2, dtype=few), pl.Series(["none", "mid"] * 2, dtype=many)
    table = read_frames(tmp_path, with_y(x=one), with_y(x=other))
    assert table.X["x"].dtype == many and table.X["x"].to_list() == [*one, *other]
    assert common_type(many, few, False) == many
    assert common_type(few, pl.Enum(["high", "mid", "low"]), False) == pl.Categorical


def test_text_stands_for_numbers_where_it_does_in_one_file(tmp_path):
    one, other = with_y(x=[1, 2, 3, 4]), with_y(x=["5.5", "NA", "7", "8"])
    table = read_frames(tmp_path, one, other, suffix="jsonl", missing="level")
    assert table.X["x"].to_list() == [1, 2, 3, 4, 5.5, None, 7, 8]
    with pytest.raises(ValueError, match=r"'x' is Int64 in a\.jsonl and Boolean in b\.jsonl"):
        read_frames(tmp_path, one, with_y(x=[True, False] * 2), suffix="jsonl")


def test_formats_that_differ(frame, tmp_path):
    files = [write(frame, tmp_path / "a.csv"), write(frame, tmp_path / "b.parquet")]
    with pytest.raises(ValueError, match=r"data: a\.csv is read as csv, but b\.parquet as parquet\. All files must be"):
        read(files)


# --- CSV ------------------------------------------------------------------------------------------------


def test_separators_may_differ(tmp_path):
    table = read_texts(tmp_path, "x,y\n1,2\n2,3\n", "x;y\n3;4\n4;5\n", b"\xef\xbb\xbfy|x\r\n6|5\r\n")
    assert table.X["x"].to_list() == [1, 2, 3, 4, 5] and table.y.to_list() == [2, 3, 4, 5, 6]


def test_a_column_is_judged_by_the_values_of_all_files(tmp_path):
    table = read_texts(tmp_path, "x,y\n1,2\n2,3\n1,3\n", "x,y\na,4\nb,5\na,6\n")
    assert table.X["x"].to_list() == ["1", "2", "1", "a", "b", "a"]


def test_decimal_commas_must_be_in_all_files(tmp_path):
    comma, point, none, either = "x;y\n1,5;2\n2;3\n", "x;y\n1.5;2\n2;3\n", "x;y\n4;2\n7;3\n", "x;y\n1,234;2\n2;3\n"
    assert read_texts(tmp_path, none, comma).X["x"].to_list() == [4, 7, 1.5, 2]
    assert read_texts(tmp_path, comma, none).X["x"].to_list() == [1.5, 2, 4, 7]
    assert read_texts(tmp_path, none, none).reading["decimal"] == "."
    assert read_texts(tmp_path, comma, either).X["x"].to_list() == [1.5, 2, 1.234, 2]
    assert read_texts(tmp_path, either, point).X["x"].to_list() == [1234, 2, 1.5, 2]
    with pytest.raises(ValueError, match=r"data: decimals of b\.csv have points, but those of a\.csv have commas\."):
        read_texts(tmp_path, comma, point)
    with pytest.raises(ValueError, match=r"^commas in the numbers of b\.csv may be decimal commas or thousands"):
        read_texts(tmp_path, none, either)
    assert read_texts(tmp_path, none, either, decimal=",").X["x"].to_list() == [4, 7, 1.234, 2]


def test_marks_that_can_only_be_decimal_ones():
    assert sure_decimal(["1,5", "2.5"]) == "."
    assert sure_decimal([" 1,5 €", "1.234"]) == ","
    assert sure_decimal(["1,234", "1.234", "a", ""]) is None


# --- what is wrong, and where ---------------------------------------------------------------------------


def test_places_name_the_file(tmp_path):
    good = "x,y\n" + "1.5,2\n2.5,3\n" * 10
    with pytest.raises(ValueError, match=r"^column 'x' of a\.csv … b\.csv \(2 files\) holds numbers, but for 'oops' on "
                       r"line 5 of b\.csv, of 24 values"):  # fmt: skip
        read_texts(tmp_path, good, "x,y\n\n1,1\n1,1\noops,1\n1,1\n")
    finite = with_y(x=[1.0, 2, 3, 4])
    with pytest.raises(ValueError, match=r"an infinite value on row 2 of b\.parquet\. Remove the row"):
        read_frames(tmp_path, finite, with_y(x=[1.0, float("inf"), 3, 4]), finite)
    with pytest.raises(ValueError, match=r"has 1 missing value \(on row 1 of c\.arrow\)"):
        read_frames(tmp_path, finite, finite, with_y(x=[None, 2.0, 3, 4]), suffix="arrow")
    with pytest.raises(ValueError, match=r"has 2 missing values \(first on line 3 of b\.jsonl\)"):
        read_frames(tmp_path, finite, with_y(x=[1.0, 2, None, None]), suffix="jsonl")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", r"b\.csv is empty\."),
        (b"x,y\n1,2\n3\n", r"line 3 of b\.csv has 1 field, but the header has 2"),
        ("x,y\n1,2\nKöln,3\n".encode("latin1"), r"line 3 of b\.csv is not UTF-8"),
        (b'x,y\n"a",1\n5" pipe,2\n' + b"b,3\n" * 9, r"line 3 of b\.csv has a double quote in the middle of a field"),
    ],
)
def test_a_csv_file_that_cannot_be_read_is_named(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_texts(tmp_path, "x,y\n1,2\n2,3\n", text, "x,y\n1,2\n2,3\n")


def test_a_file_that_is_damaged_within_is_named(frame, tmp_path):
    files = write_parts(frame, tmp_path, "parquet")
    content = Path(files[1]).read_bytes()
    Path(files[1]).write_bytes(content[:4] + b"\xff" * (len(content) // 3) + content[4 + len(content) // 3 :])
    with pytest.raises(ValueError, match=r"^b\.parquet (cannot be read|is damaged)"):
        read(files)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_that_vanishes_is_named(frame, tmp_path, suffix):
    files = write_parts(frame, tmp_path, suffix)

    def remove_and(then):
        with open_files(files) as source:
            os.rename(files[1], tmp_path / "away")
            then(source)

    with pytest.raises(ValueError, match=rf"^b\.{suffix} was removed while it was read\. Run again"):
        remove_and(lambda source: read_dataset(source, Request("y")))
    os.rename(tmp_path / "away", files[1])
    with pytest.raises(ValueError, match=rf"^b\.{suffix} was removed while it was read\. Run again"):
        remove_and(str)
    with pytest.raises(ValueError, match="there is no file"):
        read(files)


def test_a_file_that_grows_is_named(frame, tmp_path):
    files = write_parts(frame, tmp_path, "csv")

    def grow():
        with open_files(files) as source, open(files[1], "ab") as file:
            read_dataset(source, Request("y"))
            file.write(b"u1,1,1,ash,2024-01-01,1\n")

    with pytest.raises(ValueError, match=r"^b\.csv was changed while it was read\. Run again"):
        grow()


def test_other_errors_are_those_of_all_files(frame, tmp_path):
    files = write_parts(frame, tmp_path, "parquet")
    with pytest.raises(ValueError, match=r"^target: a\.parquet … c\.parquet \(3 files\) has no column 'Size'\."):
        read(files, target="Size")
    with (
        open_files(files) as source,
        pytest.raises(ValueError, match=r"^a\.parquet … c\.parquet \(3 files\) cannot be"),
    ):
        source.collect(source.frame.select("nothing"))
    with open_files(files) as source, pytest.raises(ValueError, match="has fewer rows than before"):
        source.place(ROWS)
    with open_files(files) as source:
        assert source.fault() is None


def test_reports_name_all_files(frame, tmp_path):
    files = write_parts(frame, tmp_path / "parts", "parquet")
    ranking = rank(tmp_path / "parts", "y")
    ranking.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "a.parquet … c.parquet (3 files)" in page
    assert f'"files": [\n      "{files[0]}",' in ranking.to_json()
