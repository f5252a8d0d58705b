"""`Interactions`: pairs of factors that work together, and pairs that replace each other."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils import frames
from .._utils.text import printable
from .estimates import Estimates
from .formats import format_p


@dataclass(frozen=True, eq=False)
class Interactions(frames.Tabular):
    """Interaction of pairs of factors: the joint total index of a pair minus the total index of each factor.

    A negative value means that the factors work together: without either of them their joint effect is lost, so it
    counts in both indices. A positive value means that they replace each other: the information that they share is
    lost only without both.

    See Also
    --------
    interactions : Return this object.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import interactions
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> found = interactions(X, X[:, 0] * X[:, 1] + X[:, 2])
    >>> found.pairs[found.strongest(together=True)]
    (0, 1)
    """

    names: tuple[str, ...]
    """Names of all factors."""
    pairs: tuple[tuple[int, int], ...]
    """Positions of the two factors of each pair."""
    estimates: Estimates
    """Estimate for each pair, as a share of the explained variance; p-values refer to no interaction at all."""

    @property
    def values(self) -> NDArray[np.float64]:
        """Value of each pair, of shape (pairs,)."""
        return self.estimates.values

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """Standard error of each value, of shape (pairs,)."""
        return self.estimates.standard_errors

    @property
    def p_values(self) -> NDArray[np.float64]:
        """Two-sided p-value of each pair: probability of such a value without any interaction; of shape (pairs,)."""
        return self.estimates.p_values

    @property
    def order(self) -> NDArray[np.intp]:
        """Positions of the pairs, in order of decreasing absolute value."""
        return np.argsort(-np.abs(self.values), kind="stable")

    def strongest(self, together: bool) -> int | None:
        """Return the position of the strongest pair whose interval excludes 0.

        Parameters
        ----------
        together : bool
            True for pairs that work together, False for pairs that replace each other.

        Returns
        -------
        int or None
            Position in ``pairs``; None if there is no such pair.
        """
        low, high = self.estimates.interval().T
        sure = high < 0 if together else low > 0
        sign = -1 if together else 1
        found = [k for k in self.order.tolist() if sure[k] and sign * self.values[k] > 0]
        return found[0] if found else None

    def sentence(self) -> str:
        """Describe the strongest pairs in words.

        Returns
        -------
        str
            One or two sentences.
        """
        parts = []
        for together, words in ((True, "work together most"), (False, "share most")):
            found = self.strongest(together)
            if found is not None:
                first, second = (printable(self.names[i]) for i in self.pairs[found])
                parts.append(f"{first} and {second} {words} ({abs(self.values[found]):.3f}).".replace("-", "−"))
        return " ".join(parts) or "No two factors work together or stand in for each other for sure."

    def _columns(self) -> dict[str, Any]:
        """Return the columns of the data frame by name, the strongest pair first."""
        return {
            "first": [self.names[self.pairs[k][0]] for k in self.order],
            "second": [self.names[self.pairs[k][1]] for k in self.order],
            "interaction": self.values[self.order],
            "standard_error": self.standard_errors[self.order],
            "p_value": self.p_values[self.order],
        }

    def __repr__(self) -> str:
        header = ("pair", "interaction", "standard error", "p")
        rows = [
            (
                " × ".join(self.names[i] for i in self.pairs[k]),
                f"{self.values[k]:.4f}".replace("-", "−"),
                f"{self.standard_errors[k]:.4f}",
                format_p(float(self.p_values[k])),
            )
            for k in self.order.tolist()
        ]
        sign = "Below 0, the two work together; above 0, they share what they explain."
        return f"{self.sentence()}\n{frames.make_text(header, rows)}\n{sign}"
