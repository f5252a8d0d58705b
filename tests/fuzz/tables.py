"""Whole tables with a response: shapes, names, containers."""

import decimal
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse

from .columns import EXTREME, HOSTILE, ODD, ORDINARY, make_column

ODD_NAMES = (
    "", " ", "*", "^x$", "^.*$", ".", "a b", "a,b", 'q"uote', "y", "index", "é", "名前", "🦆", "\u202ertl",
    "\x1b[31mred", "nul\0", "line\nbreak", "tab\t", "=cmd|' /C calc'!A1", "<script>alert(1)</script>", "$x^2$",
    "$\\frac{1}{", "long" * 100,
    "{0}", "%s", "None", "nan", "\ud800",
)  # fmt: skip


@dataclass
class Table:
    """Factors and a response as a user would pass them, and how they came about."""

    X: Any
    y: Any
    n_rows: int
    n_factors: int
    names: list
    """What its columns are called; numbers where they have no names."""
    story: str

    def permuted(self, order):
        """The same table with its rows in another order; None where that is not simply done."""
        if not isinstance(self.y, np.ndarray) or self.y.shape != (self.n_rows,):
            return None
        if isinstance(self.X, np.ndarray) and self.X.ndim == 2:
            return self.X[order], self.y[order]
        if isinstance(self.X, pd.DataFrame):
            return self.X.iloc[order], self.y[order]
        return None


def make_table(draw):
    """A table that is a little odd, or hostile."""
    hostile = draw.chance(0.12)
    n_rows, n_factors = _shape(draw, hostile)
    kinds = draw.choice([[ORDINARY], [ORDINARY, ODD], [ORDINARY, ORDINARY, ODD], [ODD]])
    kinds = [*kinds, *[EXTREME] * draw.chance(0.12), *[HOSTILE] * (hostile and draw.chance(0.5))]
    columns, story = [], []
    for _ in range(n_factors):
        column, kind = make_column(draw, n_rows, columns, kinds)
        columns.append(column)
        story.append(kind)
    y, response = _response(draw, columns, n_rows)
    if n_rows > 1 and draw.chance(0.15):  # rows that occur several times
        rows = draw.rng.integers(0, draw.integer(1, n_rows), size=n_rows)
        columns, y = [column[rows] for column in columns], y[rows]
        response += ", rows repeated"
    names = _names(draw, n_factors)
    X, container = _contain(draw, columns, names, hostile)
    y, wrapped = _wrap(draw, y, hostile)
    shape = f"{n_rows} rows of {', '.join(story) or 'nothing'}"
    names = names if container.startswith(NAMED) else list(range(n_factors))
    return Table(X, y, n_rows, n_factors, names, f"{shape}; {container}; y: {response}, {wrapped}")


def _shape(draw, hostile):
    if hostile and draw.chance(0.1):
        return draw.integer(0, 2), draw.integer(0, 2)
    rows = draw.weighted({(2, 4): 2, (5, 12): 4, (13, 40): 8, (41, 80): 5, (81, 300): 0.4, (1000, 2500): 0.02})
    factors = draw.weighted({(1, 1): 2, (2, 4): 8, (5, 12): 4, (13, 40): 0.3})
    return draw.integer(*rows), draw.integer(*factors)


# --- names --------------------------------------------------------------------------------------------


def _names(draw, n_factors):
    names = [f"f{j}" for j in range(n_factors)]
    for j in range(n_factors):
        if draw.chance(0.04):
            names[j] = draw.choice(ODD_NAMES)
    return names


def _labels(draw, names):
    """What a pandas table may have as its columns."""
    kind = draw.weighted(
        {"names": 30, "numbers": 1, "several kinds": 1, "missing": 1, "levels": 1, "dates": 1, "repeated": 0.5}
    )
    if kind == "numbers":
        return pd.RangeIndex(len(names))
    if kind == "several kinds":
        return pd.Index([j if j % 2 else name for j, name in enumerate(names)], dtype=object)
    if kind == "missing":
        return pd.Index([None if j == 0 else name for j, name in enumerate(names)], dtype=object)
    if kind == "levels":
        return pd.MultiIndex.from_tuples([(name, j % 2) for j, name in enumerate(names)])
    if kind == "repeated":
        return pd.Index(["twice" if j < 2 else name for j, name in enumerate(names)], dtype=object)
    if kind == "dates":
        return pd.date_range("2024-01-01", periods=len(names))
    return pd.Index(names, dtype=object)


