"""Whole tables with a response: shapes, names, containers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse

from .columns import EVERYDAY, EXTREME, HOSTILE, ODD, ORDINARY, make_column, one_hot, punch
from .responses import make_response, wrap
from .wrapping import listed, read_only, take

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
    sets: tuple
    """Positions of columns that belong together."""
    numeric: tuple
    """Positions of columns that hold numbers or dates."""
    classes: bool
    """Whether the response is sure to be classes."""

    def on_rows(self, rows):
        """X and y of some rows, in the order given; None where that is not simply done."""
        X, y = take(self.X, rows), take(self.y, rows)
        return None if X is None or y is None else (X, y)


def make_table(draw):
    """A table that is a little odd, or hostile."""
    hostile = draw.chance(0.12)
    n_rows, n_factors = _shape(draw, hostile)
    columns, story, sets = _columns(draw, n_rows, n_factors, hostile)
    y, response = make_response(draw, columns, n_rows)
    numeric = tuple(j for j, column in enumerate(columns) if column.dtype.kind in "iufmM")
    classes = y.dtype.kind in "Ob" or len(np.unique(y)) == 2
    if n_rows > 1 and draw.chance(0.15):  # rows that occur several times
        rows = draw.rng.integers(0, draw.integer(1, n_rows), size=n_rows)
        columns, y = [column[rows] for column in columns], y[rows]
        response += ", rows repeated"
    if draw.chance(0.4):
        share = draw.choice([0.3, 0.7, 1.0])
        punched = [draw.chance(share) for _ in columns]
        columns = [punch(draw, column) if now else column for column, now in zip(columns, punched, strict=True)]
        story = [f"{kind} with gaps" if now else kind for kind, now in zip(story, punched, strict=True)]
    n_factors = len(columns)
    names = _names(draw, n_factors)
    X, container = _contain(draw, columns, names, hostile)
    y, wrapped = wrap(draw, y, hostile)
    shape = f"{n_rows} rows of {', '.join(story) or 'nothing'}"
    names = names if container.startswith(NAMED) else [f"x{j}" for j in range(n_factors)]
    story = f"{shape}; {container}; y: {response}, {wrapped}"
    return Table(X, y, n_rows, n_factors, names, story, tuple(sets), numeric, classes)


def _columns(draw, n_rows, n_factors, hostile):
    """Columns, what each is, and the positions of those that belong together."""
    kinds = draw.choice(
        [[ORDINARY], [ORDINARY, ODD], [ORDINARY, ORDINARY, ODD], [ODD], [ORDINARY, EVERYDAY], [EVERYDAY]]
    )
    kinds = [*kinds, *[EXTREME] * draw.chance(0.12), *[HOSTILE] * (hostile and draw.chance(0.5))]
    columns, story, sets = [], [], []
    for _ in range(n_factors):
        column, kind = make_column(draw, n_rows, columns, kinds)
        columns.append(column)
        story.append(kind)
    if draw.chance(0.06):
        added = one_hot(draw, n_rows)
        sets.append(tuple(range(len(columns), len(columns) + len(added))))
        columns, story = [*columns, *added], [*story, *["one-hot"] * len(added)]
    return columns, story, sets


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


# --- containers ---------------------------------------------------------------------------------------


def _contain(draw, columns, names, hostile):
    """The columns as one of the things a user might pass, and which."""
    kind = draw.weighted(PLAIN | (STRANGE if hostile else {}))
    try:
        return _CONTAINERS[kind](draw, columns, names), kind
    except (Exception, pl.exceptions.PanicException):  # not every library holds everything; a list of rows does
        return _rows(draw, columns, names), f"list, not {kind}"


def _matrix(draw, columns, names):
    kinds = {column.dtype.kind for column in columns}
    if kinds and (kinds <= set("iufb") or kinds in ({"M"}, {"m"})):
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
            {None: 8, "category": 2, "ordered": 2, "Float64": 1, "Int64": 1, "boolean": 1} | dict.fromkeys(RARE, 0.15)
        )
        made.append(_converted(column, dtype))
    typed = pd.concat(made, axis=1) if made else frame
    typed.columns = frame.columns
    return typed


def _converted(column, dtype):
    try:
        if dtype == "interval":
            return pd.Series(pd.arrays.IntervalArray.from_breaks(np.arange(len(column) + 1)), column.index)
        if dtype == "ordered":
            return column.astype("category").cat.as_ordered()
        if dtype == "Sparse" and column.dtype.kind in "iufb":  # pandas warns of others
            return column.astype(pd.SparseDtype(column.dtype))
        return column if dtype in (None, "Sparse") else column.astype(dtype)
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
    return pl.DataFrame(dict(zip(_distinct(names), map(listed, columns), strict=True)), strict=False)


def _polars_typed(draw, columns, names):
    frame = _polars(draw, columns, names)
    dtypes = {None: 8, pl.Categorical: 1, pl.Float32: 1, pl.Decimal(20, 3): 1, pl.Int64: 1, pl.UInt8: 0.5}
    dtypes |= dict.fromkeys([pl.Int128, pl.Datetime, pl.String, pl.Time], 0.1)
    casts = [pl.col(name).cast(dtype, strict=False) for name in frame.columns if (dtype := draw.weighted(dtypes))]
    casts += [pl.col(name).cast(_enum(frame[name])) for name in frame.columns if draw.chance(0.1)]
    casts = list({cast.meta.output_name(): cast for cast in casts if _works(frame, cast)}.values())
    return frame.with_columns(casts)


def _enum(series):
    """The type of ordered levels, where the values are words."""
    words = series.dtype == pl.String and series.drop_nulls().unique(maintain_order=True)
    return pl.Enum(words) if isinstance(words, pl.Series) else pl.Float64


def _works(frame, expression):
    try:
        return bool(frame.select(expression).width)
    except pl.exceptions.PolarsError:
        return False


def _arrow(draw, columns, names):
    arrays = [pa.array(listed(column) if column.dtype.kind == "O" else column) for column in columns]
    return pa.table(arrays, names=_distinct(names) if draw.chance(0.9) else names)


PLAIN = {
    "numpy": 6, "numpy objects": 1, "list of rows": 1, "pandas": 5, "pandas nullable": 1, "pandas arrow": 1,
    "pandas typed": 2, "polars": 2, "polars typed": 1, "pyarrow": 1, "numpy by columns": 0.5, "numpy read-only": 0.5,
    "numpy reversed": 0.5, "numpy big-endian": 0.3, "numpy float32": 0.5, "masked": 0.5,
}  # fmt: skip
NAMED = ("pandas", "polars", "pyarrow", "record batch")
STRANGE = {
    "one column as array": 1, "three dimensions": 0.5, "sparse": 0.5, "lazy": 0.5, "series": 0.5, "dictionary": 0.5,
    "none": 0.3, "text": 0.3, "record batch": 0.5, "structured": 0.5, "ragged": 0.5, "generator": 0.3,
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
    "numpy read-only": lambda *given: read_only(_matrix(*given)),
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
    "masked": lambda draw, *given: _masked(draw, _matrix(draw, *given).astype(float)),
    "ragged": lambda *given: [row[: i % len(row) + 1] for i, row in enumerate(_rows(*given))],
    "generator": lambda *given: (row for row in _rows(*given)),
    "number": lambda *given: 3,
    "tuple of tuples": lambda *given: tuple(map(tuple, _rows(*given))),
    "polars nested": lambda *given: _polars(*given).with_columns(nested=pl.struct(pl.all())),
    "numpy text": lambda *given: _matrix(*given).astype(str),
    "matrix": lambda *given: np.asmatrix(_matrix(*given)),
}


def _masked(draw, matrix):
    """An array whose missing values are said so, or are there and hidden."""
    if draw.chance(0.5):
        return np.ma.masked_invalid(matrix)
    return np.ma.array(matrix, mask=draw.rng.random(matrix.shape) < 0.1)
