"""Dates that are text: every way to write them, told by the whole column."""

import datetime

import polars as pl
import pytest

from firstfactor.tables.written import YEAR, date_questions, find_writing, split_dates

D, T = datetime.date, datetime.datetime


def read(*texts):
    """How texts are written, and what they are."""
    frame = pl.DataFrame({"text": texts})
    found = frame.select(**date_questions(pl.col("text"))).row(0, named=True)
    writing = find_writing(found, len(texts))
    return writing, None if writing is None else frame.select(writing.read(pl.col("text"))).to_series().to_list()


@pytest.mark.parametrize(
    ("texts", "dates"),
    [
        (["2024-01-31", "1999-12-1"], [D(2024, 1, 31), D(1999, 12, 1)]),
        (["2024/01/31"], [D(2024, 1, 31)]),
        (["2024.1.31"], [D(2024, 1, 31)]),
        (["31.12.2024", "1.2.2024"], [D(2024, 12, 31), D(2024, 2, 1)]),
        (["31-12-2024"], [D(2024, 12, 31)]),
        (["12-31-2024"], [D(2024, 12, 31)]),  # only the month can come first
        (["12/31/2024", "1/2/2024"], [D(2024, 12, 31), D(2024, 1, 2)]),
        (["31/12/2024", "1/2/2024"], [D(2024, 12, 31), D(2024, 2, 1)]),
        (["12/31/68", "12/31/69"], [D(2068, 12, 31), D(1969, 12, 31)]),
        (["2024-01-31 7:05", "2024-01-31T23:59:59.5Z"], [T(2024, 1, 31, 7, 5), T(2024, 1, 31, 23, 59, 59, 500_000)]),
        (["2024-01-31", "2024-01-31 10:00"], [T(2024, 1, 31), T(2024, 1, 31, 10)]),
        (["1/31/2024 12:05 AM", "1/31/2024 12:05pm"], [T(2024, 1, 31, 0, 5), T(2024, 1, 31, 12, 5)]),
        (["2024-01-31T01:00:00+02:00", "2024-01-31T22:00:00-0330"], [T(2024, 1, 30, 23), T(2024, 2, 1, 1, 30)]),
        (["7:05", "23:59:59", "1:00 PM"], [datetime.time(7, 5), datetime.time(23, 59, 59), datetime.time(13)]),
        (["2024-02-29", "2023-02-29"], [D(2024, 2, 29), None]),
    ],
)
def test_dates_are_read_as_the_column_is_written(texts, dates):
    assert read(*texts)[1] == dates


@pytest.mark.parametrize(
    ("texts", "order", "ambiguous"),
    [
        (["2/1/2024", "3/4/2024"], "month/day/year", True),
        (["2.1.2024", "3.4.2024"], "day/month/year", True),
        (["2-1-24"], "day/month/year", True),
        (["2/13/2024"], "month/day/year", False),
        (["13/2/2024"], "day/month/year", False),
        (["2024-02-01"], "year-month-day", False),
    ],
)
def test_it_is_known_where_day_and_month_may_be_mixed_up(texts, order, ambiguous):
    writing, _ = read(*texts)
    assert (writing.order, writing.ambiguous) == (order, ambiguous)


@pytest.mark.parametrize("texts", [("13/2/2024", "2/13/2024"), ("2024-01-01", "1/1/2024"), ("2024-01-01", "10:30")])
def test_dates_in_several_ways_are_not_read(texts):
    assert read(*texts)[0] is None


def test_the_parts_of_dates():
    moments = pl.Series([T(2024, 1, 1, 6, 30), T(2024, 12, 31, 18), None]).alias("^when$")
    parts, periods = split_dates("^when$", moments)
    assert {part.name: part.to_list() for part in parts} == {
        "^when$ (season)": [0.0, 365.0, None],
        "^when$ (weekday)": ["Mon", "Tue", None],
        "^when$ (hour)": [6.5, 18.0, None],
    }
    assert periods == {"^when$ (season)": YEAR, "^when$ (hour)": 24.0}


def test_parts_that_do_not_vary_are_left_out():
    weekly = pl.Series("day", [D(2024, 1, 1), D(2024, 1, 8)])
    assert [part.name for part in split_dates("day", weekly)[0]] == ["day (season)"]
    midnights = weekly.cast(pl.Datetime)
    assert [part.name for part in split_dates("day", midnights)[0]] == ["day (season)"]
    clock = pl.Series("clock", [datetime.time(1), datetime.time(2)])
    assert [part.name for part in split_dates("clock", clock)[0]] == ["clock (hour)"]
