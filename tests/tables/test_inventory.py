"""What columns hold: numbers however they are written, labels, dates, and which columns can be factors."""

import datetime
import re

import polars as pl
import pytest
from reading import read, read_text, write

from firstfactor.tables.formats import open_source
from firstfactor.tables.inventory import take_inventory
from firstfactor.tables.source import AT_ONCE, Source


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
