"""What a factor may do to y: a few functions of it, from smooth to rough.

A number has a line, a parabola and cosines of its rank; together they follow a curve up to its ends (Eubank and
Speckman 1990). A category has contrasts of its levels, the most frequent first. A missing value has a function of its
own. The functions of one column have mean 0 and mean square 1, and are uncorrelated.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .._utils.cache import BoundedCache
from .._utils.threads import Workers, one_blas_thread
from ..data.design import Design
from ..data.scaling import FAR
from ..data.stored_columns import ColumnsElsewhere
from ..neighbors.strategy import Floats

Functions = NDArray[np.float32]
"""(functions, rows)."""

# Functions of a number, in a table with few factors and with many.
MOST_OF_FEW, MOST_OF_MANY = 10, 6
MANY_FACTORS = 100

# Levels beyond this many, the rarest, are taken together.
MOST_LEVELS = 100

# Factors whose functions are kept where the table is not in memory: those of a base.
MOST_KEPT = 32

# Functions of a factor of several columns, roughly.
MOST_FUNCTIONS = 24

# Values in a block of functions that are worked on together.
BLOCK = 2**21

# A function of which less than this share is left beside smoother ones says nothing of its own.
SMALLEST_SHARE = 1e-6


class FactorFunctions:
    """The functions of the varying factors of a design."""

    def __init__(self, design: Design, workers: Workers, are_few: bool | None = None) -> None:
        self.design = design
        self.are_few = design.n_factors <= MANY_FACTORS if are_few is None else are_few
        """Whether the factors are so few that what takes longer for each is worth it."""
        self._most = MOST_OF_FEW if self.are_few else MOST_OF_MANY
        here = design.varying if design.is_in_memory else ()
        made = workers.map(self._of_factor, here)
        self._of: dict[int, Functions] = dict(zip(here, made, strict=True))
        self._recent: BoundedCache[Functions] = BoundedCache(MOST_KEPT)

    @property
    def n_rows(self) -> int:
        """How many rows the table has."""
        return self.design.n_rows

    def ask_each_block(self, name: str, ask: Callable[..., Any], factors: Sequence[int], *shared: Any) -> list[Any]:
        """What is asked of functions of each block of factors, where they are: see `ColumnsElsewhere.each_block`."""
        make = functions_of_few if self.are_few else functions_of_many
        elsewhere = cast(ColumnsElsewhere, self.design.elsewhere)  # it is asked of no others
        return elsewhere.each_block(name, make, ask, factors, *shared)

    def of(self, factor: int) -> Functions:
        """The functions of one factor."""
        if self.design.is_in_memory:
            return self._of[factor]
        return self._recent.find((factor,), lambda: self._of_factor(factor))

    def blocks(self, factors: Sequence[int]) -> list[tuple[int, ...]]:
        """The factors cut into blocks that fit into a cache; those of a block have equally many functions.

        They are also of one block of the design: what is found of them has the same bits wherever that is.
        """
        cut = []
        for block in self.design.in_blocks(factors):
            by_number: dict[int, list[int]] = {}
            for i in block:
                by_number.setdefault(len(self.of(i)), []).append(i)
            for number, some in by_number.items():
                size = max(BLOCK // (number * self.n_rows), 1)
                cut += [tuple(some[at : at + size]) for at in range(0, len(some), size)]
        return cut

    def _of_factor(self, factor: int) -> Functions:
        columns = self.design.columns[factor]
        most = max(min(self._most, MOST_FUNCTIONS // len(columns)), 2)
        return np.concatenate([self._of_column(j, most) for j in columns])

    def _of_column(self, j: int, most: int) -> Functions:
        values = self.design.column(j)
        if self.design.categorical[j]:
            return level_functions(values, MOST_LEVELS)
        missing = values > FAR / 2
        if not missing.any():
            return self._of_numbers(values, most)
        known = smooth_functions(values[~missing], most)
        functions = np.zeros((len(known), values.size), np.float32)
        functions[:, ~missing] = known * np.sqrt(values.size / max(known.shape[1], 1))
        return np.concatenate([level_functions(missing.astype(float), 2), functions])

    def _of_numbers(self, values: Floats, most: int) -> Functions:
        order = np.argsort(values, kind="stable")
        ascending = values[order]
        if (ascending[1:] == ascending[:-1]).any():
            return smooth_functions(values, most)
        of_distinct = self._of_distinct[:most]  # the same for all columns without ties
        functions = np.empty(of_distinct.shape, np.float32)
        functions[:, order] = of_distinct
        return functions

    @cached_property
    def _of_distinct(self) -> Functions:
        """The functions at ranks of distinct values, (functions, rows)."""
        return smooth_functions(np.arange(self.design.n_rows, dtype=float), self._most)


def functions_of_few(design: Design) -> FactorFunctions:
    """The functions of some factors of a table that has few."""
    with one_blas_thread():
        return FactorFunctions(design, Workers(1), are_few=True)


def functions_of_many(design: Design) -> FactorFunctions:
    """The functions of some factors of a table that has many."""
    with one_blas_thread():
        return FactorFunctions(design, Workers(1), are_few=False)


def smooth_functions(values: Floats, most: int) -> Functions:
    """A line, a parabola and cosines of the ranks of some values, at most so many: (functions, rows)."""
    distinct, number, times = np.unique(values, return_inverse=True, return_counts=True)
    if distinct.size < 2:
        return np.zeros((0, values.size), np.float32)
    rank = (np.cumsum(times) - times / 2) / values.size
    cosines = [np.cos(np.pi * k * rank) for k in range(1, most - 1)]
    raw = np.stack([rank, rank**2, *cosines])[: min(most, distinct.size - 1)]
    share = times / values.size
    raw -= (raw @ share)[:, None]
    orthogonal, triangle = np.linalg.qr((raw * np.sqrt(share)).T)
    new = np.abs(np.diag(triangle)) > SMALLEST_SHARE * abs(triangle[0, 0])
    at_distinct = orthogonal.T[new] / np.sqrt(share)
    return np.asarray(at_distinct[:, number], np.float32)


def level_functions(levels: Floats, most: int) -> Functions:
    """Contrasts of each level with all rarer ones, the most frequent level first: (levels − 1, rows).

    Each is 0 where a more frequent level is, so they are uncorrelated.
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
