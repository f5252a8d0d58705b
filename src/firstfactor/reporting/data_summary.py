"""What a page tells about the table itself: effects, summaries of columns, and which factor stands in for which."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.shorten import shorten
from .._utils.text import printable
from ..plots.effects import Effect
from ..plots.original_data import Column, Target, count_rows, read_columns, read_target
from ..results.indices import Indices
from .associations import StandIn, strongest

# What a reader can take in; the page says how many more there are.
MOST_EFFECTS, MOST_STAND_INS, MOST_SUMMARIES = 12, 15, 40

# Associations weaker than this are no reason to think that one factor stands in for another.
LEAST_ASSOCIATION = 0.3

# Rows that associations are measured on.
MOST_ROWS_ASSOCIATED = 5000


@dataclass(frozen=True)
class Data:
    """What the page tells about the table itself."""

    target: Target
    effects: list[Effect]
    summaries: dict[int, str]
    stand_ins: list[StandIn]
    rows_associated: int


def read_data(X: Any, y: Any, indices: Indices) -> Data:
    """Go through the table once."""
    n_rows, apart = count_rows(X), 0 if indices.path is None else indices.path.rows_apart
    if n_rows != indices.n_rows + apart:
        expected = f"{indices.n_rows}, and {apart} to select on" if apart else f"{indices.n_rows}"
        raise ValueError(f"X must have the rows that were analysed ({expected}); got {n_rows}.")
    target = read_target(y, n_rows, indices.task)
    selected, others = indices.selected.tolist(), indices.left_out.tolist()
    rows = np.arange(n_rows)
    if n_rows > MOST_ROWS_ASSOCIATED:
        rows = np.sort(np.random.default_rng(0).choice(n_rows, MOST_ROWS_ASSOCIATED, replace=False))
    chosen = dict(read_columns(X, indices, set(selected)))
    effects = [Effect(indices.names[i], float(indices.shares[i]), chosen[i]) for i in selected[:MOST_EFFECTS]]
    summaries = {i: summarise(chosen[i]) for i in selected[:MOST_SUMMARIES]}
    some = {i: chosen[i].take(rows) for i in selected}
    found = []
    for i, column in read_columns(X, indices, set(others)):
        if len(summaries) < MOST_SUMMARIES:
            summaries[i] = summarise(column)
        if some and indices.kinds[i] != "constant":
            found.append(strongest(i, column.take(rows), some))
    close = [one for one in found if abs(one.association.strength) >= LEAST_ASSOCIATION]
    close.sort(key=lambda one: -abs(one.association.strength))
    return Data(target, effects, summaries, close, len(rows))


def summarise(column: Column) -> str:
    """The range of numbers or the most frequent levels in a few words."""
    if not column.levels:
        low, middle, high = (f"{value:.4g}".replace("-", "−") for value in np.quantile(column.values, [0, 0.5, 1]))
        return f"{low} to {high}, median {middle}" if low != high else f"about {low}"
    most = np.argsort(-column.counts, kind="stable")[:3]
    shown = ", ".join(f"{brief(column.levels[i])} ({column.counts[i]:,})" for i in most)
    return f"{len(column.levels):,} levels: {shown}" + (", …" if len(column.levels) > 3 else "")


def brief(text: str, most: int = 40) -> str:
    """A text shortened in the middle to some characters."""
    return shorten(text, lambda shorter: len(shorter) <= most)


def describe_data(data: Data, indices: Indices) -> dict[str, Any]:
    """What the page says about the data, with names in place of positions."""
    names = [printable(name) for name in indices.names]
    target = data.target
    if target.classes:
        second = int(target.values.sum())
        counts = (len(target.values) - second, second)
        summary = ", ".join(f"{brief(label)} ({count:,})" for label, count in zip(target.classes, counts, strict=True))
    else:
        summary = summarise(Column(target.values, ()))
    return {
        "response_summary": summary,
        "classes": target.classes,
        "summaries": [(names[i], indices.kinds[i], text) for i, text in data.summaries.items()],
        "more_summaries": len(names) - len(data.summaries),
        "stand_ins": [
            (names[one.left_out], names[one.selected], one.association) for one in data.stand_ins[:MOST_STAND_INS]
        ],
        "more_stand_ins": max(len(data.stand_ins) - MOST_STAND_INS, 0),
        "rows_associated": data.rows_associated,
        "more_effects": len(indices.selected) - len(data.effects),
    }
