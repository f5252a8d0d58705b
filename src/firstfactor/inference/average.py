"""Standard error of a mean over rows that may be weighted, grouped, or a sample of all rows."""

from dataclasses import dataclass

import numpy as np

from ..neighbors.strategy import Floats, Positions
from ..variance.conditional import Variances


@dataclass(frozen=True)
class Linear:
    """Linear part of an estimate: a mean over outer rows plus a multiple of Var(Y)."""

    rows: Floats
    """Contribution of each outer row to the conditional variances, (rows,)."""
    group_rows: Floats
    """Contributions with the amplification of group effects through shared neighbours, (rows,)."""
    overlap: float
    """Addition to the variance of a contribution because rows are neighbours of each other."""
    times_total: float = 0.0
    """Coefficient of Var(Y), which is estimated from all rows of the table and not only from the outer rows."""


class Average:
    """Mean over all outer rows of an estimate, of which every ``step``-th row is given."""

    def __init__(self, variances: Variances, step: int) -> None:
        search, rows = variances.search, variances.outer[::step]
        self._n_rows = variances.outer.size
        self._share = variances.total_share
        self._total = variances.contributions((), step).rows
        weights = None if search.weights is None else search.weights[rows]
        if weights is not None and weights.sum() == 0:  # none of these rows has any weight
            self._total, weights = self._total[:0], None
        self._weights = None if weights is None else weights / weights.mean()
        self._groups = None if search.groups is None else search.groups[rows]

    def error(self, linear: Linear) -> float:
        """Return the standard error of an estimate.

        The mean of n outer rows and that of all N rows have n in common: with f = n/N, the variance of the mean of a
        plus b times that of t is (Var(a + bft) + f(1 − f) b² Var(t))/n.
        """
        if self._total.size < 2:
            return np.nan
        times = linear.times_total * self._share
        variance = self._variance(linear.rows + times * self._total)
        if self._groups is not None:
            variance = self._variance_in_groups(linear, times)
        if self._share < 1 and linear.times_total:
            variance += (1 - self._share) / self._share * times**2 * self._variance(self._total, self._groups)
        squared_weights = 1.0 if self._weights is None else float(np.mean(self._weights**2))
        return float(np.sqrt(max(variance + linear.overlap * squared_weights, 0.0) / self._n_rows))

    def _variance(self, rows: Floats, groups: Positions | None = None) -> float:
        """Return the variance of a contribution; given groups, including the covariance within groups.

        Contributions within a group are not independent; their sums are.
        """
        centred = rows - rows.mean()
        if self._weights is not None:
            centred = self._weights * (rows - self._weights @ rows / rows.size)
        if groups is None:
            return float(centred @ centred / (rows.size - 1))
        sums, n_groups = np.bincount(groups, centred), max(np.unique(groups).size, 2)
        return float(sums @ sums / rows.size * n_groups / (n_groups - 1))

    def _variance_in_groups(self, linear: Linear, times: float) -> float:
        """Return the variance of a contribution including the full effect that rows of a group share."""
        rows, in_full = (each + times * self._total for each in (linear.rows, linear.group_rows))
        common = self._variance(in_full, self._groups) - self._variance(in_full)
        return max(self._variance(rows, self._groups), self._variance(rows) + common)
