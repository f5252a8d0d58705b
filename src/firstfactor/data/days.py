"""Dates, times and durations as numbers of days: since 1970, since midnight, or in length."""

import datetime
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

# Microseconds in a day.
MICROSECONDS = 86_400 * 10**6

_DURATIONS = (datetime.timedelta, np.timedelta64)
TEMPORAL = (datetime.date, datetime.time, *_DURATIONS, np.datetime64)


def series_days(series: "nw.Series[Any]") -> NDArray[np.float64]:
    """Return dates, times or durations of a series as numbers of days."""
    if series.dtype == nw.Time:
        return np.array([_clock_days(value) for value in series.to_list()])
    if isinstance(series.dtype, nw.Duration):
        return series.dt.total_microseconds().to_numpy() / MICROSECONDS
    return series.dt.timestamp("us").to_numpy() / MICROSECONDS


def _clock_days(time: datetime.time) -> float:
    """Return the time of day as a share of the day."""
    return (time.hour * 3600 + time.minute * 60 + time.second + time.microsecond / 1e6) / 86_400


def array_days(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return dates or durations of numpy as numbers of days."""
    unit = "datetime64[us]" if values.dtype.kind == "M" else "timedelta64[us]"
    return values.astype(unit).astype(np.int64) / MICROSECONDS


def object_days(values: list[Any], kind: type) -> NDArray[np.float64]:
    """Return dates, times or durations of Python, all of one kind, as numbers of days."""
    if kind is datetime.time:
        return np.array([_clock_days(value) for value in values])
    aware = [value.astimezone(datetime.UTC).replace(tzinfo=None) if _has_zone(value) else value for value in values]
    return array_days(np.array(aware, "timedelta64[us]" if kind in _DURATIONS else "datetime64[us]"))


def _has_zone(value: Any) -> bool:
    return getattr(value, "tzinfo", None) is not None
