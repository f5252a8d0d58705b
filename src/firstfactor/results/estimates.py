"""`Estimates`: numbers with their standard errors, and the intervals that follow."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils import checks
from .._utils.normal import normal_quantile


@dataclass(frozen=True, eq=False)
class Estimates:
    """Shares of the explained variance, and how sure they are."""

    values: NDArray[np.float64]
    """The estimates."""
    standard_errors: NDArray[np.float64]
    """At most 0.5, which says that nothing is known."""
    p_values: NDArray[np.float64]
    """How likely such a value is if the true one is 0."""
    bias: NDArray[np.float64]
    """How much each may be wrong because neighbours are at a distance."""

    def expand(self, n: int, positions: Sequence[int], values: NDArray[np.float64]) -> "Estimates":
        """The same among ``n`` values, of which those at ``positions`` have standard errors."""
        known = (self.standard_errors, self.p_values, self.bias)
        return Estimates(values, *(at_positions(n, positions, some) for some in known))

    def interval(self, level: float = 0.95) -> NDArray[np.float64]:
        """The confidence interval of each, (…, 2), for chance and bias together.

        Parameters
        ----------
        level : float, default 0.95
            How often such intervals hold the truth, between 0 and 1.

        Returns
        -------
        array of shape (…, 2)
            Both ends.
        """
        half = margin(level, self.standard_errors, self.bias)
        return np.stack([self.values - half, self.values + half], axis=-1)


def at_positions(n: int, positions: Sequence[int], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """An array of ``n`` with ``values`` at ``positions``, not a number elsewhere."""
    everywhere = np.full(n, np.nan)
    everywhere[list(positions)] = values
    return everywhere


def margin(level: float, errors: Any, bias: Any) -> Any:
    """Half of the length of an interval: what is allowed for bias counts as one more standard error."""
    if checks.number("level", level, 0.0, 1.0) in (0.0, 1.0):
        raise ValueError(f"level must be a number between 0 and 1, without these two; got {level!r}.")
    return normal_quantile((1 + level) / 2) * np.hypot(errors, bias)
