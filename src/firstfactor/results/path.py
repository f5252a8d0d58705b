"""Path of a selection: every step with every candidate."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._utils import frames


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a selection: the effect of each candidate on a set of factors, and the change that was made."""

    phase: Literal["forward", "elimination", "exchange", "prediction", "compact", "minimum"]
    """Phase of the selection that the step belongs to."""
    base: tuple[int, ...]
    """Set of factors before the step."""
    base_explained: float
    """Variance of the response that the base explains."""
    candidates: tuple[int, ...]
    """Factors that could enter (forward, exchange, prediction, minimum) or leave (elimination, compact)."""
    explained: NDArray[np.float64]
    """Variance V̂ explained by the base with each candidate added or left out."""
    chosen: tuple[int, ...]
    """Factors that entered or left; empty if the phase ended."""
    p_value: float | None = None
    """Under the calibrated rule, p-value of the best candidate to enter or of the weakest factor to stay."""

    @property
    def entering(self) -> tuple[int, ...]:
        """Factors that entered."""
        return tuple(i for i in self.chosen if i not in self.base)

    @property
    def leaving(self) -> tuple[int, ...]:
        """Factors that left."""
        return tuple(i for i in self.chosen if i in self.base)


@dataclass(frozen=True)
class Path(frames.Tabular):
    """Every step of a selection, in order.

    See Also
    --------
    FIRST : Selector that has this object as ``path_``.
    firstfactor.plots.plot_path : Plot the path.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import FIRST
    >>> X = np.random.default_rng(0).uniform(size=(500, 3))
    >>> FIRST().fit(X, np.sin(6 * X[:, 2]) + X[:, 1]).path_
    phase        factors      R²  candidates  best  R² with it  change
    forward            0  0.0000           3    x2      0.8760    + x2
    forward            1  0.8760           2    x1      0.9953    + x1
    forward            2  0.9953           1    x0      0.9737     end
    elimination        2  0.9953           2    x1      0.8760     end
    """

    names: tuple[str, ...]
    """Name of each factor."""
    response_variance: float
    """Variance of the response on the rows used for selection."""
    steps: tuple[Step, ...]
    """Steps in order."""
    n_rows: int = 0
    """Number of rows on which the factors were selected."""
    n_selection_rows: int = 0
    """Number of rows that were reserved for selection, if importances were estimated on other rows."""

    def _columns(self) -> dict[str, list[Any]]:
        """Return the columns of the data frame by name, with a row for each step and candidate."""
        rows = [
            (number, step.phase, self.names[i], explained, explained - step.base_explained, i in step.chosen)
            for number, step in enumerate(self.steps, start=1)
            for i, explained in zip(step.candidates, step.explained.tolist(), strict=True)
        ]
        names = ("step", "phase", "factor", "explained_variance", "gain", "chosen")
        columns = {name: [row[k] for row in rows] for k, name in enumerate(names)}
        if any(step.p_value is not None for step in self.steps):
            columns["p_value"] = [step.p_value for step in self.steps for _ in step.candidates]
        return columns

    @cached_property
    def removed(self) -> tuple[int, ...]:
        """Factors that were removed and did not enter again, in order of removal."""
        out: dict[int, None] = {}
        for step in self.steps:
            for i in step.leaving:
                out[i] = None
            for i in step.entering:
                out.pop(i, None)
        return tuple(out)

    @cached_property
    def dropped_by_compact(self) -> tuple[int, ...]:
        """Removed factors that ``compact`` dropped because the others explain nearly as much, in order of removal."""
        compact = {i for step in self.steps if step.phase == "compact" for i in step.leaving}
        return tuple(i for i in self.removed if i in compact)

    @property
    def added_to_minimum(self) -> tuple[int, ...]:
        """Factors that entered only because of ``min_factors``."""
        return tuple(i for step in self.steps if step.phase == "minimum" for i in step.chosen)

    @property
    def is_calibrated(self) -> bool:
        """True if factors were selected by the calibrated rule."""
        return any(step.p_value is not None for step in self.steps)

    @cached_property
    def last_gains(self) -> dict[int, float]:
        """Gain in R² of each factor that was tried in the last forward step.

        Gains of earlier steps, given fewer factors, do not show what a factor adds to the selected factors.
        """
        forward = [step for step in self.steps if step.phase == "forward"]
        if not forward:
            return {}
        gained = (forward[-1].explained - forward[-1].base_explained) / self.response_variance
        return dict(zip(forward[-1].candidates, gained.tolist(), strict=True))

    def describe(self, step: Step) -> tuple[str, ...]:
        """Return the cells that `str` prints for a step.

        Parameters
        ----------
        step : Step
            One of the steps.

        Returns
        -------
        tuple of str
            Phase, number of factors, R², number of candidates, best candidate, R² with it, and change.
        """
        change = ", ".join(f"{'−' if i in step.base else '+'} {self.names[i]}" for i in step.chosen) or "end"
        best = int(np.argmax(step.explained)) if step.candidates else None
        return (
            step.phase,
            str(len(step.base)),
            f"{step.base_explained / self.response_variance:z.4f}",
            str(len(step.candidates)),
            "" if best is None else self.names[step.candidates[best]],
            "" if best is None else f"{step.explained[best] / self.response_variance:z.4f}",
            change,
        )

    def __str__(self) -> str:
        header = ("phase", "factors", "R²", "candidates", "best", "R² with it", "change")
        return frames.make_text(header, [self.describe(step) for step in self.steps])

    __repr__ = __str__
