"""The one quantity: ev(u), the expected conditional variance E[Var(Y | X_u)] of any factor set u."""

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Protocol, Self, TypedDict

import numpy as np
from numpy.typing import NDArray

from . import _checks
from ._tasks import Workers
from .design import Design, Factors, read_design
from .extrapolated import ExtrapolatedSearch
from .neighbors import Contributions, Search
from .response import Response, read_response

# Tables with no more cells than this are searched before a second thread has woken up.
SMALL = 20_000

# Differences of variances below this share of Var(Y) are rounding, not evidence.
ROUNDING = 1e-12


class Options(TypedDict, total=False):
    """What every estimate can be told; see `FIRST` for what each means."""

    n_neighbors: int | None
    n_outer: int | float | None
    subsample: str
    scale: bool
    categorical: Factors | None
    task: str
    n_jobs: int | None
    random_state: Any
    estimator: str | None


class Searcher(Protocol):
    """What finds ev(u): from the nearest rows alone, or from fits to several."""

    def one(self, factors: Sequence[int]) -> float:
        """Return ev(u)."""

    def plus_each(self, base: Sequence[int], candidates: Sequence[int]) -> NDArray[np.float64]:
        """Return ev(u ∪ i) for every candidate i."""

    def minus_each(self, base: Sequence[int], members: Sequence[int | None]) -> NDArray[np.float64]:
        """Return ev(u ∖ i) for the members given; None leaves nothing out."""

    def contributions(self, factors: Sequence[int], step: int) -> Contributions:
        """Return what every so many outer rows contribute to ev(u)."""


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
    ) -> None:
        self.design = search.design
        self.response = response
        self.search = search
        self.estimator = estimator
        self.rng = rng
        """What is drawn later is drawn with the same generator as the outer rows."""
        self.origin = origin
        """Those of all rows, if this is a part."""
        self._searcher: Searcher = search if estimator == "nearest" else ExtrapolatedSearch(search)
        self._varying = frozenset(self.design.varying)
        self._known: dict[tuple[int, ...], float] = {(): response.variance}

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
        values = self._searcher.plus_each(self._key(base), candidates)
        self._known.update((self._key((*base, i)), float(value)) for i, value in zip(candidates, values, strict=True))
        return values

    def minus_each(self, base: Sequence[int]) -> NDArray[np.float64]:
        """ev(u ∖ i) for every i in u."""
        key = self._key(base)
        rests = {i: tuple(j for j in key if j != i) for i in base}
        unknown = [i for i, rest in rests.items() if rest not in self._known]
        if unknown:
            wanted = unknown if key in self._known else [*unknown, None]  # all of u comes along almost for free
            for i, value in zip(wanted, self._searcher.minus_each(key, wanted), strict=True):
                self._known[key if i is None else rests[i]] = float(value)
        return np.array([self._known[rests[i]] for i in base])

    def contributions(self, factors: Sequence[int], step: int) -> Contributions:
        """Return what every so many outer rows contribute to ev(u)."""
        return self._searcher.contributions(self._key(factors), step)

    def on_rows(self, rows: NDArray[np.intp]) -> "Variances":
        """Return the same for some of the rows; averaged over are those of them that are outer rows, or all if none."""
        response = self.response.on_rows(rows)
        origin = self if self.origin is None else self.origin
        return Variances(response, self.search.on_rows(rows, response.values), self.estimator, self.rng, origin)

    def _key(self, factors: Sequence[int]) -> tuple[int, ...]:
        return tuple(sorted(self._varying.intersection(factors)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.search.workers.__exit__(kind, error, trace)


def open_variances(
    X: Any,
    y: Any,
    *,
    n_neighbors: int | None = None,
    n_outer: int | float | None = None,
    subsample: str = "random",
    scale: bool = True,
    categorical: Factors | None = None,
    task: str = "auto",
    n_jobs: int | None = None,
    random_state: Any = None,
    estimator: str | None = None,
    **unknown: Any,
) -> Variances:
    """Check all that came in, once, and return what answers every later question."""
    if unknown:
        raise _checks.unknown_option(next(iter(unknown)), Options.__annotations__)
    estimator = _checks.one_of("estimator", "nearest" if estimator is None else estimator, ("nearest", "extrapolated"))
    design = read_design(X, categorical, scale)
    response = read_response(y, design.n_rows, task)
    if n_neighbors is None:
        n_neighbors = response.default_neighbors
    n_neighbors = _checks.integer("n_neighbors", n_neighbors, 2, design.n_rows, "the number of rows")
    rng = _checks.generator(random_state)
    outer = _outer_rows(design, response, n_outer, subsample, rng)
    workers = Workers(n_jobs)
    if design.values.size <= SMALL and estimator == "nearest":
        workers = Workers(1)
    search = Search(design, response.values, outer, n_neighbors, workers)
    return Variances(response, search, estimator, rng)


def halves(variances: Variances) -> tuple[Variances, Variances]:
    """Return two random halves of the rows; of two classes, each has its share in both."""
    y, rng = variances.response.values, variances.rng
    shuffled = rng.permutation(y.size)
    if variances.response.classes:
        shuffled = shuffled[np.argsort(y[shuffled], kind="stable")]
    return variances.on_rows(np.sort(shuffled[::2])), variances.on_rows(np.sort(shuffled[1::2]))


def _outer_rows(
    design: Design,
    response: Response,
    n_outer: int | float | None,
    subsample: str,
    rng: np.random.Generator,
) -> NDArray[np.intp]:
    """Return the rows to average over, drawn once so that all factor sets are compared on the same ones."""
    _checks.one_of("subsample", subsample, ("random", "twinning"))
    n_rows = design.n_rows
    size = n_rows if n_outer is None else _outer_size(n_outer, n_rows)
    if size == n_rows:
        return np.arange(n_rows)
    if subsample == "random":
        return np.sort(rng.choice(n_rows, size, replace=False))
    return _twin_rows(design, response, size, rng)


def _outer_size(n_outer: int | float, n_rows: int) -> int:
    is_fraction = isinstance(n_outer, float) and 0 < n_outer <= 1
    is_count = _checks.is_integer(n_outer) and 1 <= n_outer <= n_rows
    if not (is_fraction or is_count):
        raise ValueError(
            f"n_outer must be None, a whole number from 1 to {n_rows} (the number of rows) or a fraction "
            f"above 0.0 and up to 1.0; got {n_outer!r}."
        )
    return max(1, round(n_outer * n_rows)) if is_fraction else int(n_outer)


def _twin_rows(design: Design, response: Response, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return a subsample distributed like the whole table (Vakayil and Joseph 2022).

    Twinning keeps every r-th row for a whole r, so a random part of ``size * r`` rows is twinned.
    """
    try:
        from twinning import twin
    except ImportError as error:
        raise ImportError(
            'subsample="twinning" needs the twinning package: pip install "firstfactor[twinning]".'
        ) from error
    ratio = design.n_rows // size
    if ratio < 2 or size < 2:
        raise ValueError(
            f'n_outer must be at least 2 and at most half of the rows for subsample="twinning" (here '
            f'{design.n_rows // 2}); got {size}. Use subsample="random" for others.'
        )
    pool = np.sort(rng.permutation(design.n_rows)[: size * ratio])
    data = np.column_stack([design.euclidean()[pool], response.values[pool]])
    return np.sort(pool[twin(data, ratio, u1=int(rng.integers(pool.size)))])
