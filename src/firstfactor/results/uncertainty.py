"""Uncertainty of a result: standard errors, p-values, and a diagnosis of the sample size."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .constants import MAX_STANDARD_ERROR
from .estimates import at_positions


@dataclass(frozen=True)
class Evidence:
    """Evidence for each factor that the calibrated rule left out, given those that it selected."""

    p_values: dict[int, float]
    """p-value of each factor that could have been selected, adjusted for the number of such factors."""
    single_p_values: dict[int, float]
    """Unadjusted p-value of each of these factors."""
    functions_of: dict[int, tuple[int, ...]]
    """Factors that are functions of selected ones, with the factors that determine them."""
    rest: float
    """Lower bound on the share of the variance of the response that all factors left out explain together."""

    def without(self, factors: Collection[int]) -> "Evidence":
        """Return the evidence for other factors, when these are selected as well; nothing is known of the rest then."""
        left = [i for i in self.p_values if i not in factors]
        p_values, single = ({i: some[i] for i in left} for some in (self.p_values, self.single_p_values))
        functions = {i: of for i, of in self.functions_of.items() if i not in factors}
        return Evidence(p_values, single, functions, 0.0)


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Standard errors, and evidence that a factor adds something."""

    standard_errors: NDArray[np.float64]
    """Standard error of each index; at most 0.5, which means that nothing is known, and NaN for factors without one."""
    p_values: NDArray[np.float64]
    """Probability of such an effect if the factor adds nothing to the others; NaN for factors without one."""
    noise: float
    """Standard error of the noise variance."""
    r2: float
    """Standard error of the R² ceiling."""
    bias: NDArray[np.float64]
    """Possible bias of each index because neighbours are at a distance; NaN for factors without one."""
    r2_bias: float
    """Possible bias of the R² ceiling, which tends to be too low."""

    def expand(self, n_factors: int, positions: Sequence[int]) -> "Uncertainty":
        """Expand to a table of ``n_factors``, of which those at ``positions`` were estimated."""
        known = (self.standard_errors, self.p_values, self.bias)
        errors, p_values, bias = (at_positions(n_factors, positions, some) for some in known)
        return replace(self, standard_errors=errors, p_values=p_values, bias=bias)

    def add_error(self, errors: NDArray[np.float64] | float) -> "Uncertainty":
        """Return a copy with another source of error, such as Monte Carlo error, added to the standard errors."""
        both = np.minimum(np.hypot(self.standard_errors, errors), MAX_STANDARD_ERROR)
        return replace(self, standard_errors=both)


@dataclass(frozen=True)
class SampleSize:
    """Diagnosis of the sample size: the distances between rows in the space of some factors."""

    distance_share: float
    """Mean squared distance to the nearest neighbour, as a share of that between any two rows."""
    distance_bias: float
    """Share of Var(Y) that seems to be noise because of this distance; exact for linear functions, else too small."""
    supported: int | None
    """Number of factors, counted from the first, for which there are enough rows; None if for all."""
    n_factors: int = 0
    """Number of factors in which distances were measured."""
    n_rows: int = 0
    """Number of rows of the table."""

    @property
    def sentence(self) -> str:
        """Sentence that there are too few rows for the factors; empty if there are enough."""
        if self.supported is None:
            return ""
        return (
            f"{self.n_rows:,} rows are too few for {self.n_factors:,} factors at once: the nearest neighbour of a "
            f"row is {100 * self.distance_share:.0f} % as far away (squared) as a random row, so part of what looks "
            f"like noise is distance. The rows are enough for about {self.supported:,}."
        )


SAMPLE_SIZE_OK = SampleSize(0.0, 0.0, None)
