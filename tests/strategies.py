"""Hypothesis strategies for calls of the package: every kind of table, response, weights, groups and parameters.

Hypothesis draws how large a table is, which kinds of columns it has, what it is passed as and which parameters are
given. The values of a column come from a generator with a seed that is drawn: so calls are made quickly, and shrink to
few rows, few columns and few parameters.
"""

import datetime
import decimal
import fractions
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse
from hypothesis import settings
from hypothesis import strategies as st

from firstfactor import FIRST

of = st.sampled_from

# The same examples each time, unless the run is long: a fault that is new should not stop somebody else's change.
fuzzing = settings(max_examples=max(100, settings().max_examples), derandomize=settings().max_examples < 1000)


def chance(percent):
    """True in so many of a hundred draws; False is simpler."""
    return st.integers(0, 99).map(lambda k: k >= 100 - percent)


def weighted(options):
    """One of the keys of a dictionary, as often as its value says."""
    return of([key for key, weight in options.items() for _ in range(weight)])


def pick(rng, *options):
    return options[rng.integers(len(options))]


def boxed(values):
    """An array of objects that numpy would take apart."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


# --- columns ------------------------------------------------------------------------------------------

WORDS = np.array(["ash", "elm", "oak", "fir", "", " ", "é", "名", "nan", "NA", "\x1b[31m", "=1+1"], dtype=object)
DAY = datetime.date(2024, 1, 1)
NOON = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))


def _sprinkled(background, *values):
    """Mostly one value, with a few others in between."""

    def make(rng, n):
        column = np.full(n, background, dtype=float)
        column[rng.integers(0, n, size=max(n // 6, 1)) if n else []] = pick(rng, *values)
        return column

    return make


def _counter(start, dtype):
    return lambda rng, n: (np.arange(n, dtype=dtype) % pick(rng, 3, 7, 10**6) + dtype(start)).astype(dtype)


def _integers(rng, n):
    kind = np.iinfo(pick(rng, "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"))
    low, high = pick(rng, (0, 3), (0, 100), (kind.min, kind.max))
    return rng.integers(low, high, size=n, dtype=kind.dtype, endpoint=True)


def _words(rng, n):
    levels = rng.permutation(WORDS)[: rng.integers(2, 6)]
    return levels[rng.integers(0, len(levels), size=n)]


def _each(make):
    """A column of objects, each made from its row."""
    return lambda rng, n: boxed([make(i) for i in range(n)])


def _drawn(make, below):
    """A column of objects, each made from a whole number that is drawn."""
    return lambda rng, n: boxed([make(int(i)) for i in rng.integers(0, below, size=n)])


# What can be analysed: what most tables hold, then what is odd, then what tables of people, sites and sensors hold.
ORDINARY = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(size=n),
    "grid": lambda rng, n: rng.integers(0, 4, size=n),
    "words": _words,
}
ODD = {
    "integers": _integers,
    "float32": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "float16": lambda rng, n: rng.normal(size=n).astype(np.float16),
    "booleans": lambda rng, n: rng.integers(0, 2, size=n).astype(bool),
    "constant": lambda rng, n: np.full(n, pick(rng, 0.0, -0.0, 3.7, 1e300, -1e-310)),
    "signed zeros": lambda rng, n: rng.choice([0.0, -0.0], size=n),
    "rare value": _sprinkled(0.0, 1.0, 1e-9, 1e9),
    "offset": lambda rng, n: 1e9 + rng.integers(0, 50, size=n) / 8,
    "heavy tail": lambda rng, n: rng.standard_cauchy(size=n) ** 3,
    "row number": lambda rng, n: np.arange(n) + pick(rng, 0, 1, 1000),
    "large counter": _counter(2**53 + 1, np.int64),
    "largest counter": _counter(2**64 - 2**21, np.uint64),
    "smallest counter": _counter(-(2**63), np.int64),
    "nearly constant": lambda rng, n: 1.0 + rng.integers(0, 2, size=n) * np.finfo(float).eps,
    "unique words": _each(lambda i: f"row {i}"),
    "decimals": _drawn(lambda i: decimal.Decimal(i) / 8, 99),
    "fractions": _drawn(lambda i: fractions.Fraction(i, 3), 9),
    "boxed numbers": lambda rng, n: rng.normal(size=n).astype(object),
    "boxed booleans": lambda rng, n: rng.integers(0, 2, size=n).astype(bool).astype(object),
}
EVERYDAY = {
    "dates": lambda rng, n: np.datetime64(DAY) + rng.integers(-400, 400, size=n).astype("m8[D]"),
    "times": lambda rng, n: np.datetime64(DAY, "us") + rng.integers(0, 10**14, size=n).astype("m8[us]"),
    "durations": lambda rng, n: rng.integers(-9, 10**5, size=n).astype("m8[s]"),
    "boxed dates": _drawn(lambda i: DAY + datetime.timedelta(i), 99),
    "zoned times": _drawn(lambda i: NOON + datetime.timedelta(0, i), 9999),
    "clock times": _drawn(datetime.time, 24),
    "boxed durations": _drawn(datetime.timedelta, 9),
    "hours": lambda rng, n: rng.integers(0, 24, size=n),
    "directions": lambda rng, n: rng.uniform(-180, 360, size=n),
    "percentages": lambda rng, n: rng.integers(0, 100, size=n) / 100,
    "sizes": _drawn(["small", "medium", "large"].__getitem__, 3),
}
# What reaches the ends of float64; some of it has to be refused next to other values.
EXTREME = {
    "outliers": _sprinkled(1.0, 1e12, 1e120, 1e300, -1e300),
    "huge": lambda rng, n: rng.normal(size=n) * pick(rng, 1e150, 1e200, 1e300),
    "tiny": lambda rng, n: rng.normal(size=n) * pick(rng, 1e-150, 1e-200, 1e-300),
    "subnormal": lambda rng, n: rng.integers(0, 5, size=n) * 5e-324,
    "many scales": lambda rng, n: 10.0 ** rng.uniform(-pick(rng, 20, 300), pick(rng, 20, 300), size=n),
}
# What has to be refused, or may be.
HOSTILE = {
    "one missing": _sprinkled(1.0, np.nan),
    "all missing": lambda _, n: np.full(n, np.nan),
    "infinite": _sprinkled(1.0, np.inf, -np.inf),
    "none": _each(lambda i: None if i % 3 else "a"),
    "nothing": _each(lambda _: None),
    "numbers as text": _drawn(str, 5),
    "mixed": _each(lambda i: i if i % 2 else str(i)),
    "numbers and booleans": _each(lambda i: i if i % 2 else True),
    "dates of all times": lambda _, n: np.array(["0001-01-01", "9999-12-31"], "M8[us]")[np.arange(n) % 2],
    "dates and times": _each(lambda i: DAY if i % 2 else NOON),
    "times with and without zone": _each(lambda i: NOON.replace(tzinfo=None) if i % 2 else NOON),
    "not a time": lambda _, n: np.full(n, "NaT", dtype="M8[s]"),
    "complex": lambda rng, n: rng.normal(size=n) + 1j,
    "bytes": _each(lambda i: b"ab" if i % 2 else b"\xff"),
    "tuples": _each(lambda i: (i, "a")),
    "lists": _each(lambda i: [i, i + 1]),
    "dictionaries": _each(lambda i: {"a": i}),
    "arrays": _each(lambda _: np.arange(2)),
    "objects": _each(lambda _: object()),
    "long integers": _each(lambda i: 2 ** (60 + i % 80)),
    "very long integers": _each(lambda i: 10 ** (300 + i % 20)),
    "missing decimals": _each(lambda i: decimal.Decimal("NaN" if i % 4 == 1 else i)),
    "infinite decimals": _each(lambda i: decimal.Decimal("Infinity" if i % 4 else i)),
    "long doubles": lambda rng, n: rng.normal(size=n).astype(np.longdouble) * np.longdouble("1e4000"),
    "lone surrogates": _each(lambda i: "\ud800" if i % 2 else "a"),
}
COLUMNS = ORDINARY | ODD | EVERYDAY | EXTREME | HOSTILE
MIXTURES = (ORDINARY, ORDINARY | ODD, ODD, ORDINARY | EVERYDAY, EVERYDAY)


def punch(rng, column):
    """The column with some of its values missing, from one of them to all."""
    n = len(column)
    if not n:
        return column
    share = pick(rng, 0.0, 0.05, 0.1, 0.3, 0.6, 0.9, 1.0)
    gaps = rng.random(n) < share
    if share in (0, 1):  # one, or all but one
        gaps[rng.integers(n)] = share == 0
    return leave_out(rng, column, gaps)


def leave_out(rng, column, gaps):
    """The column without some values: as its type says that there is none, or as one of the ways objects have."""
    kind = column.dtype.kind
    if kind in "fmMc":
        column = column.copy()
        column[gaps] = np.nan if kind in "fc" else "NaT"
        return column
    if kind in "iub" and pick(rng, True, False):
        return np.where(gaps, np.nan, column)
    column = column.astype(object)
    column[gaps] = pick(rng, None, np.nan, pd.NA, pd.NaT)
    return column


def one_hot(rng, n):
    """A category as columns of zeros and ones, one of which an encoder may have left out."""
    levels = rng.integers(2, 6)
    level, dtype = rng.integers(0, levels, size=n), pick(rng, int, float, bool)
    return [(level == k).astype(dtype) for k in range(pick(rng, 0, 1), levels)]


# --- responses ----------------------------------------------------------------------------------------

CLASSES = np.array([f"{'klm'[k % 3]}{k}" for k in range(31)], dtype=object)


def _ranks(values):
    """Ranks from 0 to below 1."""
    return np.unique(values, return_inverse=True)[1] / max(len(values), 1)


def _signal(rng, columns, n):
    """A function of some columns: their ranks, waved."""
    total = np.zeros(n)
    for j in rng.permutation(len(columns))[: rng.integers(0, 4)]:
        if columns[j].dtype.kind in "iufb":
            total += pick(rng, 1.0, 3.0, 0.1) * np.sin(pick(rng, 1, 6) * _ranks(columns[j]))
    return total if np.any(total) else rng.normal(size=n)


def _classes(rng, n):
    """Words for 2 to 30 classes, from equally frequent to mostly one."""
    shares = pick(rng, 1.0, 0.7, 0.3) ** np.arange(rng.integers(2, pick(rng, 4, 6, 11, 31)))
    return CLASSES[rng.choice(len(shares), size=n, p=shares / shares.sum())]


RESPONSES = {
    "function": lambda rng, s, n: s,
    "function and noise": lambda rng, s, n: s + rng.normal(size=n) * pick(rng, 0.01, 0.3, 1, 5),
    "noise": lambda rng, s, n: rng.normal(size=n),
    "interaction": lambda rng, s, n: s * rng.permutation(s) + s,
    "two classes": lambda rng, s, n: rng.integers(0, 2, size=n) * pick(rng, 1, 1.0, 1e5),
    "class of a factor": lambda rng, s, n: (s > s.mean() if n else s).astype(int),
    "rare class": lambda rng, s, n: (np.arange(n) == 0).astype(int),
    "words": lambda rng, s, n: np.array(["no", "yes"], dtype=object)[rng.integers(0, 2, size=n)],
    "booleans": lambda rng, s, n: rng.integers(0, 2, size=n).astype(bool),
    "few values": lambda rng, s, n: rng.integers(0, 3, size=n),
    "outlier": lambda rng, s, n: s + (np.arange(n) == n // 2) * pick(rng, 1e2, 1e6, 1e12, 1e100),
    "cauchy": lambda rng, s, n: rng.standard_cauchy(size=n),
    "offset": lambda rng, s, n: s + pick(rng, 1e9, 1e15, 1e20),
    "large counter": lambda rng, s, n: 2**53 + rng.integers(0, 9, size=n),
    "classes": lambda rng, s, n: _classes(rng, n),
    "classes of a factor": lambda rng, s, n: CLASSES[(_ranks(s) * rng.integers(3, 9)).astype(int)],
    "classes of one row": lambda rng, s, n: CLASSES[np.where(np.arange(n) < rng.integers(1, 20), np.arange(n), 30)],
    "numbered classes": lambda rng, s, n: np.unique(_classes(rng, n), return_inverse=True)[1],
    "counts": lambda rng, s, n: rng.poisson(np.exp(s / (1 + np.abs(s)))),
    "nearly constant": lambda rng, s, n: 1.0 + rng.integers(0, 4, size=n) * np.finfo(float).eps,
}
RARE_RESPONSES = {
    "huge": lambda rng, s, n: s * pick(rng, 1e100, 1e140, 1e160, 1e300),
    "tiny": lambda rng, s, n: s * pick(rng, 1e-100, 1e-140, 1e-160, 1e-300),
    **{kind: lambda rng, s, n, make=make: make(rng, n) for kind, make in COLUMNS.items()},
}


@st.composite
def responses(draw, rng, columns, n):
    """An array of n values, or one with a column for each of several outputs."""

    def output():
        kinds = RARE_RESPONSES if draw(chance(8)) else RESPONSES
        kind = draw(of([*kinds]))
        with np.errstate(over="ignore", invalid="ignore"):
            y = kinds[kind](rng, _signal(rng, columns, n), n)
        return punch(rng, y) if draw(chance(7)) else y

    if not draw(chance(12)):
        return output()
    outputs = [output() for _ in range(draw(st.integers(2, 4)))]
    if all(y.dtype.kind in "iufb" for y in outputs):
        return np.column_stack(outputs)
    return np.column_stack([boxed(y.tolist()) for y in outputs])


# --- what values are passed in ------------------------------------------------------------------------


def listed(column):
    """Values for libraries that know neither the types of numpy's objects nor the missing values of pandas."""
    if column.dtype.kind not in "OMm":
        return column
    return [None if value is pd.NA or value is pd.NaT else value for value in column.tolist()]


