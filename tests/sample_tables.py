"""Tables to test on: hypothesis strategies for every kind of column, and a few fixed problems."""

import datetime

import numpy as np
import pandas as pd
from hypothesis import strategies as st

KINDS = ("continuous", "grid", "category", "boolean", "copy", "constant", "far offset")


def column(kind, rows, rng, earlier):
    match kind:
        case "continuous":
            return rng.normal(size=rows)
        case "grid":
            return rng.integers(0, 4, size=rows)
        case "category":
            return np.array(list("abc"), dtype=object)[rng.integers(0, 3, size=rows)]
        case "boolean":
            return rng.integers(0, 2, size=rows).astype(bool)
        case "copy":
            return earlier[0].copy() if earlier else np.arange(rows) % 5
        case "constant":
            return np.full(rows, 3.7)
        case "far offset":
            return 1e9 + rng.integers(0, 50, size=rows) / 8


@st.composite
def tables(draw, least_rows=6, most_rows=24, most_factors=4):
    """A named table with a response, rows sometimes repeated."""
    rows = draw(st.integers(least_rows, most_rows))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=most_factors))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = []
    for kind in kinds:
        columns.append(column(kind, rows, rng, columns))
    X = pd.DataFrame({f"f{j}": values for j, values in enumerate(columns)})
    y = np.sin(3 * rng.normal(size=rows)) + X["f0"].map(hash).to_numpy() % 3
    if draw(st.booleans()):
        again = rng.integers(0, rows, size=rows)
        X, y = (
            X.iloc[again].reset_index(drop=True),
            y[again] + draw(st.sampled_from([0.0, 1.0])) * rng.normal(size=rows),
        )
    y[0] += 1.5  # never constant
    return X, y


def as_lists(X):
    """The same table as `naive` wants it."""
    return [[str(v) for v in X[c]] if X[c].dtype in (object, bool, "str") else X[c].tolist() for c in X]


def friedman(rows=300, factors=10, seed=0):
    """The paper's Friedman function on independent inputs; true factors 0, 6, 7, 8, 9."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(rows, factors))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 6]) + 20 * (X[:, 7] - 0.5) ** 2
    y += 10 * X[:, 8] + 5 * X[:, 9] - 20 * X[:, 8] * X[:, 9] - 10
    return X, y + rng.normal(size=rows)


def mixed(rows=200, seed=0):
    """Two numbers, a text, a boolean and a grid; the first three matter."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=rows),
            "load": rng.uniform(size=rows) * 1000,
            "make": np.array(["ash", "elm", "oak"])[rng.integers(0, 3, size=rows)],
            "wet": rng.integers(0, 2, size=rows).astype(bool),
            "count": rng.integers(0, 6, size=rows),
        }
    )
    y = X["size"] + X["load"] / 300 + 2 * (X["make"] == "elm") + 0.1 * rng.normal(size=rows)
    return X, y.to_numpy()


def discrete_and_continuous(rows=300):
    """Five continuous factors that do nothing, then five of two values that do: many rows agree in those."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(rows, 5)), rng.integers(0, 2, size=(rows, 5))])
    return X, X[:, 5:] @ [5, 4, 3, 3, 3]


@st.composite
def everyday_tables(draw, most_factors=4):
    """A table with missing values, one or more outputs, weights and groups of rows; each is sometimes absent."""
    X, y = draw(tables(least_rows=9, most_factors=most_factors))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.0, 0.2, 0.6]))
    X = X.astype(object).mask(rng.uniform(size=X.shape) < share, None)
    outputs = draw(st.sampled_from([1, 1, 3]))
    Y = np.column_stack([y, *rng.normal(size=(outputs - 1, len(y)))])
    weights = rng.integers(1, 5, size=len(y)).astype(float) if draw(st.booleans()) else None
    groups = draw(st.sampled_from([None, "pairs", "some"]))
    if groups is not None:
        groups = np.arange(len(y)) // 2 if groups == "pairs" else rng.integers(0, 4, size=len(y)) % len(y)
        groups[:3] = [0, 1, 2]
    return X, Y, weights, groups


def as_rows(Y):
    """The outputs as `naive` wants them."""
    return Y[:, 0].tolist() if Y.shape[1] == 1 else list(map(tuple, Y.tolist()))


def as_lists_with_gaps(X):
    """A table with missing values as `naive` wants it."""
    return [
        [None if pd.isna(v) else str(v) if isinstance(v, (str, bool)) else float(v) for v in X[column]] for column in X
    ]


def frame_of_all_kinds(n_rows):
    """A polars frame with an identifier, numbers, whole numbers, text, dates and a response."""
    import polars as pl

    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "id": [f"u{i:03}" for i in range(n_rows)],
            "size": rng.normal(size=n_rows),
            "count": rng.integers(0, 5, size=n_rows),
            "make": np.array(["ash", "elm", "oak"])[rng.integers(0, 3, size=n_rows)],
            "when": [datetime.date(2024, 1, 1) + datetime.timedelta(days=i) for i in range(n_rows)],
            "y": rng.normal(size=n_rows),
        }
    )
