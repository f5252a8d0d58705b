"""What in a table makes results misleading: columns that only say which row it is, and rows that occur several times.

A column is taken for an identifier of rows or of groups of rows if its values look assigned instead of measured:

- Whole numbers that hardly ever repeat, though so many values in so small a range would have to if they were measured
  (the birthday problem), in the order of the rows or as the only such column; or that hardly ever repeat and have a
  name such as "id". Names such as "year" say that the numbers are times, which are no identifiers.
- Text with a different value in more than half of the rows.
- Whole numbers or labels called "id". Others, if there are many with few rows each, and each stands for one run of
  consecutive rows: those with a name such as "person", and whole numbers if all runs are equally long, or in no order
  though without gaps, or if another column stays the same within runs and comes back in later ones. Not if all factors
  have equally many rows for each value: that is a designed experiment.

Rows that are equal in all factors and in the response are copies if hardly any rows are equal in all columns but one,
as they are where columns have few values; or if the numbers of times that rows occur have a common divisor: the whole
table was repeated.

Rows that were left out are counted here too, and a response of a few whole numbers, which may be classes. Whether
rows follow each other is found out where fits are (`inference.row_order`); what is said about it stands here.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .._utils.warn import warn_user
from .design import Design
from .observations import Dropped
from .response import Response

# Fewer values than this are no identifiers but levels.
FEWEST_VALUES = 20

# Values that are measured repeat; so seldom as they do, that happens by chance with less than this probability.
CHANCE = 0.001

# Whole numbers are nearly unique if at most this share of the rows repeats a value of another.
MOST_REPEATS = 0.1

# Copies of rows that are a smaller share of all rows change little, and a few may be chance.
LEAST_COPIES, FEWEST_COPIES = 0.05, 5

# Of pairs of rows that agree in all columns or in all but one, copies are all but this share.
MOST_NEARLY_EQUAL = 0.1

# So many columns that cost rows are named.
MOST_NAMED = 5

# A table in which so many different rows occur twice, or four times, or six times was put together from itself.
FEWEST_MULTIPLES = 10

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

MEANINGFUL = "its values mean something"
LONG_ENOUGH = "so long that one shares little with the next"

Kind = Literal["identifier", "groups", "copies", "rows", "classes", "order"]


class DataQualityWarning(UserWarning):
    """The table has something that makes results misleading.

    Identifiers, copies of rows, rows that were left out or that follow each other.
    """


@dataclass(frozen=True)
class Finding:
    """Something in the table that makes results misleading."""

    kind: Kind
    count: int
    """Different values of the identifier or of the response, or rows."""
    sentence: str
    column: str | None = None
    """The identifier."""

    @property
    def advice(self) -> str:
        """The sentence, and what to do about it in Python."""
        ways_out = {
            "identifier": f"Drop the column unless {MEANINGFUL}.",
            "groups": f"Drop the column, or use it as groups=, unless {MEANINGFUL}.",
            "copies": "Drop the duplicates first.",
            "order": f"Use blocks of rows, such as one for each month, {LONG_ENOUGH}, as groups=.",
            "classes": 'Use task="classification" if they are classes.',
        }
        return " ".join(filter(None, [self.sentence, ways_out.get(self.kind)]))

    @property
    def command_advice(self) -> str:
        """The sentence, and what to do about it in the command."""
        column = shlex.quote(self.column or "")
        ways_out = {
            "identifier": f"Use --drop {column} unless {MEANINGFUL}.",
            "groups": f"Use --groups {column} to keep such rows from being each other's neighbours, or --drop {column} "
            f"unless {MEANINGFUL}.",
            "copies": "Use --unique to keep each row once.",
            "order": f"Use --groups with a column that numbers blocks of rows, such as months, {LONG_ENOUGH}.",
            "classes": "Use --task classification if they are classes.",
        }
        return " ".join(filter(None, [self.sentence, ways_out.get(self.kind)]))


def examine(
    design: Design,
    response: Response,
    dropped: Dropped,
    codes: Mapping[int, NDArray[np.intp]],
    factors: Sequence[int],
    grouped: bool = False,
) -> tuple[Finding, ...]:
    """What makes results on some factors misleading; the others do no harm.

    ``codes`` has the level of each row, for the factors whose levels are known already. If rows are ``grouped``, no
    other column needs to tell their groups.
    """
    found: list[Finding | None] = [*_count_dropped(dropped), _look_at_response(response)]
    if design.varying:
        table = _Table(design, response.values, codes)
        # A factor that is alone in its table takes no place from others.
        columns = [j for j in factors if design.single[j]] if len(design.varying) > 1 else []
        found += [*(table.look_at_column(j) for j in columns), table.look_at_rows()]
    return tuple(one for one in found if one is not None and not (grouped and one.kind == "groups"))


def _count_dropped(dropped: Dropped) -> list[Finding]:
    """How many rows were left out, for each reason."""
    worst = ", ".join(f"{name!r} {count:,}" for name, count in dropped.most_missing[:MOST_NAMED])
    more = len(dropped.most_missing) - MOST_NAMED
    costs = f" ({worst}{f' and {more:,} more columns' if more > 0 else ''})" if worst else ""
    reasons = {
        "without a response": dropped.no_response,
        "with a weight of 0": dropped.no_weight,
        f"with missing values{costs}": dropped.incomplete,
    }
    return [
        Finding(
            "rows", count, f"{count:,} row{'s' if count > 1 else ''} {why} {'were' if count > 1 else 'was'} left out."
        )
        for why, count in reasons.items()
        if count
    ]


def _look_at_response(response: Response) -> Finding | None:
    """Whether the response has so few whole values that they may be classes."""
    if not response.n_values:
        return None
    name, count = response.names[0], response.n_values
    return Finding("classes", count, f"{name!r} has {count} different whole numbers and is taken for a quantity.")


def rows_follow(n_rows: int, correlation: float) -> Finding:
    """That consecutive rows are correlated beyond what the factors explain."""
    sentence = (
        f"Rows that follow each other in the table are alike beyond what the factors explain (correlation "
        f"{correlation:.2f}), as in a series in time. They are no independent rows: what they share can look like an "
        "effect, and the figures look surer than they are."
    )
    return Finding("order", n_rows, sentence)


def warn_of_findings(findings: Sequence[Finding]) -> None:
    """Warn of what was found, if anything."""
    if findings:
        warn_user(" ".join(one.advice for one in findings), DataQualityWarning)


class _Table:
    """The factors and the response, with what is found out about columns on the way."""

    def __init__(self, design: Design, y: NDArray[np.float64], codes: Mapping[int, NDArray[np.intp]]) -> None:
        self.design, self.y = design, y
        self._codes = dict(codes)
        self._columns = design.columns_of(design.varying)

    # --- columns ---------------------------------------------------------------------------------------

    def look_at_column(self, factor: int) -> Finding | None:
        """What is wrong with a factor, if anything."""
        name = self.design.names[factor]
        if not (self._is_whole(factor) or self._is_category(factor)):
            return None
        n, counts = self.design.n_rows, self._counts(factor)
        if counts.size < FEWEST_VALUES or self._is_named(_TIME, factor):
            return None
        if self._names_rows(factor):
            rows = "every row" if counts.size == n else f"nearly every row ({counts.size:,} values in {n:,} rows)"
            sentence = f"{name!r} has a different value in {rows}: it may just number the rows."
            return Finding("identifier", counts.size, sentence, name)
        if self._names_groups(factor):
            size = f"{counts[0]:,} rows each" if np.ptp(counts) == 0 else f"{n / counts.size:.1f} rows each on average"
            sentence = f"{name!r} may just number groups of rows: it has {counts.size:,} values with {size}."
            return Finding("groups", counts.size, sentence, name)
        return None

    def _names_rows(self, factor: int) -> bool:
        n, n_values = self.design.n_rows, self._counts(factor).size
        if self._is_category(factor):
            return n_values > n / 2
        if n - n_values > MOST_REPEATS * n:
            return False
        if self._is_named(_ID, factor) or self._is_named(_NUMBER, factor):
            return True
        return self._never_repeats(factor) and (self._is_sorted(factor) or self._is_the_only_one(factor))

    def _never_repeats(self, factor: int) -> bool:
        """Tell whether whole numbers in this range would repeat more often if they were measured."""
        from scipy.special import pdtr  # takes long to import, and most tables have no such column

        n, span = self.design.n_rows, self.design.spans[factor] + 1
        repeats = n - self._counts(factor).size
        return repeats <= MOST_REPEATS * n and bool(pdtr(repeats, n * (n - 1) / (2 * span)) < CHANCE)

    def _is_the_only_one(self, factor: int) -> bool:
        """Tell whether no other column never repeats: a design for computer experiments has many of them."""
        others = (j for j in self.design.varying if j != factor and self._is_whole(j))
        return not any(self._never_repeats(j) for j in others)

    def _names_groups(self, factor: int) -> bool:
        counts = self._counts(factor)
        n, n_values, n_runs = self.design.n_rows, counts.size, 1 + int(self._changes(factor).sum())
        if n - n_values < FEWEST_VALUES or self._is_designed:
            return False
        if self._is_named(_ID, factor):
            return True
        if n_runs > n_values or n >= n_values**2:  # a value comes back; few large groups
            return False
        if self._is_category(factor) or self._is_named(_NUMBER, factor):
            return self._is_named(_NUMBER, factor)
        dense = self.design.spans[factor] < 2 * n_values
        return bool(np.ptp(counts) == 0 or (dense and not self._is_sorted(factor)) or self._holds_others(factor))

    def _holds_others(self, factor: int) -> bool:
        """Tell whether another column stays the same in each run of this one, and comes back in later runs."""
        within = ~self._changes(factor)
        for j in self.design.varying:
            changes = self._changes(j)
            if j == factor or (changes & within).any():
                continue
            counts = self._counts(j)
            same_by_chance = float(np.sum((counts / self.design.n_rows) ** 2)) ** int(within.sum())
            if 1 + changes.sum() > counts.size and same_by_chance < CHANCE:
                return True
        return False

    @cached_property
    def _is_designed(self) -> bool:
        """Whether all values of each factor are equally frequent, and none occurs once."""
        counts = (self._counts(j) for j in self.design.varying)
        return all(count[0] > 1 and np.ptp(count) == 0 for count in counts)

    def _is_named(self, words: re.Pattern[str], factor: int) -> bool:
        return words.search(_CAMEL.sub(" ", self.design.names[factor]).lower()) is not None

    def _is_category(self, factor: int) -> bool:
        return bool(self.design.categorical[self.design.columns[factor][0]])

    def _values(self, factor: int) -> NDArray[np.float64]:
        """The first column of a factor, (rows,)."""
        return self.design.values[:, self.design.columns[factor][0]]

    def _is_whole(self, factor: int) -> bool:
        return not np.isnan(self.design.spans[factor])

    def _is_sorted(self, factor: int) -> bool:
        steps = np.diff(self._values(factor))
        return bool((steps >= 0).all() or (steps <= 0).all())

    def _changes(self, factor: int) -> NDArray[np.bool_]:
        changes: NDArray[np.bool_] = np.diff(self._values(factor)) != 0
        return changes

    def _counts(self, factor: int) -> NDArray[np.intp]:
        """How often each value occurs."""
        if factor not in self._codes:
            self._codes[factor] = np.unique(self._values(factor), return_inverse=True)[1]
        return np.bincount(self._codes[factor])

    # --- rows ------------------------------------------------------------------------------------------

    def look_at_rows(self) -> Finding | None:
        """How many rows are copies of others, if too many are."""
        first, counts = self._distinct_rows()
        n, copies = self.design.n_rows, self.design.n_rows - first.size
        if copies < max(LEAST_COPIES * n, FEWEST_COPIES):
            return None
        is_multiple = first.size >= FEWEST_MULTIPLES and int(np.gcd.reduce(counts)) > 1
        if not is_multiple and not self._are_copied(first, counts):
            return None
        sentence = (
            f"{copies:,} of {n:,} rows are copies of others, the response included. Copies make the noise look smaller "
            "than it is."
        )
        return Finding("copies", copies, sentence)

    def _distinct_rows(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """One row of each kind, and how often it occurs; rows whose response is alone need no closer look."""
        _, which, often = np.unique(self.y[:, 0], return_inverse=True, return_counts=True)
        alone = often[which] == 1
        rows = np.flatnonzero(~alone)
        _, first, counts = np.unique(self._hash(rows), return_index=True, return_counts=True)
        return (
            np.concatenate([np.flatnonzero(alone), rows[first]]),
            np.concatenate([np.ones(int(alone.sum()), dtype=np.intp), counts]),
        )

    def _are_copied(self, rows: NDArray[np.intp], counts: NDArray[np.intp]) -> bool:
        """Tell whether hardly any pairs of rows agree in all columns but one, whichever that is, next to those in all.

        Where columns have few values, rows agree by chance, but not without others that nearly do. It tells nothing if
        all factors have few values.
        """
        most_values = max(np.unique(self.design.values[rows, j]).size for j in self._columns)
        if 2 * most_values < rows.size:
            return False
        pairs, hashes = _pairs(counts), self._hash(rows)
        columns = (-1, *self._columns)
        return all(
            _pairs(_sums(hashes - self._mix(j, rows), counts)) < (1 + MOST_NEARLY_EQUAL) * pairs for j in columns
        )

    def _hash(self, rows: NDArray[np.intp]) -> NDArray[np.uint64]:
        """A number for each row that is the same for equal rows only: the sum of one for each column."""
        hashes = self._mix(-1, rows)
        for j in self._columns:
            hashes += self._mix(j, rows)
        return hashes

    def _mix(self, column: int, rows: NDArray[np.intp]) -> NDArray[np.uint64]:
        """A number for each value of a column, or of the response if -1; it looks drawn at random."""
        if column >= 0:
            return _mix(self.design.values[rows, column], column)
        return sum((_mix(self.y[rows, k], -1 - k) for k in range(1, self.y.shape[1])), _mix(self.y[rows, 0], -1))


def _mix(values: NDArray[np.float64], column: int) -> NDArray[np.uint64]:
    """A number for each value that looks drawn at random, another one for the same value of another column."""
    bits: NDArray[np.uint64] = (values + 0.0).view(np.uint64)  # -0 and 0 are equal
    bits += np.uint64((1 + column) * int(_START) % 2**64)
    for odd in _ODD:
        bits ^= bits >> np.uint64(32)  # the last bits of round numbers are all alike
        bits *= odd
    return bits


# Large odd numbers with bits in no order.
_START, *_ODD = 2 * np.random.default_rng(0).integers(2**62, size=4, dtype=np.uint64) + 1


def _sums(keys: NDArray[np.uint64], counts: NDArray[np.intp]) -> NDArray[np.intp]:
    """The sum of the counts of each key."""
    return np.bincount(np.unique(keys, return_inverse=True)[1], counts).astype(np.intp)


def _pairs(counts: NDArray[np.intp]) -> float:
    """How many pairs there are in groups of these sizes."""
    return float(np.sum(counts * (counts - 1.0))) / 2
