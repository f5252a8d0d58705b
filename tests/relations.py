"""Calls that have to agree with another one: the same question, asked in other words."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from tests.invariants import numbers_in, take
from tests.strategies import pick


@dataclass
class Variation:
    """Another call, and whether its numbers must be the same to the last bit."""

    what: str
    X: Any
    y: Any
    rows: dict
    """Weights and groups."""
    options: dict = field(default_factory=dict)
    """What differs from the options of the call."""
    to_the_bit: bool = True


def vary(call, result, rng):
    """A call that must give what the call gave; None if none is known."""
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
    for relation in rng.permutation(relations):
        variation = relation(call, result, rng)
        if variation is not None:
            return variation
    return None


def _on_rows(table, rows):
    """X and y of some rows, in the order given; None where that is not simply done."""
    X, y = take(table.X, rows), take(table.y, rows)
    return None if X is None or y is None else (X, y)


def equal_weights(call, result, rng):
    """Weights that are all the same are none."""
    if "sample_weight" in call.rows:
        return None
    weights = np.full(call.table.n_rows, pick(rng, 1, 0.3, 7, 1e300, 5e-324))
    return Variation("with equal weights", call.table.X, call.table.y, call.rows | {"sample_weight": weights})


def scaled_weights(call, result, rng):
    """Only the ratios of weights matter."""
    if "sample_weight" not in call.rows:
        return None
    weights = numbers_in(call.rows["sample_weight"])
    above = weights[weights > 0]
    if above.max() > 1e300 or above.min() < 1e-300:
        return None
    rows = call.rows | {"sample_weight": weights * pick(rng, 2.0, 0.25)}
    return Variation("with weights scaled", call.table.X, call.table.y, rows)


def rows_without_weight(call, result, rng):
    """Rows with a weight of 0 are not there, though they may be what an offset was taken from."""
    if "sample_weight" not in call.rows or call.function not in ("fit", "total_indices", "backward_elimination"):
        return None
    kept = np.flatnonzero(numbers_in(call.rows["sample_weight"]))
    table, rows = _on_rows(call.table, kept), {name: take(values, kept) for name, values in call.rows.items()}
    if kept.size == call.table.n_rows or table is None or any(values is None for values in rows.values()):
        return None
    return Variation("without rows of weight 0", *table, rows, {}, False)


def rows_left_out(call, result, rng):
    """Rows that are said to be left out may as well not be there."""
    kept = getattr(getattr(result, "indices_", result), "rows", None)
    if kept is None or not call.ignores_order():
        return None
    table, rows = _on_rows(call.table, kept), {name: take(values, kept) for name, values in call.rows.items()}
    if table is None or any(values is None for values in rows.values()):
        return None
    return Variation("without rows left out", *table, rows, {}, False)


def gaps_as_level(call, result, rng):
    """A missing word is as any other word."""
    X = call.table.X
    if not isinstance(X, pd.DataFrame) or call.options.get("missing", "level") != "level" or not call.ignores_order():
        return None
    if not X.columns.is_unique:
        return None
    words = [name for name in X if X[name].isna().any() and X[name].map(type).eq(str).any()]
    if not words or any(isinstance(X[name].dtype, pd.CategoricalDtype) for name in words):
        return None
    return Variation("with gaps as words", X.fillna(dict.fromkeys(words, "?")), call.table.y, call.rows, {}, False)


def rows_by_themselves(call, result, rng):
    """Groups of one row are none; halves and errors are drawn and computed in another way."""
    if "groups" in call.rows or not call.ignores_order():
        return None
    weights = np.asarray(call.rows.get("sample_weight", 1.0), float)
    if np.ptp(weights) > 1e6:  # what is added up first decides the last digits
        return None
    groups = rng.permutation(call.table.n_rows)
    return Variation("with groups of one row", call.table.X, call.table.y, call.rows | {"groups": groups}, {}, False)


def factors_by_themselves(call, result, rng):
    """Groups of one column are none."""
    names = getattr(getattr(result, "indices_", result), "names", None)
    if call.options.get("factor_groups") is not None or names is None or len(names) != call.table.n_factors:
        return None
    groups = {name: [j] for j, name in enumerate(names)}
    return Variation("with factors of one column", call.table.X, call.table.y, call.rows, {"factor_groups": groups})


def other_missing(call, result, rng):
    """Where nothing is missing, it does not matter what missing means."""
    indices = getattr(result, "indices_", result)
    if not getattr(indices, "missing", None) or any(indices.missing) or call.options.get("missing") == "drop":
        return None
    missing = pick(rng, *[each for each in ("level", "error", "drop") if each != call.options.get("missing", "level")])
    return Variation(f"with missing={missing!r}", call.table.X, call.table.y, call.rows, {"missing": missing})


def no_units(call, result, rng):
    """Units for no column are no units."""
    if call.options.get("scale", True) is not True or call.function == "stability":
        return None
    return Variation("with scale={}", call.table.X, call.table.y, call.rows, {"scale": {}})


def other_order(call, result, rng):
    """The order of rows does not matter to the paper's rule."""
    order = rng.permutation(call.table.n_rows)
    table, rows = _on_rows(call.table, order), {name: take(values, order) for name, values in call.rows.items()}
    if not call.ignores_order() or table is None or any(values is None for values in rows.values()):
        return None
    return Variation("in another order of rows", *table, rows, {}, False)


def output_twice(call, result, rng):
    """An output and its copy say no more than the output."""
    y = call.table.y
    is_one = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iuf"
    if not is_one or call.function != "total_indices" or "output_weights" in call.options or not call.ignores_order():
        return None
    return Variation("with y twice", call.table.X, np.column_stack([y, y]), call.rows, {}, False)


def other_labels(call, result, rng):
    """What classes are called does not matter."""
    y = call.table.y
    is_one = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind == "O"
    if not is_one or call.function != "total_indices" or not all(isinstance(value, str) for value in y):
        return None
    if not call.ignores_order():
        return None
    codes = np.unique(y, return_inverse=True)[1]
    labels = rng.permutation([f"label {k}" for k in range(codes.max() + 1)]).astype(object)
    return Variation("with other labels", call.table.X, labels[codes], call.rows, {}, False)
