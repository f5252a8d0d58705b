"""What every method of the study returns."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEVEL = 0.95
"""How often intervals should hold the truth."""


@dataclass(frozen=True)
class Certainty:
    """How sure estimates of the indices of all factors are, whether they are above 0 or not."""

    standard_errors: list[float]
    """Of each index, in the order of the factors."""
    p_values: list[float]
    """One-sided, for "this factor adds nothing given the others"."""
    ceiling_error: float
    """Standard error of the R² ceiling; not a number where only shares are looked at."""
    distance_share: float
    """How far nearest neighbours are: their mean squared distance as a share of that of any two rows."""
    lower: list[float] | None = None
    """Lower end of the 95 % interval of each index; not known of rows from before intervals were stored."""
    upper: list[float] | None = None
    """Upper end of the same."""
    ceiling_interval: list[float] | None = None
    """Both ends of the 95 % interval of the R² ceiling."""


@dataclass(frozen=True)
class Outcome:
    """One method's answer on one table."""

    importances: Floats
    """One per factor, not negative; larger is more important. Scales differ between methods."""
    selected: tuple[int, ...] | None
    """Positions of the selected factors in ascending order; None where a method only ranks.

    Where a method puts all factors in order, that order; importances then are by place, not by factor."""
    error: float | None = None
    """What a model of the method's own errs on rows it has not seen; None where it fits no model."""
    ceiling: float | None = None
    """The best R² that any model can reach on the selected factors; None where a method does not tell."""
    certainty: Certainty | None = None
    """Of methods that estimate the indices of all factors, and say how sure they are."""
    p_value: float | None = None
    """Of the first step beyond the factors given: how likely the best of the others is by chance."""


def outcome_of(importances: Floats) -> Outcome:
    """Return the outcome of a method that gives exactly the factors it leaves out no importance."""
    return Outcome(importances, tuple(np.flatnonzero(importances > 0).tolist()))
