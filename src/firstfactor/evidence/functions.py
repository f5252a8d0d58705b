"""Functions of each factor that are tested for an effect on y, ordered from smooth to rough.

A numeric column has a line, then a parabola and cosines of its rank; together they follow a curve up to its ends
(Eubank and Speckman 1990). Outlying values are clipped before they form a line. A categorical column has contrasts of
its levels, the most frequent first. Missing values have an indicator. The functions of one column have mean 0 and mean
square 1 and are uncorrelated.

The plain form of a factor comes first: its lines, all of its levels, and the indicator of missing values. Products are
formed from ranks, which are bounded: the product of two lines would depend on few rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .._utils.cache import BoundedCache
from .._utils.threads import ONE_BLAS_THREAD, Workers
from ..data.design import Design
from ..data.encoding import is_missing
from ..data.stored_columns import RemoteColumns
from ..neighbors.strategy import Floats
from ..variance.constants import LEAST_NEW_FUNCTION, MOST_LEVELS
from .constants import FAR_OUT, MANY_FACTORS, MOST_FUNCTIONS, MOST_OF_FEW, MOST_OF_MANY, MULTIPLIED

Functions = NDArray[np.float32]
"""Function values, (functions, rows)."""

# Number of factors whose functions are kept if the table is not in memory: those of a base.
MOST_KEPT = 32

# Number of values in a block of functions that are processed together.
BLOCK = 2**21


@dataclass(frozen=True)
class _OfFactor:
    """Functions of one factor or column."""

    functions: Functions
    n_plain: int
    """Number of functions that form the plain form; they come first."""
    multiplied: Functions
    """Functions that are multiplied with those of others, at most `MULTIPLIED`."""


class FactorFunctions:
    """Functions of the varying factors of a design."""

    def __init__(self, design: Design, workers: Workers, are_few: bool | None = None) -> None:
        self.design, self.workers = design, workers
        self.are_few = design.n_factors <= MANY_FACTORS if are_few is None else are_few
        """True if the factors are few enough for methods that take longer for each."""
        self._most = MOST_OF_FEW if self.are_few else MOST_OF_MANY
        self._are_here = design.is_in_memory  # kept, because factors are looked up very often
        here = design.varying if self._are_here else ()
        made = workers.map(self._of_factor, here)
        self._of: dict[int, _OfFactor] = dict(zip(here, made, strict=True))
        self._recent: BoundedCache[_OfFactor] = BoundedCache(MOST_KEPT)

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return self.design.n_rows

    def ask_each_block(self, name: str, ask: Callable[..., Any], factors: Sequence[int], *shared: Any) -> list[Any]:
        """Apply a function to each block of factors where it is stored; see `RemoteColumns.each_block`."""
        make = functions_of_few if self.are_few else functions_of_many
        elsewhere = cast(RemoteColumns, self.design.elsewhere)  # called only for columns that are not in memory
        return elsewhere.each_block(name, make, ask, factors, *shared)

    def of(self, factor: int) -> Functions:
        """Return the functions of one factor, the plain ones first."""
        return self._find(factor).functions

    def n_plain(self, factor: int) -> int:
        """Return the number of functions in the plain form of a factor."""
        return self._find(factor).n_plain

    def plain(self, factor: int, most: int | None = None) -> Functions:
        """Return the plain functions of a factor, at most ``most``."""
        n_plain = self.n_plain(factor)
        return self.of(factor)[: n_plain if most is None else min(n_plain, most)]

    def multiplied(self, factor: int) -> Functions:
        """Return the functions of a factor that are multiplied with those of others."""
        return self._find(factor).multiplied

    def _find(self, factor: int) -> _OfFactor:
        if self._are_here:
            return self._of[factor]
        return self._recent.find((factor,), lambda: self._of_factor(factor))

    def blocks(self, factors: Sequence[int]) -> list[tuple[int, ...]]:
        """Cut the factors into blocks that fit into a cache, with equally many functions of each kind in a block.

        Each block is also within one block of the design, so that results are bit-for-bit identical wherever it is
        stored.
        """
        cut = []
        for block in self.design.in_blocks(factors):
            alike: dict[tuple[int, int], list[int]] = {}
            for i in block:
                alike.setdefault((len(self.of(i)), self.n_plain(i)), []).append(i)
            for (number, _), some in alike.items():
                size = max(BLOCK // (number * self.n_rows), 1)
                cut += [tuple(some[at : at + size]) for at in range(0, len(some), size)]
        return cut

    def _of_factor(self, factor: int) -> _OfFactor:
        columns = self.design.columns[factor]
        most = max(min(self._most, MOST_FUNCTIONS // len(columns)), 2)
        parts = [self._of_column(j, most) for j in columns]
        plain = [part.functions[: part.n_plain] for part in parts]
        rough = [part.functions[part.n_plain :] for part in parts]
        multiplied = np.concatenate([part.multiplied for part in parts])[:MULTIPLIED]
        return _OfFactor(np.concatenate(plain + rough), sum(map(len, plain)), multiplied)

    def _of_column(self, j: int, most: int) -> _OfFactor:
        values = self.design.column(j)
        if self.design.categorical[j]:
            levels = level_functions(values, MOST_LEVELS)
            return _OfFactor(levels, len(levels), levels[:MULTIPLIED])
        missing = is_missing(values)
        if not missing.any():
            return self._of_numbers(values, most)
        known = self._of_numbers(values[~missing], most)
        gaps = level_functions(missing.astype(float), 2)
        functions, multiplied = (
            np.concatenate([gaps, _spread(each, ~missing)]) for each in (known.functions, known.multiplied)
        )
        return _OfFactor(functions, len(gaps) + known.n_plain, multiplied[:MULTIPLIED])

    def _of_numbers(self, values: Floats, most: int) -> _OfFactor:
        order = np.argsort(values)  # of equal values, the order does not matter
        ascending = values[order]
        if (ascending[1:] == ascending[:-1]).any() or values.size < self.n_rows:
            of_rank = smooth_functions(values, most)
        else:
            of_rank = np.empty((len(self._of_distinct[:most]), values.size), np.float32)
            of_rank[:, order] = self._of_distinct[:most]  # the same for all columns without ties
        if len(of_rank) == 0:
            return _OfFactor(of_rank, 0, of_rank)
        line = _line(values, *ascending[[values.size // 4, -1 - values.size // 4]])
        functions = of_rank if line is None else np.concatenate([line, _beside(line, of_rank[1:])])
        return _OfFactor(functions, 1, of_rank[:MULTIPLIED])

    @cached_property
    def _of_distinct(self) -> Functions:
        """Functions at the ranks of distinct values, (functions, rows)."""
        return smooth_functions(np.arange(self.design.n_rows, dtype=float), self._most)


def functions_of_few(design: Design) -> FactorFunctions:
    """Return the functions of some factors of a table with few factors."""
    with ONE_BLAS_THREAD:
        return FactorFunctions(design, Workers(1), are_few=True)


def functions_of_many(design: Design) -> FactorFunctions:
    """Return the functions of some factors of a table with many factors."""
    with ONE_BLAS_THREAD:
        return FactorFunctions(design, Workers(1), are_few=False)


def _line(values: Floats, low: float, high: float) -> Functions | None:
    """Return the values, clipped beyond the quartiles, with mean 0 and mean square 1: (1, rows).

    Return None if the quartiles are equal.
    """
    far = FAR_OUT * (high - low)
    line = np.clip(values, low - far, high + far) - np.mean(values)
    line -= line.mean()
    size = np.sqrt(np.mean(line**2))
    return None if high <= low or size == 0 else np.asarray(line / size, np.float32)[None]


def _beside(line: Functions, functions: Functions) -> Functions:
    """Return uncorrelated functions adjusted for a line, still uncorrelated."""
    n_rows = line.shape[1]
    common = (functions @ line[0] / n_rows).astype(np.float64)
    left = functions - common.astype(np.float32)[:, None] * line
    size = common @ common
    if size < LEAST_NEW_FUNCTION:
        return np.asarray(left, np.float32)
    # Their covariance matrix is 1 − common commonᵀ, whose inverse root is 1 + stretch common commonᵀ.
    stretch = (1 / np.sqrt(max(1 - size, LEAST_NEW_FUNCTION)) - 1) / size
    beside: Functions = left + np.asarray(np.outer(stretch * common, common @ left), np.float32)
    return beside


def _spread(functions: Functions, known: NDArray[np.bool_]) -> Functions:
    """Extend functions of known values to all rows, with 0 for missing values and mean square 1."""
    spread = np.zeros((len(functions), known.size), np.float32)
    spread[:, known] = functions * np.sqrt(known.size / max(functions.shape[1], 1))
    return spread


def smooth_functions(values: Floats, most: int) -> Functions:
    """Return a line, a parabola and cosines of the ranks of values, at most ``most``: (functions, rows)."""
    distinct, number, times = np.unique(values, return_inverse=True, return_counts=True)
    if distinct.size < 2:
        return np.zeros((0, values.size), np.float32)
    rank = (np.cumsum(times) - times / 2) / values.size
    cosines = [np.cos(np.pi * k * rank) for k in range(1, most - 1)]
    raw = np.stack([rank, rank**2, *cosines])[: min(most, distinct.size - 1)]
    share = times / values.size
    raw -= (raw @ share)[:, None]
    orthogonal, triangle = np.linalg.qr((raw * np.sqrt(share)).T)
    new = np.abs(np.diag(triangle)) > LEAST_NEW_FUNCTION * abs(triangle[0, 0])
    at_distinct = orthogonal.T[new] / np.sqrt(share)
    return np.asarray(at_distinct[:, number], np.float32)


def level_functions(levels: Floats, most: int) -> Functions:
    """Return contrasts of each level with all rarer ones, the most frequent level first: (levels − 1, rows).

    Each is 0 at more frequent levels, so the contrasts are uncorrelated.
    """
    _, code, times = np.unique(levels, return_inverse=True, return_counts=True)
    order = np.argsort(-times, kind="stable")
    n_functions = min(times.size, most) - 1
    left = code.size - np.cumsum(times[order]) + times[order]  # rows at this level and at rarer ones
    functions = np.zeros((n_functions, code.size), np.float32)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    place_of_row = place[code]
    for k in range(n_functions):
        share = times[order[k]] / left[k]
        size = np.sqrt(code.size / (left[k] * share * (1 - share)))
        functions[k] = np.where(place_of_row == k, (1 - share) * size, np.where(place_of_row > k, -share * size, 0.0))
    return functions
