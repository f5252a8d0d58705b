"""Detection of columns that only identify a row or a group of rows.

A column is taken for an identifier of rows or of groups of rows if its values seem assigned rather than measured:

- Integers that hardly ever repeat, although this many measured values in such a small range would (the birthday
problem), and that are in the order of the rows or are the only such column; or that hardly ever repeat and have a name
such as "id". Names such as "year" indicate times, which are not identifiers.
- Text with a different value in more than half of the rows.
- Integers or labels called "id". Others, if there are many with few rows each, and each occurs in one run of
consecutive rows: those with a name such as "person", and integers if all runs are equally long, or if they are
unordered but without gaps, or if another column is constant within runs and recurs in later ones. An exception is a
designed experiment, in which every factor has equally many rows for each value.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..data.design import Design
from .constants import CHANCE_OF_REPEATS, FEWEST_VALUES, MOST_REPEATS

_WORD = r"(^|[^a-z])({})([^a-z]|$)"
_ID = re.compile(
    _WORD.format(r"(case|person|patient|subj|subject|user|cust|row)?id|ids|uid|pid|uuid|guid|ident|identifier")
)
_NUMBER = re.compile(
    _WORD.format(r"(case|person|patient|subj|subject|seq|obs)(no|nr|num)?|row(no|nr|num)|nr|rownames|serial|record")
    + "|(number|nummer)$|^(index|idx|key)$"
)
_TIME = re.compile(
    r"(^|[^a-z])(year|yr|time|date|day|month|week|hour|minute|second|quarter|qtr|t|decade|period|wave)s?([^a-z]|$)"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Identifiers:
    """Factors that number rows or groups of rows, with cached counts of their values."""

    def __init__(self, design: Design, codes: Mapping[int, NDArray[np.intp]]) -> None:
        self.design, self._codes = design, codes
        self._counts: dict[int, NDArray[np.intp]] = {}

    def what_is_numbered(self, factor: int) -> Literal["rows", "groups"] | None:
        """Return whether a factor may merely number rows or groups of rows; None if its values have a meaning."""
        if not (self._is_whole(factor) or self._is_category(factor)):
            return None
        counts = self.counts(factor)
        if counts.size < FEWEST_VALUES or self._is_named(_TIME, factor):
            return None
        if self._names_rows(factor):
            return "rows"
        return "groups" if self._names_groups(factor) else None

    def counts(self, factor: int) -> NDArray[np.intp]:
        """Return the number of occurrences of each value."""
        if factor not in self._counts:
            known = self._codes.get(factor)
            counts = np.unique(self._values(factor), return_counts=True)[1] if known is None else np.bincount(known)
            self._counts[factor] = counts
        return self._counts[factor]

    def _names_rows(self, factor: int) -> bool:
        n, n_values = self.design.n_rows, self.counts(factor).size
        if self._is_category(factor):
            return n_values > n / 2
        if n - n_values > MOST_REPEATS * n:
            return False
        if self._is_named(_ID, factor) or self._is_named(_NUMBER, factor):
            return True
        return self._never_repeats(factor) and (self._is_sorted(factor) or self._is_the_only_one(factor))

    def _never_repeats(self, factor: int) -> bool:
        """Return True if measured integers in this range would repeat more often."""
        from scipy.special import pdtr  # slow to import, and most tables have no such column

        n, span = self.design.n_rows, self.design.spans[factor] + 1
        repeats = n - self.counts(factor).size
        return repeats <= MOST_REPEATS * n and bool(pdtr(repeats, n * (n - 1) / (2 * span)) < CHANCE_OF_REPEATS)

    def _is_the_only_one(self, factor: int) -> bool:
        """Return True if every other column repeats: designs of computer experiments have many that do not."""
        others = (j for j in self.design.varying if j != factor and self._is_whole(j))
        return not any(self._never_repeats(j) for j in others)

    def _names_groups(self, factor: int) -> bool:
        counts = self.counts(factor)
        n, n_values, n_runs = self.design.n_rows, counts.size, 1 + int(self._changes(factor).sum())
        if n - n_values < FEWEST_VALUES or self._is_designed:
            return False
        if self._is_named(_ID, factor):
            return True
        if n_runs > n_values or n >= n_values**2:  # a value recurs; or few large groups
            return False
        if self._is_category(factor) or self._is_named(_NUMBER, factor):
            return self._is_named(_NUMBER, factor)
        dense = self.design.spans[factor] < 2 * n_values
        return bool(np.ptp(counts) == 0 or (dense and not self._is_sorted(factor)) or self._holds_others(factor))

    def _holds_others(self, factor: int) -> bool:
        """Return True if another column is constant within each run of this one, and recurs in later runs."""
        within = ~self._changes(factor)
        for j in self.design.varying:
            changes = self._changes(j)
            if j == factor or (changes & within).any():
                continue
            counts = self.counts(j)
            same_by_chance = float(np.sum((counts / self.design.n_rows) ** 2)) ** int(within.sum())
            if 1 + changes.sum() > counts.size and same_by_chance < CHANCE_OF_REPEATS:
                return True
        return False

    @cached_property
    def _is_designed(self) -> bool:
        """True if all values of each factor are equally frequent, and none occurs once."""
        counts = (self.counts(j) for j in self.design.varying)
        return all(count[0] > 1 and np.ptp(count) == 0 for count in counts)

    def _is_named(self, words: re.Pattern[str], factor: int) -> bool:
        return words.search(_CAMEL.sub(" ", self.design.names[factor]).lower()) is not None

    def _is_category(self, factor: int) -> bool:
        return bool(self.design.categorical[self.design.columns[factor][0]])

    def _values(self, factor: int) -> NDArray[np.float64]:
        """Return the first column of a factor, (rows,)."""
        return self.design.column(self.design.columns[factor][0])

    def _is_whole(self, factor: int) -> bool:
        return not np.isnan(self.design.spans[factor])

    def _is_sorted(self, factor: int) -> bool:
        steps = np.diff(self._values(factor))
        return bool((steps >= 0).all() or (steps <= 0).all())

    def _changes(self, factor: int) -> NDArray[np.bool_]:
        changes: NDArray[np.bool_] = np.diff(self._values(factor)) != 0
        return changes
