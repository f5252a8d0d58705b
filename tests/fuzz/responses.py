"""Responses: quantities, classes, several outputs, with values missing, and what users pass them in."""

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from .columns import punch
from .wrapping import listed, read_only

CLASSES = np.array([f"{'klm'[k % 3]}{k}" for k in range(31)], dtype=object)


def make_response(draw, columns, n):
    """An array of n values, or one with a column for each of several outputs, and what it is."""
    if not draw.chance(0.12):
        y, kind = _output(draw, columns, n)
        return (punch(draw, y), f"{kind} with gaps") if draw.chance(0.08) else (y, kind)
    outputs, kinds = [], []
    for _ in range(draw.integer(2, draw.choice([2, 3, 6]))):
        y, kind = (outputs[0], "the same") if outputs and draw.chance(0.1) else _output(draw, columns, n)
        outputs.append(punch(draw, y) if draw.chance(0.05) else y)
        kinds.append(kind)
    return _side_by_side(outputs), " and ".join(kinds)


def _side_by_side(outputs):
    """Outputs as one array, of numbers if all are."""
    if all(y.dtype.kind in "iufb" for y in outputs):
        return np.column_stack(outputs)
    matrix = np.empty((len(outputs[0]), len(outputs)), dtype=object)
    for k, y in enumerate(outputs):
        matrix[:, k] = y
    return matrix