# --- responses ----------------------------------------------------------------------------------------


def _response(draw, columns, n):
    """An array of n values, and what it is."""
    kind = draw.weighted({
        "function": 8, "function and noise": 8, "noise": 4, "interaction": 2, "two classes": 4, "class of a factor": 3,
        "rare class": 1, "words": 1, "booleans": 1, "few values": 1, "outlier": 2, "cauchy": 1, "huge": 0.5,
        "tiny": 0.5, "offset": 0.5, "large counter": 0.5, "constant": 0.3, "three classes": 0.3, "missing": 0.2,
        "infinite": 0.2, "dates": 0.1, "mixed": 0.1, "decimals": 0.3, "subnormal": 0.2, "nearly constant": 0.5,
    })  # fmt: skip
    rng = draw.rng
    signal = _signal(draw, columns, n)
    simple = {
        "function": lambda: signal,
        "function and noise": lambda: signal + rng.normal(size=n) * draw.choice([0.01, 0.3, 1, 5]),
        "noise": lambda: rng.normal(size=n),
        "interaction": lambda: signal * _signal(draw, columns, n),
        "two classes": lambda: rng.integers(0, 2, size=n) * draw.choice([1, 1.0, 1e5]),
        "class of a factor": lambda: (signal > signal.mean() if n else signal).astype(int),
        "rare class": lambda: (np.arange(n) == 0).astype(int),
        "words": lambda: np.array(["no", "yes"], dtype=object)[rng.integers(0, 2, size=n)],
        "booleans": lambda: rng.integers(0, 2, size=n).astype(bool),
        "few values": lambda: rng.integers(0, 3, size=n),
        "outlier": lambda: signal + (np.arange(n) == n // 2) * draw.choice([1e2, 1e6, 1e12, 1e100]),
        "cauchy": lambda: rng.standard_cauchy(size=n),
        "huge": lambda: signal * draw.choice([1e100, 1e140, 1e160, 1e300]),
        "tiny": lambda: signal * draw.choice([1e-100, 1e-140, 1e-160, 1e-300]),
        "offset": lambda: signal + draw.choice([1e9, 1e15, 1e20]),
        "large counter": lambda: 2**53 + rng.integers(0, 9, size=n),
        "constant": lambda: np.full(n, draw.choice([0, 3.7, 1e300])),
        "three classes": lambda: np.array(["a", "b", "c"], dtype=object)[rng.integers(0, 3, size=n)],
        "missing": lambda: np.where(np.arange(n) == 0, np.nan, signal),
        "infinite": lambda: np.where(np.arange(n) == 0, np.inf, signal),
        "dates": lambda: np.datetime64("2024-01-01") + np.arange(n).astype("m8[D]"),
        "mixed": lambda: np.array([i if i % 2 else "a" for i in range(n)], dtype=object),
        "decimals": lambda: np.array([decimal.Decimal(int(i)) / 8 for i in rng.integers(0, 99, n)], dtype=object),
        "subnormal": lambda: rng.integers(0, 5, size=n) * 5e-324,
        "nearly constant": lambda: 1.0 + rng.integers(0, 4, size=n) * np.finfo(float).eps,
    }
    with np.errstate(over="ignore", invalid="ignore"):
        return simple[kind](), kind


def _signal(draw, columns, n):
    """A function of some columns: their ranks, waved."""
    total = np.zeros(n)
    for column in draw.some(columns, 3):
        if column.dtype.kind in "iufb":
            ranks = np.unique(column, return_inverse=True)[1] / max(n, 1)
            total += draw.choice([1.0, 3.0, 0.1]) * np.sin(draw.choice([1, 6]) * ranks)
    return total if np.any(total) else draw.rng.normal(size=n)


# --- containers ---------------------------------------------------------------------------------------


def _contain(draw, columns, names, hostile):
    """The columns as one of the things a user might pass, and which."""
    kind = draw.weighted(PLAIN | (STRANGE if hostile else {}))
    try:
        return _CONTAINERS[kind](draw, columns, names), kind
    except (Exception, pl.exceptions.PanicException):  # not every library holds everything; a list of rows does
        return _rows(draw, columns, names), f"list, not {kind}"


def _matrix(draw, columns, names):
    if all(column.dtype.kind in "iufb" for column in columns) and columns:
        return np.column_stack(columns)
    return _boxes(draw, columns, names)


def _boxes(draw, columns, names):
    matrix = np.empty((len(columns[0]) if columns else 0, len(columns)), dtype=object)
    for j, column in enumerate(columns):
        matrix[:, j] = column
    return matrix


def _rows(draw, columns, names):
    return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _pandas(draw, columns, names):
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.columns = _labels(draw, names)
    if draw.chance(0.2):
        frame.index = draw.choice([frame.index[::-1], [0] * len(frame), [f"r{i}" for i in range(len(frame))]])
    return frame


# Types of pandas that are no factors, or not yet.
RARE = ("string", "Sparse", "period[D]", "interval")


def _pandas_typed(draw, columns, names):
    """A pandas table with types that not all columns of a file have."""
    frame = _pandas(draw, columns, names)
    made = []
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        dtype = draw.weighted(
            {None: 8, "category": 2, "Float64": 1, "Int64": 1, "boolean": 1} | dict.fromkeys(RARE, 0.15)
        )
        made.append(_converted(column, dtype))
    typed = pd.concat(made, axis=1) if made else frame
    typed.columns = frame.columns
    return typed


def _converted(column, dtype):
    try:
        if dtype == "interval":
            return pd.Series(pd.arrays.IntervalArray.from_breaks(np.arange(len(column) + 1)), column.index)
        if dtype == "Sparse":
            return column.astype(pd.SparseDtype(column.dtype))
        return column if dtype is None else column.astype(dtype)
    except Exception:
        return column


def _distinct(names):
    """Names for tables that have each name once."""
    taken, distinct = set(), []
    for j, name in enumerate(names):
        distinct.append(name if name not in taken and name.isprintable() else f"{name!a}{j}")
        taken.add(distinct[-1])
    return distinct


def _polars(draw, columns, names):
    columns = [column.tolist() if column.dtype.kind in "OMm" else column for column in columns]
    return pl.DataFrame(dict(zip(_distinct(names), columns, strict=True)), strict=False)


def _polars_typed(draw, columns, names):
    frame = _polars(draw, columns, names)
    dtypes = {None: 8, pl.Categorical: 1, pl.Float32: 1, pl.Decimal(20, 3): 1, pl.Int64: 1, pl.UInt8: 0.5}
    dtypes |= dict.fromkeys([pl.Int128, pl.Datetime, pl.String, pl.Time], 0.1)
    casts = [pl.col(name).cast(dtype, strict=False) for name in frame.columns if (dtype := draw.weighted(dtypes))]
    casts = [cast for cast in casts if _works(frame, cast)]
    return frame.with_columns(casts)


def _works(frame, expression):
    try:
        return bool(frame.select(expression).width)
    except pl.exceptions.PolarsError:
        return False


def _arrow(draw, columns, names):
    arrays = [pa.array(column.tolist() if column.dtype.kind == "O" else column) for column in columns]
    return pa.table(arrays, names=_distinct(names) if draw.chance(0.9) else names)


PLAIN = {
    "numpy": 6, "numpy objects": 1, "list of rows": 1, "pandas": 5, "pandas nullable": 1, "pandas arrow": 1,
    "pandas typed": 2, "polars": 2, "polars typed": 1, "pyarrow": 1, "numpy by columns": 0.5, "numpy read-only": 0.5,
    "numpy reversed": 0.5, "numpy big-endian": 0.3, "numpy float32": 0.5,
}  # fmt: skip
NAMED = ("pandas", "polars", "pyarrow", "record batch")
STRANGE = {
    "one column as array": 1, "three dimensions": 0.5, "sparse": 0.5, "lazy": 0.5, "series": 0.5, "dictionary": 0.5,
    "none": 0.3, "text": 0.3, "record batch": 0.5, "structured": 0.5, "masked": 0.5, "ragged": 0.5, "generator": 0.3,
    "number": 0.3, "tuple of tuples": 0.5, "polars nested": 0.5, "numpy text": 0.5, "matrix": 0.5,
}  # fmt: skip

_CONTAINERS = {
    "numpy": _matrix,
    "numpy objects": _boxes,
    "list of rows": _rows,
    "pandas": _pandas,
    "pandas nullable": lambda *given: _pandas(*given).convert_dtypes(),
    "pandas arrow": lambda *given: _pandas(*given).convert_dtypes(dtype_backend="pyarrow"),
    "pandas typed": _pandas_typed,
    "polars": _polars,
    "polars typed": _polars_typed,
    "pyarrow": _arrow,
    "numpy by columns": lambda *given: np.asfortranarray(_matrix(*given)),
    "numpy read-only": lambda *given: _read_only(_matrix(*given)),
    "numpy reversed": lambda *given: _matrix(*given)[::-1, ::-1][::-1],
    "numpy big-endian": lambda *given: _matrix(*given).astype(">f8"),
    "numpy float32": lambda *given: _matrix(*given).astype(np.float32),
    "one column as array": lambda draw, columns, names: columns[0],
    "three dimensions": lambda *given: _matrix(*given)[:, :, None],
    "sparse": lambda *given: scipy.sparse.csr_array(_matrix(*given)),
    "lazy": lambda *given: _polars(*given).lazy(),
    "series": lambda draw, columns, names: pd.Series(columns[0]),
    "dictionary": lambda draw, columns, names: dict(zip(names, columns, strict=True)),
    "none": lambda *given: None,
    "text": lambda *given: "table.csv",
    "record batch": lambda *given: _arrow(*given).to_batches()[0],
    "structured": lambda *given: _pandas(*given).to_records(),
    "masked": lambda *given: np.ma.masked_invalid(_matrix(*given).astype(float)),
    "ragged": lambda *given: [row[: i % len(row) + 1] for i, row in enumerate(_rows(*given))],
    "generator": lambda *given: (row for row in _rows(*given)),
    "number": lambda *given: 3,
    "tuple of tuples": lambda *given: tuple(map(tuple, _rows(*given))),
    "polars nested": lambda *given: _polars(*given).with_columns(nested=pl.struct(pl.all())),
    "numpy text": lambda *given: _matrix(*given).astype(str),
    "matrix": lambda *given: np.asmatrix(_matrix(*given)),
}


def _read_only(matrix):
    matrix.flags.writeable = False
    return matrix


USUAL_RESPONSES = {
    "array": 8, "list": 1, "pandas": 2, "polars": 1, "pyarrow": 0.5, "category": 0.4, "nullable": 0.4, "frame": 0.2,
}  # fmt: skip
UNUSUAL_RESPONSES = {
    "column": 0.5, "two columns": 0.5, "too short": 1, "too long": 0.5, "none": 0.2, "tuple": 0.3, "scalar": 0.2,
    "read-only": 0.3,
}  # fmt: skip


def _wrap(draw, y, hostile):
    """The response as one of the things a user might pass, and which."""
    kind = draw.weighted(USUAL_RESPONSES | (UNUSUAL_RESPONSES if hostile else {}))
    wrappers = {
        "array": lambda: y,
        "list": y.tolist,
        "pandas": lambda: pd.Series(y, index=np.arange(len(y))[::-1], name="y"),
        "polars": lambda: pl.Series("y", y.tolist() if y.dtype.kind in "OM" else y, strict=False),
        "pyarrow": lambda: pa.chunked_array([pa.array(y.tolist() if y.dtype.kind == "O" else y)]),
        "category": lambda: pd.Series(y).astype("category"),
        "nullable": lambda: pd.Series(y).convert_dtypes(),
        "frame": lambda: pd.DataFrame({"y": y}),
        "column": lambda: y[:, None],
        "two columns": lambda: np.column_stack([y, y]),
        "too short": lambda: y[:-1],
        "too long": lambda: np.concatenate([y, y]),
        "none": lambda: None,
        "tuple": lambda: tuple(y.tolist()),
        "scalar": lambda: 1.0,
        "read-only": lambda: _read_only(y.copy()),
    }
    try:
        return wrappers[kind](), kind
    except (Exception, pl.exceptions.PanicException):
        return y, f"array, not {kind}"
