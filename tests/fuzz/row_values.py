"""Weights and groups of rows: ones that are allowed, however odd, and ones that are not."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from .columns import leave_out

WEIGHTS = {
    "equal": lambda draw, n: np.full(n, draw.choice([1.0, 0.3, 1e300, 5e-324])),
    "uniform": lambda draw, n: draw.rng.uniform(size=n),
    "counts": lambda draw, n: draw.rng.integers(1, 9, size=n),
    "some zero": lambda draw, n: draw.rng.integers(0, draw.choice([2, 3, 9]), size=n),
    "nearly all zero": lambda draw, n: (np.arange(n) < draw.integer(1, 6)).astype(float),
    "huge": lambda draw, n: draw.rng.uniform(size=n) * draw.choice([1e150, 1.7e308]),
    "tiny": lambda draw, n: draw.rng.uniform(size=n) * draw.choice([1e-150, 1e-300, 1e-322]),
    "many scales": lambda draw, n: 10.0 ** draw.rng.uniform(-draw.choice([3, 20, 300]), draw.choice([3, 20, 300]), n),
    "one heavy": lambda draw, n: np.where(np.arange(n) == n // 2, draw.choice([100.0, 1e9, 1e300]), 1.0),
    "booleans": lambda draw, n: draw.rng.integers(0, 2, size=n).astype(bool),
    "float32": lambda draw, n: draw.rng.uniform(size=n).astype(np.float32),
}
WRONG_WEIGHTS = {
    "negative": lambda draw, n: draw.rng.normal(size=n),
    "missing": lambda draw, n: leave_out(draw, np.ones(n), np.arange(n) % 3 == 0),
    "all zero": lambda draw, n: np.zeros(n),
    "infinite": lambda draw, n: np.where(np.arange(n) == 0, np.inf, 1.0),
    "too short": lambda draw, n: np.ones(max(n - 1, 0)),
    "too long": lambda draw, n: np.ones(n + 1),
    "words": lambda draw, n: np.array(["1"] * n, dtype=object),
    "complex": lambda draw, n: np.ones(n) + 1j,
    "two columns": lambda draw, n: np.ones((n, 2)),
    "dates": lambda draw, n: np.datetime64("2024-01-01") + np.arange(n).astype("m8[D]"),
    "mixed": lambda draw, n: np.array([1 if i % 2 else "a" for i in range(n)], dtype=object),
    "one number": lambda draw, n: np.array(1.0),
    "long integers": lambda draw, n: np.array([2 ** (60 + i % 80) for i in range(n)], dtype=object),
}

GROUPS = {
    "few": lambda draw, n: draw.rng.integers(0, draw.choice([2, 3, 5]), size=n),
    "many": lambda draw, n: draw.rng.integers(0, max(n // 2, 2), size=n),
    "pairs": lambda draw, n: np.arange(n) // 2,
    "all different": lambda draw, n: np.arange(n),
    "one large": lambda draw, n: np.maximum(np.arange(n) - draw.integer(2, n - 2), 0),
    "words": lambda draw, n: np.array(["ann", "bob", "", "é"], dtype=object)[draw.rng.integers(0, 4, size=n)],
    "booleans": lambda draw, n: draw.rng.integers(0, 2, size=n).astype(bool),
    "floats": lambda draw, n: draw.rng.integers(0, 9, size=n) / 3,
    "huge numbers": lambda draw, n: 2**62 + draw.rng.integers(0, 9, size=n),
    "signed zeros": lambda draw, n: draw.rng.choice([0.0, -0.0, 1.0], size=n),
    "dates": lambda draw, n: np.datetime64("2024-01-01") + (np.arange(n) // 3).astype("m8[D]"),
    "long integers": lambda draw, n: np.array([2 ** (60 + i % 9) for i in range(n)], dtype=object),
}
WRONG_GROUPS = {
    "one": lambda draw, n: np.zeros(n, dtype=int),
    "missing": lambda draw, n: leave_out(draw, draw.rng.integers(0, 4, size=n), np.arange(n) % 3 == 0),
    "too short": lambda draw, n: np.arange(max(n - 1, 0)),
    "too long": lambda draw, n: np.arange(n + 1),
    "mixed": lambda draw, n: np.array([i if i % 2 else "a" for i in range(n)], dtype=object),
    "complex": lambda draw, n: np.ones(n) + 1j,
    "infinite": lambda draw, n: np.where(np.arange(n) == 0, np.inf, 1.0),
    "two columns": lambda draw, n: np.column_stack([np.arange(n), np.arange(n)]),
    "one word": lambda draw, n: np.array("ann"),
}

CONTAINERS = {
    "array": lambda values: values,
    "list": lambda values: values.tolist(),
    "pandas": lambda values: pd.Series(values, index=np.arange(len(values))[::-1]),
    "polars": lambda values: pl.Series("w", values),
    "nullable": lambda values: pd.Series(values).convert_dtypes(),
    "category": lambda values: pd.Series(values).astype("category"),
    "pyarrow": lambda values: pa.chunked_array([pa.array(values)]),
    "tuple": lambda values: tuple(values.tolist()),
}
HOW_OFTEN = {
    "array": 6, "list": 1, "pandas": 2, "polars": 1, "nullable": 0.5, "category": 0.3, "pyarrow": 0.5, "tuple": 0.3,
}  # fmt: skip


def make_row_values(draw, n):
    """Weights and groups for n rows, as keywords, and what they are."""
    given, story = {}, []
    for name, usual, wrong in (("sample_weight", WEIGHTS, WRONG_WEIGHTS), ("groups", GROUPS, WRONG_GROUPS)):
        if not draw.chance(0.2):
            continue
        kinds = wrong if draw.chance(0.08) else usual
        kind = draw.choice(list(kinds))
        given[name], container = _contain(draw, kinds[kind](draw, n))
        story.append(f"{name}: {kind}, {container}")
    return given, "; ".join(story)


def _contain(draw, values):
    kind = draw.weighted(HOW_OFTEN)
    try:
        return CONTAINERS[kind](values), kind
    except Exception:
        return values, f"array, not {kind}"
