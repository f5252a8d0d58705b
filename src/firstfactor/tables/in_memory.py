"""A table in memory, and the response, weights and groups beside it, as one frame: `rank(table, "y")` and `rank(X, y)`.

Arrays get the names that `FIRST` gives them, x0, x1 and so on. Rows are matched by position.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from .._utils.checks import InputError, InputTypeError, Mention, is_integer
from .._utils.text import first_line
from ..data.columns import as_array, is_unknown
from ..data.table import flatten_names
from ..settings import RankSettings

# Names of values that have none of their own, by parameter.
NAMES = {"target": "y", "weight": "weight", "groups": "group"}


def one_table(data: Any, target: Any, settings: RankSettings) -> tuple[pl.DataFrame, list[str], RankSettings]:
    """Return a table with the response, weights and groups as columns, and the target and settings that name them."""
    frame = to_polars(data)
    labels = _labels_of(target)
    if labels and len(labels) == len(frame) and not {*labels} & {*frame.columns}:
        raise InputError(
            "{target}: a list of text names columns, and the table has no column {first!r}. If these are the classes "
            "of the rows, pass them as an array: numpy.array(labels).",
            first=labels[0],
        )
    if are_names(target):
        names = labels
    else:
        frame, names = _with_values(frame, data, "target", target)
    found = dict[str, Any]()
    for option in ("weight", "groups"):
        value = getattr(settings, option)
        if not (value is None or isinstance(value, str) or is_integer(value)):
            frame, (value,) = _with_values(frame, data, option, value)
        found[option] = None if value is None else str(value)
    return frame, names, replace(settings, **found)


def are_names(target: Any) -> bool:
    """Return True for the name of a column, or a list of names: text, or an index of columns."""
    if target is None or isinstance(target, str) or is_integer(target):
        return True
    if nw.dependencies.is_pandas_index(target):
        return True
    return isinstance(target, (list, tuple)) and all(isinstance(each, str) for each in target)


def _labels_of(target: Any) -> list[str]:
    """Return names as a list; an empty one for values."""
    if target is None or not are_names(target):
        return []
    return [str(target)] if isinstance(target, str) or is_integer(target) else [str(each) for each in target]


def refuse_values(target: Any, settings: RankSettings) -> None:
    """Raise an error if values are given for a table in a file, whose rows they may not match."""
    given = {"target": target, "weight": settings.weight, "groups": settings.groups}
    for option, value in given.items():
        if not are_names(value):
            raise InputTypeError(
                "{option} must name a column, because the table is in a file; got {kind}. Read the file first, to pass "
                "values beside it.",
                option=Mention(option),
                kind=type(value).__name__,
            )


# --- the table --------------------------------------------------------------------------------------------------------


def to_polars(data: Any) -> pl.DataFrame:
    """Convert a data frame of any library, an array or a list of rows to a data frame of polars."""
    table = flatten_names(data)
    if nw.dependencies.is_dask_dataframe(table):
        raise InputTypeError(
            "data is a Dask table. Use FIRST().fit(X, y), which works on the cluster, or data.compute() if it fits in "
            "memory."
        )
    names = getattr(table, "columns", None) if nw.dependencies.is_pandas_dataframe(table) else None
    if nw.dependencies.is_pyarrow_table(table):
        names = table.column_names
    _refuse_duplicates([str(name) for name in names] if names is not None else [])
    frame = nw.from_native(table, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect(backend="polars")
    if not isinstance(frame, nw.DataFrame):
        return _from_array(data)
    columns = {str(column.name): column for column in frame.iter_columns()}
    # The order of categories, which pandas does not pass on.
    ordered = {name: column.dtype.categories for name, column in columns.items() if isinstance(column.dtype, nw.Enum)}
    enums = {name: pl.Enum(levels) for name, levels in ordered.items() if all(isinstance(one, str) for one in levels)}
    try:
        converted = frame.to_polars()
    except Exception:  # of pandas, pyarrow or polars, none of which says which column it is
        converted = pl.DataFrame([_as_series(name, column) for name, column in columns.items()])
    try:
        return converted.cast(enums)  # type: ignore[arg-type]
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"data: a column has a type that polars cannot read: {first_line(error)}") from error


def _refuse_duplicates(names: Sequence[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None) if len({*names}) < len(names) else None
    if twice is not None:
        raise ValueError(f"two columns of the table have the name {twice!r}. Rename one, or leave it out.")


def _from_array(data: Any) -> pl.DataFrame:
    """Convert an array or a list of rows, whose columns are called x0, x1 and so on."""
    is_sparse = hasattr(data, "toarray")
    if isinstance(data, Mapping) or is_sparse or np.ndim(data) == 0 or nw.dependencies.is_into_series(data):
        way_out = "The table comes first: rank(X, y)."
        if isinstance(data, Mapping):
            way_out = "Make a table of it, such as polars.DataFrame(data)."
            if {"data", "target"} <= {*data}:
                way_out = "Use rank(data.data, data.target)."
        elif is_sparse:
            way_out = "Use data.toarray() if it fits in memory."
        raise InputTypeError(
            "data must be a path, a list of paths, a pandas, polars or pyarrow table, or an array; got {kind}. "
            "{way_out}",
            kind=type(data).__name__,
            way_out=way_out,
        )
    array = as_array(data)
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError(
            "data must have 2 dimensions, rows by factors; got an array of shape {shape}. The table comes first: "
            "rank(X, y).",
            shape=array.shape,
        )
    return pl.DataFrame([_as_series(f"x{j}", column) for j, column in enumerate(array.T)])


def _as_series(name: str, values: Any) -> pl.Series:
    """Convert one column; numbers and text in one become text, so that what is wrong in it can be named."""
    is_category = isinstance(values, nw.Series) and isinstance(values.dtype, nw.Categorical | nw.Enum)
    try:
        if isinstance(values, nw.Series):
            return values.to_polars().alias(name)
        if values.dtype != object:
            return pl.Series(name, values, nan_to_null=True)
    except Exception:  # of any library: the values one by one tell more
        pass
    listed = values.to_list() if isinstance(values, nw.Series) else values.tolist()
    known = [None if is_unknown(value) else value for value in listed]
    if is_category or any(isinstance(value, str) for value in known):
        texts = [None if value is None else str(value) for value in known]
        return pl.Series(name, texts, dtype=pl.Categorical if is_category else pl.String)
    try:
        series = pl.Series(name, known)
    except Exception as error:
        raise _unreadable(name, known) from error
    if series.dtype == pl.Object:
        raise _unreadable(name, known)
    return series


def _unreadable(name: str, known: Sequence[Any]) -> InputTypeError:
    kinds = sorted({type(value).__name__ for value in known if value is not None})
    return InputTypeError(
        "column {name!r} of the table holds values of type {kinds}, which are neither numbers nor text. Convert or "
        "remove it.",
        name=name,
        kinds=" and ".join(kinds),
    )


# --- values beside the table ------------------------------------------------------------------------------------------


def _with_values(frame: pl.DataFrame, data: Any, option: str, values: Any) -> tuple[pl.DataFrame, list[str]]:
    """Return the table with values beside it as columns, and the names of these.

    Values that have the name of a column, and are the same, stand for this column.
    """
    _refuse_other_order(data, option, values)
    new, names = list[pl.Series](), list[str]()
    for column in _read_values(option, values):
        if len(column) != len(frame):
            raise InputError(
                "{option} must have one value for each of the {n_rows:,} rows of the table, or name a column; got "
                "{found:,} values.",
                option=Mention(option),
                n_rows=len(frame),
                found=len(column),
            )
        own = column.name
        taken = {*frame.columns, *names}
        if own in taken and not _are_equal(frame.get_column(own), column):
            raise InputError(
                "{option}: the table has a column {name!r} with other values. Rename one of them.",
                option=Mention(option),
                name=own,
            )
        default = NAMES[option]
        free = next(name for name in (default, f"{default} ({option})", f"({option})") if name not in taken)
        names.append(own or free)
        if own not in taken:
            new.append(column.alias(names[-1]))
    return frame.with_columns(new), names


def _read_values(option: str, values: Any) -> list[pl.Series]:
    """Return values as columns, with an empty name where they have none."""
    given = values if isinstance(values, np.ndarray) else nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(given, nw.LazyFrame):
        given = given.collect(backend="polars")
    if isinstance(given, nw.Series):
        columns = [_as_series("" if given.name is None else str(given.name), given)]
    elif isinstance(given, nw.DataFrame):
        columns = [_as_series(str(column.name), column) for column in given.iter_columns()]
    else:
        try:
            array = as_array(values)
        except ValueError as error:  # from numpy, for lists of unequal lengths
            raise _no_values(option, values) from error
        if array.ndim == 2 and array.shape[1] == 1:
            array = array.ravel()
        if array.ndim not in (1, 2):
            raise _no_values(option, values)
        columns = [_as_series("", array)] if array.ndim == 1 else []
        columns += [_as_series(f"y{k}", column) for k, column in enumerate(array.T)] if array.ndim == 2 else []
    if not columns or (len(columns) > 1 and option != "target"):
        raise _no_values(option, values)
    return columns


def _no_values(option: str, values: Any) -> InputTypeError:
    kind = repr(values) if np.isscalar(values) else type(values).__name__
    return InputTypeError(
        "{option} must be the name of a column, or one value for each row; got {kind}.",
        option=Mention(option),
        kind=kind,
    )


def _are_equal(one: pl.Series, other: pl.Series) -> bool:
    try:
        return bool(one.eq_missing(other).all())
    except pl.exceptions.PolarsError:  # of types that cannot be compared
        return False


def _refuse_other_order(data: Any, option: str, values: Any) -> None:
    """Raise an error if the rows of pandas objects have the same labels in another order."""
    is_pandas = nw.dependencies.is_pandas_dataframe(data) and (
        nw.dependencies.is_pandas_series(values) or nw.dependencies.is_pandas_dataframe(values)
    )
    if not is_pandas or len(data) != len(values) or data.index.equals(values.index):
        return
    if data.index.is_unique and data.index.difference(values.index, sort=False).empty:
        raise InputError(
            "{option}: its rows are in another order than those of the table, to judge by their index. Use "
            "{option}.loc[X.index] to align them, or {option}.to_numpy() if they match as they are.",
            option=Mention(option),
        )
