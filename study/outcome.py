"""What every method of the study returns."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Outcome:
    """One method's answer on one table."""

    importances: Floats
    """One per factor, not negative; larger is more important. Scales differ between methods."""
    selected: tuple[int, ...] | None
    """Positions of the selected factors in ascending order; None where a method only ranks."""
    error: float | None = None
    """What a model of the method's own errs on rows it has not seen; None where it fits no model."""


def outcome_of(importances: Floats) -> Outcome:
    """Return the outcome of a method that gives exactly the factors it leaves out no importance."""
    return Outcome(importances, tuple(np.flatnonzero(importances > 0).tolist()))