def read_only(array):
    """An array that must not be written to."""
    array.flags.writeable = False
    return array


ONE_RESPONSE = {
    "array": lambda y: y,
    "list": lambda y: y.tolist(),
    "pandas": lambda y: pd.Series(y, index=np.arange(len(y))[::-1], name="y"),
    "polars": lambda y: pl.Series("y", listed(y), strict=False),
    "pyarrow": lambda y: pa.chunked_array([pa.array(listed(y))]),
    "category": lambda y: pd.Series(y).astype("category"),
    "nullable": lambda y: pd.Series(y).convert_dtypes(),
    "ordered": lambda y: pd.Series(y).astype("category").cat.as_ordered(),
    "enum": lambda y: pl.Series("y", listed(y)).cast(pl.Enum(sorted({*y.tolist()} - {None}))),
    "arrow type": lambda y: pd.Series(y).convert_dtypes(dtype_backend="pyarrow"),
    "frame": lambda y: pd.DataFrame({"y": y}),
}
STRANGE_RESPONSE = {
    "column": lambda y: y[:, None],
    "two columns": lambda y: np.column_stack([y, y]),
    "too short": lambda y: y[:-1],
    "too long": lambda y: np.concatenate([y, y]),
    "none": lambda _: None,
    "tuple": lambda y: tuple(y.tolist()),
    "scalar": lambda _: 1.0,
    "read-only": lambda y: read_only(y.copy()),
}
SEVERAL_RESPONSES = {
    "array": lambda y, _: y,
    "pandas": lambda _, columns: pd.DataFrame(columns),
    "polars": lambda _, columns: pl.DataFrame({k: listed(column) for k, column in columns.items()}, strict=False),
    "pyarrow": lambda _, columns: pa.table({k: pa.array(listed(column)) for k, column in columns.items()}),
    "list": lambda y, _: y.tolist(),
    "nullable": lambda _, columns: pd.DataFrame(columns).convert_dtypes(),
    "levels": lambda _, columns: pd.DataFrame(columns).set_axis(
        pd.MultiIndex.from_product([["y"], columns]), axis="columns"
    ),
}


