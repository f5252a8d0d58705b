"""Complementary pairs stability selection on random half-samples."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils import checks
from .._utils.threads import Workers
from ..data.observations import Observations, read_table
from ..data.response import SMALLEST_VARIANCE, Response
from ..results.stability import Stability
from ..settings import Options, Settings
from ..variance.conditional import encoding_options, make_variances
from ..variance.sampling import Rows, deal_groups, deal_halves
from .fitting import choose

Progress = Callable[[int, int], None]
"""Called as ``progress(done, total)`` after each half-sample."""


@dataclass(frozen=True)
class Pairs:
    """Number of random pairs of half-samples, and minimum frequency of a selected factor."""

    n_pairs: int = 50
    threshold: float = 0.6

    def __post_init__(self) -> None:
        """Check both values."""
        checks.at_least("n_pairs", self.n_pairs, 1)
        if checks.number("threshold", self.threshold, 0.5, 1) == 0.5:
            raise ValueError(
                f"threshold must be above 0.5: there is no bound on false selections below; got {self.threshold}."
            )


def select_on_halves(
    X: Any,
    y: Any,
    settings: Settings,
    pairs: Pairs,
    progress: Progress | None = None,
    sample_weight: Any = None,
    groups: Any = None,
) -> Stability:
    """Compute how often each factor is selected on random half-samples.

    ``settings`` has the number of threads and the seed; each half-sample is processed by one thread.
    """
    seeds: Any = checks.generator(settings.random_state).bit_generator.seed_seq
    table = read_table(X, y, encoding_options(settings), sample_weight, groups)
    whole = table.observe()
    design, response = whole.design, whole.response
    _refuse_small_halves(response, settings)
    # All rows decide: a half-sample may not show that the response has classes.
    table = replace(table, reading=replace(table.reading, task=response.task))
    halves = [(seed, side) for seed in seeds.spawn(pairs.n_pairs) for side in (0, 1)]
    tally = _Tally(len(halves), progress)

    def select(half: tuple[np.random.SeedSequence, int]) -> NDArray[np.bool_]:
        seed, side = half
        rng = np.random.default_rng(seed)
        rows = _draw_halves(rng, whole)[side]  # drawn again for the other half: all at once would fill memory
        chosen = np.zeros(design.n_factors, dtype=bool)
        if _varies(response, rows):
            seed_of_half = int(rng.integers(2**63, size=2)[side])
            own = replace(settings, n_jobs=1, random_state=seed_of_half)
            with make_variances(table.on_rows(rows).observe(), own) as variances:
                chosen[list(choose(variances, settings))] = True
        tally.add_one()
        return chosen

    with Workers(settings.n_jobs) as workers:
        chosen = np.array(workers.map(select, halves)).reshape(pairs.n_pairs, 2, design.n_factors)
    tally.catch_up()
    return Stability(
        names=design.names,
        frequencies=chosen.mean(axis=(0, 1)),
        simultaneous=chosen.all(axis=1).mean(axis=0),
        n_pairs=pairs.n_pairs,
        threshold=pairs.threshold,
        n_candidates=len(design.varying),
    )


def _draw_halves(rng: np.random.Generator, whole: Observations) -> tuple[Rows, Rows]:
    """Draw the rows of two disjoint halves, dealt out in turn class by class, or group by group if there are groups.

    If the number of rows is odd, one row is left over. It belongs to a class of odd size, which is dealt last: with two
    classes, both halves then have the same number of rows of each class in every pair.
    """
    if whole.groups is not None:
        return deal_groups(rng, whole.groups)
    codes = whole.response.codes
    counts = np.bincount(codes)
    odd = np.flatnonzero(counts % 2)
    last = codes == (odd[-1] if odd.size else 0)
    order = np.where(last, counts.size, codes)
    return deal_halves(rng, order, codes.size - codes.size % 2)


def _varies(response: Response, rows: Rows) -> bool:
    """Return True if y varies on these rows."""
    values = response.values[rows]
    return bool((values - values[0]).var(axis=0).sum() > SMALLEST_VARIANCE)


class _Tally:
    """Counter of the half-samples that all threads have finished, which reports in the thread that created it."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._progress = total, progress or (lambda _, __: None)
        self._finished: list[None] = []  # appending is atomic
        self._told = 0
        self._home = threading.get_ident()

    def add_one(self) -> None:
        """Count one more half-sample."""
        self._finished.append(None)
        if threading.get_ident() == self._home:
            self.catch_up()

    def catch_up(self) -> None:
        """Report all half-samples that were finished since the last report."""
        while self._told < len(self._finished):
            self._told += 1
            self._progress(self._told, self._total)


def _refuse_small_halves(response: Response, options: Options) -> None:
    """Raise an error if the table is too small to be halved for this selector."""
    half = response.n_rows // 2
    if half < 2:
        raise ValueError(f"X must have at least 4 rows, 2 for each half; got {response.n_rows}.")
    neighbors = response.default_neighbors if options.n_neighbors is None else options.n_neighbors
    sizes: tuple[tuple[str, Any], ...] = (("n_neighbors", neighbors), ("n_outer", options.n_outer))
    for name, value in sizes:
        if checks.is_integer(value) and value > half:
            raise ValueError(
                f"{name} of the selector must be at most {half}, the rows of a half; got {value}. Lower it or use "
                "more rows."
            )
    counts = np.bincount(response.codes)
    if response.classes and counts.min() < 2:
        label = response.classes[int(counts.argmin())]
        raise ValueError(f"y must have at least 2 rows of each class, 1 for each half; class {label!r} has 1.")
