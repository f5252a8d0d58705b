"""Objects that the stages of a selection exchange."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..results.path import Path, Step
from ..results.uncertainty import Evidence

OnStep = Callable[[Step], None]
"""Called after each step, within the selection."""

StepCallback = Callable[[Path], None]
"""Called after each step with a `Path` of that step alone, which has the names and the response variance."""


@dataclass(frozen=True)
class Selection:
    """Selected factors and the steps that led to them."""

    kept: tuple[int, ...]
    steps: tuple[Step, ...]
    response_variance: float
    """Variance of the response on the rows used for selection."""
    n_rows: int
    """Number of rows used for selection."""
    p_values: NDArray[np.float64] | None = None
    """p-value of each selected factor, if the rule computes them."""
    evidence: Evidence | None = None
    """Evidence for each factor left out, if the rule computes it."""
    forced: tuple[int, ...] = ()
    """Factors that are always selected."""
    n_selection_rows: int = 0
    """Number of rows that were reserved for selection, if importances are estimated on other rows."""

    def narrow(self, kept: tuple[int, ...], steps: tuple[Step, ...]) -> "Selection":
        """Return a copy with only some of the factors, and with more steps."""
        p_values = self.p_values if self.p_values is None else self.p_values[np.isin(self.kept, kept)]
        return replace(self, kept=kept, steps=steps, p_values=p_values)


def ignore_step(_: object) -> None:
    """Do nothing after a step."""


def first_best(scores: NDArray[np.float64], tolerance: float) -> int:
    """Return the position of the first score within ``tolerance`` of the largest one."""
    return int(np.flatnonzero(scores >= scores.max() - tolerance)[0])