@st.composite
def wrapped(draw, y, hostile):
    """The response as one of the things a user might pass."""
    wrappers = SEVERAL_RESPONSES if y.ndim == 2 else ONE_RESPONSE | (STRANGE_RESPONSE if hostile else {})
    wrap = wrappers[draw(of(["array", "array", *wrappers]))]
    try:
        if y.ndim == 1:
            return wrap(y)
        return wrap(y, {f"y{k}": pd.Series(column).infer_objects().to_numpy() for k, column in enumerate(y.T)})
    except (Exception, pl.exceptions.PanicException):  # not every library holds everything
        return y


ODD_NAMES = (
    "", " ", "*", "^x$", "^.*$", ".", "a b", "a,b", 'q"uote', "y", "index", "é", "名前", "🦆", "\u202ertl",
    "\x1b[31mred", "nul\0", "line\nbreak", "tab\t", "=cmd|' /C calc'!A1", "<script>alert(1)</script>", "$x^2$",
    "$\\frac{1}{", "long" * 100, "{0}", "%s", "None", "nan", "\ud800",
)  # fmt: skip
PANDAS_LABELS = {
    "names": lambda names: pd.Index(names, dtype=object),
    "numbers": lambda names: pd.RangeIndex(len(names)),
    "several kinds": lambda names: pd.Index([j if j % 2 else name for j, name in enumerate(names)], dtype=object),
    "missing": lambda names: pd.Index([None if j == 0 else name for j, name in enumerate(names)], dtype=object),
    "levels": lambda names: pd.MultiIndex.from_tuples([(name, j % 2) for j, name in enumerate(names)]),
    "repeated": lambda names: pd.Index(["twice" if j < 2 else name for j, name in enumerate(names)], dtype=object),
    "dates": lambda names: pd.date_range("2024-01-01", periods=len(names)),
}


