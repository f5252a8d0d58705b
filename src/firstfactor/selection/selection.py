"""What the stages of a selection hand to each other."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..results.path import Path, Step
from ..results.uncertainty import Evidence

OnStep = Callable[[Step], None]
"""Called after each step, within the selection."""

StepCallback = Callable[[Path], None]
"""Called after each step with a `Path` of that step alone, which knows the names and the variance to be explained."""


@dataclass(frozen=True)
class Selection:
    """Factors that were selected, and how."""

    kept: tuple[int, ...]
    steps: tuple[Step, ...]
    total: float
    """The variance that the steps explain parts of."""
    n_rows: int
    """How many rows it was made on."""
    p_values: NDArray[np.float64] | None = None
    """Evidence for each factor kept, where the rule asks for it."""
    evidence: Evidence | None = None
    """Evidence for each factor left out, where the rule asks for it."""
    forced: tuple[int, ...] = ()
    """Factors that are kept whatever they add."""
    rows_apart: int = 0
    """How many rows were set apart for it, if importances are to be estimated on others."""

    def narrow(self, kept: tuple[int, ...], steps: tuple[Step, ...]) -> "Selection":
        """The same with some of the factors only, after more steps."""
        p_values = self.p_values if self.p_values is None else self.p_values[np.isin(self.kept, kept)]
        return replace(self, kept=kept, steps=steps, p_values=p_values)


def ignore_step(_: object) -> None:
    """Do nothing after a step."""


def first_best(scores: NDArray[np.float64], tolerance: float) -> int:
    """Position of the largest score; of those within ``tolerance`` of it, the first."""
    return int(np.flatnonzero(scores >= scores.max() - tolerance)[0])
