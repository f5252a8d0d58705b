"""`Estimates`: values with standard errors, and their confidence intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils import checks


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimated shares of the explained variance, with their uncertainty."""

    values: NDArray[np.float64]
    """Estimates."""
    standard_errors: NDArray[np.float64]
    """Standard error of each estimate; at most 0.5, which means that nothing is known."""
    p_values: NDArray[np.float64]
    """Probability of such a value if the true value is 0."""
    bias: NDArray[np.float64]
    """Possible bias of each estimate because neighbours are at a distance."""

    def expand(self, n: int, positions: Sequence[int], values: NDArray[np.float64]) -> "Estimates":
        """Return ``n`` estimates, of which those at ``positions`` have these standard errors and the others NaN."""
        known = (self.standard_errors, self.p_values, self.bias)
        return Estimates(values, *(at_positions(n, positions, some) for some in known))

    def interval(self, level: float = 0.95) -> NDArray[np.float64]:
        """Return the confidence interval of each estimate, which accounts for chance and bias.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level, between 0 and 1.

        Returns
        -------
        array of shape (…, 2)
            Lower and upper limits.
        """
        half = margin(level, self.standard_errors, self.bias)
        return np.stack([self.values - half, self.values + half], axis=-1)


def at_positions(n: int, positions: Sequence[int], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an array of length ``n`` with ``values`` at ``positions`` and NaN at all others."""
    everywhere = np.full(n, np.nan)
    everywhere[list(positions)] = values
    return everywhere


def margin(level: float, errors: Any, bias: Any) -> Any:
    """Return half of the width of an interval; the allowance for bias is added like another standard error."""
    if checks.number("level", level, 0.0, 1.0) in (0.0, 1.0):
        raise ValueError(f"level must be a number between 0 and 1, without these two; got {level!r}.")
    return NormalDist().inv_cdf((1 + level) / 2) * np.hypot(errors, bias)


def normal_cdf(value: float) -> float:
    """Return the standard normal distribution function; importing scipy.special takes longer than a small fit."""
    return math.erfc(-value / math.sqrt(2)) / 2
