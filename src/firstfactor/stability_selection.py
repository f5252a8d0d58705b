"""How often each factor is selected on halves of the rows, and how many of those selected often may be false."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from . import _checks, _frames, plots
from ._tasks import Workers
from .columns import as_array
from .design import read_design
from .response import SMALLEST_VARIANCE, Response, read_response
from .selector import FIRST

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Progress = Callable[[int, int], None]
Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Stability:
    """How often each factor was selected on halves of the rows; see `stability` for what follows from that."""

    names: tuple[str, ...]
    frequencies: NDArray[np.float64]
    """For each factor, the share of all halves in which it was selected."""
    simultaneous: NDArray[np.float64]
    """For each factor, the share of pairs in which both halves selected it."""
    n_pairs: int
    threshold: float
    """The frequency from which on a factor counts as selected."""
    n_candidates: int
    """How many factors could be selected: those that are not constant."""

    @property
    def selected(self) -> NDArray[np.intp]:
        """Positions of the factors whose frequency reaches the threshold, the most frequent first."""
        return self.order[: np.count_nonzero(self.frequencies >= self.threshold)]

    @property
    def order(self) -> NDArray[np.intp]:
        """Positions of all factors, the most frequent first; equal ones as both halves agree, then as in the table."""
        return np.lexsort((-self.simultaneous, -self.frequencies))

    @property
    def average_size(self) -> float:
        """How many factors were selected on a half, on average: q̂."""
        return float(self.frequencies.sum())

    @property
    def expected_false(self) -> float:
        """Bound on the expected number of selected factors of low selection probability; assumes nothing.

        This is q̂² / ((2τ − 1) p), Theorem 1 of Shah and Samworth (2013) at θ = q̂ / p. It is returned as it comes out:
        where it is not well below the number of factors selected, it says nothing about them.
        """
        return worst_case_bound(self.average_size, self.n_candidates, self.n_pairs, self.threshold)

    @property
    def expected_false_unimodal(self) -> float:
        """The same bound where unimodality may be assumed: about half of it, and less near a threshold of 1.

        Assumed is that the share of pairs in which both halves select a factor of low selection probability has a
        distribution, over data sets and splits, with a single peak (Theorem 2 of Shah and Samworth, 2013). Where that
        theorem has nothing to say (θ above 1/√3, or a threshold too near to 1/2), this equals `expected_false`.
        """
        return unimodal_bound(self.average_size, self.n_candidates, self.n_pairs, self.threshold)

    def to_frame(self, backend: _frames.Backend = "pandas") -> Any:
        """Return a data frame with the columns ``factor``, ``frequency``, ``simultaneous`` and ``selected``."""
        columns = {
            "factor": list(self.names),
            "frequency": self.frequencies.tolist(),
            "simultaneous": self.simultaneous.tolist(),
            "selected": (self.frequencies >= self.threshold).tolist(),
        }
        return _frames.make_frame(columns, backend)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw how often each factor was selected.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. Default: a new figure.
        """
        return plots.plot_stability(self, ax)

    def __repr__(self) -> str:
        rows = [(self.names[i], f"{self.frequencies[i]:.2f}", f"{self.simultaneous[i]:.2f}") for i in self.order]
        return (
            f"Stability: {self.n_pairs} pairs of half-samples, each selecting {self.average_size:.3g} of "
            f"{len(self.names)} factors on average\n"
            f"{self.selected.size} selected with a frequency of at least {self.threshold:g}; expected of low selection "
            f"probability: at most {self.expected_false:.3g} ({self.expected_false_unimodal:.3g} if unimodal)\n"
            f"{_frames.make_text(('factor', 'frequency', 'both halves'), rows)}"
        )


