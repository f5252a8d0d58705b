"""Values of one column: numbers, booleans, labels or times, and the positions of missing values."""

import math
import numbers
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
