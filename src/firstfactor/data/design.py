"""Table in, Design out: the factors checked, encoded and scaled, ready to measure distances in."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from .._utils import checks
from .columns import (
    EXACT_INTEGERS,
    MISSING_ADVICE,
    MissingValuesError,
    as_array,
    exact_floats,
    holds_numbers_as_text,
    is_numeric,
    level_codes,
    read_column,
)

Kind = Literal["number", "category", "constant"]
Factors = str | int | Sequence[str] | Sequence[int] | NDArray[Any]

# Squared differences of standardised values below this square underflow.
SMALLEST_DIFFERENCE = 1e-130

# Values with binary exponents up to this can be squared and summed.
SAFE_EXPONENT = 400


@dataclass(frozen=True)
class Design:
    """The factors of one table.

    The squared distance of two rows is the sum over factors of the squared difference of their ``values``, but
    at most ``caps`` for a factor. Levels of a category are spaced so that any two of them are at the cap: their
    order means nothing.
    """

    names: tuple[str, ...]
    values: NDArray[np.float64]
    """(rows, factors), C-ordered."""
    caps: NDArray[np.float64]
    """One per factor: infinity if numeric, what a mismatch counts if categorical."""
    constant: NDArray[np.bool_]
    spans: NDArray[np.float64]
    """The range of each factor of whole numbers before scaling; not a number for other factors."""

    @property
    def n_rows(self) -> int:
        """How many rows the table has."""
        return len(self.values)

    @property
    def n_factors(self) -> int:
        """How many factors the table has, constant ones included."""
        return len(self.names)

    @property
    def categorical(self) -> NDArray[np.bool_]:
        """Which factors are categories."""
        return np.isfinite(self.caps)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What each factor is."""
        return tuple(
            "constant" if constant else "category" if category else "number"
            for constant, category in zip(self.constant, self.categorical, strict=True)
        )

    @cached_property
    def varying(self) -> tuple[int, ...]:
        """The factors that are not constant: the only ones worth searching."""
        return tuple(np.flatnonzero(~self.constant).tolist())

    def euclidean(self) -> NDArray[np.float64]:
        """Points whose squared Euclidean distances are those of the varying factors: one-hot levels."""
        blocks = [np.empty((self.n_rows, 0))]
        for j in self.varying:
            column = self.values[:, [j]]
            if self.categorical[j]:
                column = (column == np.unique(column)) * np.sqrt(self.caps[j] / 2)
            blocks.append(column)
        return np.hstack(blocks)

    def on_rows(self, rows: NDArray[np.intp]) -> "Design":
        """Some rows of the table, scaled as before."""
        values = np.ascontiguousarray(self.values[rows])
        return replace(self, values=values, constant=(values == values[0]).all(axis=0))

    def locate(self, parameter: str, factors: Factors) -> tuple[int, ...]:
        """The positions of factors given by name, by position or as a mask."""
        return locate(parameter, factors, self.names)


def read_design(X: Any, categorical: Factors | None = None, scale: bool = True) -> Design:
    """Check and encode a table of factors.

    Parameters
    ----------
    X : array-like or table of shape (rows, factors)
        A numpy array, a list of rows, or a pandas, polars or pyarrow table.
    categorical : names, positions or mask, optional
        Factors to treat as categories whatever their type. Text, boolean and categorical columns are
        categories anyway.
    scale : bool
        Whether numeric factors are divided by their standard deviation (ddof = 1).
    """
    checks.boolean("scale", scale)
    names, columns, n_rows = open_table(X)
    forced = () if categorical is None else locate("categorical", categorical, names)
    if isinstance(columns, np.ndarray) and not forced and _all_plain(columns):
        encoded = _shift_offsets(columns.T.astype(np.float64, order="C"))
        is_category = np.zeros(len(names), dtype=bool)
    else:
        encoded, is_category = _encode_each(columns, names, n_rows, forced)
    constant = (encoded == encoded[:, :1]).all(axis=1)
    spans = _whole_spans(encoded, ~is_category)
    mismatch = _rescale(encoded, names, ~is_category, scale)
    encoded[is_category] *= np.sqrt(2 * mismatch)  # a power of two whose square is above the cap
    return Design(names, np.ascontiguousarray(encoded.T), np.where(is_category, mismatch, np.inf), constant, spans)


def locate(parameter: str, factors: Factors, names: tuple[str, ...]) -> tuple[int, ...]:
    """The sorted, distinct positions in ``names`` that ``factors`` stands for."""
    several: Any = [factors] if isinstance(factors, str) or np.ndim(factors) == 0 else factors
    if np.asarray(several).dtype == bool:
        if len(several) != len(names):
            raise ValueError(
                f"{parameter} as a mask must have one entry per factor ({len(names)}); got {len(several)}."
            )
        several = np.flatnonzero(several)
    return tuple(sorted({_position(parameter, factor, names) for factor in several}))