def _boxes(_, columns, names):
    return np.column_stack([boxed(column.tolist()) for column in columns]) if columns else np.empty((0, 0), object)


def _matrix(rng, columns, names):
    kinds = {column.dtype.kind for column in columns}
    if kinds and (kinds <= set("iufb") or kinds in ({"M"}, {"m"})):
        return np.column_stack(columns)
    return _boxes(rng, columns, names)


def _rows(_, columns, names):
    return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _pandas(rng, columns, names):
    frame = pd.DataFrame(dict(enumerate(columns)))
    labels = "names" if rng.random() < 0.8 else pick(rng, *PANDAS_LABELS)
    frame.columns = PANDAS_LABELS[labels](names)
    if rng.random() < 0.2:
        frame.index = pick(rng, frame.index[::-1], [0] * len(frame), [f"r{i}" for i in range(len(frame))])
    return frame


def _pandas_typed(rng, columns, names):
    """A pandas table with types that not all columns of a file have."""
    frame = _pandas(rng, columns, names)
    usual, rare = ("category", "ordered", "Float64", "Int64", "boolean"), ("string", "Sparse", "period[D]", "interval")
    made = [
        _converted(frame.iloc[:, j], pick(rng, *(rare if rng.random() < 0.1 else (None, *usual))))
        for j in range(frame.shape[1])
    ]
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
    distinct = []
    for j, name in enumerate(names):
        distinct.append(name if name not in distinct and name.isprintable() else f"{name!a}{j}")
    return distinct


def _polars(_, columns, names):
    return pl.DataFrame(dict(zip(_distinct(names), map(listed, columns), strict=True)), strict=False)


def _polars_typed(rng, columns, names):
    frame = _polars(rng, columns, names)
    usual = (pl.Categorical, pl.Float32, pl.Decimal(20, 3), pl.Int64, pl.UInt8)
    for name in frame.columns:
        words = frame[name].drop_nulls().unique(maintain_order=True)
        ordered = pl.Enum(words) if words.dtype == pl.String else None
        rare = (pl.Int128, pl.Datetime, pl.String, pl.Time)
        dtype = pick(rng, *(rare if rng.random() < 0.1 else (None, None, ordered, *usual)))
        try:
            frame = frame.with_columns(pl.col(name).cast(dtype, strict=False)) if dtype else frame
        except pl.exceptions.PolarsError:  # not every type can be cast
            continue
    return frame


def _arrow(rng, columns, names):
    arrays = [pa.array(listed(column) if column.dtype.kind == "O" else column) for column in columns]
    return pa.table(arrays, names=_distinct(names) if rng.random() < 0.9 else names)


