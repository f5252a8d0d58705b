"""`Interactions`: which pairs of factors work together, and which stand in for each other."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils import frames
from .._utils.text import printable
from .estimates import Estimates
from .formats import format_p


@dataclass(frozen=True, eq=False)
class Interactions:
    """For pairs of factors, their joint total index minus the total index of each.

    Below 0 they work together: without either, what both do is lost, and it counts in both indices. Above 0 they stand
    in for each other: what both know is lost only without both.

    See Also
    --------
    interactions : Makes it.

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
    """Of all factors."""
    pairs: tuple[tuple[int, int], ...]
    """Positions of both factors."""
    estimates: Estimates
    """One for each pair, as shares of what all factors explain; p-values are those of no interaction at all."""

    @property
    def values(self) -> NDArray[np.float64]:
        """The value of each pair, (pairs,)."""
        return self.estimates.values

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """The standard error of each value, (pairs,)."""
        return self.estimates.standard_errors

    @property
    def p_values(self) -> NDArray[np.float64]:
        """How likely such a value, in either direction, is if the two neither work together nor stand in: (pairs,)."""
        return self.estimates.p_values

    @property
    def order(self) -> NDArray[np.intp]:
        """Positions of the pairs, the strongest first."""
        return np.argsort(-np.abs(self.values), kind="stable")

    def strongest(self, together: bool) -> int | None:
        """The position of the pair that works together most, or that shares most; None if no pair does for sure.

        Parameters
        ----------
        together : bool
            True looks for a pair that works together, False for one that stands in for each other.

        Returns
        -------
        int or None
            A position in ``pairs``.
        """
        low, high = self.estimates.interval().T
        sure = high < 0 if together else low > 0
        sign = -1 if together else 1
        found = [k for k in self.order.tolist() if sure[k] and sign * self.values[k] > 0]
        return found[0] if found else None

    def sentence(self) -> str:
        """The strongest pairs, in words.

        Returns
        -------
        str
            One sentence or two.
        """
        parts = []
        for together, words in ((True, "work together most"), (False, "share most")):
            found = self.strongest(together)
            if found is not None:
                first, second = (printable(self.names[i]) for i in self.pairs[found])
                parts.append(f"{first} and {second} {words} ({abs(self.values[found]):.3f}).".replace("-", "−"))
        return " ".join(parts) or "No two factors work together or stand in for each other for sure."

    def to_frame(self, backend: frames.Backend = "pandas") -> Any:
        """A data frame with a row for each pair, the strongest first.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default "pandas"
            The library that makes it.

        Returns
        -------
        data frame
            Of that library.
        """
        columns: dict[str, Any] = {
            "first": [self.names[self.pairs[k][0]] for k in self.order],
            "second": [self.names[self.pairs[k][1]] for k in self.order],
            "interaction": self.values[self.order],
            "standard_error": self.standard_errors[self.order],
            "p_value": self.p_values[self.order],
        }
        return frames.make_frame(columns, backend)

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
        return f"{self.sentence()}\n{frames.make_text(header, rows)}"
