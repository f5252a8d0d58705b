"""Scaling of numeric columns by their standard deviations, or by given units."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._utils.checks import InputError, Message
from .constants import MISMATCH

# Smallest divisors in place of a number that may be 0: the second is above 0 in single precision as well.
TINY, TINY_IN_SINGLE = 1e-300, 1e-30

# Standardised values below this have squared differences that underflow.
SMALLEST_DIFFERENCE = 1e-130

# Maximum binary exponent of values that can be squared and summed.
SAFE_EXPONENT = 400

# Values that are not comparable with others, levels and missing values, are at least FAR from each other; other values
# are at most LARGEST. The squared difference shows which case it is.
FAR, LARGEST = 2.0**200, 2.0**150


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
