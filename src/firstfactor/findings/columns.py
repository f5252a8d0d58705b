"""Columns of a table in their own units, with a sample of rows on which relations are looked for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.columns import Column, Labels, exact_floats, level_codes, read_column
from ..data.response import mid_ranks, read_target
from ..data.table import open_table
from .constants import SCREENED, TRENDING

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]

TIME = re.compile(
    r"(^|[^a-z])(year|yr|time|date|day|month|mth|week|weekday|hour|hr|hrs|minute|min|second|sec|quarter|qtr|t|trend|mnth|mon|season|decade|period|wave)s?"
    r"([^a-z]|$)"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def fold(name: str) -> str:
    """Return a name in small letters, with its words apart."""
    return _CAMEL.sub(" ", name).lower()


@dataclass(frozen=True, eq=False)
class SensedColumn:
    """One column: numbers in their own units, or codes of levels, NaN where missing."""

    name: str
    values: Floats
    """Numbers or codes, (rows,)."""
    is_category: bool
    is_text: bool = False
    """True for labels; False for numbers, booleans and dates."""

    @cached_property
    def known(self) -> Masks:
        """Mask of the rows with a value."""
        return ~np.isnan(self.values)

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """Code of each row's value in increasing order, (rows,); missing values are the last level."""
        codes: NDArray[np.intp] = np.unique(self.values, return_inverse=True)[1]
        return codes

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """Rows in increasing order of their values, missing ones last."""
        return np.argsort(self.values, kind="stable")

    @cached_property
    def n_levels(self) -> int:
        """Number of distinct values, missing ones included."""
        return int(self.codes.max()) + 1

    @cached_property
    def is_number(self) -> bool:
        """True for a quantity: numbers, of which there are more than two."""
        return not self.is_category and self.n_levels - (not self.known.all()) > 2

    @cached_property
    def is_indicator(self) -> bool:
        """True if all values are 0 or 1, and both occur."""
        known = self.values[self.known]
        return bool(known.size and ((known == 0) | (known == 1)).all() and np.ptp(known)) and not self.is_text

    @cached_property
    def is_whole(self) -> bool:
        """True for whole numbers."""
        known = self.values[self.known]
        return not self.is_category and bool((known == np.floor(known)).all())

    @property
    def has_levels(self) -> bool:
        """True if values may stand for categories: labels and whole numbers."""
        return self.is_category or self.is_whole

    @cached_property
    def is_trending(self) -> bool:
        """True if consecutive rows are nearly the same, as in a series in time or a sorted table."""
        known = self.values[self.known][:2_000]
        if known.size < 8 or not np.ptp(known):
            return False
        ranks = mid_ranks(known)
        return bool(np.corrcoef(ranks[1:], ranks[:-1])[0, 1] > TRENDING) if np.ptp(ranks[1:]) else True

    @cached_property
    def is_time(self) -> bool:
        """True if the name is that of a time."""
        return TIME.search(fold(self.name)) is not None

    def on_rows(self, rows: NDArray[np.intp]) -> "SensedColumn":
        """Return some rows."""
        return SensedColumn(self.name, self.values[rows], self.is_category, self.is_text)


@dataclass(frozen=True, eq=False)
class SensedTable:
    """Factors and one response."""

    factors: Sequence[SensedColumn]
    target: SensedColumn
    """The response; classes are codes."""
    has_classes: bool
    groups: NDArray[np.intp] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.target.values)

    @property
    def columns(self) -> list[SensedColumn]:
        """The factors, and the response as the last."""
        return [*self.factors, self.target]

    @cached_property
    def sample(self) -> "SensedTable":
        """Some rows in their order, drawn at random; itself if there are few."""
        if self.n_rows <= SCREENED:
            return self
        rows = np.sort(np.random.default_rng(0).choice(self.n_rows, SCREENED, replace=False))
        few = [column.on_rows(rows) for column in self.factors]
        return SensedTable(few, self.target.on_rows(rows), self.has_classes)


def read_tables(X: Any, y: Any, task: str = "auto", categorical: Sequence[str] = ()) -> list[SensedTable]:
    """Read the factors once, and return them with each output of the response; rows need a response."""
    names, columns, n_rows = open_table(X)
    each = columns.T if isinstance(columns, np.ndarray) else columns
    factors = [_sense(name, read_column(one, name), name in categorical) for name, one in zip(names, each, strict=True)]
    outputs = read_target(y, n_rows)
    tables = []
    for name, column in zip(outputs.names, outputs.columns, strict=True):
        target = _sense(name, column, task == "classification")
        known = target.values[target.known]
        has_classes = target.is_category or (
            task == "auto" and bool(((known == known.min()) | (known == known.max())).all())
        )
        if not target.known.all():
            rows = np.flatnonzero(target.known)
            tables.append(SensedTable([one.on_rows(rows) for one in factors], target.on_rows(rows), has_classes))
        else:
            tables.append(SensedTable(factors, target, has_classes))
    return tables


def _sense(name: str, column: Column, forced: bool) -> SensedColumn:
    values = column.values
    if isinstance(values, Labels) and not values.ordered:
        return SensedColumn(name, column.spread(values.codes), True, True)
    if forced:
        return SensedColumn(name, column.spread(level_codes(values)[0]), True, isinstance(values, Labels))
    if isinstance(values, np.ndarray) and values.dtype == bool:
        return SensedColumn(name, column.spread(values), True)
    return SensedColumn(name, column.spread(exact_floats(values)), False)
