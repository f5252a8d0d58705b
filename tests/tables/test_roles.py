"""Which columns are what: targets, weights, groups of rows, and names in what is said about factors."""

import re

import pandas as pd
import polars as pl
import pytest

from firstfactor.settings import RankSettings
from firstfactor.tables.dataset import read_dataset
from firstfactor.tables.in_memory import to_polars
from firstfactor.tables.roles import Request
from firstfactor.tables.source import frame_source

TABLE = pl.DataFrame(
    {
        "a": [1.0, 2.0, 4.0, 3.0],
        "b": [0.5, 0.1, 0.7, 0.2],
        "k": ["u", "v", "u", "v"],
        "day": pl.Series(["2024-01-01", "2024-03-05", "2024-07-09", "2024-12-24"]).str.to_date(),
        "w": [1.0, 0.0, 2.0, 1.0],
        "who": ["p", "p", "q", "q"],
        "y": [1.0, 2.5, 3.0, 4.0],
        "z": [4, 3, 2, 2],
    }
)


def read(target="y", frame=TABLE, forced=(), **wanted):
    return read_dataset(frame_source(frame, "t"), Request(target, RankSettings(forced=forced, **wanted)))


def test_one_target_is_a_column_and_several_are_a_frame():
    assert read().y.to_list() == TABLE["y"].to_list() and read(["y"]).y.name == "y"
    both = read(["z", "y"])
    assert both.y.columns == ["z", "y"] and both.target_names == ("z", "y")
    assert both.X.columns == ["a", "b", "k", "day", "w", "who"]
    assert read("z,y").target_names == ("z", "y") and read("[yz]").target_names == ("y", "z")
    assert read(list("abyz")).target_names == tuple("abyz")


def test_whole_numbers_of_a_target_are_as_written():
    assert read(frame=TABLE.with_columns(y=pl.Series([0.0, 2.0, 1.0, 0.0]))).y.to_list() == [0, 2, 1, 0]
    assert read(frame=TABLE.with_columns(y=pl.Series([0.0, 2.0, 1.0, 0.0]))).y.dtype == pl.Int64


def test_weights_and_groups_are_no_factors():
    table = read(weight="w", groups=" who ")
    assert table.X.columns == ["a", "b", "k", "day", "z"]
    assert table.weights.to_list() == [1, 0, 2, 1] and table.groups.to_list() == ["p", "p", "q", "q"]
    assert read(weight="w", factors=["*"]).X.columns == ["a", "b", "k", "day", "who", "z"]


def test_gaps_of_weights_matter_only_in_rows_with_a_target():
    frame = TABLE.with_columns(w=pl.Series([1.0, None, 2.0, 1.0]))
    with pytest.raises(ValueError, match=r"weight: column 'w' of t has 1 missing value \(on row 2\)\. Every row needs"):
        read(frame=frame, weight="w")
    table = read(frame=frame.with_columns(y=pl.Series([1.0, None, 3.0, 4.0])), weight="w")
    assert table.weights.to_list() == [1, 2, 1] and table.dropped.no_target == 1


def test_names_are_resolved_to_columns_in_use():
    table = read(
        factor_groups={"size": ["a,b"], "rest": "[wz]"}, period={"day": 7}, scale={"?": 2.0}, forced=["size,da*"]
    )
    assert table.column_options == {
        "categorical": [],
        "factor_groups": {"size": ["a", "b"], "rest": ["w", "z"]},
        "period": {"day": 7},
        "scale": {"a": 2.0, "b": 2.0, "k": 2.0, "w": 2.0, "z": 2.0},
        "forced": ["size", "day"],
    }
    plain = read().column_options
    assert plain == {"categorical": [], "factor_groups": None, "period": None, "scale": True, "forced": None}


def test_parts_of_dates_can_be_named():
    table = read(date_parts=True, forced=["day (season)"], period={"day (season)": 100})
    assert table.X.columns[3:6] == ["day", "day (season)", "day (weekday)"]
    assert table.date_parts == ("day (season)", "day (weekday)")
    assert table.column_options["forced"] == ["day (season)"] and table.column_options["period"] == {
        "day (season)": 100
    }


def test_a_part_of_a_date_that_is_there_already():
    with pytest.raises(ValueError, match=re.escape("date_parts: t has a column 'day (season)' already. Rename it, or")):
        read(frame=TABLE.rename({"a": "day (season)"}), date_parts=True)
    assert "No column in use holds dates that have parts." in read(date_parts=True, drop=["day"]).remarks


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"target": ["y", "y"]}, "target: column 'y' is named twice. Leave out one of them."),
        ({"target": []}, "target= is needed: the column to explain."),
        ({"target": "day"}, "target: column 'day' of t holds dates or times; a response is numbers or classes."),
        ({"weight": "v"}, "weight: t has no column 'v'."),
        ({"weight": "k"}, "weight: column 'k' of t must hold numbers. Name another column."),
        ({"weight": "w", "groups": "w"}, "groups: column 'w' is also named in weight=. Leave it out of one of them."),
        ({"groups": "y"}, "groups: column 'y' is also named in target=. Leave it out of one of them."),
        ({"weight": "w", "factors": ["w", "a"]}, "factors: column 'w' is also named in weight=."),
        ({"weight": "w", "categorical": ["w"]}, "categorical: column 'w' is not a factor here, because of weight=."),
        ({"weight": "w", "period": {"w": 2}}, "period: column 'w' is not a factor here, because of weight=."),
        ({"factor_groups": {"g": ["y"]}}, "factor_groups: column 'y' is the target, which is no factor. Leave it out."),
        ({"scale": {"c": 1}}, "scale: t has no column 'c'. The columns are: 'a', 'b', 'k', 'day'"),
        ({"forced": ["a"], "drop": ["a"]}, "forced: column 'a' is not a factor here, because of factors= or drop=."),
        ({"forced": ["a"], "factor_groups": {"g": ["a", "b"]}}, "forced: column 'a' is in the group 'g'. Name that."),
    ],
)  # fmt: skip
def test_names_that_do_not_fit_are_told_with_their_parameter(wanted, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read(**wanted)


def test_the_order_of_categories_of_pandas_is_kept():
    sizes = pd.Categorical(["l", "s", "m", "s"], categories=["s", "m", "l"], ordered=True)
    frame = to_polars(pd.DataFrame({"size": sizes, "kind": pd.Categorical(list("abab")), "y": [1, 2, 3, 4]}))
    assert frame.schema["size"] == pl.Enum(["s", "m", "l"]) and frame.schema["kind"] == pl.Categorical
