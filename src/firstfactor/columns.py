"""One column in, its values out: numbers, booleans or labels, told apart and checked."""

import datetime
import decimal
import numbers
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

# Integers beyond this have neighbours that float64 cannot tell apart.
EXACT_INTEGERS = 2**53


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


def as_array(data: Any) -> NDArray[Any]:
    """Return an array of ``data``; lists that mix numbers and text keep them apart."""
    array = np.asarray(data)
    if array.dtype.kind in "US" and not isinstance(data, np.ndarray):
        return np.asarray(data, dtype=object)
    return array


def read_column(column: "nw.Series[Any] | NDArray[Any]", label: str) -> Values:
    """Return the values of one column: a narwhals series or a numpy array.

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
    """Return numbers as float64; of integers that it cannot hold, how far they are above the least."""
    if values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        if max(abs(low), abs(high)) > EXACT_INTEGERS:
            above = values.astype(np.uint64) - np.array(low % 2**64, dtype=np.uint64)  # exact: modulo 2**64
            return above.astype(np.float64)
    return values.astype(np.float64)


def level_codes(values: Values) -> tuple[NDArray[np.intp], list[Any]]:
    """Return the number of each value's level, and the levels."""
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
        raise _missing_error(label, int(missing.arg_true()[0]))
    if dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean:
        return series.to_numpy()
    if dtype.is_decimal():
        return series.cast(nw.Float64()).to_numpy()
    if isinstance(dtype, (nw.Categorical, nw.Enum, nw.String)):
        return _series_labels(series)
    if isinstance(dtype, nw.Object):
        return _object_values(series.to_list(), label)
    raise TypeError(f"{label} must hold numbers, text or categories; got {dtype}.")


def _series_labels(series: "nw.Series[Any]") -> Labels:
    declared = not isinstance(series.dtype, nw.String)
    if series.implementation.is_pandas():  # several times as fast as a loop
        codes, levels = series.to_native().factorize()
        return Labels(codes.astype(np.intp), levels.tolist(), declared)
    return Labels(*_number_levels(series.to_list()), declared)


def _number_levels(values: Sequence[Hashable]) -> tuple[NDArray[np.intp], list[Hashable]]:
    """Return the number of each value's level, and the levels in the order they come."""
    number: defaultdict[Hashable, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(number.__getitem__, values), np.intp, len(values))
    return codes, list(number)


def _array_values(column: NDArray[Any], label: str) -> Values:
    kind = column.dtype.kind
    if kind in "iufb":
        return column
    if kind == "c":
        raise ValueError(f"{label} must be real. Complex data not supported.")
    if kind in "mM":
        raise _date_error(label)
    return _object_values(column.tolist(), label)


def _object_values(values: list[Any], label: str) -> Values:
    """Tell numbers, booleans and text apart in a column that can hold anything."""
    for row, value in enumerate(values):
        if value is None or value != value:
            raise _missing_error(label, row)
    if all(isinstance(value, (bool, np.bool_)) for value in values):
        return np.array(values, dtype=bool)
    if all(isinstance(value, (numbers.Real, decimal.Decimal)) for value in values):
        return np.array([float(value) for value in values])
    if all(isinstance(value, str) for value in values):
        return Labels(*_number_levels(values), declared=False)
    if any(isinstance(value, (datetime.date, np.datetime64)) for value in values):
        raise _date_error(label)
    kinds = ", ".join(sorted({type(value).__name__ for value in values}))
    raise TypeError(f"{label} must hold values of one kind, all numbers or all text; got {kinds}. Convert it.")


def _refuse_non_finite(values: NDArray[Any], label: str) -> None:
    finite = np.isfinite(values)
    if finite.all():
        return
    row = int(np.argmin(finite))
    if np.isnan(values[row]):
        raise _missing_error(label, row)
    raise ValueError(f"{label} contains infinity (row {row}). Remove the row or replace the value.")


def _missing_error(label: str, row: int) -> ValueError:
    return ValueError(
        f"{label} contains NaN (row {row}). Missing values are not supported yet: drop these rows or fill "
        "them in first."
    )


def _date_error(label: str) -> TypeError:
    return TypeError(
        f"{label} holds dates or times. Turn it into numbers (days since a start, month, hour) or drop it."
    )
