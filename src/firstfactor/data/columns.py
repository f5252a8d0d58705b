"""One column: numbers, booleans, labels or times, recognised and checked, and the positions of missing values."""

import datetime
import decimal
import math
import numbers
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from .._utils.checks import InputError, InputTypeError, Mention, Message

# Beyond this, float64 cannot distinguish consecutive integers.
EXACT_INTEGERS = 2**53


@dataclass(frozen=True, eq=False)
class Labels:
    """Column of text, or of levels that its table declares categorical."""

    codes: NDArray[np.intp]
    """Code of each row's level, (rows,)."""
    levels: list[Hashable]
    declared: bool
    ordered: bool = False
    """True if the levels have a declared order, such as small, medium, large."""

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> Hashable:
        return self.levels[int(self.codes[row])]


# Numbers or booleans, or labels.
Values = NDArray[Any] | Labels


@dataclass(frozen=True, eq=False)
class Column:
    """Known values of one column, and the positions of missing ones."""

    values: Values
    """Values of the rows where it is known, in order."""
    missing: NDArray[np.bool_] | None = None
    """Mask of the rows without a value, (rows,); None if all have one."""
    temporal: bool = False
    """True for dates or times, stored as numbers of days."""

    def __len__(self) -> int:
        return len(self.values) if self.missing is None else self.missing.size

    @property
    def n_missing(self) -> int:
        """Number of rows without a value."""
        return 0 if self.missing is None else int(self.missing.sum())

    def spread(self, known: NDArray[Any]) -> NDArray[np.float64]:
        """Expand an array over the known values to one entry for each row, NaN where the value is missing."""
        if self.missing is None:
            return known.astype(np.float64)
        rows = np.full(self.missing.size, np.nan)
        rows[~self.missing] = known
        return rows


def missing_rows(column: Column) -> str:
    """Return a phrase with the number of rows without a value, and the first of them."""
    missing = np.zeros(0, bool) if column.missing is None else column.missing
    where = f"row {int(np.argmax(missing))}"
    return where if column.n_missing == 1 else f"{column.n_missing:,} rows, the first is {where}"


def is_numeric(values: Values) -> bool:
    """Return True for numbers and ordered levels, False for booleans, text and other levels."""
    return values.ordered if isinstance(values, Labels) else values.dtype != bool


def holds_numbers_as_text(values: Values) -> bool:
    """Return True for text in which every entry reads as a number, and not all as nan."""
    if not isinstance(values, Labels) or values.declared:
        return False
    try:
        found = [float(str(level)) for level in values.levels]
    except ValueError:
        return False
    return not all(map(math.isnan, found))


def exact_floats(values: Values) -> NDArray[np.float64]:
    """Return numbers as float64, huge integers relative to the smallest, and ordered levels as ranks."""
    if isinstance(values, Labels):
        return values.codes.astype(np.float64)
    if values.dtype.kind in "iu" and values.size:
        low, high = int(values.min()), int(values.max())
        if max(abs(low), abs(high)) > EXACT_INTEGERS:
            above = values.astype(np.uint64) - np.array(low % 2**64, dtype=np.uint64)  # exact: modulo 2**64
            return above.astype(np.float64)
    if values.dtype.kind == "O" and values.size:
        exact = [_fraction(value) for value in values]
        low_exact = min(exact)
        return np.array([float(value - low_exact) for value in exact])
    return values.astype(np.float64)


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value)) if isinstance(value, numbers.Integral) else Fraction(*value.as_integer_ratio())


def level_codes(values: Values) -> tuple[NDArray[np.intp], list[Any]]:
    """Return the level code of each value, and the levels."""
    if isinstance(values, np.ndarray):
        levels, codes = np.unique(values, return_inverse=True)
        return codes, levels.tolist()
    return values.codes, values.levels


# --- dates, times and durations as numbers of days: since 1970, since midnight, or in length ----------

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


# --- reading of a column ------------------------------------------------------------------------------

Label = str | Mention | Message  # what messages call a column


def as_array(data: Any) -> NDArray[Any]:
    """Return ``data`` as an array; lists keep numbers apart from text, and integers that float64 cannot represent."""
    if np.ma.is_masked(data):
        return _without_mask(data)
    array = np.asarray(data)
    if isinstance(data, np.ndarray):
        return array
    if array.dtype.kind in "US" or (array.dtype.kind == "f" and _beyond_exact(array)):
        return np.asarray(data, dtype=object)
    return array


