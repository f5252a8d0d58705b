"""The one quantity: ev(u), the expected conditional variance E[Var(Y | X_u)] of any factor set u."""

import math
import os
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import fields, replace
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._utils import checks
from .._utils.checkpoint import Checkpoint, digest, digest_column
from .._utils.later import Later
from .._utils.threads import Workers
from ..cluster.client import is_dask, joblib_cluster
from ..cluster.search import kind_of_search
from ..cluster.table import ClusterTable, fetch, open_collection, spread
from ..data.observations import Dropped, Observations, Reading, read_table
from ..data.quality import Finding, examine
from ..data.response import Response
from ..neighbors.search import Contributions, Search
from ..neighbors.space import most_neighbors
from ..parameters import Options, Procedure
from .adaptive import AdaptiveSearch
from .extrapolated import ExtrapolatedSearch
from .sampling import deal_groups, deal_halves, draw_outer_rows

# Tables with no more cells than this are searched before a second thread has woken up; local fits take longer.
SMALL, SMALL_FOR_FITS = 20_000, 2000

# Differences of variances below this share of Var(Y) are rounding, not evidence.
ROUNDING = 1e-12

Result = TypeVar("Result")


class Searcher(Protocol):
    """What finds ev(u): from the nearest rows alone, or from fits to several."""

    @property
    def outer(self) -> NDArray[np.intp]:
        """The rows that are averaged over."""

    def one(self, factors: Sequence[int]) -> float:
        """Return ev(u)."""

    def plus_each(self, base: Sequence[int], candidates: Sequence[int]) -> NDArray[np.float64]:
        """Return ev(u ∪ i) for every candidate i."""

    def minus_each(self, base: Sequence[int], members: Sequence[int | None]) -> NDArray[np.float64]:
        """Return ev(u ∖ i) for the members given; None leaves nothing out."""

    def contributions(self, factors: Sequence[int], step: int) -> Contributions:
        """What every ``step``-th outer row contributes to ev(u), or to Var(Y) if u is empty."""

    def every_subset(self, factors: Sequence[int], step: int | None) -> dict[tuple[int, ...], float]:
        """Return ev(u) of every subset of some factors, if that is faster than one by one; otherwise nothing."""


