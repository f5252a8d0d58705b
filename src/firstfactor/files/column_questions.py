"""Questions on the columns of a source, asked in as few passes through it as possible."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import polars as pl

from .source import ROW, Source


def ask_by_column(
    source: Source,
    names: Sequence[str],
    questions: Callable[[str], dict[str, pl.Expr]],
    prepare: Callable[[Sequence[str]], pl.LazyFrame] | None = None,
) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return how many rows there are, and answers to questions on every column.

    ``prepare`` makes the frame that is asked about some columns; the default is that of the source.
    """
    n_rows, found = 0, dict[str, dict[str, Any]]()
    for start in range(0, len(names), source.at_once):
        some = names[start : start + source.at_once]
        frame = source.frame if prepare is None else prepare(some)
        asked = {name: questions(name) for name in some}
        numbered = (expression.alias(str(i)) for i, expression in enumerate(chain(*map(dict.values, asked.values()))))
        n_rows, *answers = source.collect(frame.select(pl.len().alias("n_rows"), *numbered)).row(0)
        given = iter(answers)
        found |= {name: dict(zip(keys, given, strict=False)) for name, keys in asked.items()}
    return n_rows, found


def count_whole(number: pl.Expr) -> pl.Expr:
    """How many different numbers there are if all are whole, else 0."""
    return pl.when((number == number.round()).all()).then(number.drop_nulls().n_unique()).otherwise(0)


def first_row(which: pl.Expr) -> pl.Expr:
    """The first row of which something is true."""
    return pl.when(which).then(pl.col(ROW)).min()


def say_infinite(source: Source, name: str, row: int) -> str:
    """The message that a column has an infinite value, and where."""
    return (
        f"column {name!r} of {source.shown} has an infinite value on {source.place(row)}. "
        "Remove the row, or replace the value."
    )