def _without_mask(data: Any) -> NDArray[Any]:
    """Return a masked array as a plain one in which masked values are missing."""
    nothing = {"f": np.nan, "M": "NaT", "m": "NaT"}.get(data.dtype.kind)
    values: NDArray[Any] = np.array(data.data, dtype=object if nothing is None else data.dtype)
    values[np.ma.getmaskarray(data)] = nothing
    return values


def _beyond_exact(floats: NDArray[Any]) -> bool:
    """Return True if any finite number is too large for float64 to represent every integer of its size."""
    size = np.abs(floats, dtype=np.promote_types(floats.dtype, np.float64))  # half precision cannot represent the limit
    return bool(((size > EXACT_INTEGERS) & np.isfinite(size)).any())


def read_column(column: "nw.Series[Any] | NDArray[Any]", label: Label) -> Column:
    """Read one column: a narwhals series or a numpy array.

    Infinite values and values of mixed kinds raise an error that names the column by ``label``.
    """
    read = _read_series if isinstance(column, nw.Series) else _read_array
    found = read(column, label)  # type: ignore[arg-type]
    values = found.values
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        if np.isnan(values).any():  # polars distinguishes NaN from missing
            found, values = _without(found, np.isnan(values)), values[~np.isnan(values)]
        _refuse_infinite(Column(values, found.missing), label)
    return found


def _without(column: Column, missing: NDArray[np.bool_]) -> Column:
    """Return a column with some of its known values marked as missing."""
    everywhere = column.spread(missing)
    return replace(column, values=np.asarray(column.values)[~missing], missing=everywhere != 0)


def _refuse_infinite(column: Column, label: Label) -> None:
    finite = np.isfinite(np.asarray(column.values))
    if not finite.all():
        row = int(np.flatnonzero(column.spread(finite) == 0)[0])
        raise InputError(
            "{label} contains infinity (row {row}). Remove the row or replace the value.", label=label, row=row
        )


# --- series of narwhals -------------------------------------------------------------------------------


def _read_series(series: "nw.Series[Any]", label: Label) -> Column:
    series = series.alias("")  # methods of polars interpret a name such as ^x$ as a pattern
    null = series.is_null()
    if not null.any():
        return _known_series(series, label)
    missing = null.to_numpy().astype(bool)
    return replace(_known_series(series.filter(~null), label), missing=missing)


def _known_series(series: "nw.Series[Any]", label: Label) -> Column:
    """Read a series without missing values."""
    dtype = series.dtype
    if dtype.is_temporal():
        return Column(series_days(series), temporal=True)
    if isinstance(dtype, (nw.Int128, nw.UInt128)):  # numpy has no such type
        return Column(_numbers(series.to_list(), label))
    if dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean:
        values = series.to_numpy()
        return Column(values if values.dtype != object else np.array(values.tolist()))  # pandas: nullable types
    if dtype.is_decimal():
        floats = series.cast(nw.Float64()).to_numpy()
        return Column(_numbers(series.to_list(), label) if _beyond_exact(floats) else floats)
    if isinstance(dtype, (nw.Categorical, nw.Enum, nw.String)):
        return Column(_series_labels(series))
    if isinstance(dtype, nw.Object):
        return _object_values(series.to_list(), label)
    if isinstance(dtype, nw.Unknown):  # sparse, complex, periods, intervals
        return _read_array(series.to_numpy(), label)
    raise _type_error(label, str(dtype))


def _series_labels(series: "nw.Series[Any]") -> Labels:
    if isinstance(series.dtype, nw.Enum):
        return _ordered_labels(series)
    declared = not isinstance(series.dtype, nw.String)
    if series.implementation.is_pandas():  # several times as fast as a loop
        codes, levels = series.to_native().factorize()
        return Labels(codes.astype(np.intp), levels.tolist(), declared)
    return Labels(*_number_levels(series.to_list()), declared)


def _ordered_labels(series: "nw.Series[Any]") -> Labels:
    """Return labels with the levels in their declared order."""
    if series.implementation.is_pandas_like():
        native = series.to_native().cat
        return Labels(native.codes.to_numpy().astype(np.intp), native.categories.tolist(), True, native.ordered)
    levels: list[Hashable] = list(series.dtype.categories)  # type: ignore[attr-defined]
    number = {level: code for code, level in enumerate(levels)}
    codes = np.fromiter((number[value] for value in series.to_list()), np.intp, len(series))
    return Labels(codes, levels, True, True)


