"""What one column holds: numbers, booleans, labels or times, and where values are missing."""

import math
import numbers
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

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
    ordered: bool = False
    """Whether the levels come in a declared order, such as small, medium, large."""

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> Hashable:
        return self.levels[int(self.codes[row])]


# Numbers or booleans, or labels.
Values = NDArray[Any] | Labels


@dataclass(frozen=True, eq=False)
class Column:
    """What one column holds: the values that are known, and where the others are."""

    values: Values
    """Of the rows whose value is known, in order."""
    missing: NDArray[np.bool_] | None = None
    """Which rows have no value, (rows,); None if all have one."""
    temporal: bool = False
    """Whether these are dates or times, as numbers of days."""

    def __len__(self) -> int:
        return len(self.values) if self.missing is None else self.missing.size

    @property
    def n_missing(self) -> int:
        """How many rows have no value."""
        return 0 if self.missing is None else int(self.missing.sum())

    def spread(self, known: NDArray[Any]) -> NDArray[np.float64]:
        """Something about the known values as an entry for each row, not a number where the value is missing."""
        if self.missing is None:
            return known.astype(np.float64)
        rows = np.full(self.missing.size, np.nan)
        rows[~self.missing] = known
        return rows


def missing_rows(column: Column) -> str:
    """How many rows have no value, and the first of them, in words."""
    missing = np.zeros(0, bool) if column.missing is None else column.missing
    where = f"row {int(np.argmax(missing))}"
    return where if column.n_missing == 1 else f"{column.n_missing:,} rows, the first is {where}"


def is_numeric(values: Values) -> bool:
    """Tell numbers and ordered levels from booleans, text and other levels."""
    return values.ordered if isinstance(values, Labels) else values.dtype != bool


def holds_numbers_as_text(values: Values) -> bool:
    """Tell whether this is text in which every entry reads as a number, and not all as nan."""
    if not isinstance(values, Labels) or values.declared:
        return False
    try:
        found = [float(str(level)) for level in values.levels]
    except ValueError:
        return False
    return not all(map(math.isnan, found))


def exact_floats(values: Values) -> NDArray[np.float64]:
    """Numbers as float64; of integers that it cannot hold, how far they are above the least; the rank of a level."""
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
    """The number of each value's level, and the levels."""
    if isinstance(values, np.ndarray):
        levels, codes = np.unique(values, return_inverse=True)
        return codes, levels.tolist()
    return values.codes, values.levels
