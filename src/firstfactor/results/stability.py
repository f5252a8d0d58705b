"""`Stability`: how often each factor is selected on halves of the rows, and how many of those may be false."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils import frames


@dataclass(frozen=True, eq=False, kw_only=True)
class Stability:
    """How often each factor was selected on halves of the rows; see `stability` for what follows from that.

    See Also
    --------
    stability : Makes it.
    firstfactor.plots.plot_stability : A picture of it.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import stability
    >>> X = np.random.default_rng(0).uniform(size=(400, 5))
    >>> found = stability(X, np.sin(6 * X[:, 2]) + X[:, 1], n_pairs=10, random_state=0)
    >>> found.frequencies
    array([0., 1., 1., 0., 0.])
    """

    names: tuple[str, ...]
    """The name of each factor."""
    frequencies: NDArray[np.float64]
    """For each factor, the share of all halves in which it was selected."""
    simultaneous: NDArray[np.float64]
    """For each factor, the share of pairs in which both halves selected it."""
    n_pairs: int
    """How often the rows were split into two halves."""
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

    def to_frame(self, backend: frames.Backend = "pandas") -> Any:
        """A data frame with the columns ``factor``, ``frequency``, ``simultaneous`` and ``selected``.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default "pandas"
            The library that makes it.

        Returns
        -------
        data frame
            Of that library.
        """
        columns = {
            "factor": list(self.names),
            "frequency": self.frequencies.tolist(),
            "simultaneous": self.simultaneous.tolist(),
            "selected": (self.frequencies >= self.threshold).tolist(),
        }
        return frames.make_frame(columns, backend)

    def __repr__(self) -> str:
        rows = [(self.names[i], f"{self.frequencies[i]:.2f}", f"{self.simultaneous[i]:.2f}") for i in self.order]
        return (
            f"Stability: {self.n_pairs} pairs of half-samples, each selecting {self.average_size:.3g} of "
            f"{len(self.names)} factors on average\n"
            f"{self.selected.size} selected with a frequency of at least {self.threshold:g}; expected of low selection "
            f"probability: at most {self.expected_false:.3g} ({self.expected_false_unimodal:.3g} if unimodal)\n"
            f"{frames.make_text(('factor', 'frequency', 'both halves'), rows)}"
        )


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
    """The least frequency that reaches the threshold: only multiples of 1/(2B) occur."""
    possible = np.arange(2 * n_pairs + 1) / (2 * n_pairs)
    return float(possible[possible >= threshold][0])
