"""Column names and columns of any kind of table, and factors given by name, position or mask."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from .._utils import checks
from .columns import as_array

Factors = str | int | Sequence[str] | Sequence[int] | NDArray[Any]


def open_table(X: Any) -> tuple[tuple[str, ...], NDArray[Any] | Iterator[Any], int]:
    """Return the names of the columns, the columns unchanged, and the number of rows."""
    sparse = sys.modules.get("scipy.sparse")  # if not imported, nothing is sparse
    if sparse is not None and sparse.issparse(X):
        raise TypeError("X must be dense: sparse data is not supported. Use X.toarray() if it fits in memory.")
    if isinstance(X, np.ndarray):  # the usual case, and passing it through narwhals takes time
        return _open_array(X)
    X = flatten_names(X)
    if nw.dependencies.is_pandas_dataframe(X):
        refuse_duplicate_names(X.columns)
    elif nw.dependencies.is_pyarrow_table(X):
        refuse_duplicate_names(X.column_names)
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("X must be a table in memory; got a lazy one. Call .collect() or .compute() first.")
    if isinstance(frame, nw.DataFrame):
        names = tuple(str(name) for name in frame.columns)
        _refuse_empty(frame.shape)
        return names, frame.iter_columns(), frame.shape[0]
    return _open_array(X)


def flatten_names(X: Any) -> Any:
    """Return a table with one name for each column; objects without names are returned unchanged.

    The levels of a pandas MultiIndex are joined by "_", without empty ones. An Arrow record batch becomes a table.
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


def refuse_duplicate_names(names: Iterable[Any]) -> None:
    """Raise an error if columns have the same name."""
    repeated = [name for name, count in Counter(map(str, names)).items() if count > 1]
    if repeated:
        raise ValueError(f"X must have distinct column names; repeated: {_shorten(repeated)}. Rename them.")


# --- factors by name, position or mask ----------------------------------------------------------------


def locate(parameter: str, factors: Factors, names: tuple[str, ...], globs: bool = False) -> tuple[int, ...]:
    """Return the sorted, distinct positions in ``names`` of ``factors``; with ``globs``, also of 'x*'."""
    try:
        several: Any = [factors] if isinstance(factors, str) or np.ndim(factors) == 0 else factors
    except ValueError as error:  # from numpy, for lists of unequal lengths
        raise checks.wrong(parameter, "a plain list of columns", factors) from error
    if np.asarray(several).dtype == bool:
        if len(several) != len(names):
            raise checks.InputError(
                "{parameter} as a mask must have one entry per factor ({n_factors}); got {found}.",
                parameter=checks.mention(parameter),
                n_factors=len(names),
                found=len(several),
            )
        several = np.flatnonzero(several)
    if globs:
        several = [match for factor in several for match in _matches(factor, names)]
    return tuple(sorted({_position(parameter, factor, names) for factor in several}))


def _matches(factor: Any, names: tuple[str, ...]) -> list[Any]:
    """Return the names that match a glob; anything else unchanged."""
    if not isinstance(factor, str) or factor in names:
        return [factor]
    return [name for name in names if fnmatchcase(name, factor)] or [factor]


def _position(parameter: str, factor: Any, names: tuple[str, ...]) -> int:
    if isinstance(factor, str):
        if factor not in names:
            raise checks.InputError(
                "{parameter} must name columns{ of X}; there is no column {factor!r}. The columns are: {names}.",
                parameter=checks.mention(parameter),
                factor=factor,
                names=_shorten(names),
            )
        return names.index(factor)
    if checks.is_integer(factor) and 0 <= factor < len(names):
        return int(factor)
    raise checks.InputError(
        "{parameter} must hold column names or positions from 0 to {last}; got {factor!r}.",
        parameter=checks.mention(parameter),
        last=len(names) - 1,
        factor=factor,
    )


def _shorten(names: Sequence[str], most: int = 10) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"