def stability(
    X: Any,
    y: Any,
    *,
    n_pairs: int = 50,
    threshold: float = 0.6,
    selector: FIRST | None = None,
    n_jobs: int | None = -1,
    random_state: Any = None,
    progress: Progress | None = None,
) -> Stability:
    """Tell how often each factor is selected when only half of the rows are there.

    The rows are split at random into two halves, factors are selected on each, and this is repeated. A factor that
    is selected on most halves does not owe it to a few rows (complementary pairs stability selection [1]_).

    Parameters
    ----------
    X : array-like or table of shape (rows, factors)
        The factors: a numpy array, a list of rows, or a pandas, polars or pyarrow table. At least 4 rows.
    y : array-like of shape (rows,)
        The response: numbers, or two classes.
    n_pairs : int
        How often the rows are split; twice as many fits.
    threshold : float
        The share of halves, above 0.5, in which a factor has to be selected to count as selected (τ).
    selector : FIRST, optional
        What selects: a `FIRST` that need not be fitted and stays as it is. Default: ``FIRST()``. Its ``n_jobs``,
        ``random_state`` and ``verbose`` are not used.
    n_jobs : int, optional
        Halves that are looked at at the same time, as in joblib: -1, the default, is all cores, None is 1 unless in a
        joblib context.
        Results are the same to the last bit for any number.
    random_state : int, Generator or None
        Seed for the splits, and for rows that the selector draws.
    progress : callable, optional
        Called as ``progress(done, total)`` after each half, in the thread that called.

    Returns
    -------
    Stability

    Notes
    -----
    Halves have ⌊N/2⌋ rows each. With two classes both halves get as many rows of each class, or one more of one and
    one less of the other. Whether y is classes, and which factors are categories, is decided by all rows. A factor
    that is constant in a half is not selected there, and nothing is selected where y is.

    How many false factors to expect: let q be the number of factors selected on a half on average, and p the number
    of factors that are not constant. Call a factor of *low selection probability* if the chance that it is selected
    on a half is at most θ = q/p, that is, no larger than if as many factors were drawn by lot. The expected number
    of these among those selected at the threshold τ is at most q² / ((2τ − 1) p), whatever the data and the selector
    (``expected_false``). It is at most about half of this if, further, the share of pairs in which both halves
    select such a factor has a distribution with a single peak (``expected_false_unimodal``). What to keep in mind:

    - Rows must be independent draws (with two classes: within each class, given how many rows each has).
    - q is estimated by the average over the halves seen, so the bounds are estimates as well.
    - A factor without any influence is one of low selection probability only if the selector prefers it no more than
      drawing by lot would. A stand-in for a true factor may well be selected often; the bounds do not count it.
    - With few factors, many of which matter, q/p is large and the bounds exceed the number of factors selected. They
      are returned all the same, and then say nothing. A selector that selects less, or a higher threshold, helps.

    References
    ----------
    .. [1] Shah, R. D. and Samworth, R. J. (2013). Variable selection with error control: another look at stability
       selection. Journal of the Royal Statistical Society B 75, 55-80.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import stability
    >>> X = np.random.default_rng(0).uniform(size=(400, 5))
    >>> y = np.sin(6 * X[:, 2]) + X[:, 1]
    >>> stability(X, y, n_pairs=10, random_state=0).selected
    array([1, 2])
    """
    n_pairs = _checks.at_least("n_pairs", n_pairs, 1)
    threshold = _check_threshold(threshold)
    selector = _check_selector(selector)
    seeds: Any = _checks.generator(random_state).bit_generator.seed_seq
    design = read_design(X, selector.categorical, selector.scale)
    response = read_response(y, design.n_rows, selector.task)
    _refuse_small_halves(design.n_rows // 2, response, selector)
    categorical = np.flatnonzero(design.categorical).tolist() or None
    selector = clone(selector).set_params(task=response.task, categorical=categorical, n_jobs=1, verbose=0)
    table, target = _Rows(X), _Rows(_flat(y))
    halves = [(seed, side) for seed in seeds.spawn(n_pairs) for side in (0, 1)]
    tally = _Tally(len(halves), progress)

    def select(half: tuple[np.random.SeedSequence, int]) -> NDArray[np.bool_]:
        seed, side = half
        rng = np.random.default_rng(seed)
        rows = _draw_halves(rng, response)[side]  # drawn again for the other side: all halves at once would fill memory
        chosen = np.zeros(design.n_factors, dtype=bool)
        if _varies(response, rows):
            own = clone(selector).set_params(random_state=int(rng.integers(2**63, size=2)[side]))
            chosen = own.choose(table.take(rows), target.take(rows))
        tally.add_one()
        return chosen

    with Workers(n_jobs) as workers:
        chosen = np.array(workers.map(select, halves)).reshape(n_pairs, 2, design.n_factors)
    tally.catch_up()
    frequencies, simultaneous = chosen.mean(axis=(0, 1)), chosen.all(axis=1).mean(axis=0)
    return Stability(design.names, frequencies, simultaneous, n_pairs, threshold, len(design.varying))


# --- bounds: Shah and Samworth (2013) -----------------------------------------------------------------


def worst_case_bound(average_size: float, n_factors: int, n_pairs: int, threshold: float) -> float:
    """q² / ((2τ − 1) p), Theorem 1 at θ = q/p; never more than all p factors."""
    tau = _lowest_frequency(n_pairs, threshold)
    return min(average_size**2 / ((2 * tau - 1) * max(n_factors, 1)), n_factors)


def unimodal_bound(average_size: float, n_factors: int, n_pairs: int, threshold: float) -> float:
    """C(τ, B) q² / p: Theorem 2 at θ = q/p, or Theorem 1 where it does not apply."""
    tau = _lowest_frequency(n_pairs, threshold)
    theta = average_size / max(n_factors, 1)
    worst_case = worst_case_bound(average_size, n_factors, n_pairs, threshold)
    step = 1 / (2 * n_pairs)
    if theta > 3**-0.5 or tau <= min(1 / 2 + theta**2, 1 / 2 + step + 3 / 4 * theta**2):
        return worst_case
    constant = 1 / (2 * (2 * tau - 1 - step)) if tau <= 3 / 4 else 4 * (1 - tau + step) / (1 + 2 * step)
    return min(constant * theta * average_size, worst_case)


def _lowest_frequency(n_pairs: int, threshold: float) -> float:
    """Return the least frequency that reaches the threshold: only multiples of 1/(2B) occur."""
    possible = np.arange(2 * n_pairs + 1) / (2 * n_pairs)
    return float(possible[possible >= threshold][0])


# --- halves -------------------------------------------------------------------------------------------


def _draw_halves(rng: np.random.Generator, response: Response) -> tuple[Rows, Rows]:
    """Return the rows of two disjoint halves, dealt out in turn class by class.

    If the number of rows is odd, one is left over. It is of the class whose number is odd, which comes last: then
    both halves have as many of each, in every pair.
    """
    n_rows = response.values.size
    second = response.values > 0 if response.classes else np.zeros(n_rows, dtype=bool)
    last = second if np.count_nonzero(second) % 2 else ~second
    order = rng.permutation(n_rows)
    order = order[np.argsort(last[order], kind="stable")][: n_rows - n_rows % 2]
    return np.sort(order[::2]), np.sort(order[1::2])


def _varies(response: Response, rows: Rows) -> bool:
    """Tell whether y has a variance in some rows."""
    values = response.values[rows]
    return bool((values - values[0]).var() > SMALLEST_VARIANCE)


class _Rows:
    """A table, a series or an array to take rows from; what is taken is of the same kind."""

    def __init__(self, data: Any) -> None:
        native = nw.to_native(data, pass_through=True)
        frame = nw.from_native(native, pass_through=True, allow_series=True)
        self._data = frame if isinstance(frame, (nw.DataFrame, nw.Series)) else as_array(native)

    def take(self, rows: Rows) -> Any:
        """Return some rows in their native kind."""
        return nw.to_native(self._data[rows], pass_through=True)


def _flat(y: Any) -> Any:
    """Return a response given as a table or an array of one column as a series or as a flat array."""
    target = nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(target, nw.DataFrame):
        return target.get_column(target.columns[0])
    return target if isinstance(target, nw.Series) else as_array(y).ravel()


class _Tally:
    """Counts what any thread has finished, and tells of it in the thread that made the tally."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._progress = total, progress or (lambda _, __: None)
        self._finished: list[None] = []  # appending is atomic
        self._told = 0
        self._home = threading.get_ident()

    def add_one(self) -> None:
        """Count one more."""
        self._finished.append(None)
        if threading.get_ident() == self._home:
            self.catch_up()

    def catch_up(self) -> None:
        """Tell of all that was finished since."""
        while self._told < len(self._finished):
            self._told += 1
            self._progress(self._told, self._total)


# --- checks -------------------------------------------------------------------------------------------


def _check_threshold(threshold: Any) -> float:
    checked = _checks.number("threshold", threshold, 0.5, 1)
    if checked == 0.5:
        raise ValueError(f"threshold must be above 0.5: there is no bound on false selections below; got {threshold}.")
    return checked


def _check_selector(selector: Any) -> FIRST:
    if selector is None:
        return FIRST()
    if not isinstance(selector, FIRST):
        kind = selector.__name__ if isinstance(selector, type) else type(selector).__name__
        raise TypeError(f"selector must be a FIRST object, such as FIRST(n_neighbors=3); got {kind}.")
    return selector


def _refuse_small_halves(half: int, response: Response, selector: FIRST) -> None:
    """Refuse tables too small to be halved for this selector."""
    if half < 2:
        raise ValueError(f"X must have at least 4 rows, 2 for each half; got {response.values.size}.")
    neighbors = response.default_neighbors if selector.n_neighbors is None else selector.n_neighbors
    sizes: tuple[tuple[str, Any], ...] = (("n_neighbors", neighbors), ("n_outer", selector.n_outer))
    for name, value in sizes:
        if _checks.is_integer(value) and value > half:
            raise ValueError(
                f"{name} of the selector must be at most {half}, the rows of a half; got {value}. Lower it or use "
                "more rows."
            )
    counts = np.bincount(response.values > 0)
    if response.classes and counts.min() < 2:
        label = response.classes[int(counts.argmin())]
        raise ValueError(f"y must have at least 2 rows of each class, 1 for each half; class {label!r} has 1.")
