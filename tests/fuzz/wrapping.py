"""What users pass: read apart by ways that are not the package's own, and cut to some rows."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa


def listed(column):
    """Values for libraries that know neither the types of numpy's objects nor the missing values of pandas."""
    if column.dtype.kind not in "OMm":
        return column
    return [None if value is pd.NA or value is pd.NaT else value for value in column.tolist()]


def read_only(array):
    """An array that must not be written to."""
    array.flags.writeable = False
    return array


def take(values, rows):
    """Some rows of what a user may pass; None where that is not simply done."""
    if isinstance(values, (pd.DataFrame, pd.Series)):
        return values.iloc[rows]
    if type(values) is np.ndarray and values.ndim in (1, 2):
        return values[rows]
    if isinstance(values, (pl.DataFrame, pl.Series)):
        return values[list(rows)]
    return [values[row] for row in rows] if isinstance(values, list) else None


def gaps_in(values):
    """Which values of a table or a series are missing, (rows, columns); None where that is not simply told."""
    columns = _as_lists(values)
    if columns is None:
        return None
    gaps = [[_is_gap(value) for value in column] for column in columns]
    return np.array(gaps, dtype=bool).T


def _as_lists(values):
    """The columns of a table or a series as lists."""
    if isinstance(values, np.ndarray) and values.ndim in (1, 2):
        values = np.asarray(values) if isinstance(values, np.matrix) else values
        return [column.tolist() for column in (values.T if values.ndim == 2 else [values])]
    if isinstance(values, pd.DataFrame):
        return [values.iloc[:, j].tolist() for j in range(values.shape[1])]
    if isinstance(values, (pd.Series, pl.Series)):
        return [values.to_list()]
    if isinstance(values, pl.DataFrame):
        return [(one.cast(pl.Int64) if one.dtype.is_temporal() else one).to_list() for one in values]  # or it may panic
    if isinstance(values, (pa.Table, pa.RecordBatch)):
        return [column.to_pylist() for column in values.columns]
    if isinstance(values, (pa.ChunkedArray, pa.Array)):
        return [values.to_pylist()]
    if isinstance(values, (list, tuple)) and values:
        is_table = isinstance(values[0], (list, tuple))
        return list(zip(*values, strict=True)) if is_table else [values]
    return None


def _is_gap(value):
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    different = value != value
    return isinstance(different, (bool, np.bool_)) and bool(different)


def numbers_in(values):
    """A series of numbers as an array, whatever holds it."""
    series = nw.from_native(values, pass_through=True, allow_series=True)
    return np.asarray(series.to_list() if isinstance(series, nw.Series) else values, dtype=float).ravel()
