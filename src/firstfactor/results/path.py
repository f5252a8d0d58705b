"""What happened in a selection: every step with every candidate."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._utils import frames


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a selection: what each candidate would do to a set of factors, and what was done."""

    phase: Literal["forward", "elimination", "exchange", "prediction", "compact"]
    """What the step is part of."""
    base: tuple[int, ...]
    """The set before the step."""
    base_explained: float
    """Variance of the response that the base explains."""
    candidates: tuple[int, ...]
    """Factors that could enter (forward, exchange, prediction) or leave (elimination, compact)."""
    explained: NDArray[np.float64]
    """V̂ of the base with the candidate added or left out, one per candidate."""
    chosen: tuple[int, ...]
    """Factors that did enter or leave; empty where the phase ended."""
    p_value: float | None = None
    """Of the calibrated rule: that of the best candidate to enter, or of the weakest factor to stay."""

    @property
    def entering(self) -> tuple[int, ...]:
        """Factors that entered."""
        return tuple(i for i in self.chosen if i not in self.base)

    @property
    def leaving(self) -> tuple[int, ...]:
        """Factors that left."""
        return tuple(i for i in self.chosen if i in self.base)


@dataclass(frozen=True)
class Path:
    """Every step of a selection, in order.

    See Also
    --------
    FIRST : Has one as ``path_``.
    firstfactor.plots.plot_path : A picture of it.

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
    """The name of each factor."""
    response_variance: float
    """The variance that the steps explain parts of."""
    steps: tuple[Step, ...]
    """The steps in order."""
    n_rows: int = 0
    """How many rows the factors were selected on."""
    rows_apart: int = 0
    """How many rows were set apart to select on, if importances were estimated on others."""

    def to_frame(self, backend: frames.Backend = "pandas") -> Any:
        """A data frame with one row per step and candidate, with the evidence of the step where there is one.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default "pandas"
            The library that makes it.

        Returns
        -------
        data frame
            Of that library.
        """
        columns: dict[str, list[Any]] = {
            "step": [],
            "phase": [],
            "factor": [],
            "explained_variance": [],
            "gain": [],
            "chosen": [],
        }
        for number, step in enumerate(self.steps, start=1):
            for i, explained in zip(step.candidates, step.explained.tolist(), strict=True):
                row = (number, step.phase, self.names[i], explained, explained - step.base_explained)
                for column, cell in zip(columns.values(), (*row, i in step.chosen), strict=True):
                    column.append(cell)
        if any(step.p_value is not None for step in self.steps):
            columns["p_value"] = [step.p_value for step in self.steps for _ in step.candidates]
        return frames.make_frame(columns, backend)

    @cached_property
    def removed(self) -> tuple[int, ...]:
        """Factors that were taken out again, in order; those that came back are not among them."""
        out: dict[int, None] = {}
        for step in self.steps:
            for i in step.leaving:
                out[i] = None
            for i in step.entering:
                out.pop(i, None)
        return tuple(out)

    @cached_property
    def spared(self) -> tuple[int, ...]:
        """Those of them that were taken out because the others explain nearly as much, in order."""
        compact = {i for step in self.steps if step.phase == "compact" for i in step.leaving}
        return tuple(i for i in self.removed if i in compact)

    @property
    def is_calibrated(self) -> bool:
        """Whether factors were selected by evidence."""
        return any(step.p_value is not None for step in self.steps)

    @cached_property
    def last_gains(self) -> dict[int, float]:
        """What each factor tried in the last forward step would have added to R².

        Gains of earlier steps, beyond fewer factors, say nothing about what a factor adds to those selected.
        """
        forward = [step for step in self.steps if step.phase == "forward"]
        if not forward:
            return {}
        gained = (forward[-1].explained - forward[-1].base_explained) / self.response_variance
        return dict(zip(forward[-1].candidates, gained.tolist(), strict=True))

    def describe(self, step: Step) -> tuple[str, ...]:
        """The cells that `str` prints for a step.

        Parameters
        ----------
        step : Step
            One of the steps.

        Returns
        -------
        tuple of str
            Phase, number of factors, R², number of candidates, the best one, R² with it, and what changed.
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
