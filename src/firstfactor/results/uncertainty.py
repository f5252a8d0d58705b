"""How sure a result is: standard errors and p-values, and whether there are enough rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .estimates import at_positions

# What lies between 0 and 1 cannot be less sure than that.
LEAST_SURE = 0.5


@dataclass(frozen=True)
class Evidence:
    """The evidence for each factor that the calibrated rule left out, beside those that it selected."""

    p_values: dict[int, float]
    """The p-value of each factor that could have been selected, with all of them accounted for."""
    single_p_values: dict[int, float]
    """The same as if each were the only one."""
    functions_of: dict[int, tuple[int, ...]]
    """Factors that are functions of selected ones, and of which."""
    rest: float
    """The share of the variance of the response that all factors left out explain together, at least."""


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Standard errors, and evidence that a factor adds something."""

    standard_errors: NDArray[np.float64]
    """Of each index, at most 0.5, which says that nothing is known; not a number for factors without one."""
    p_values: NDArray[np.float64]
    """For each factor, how likely such an effect is if it adds nothing to the others; not a number likewise."""
    noise: float
    """Standard error of the noise variance."""
    r2: float
    """Standard error of the R² ceiling."""
    bias: NDArray[np.float64]
    """How much each index may be wrong because neighbours are at a distance; not a number likewise."""
    r2_bias: float
    """The same of the R² ceiling, which is too low if anything."""

    def expand(self, n_factors: int, positions: Sequence[int]) -> "Uncertainty":
        """The same for a table of ``n_factors``, of which those at ``positions`` were estimated."""
        known = (self.standard_errors, self.p_values, self.bias)
        errors, p_values, bias = (at_positions(n_factors, positions, some) for some in known)
        return replace(self, standard_errors=errors, p_values=p_values, bias=bias)

    def less_sure(self, errors: NDArray[np.float64] | float) -> "Uncertainty":
        """The same with standard errors of the indices that come from something else than the rows."""
        both = np.minimum(np.hypot(self.standard_errors, errors), LEAST_SURE)
        return replace(self, standard_errors=both)


@dataclass(frozen=True)
class SampleSize:
    """Whether a table has enough rows: how near they are in the space of some factors."""

    distance_share: float
    """Mean squared distance of the nearest neighbour, as a share of that of any two rows."""
    distance_bias: float
    """Share of Var(Y) that seems to be noise because of it: right for linear functions, too small for others."""
    supported: int | None
    """How many of the factors, the first ones, the rows are enough for; None if for all."""
    n_factors: int = 0
    """How many factors distances were measured in."""
    n_rows: int = 0
    """How many rows the table has."""

    @property
    def sentence(self) -> str:
        """That the rows are too few for so many factors, in words; empty if they are enough."""
        if self.supported is None:
            return ""
        return (
            f"{self.n_rows:,} rows are too few for {self.n_factors:,} factors at once: the nearest neighbour of a "
            f"row is {100 * self.distance_share:.0f} % as far away (squared) as a random row, so part of what looks "
            f"like noise is distance. The rows are enough for about {self.supported:,}."
        )


SAMPLE_SIZE_OK = SampleSize(0.0, 0.0, None)