def _output(draw, columns, n):
    """An array of n values, and what it is."""
    kind = draw.weighted({
        "function": 8, "function and noise": 8, "noise": 4, "interaction": 2, "two classes": 4, "class of a factor": 3,
        "rare class": 1, "words": 1, "booleans": 1, "few values": 1, "outlier": 2, "cauchy": 1, "huge": 0.5,
        "tiny": 0.5, "offset": 0.5, "large counter": 0.5, "constant": 0.3, "classes": 4, "classes of a factor": 3,
        "classes of one row": 1, "numbered classes": 2, "counts": 1, "unique words": 0.2, "infinite": 0.2, "dates": 0.1,
        "mixed": 0.1, "decimals": 0.3, "subnormal": 0.2, "nearly constant": 0.5,
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
        "classes": lambda: _classes(draw, n),
        "classes of a factor": lambda: CLASSES[(_ranks(signal) * draw.integer(3, 8)).astype(int)],
        "classes of one row": lambda: CLASSES[np.where(np.arange(n) < draw.integer(1, 19), np.arange(n), 30)],
        "numbered classes": lambda: np.unique(_classes(draw, n), return_inverse=True)[1],
        "counts": lambda: rng.poisson(np.exp(signal / (1 + np.abs(signal)))),
        "unique words": lambda: np.array([f"row {i}" for i in range(n)], dtype=object),
        "infinite": lambda: np.where(np.arange(n) == 0, np.inf, signal),
        "dates": lambda: np.datetime64("2024-01-01") + np.arange(n).astype("m8[D]"),
        "mixed": lambda: np.array([i if i % 2 else "a" for i in range(n)], dtype=object),
        "decimals": lambda: np.array([decimal.Decimal(int(i)) / 8 for i in rng.integers(0, 99, n)], dtype=object),
        "subnormal": lambda: rng.integers(0, 5, size=n) * 5e-324,
        "nearly constant": lambda: 1.0 + rng.integers(0, 4, size=n) * np.finfo(float).eps,
    }
    with np.errstate(over="ignore", invalid="ignore"):
        return simple[kind](), kind


def _classes(draw, n):
    """Words for 2 to 30 classes, from equally frequent to mostly one."""
    count = draw.integer(2, draw.choice([3, 5, 10, 30]))
    shares = draw.choice([1.0, 0.7, 0.3]) ** np.arange(count)
    return CLASSES[draw.rng.choice(count, size=n, p=shares / shares.sum())]


def _ranks(values):
    """Ranks from 0 to below 1."""
    return np.unique(values, return_inverse=True)[1] / max(len(values), 1)


def _signal(draw, columns, n):
    """A function of some columns: their ranks, waved."""
    total = np.zeros(n)
    for column in draw.some(columns, 3):
        if column.dtype.kind in "iufb":
            total += draw.choice([1.0, 3.0, 0.1]) * np.sin(draw.choice([1, 6]) * _ranks(column))
    return total if np.any(total) else draw.rng.normal(size=n)


# --- containers ---------------------------------------------------------------------------------------

USUAL_RESPONSES = {
    "array": 8, "list": 1, "pandas": 2, "polars": 1, "pyarrow": 0.5, "category": 0.4, "nullable": 0.4, "frame": 0.2,
    "ordered": 0.5, "enum": 0.3, "arrow type": 0.3,
}  # fmt: skip
UNUSUAL_RESPONSES = {
    "column": 0.5, "two columns": 0.5, "too short": 1, "too long": 0.5, "none": 0.2, "tuple": 0.3, "scalar": 0.2,
    "read-only": 0.3,
}  # fmt: skip


def _wrap_one(draw, y, hostile):
    """One output as one of the things a user might pass, and which."""
    kind = draw.weighted(USUAL_RESPONSES | (UNUSUAL_RESPONSES if hostile else {}))
    wrappers = {
        "array": lambda: y,
        "list": y.tolist,
        "pandas": lambda: pd.Series(y, index=np.arange(len(y))[::-1], name="y"),
        "polars": lambda: pl.Series("y", listed(y), strict=False),
        "pyarrow": lambda: pa.chunked_array([pa.array(listed(y) if y.dtype.kind == "O" else y)]),
        "category": lambda: pd.Series(y).astype("category"),
        "nullable": lambda: pd.Series(y).convert_dtypes(),
        "ordered": lambda: pd.Series(y).astype("category").cat.as_ordered(),
        "enum": lambda: pl.Series("y", listed(y)).cast(pl.Enum(sorted({*y.tolist()} - {None}))),
        "arrow type": lambda: pd.Series(y).convert_dtypes(dtype_backend="pyarrow"),
        "frame": lambda: pd.DataFrame({"y": y}),
        "column": lambda: y[:, None],
        "two columns": lambda: np.column_stack([y, y]),
        "too short": lambda: y[:-1],
        "too long": lambda: np.concatenate([y, y]),
        "none": lambda: None,
        "tuple": lambda: tuple(y.tolist()),
        "scalar": lambda: 1.0,
        "read-only": lambda: read_only(y.copy()),
    }
    try:
        return wrappers[kind](), kind
    except (Exception, pl.exceptions.PanicException):
        return y, f"array, not {kind}"


SEVERAL = {"array": 4, "pandas": 2, "polars": 1, "pyarrow": 0.5, "list": 1, "nullable": 1, "levels": 0.2}


def wrap(draw, y, hostile):
    """The response as one of the things a user might pass, and which."""
    return _wrap_one(draw, y, hostile) if y.ndim == 1 else _wrap_several(draw, y)


def _wrap_several(draw, y):
    kind = draw.weighted(SEVERAL)
    columns = {f"y{k}": pd.Series(column).infer_objects().to_numpy() for k, column in enumerate(y.T)}
    wrappers = {
        "array": lambda: y,
        "pandas": lambda: pd.DataFrame(columns),
        "polars": lambda: pl.DataFrame({name: listed(column) for name, column in columns.items()}, strict=False),
        "pyarrow": lambda: pa.table({name: pa.array(listed(column)) for name, column in columns.items()}),
        "list": y.tolist,
        "nullable": lambda: pd.DataFrame(columns).convert_dtypes(),
        "levels": lambda: pd.DataFrame(columns).set_axis(pd.MultiIndex.from_product([["y"], columns]), axis="columns"),
    }
    try:
        return wrappers[kind](), kind
    except (Exception, pl.exceptions.PanicException):
        return y, f"array, not {kind}"
