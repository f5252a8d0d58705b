"""`Stability`: selection frequencies on random half-samples, and bounds on false selections."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils import frames


@dataclass(frozen=True, eq=False, kw_only=True)
class Stability(frames.Tabular):
    """Selection frequency of each factor on random half-samples; see the notes of `stability` for the bounds.

    See Also
    --------
    stability : Return this object.
    firstfactor.plots.plot_stability : Plot the frequencies.

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
    """Name of each factor."""
    frequencies: NDArray[np.float64]
    """Share of all half-samples on which each factor was selected."""
    simultaneous: NDArray[np.float64]
    """Share of pairs in which both halves selected each factor."""
    n_pairs: int
    """Number of splits of the rows into two halves."""
    threshold: float
    """Minimum frequency of a factor that counts as selected."""
    n_candidates: int
    """Number of factors that are not constant, and could be selected."""

    @property
    def selected(self) -> NDArray[np.intp]:
        """Positions of the factors whose frequency reaches the threshold, in order of decreasing frequency."""
        return self.order[: np.count_nonzero(self.frequencies >= self.threshold)]

    @property
    def order(self) -> NDArray[np.intp]:
        """Positions of all factors by decreasing frequency; ties by ``simultaneous``, then by position."""
        return np.lexsort((-self.simultaneous, -self.frequencies))

    @property
    def average_size(self) -> float:
        """Average number of factors selected on a half-sample: q̂."""
        return float(self.frequencies.sum())

    @property
    def expected_false(self) -> float:
        """Bound on the expected number of selected factors of low selection probability, without assumptions.

        This is q̂² / ((2τ − 1) p), Theorem 1 of Shah and Samworth (2013) at θ = q̂ / p. Unless it is well below the
        number of factors selected, it is uninformative.
        """
        return worst_case_bound(self.average_size, self.n_candidates, self.n_pairs, self.threshold)

    @property
    def expected_false_unimodal(self) -> float:
        """The same bound under unimodality: about half as large, and less near a threshold of 1.

        The assumption is that the share of pairs in which both halves select a factor of low selection probability has
        a unimodal distribution over data sets and splits (Theorem 2 of Shah and Samworth, 2013). If that theorem does
        not apply (θ above 1/√3, or a threshold too close to 1/2), this equals `expected_false`.
        """
        return unimodal_bound(self.average_size, self.n_candidates, self.n_pairs, self.threshold)

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "factor": list(self.names),
            "frequency": self.frequencies.tolist(),
            "simultaneous": self.simultaneous.tolist(),
            "selected": (self.frequencies >= self.threshold).tolist(),
        }

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
    """Compute q² / ((2τ − 1) p), Theorem 1 at θ = q/p; at most the number of factors p."""
    tau = _lowest_frequency(n_pairs, threshold)
    return min(average_size**2 / ((2 * tau - 1) * max(n_factors, 1)), n_factors)


def unimodal_bound(average_size: float, n_factors: int, n_pairs: int, threshold: float) -> float:
    """Compute C(τ, B) q² / p, Theorem 2 at θ = q/p, or the bound of Theorem 1 if it does not apply."""
    tau = _lowest_frequency(n_pairs, threshold)
    theta = average_size / max(n_factors, 1)
    worst_case = worst_case_bound(average_size, n_factors, n_pairs, threshold)
    step = 1 / (2 * n_pairs)
    if theta > 3**-0.5 or tau <= min(1 / 2 + theta**2, 1 / 2 + step + 3 / 4 * theta**2):
        return worst_case
    constant = 1 / (2 * (2 * tau - 1 - step)) if tau <= 3 / 4 else 4 * (1 - tau + step) / (1 + 2 * step)
    return min(constant * theta * average_size, worst_case)


def _lowest_frequency(n_pairs: int, threshold: float) -> float:
    """Return the lowest frequency that reaches the threshold: only multiples of 1/(2B) occur."""
    possible = np.arange(2 * n_pairs + 1) / (2 * n_pairs)
    return float(possible[possible >= threshold][0])
