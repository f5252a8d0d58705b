"""Columns as numbers: every column checked and converted to float64, then scaled."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeGuard

import numpy as np
from numpy.typing import NDArray

from .._utils.checks import InputError, Message
from .columns import (
    EXACT_INTEGERS,
    Column,
    Labels,
    Values,
    exact_floats,
    holds_numbers_as_text,
    is_numeric,
    level_codes,
    missing_rows,
    read_column,
)
from .constants import MISMATCH
from .table import Factors, locate, open_table

ColumnKind = Literal["number", "category", "ordered", "date"]

# Maximum number of columns with missing values named in an error.
MOST_NAMED = 10


@dataclass(frozen=True)
class Encoded:
    """Columns of a table as numbers, in their own units."""

    names: tuple[str, ...]
    values: NDArray[np.float64]
    """Numbers or level codes, (columns, rows); NaN where a value is missing."""
    kinds: tuple[ColumnKind, ...]
    as_given: NDArray[np.bool_]
    """Mask of the columns, (columns,), with the original numbers, or true as 1: neither recoded nor shifted."""
    n_missing: NDArray[np.intp]
    """Number of rows without a value in each column, (columns,)."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[1])

    def on_rows(self, rows: NDArray[np.intp]) -> "Encoded":
        """Return some rows."""
        values = self.values[:, rows]
        return replace(self, values=values, n_missing=_count_missing(values))

    def find_gaps(self, rows: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Return a mask of the given rows that lack a value, and the number of such rows for each column."""
        if not self.n_missing.any():
            return np.zeros(int(rows.sum()), dtype=bool), np.zeros(len(self.names), np.intp)
        gaps: NDArray[np.bool_] = np.isnan(self.values[:, rows])
        return np.any(gaps, axis=0), np.sum(gaps, axis=1)


def encode_table(X: Any, categorical: Factors | None = None) -> Encoded:
    """Check and encode a table; columns in ``categorical`` are categories whatever their type."""
    names, columns, n_rows = open_table(X)
    forced = () if categorical is None else locate("categorical", categorical, names)
    if isinstance(columns, np.ndarray) and not forced and _all_plain(columns):
        values = columns.T.astype(np.float64, order="C")
        kinds: tuple[ColumnKind, ...] = tuple("number" for _ in names)
        as_given = ~_shift_offsets(values)
    else:
        values, kinds, as_given = _encode_each(columns, names, n_rows, forced)
    return Encoded(names, values, kinds, as_given, _count_missing(values))


def _count_missing(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the number of missing values of each column, (columns, rows); a sum shows fastest that there are none."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isnan(values.sum()):
            return np.zeros(len(values), np.intp)
    counts: NDArray[np.intp] = np.isnan(values).sum(axis=1)
    return counts


def refuse_missing(encoded: Encoded) -> None:
    """Raise an error that names the columns with missing values and their numbers, largest first."""
    worst = [int(j) for j in np.argsort(-encoded.n_missing, kind="stable") if encoded.n_missing[j]]
    if not worst:
        return
    advice = Message(
        'Use {missing="level"} to take "not known" for a value of its own, or {missing="drop"} to leave out these rows.'
    )
    if len(worst) == 1:
        column = Column(np.empty(0), np.isnan(encoded.values[worst[0]]))
        raise InputError(
            "column {name!r}{ of X} contains NaN ({rows}). {advice}",
            name=encoded.names[worst[0]],
            rows=missing_rows(column),
            advice=advice,
        )
    counts = [f"{encoded.names[j]!r} ({encoded.n_missing[j]:,})" for j in worst[:MOST_NAMED]]
    more = f" and {len(worst) - MOST_NAMED:,} more" if len(worst) > MOST_NAMED else ""
    raise InputError(
        "{X} contains NaN in {number:,} columns (rows): {counts}{more}. {advice}",
        number=len(worst),
        counts=", ".join(counts),
        more=more,
        advice=advice,
    )


def _all_plain(array: NDArray[Any]) -> bool:
    """Return True for an array that needs no conversion: numbers, none infinite or beyond the precision of float64."""
    if array.dtype.kind == "f":
        return array.itemsize <= 8 and not np.isinf(array).any()
    return array.dtype.kind in "iu" and bool(np.abs(array).max() <= EXACT_INTEGERS)


def _encode_each(
    columns: NDArray[Any] | Iterator[Any], names: tuple[str, ...], n_rows: int, forced: tuple[int, ...]
) -> tuple[NDArray[np.float64], tuple[ColumnKind, ...], NDArray[np.bool_]]:
    """Encode column by column; return the values, (columns, rows), their kinds, and a mask of those unchanged."""
    values, as_given = np.empty((len(names), n_rows)), np.empty(len(names), dtype=bool)
    kinds: list[ColumnKind] = []
    for j, column in enumerate(columns.T if isinstance(columns, np.ndarray) else columns):
        values[j], kind, as_given[j] = _encode(column, names[j], j in forced)
        kinds.append(kind)
    return values, tuple(kinds), as_given


def _encode(column: Any, name: str, forced: bool) -> tuple[NDArray[np.float64], ColumnKind, bool]:
    """Encode a column as numbers or level codes, (rows,); return also its kind, and True if values are unchanged."""
    label = Message("column {name!r}{ of X}", name=name)
    read = read_column(column, label)
    values = read.values
    if forced or not is_numeric(values):
        if not forced and len(values) and holds_numbers_as_text(values):
            raise InputError(
                "{label} holds numbers written as text (such as {value!r}). Convert it to numbers, or name it in "
                "{categorical=} if its values are labels.",
                label=label,
                value=values[0],
            )
        codes = values if _holds_indicators(values) else level_codes(values)[0]
        return read.spread(codes), "category", codes is values
    kind: ColumnKind = "ordered" if isinstance(values, Labels) else "date" if read.temporal else "number"
    known = exact_floats(values)
    rows = read.spread(known)
    is_moved = bool(_shift_offsets(rows))
    return rows, kind, kind == "number" and not is_moved and bool((known == values).all())


def _holds_indicators(values: Values) -> TypeGuard[NDArray[Any]]:
    """Return True for booleans, or numbers that are all 1 or 0."""
    return isinstance(values, np.ndarray) and (values.dtype == bool or bool(np.isin(values, (0, 1)).all()))


def _shift_offsets(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Shift columns, the last axis, towards zero where an offset would cost digits; return a mask of those shifted.

    Only differences matter. Subtracting the value nearest to zero preserves all of them to the last bit, which
    subtracting the mean does not. Missing values stay missing.
    """
    low, high = values.min(axis=-1, keepdims=True), values.max(axis=-1, keepdims=True)
    if np.isnan(low).any():  # ``fmin`` skips missing values, but takes longer
        low, high = np.fmin.reduce(values, axis=-1, keepdims=True), np.fmax.reduce(values, axis=-1, keepdims=True)
    offsets = np.where(low > 0, low, np.where(high < 0, high, 0.0))
    values -= offsets
    is_moved: NDArray[np.bool_] = offsets[..., 0] != 0
    return is_moved


# Smallest divisors in place of a number that may be 0: the second is above 0 in single precision as well.
TINY, TINY_IN_SINGLE = 1e-300, 1e-30

# --- scaling by standard deviations, or by given units ------------------------------------------------

# Standardised values below this have squared differences that underflow.
SMALLEST_DIFFERENCE = 1e-130

# Maximum binary exponent of values that can be squared and summed.
SAFE_EXPONENT = 400

# Values that are not comparable with others, levels and missing values, are at least FAR from each other; other values
# are at most LARGEST. The squared difference shows which case it is.
FAR, LARGEST = 2.0**200, 2.0**150


def is_missing(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return a mask of the missing values of a scaled numeric column."""
    return values > LARGEST


@dataclass(frozen=True)
class Columns:
    """Columns to scale."""

    values: NDArray[np.float64]
    """Values, (columns, rows), NaN where missing; scaled in place."""
    numeric: NDArray[np.bool_]
    """Mask of the columns to scale, (columns,): those that do not hold level codes."""
    complete: NDArray[np.bool_]
    """Mask of the columns without missing values, (columns,)."""
    names: Sequence[str]
    """Name of the factor of each column."""
    circles: Sequence[tuple[int, int]]
    """Pairs of columns that are points on a circle, both divided by the root of their summed variances."""
    units: Mapping[int, float]
    """Divisors of some columns, in place of their standard deviations."""


def rescale(columns: Columns, scale: bool, is_part: bool = False) -> float:
    """Scale the numeric columns in place; return the squared distance of two different levels.

    Values are first divided by powers of two, which is exact and prevents squares from overflowing, whatever the units.
    In a part of a table, the largest value overall is unknown: columns that are not scaled stay unchanged, and must not
    be too large for this.
    """
    values, numeric = columns.values, columns.numeric
    largest = np.where(numeric, np.maximum(values.max(axis=1), -values.min(axis=1)), 0.0)
    for j in np.flatnonzero(numeric & ~columns.complete):
        largest[j] = np.fmax.reduce(np.abs(values[j]))
    varies = numeric & (largest > 0)
    exponents = np.frexp(largest)[1]
    common = int(exponents[varies].max()) if varies.any() and not is_part else 0
    shifts = np.where(varies, exponents if scale else common, 0)
    mismatch, shifted = MISMATCH, np.abs(shifts).max() > SAFE_EXPONENT or not scale
    if shifted:
        np.ldexp(values, -shifts[:, None], out=values)
    if scale:
        deviations = _deviations(columns, varies)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # raises an error below
            for column, unit in columns.units.items():
                deviations[column, 0] = np.ldexp(unit, -int(shifts[column]) if shifted else 0)
            values /= deviations
    else:
        with np.errstate(over="ignore"):  # raises an error below if there are categories
            mismatch = float(np.ldexp(mismatch, -2 * common))
    if is_part and not scale:
        _refuse_large(columns, largest)
    _refuse_strange_units(columns, varies)
    _refuse_lost_digits(columns, mismatch, scale)
    return mismatch


def _deviations(columns: Columns, varies: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the standard deviation of each column, (columns, 1); 1 for columns that are not scaled."""
    values, deviations = columns.values, np.ones((len(columns.values), 1))
    complete = varies & columns.complete
    if complete.any():
        deviations[complete, 0] = (values if complete.all() else values[complete]).std(axis=1, ddof=1)
        deviations[deviations == 0] = 1.0  # constant on the remaining rows, while others of its group vary
    for j in np.flatnonzero(varies & ~complete):
        known = values[j][~np.isnan(values[j])]
        deviations[j, 0] = known.std(ddof=1) if np.ptp(known) > 0 else 1.0
    for pair in columns.circles:
        known = values[list(pair)][:, ~np.isnan(values[pair[0]])]
        deviations[list(pair), 0] = np.sqrt(known.var(axis=1, ddof=1).sum()) if np.ptp(known, axis=1).any() else 1.0
    return deviations


def _refuse_large(columns: Columns, largest: NDArray[np.float64]) -> None:
    if largest.max(initial=0.0) >= LARGEST:
        raise InputError(
            "{scale=False} is for values below {most:.0e} where a table is not read into memory as a whole; column "
            "{name!r}{ of X} has {largest:g}. {Use scale=True}, or change the units.",
            most=LARGEST,
            name=columns.names[int(largest.argmax())],
            largest=largest.max(),
        )


def _refuse_strange_units(columns: Columns, varies: NDArray[np.bool_]) -> None:
    for j, unit in columns.units.items():
        size = np.fmax.reduce(np.abs(columns.values[j]))
        if varies[j] and not SMALLEST_DIFFERENCE < size < LARGEST:
            wrong = "small" if size < 1 else "large"
            raise InputError(
                "{scale} of {name!r} must be a unit that its values are not too {wrong} for; got {unit:g}.",
                name=columns.names[j],
                wrong=wrong,
                unit=unit,
            )


def _refuse_lost_digits(columns: Columns, mismatch: float, scale: bool) -> None:
    values, numeric = columns.values, columns.numeric
    small = (values != 0) & (np.abs(values) < SMALLEST_DIFFERENCE)
    lost = np.flatnonzero(numeric & small.any(axis=1))
    if lost.size:
        way_out = "take logarithms or ranks" if scale else "{use scale=True}, or bring the columns to like units"
        raise InputError(
            "column {name!r}{ of X} has values more than 130 orders of magnitude apart from the largest ones: their "
            "distances cannot be told from 0. Check for fill values, or {way_out}.",
            name=columns.names[lost[0]],
            way_out=Message(way_out),
        )
    has_levels = not numeric.all() or not columns.complete.all()
    if has_levels and not SMALLEST_DIFFERENCE**2 < mismatch < 1 / SMALLEST_DIFFERENCE**2:
        raise InputError(
            "{scale=False} mixes categories or missing values with numbers more than 130 orders of magnitude away from "
            "1. {Use scale=True}, or change the units."
        )
