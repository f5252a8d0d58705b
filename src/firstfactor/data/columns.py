"""One column in, its values out: numbers, booleans or labels, told apart and checked."""

import datetime
import decimal
import numbers
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

# Integers beyond this have neighbours that float64 cannot tell apart.
EXACT_INTEGERS = 2**53

MISSING_ADVICE = "Missing values are not supported yet: drop these rows or fill them in first."


@dataclass(frozen=True, eq=False)
class Labels:
    """A column of text, or of levels that its table declares categorical."""

    codes: NDArray[np.intp]
    """Position of each row's level."""
    levels: list[Hashable]
    declared: bool

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> Hashable:
        return self.levels[int(self.codes[row])]


# Numbers or booleans, or labels.
Values = NDArray[Any] | Labels


class MissingValuesError(ValueError):
    """A column has missing values."""

    count = 0
    """How many."""


def as_array(data: Any) -> NDArray[Any]:
    """An array of ``data``; lists keep numbers apart from text, and integers that float64 cannot hold."""
    array = np.asarray(data)
    if isinstance(data, np.ndarray):
        return array
    if array.dtype.kind in "US" or (array.dtype.kind == "f" and _beyond_exact(array)):
        return np.asarray(data, dtype=object)
    return array


def _beyond_exact(floats: NDArray[Any]) -> bool:
    """Tell whether there are finite numbers so large that float64 cannot hold each integer of their size."""
    size = np.abs(floats)
    return bool(((size > EXACT_INTEGERS) & np.isfinite(size)).any())


def read_column(column: "nw.Series[Any] | NDArray[Any]", label: str) -> Values:
    """The values of one column: a narwhals series or a numpy array.

    Missing and infinite values, dates and values of several kinds are refused; ``label`` says in the error
    which column it was.
    """
    read = _series_values if isinstance(column, nw.Series) else _array_values
    values = read(column, label)  # type: ignore[arg-type]
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        _refuse_non_finite(values, label)
    return values


def is_numeric(values: Values) -> bool:
    """Tell numbers from booleans, text and levels."""
    return isinstance(values, np.ndarray) and values.dtype != bool


def holds_numbers_as_text(values: Values) -> bool:
    """Tell whether this is text in which every entry reads as a number."""
    if not isinstance(values, Labels) or values.declared:
        return False
    try:
        for level in values.levels:
            float(str(level))
    except ValueError:
        return False
    return True


def exact_floats(values: NDArray[Any]) -> NDArray[np.float64]:
    """Numbers as float64; of integers that it cannot hold, how far they are above the least."""
    if values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        if max(abs(low), abs(high)) > EXACT_INTEGERS:
            above = values.astype(np.uint64) - np.array(low % 2**64, dtype=np.uint64)  # exact: modulo 2**64
            return above.astype(np.float64)
    if values.dtype.kind == "O":
        exact = [_fraction(value) for value in values]
        low_exact = min(exact)
        return np.array([float(value - low_exact) for value in exact])
    return values.astype(np.float64)


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value)) if isinstance(value, numbers.Integral) else Fraction(*value.as_integer_ratio())


def level_codes(values: Values) -> tuple[NDArray[np.intp], list[Any]]:
    """The number of each value's level, and the levels."""
    if isinstance(values, np.ndarray):
        levels, codes = np.unique(values, return_inverse=True)
        return codes, levels.tolist()
    return values.codes, values.levels


def _series_values(series: "nw.Series[Any]", label: str) -> Values:
    series = series.alias("")  # methods of polars take a name such as ^x$ for a pattern
    dtype = series.dtype
    if dtype.is_temporal():
        raise _date_error(label)
    missing = series.is_null()
    if missing.any():
        raise _missing_error(label, missing.to_numpy())
    if isinstance(dtype, (nw.Int128, nw.UInt128)):  # numpy has no such type
        return _numbers(series.to_list(), label)
    if dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean:
        return series.to_numpy()
    if dtype.is_decimal():
        floats = series.cast(nw.Float64()).to_numpy()
        return _numbers(series.to_list(), label) if _beyond_exact(floats) else floats
    if isinstance(dtype, (nw.Categorical, nw.Enum, nw.String)):
        return _series_labels(series)
    if isinstance(dtype, nw.Object):
        return _object_values(series.to_list(), label)
    if isinstance(dtype, nw.Unknown):  # sparse, complex, periods, intervals
        return _array_values(series.to_numpy(), label)
    raise _type_error(label, str(dtype))