def _masked(rng, columns, names):
    """An array whose missing values are said so, or are there and hidden."""
    matrix = _matrix(rng, columns, names).astype(float)
    mask = ~np.isfinite(matrix) if pick(rng, True, False) else rng.random(matrix.shape) < 0.1
    return np.ma.array(matrix, mask=mask)


NAMED_CONTAINERS = {
    "pandas": _pandas,
    "pandas nullable": lambda *given: _pandas(*given).convert_dtypes(),
    "pandas arrow": lambda *given: _pandas(*given).convert_dtypes(dtype_backend="pyarrow"),
    "pandas typed": _pandas_typed,
    "polars": _polars,
    "polars typed": _polars_typed,
    "pyarrow": _arrow,
}
CONTAINERS = {
    "numpy": _matrix,
    "numpy objects": _boxes,
    "list of rows": _rows,
    "numpy by columns": lambda *given: np.asfortranarray(_matrix(*given)),
    "numpy read-only": lambda *given: read_only(_matrix(*given)),
    "numpy reversed": lambda *given: _matrix(*given)[::-1, ::-1][::-1],
    "numpy big-endian": lambda *given: _matrix(*given).astype(">f8"),
    "numpy float32": lambda *given: _matrix(*given).astype(np.float32),
    "masked": _masked,
}
STRANGE_CONTAINERS = {
    "one column as array": lambda _, columns, names: columns[0],
    "three dimensions": lambda *given: _matrix(*given)[:, :, None],
    "sparse": lambda *given: scipy.sparse.csr_array(_matrix(*given)),
    "lazy": lambda *given: _polars(*given).lazy(),
    "series": lambda _, columns, names: pd.Series(columns[0]),
    "dictionary": lambda _, columns, names: dict(zip(names, columns, strict=True)),
    "none": lambda *given: None,
    "text": lambda *given: "table.csv",
    "record batch": lambda *given: _arrow(*given).to_batches()[0],
    "structured": lambda *given: _pandas(*given).to_records(),
    "ragged": lambda *given: [row[: i % len(row) + 1] for i, row in enumerate(_rows(*given))],
    "generator": lambda *given: (row for row in _rows(*given)),
    "number": lambda *given: 3,
    "tuple of tuples": lambda *given: tuple(map(tuple, _rows(*given))),
    "polars nested": lambda *given: _polars(*given).with_columns(nested=pl.struct(pl.all())),
    "numpy text": lambda *given: _matrix(*given).astype(str),
    "matrix": lambda *given: np.asmatrix(_matrix(*given)),
}

# --- whole tables -------------------------------------------------------------------------------------


@dataclass
class Table:
    """Factors and a response as a user would pass them."""

    X: Any
    y: Any
    n_rows: int
    n_factors: int
    names: list
    """What its columns are called; numbers where they have no names."""
    sets: list
    """Positions of columns that belong together."""
    numeric: list
    """Positions of columns that hold numbers or dates."""
    classes: bool
    """Whether the response is sure to be classes."""

    def __repr__(self):
        return f"X = {_shown(self.X)}\ny = {_shown(self.y)}"


def _shown(data):
    """A table or a response as text, short enough to look at."""
    with np.printoptions(threshold=400, linewidth=160):
        text = repr(data)
    dtypes = getattr(data, "dtypes", getattr(data, "dtype", getattr(data, "schema", "")))
    return f"{type(data).__module__}.{type(data).__name__}\n{text[:4000]}\n{str(dtypes)[:1500]}"


rngs = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@st.composite
def any_table(draw):
    """A table that is ordinary, a little odd, or hostile."""
    hostile, rng = draw(chance(12)), draw(rngs)
    if hostile and draw(chance(10)):
        n, p = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    else:
        n = draw(st.integers(2, 80) if draw(chance(97)) else st.integers(81, 300))
        p = draw(st.integers(1, 4) if draw(chance(60)) else st.integers(1, 12))
    kinds = draw(of(MIXTURES))
    kinds = [*kinds, *(EXTREME if draw(chance(12)) else ()), *(HOSTILE if hostile and draw(chance(50)) else ())]
    columns, sets = [], []
    for kind in draw(st.lists(of([*kinds, "copy", "line"]), min_size=p, max_size=p)):
        columns.append(_column(rng, kind, columns, n))
    if draw(chance(6)):
        added = one_hot(rng, n)
        sets.append(list(range(p, p + len(added))))
        columns += added
    y = draw(responses(rng, columns, n))
    numeric = [j for j, column in enumerate(columns) if column.dtype.kind in "iufmM"]
    classes = y.dtype.kind in "Ob" or len(np.unique(y)) == 2
    if n > 1 and draw(chance(15)):  # rows that occur several times
        rows = rng.integers(0, rng.integers(1, n, endpoint=True), size=n)
        columns, y = [column[rows] for column in columns], y[rows]
    if draw(chance(40)):
        share = draw(of([0.3, 0.7, 1.0]))
        columns = [punch(rng, column) if rng.random() < share else column for column in columns]
    names = [draw(of(ODD_NAMES)) if draw(chance(4)) else f"f{j}" for j in range(len(columns))]
    usual = draw(of(["pandas", "numpy"])) if draw(chance(50)) else draw(of([*CONTAINERS, *NAMED_CONTAINERS]))
    kind = draw(of([*STRANGE_CONTAINERS])) if hostile and draw(chance(30)) else usual
    try:
        X = (CONTAINERS | NAMED_CONTAINERS | STRANGE_CONTAINERS)[kind](rng, columns, names)
    except (Exception, pl.exceptions.PanicException):  # not every library holds everything; a list of rows does
        X = _rows(rng, columns, names)
    if kind not in NAMED_CONTAINERS or isinstance(X, list):
        names = [f"x{j}" for j in range(len(columns))]
    return Table(X, draw(wrapped(y, hostile)), n, len(columns), names, sets, numeric, classes)


