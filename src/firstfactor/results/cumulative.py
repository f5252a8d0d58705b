"""`CumulativeRanking`: all factors in order of what each adds, with cumulative shares."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils import frames
from .estimates import Estimates


@dataclass(frozen=True, eq=False)
class CumulativeRanking(frames.Tabular):
    """Ranking of all factors, each of which explains most together with those before it.

    See Also
    --------
    cumulative_ranking : Return this object.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import cumulative_ranking
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> cumulative_ranking(X, 3 * X[:, 2] + 2 * X[:, 0] + X[:, 1]).values.round(1)
    array([0.7, 0.9, 1. ])
    """

    names: tuple[str, ...]
    """Names of all factors, in the order of the table."""
    order: tuple[int, ...]
    """Positions of the factors in order of the ranking; constant factors are left out."""
    cumulative: Estimates
    """Share of the explained variance that each factor and those before it explain together, in the same order."""
    r2_ceiling: float
    """Share of Var(Y) that all factors explain."""

    @property
    def ranking(self) -> tuple[str, ...]:
        """Names of the factors in order of the ranking."""
        return tuple(self.names[i] for i in self.order)

    @property
    def values(self) -> NDArray[np.float64]:
        """Cumulative shares, of shape (factors,)."""
        return self.cumulative.values

    @property
    def gains(self) -> NDArray[np.float64]:
        """Share that each factor adds to those before it, of shape (factors,)."""
        return np.diff(self.values, prepend=0.0)

    def _columns(self) -> dict[str, Any]:
        return {
            "factor": list(self.ranking),
            "cumulative": self.values,
            "standard_error": self.cumulative.standard_errors,
            "gain": self.gains,
        }

    def __repr__(self) -> str:
        header = ("factor", "cumulative", "standard error", "gain")
        cells = zip(self.ranking, self.values, self.cumulative.standard_errors, self.gains, strict=True)
        rows = [
            (name, f"{value:.4f}", f"{error:.4f}", f"{gain:+.4f}".replace("-", "−"))
            for name, value, error, gain in cells
        ]
        return frames.make_text(header, rows)
