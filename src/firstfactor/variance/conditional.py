"""Expected conditional variance ev(u) = E[Var(Y | X_u)] of any factor set u."""

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
from .._utils.cache import Later
from .._utils.checkpoint import Checkpoint, digest, digest_column
from .._utils.threads import Workers
from ..cluster.client import is_dask, joblib_cluster
from ..cluster.search import kind_of_search
from ..cluster.table import ClusterTable, fetch, open_collection, spread
from ..data.observations import Dropped, EncodingOptions, Observations, read_table
from ..data.response import Response
from ..findings.examine import examine
from ..findings.finding import Finding
from ..neighbors.search import Contributions, Search
from ..neighbors.space import most_neighbors
from ..settings import Options, VarianceEstimator
from .adaptive import AdaptiveSearch
from .extrapolated import ExtrapolatedSearch
from .sampling import deal_groups, deal_halves, draw_outer_rows

# Tables with no more cells than this are searched before a second thread has started; local fits take longer.
SMALL, SMALL_FOR_FITS = 20_000, 2000

# Differences of variances below this share of Var(Y) are rounding error, not evidence.
ROUNDING = 1e-12

Result = TypeVar("Result")


class Searcher(Protocol):
    """Interface of the classes that estimate ev(u): from nearest rows, local fits or smooth fits."""

    @property
    def outer(self) -> NDArray[np.intp]:
        """Rows that are averaged over."""

    def one(self, factors: Sequence[int]) -> float:
        """Return ev(u)."""

    def plus_each(self, base: Sequence[int], candidates: Sequence[int]) -> NDArray[np.float64]:
        """Return ev(u ∪ i) for every candidate i."""

    def minus_each(self, base: Sequence[int], members: Sequence[int | None]) -> NDArray[np.float64]:
        """Return ev(u ∖ i) for each given member i; None leaves nothing out."""

    def contributions(self, factors: Sequence[int], step: int) -> Contributions:
        """Return the contribution of every ``step``-th outer row to ev(u), or to Var(Y) if u is empty."""

    def every_subset(self, factors: Sequence[int], step: int | None) -> dict[tuple[int, ...], float]:
        """Return ev(u) of every subset of the factors if this is faster than one at a time, otherwise an empty dict."""