def _column(rng, kind, earlier, n):
    if kind == "copy":
        return pick(rng, *earlier).copy() if earlier else rng.normal(size=n)
    if kind == "line":
        numeric = [column for column in earlier if column.dtype.kind == "f"]
        with np.errstate(over="ignore"):
            return pick(rng, *numeric) * np.float64(7) - 2 if numeric else rng.normal(size=n)
    return COLUMNS[kind](rng, n)


# --- weights and groups -------------------------------------------------------------------------------

WEIGHTS = {
    "equal": lambda rng, n: np.full(n, pick(rng, 1.0, 0.3, 1e300, 5e-324)),
    "uniform": lambda rng, n: rng.uniform(size=n),
    "counts": lambda rng, n: rng.integers(1, 9, size=n),
    "some zero": lambda rng, n: rng.integers(0, pick(rng, 2, 3, 9), size=n),
    "nearly all zero": lambda rng, n: (np.arange(n) < rng.integers(1, 7)).astype(float),
    "huge": lambda rng, n: rng.uniform(size=n) * pick(rng, 1e150, 1.7e308),
    "tiny": lambda rng, n: rng.uniform(size=n) * pick(rng, 1e-150, 1e-300, 1e-322),
    "many scales": lambda rng, n: 10.0 ** rng.uniform(-pick(rng, 3, 20, 300), pick(rng, 3, 20, 300), n),
    "one heavy": lambda rng, n: np.where(np.arange(n) == n // 2, pick(rng, 100.0, 1e9, 1e300), 1.0),
    "booleans": lambda rng, n: rng.integers(0, 2, size=n).astype(bool),
    "float32": lambda rng, n: rng.uniform(size=n).astype(np.float32),
}
GROUPS = {
    "few": lambda rng, n: rng.integers(0, pick(rng, 2, 3, 5), size=n),
    "many": lambda rng, n: rng.integers(0, max(n // 2, 2), size=n),
    "pairs": lambda _, n: np.arange(n) // 2,
    "all different": lambda _, n: np.arange(n),
    "one large": lambda rng, n: np.maximum(np.arange(n) - rng.integers(2, max(n - 1, 3)), 0),
    "words": _drawn(["ann", "bob", "", "é"].__getitem__, 4),
    "booleans": lambda rng, n: rng.integers(0, 2, size=n).astype(bool),
    "floats": lambda rng, n: rng.integers(0, 9, size=n) / 3,
    "huge numbers": lambda rng, n: 2**62 + rng.integers(0, 9, size=n),
    "signed zeros": lambda rng, n: rng.choice([0.0, -0.0, 1.0], size=n),
    "dates": lambda _, n: np.datetime64(DAY) + (np.arange(n) // 3).astype("m8[D]"),
    "long integers": _each(lambda i: 2 ** (60 + i % 9)),
}
WRONG_ROWS = HOSTILE | {
    "one value": lambda _, n: np.zeros(n, dtype=int),
    "too short": lambda _, n: np.arange(max(n - 1, 0)),
    "too long": lambda _, n: np.arange(n + 1),
    "two columns": lambda _, n: np.ones((n, 2)),
    "one number": lambda *_: np.array(1.0),
    "one word": lambda *_: np.array("ann"),
    "negative": lambda rng, n: rng.normal(size=n),
    "dates": EVERYDAY["dates"],
}
SERIES = (
    lambda values: values,
    lambda values: values.tolist(),
    lambda values: pd.Series(values, index=np.arange(len(values))[::-1]),
    lambda values: pl.Series("w", values),
    lambda values: pd.Series(values).convert_dtypes(),
    lambda values: pd.Series(values).astype("category"),
    lambda values: pa.chunked_array([pa.array(values)]),
    lambda values: tuple(values.tolist()),
)


@st.composite
def row_values(draw, n):
    """Weights and groups of rows, as keywords."""
    given = {}
    for name, usual in (("sample_weight", WEIGHTS), ("groups", GROUPS)):
        if draw(chance(20)):
            kinds = WRONG_ROWS if draw(chance(8)) else usual
            values, contain = kinds[draw(of([*kinds]))](draw(rngs), n), draw(of(SERIES))
            try:
                given[name] = contain(values)
            except Exception:  # not every library holds everything
                given[name] = values
    return given


# --- parameters ---------------------------------------------------------------------------------------

# What a parameter may not be, or only some of them.
JUNK = (
    None, "", "2", "no such thing", "paper ", b"full", "[", -1, 0, 1, 1.5, -0.5, 0.0, -0.0, 1e-320, 2**70, -(2**70),
    10**9, np.int8(-2), np.float32(2), np.nan, np.inf, -np.inf, 1j, True, False, (), [], {}, [2], [1.5], [None],
    [np.nan], [[0]], ["f0", 0], [True, False], np.ones(3), object(), np.random.RandomState, FIRST, {"x0"}, [("x0", 1)],
    *({0: value} for value in (0, -1, np.nan, np.inf, "24", None, True, 1j, [24], 5e-324, 1.7e308)),
    *({key: 1.0} for key in ("no such column", -1, 10**6, 1.5, None, True, (), (0, "x0"), np.nan, b"x0")),
    *({"a": members} for members in ([0, 10**6], [], None, {0}, [[0, 1], [2]], "[", "no such column", np.ones(3))),
    {"a": [0], "b": [0]}, {"x1": [0]}, {"": [0]}, (1e308, 1e308),
)  # fmt: skip


@st.composite
def _n_neighbors(draw, table):
    n = table.n_rows
    count = draw(of([2, 3, 4, 5, 10, n // 4, n // 2, n // 2 + 1, n - 1, n, np.int64(3)]))
    most = max(2, min(n, int((1e9 / max(n, 1)) ** 0.5)))  # searches take in proportion to rows × neighbours², at worst
    return count if draw(chance(3)) else max(2, min(count, most))


def _n_outer(table):
    n = table.n_rows
    counts = [max(1, min(count, n)) for count in (1, 2, 3, 4, 5, n // 4, n // 2, n - 1, n)]
    return of([*counts, n + 1, np.int64(n // 3), 0.01, 0.05, 0.1, 0.25, 0.5, 0.9, 1.0, np.float64(0.3)])


@st.composite
def _factors(draw, table):
    """Factors by name, by position or as a mask."""
    mask = [draw(st.booleans()) for _ in range(table.n_factors)]
    positions = [j for j, chosen in enumerate(mask) if chosen]
    names = [table.names[j] for j in positions]
    kinds = (positions, np.array(positions, dtype=int), mask, np.array(mask), names, names[0] if names else [])
    return draw(of(kinds))


@st.composite
def _numbers_by_column(draw, table):
    """Numbers above 0 for some columns, by position, by name or by a glob: periods or units."""
    number = of([24, 1, 2.0, 7, 0.5, 360, 1e-9, 1e9, np.float32(0.1), 1e-300, 1e300, 1e-160])
    columns = table.numeric if draw(chance(95)) else range(table.n_factors)
    if draw(chance(5)) or not columns:
        return {draw(of(["x*", "f*", "*", "?1", "x[01]"])): draw(number)}
    by_name = draw(chance(30))
    chosen = draw(st.lists(of([*columns]), min_size=1, max_size=2))
    return {table.names[j] if by_name else j: draw(number) for j in chosen}


@st.composite
def _factor_groups(draw, table):
    """Columns put together: some, all, each by itself, one-hot ones, or all whose name has a pattern."""
    positions = list(range(table.n_factors))
    if table.sets and draw(chance(70)):
        return {f"set {k}": list(members) for k, members in enumerate(table.sets)}
    half = len(positions) // 2
    return draw(
        of([
            {"together": positions[::2]},
            {f"part {k}": part for k, part in enumerate([positions[:half], positions[half:]]) if part},
            {"together": positions[:1]},
            {f"group {j}": [j] for j in positions},
            {"together": positions},
            {"together": [table.names[j] for j in positions[1:3]]},
            *({"like": glob} for glob in ("f*", "*", "[fx]0")),
            {"masked": [j % 3 > 0 for j in positions]},
        ])
    )  # fmt: skip


@st.composite
def _output_weights(draw, table):
    """Numbers, one for each output, or nearly so."""
    shape = getattr(table.y, "shape", np.shape(table.y[0]) if isinstance(table.y, list) and table.y else ())
    count = shape[-1] if len(shape) == 2 or (isinstance(table.y, list) and shape) else 1
    count = count if draw(chance(95)) else draw(st.integers(1, 4))
    weights = [draw(of([1, 0, 2.0, 0.1, 1e-12, 1e150])) for _ in range(count)]
    return draw(of([list, tuple, np.array]))(weights)


def _task(table):
    return of(["auto", "classification"] if table.classes else ["auto", "regression"] * 4 + ["classification"])


def _response(table):
    return of(["values"] if table.classes else ["values", "ranks", "normal-scores"])


def _any(*options):
    return lambda _: of(options)


# For each parameter in how many of a hundred calls it is given, and what it may be.
ALLOWED = {
    "n_neighbors": (50, _n_neighbors),
    "n_outer": (35, _n_outer),
    "subsample": (15, _any("random", "twinning")),
    "scale": (20, lambda table: st.one_of(of([True, False, np.bool_(False), {}]), _numbers_by_column(table))),
    "factor_groups": (15, _factor_groups),
    "period": (10, _numbers_by_column),
    "missing": (30, _any("level", "drop", "error")),
    "response_scale": (12, _response),
    "output_weights": (5, _output_weights),
    "forced": (12, _factors),
    "max_factors": (15, _any(1, 2, 3, 100, np.int64(1))),
    "categorical": (20, _factors),
    "task": (30, _task),
    "n_jobs": (10, _any(None, 1, 2, -1, np.int32(1))),
    "variance_estimator": (40, _any(None, "nearest", "extrapolated", "adaptive")),
    "forward": (40, _any("full", "fast", 1, 2, 10, np.int64(2))),
    "elimination": (40, _any("batch", "single")),
    "rule": (25, _any("paper", "calibrated", "calibrated")),
    "alpha": (20, _any(0.1, 0.01, 0.5, 0.99, 1e-3, 1 - 1e-12, np.float32(0.1), 1e-13)),
    "control": (10, _any("fwer", "fdr", "fdr")),
    "goal": (10, _any("explain", "predict", "predict")),
    "split": (20, _any(True, False)),
    "verbose": (2, _any(1)),
    "noise": (30, _any(True, False)),
    "uncertainty": (50, _any(True, True, True, False)),
    "method": (15, _any("plug-in", "subsample")),
    "subset": (30, _factors),
    "compact": (60, _any(True, np.True_, False, 0.01, 0.2, 0, 1, 1.0)),
    "importance": (60, _any("total", "shapley", "shapley")),
    "cluster_cut": (60, _any("auto", None, 0.0, 0.2, 0.5, np.float32(0.9), 1)),
    "factors": (30, _factors),
    "n_pairs": (100, _any(1, 2, 3, 5)),
    "threshold": (40, _any(0.51, 0.6, 0.75, 0.9, 1, 1.0, np.nextafter(0.5, 1))),
}

ESTIMATES = (
    "n_neighbors", "n_outer", "subsample", "scale", "categorical", "task", "n_jobs", "variance_estimator",
    "factor_groups", "period", "missing", "response_scale", "output_weights",
)  # fmt: skip
SELECTION = (
    *ESTIMATES, "forward", "elimination", "rule", "alpha", "control", "goal", "split", "verbose", "forced",
    "max_factors",
)  # fmt: skip
SHARING = (*SELECTION, "compact", "importance", "cluster_cut")

# The parameters of each function: of those that estimate and select, and of those that look at what factors share.
FUNCTIONS = {
    "fit": SELECTION,
    "total_indices": (*ESTIMATES, "noise", "uncertainty", "method", "subset"),
    "backward_elimination": (*ESTIMATES, "elimination", "uncertainty"),
    "explained_variance": ESTIMATES,
    "choose": SELECTION,
    "stability": ("n_pairs", "threshold", "n_jobs"),
}
SHARING_FUNCTIONS = {
    "fit": SHARING,
    "shapley_effects": (*ESTIMATES, "uncertainty"),
    "closed_indices": (*ESTIMATES, "subset"),
    "interactions": (*ESTIMATES, "factors"),
    "cumulative_ranking": ESTIMATES,
    "choose": SHARING,
    "backward_elimination": (*ESTIMATES, "elimination", "uncertainty"),
}


@dataclass
class Call:
    """A call of the package."""

    function: str
    table: Table
    options: dict
    rows: dict
    """Weights and groups."""
    seed: int

    def __repr__(self):
        rows = "".join(f"\n{name} = {_shown(values)}" for name, values in self.rows.items())
        return f"{self.function}(X, y, **{self.options})\n{self.table}{rows}"

    def is_repeatable(self):
        """Tell whether the same call gives the same again."""
        return isinstance(self.options.get("random_state"), int)

    def ignores_order(self):
        """Tell whether the result has to be the same for any order of rows."""
        given = self.options
        plain = given.get("variance_estimator") in (None, "nearest") and given.get("rule", "paper") == "paper"
        whole = given.get("n_outer") is None and not given.get("split") and given.get("method") != "subsample"
        sure = given.get("compact") is not True  # within a standard error, of every so many-th row
        return plain and whole and sure and self.function in ("fit", "total_indices", "backward_elimination")


@st.composite
def calls(draw, functions):
    """A call of one of the functions; the first is called most often. At most two parameters are wrong."""
    function = draw(of([*["fit"] * 6, *functions]))
    table = draw(any_table())
    options = draw(_options(table, functions[function]))
    seed = draw(st.integers(0, 2**32 - 1))
    options["random_state"] = seed if draw(chance(95)) else draw(of([np.random.default_rng, np.random.SeedSequence]))
    if function == "explained_variance":
        options["subset"] = draw(_factors(table))
    if function == "stability":
        options["selector"] = draw(_options(table, SELECTION)) if draw(chance(80)) else None
    if draw(chance(10)):
        for _ in range(draw(st.integers(1, 2))):
            options[draw(of([*functions[function], *options]))] = draw(of(JUNK))
    return Call(function, table, options, draw(row_values(table.n_rows)), seed)


@st.composite
def _options(draw, table, parameters):
    options = {name: draw(ALLOWED[name][1](table)) for name in parameters if draw(chance(ALLOWED[name][0]))}
    if options.get("rule") == "calibrated" and draw(chance(90)):  # which goes its own way
        options.pop("forward", None), options.pop("elimination", None)
    elif options.get("goal") == "predict" and draw(chance(90)):
        options["rule"] = "calibrated"
    return options