def _series_labels(series: "nw.Series[Any]") -> Labels:
    declared = not isinstance(series.dtype, nw.String)
    if series.implementation.is_pandas():  # several times as fast as a loop
        codes, levels = series.to_native().factorize()
        return Labels(codes.astype(np.intp), levels.tolist(), declared)
    return Labels(*_number_levels(series.to_list()), declared)


def _number_levels(values: Sequence[Hashable]) -> tuple[NDArray[np.intp], list[Hashable]]:
    """The number of each value's level, and the levels in the order they come."""
    number: defaultdict[Hashable, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(number.__getitem__, values), np.intp, len(values))
    return codes, list(number)


def _array_values(column: NDArray[Any], label: str) -> Values:
    kind = column.dtype.kind
    if kind in "iufb":
        return column if column.itemsize <= 8 else _numbers(list(column), label)
    if kind in "mM":
        raise _date_error(label)
    if kind in "cV":
        raise _type_error(label, str(column.dtype))
    return _object_values(column.tolist(), label)


def _object_values(values: list[Any], label: str) -> Values:
    """Tell numbers, booleans and text apart in a column that can hold anything."""
    missing = np.fromiter((_is_missing(value) for value in values), bool, len(values))
    if missing.any():
        raise _missing_error(label, missing)
    if all(isinstance(value, (bool, np.bool_)) for value in values):
        return np.array(values, dtype=bool)
    if all(isinstance(value, (numbers.Real, decimal.Decimal)) for value in values):
        return _numbers(values, label)
    if all(isinstance(value, str) for value in values):
        return Labels(*_number_levels(values), declared=False)
    kinds = sorted({type(value).__name__ for value in values})
    if any(isinstance(value, _TEMPORAL) for value in values) or "Period" in kinds:
        raise _date_error(label)
    if len(kinds) == 1 or all(isinstance(value, numbers.Number) for value in values):
        raise _type_error(label, ", ".join(kinds))
    raise TypeError(
        f"{label} must hold values of one kind, all numbers or all text; got {', '.join(kinds)}. Convert it."
    )


_TEMPORAL = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    equal = value == value  # an array if that is what the cell holds; pandas.NA does not even say whether
    return type(value).__name__ == "NAType" or (isinstance(equal, (bool, np.bool_)) and not equal)


def _numbers(values: list[Any], label: str) -> NDArray[Any]:
    """Numbers as float64, or as they are if some are integers or decimals too large for it to tell apart."""
    try:
        floats = np.array([float(value) for value in values])
    except OverflowError as error:
        raise ValueError(f"{label} has numbers beyond 1.8e308, which float64 cannot hold. Change its units.") from error
    if not np.isfinite(floats).all() or not _beyond_exact(floats) or all(isinstance(value, float) for value in values):
        return floats
    return np.array(values, dtype=object)


def _refuse_non_finite(values: NDArray[Any], label: str) -> None:
    finite = np.isfinite(values)
    if finite.all():
        return
    missing = np.isnan(values)
    if missing.any():
        raise _missing_error(label, missing)
    row = int(np.argmin(finite))
    raise ValueError(f"{label} contains infinity (row {row}). Remove the row or replace the value.")


def _missing_error(label: str, missing: NDArray[np.bool_]) -> MissingValuesError:
    count, where = int(missing.sum()), f"row {int(np.argmax(missing))}"
    if count > 1:
        where = f"{count:,} rows, the first is {where}"
    error = MissingValuesError(f"{label} contains NaN ({where}). {MISSING_ADVICE}")
    error.count = count
    return error


def _date_error(label: str) -> TypeError:
    return TypeError(
        f"{label} holds dates or times. Turn it into numbers (days since a start, month, hour) or drop it."
    )


# What to do about a type that is neither numbers, text nor categories, by what its name begins with.
_WAYS_OUT = {
    "interval": "Use the middle of each interval, or turn it into text to have categories",
    "binary": "Decode it to text",
    "bytes": "Decode it to text",
    "list": "Give each entry a column of its own",
    "array": "Give each entry a column of its own",
    "struct": "Give each field a column of its own",
}


def _type_error(label: str, kind: str) -> TypeError | ValueError:
    if kind.startswith("complex"):
        return ValueError(
            f"{label} must be real; got {kind}. Complex data not supported: use the real and the imaginary part as two "
            "columns, or drop it."
        )
    ways = (way for start, way in _WAYS_OUT.items() if kind.casefold().startswith(start))
    way_out = next(ways, "Convert it to one of these")
    return TypeError(f"{label} must hold numbers, text or categories; got {kind}. {way_out}, or drop it.")