class Variances:
    """Conditional variances of one response given sets of factors of one design.

    Constant factors are removed from every set, because they separate no rows. All values are remembered, so that
    backward elimination does not repeat the searches of forward selection.
    """

    def __init__(
        self,
        response: Response,
        search: Search,
        estimator: VarianceEstimator,
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
        """Random generator of the outer rows, also used for all later draws."""
        self.origin = origin
        """Conditional variances of all rows, if this is a part of them."""
        self.dropped = dropped or Dropped()
        """Rows of the table that were dropped before the analysis."""
        self.rows: NDArray[np.intp] | None = rows if origin is None else origin.rows
        """Analysed rows of the table, those of the origin if this is a part; None for all rows."""
        self._checkpoint: Checkpoint | None = None
        self._part = ""
        """Digest of the rows of a part, for the keys of its results in the checkpoint."""
        self._searcher: Searcher = _make_searcher(search, estimator)
        self._varying = frozenset(self.design.varying)
        self._known: dict[tuple[int, ...], float] = {(): response.variance}

    @property
    def outer(self) -> NDArray[np.intp]:
        """Rows that ev(u) is averaged over."""
        return self._searcher.outer

    @property
    def n_averaged(self) -> int | None:
        """Number of rows that ev(u) is averaged over; None for all rows."""
        return None if self.outer.size == self.design.n_rows else int(self.outer.size)

    @property
    def total_share(self) -> float:
        """Number of outer rows as a share of the rows behind Var(Y): 1 if ev(u) is relative to the outer rows."""
        return self.outer.size / self.design.n_rows if self.estimator == "nearest" else 1.0

    @property
    def tolerance(self) -> float:
        """Largest difference between two variances that can come from rounding alone."""
        return ROUNDING * self.response.variance

    def of(self, factors: Sequence[int]) -> float:
        """Return ev(u)."""
        key = self._key(factors)
        if key not in self._known:
            self._known[key] = self._searcher.one(key)
        return self._known[key]

    def plus_each(self, base: Sequence[int], candidates: Sequence[int]) -> NDArray[np.float64]:
        """Return ev(u ∪ i) for every candidate i."""
        u = self._key(base)
        values = self.memoize(("plus", u, candidates), lambda: self._searcher.plus_each(u, candidates))
        new = self._varying.difference(u)
        keys = [tuple(sorted((*u, i))) if i in new else u for i in candidates]
        self._known.update(zip(keys, values.tolist(), strict=True))
        return values

    def minus_each(self, base: Sequence[int]) -> NDArray[np.float64]:
        """Return ev(u ∖ i) for every i in u."""
        key = self._key(base)
        rests = {i: tuple(j for j in key if j != i) for i in base}
        wanted: list[int | None] = [i for i in key if rests[i] not in self._known]  # constant factors change nothing
        if key not in self._known:
            wanted.append(None)  # ev(u) itself comes at almost no extra cost
        if wanted:
            values = self.memoize(("minus", key, wanted), lambda: self._searcher.minus_each(key, wanted))
            for i, value in zip(wanted, values, strict=True):
                self._known[key if i is None else rests[i]] = float(value)
        return np.array([self._known[rests[i]] for i in base])

    def memoize(self, what: tuple[Any, ...], compute: Callable[[], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return computed values, from the checkpoint if an earlier run saved them."""
        if self._checkpoint is None:
            return compute()
        kind, *details = what
        return self._checkpoint.find(f"{kind} {digest([*map(tuple, details), self._part])}", compute)

    def resume(self, path: str | os.PathLike[str], options: Options) -> None:
        """Resume from a checkpoint: read results from this file, and write new ones to it."""
        seed, settings = options.random_state, options.selection()
        if not checks.is_integer(seed):
            raise checks.InputError(
                "{checkpoint=} needs a whole number as {random_state=}, such as 0: a run that goes on must draw the "
                "same rows; got {seed!r}.",
                seed=seed,
            )
        if settings.get("forced") is not None:  # by name, by position or as a mask
            settings["forced"] = self.design.locate("forced", settings["forced"])
        decided = [each for setting in sorted(settings.items()) for each in setting]
        about = (__version__, int(seed), self.estimator, *decided, *_describe_table(self.search))
        self._checkpoint = Checkpoint(path, digest(about))

    def precompute_subsets(self, factors: Sequence[int], step: int | None) -> None:
        """Compute ev(u) of every subset of the factors at once, where this is faster than one at a time.

        Given a step, the contributions of every ``step``-th outer row are then known as well.
        """
        self._known.update(self._searcher.every_subset(self._key(factors), step))

    def contributions(self, factors: Sequence[int], step: int) -> Contributions:
        """Return the contribution of every ``step``-th outer row to ev(u)."""
        return self._searcher.contributions(self._key(factors), step)

    def examine_data(self, factors: Sequence[int]) -> tuple[Finding, ...]:
        """Return the findings in the whole table that make results on the given factors misleading."""
        whole = self if self.origin is None else self.origin
        codes = whole.search.columns(factors).codes
        return examine(whole.design, whole.response, whole.dropped, codes, factors, whole.search.groups is not None)

    def later(self, find: Callable[[], Result]) -> Later[Result]:
        """Return a lazily computed result of ``find``; it is computed at once if the table is not in memory."""
        found = Later(lambda: self.search.workers.call(find))
        if not self.design.is_in_memory:
            found.value  # noqa: B018
        return found

    def on_rows(self, rows: NDArray[np.intp], rng: np.random.Generator | None = None) -> "Variances":
        """Return the same for some of the rows, averaged over the outer rows among them, or over all if none is."""
        weights = self.search.weights
        response = self.response.on_rows(rows, None if weights is None else weights[rows])
        origin = self if self.origin is None else self.origin
        search = self.search.on_rows(rows, response.values)
        part = Variances(response, search, self.estimator, self.rng if rng is None else rng, origin)
        if self._checkpoint is not None:
            part._checkpoint, part._part = self._checkpoint, digest([self._part, rows])
        return part

    def around(self, factors: Sequence[int]) -> "Variances":
        """Return the same from one fit in the given factors, if the estimator uses one fit for all sets."""
        if not isinstance(self._searcher, AdaptiveSearch):
            return self
        others = copy(self)
        others._searcher, others._known = self._searcher.around(self._key(factors)), {(): self.response.variance}
        return others

    def _key(self, factors: Sequence[int]) -> tuple[int, ...]:
        return tuple(sorted(self._varying.intersection(factors)))

    def __enter__(self) -> Self:
        self.search.workers.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.search.close()
        self.search.workers.__exit__(kind, error, trace)


def _make_searcher(search: Search, estimator: VarianceEstimator) -> Searcher:
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
    many_sets: bool = False,
) -> Variances:
    """Validate the table and the options that depend on it, and return the conditional variances.

    With a checkpoint, saved results are used only for the same settings of the selection. Set ``many_sets`` if a large
    number of sets will be searched: then even a small table is worth several threads.
    """
    if is_dask(X):
        X = open_collection(X)
    about_rows = (fetch(each) if is_dask(each) else each for each in (sample_weight, groups))
    cluster = X.cluster if isinstance(X, ClusterTable) else joblib_cluster()
    try:
        observed = read_table(X, fetch(y) if is_dask(y) else y, encoding_options(options), *about_rows).observe()
        if cluster is not None and observed.design.is_in_memory:
            observed = replace(observed, design=spread(observed.design, cluster))
        variances = make_variances(observed, options, many_sets)
        if options.checkpoint is not None:
            variances.resume(options.checkpoint, options)
        return variances
    except BaseException:
        if cluster is not None:
            cluster.release()
        raise


def encoding_options(options: Options) -> EncodingOptions:
    """Return the options that control how a table is read."""
    return EncodingOptions(**{each.name: getattr(options, each.name) for each in fields(EncodingOptions)})


def make_variances(observed: Observations, options: Options, many_sets: bool = False) -> Variances:
    """Return the conditional variances of a table that has been read, without a checkpoint; see `open_variances`."""
    design, response = observed.design, observed.response
    most, why = most_neighbors(design.n_rows, observed.groups)
    n_neighbors = min(response.default_neighbors, most) if options.n_neighbors is None else options.n_neighbors
    n_neighbors = checks.integer("n_neighbors", n_neighbors, 2, most, why)
    rng = checks.generator(options.random_state)
    outer = draw_outer_rows(design, response, options.n_outer, options.subsample, rng)
    workers, estimator = Workers(options.n_jobs), options.variance_estimator or "nearest"
    if not many_sets and math.prod(design.values.shape) <= (SMALL if estimator == "nearest" else SMALL_FOR_FITS):
        workers = Workers(1)
    search = kind_of_search(design)(
        design, response.values, outer, n_neighbors, workers, observed.weights, observed.groups
    )
    return Variances(response, search, estimator, rng, dropped=observed.dropped, rows=observed.rows)


def _describe_table(search: Search) -> list[Any]:
    """Return everything that results depend on: a digest of the values of each column, and how the table was read."""
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
    """Return the conditional variances of two random halves of the rows, stratified by class."""
    first, second = draw_halves(variances.rng, variances.response, variances.search.groups)
    return variances.on_rows(first), variances.on_rows(second)


def draw_halves(
    rng: np.random.Generator, response: Response, groups: NDArray[np.intp] | None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return sorted positions of two random halves of the rows: groups stay together, classes are stratified."""
    if groups is not None:
        return deal_groups(rng, groups)
    return deal_halves(rng, response.codes, response.n_rows)