def _number_levels(values: Sequence[Hashable]) -> tuple[NDArray[np.intp], list[Hashable]]:
    """Return the level code of each value, and the levels in order of first appearance."""
    number: defaultdict[Hashable, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(number.__getitem__, values), np.intp, len(values))
    return codes, list(number)


# --- arrays of numpy ----------------------------------------------------------------------------------


def _read_array(column: NDArray[Any], label: Label) -> Column:
    kind = column.dtype.kind
    if kind in "iufb":
        return Column(column) if column.itemsize <= 8 else Column(_numbers(list(column), label))
    if kind in "mM":
        missing = np.isnat(column)
        return Column(array_days(column[~missing]), missing if missing.any() else None, temporal=True)
    if kind in "cV":
        raise _type_error(label, str(column.dtype))
    return _object_values(column.tolist(), label)


def _object_values(values: list[Any], label: Label) -> Column:
    """Read a column of arbitrary objects as numbers, booleans, text or dates."""
    missing = np.fromiter((is_unknown(value) for value in values), bool, len(values))
    if missing.any():
        known = [value for value, is_missing in zip(values, missing, strict=True) if not is_missing]
        return replace(_known_objects(known, label), missing=missing)
    return _known_objects(values, label)


def _known_objects(values: list[Any], label: Label) -> Column:
    if all(isinstance(value, (bool, np.bool_)) for value in values):
        return Column(np.array(values, dtype=bool))
    if all(isinstance(value, (numbers.Real, decimal.Decimal)) for value in values):
        return Column(_numbers(values, label))
    if all(isinstance(value, str) for value in values):
        return Column(Labels(*_number_levels(values), declared=False))
    for kind in TEMPORAL:
        if all(isinstance(value, kind) for value in values):
            return Column(object_days(values, kind), temporal=True)
    kinds = sorted({type(value).__name__ for value in values})
    if "Period" in kinds:
        raise _date_error(label)
    if len(kinds) == 1 or all(isinstance(value, numbers.Number) for value in values):
        raise _type_error(label, ", ".join(kinds))
    raise InputTypeError(
        "{label} must hold values of one kind, all numbers or all text; got {kinds}. Convert it.",
        label=label,
        kinds=", ".join(kinds),
    )


def is_unknown(value: Any) -> bool:
    """Return True for a missing value: None, NaN, or those of pandas."""
    if value is None:
        return True
    equal = value == value  # may be an array, or pandas.NA, which is neither true nor false
    return type(value).__name__ == "NAType" or (isinstance(equal, (bool, np.bool_)) and not equal)


def _numbers(values: list[Any], label: Label) -> NDArray[Any]:
    """Return numbers as float64, or unchanged if some are integers or decimals too large to be distinct in it."""
    try:
        floats = np.array([float(value) for value in values])
    except OverflowError as error:
        raise InputError(
            "{label} has numbers beyond 1.8e308, which float64 cannot hold. Change its units.", label=label
        ) from error
    if not np.isfinite(floats).all() or not _beyond_exact(floats) or all(isinstance(value, float) for value in values):
        return floats
    return np.array(values, dtype=object)


# --- types that are refused ---------------------------------------------------------------------------


def _date_error(label: Label) -> InputTypeError:
    return InputTypeError(
        "{label} holds periods of time. Turn it into dates or numbers (days since a start, month, hour), or drop it.",
        label=label,
    )


# Advice for types that are neither numbers, text nor categories, by the beginning of the type name.
_WAYS_OUT = {
    "interval": "Use the middle of each interval, or turn it into text to have categories",
    "binary": "Decode it to text",
    "bytes": "Decode it to text",
    "list": "Give each entry a column of its own",
    "array": "Give each entry a column of its own",
    "struct": "Give each field a column of its own",
}


def _type_error(label: Label, kind: str) -> InputTypeError | InputError:
    if kind.startswith("complex"):
        return InputError(
            "{label} must be real; got {kind}. Complex data not supported: use the real and the imaginary part as two "
            "columns, or drop it.",
            label=label,
            kind=kind,
        )
    ways = (way for start, way in _WAYS_OUT.items() if kind.casefold().startswith(start))
    way_out = next(ways, "Convert it to one of these")
    return InputTypeError(
        "{label} must hold numbers, text or categories; got {kind}. {way_out}, or drop it.",
        label=label,
        kind=kind,
        way_out=way_out,
    )