def _position(parameter: str, factor: Any, names: tuple[str, ...]) -> int:
    if isinstance(factor, str):
        if factor not in names:
            raise ValueError(
                f"{parameter} must name columns of X; there is no column {factor!r}. "
                f"The columns are: {_shorten(names)}."
            )
        return names.index(factor)
    if checks.is_integer(factor) and 0 <= factor < len(names):
        return int(factor)
    raise ValueError(f"{parameter} must hold column names or positions from 0 to {len(names) - 1}; got {factor!r}.")


def _shorten(names: Sequence[str], most: int = 10) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"


# --- opening: whatever came in becomes names and an iterator of columns -------------------------------


def open_table(X: Any) -> tuple[tuple[str, ...], NDArray[Any] | Iterator[Any], int]:
    """The names of the columns, the columns as they are, and how many rows there are."""
    sparse = sys.modules.get("scipy.sparse")  # where it was not imported, nothing is sparse
    if sparse is not None and sparse.issparse(X):
        raise TypeError("X must be dense: sparse data is not supported. Use X.toarray() if it fits in memory.")
    if isinstance(X, np.ndarray):  # the usual case, and narwhals would take its time to pass it through
        return _open_array(X)
    X = flatten_names(X)
    if nw.dependencies.is_pandas_dataframe(X):
        _refuse_duplicate_names(X.columns)
    elif nw.dependencies.is_pyarrow_table(X):
        _refuse_duplicate_names(X.column_names)
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("X must be a table in memory; got a lazy one. Call .collect() or .compute() first.")
    if isinstance(frame, nw.DataFrame):
        names = tuple(str(name) for name in frame.columns)
        _refuse_empty(frame.shape)
        return names, frame.iter_columns(), frame.shape[0]
    return _open_array(X)


