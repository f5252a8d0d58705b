"""Calls that have to agree with another one: the same question, asked in other words."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from .wrapping import numbers_in, take


@dataclass
class Variation:
    """Another call, and whether its numbers must be the same to the last bit."""

    what: str
    X: Any
    y: Any
    rows: dict
    """Weights and groups."""
    options: dict = field(default_factory=dict)
    """What differs from the options of the case."""
    to_the_bit: bool = True


def vary(case, result, draw):
    """A call that must give what the case gave; None if none is known."""
    relations = (
        equal_weights,
        scaled_weights,
        rows_without_weight,
        rows_left_out,
        gaps_as_level,
        rows_by_themselves,
        factors_by_themselves,
        other_missing,
        no_units,
        other_order,
        output_twice,
        other_labels,
    )
    for relation in draw.rng.permutation(relations):
        variation = relation(case, result, draw)
        if variation is not None:
            return variation
    return None


def equal_weights(case, result, draw):
    """Weights that are all the same are none."""
    if "sample_weight" in case.rows:
        return None
    weights = np.full(case.table.n_rows, draw.choice([1, 0.3, 7, 1e300, 5e-324]))
    return Variation("with equal weights", case.table.X, case.table.y, case.rows | {"sample_weight": weights})


def scaled_weights(case, result, draw):
    """Only the ratios of weights matter."""
    if "sample_weight" not in case.rows:
        return None
    weights = numbers_in(case.rows["sample_weight"])
    above = weights[weights > 0]
    if above.max() > 1e300 or above.min() < 1e-300:
        return None
    rows = case.rows | {"sample_weight": weights * draw.choice([2.0, 0.25])}
    return Variation("with weights scaled", case.table.X, case.table.y, rows)


def rows_without_weight(case, result, draw):
    """Rows with a weight of 0 are not there, though they may be what an offset was taken from."""
    if "sample_weight" not in case.rows or case.function not in ("fit", "total_indices", "backward_elimination"):
        return None
    kept = np.flatnonzero(numbers_in(case.rows["sample_weight"]))
    table, rows = case.table.on_rows(kept), {name: take(values, kept) for name, values in case.rows.items()}
    if kept.size == case.table.n_rows or table is None or any(values is None for values in rows.values()):
        return None
    return Variation("without rows of weight 0", *table, rows, {}, False)


def rows_left_out(case, result, draw):
    """Rows that are said to be left out may as well not be there."""
    kept = getattr(getattr(result, "indices_", result), "rows", None)
    if kept is None or not case.ignores_order():
        return None
    table, rows = case.table.on_rows(kept), {name: take(values, kept) for name, values in case.rows.items()}
    if table is None or any(values is None for values in rows.values()):
        return None
    return Variation("without rows left out", *table, rows, {}, False)


def gaps_as_level(case, result, draw):
    """A missing word is as any other word."""
    X = case.table.X
    if not isinstance(X, pd.DataFrame) or case.options.get("missing", "level") != "level" or not case.ignores_order():
        return None
    if not X.columns.is_unique:
        return None
    words = [name for name in X if X[name].isna().any() and X[name].map(type).eq(str).any()]
    if not words or any(isinstance(X[name].dtype, pd.CategoricalDtype) for name in words):
        return None
    return Variation("with gaps as words", X.fillna(dict.fromkeys(words, "?")), case.table.y, case.rows, {}, False)


def rows_by_themselves(case, result, draw):
    """Groups of one row are none; halves and errors are drawn and computed in another way."""
    if "groups" in case.rows or not case.ignores_order():
        return None
    weights = np.asarray(case.rows.get("sample_weight", 1.0), float)
    if np.ptp(weights) > 1e6:  # what is added up first decides the last digits
        return None
    groups = draw.rng.permutation(case.table.n_rows)
    return Variation("with groups of one row", case.table.X, case.table.y, case.rows | {"groups": groups}, {}, False)


def factors_by_themselves(case, result, draw):
    """Groups of one column are none."""
    names = getattr(getattr(result, "indices_", result), "names", None)
    if case.options.get("factor_groups") is not None or names is None or len(names) != case.table.n_factors:
        return None
    groups = {name: [j] for j, name in enumerate(names)}
    return Variation("with factors of one column", case.table.X, case.table.y, case.rows, {"factor_groups": groups})


def other_missing(case, result, draw):
    """Where nothing is missing, it does not matter what missing means."""
    indices = getattr(result, "indices_", result)
    if not getattr(indices, "missing", None) or any(indices.missing) or case.options.get("missing") == "drop":
        return None
    missing = draw.choice([each for each in ("level", "error", "drop") if each != case.options.get("missing", "level")])
    return Variation(f"with missing={missing!r}", case.table.X, case.table.y, case.rows, {"missing": missing})


def no_units(case, result, draw):
    """Units for no column are no units."""
    if case.options.get("scale", True) is not True or case.function == "stability":
        return None
    return Variation("with scale={}", case.table.X, case.table.y, case.rows, {"scale": {}})


def other_order(case, result, draw):
    """The order of rows does not matter to the paper's rule."""
    order = draw.rng.permutation(case.table.n_rows)
    table, rows = case.table.on_rows(order), {name: take(values, order) for name, values in case.rows.items()}
    if not case.ignores_order() or table is None or any(values is None for values in rows.values()):
        return None
    return Variation("in another order of rows", *table, rows, {}, False)


def output_twice(case, result, draw):
    """An output and its copy say no more than the output."""
    y = case.table.y
    is_one = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iuf"
    if not is_one or case.function != "total_indices" or "output_weights" in case.options or not case.ignores_order():
        return None
    return Variation("with y twice", case.table.X, np.column_stack([y, y]), case.rows, {}, False)


def other_labels(case, result, draw):
    """What classes are called does not matter."""
    y = case.table.y
    is_one = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind == "O"
    if not is_one or case.function != "total_indices" or not all(isinstance(value, str) for value in y):
        return None
    if not case.ignores_order():
        return None
    codes = np.unique(y, return_inverse=True)[1]
    labels = draw.rng.permutation([f"label {k}" for k in range(codes.max() + 1)]).astype(object)
    return Variation("with other labels", case.table.X, labels[codes], case.rows, {}, False)
