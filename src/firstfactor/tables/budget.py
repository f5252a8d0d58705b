"""The least memory that an analysis needs, and what is left for columns that are read more than once.

All figures were measured and rounded up. Most memory is taken by arrays with a number for each row; how many of them
exist at a time does not depend on the table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import ceil
from typing import Any

import polars as pl

from .._utils.checks import InputError
from .._utils.process import memory_used
from .._utils.sizes import parse_size, say_bytes
from .._utils.threads import Workers
from ..data.stored_columns import cut_factors
from ..data.stored_table import AT_A_TIME
from .dataset import Wanted
from .roles import Request, as_list, split_names
from .source import AT_ONCE, Source

MB = 10**6

# Bytes of compiled kernels when they are loaded, and of the compiler if they are not yet compiled.
KERNELS, COMPILER = 90 * MB, 220 * MB

# Bytes that polars takes to read any file, and to go through text in pieces.
READING, CONVERTING = 40 * MB, 220 * MB

# Numbers for each row: always, and as copies of each column that is read.
ALWAYS, COPIES = 12, 5

# Numbers for each row that a thread takes to search in a set of factors, besides copies of each of its columns; more of
# them if it makes fits; and the least number of factors that there must be memory for.
SEARCH, COPIES_OF_BASE, FITS, LEAST_BASE = 12, 3, 24, 8

# Numbers for each row and each output, of which a class is one: always, and for each thread.
OUTPUT, OUTPUT_OF_THREAD = 4, 4

# Bytes for each row that the calibrated rule tests on, and for each of these and each factor.
TEST_ROW, TEST_CELL, LEAST_CELLS = 7000, 4, 800

# Rows that the calibrated rule tests on at most.
MOST_TESTED = 50_000

# The share of the limit that is not used: allocators round up.
SPARE = 0.05


@dataclass(frozen=True)
class Plan:
    """Division of the memory."""

    at_a_time: int
    """Number of factors that are read together."""
    room: int
    """Bytes for columns that are kept."""
    jobs: int
    """Number of threads that memory suffices for."""


class Budget:
    """Memory that a run may use."""

    def __init__(self, request: Request) -> None:
        from ..neighbors.kernels.kernel_cache import is_compiled

        self._said = request.settings.memory
        self._request = request
        self._limit = parse_size("memory", self._said)
        self._start = memory_used()
        self._process = self._start + KERNELS + (0 if is_compiled() else COMPILER)

    @property
    def left(self) -> float:
        """Bytes that are left for data."""
        return (1 - SPARE) * self._limit - self._process

    def examine_in_pieces(self, source: Source) -> Source:
        """Return the same source, of which only as many columns are examined in one pass as fit into memory."""
        if not source.format.by_column:
            table = 0 if source.format.is_lazy else max(memory_used() - self._start, 0)
            self._refuse_if_above(CONVERTING + table)
            return source
        n_rows = source.collect(source.frame.select(pl.len())).item()
        self._refuse_if_above(READING + 8 * n_rows * ALWAYS)
        width = max(_bytes_of(dtype) for dtype in source.dtypes.values())
        most = int((self.left - READING) / 2 // max(3 * width * n_rows, 1))
        return replace(source, at_once=min(max(most, 1), AT_ONCE))

    def plan(self, wanted: Wanted) -> Plan:
        """Return how memory is divided; an error tells how much is needed if there is too little."""
        threads = Workers(self._request.settings.n_jobs).count
        ways = [(jobs, some) for jobs in range(threads, 0, -1) for some in ((AT_A_TIME, 2) if jobs > 1 else (2, 1))]
        need = 0.0
        for jobs, at_a_time in ways:
            need = self._need(wanted, jobs) + self._reading(wanted, max(at_a_time, jobs))
            if need <= self.left:
                return Plan(at_a_time, int(self.left - need), jobs)
        raise self._too_little(need)

    def _reading(self, wanted: Wanted, at_a_time: int) -> float:
        """Return the bytes needed to read some number of factors."""
        widest = max(_bytes_of(wanted.source.dtypes[column.name]) for column in wanted.used)
        names = [column.name for column in wanted.used]
        groups = [_count_matches(some, names) for some in (self._request.settings.factor_groups or {}).values()]
        return READING + (8 * COPIES + widest) * _rows(wanted) * max([at_a_time, *groups])

    def _need(self, wanted: Wanted, jobs: int) -> float:
        """Return the bytes needed for all but reading, with some number of threads."""
        settings = self._request.settings
        n_rows, p, calibrated = _rows(wanted), len(wanted.used), settings.rule == "calibrated"
        fits = FITS if calibrated or settings.estimator == "extrapolated" else 0
        base = min(LEAST_BASE + len(as_list(settings.forced)), p) if settings.selects else p
        outputs = _count_outputs(wanted, settings.task)
        numbers = ALWAYS + 2 * len(wanted.roles.others) + jobs * (SEARCH + COPIES_OF_BASE * base + fits)
        numbers += outputs * (OUTPUT + OUTPUT_OF_THREAD * jobs)
        if settings.selects and not calibrated:
            numbers += _padded_block(p)
        tested = min(n_rows, MOST_TESTED, _outer_rows(settings.n_outer, n_rows)) if calibrated else 0
        return 8 * n_rows * numbers + tested * (TEST_ROW + TEST_CELL * max(p, LEAST_CELLS))

    def _refuse_if_above(self, need: float) -> None:
        if need > self.left:
            raise self._too_little(need)

    def _too_little(self, need: float) -> InputError:
        return InputError(
            "{memory} must be at least {least} for this table; got {said!r}. Allow for more, or use fewer rows "
            "({sample=}) or columns ({factors=}).",
            least=say_bytes((need + self._process) / (1 - SPARE)),
            said=self._said,
        )


def _rows(wanted: Wanted) -> int:
    return wanted.n_rows if wanted.drawn is None else len(wanted.drawn)


def _count_outputs(wanted: Wanted, task: str) -> int:
    """Return the number of outputs: each class is one."""
    source, count = wanted.source, 0
    for column in wanted.others:
        if column.name not in wanted.roles.targets:
            continue
        if column.holds != "text" and task != "classification":
            count += 1
        else:
            values = source.frame.select(source.column(column.name).n_unique())
            count += column.levels or source.collect(values).item()
    return count


def _count_matches(wanted: Any, names: Sequence[str]) -> int:
    """Return how many names match names and globs."""
    patterns = split_names(as_list(wanted), names)
    return sum(any(fnmatchcase(name, pattern) for pattern in patterns) for name in names)


def _padded_block(n_factors: int) -> int:
    """Return the number of columns of the largest block of candidates, which come in whole vectors."""
    from ..neighbors.kernels.simd import WIDTH

    return WIDTH * ceil(max(map(len, cut_factors(n_factors))) / WIDTH)


def _outer_rows(n_outer: int | float | None, n_rows: int) -> int:
    if n_outer is None:
        return n_rows
    return int(n_outer) if n_outer >= 1 and not isinstance(n_outer, float) else int(n_outer * n_rows) + 1


def _bytes_of(dtype: pl.DataType) -> int:
    """Return the bytes of one value, roughly."""
    return 40 if dtype == pl.String else 16 if dtype in (pl.Int128, pl.UInt128) else 8
