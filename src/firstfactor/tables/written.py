"""Formats of numbers and dates in text.

Numbers may have decimal commas, thousands separators, currency and percent signs, or parentheses; dates may have the
day, the month or the year first. Parts of dates that repeat become columns of their own.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

UNITS = ("$", "€", "£", "¥", "₹", "%")

_CURRENCY = "[$€£¥₹]"
_SPACES = " \u00a0\u2009\u202f"
_GROUPS = {"comma": ",", "apostrophe": "['’]", "space": f"[{_SPACES}]"}
_GROUPED = {kind: rf"^[-+]?[1-9]\d{{0,2}}(?:{mark}\d{{3}})+(?:\.\d+)?$" for kind, mark in _GROUPS.items()}
_ANY_GROUPED = "|".join(_GROUPED.values())

_AROUND = f"{_SPACES}\t\r\n()%$€£¥₹"

# A comma or a point that can only be a decimal one, and one that may as well separate thousands: 1,234.
_EXPONENT = r"(?:[eE][-+]?\d+)?"
_THOUSANDS = {mark: re.compile(rf"[-+]?[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+") for mark in ".,"}
_DECIMAL = {
    mark: re.compile(rf"[-+]?(?:\d*|[1-9]\d{{0,2}}(?:{re.escape(other)}\d{{3}})+){re.escape(mark)}\d+{_EXPONENT}")
    for mark, other in (".,", ",.")
}


def guess_decimal(fields: Iterable[str], separator: str) -> str | None:
    """Return the decimal mark of a file, from some of its fields; None where commas may be either.

    A file has one mark. A comma that cannot separate thousands is a decimal one, unless a point is as well. Where
    every comma has three digits after it, it separates thousands in files whose columns commas separate, or whose
    decimals have points; other files do not tell.
    """
    fields = list(fields)
    sure = sure_decimal(fields)
    if sure is not None or not _decimals(fields, ","):
        return sure or "."
    return "." if separator == "," else None


def sure_decimal(fields: Sequence[str]) -> str | None:
    """Return the mark that can only be a decimal one in some number; the point if both are such, None if none is."""
    sure = (mark for mark in ".," if not all(map(_THOUSANDS[mark].fullmatch, _decimals(fields, mark))))
    return next(sure, None)


def _decimals(fields: Iterable[str], mark: str) -> list[str]:
    """Return the fields that are numbers with this decimal mark."""
    return [number for field in fields if _DECIMAL[mark].fullmatch(number := field.strip(_AROUND))]


def in_english(value: pl.Expr, decimal: str) -> pl.Expr:
    """Strip text, and replace the decimal mark by a point."""
    value = value.str.strip_chars()
    return value if decimal == "." else value.str.replace_many([".", ","], [",", "."])


def as_number(value: pl.Expr) -> pl.Expr:
    """Convert text to numbers, null where it is not a number."""
    return value.cast(pl.Float64, strict=False)


def undecorated(value: pl.Expr) -> pl.Expr:
    """Remove units and thousands separators from text in English; parentheses become minus signs."""
    value = value.str.replace(r"^\(([^-+()]+)\)$", "-${1}")
    value = value.str.replace(rf"^([-+]?){_CURRENCY}\s?", "${1}").str.replace(rf"\s?(?:{_CURRENCY}|%)$", "")
    grouped = value.str.contains(_ANY_GROUPED)
    return pl.when(grouped).then(value.str.replace_all(rf"[,'’{_SPACES}]", "")).otherwise(value)


def decorations(value: pl.Expr) -> dict[str, pl.Expr]:
    """Return which values, in English, have which unit, kind of thousands separator, or parentheses."""
    bare = value.str.replace_all(rf"[()+-]|{_CURRENCY}|%", "").str.strip_chars()
    return {
        **{unit: value.str.contains(unit, literal=True) for unit in UNITS},
        **{kind: bare.str.contains(pattern) for kind, pattern in _GROUPED.items()},
        "parentheses": value.str.starts_with("("),
    }


def removed(found: Mapping[str, Any], present: int) -> tuple[str, ...] | None:
    """Return what is removed to read ``present`` values as numbers; None if they are not written in one way.

    ``found`` has the number of values with each of the `decorations`.
    """
    units = [unit for unit in UNITS if found[unit]]
    groups = [kind for kind in _GROUPS if found[kind]]
    if len(units) > 1 or len(groups) > 1 or any(found[unit] < present for unit in units):
        return None
    marks = units + (["thousands separators"] if groups else [])
    done = (f"{' and '.join(marks)} removed",) if marks else ()
    return (*done, "parentheses taken for minus signs") if found["parentheses"] else done


# --- dates ----------------------------------------------------------------------------------------------

_DAY = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})"
_TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AaPp][Mm])?(Z| ?[+-]\d{2}:?\d{2})?"

# Matches dates and times of day.
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
class DateWriting:
    """Format of all dates of a column."""

    order: Order
    ambiguous: bool = False
    """True if day and month could also be in the other order."""
    clock: bool = False
    """True if some dates have a time of day."""

    def read(self, value: pl.Expr) -> pl.Expr:
        """Convert text to dates or times of day, null where it is neither."""
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
    """Return the time of day of dates as hours of 24, minutes and seconds; midnight where there is none."""
    hour, afternoon = part("hour").cast(pl.Int32), part("half").str.to_lowercase() == "p"
    of_half = pl.when(afternoon).then(hour % 12 + 12).otherwise(hour % 12)
    hour = pl.when(part("half").is_null()).then(hour).otherwise(of_half)
    return pl.format("{}:{}:{}", hour.fill_null(0), part("minute").fill_null("00"), part("second").fill_null("00"))


def _offset(part: Any) -> pl.Expr:
    """Return how far the clock is ahead of UTC."""
    hours, minutes = part("ahead").cast(pl.Int32).fill_null(0), part("more").cast(pl.Int32).fill_null(0)
    sign = pl.when(part("ahead").str.starts_with("-")).then(-1).otherwise(1)
    return pl.duration(hours=hours, minutes=sign * minutes)


def date_questions(value: pl.Expr) -> dict[str, pl.Expr]:
    """Return questions on texts that are not missing, whose answers tell how they are written."""
    part = value.str.extract_groups(_DATE_PARTS).struct.field
    return {
        "dated": part("first").is_not_null().sum(),
        "year_first": (part("first").str.len_chars() == 4).sum(),
        "slashes": (part("mark") == "/").sum(),
        "largest_first": part("first").cast(pl.Int32).max(),
        "largest_middle": part("middle").cast(pl.Int32).max(),
        "clocks": part("hour").is_not_null().sum(),
    }


def find_writing(found: Mapping[str, Any], present: int) -> DateWriting | None:
    """Return the way in which all dates are written, from the answers to `date_questions`; None if there is none.

    Where both fit, dates with slashes have the month first and others the day.
    """
    clock = found["clocks"] > 0
    if found["dated"] == 0:
        return DateWriting("time of day", clock=True)
    if found["dated"] < present or 0 < found["year_first"] < present:
        return None
    if found["year_first"]:
        return DateWriting("year-month-day", clock=clock)
    fits: dict[Order, bool] = {
        "month/day/year": found["largest_first"] <= 12,
        "day/month/year": found["largest_middle"] <= 12,
    }
    orders: list[Order] = ["month/day/year", "day/month/year"]
    order = next((order for order in (orders if found["slashes"] else orders[::-1]) if fits[order]), None)
    return None if order is None else DateWriting(order, ambiguous=all(fits.values()), clock=clock)


def split_dates(name: str, dates: pl.Series) -> tuple[list[pl.Series], dict[str, float]]:
    """Return season, weekday and hour of dates as columns, without constant ones, and the periods of some."""
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