class Variances:
    """Conditional variances of one response given sets of factors of one design.

    Constant factors are left out of every set: they separate no rows. Every set is remembered, so that
    elimination does not search again for what forward selection tried.
    """

    def __init__(
        self,
        response: Response,
        search: Search,
        estimator: str,
        rng: np.random.Generator,
        origin: "Variances | None" = None,
        dropped: Dropped | None = None,
        rows: NDArray[np.intp] | None = None,
    ) -> None:
        self.design = search.design
        self.response = response
        self.search = search
        self.estimator = estimator
        self.rng = rng
        """What is drawn later is drawn with the same generator as the outer rows."""
        self.origin = origin
        """Those of all rows, if this is a part."""
        self.dropped = dropped or Dropped()
        """Rows of the table that are not among these."""
        self.rows: NDArray[np.intp] | None = rows if origin is None else origin.rows
        """The rows of the table that are analysed, those of the origin if this is a part; None if they are all."""
        self._checkpoint: Checkpoint | None = None
        self._part = ""
        """A digest of the rows that a part has, for the keys of its results."""
        self._searcher: Searcher = _make_searcher(search, estimator)
        self._varying = frozenset(self.design.varying)
        self._known: dict[tuple[int, ...], float] = {(): response.variance}

    @property
    def outer(self) -> NDArray[np.intp]:
        """The rows that ev(u) is averaged over."""
        return self._searcher.outer

    @property
    def n_averaged(self) -> int | None:
        """How many rows ev(u) is averaged over; None if all."""
        return None if self.outer.size == self.design.n_rows else int(self.outer.size)

    @property
    def total_share(self) -> float:
        """Outer rows as a share of those that tell Var(Y): of all, or 1 if ev(u) is relative to that of outer rows."""
        return self.outer.size / self.design.n_rows if self.estimator == "nearest" else 1.0

    @property
    def tolerance(self) -> float:
        """The largest difference between two variances that can come from rounding alone."""
        return ROUNDING * self.response.variance

    def of(self, factors: Sequence[int]) -> float:
        """ev(u)."""
        key = self._key(factors)
        if key not in self._known:
            self._known[key] = self._searcher.one(key)
        return self._known[key]

    def plus_each(self, base: Sequence[int], candidates: Sequence[int]) -> NDArray[np.float64]:
        """ev(u ∪ i) for every candidate i."""
        u = self._key(base)
        values = self.find_once(("plus", u, candidates), lambda: self._searcher.plus_each(u, candidates))
        new = self._varying.difference(u)
        keys = [tuple(sorted((*u, i))) if i in new else u for i in candidates]
        self._known.update(zip(keys, values.tolist(), strict=True))
        return values

    def minus_each(self, base: Sequence[int]) -> NDArray[np.float64]:
        """ev(u ∖ i) for every i in u."""
        key = self._key(base)
        rests = {i: tuple(j for j in key if j != i) for i in base}
        wanted: list[int | None] = [i for i in key if rests[i] not in self._known]  # nothing is lost without others
        if key not in self._known:
            wanted.append(None)  # all of u comes along almost for free
        if wanted:
            values = self.find_once(("minus", key, wanted), lambda: self._searcher.minus_each(key, wanted))
            for i, value in zip(wanted, values, strict=True):
                self._known[key if i is None else rests[i]] = float(value)
        return np.array([self._known[rests[i]] for i in base])

    def find_once(self, what: tuple[Any, ...], compute: Callable[[], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Numbers that a run finds once: in an earlier one, if these are in its checkpoint."""
        if self._checkpoint is None:
            return compute()
        kind, *details = what
        return self._checkpoint.find(f"{kind} {digest([*map(tuple, details), self._part])}", compute)

    def resume(self, path: str | os.PathLike[str], seed: Any, procedure: Procedure | None) -> None:
        """Go on from a checkpoint: results are read from this file, and written to it from now on."""
        if not checks.is_integer(seed):
            raise ValueError(
                "checkpoint= needs a whole number as random_state=, such as 0: a run that goes on must draw the same "
                f"rows; got {seed!r}."
            )
        settings: dict[str, Any] = {} if procedure is None else dict(vars(procedure))
        if settings.get("forced") is not None:  # by name, by position or as a mask
            settings["forced"] = self.design.locate("forced", settings["forced"])
        decided = [each for setting in sorted(settings.items()) for each in setting]
        about = (__version__, int(seed), self.estimator, *decided, *_describe_table(self.search))
        self._checkpoint = Checkpoint(path, digest(about))

    def look_at_subsets(self, factors: Sequence[int], step: int | None) -> None:
        """Find ev(u) of every subset of some factors at once, where that is faster than one by one.

        Given a step, what every ``step``-th outer row contributes is then known as well.
        """
        self._known.update(self._searcher.every_subset(self._key(factors), step))

    def contributions(self, factors: Sequence[int], step: int) -> Contributions:
        """What every ``step``-th outer row contributes to ev(u)."""
        return self._searcher.contributions(self._key(factors), step)

    def examine_data(self, factors: Sequence[int]) -> tuple[Finding, ...]:
        """What in the whole table makes results on some factors misleading."""
        whole = self if self.origin is None else self.origin
        codes = whole.search.columns.codes if whole.design.varying else {}
        return examine(whole.design, whole.response, whole.dropped, codes, factors, whole.search.groups is not None)

    def later(self, find: Callable[[], Result]) -> Later[Result]:
        """What a function finds from these once it is looked at; at once if the table is not in memory to be kept."""
        found = Later(lambda: self.search.workers.call(find))
        if not self.design.is_in_memory:
            found.value  # noqa: B018
        return found

    def on_rows(self, rows: NDArray[np.intp], rng: np.random.Generator | None = None) -> "Variances":
        """The same for some of the rows; averaged over are those of them that are outer rows, or all if none."""
        weights = self.search.weights
        response = self.response.on_rows(rows, None if weights is None else weights[rows])
        origin = self if self.origin is None else self.origin
        search = self.search.on_rows(rows, response.values)
        part = Variances(response, search, self.estimator, self.rng if rng is None else rng, origin)
        if self._checkpoint is not None:
            part._checkpoint, part._part = self._checkpoint, digest([self._part, rows])
        return part

    def around(self, factors: Sequence[int]) -> "Variances":
        """Return the same from one fit in some factors, if the estimator makes one for all sets."""
        if not isinstance(self._searcher, AdaptiveSearch):
            return self
        others = copy(self)
        others._searcher, others._known = self._searcher.around(self._key(factors)), {(): self.response.variance}
        return others

    def _key(self, factors: Sequence[int]) -> tuple[int, ...]:
        return tuple(sorted(self._varying.intersection(factors)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.search.close()
        self.search.workers.__exit__(kind, error, trace)


def _make_searcher(search: Search, estimator: str) -> Searcher:
    if estimator == "nearest":
        return search
    return ExtrapolatedSearch(search) if estimator == "extrapolated" else AdaptiveSearch(search)


def open_variances(
    X: Any,
    y: Any,
    options: Options,
    sample_weight: Any = None,
    groups: Any = None,
    *,
    procedure: Procedure | None = None,
    many_sets: bool = False,
) -> Variances:
    """Validate the table and the options that depend on it; return the conditional variances.

    If there is a checkpoint, results are those of the same ``procedure``. ``many_sets`` says that so many sets will be
    asked for that even a small table is worth several threads.
    """
    if is_dask(X):
        X = open_collection(X)
    about_rows = (fetch(each) if is_dask(each) else each for each in (sample_weight, groups))
    cluster = X.cluster if isinstance(X, ClusterTable) else joblib_cluster()
    try:
        observed = read_table(X, fetch(y) if is_dask(y) else y, how_to_read(options), *about_rows).observe()
        if cluster is not None and observed.design.is_in_memory:
            observed = replace(observed, design=spread(observed.design, cluster))
        variances = make_variances(observed, options, many_sets)
        if options.checkpoint is not None:
            variances.resume(options.checkpoint, options.random_state, procedure)
        return variances
    except BaseException:
        if cluster is not None:
            cluster.release()
        raise


def how_to_read(options: Options) -> Reading:
    """The options that say how a table is read."""
    return Reading(**{each.name: getattr(options, each.name) for each in fields(Reading)})


def make_variances(observed: Observations, options: Options, many_sets: bool = False) -> Variances:
    """Return the conditional variances of a table that was read, without a checkpoint; see `open_variances`."""
    design, response = observed.design, observed.response
    most, why = most_neighbors(design.n_rows, observed.groups)
    n_neighbors = min(response.default_neighbors, most) if options.n_neighbors is None else options.n_neighbors
    n_neighbors = checks.integer("n_neighbors", n_neighbors, 2, most, why)
    rng = checks.generator(options.random_state)
    outer = draw_outer_rows(design, response, options.n_outer, options.subsample, rng)
    workers, estimator = Workers(options.n_jobs), options.estimator or "nearest"
    if not many_sets and math.prod(design.values.shape) <= (SMALL if estimator == "nearest" else SMALL_FOR_FITS):
        workers = Workers(1)
    search = kind_of_search(design)(
        design, response.values, outer, n_neighbors, workers, observed.weights, observed.groups
    )
    return Variances(response, search, estimator, rng, dropped=observed.dropped, rows=observed.rows)


def _describe_table(search: Search) -> list[Any]:
    """Return all that results depend on: every value, as a digest of each column, and how the table was read."""
    design = search.design
    varying = design.columns_of(design.varying)
    return [
        search.y,
        search.weights,
        search.groups,
        search.outer,
        search.n_neighbors,
        design.names,
        design.columns,
        design.kinds,
        design.caps,
        design.spans,
        design.n_missing,
        design.stored.map(digest_column, varying),
    ]


def halves(variances: Variances) -> tuple[Variances, Variances]:
    """The conditional variances of two random halves of the rows; of classes, each half has its share."""
    first, second = draw_halves(variances.rng, variances.response, variances.search.groups)
    return variances.on_rows(first), variances.on_rows(second)


def draw_halves(
    rng: np.random.Generator, response: Response, groups: NDArray[np.intp] | None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Sorted positions of two random halves of the rows: groups stay together, of classes each half has its share."""
    if groups is not None:
        return deal_groups(rng, groups)
    return deal_halves(rng, response.codes, response.n_rows)
