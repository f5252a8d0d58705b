"""Detection of rows that occur several times.

Rows that are equal in all factors and in the response are copies if hardly any rows are equal in all columns but one,
as would be common if columns had few values; or if the numbers of times that rows occur have a common divisor: the
whole table was repeated.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..data.design import Design
from .constants import FEWEST_COPIES, FEWEST_MULTIPLES, LEAST_COPIES, MOST_NEARLY_EQUAL

# Number of columns compared before deciding whether to go on.
AT_A_TIME = 16


def count_copies(design: Design, y: NDArray[np.float64]) -> int:
    """Return the number of rows that are copies of others; 0 if they are few, or equal by chance."""
    rows = _Rows(design, y)
    first, counts = rows.distinct()
    n, copies = design.n_rows, design.n_rows - first.size
    if copies < max(LEAST_COPIES * n, FEWEST_COPIES):
        return 0
    is_multiple = first.size >= FEWEST_MULTIPLES and int(np.gcd.reduce(counts)) > 1
    return copies if is_multiple or rows.are_copied(first, counts) else 0


def number_kinds(design: Design) -> NDArray[np.intp]:
    """Return an integer code for each row, the same for rows that are equal in all factors."""
    rows, columns = np.arange(design.n_rows), design.columns_of(design.varying)
    hashes = design.stored.sum(partial(_mix_rows, rows), columns) if columns else np.zeros(design.n_rows)
    return np.unique(hashes, return_inverse=True)[1]


class _Rows:
    """Rows to compare: the varying factors and the response."""

    def __init__(self, design: Design, y: NDArray[np.float64]) -> None:
        self.design, self.y = design, y
        self._columns = design.columns_of(design.varying)

    def distinct(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return one row of each kind and its number of occurrences; rows with a unique response are not compared."""
        _, which, often = np.unique(self.y[:, 0], return_inverse=True, return_counts=True)
        alone = often[which] == 1
        rows = np.flatnonzero(~alone)
        _, first, counts = np.unique(self._hash(rows), return_index=True, return_counts=True)
        return (
            np.concatenate([np.flatnonzero(alone), rows[first]]),
            np.concatenate([np.ones(int(alone.sum()), dtype=np.intp), counts]),
        )

    def are_copied(self, rows: NDArray[np.intp], counts: NDArray[np.intp]) -> bool:
        """Return True if few pairs of rows agree in all columns but any one, compared with those that agree in all.

        Where columns have few values, rows agree by chance, but then others nearly agree. The check is not informative
        if all factors have few values.
        """
        if 2 * max(self.design.stored.map(partial(_count_values, rows), self._columns)) < rows.size:
            return False
        most, hashes = (1 + MOST_NEARLY_EQUAL) * _pairs(counts), self._hash(rows)
        if _pairs(_sums(hashes - self._mix_response(rows), counts)) >= most:
            return False
        count = partial(_count_nearly_equal, rows, hashes, counts)
        starts = range(0, len(self._columns), AT_A_TIME)
        return all(max(self.design.stored.map(count, self._columns[a : a + AT_A_TIME])) < most for a in starts)

    def _hash(self, rows: NDArray[np.intp]) -> NDArray[np.uint64]:
        """Return a hash of each row, shared only by equal rows: the sum of one for each column."""
        hashes = self._mix_response(rows)
        return hashes + self.design.stored.sum(partial(_mix_rows, rows), self._columns) if rows.size else hashes

    def _mix_response(self, rows: NDArray[np.intp]) -> NDArray[np.uint64]:
        """Return a pseudo-random hash of each value of the response."""
        return sum((_mix(self.y[rows, k], -1 - k) for k in range(1, self.y.shape[1])), _mix(self.y[rows, 0], -1))


def _mix_rows(rows: NDArray[np.intp], values: NDArray[np.float64], column: int) -> NDArray[np.uint64]:
    """Return a hash of the values of a column in some rows."""
    return _mix(values[rows], column)


def _count_values(rows: NDArray[np.intp], values: NDArray[np.float64], _: int) -> int:
    """Return the number of distinct values of a column in some rows."""
    return np.unique(values[rows]).size


def _count_nearly_equal(
    rows: NDArray[np.intp],
    hashes: NDArray[np.uint64],
    counts: NDArray[np.intp],
    values: NDArray[np.float64],
    column: int,
) -> float:
    """Return the number of pairs of rows, repeated ``counts`` times, that agree in all columns but one at least."""
    return _pairs(_sums(hashes - _mix_rows(rows, values, column), counts))


def _mix(values: NDArray[np.float64], column: int) -> NDArray[np.uint64]:
    """Return a pseudo-random hash of each value, different for the same value in another column."""
    bits: NDArray[np.uint64] = (values + 0.0).view(np.uint64)  # -0 and 0 are equal
    bits += np.uint64((1 + column) * int(_START) % 2**64)
    for odd in _ODD:
        bits ^= bits >> np.uint64(32)  # the last bits of round numbers are all equal
        bits *= odd
    return bits


# Large odd numbers with irregular bits.
_START, *_ODD = 2 * np.random.default_rng(0).integers(2**62, size=4, dtype=np.uint64) + 1


def _sums(keys: NDArray[np.uint64], counts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the sum of the counts of each key."""
    return np.bincount(np.unique(keys, return_inverse=True)[1], counts).astype(np.intp)


def _pairs(counts: NDArray[np.intp]) -> float:
    """Return the number of pairs within groups of these sizes."""
    return float(np.sum(counts * (counts - 1.0))) / 2
