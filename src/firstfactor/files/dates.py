"""Dates that are text: which way a column is written in, its values as dates, and the parts of dates that repeat."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

_DAY = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})"
_TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AaPp][Mm])?(Z| ?[+-]\d{2}:?\d{2})?"

# What dates and times of day look like.
DATE = rf"^(({_DAY})([T ]{_TIME})?|{_TIME})$"

_CLOCK = r"(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2}(?:\.\d+)?))?(?: ?(?<half>[AaPp])[Mm])?"
_ZONE = r"(?:Z| ?(?<ahead>[+-]\d{2}):?(?<more>\d{2}))?"
_DATE_PARTS = rf"^(?<first>\d{{1,4}})(?<mark>[-/.])(?<middle>\d{{1,2}})[-/.](?<last>\d{{1,4}})(?:[T ]{_CLOCK}{_ZONE})?$"
_TIME_PARTS = rf"^{_CLOCK}{_ZONE}$"

# Years of two digits from here on are those of the last century, as in POSIX.
FIRST_OF_LAST_CENTURY = 69

# Days of a year on average, leap years included.
YEAR = 365.2425

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

Order = Literal["year-month-day", "month/day/year", "day/month/year", "time of day"]

_PLACES: dict[Order, tuple[str, str, str]] = {
    "year-month-day": ("first", "middle", "last"),
    "month/day/year": ("last", "first", "middle"),
    "day/month/year": ("last", "middle", "first"),
}


@dataclass(frozen=True)
class Writing:
    """The way in which all dates of a column are written."""

    order: Order
    ambiguous: bool = False
    """Whether day and month may as well be the other way round."""
    clock: bool = False
    """Whether some dates have a time of day."""

    def read(self, value: pl.Expr) -> pl.Expr:
        """Text as dates, or times of day; null where it is none."""
        if self.order == "time of day":
            return _clock_text(value.str.extract_groups(_TIME_PARTS).struct.field).str.to_time(
                "%H:%M:%S%.f", strict=False
            )
        part = value.str.extract_groups(_DATE_PARTS).struct.field
        year, month, day = (part(place) for place in _PLACES[self.order])
        date = pl.format("{}-{}-{}", _four_digits(year), month, day)
        if not self.clock:
            return date.str.to_date("%Y-%m-%d", strict=False)
        read = pl.format("{}T{}", date, _clock_text(part)).str.to_datetime(
            "%Y-%m-%dT%H:%M:%S%.f", strict=False, time_unit="us"
        )
        return read - _offset(part)


def _four_digits(year: pl.Expr) -> pl.Expr:
    number = year.cast(pl.Int32)
    century = pl.when(number >= FIRST_OF_LAST_CENTURY).then(1900).otherwise(2000)
    return pl.when(year.str.len_chars() == 2).then(number + century).otherwise(number)


def _clock_text(part: Any) -> pl.Expr:
    """The time of day of dates as hours of 24, minutes and seconds; midnight where there is none."""
    hour, afternoon = part("hour").cast(pl.Int32), part("half").str.to_lowercase() == "p"
    of_half = pl.when(afternoon).then(hour % 12 + 12).otherwise(hour % 12)
    hour = pl.when(part("half").is_null()).then(hour).otherwise(of_half)
    return pl.format("{}:{}:{}", hour.fill_null(0), part("minute").fill_null("00"), part("second").fill_null("00"))


def _offset(part: Any) -> pl.Expr:
    """How far the clock is ahead of that of Greenwich."""
    hours, minutes = part("ahead").cast(pl.Int32).fill_null(0), part("more").cast(pl.Int32).fill_null(0)
    sign = pl.when(part("ahead").str.starts_with("-")).then(-1).otherwise(1)
    return pl.duration(hours=hours, minutes=sign * minutes)


def questions(value: pl.Expr) -> dict[str, pl.Expr]:
    """What has to be known of the texts that are not missing, to tell the way that they are written in."""
    part = value.str.extract_groups(_DATE_PARTS).struct.field
    return {
        "dated": part("first").is_not_null().sum(),
        "year_first": (part("first").str.len_chars() == 4).sum(),
        "slashes": (part("mark") == "/").sum(),
        "largest_first": part("first").cast(pl.Int32).max(),
        "largest_middle": part("middle").cast(pl.Int32).max(),
        "clocks": part("hour").is_not_null().sum(),
    }


def find_writing(found: Mapping[str, Any], present: int) -> Writing | None:
    """The way in which all dates are written, from the answers to `questions`; None if there is not one.

    Where both fit, dates with slashes have the month first and others the day.
    """
    clock = found["clocks"] > 0
    if found["dated"] == 0:
        return Writing("time of day", clock=True)
    if found["dated"] < present or 0 < found["year_first"] < present:
        return None
    if found["year_first"]:
        return Writing("year-month-day", clock=clock)
    fits: dict[Order, bool] = {
        "month/day/year": found["largest_first"] <= 12,
        "day/month/year": found["largest_middle"] <= 12,
    }
    orders: list[Order] = ["month/day/year", "day/month/year"]
    order = next((order for order in (orders if found["slashes"] else orders[::-1]) if fits[order]), None)
    return None if order is None else Writing(order, ambiguous=all(fits.values()), clock=clock)


def split_dates(name: str, dates: pl.Series) -> tuple[list[pl.Series], dict[str, float]]:
    """The season, weekday and hour of dates as columns, without those that are constant; and the periods of some."""
    columns, dates = {}, dates.alias("")  # methods of polars take a name such as ^x$ for a pattern
    if dates.dtype != pl.Time:
        columns[f"{name} (season)"] = (dates.dt.ordinal_day() - 1).cast(pl.Float64)
        columns[f"{name} (weekday)"] = (dates.dt.weekday() - 1).replace_strict(
            dict(enumerate(WEEKDAYS)), return_dtype=pl.String
        )
    if dates.dtype != pl.Date:
        hours = dates.dt.hour() + dates.dt.minute() / 60 + dates.dt.second() / 3600
        columns[f"{name} (hour)"] = hours
    varying = {part: values for part, values in columns.items() if values.drop_nulls().n_unique() > 1}
    periods = {f"{name} (season)": YEAR, f"{name} (hour)": 24.0}
    return [values.alias(part) for part, values in varying.items()], {
        part: period for part, period in periods.items() if part in varying
    }