def flatten_names(X: Any) -> Any:
    """A table whose columns have a name each; what has none comes back as it is.

    The levels of a pandas MultiIndex are joined by "_", empty ones left out. An Arrow record batch becomes a table.
    """
    X = nw.to_native(X, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(X) and X.columns.nlevels > 1:
        names = ["_".join(filter(None, map(str, levels))) for levels in X.columns]
        return X.set_axis(names, axis="columns")
    pyarrow = nw.dependencies.get_pyarrow()
    if pyarrow is not None and isinstance(X, pyarrow.RecordBatchReader):
        raise TypeError("X must be a table in memory; got a RecordBatchReader. Call .read_all() first.")
    if pyarrow is not None and isinstance(X, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([X])
    return X


def _open_array(X: Any) -> tuple[tuple[str, ...], NDArray[Any], int]:
    try:
        array = as_array(X)
    except ValueError as error:
        raise ValueError("X must be a table: every row needs the same number of values.") from error
    if array.ndim != 2:
        raise ValueError(
            f"X must be 2-dimensional, rows by factors; got {array.ndim} dimension(s). Reshape your data: "
            "X.reshape(-1, 1) for a single factor."
        )
    _refuse_empty(array.shape)
    return tuple(f"x{j}" for j in range(array.shape[1])), array, array.shape[0]


def _refuse_empty(shape: Sequence[int]) -> None:
    if shape[1] == 0:
        raise ValueError(f"X has 0 feature(s) (shape={tuple(shape)}) while a minimum of 1 is required.")
    if shape[0] < 2:
        raise ValueError(f"X must have at least 2 rows; got n_samples = {shape[0]}.")


def _refuse_duplicate_names(names: Iterable[Any]) -> None:
    repeated = [name for name, count in Counter(map(str, names)).items() if count > 1]
    if repeated:
        raise ValueError(f"X must have distinct column names; repeated: {_shorten(repeated)}. Rename them.")


# --- encoding: one column becomes float64 numbers or level codes --------------------------------------


def _all_plain(array: NDArray[Any]) -> bool:
    """Tell whether an array can be taken as it is: finite numbers without offsets that float64 cannot hold."""
    if array.dtype.kind == "f":
        return array.itemsize <= 8 and bool(np.isfinite(array).all())
    return array.dtype.kind in "iu" and bool(np.abs(array).max() <= EXACT_INTEGERS)


def _encode_each(
    columns: NDArray[Any] | Iterator[Any], names: tuple[str, ...], n_rows: int, forced: tuple[int, ...]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Encode column by column; return the values, (factors, rows), and which columns are categories."""
    values = np.empty((len(names), n_rows))
    is_category = np.zeros(len(names), dtype=bool)
    missing: dict[str, MissingValuesError] = {}
    for j, column in enumerate(columns.T if isinstance(columns, np.ndarray) else columns):
        try:
            values[j], is_category[j] = _encode(column, names[j], j in forced)
        except MissingValuesError as error:
            missing[names[j]] = error
    _refuse_missing(missing)
    return values, is_category


def _refuse_missing(missing: dict[str, MissingValuesError], most: int = 10) -> None:
    """Name the columns with missing values and how many each has, the worst first."""
    if len(missing) == 1:
        raise next(iter(missing.values()))
    if missing:
        worst = sorted(missing, key=lambda name: -missing[name].count)
        counts = [f"{name!r} ({missing[name].count:,})" for name in worst[:most]]
        more = f" and {len(worst) - most:,} more" if len(worst) > most else ""
        raise ValueError(
            f"X contains NaN in {len(worst):,} columns (rows): {', '.join(counts)}{more}. {MISSING_ADVICE}"
        )


def _encode(column: Any, name: str, forced: bool) -> tuple[NDArray[Any], bool]:
    """A column as numbers or as level codes, and whether it is a category."""
    label = f"column {name!r} of X"
    values = read_column(column, label)
    if forced or not is_numeric(values):
        if not forced and holds_numbers_as_text(values):
            raise ValueError(
                f"{label} holds numbers written as text (such as {values[0]!r}). Convert it to numbers, or "
                "name it in categorical= if its values are labels."
            )
        return level_codes(values)[0], True
    return _shift_offsets(exact_floats(np.asarray(values))), False


def _shift_offsets(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move columns, the last axis, next to zero where an offset would cost digits.

    Only differences matter. Subtracting the value nearest to zero keeps every one of them to the last bit, which
    subtracting the mean does not.
    """
    low, high = values.min(axis=-1, keepdims=True), values.max(axis=-1, keepdims=True)
    values -= np.where(low > 0, low, np.where(high < 0, high, 0.0))
    return values


def _whole_spans(values: NDArray[np.float64], numeric: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The range of each column, (factors, rows), of whole numbers; not a number for the others."""
    start = values[:, :50]  # most other columns show there
    whole = numeric & (start == np.floor(start)).all(axis=1)
    spans = np.full(len(values), np.nan)
    for j in np.flatnonzero(whole):
        if (values[j] == np.floor(values[j])).all():
            with np.errstate(over="ignore"):  # of large numbers, all are whole
                spans[j] = np.ptp(values[j])
    return spans


# --- scaling: numeric columns in standard deviations --------------------------------------------------


def _rescale(values: NDArray[np.float64], names: tuple[str, ...], numeric: NDArray[np.bool_], scale: bool) -> float:
    """Scale the numeric columns, (factors, rows), in place; return what a categorical mismatch counts.

    Powers of two come first: they are exact and keep squares from overflowing, whatever the units.
    """
    spread = np.where(numeric, np.maximum(values.max(axis=1), -values.min(axis=1)), 0.0)
    varies = numeric & (spread > 0)
    exponents = np.frexp(spread)[1]
    common = int(exponents[varies].max()) if varies.any() else 0
    shifts = np.where(varies, exponents if scale else common, 0)
    if np.abs(shifts).max() > SAFE_EXPONENT or not scale:
        np.ldexp(values, -shifts[:, None], out=values)
    mismatch = 2.0
    if scale:
        deviations = np.ones((len(values), 1))
        deviations[varies, 0] = (values if varies.all() else values[varies]).std(axis=1, ddof=1)
        values /= deviations
    else:
        with np.errstate(over="ignore"):  # refused below if there are categories
            mismatch = float(np.ldexp(mismatch, -2 * common))
    _refuse_lost_digits(values, names, numeric, mismatch, scale)
    return mismatch


def _refuse_lost_digits(
    values: NDArray[np.float64],
    names: tuple[str, ...],
    numeric: NDArray[np.bool_],
    mismatch: float,
    scale: bool,
) -> None:
    lost = np.flatnonzero(numeric & ((values != 0) & (np.abs(values) < SMALLEST_DIFFERENCE)).any(axis=1))
    if lost.size:
        way_out = "take logarithms or ranks" if scale else "use scale=True, or bring the columns to like units"
        raise ValueError(
            f"column {names[lost[0]]!r} of X has values more than 130 orders of magnitude apart from the "
            f"largest ones: their distances cannot be told from 0. Check for fill values, or {way_out}."
        )
    if not numeric.all() and not SMALLEST_DIFFERENCE**2 < mismatch < 1 / SMALLEST_DIFFERENCE**2:
        raise ValueError(
            "scale=False mixes categories with numbers more than 130 orders of magnitude away from 1. "
            "Use scale=True, or change the units."
        )
