"""`Indices`: the importance of each factor, what every method returns."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from .._utils import frames
from .._utils.later import LaterField
from .._utils.text import list_names, printable
from ..data.design import Kind
from ..data.quality import Finding
from ..data.response import Task
from ..parameters import Procedure
from .estimates import margin
from .formats import format_p
from .path import Path
from .sharing import Driver, Sharing
from .uncertainty import SAMPLE_SIZE_OK, Evidence, SampleSize, Uncertainty

# Evidence weaker than this is marked.
WEAK = 0.05


@dataclass(frozen=True, eq=False, kw_only=True)
class Indices:
    """Importance of each factor, and the variances it is measured against.

    Most functions return one; a fitted `FIRST` has one as ``indices_``.

    What was selected comes with ``uncertainty``, ``sharing`` and ``findings`` that are found when they are first looked
    at, from a copy of the table that is kept until then; see the notes of `FIRST`. A pickle has them, and no table.

    See Also
    --------
    total_indices, closed_indices, shapley_effects, backward_elimination : Return one.
    FIRST : Has one as ``indices_``.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import total_indices
    >>> X = np.random.default_rng(0).uniform(size=(500, 3))
    >>> y = np.sin(6 * X[:, 0]) + X[:, 1]
    >>> indices = total_indices(X, y, uncertainty=True, estimator="adaptive")
    >>> indices.ranking
    array([1, 2, 3])
    >>> indices.interval().round(2)
    array([[0.75, 0.85],
           [0.11, 0.14],
           [0.  , 0.  ]])
    """

    values: NDArray[np.float64]
    """What the formula gives for each factor, in the order of the columns; or the one index of a set.

    By chance it can exceed 1. `shares` are what is shown.
    """
    names: tuple[str, ...]
    """The name of each factor; that of a set has plus signs between its members."""
    kinds: tuple[Kind, ...]
    """What each factor is; empty for a set."""
    noise_variance: float
    """Variance of the response that the factors cannot explain; 0 where it is taken to be clean.

    What the formula gives: by chance it can exceed the variance of the response, and then nothing is explained.
    """
    response_variance: float
    """Variance of the response: the sum over its outputs."""
    n_rows: int
    """How many rows importances were estimated on."""
    task: Task
    """What kind of response it is: ``regression`` or ``classification``."""
    method: str
    """What was estimated and how, such as ``NANNE`` or ``FIRST``."""
    estimator: str = "nearest"
    """How conditional variances were estimated."""
    procedure: Procedure | None = None
    """How `FIRST` selected the factors, where it did."""
    path: Path | None = None
    """How the factors were selected, where they were."""
    uncertainty: LaterField[Uncertainty | None] = LaterField(None)
    """Standard errors and p-values, where they were asked for."""
    sample_size: SampleSize = SAMPLE_SIZE_OK
    """Whether there are enough rows for so many factors."""
    kept: tuple[int, ...] | None = None
    """The factors selected, if not simply those with an importance above 0."""
    forced: tuple[int, ...] = ()
    """The factors that are selected whatever they add."""
    classes: tuple[Any, ...] = ()
    """The class labels in order, for classification."""
    outputs: tuple[str, ...] = ("y",)
    """The names of the outputs."""
    inputs: tuple[tuple[int, ...], ...] = ()
    """The columns of the table that each factor was made of; empty if each factor is a column."""
    rows: NDArray[np.intp] | None = None
    """The rows of the table that were analysed; None if all were."""
    n_averaged: int | None = None
    """How many of the rows importances and the ceiling are averages over; None if all."""
    missing: tuple[int, ...] = ()
    """How many rows of each factor have a missing value."""
    findings: LaterField[tuple[Finding, ...]] = LaterField(())
    """What in the table makes these results misleading: identifiers, copies of rows, rows that follow each other."""
    sharing: LaterField[Sharing | None] = LaterField(None)
    """What factors explain alone and which of them stand in for each other, where that was looked at."""
    evidence: Evidence | None = None
    """The evidence for each factor left out by the calibrated rule."""

    @property
    def is_shapley(self) -> bool:
        """Whether the values are Shapley effects, fair shares that add up to 1, and not total indices."""
        return self.method == "Shapley" or (self.procedure is not None and self.procedure.importance == "shapley")

    @property
    def members(self) -> tuple[tuple[int, ...], ...]:
        """The columns of the table that belong to each factor."""
        return self.inputs or tuple((j,) for j in range(len(self.names)))

    @property
    def explained_variance(self) -> float:
        """Variance of the response that the factors with an importance above 0 can explain; never below 0."""
        return max(self.response_variance - self.noise_variance, 0.0)

    @property
    def r2_ceiling(self) -> float:
        """The best R² that any model can reach on these factors."""
        return self.explained_variance / self.response_variance

    @property
    def shares(self) -> NDArray[np.float64]:
        """The indices as shares of what is explained, (factors,): none is above 1 or, of Shapley effects, below 0."""
        return np.clip(self.values, 0.0, 1.0)

    @property
    def has_shares(self) -> bool:
        """Whether anything is explained for sure: where the ceiling may be 0, shares of it may be anything."""
        if self.uncertainty is None:
            return self.explained_variance > 0
        return self.r2_interval()[0] > 0

    @property
    def support(self) -> NDArray[np.bool_]:
        """Which factors are selected."""
        if self.kept is None:
            return self.values > 0
        support = np.zeros(self.values.size, dtype=bool)
        support[list(self.kept)] = True
        return support

    @property
    def selected(self) -> NDArray[np.intp]:
        """Positions of the selected factors, the most important first."""
        return self._selected.copy()

    @cached_property
    def _selected(self) -> NDArray[np.intp]:
        order = np.argsort(-self.values, kind="stable")
        return order[self.support[order]]

    @property
    def for_prediction(self) -> tuple[int, ...]:
        """Positions of selected factors that help to predict, though there is not enough evidence for them."""
        if self.kept is None or self.procedure is None or self.procedure.goal != "predict" or self.uncertainty is None:
            return ()
        lacking = self.uncertainty.p_values > self.procedure.alpha
        return tuple(i for i in self.kept if lacking[i] and i not in self.forced)

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """Of each index; not a number where there is none."""
        return self._sure().standard_errors

    @property
    def p_values(self) -> NDArray[np.float64]:
        """For each factor, how likely such an effect is if it adds nothing to the others.

        That of a factor left out by the calibrated rule is beside the selected ones. All candidates are accounted for.
        NaN where the same rows selected the factors by the paper's rule: of the best of many candidates, such a figure
        would be too small.
        """
        return self._sure().p_values

    @property
    def q_values(self) -> NDArray[np.float64]:
        """The q-value of each factor: the false discovery rate if it and all with smaller ones were selected.

        NaN where there is no p-value.
        """
        found = self.p_values.copy()
        if self.evidence is not None:
            found[list(self.evidence.single_p_values)] = list(self.evidence.single_p_values.values())
        known = ~np.isnan(found)
        found[known] = false_discovery_control(found[known]) if known.any() else found[known]
        return found

    @property
    def has_p_values(self) -> bool:
        """Whether any factor has a p-value."""
        return self.uncertainty is not None and not np.isnan(self.uncertainty.p_values).all()

    @property
    def weak(self) -> NDArray[np.bool_]:
        """Which selected factors may as well add nothing: their p-value is above 0.05; forced ones may have none.

        Where there are no p-values at all: whose interval reaches 0.
        """
        if self.uncertainty is None:
            return np.zeros(self.values.size, dtype=bool)
        if not self.has_p_values:
            return self.support & (self.interval()[:, 0] <= 0)
        untested = np.isin(np.arange(self.values.size), self.forced) & np.isnan(self.uncertainty.p_values)
        return self.support & ~(self.uncertainty.p_values <= WEAK) & ~untested

    def interval(self, level: float = 0.95) -> NDArray[np.float64]:
        """The confidence interval of each index, (factors, 2); not a number for those without one.

        It takes account of chance and of bias: neighbours that are not at the same place make indices too small, though
        by how much is known only roughly with ``estimator="nearest"``. It holds the share that is shown, and goes from
        0 to 1 where the ceiling may be 0.

        Parameters
        ----------
        level : float, default 0.95
            How often such intervals hold the truth, between 0 and 1.

        Returns
        -------
        array of shape (factors, 2)
            Both ends, between 0 and 1.
        """
        half = margin(level, self.standard_errors, self._sure().bias)
        interval: NDArray[np.float64] = np.clip(np.column_stack([self.shares - half, self.shares + half]), 0.0, 1.0)
        if self.r2_interval(level)[0] <= 0:
            interval[~np.isnan(half)] = 0.0, 1.0
        return interval

    def r2_interval(self, level: float = 0.95) -> tuple[float, float]:
        """The confidence interval of the R² ceiling; see `interval`.

        Parameters
        ----------
        level : float, default 0.95
            How often such intervals hold the truth, between 0 and 1.

        Returns
        -------
        tuple of float
            Both ends, between 0 and 1.
        """
        half = margin(level, self._sure().r2, self._sure().r2_bias)
        low, high = np.clip([self.r2_ceiling - half, self.r2_ceiling + half], 0.0, 1.0)
        return float(low), float(high)

    def _sure(self) -> Uncertainty:
        if self.uncertainty is None:
            raise ValueError("no standard errors were computed; use uncertainty=True.")
        return self.uncertainty

    @property
    def ranking(self) -> NDArray[np.intp]:
        """1 for the most important factor; all with importance 0 share the last rank."""
        ranking = np.full(self.values.size, self.selected.size + 1)
        ranking[self.selected] = np.arange(1, self.selected.size + 1)
        return ranking

    @property
    def drivers(self) -> tuple[Driver, ...]:
        """What drives the response, the most important first: selected factors, and those that stand in for them."""
        clusters = () if self.sharing is None else self.sharing.clusters
        together = {i for cluster in clusters for i in cluster.positions}
        intervals = None if self.uncertainty is None else self.interval()
        found = [Driver(c.positions, min(c.joint, 1.0), c.interval(), c) for c in clusters]
        if self.is_shapley:  # fair shares add up, those below 0 included
            together_lost = [float(np.clip(self.values[list(c.positions)].sum(), 0.0, 1.0)) for c in clusters]
            found = [Driver(c.positions, lost, None, c) for c, lost in zip(clusters, together_lost, strict=True)]
        for i in self.selected.tolist():
            if i not in together:
                interval = None if intervals is None else (float(intervals[i, 0]), float(intervals[i, 1]))
                found.append(Driver((i,), float(self.shares[i]), interval))
        return tuple(sorted(found, key=lambda driver: -driver.lost))

    @property
    def left_out(self) -> NDArray[np.intp]:
        """Positions of the others: first those that came closest to being selected, constant ones last."""
        others = np.flatnonzero(~self.support).tolist()
        if self.evidence is not None:
            p_values = self.evidence.p_values
            nearest = {i: (p_values.get(i, 1.0), self.evidence.single_p_values.get(i, 1.0)) for i in others}
        else:
            gains = {} if self.path is None else self.path.last_gains
            nearest = {i: (-gains.get(i, -np.inf), 0.0) for i in others}
        return np.array(sorted(others, key=lambda i: (self.kinds[i] == "constant", *nearest[i])), np.intp)

    def why_left_out(self, factor: int) -> str:
        """In a few words why a factor has importance 0.

        Parameters
        ----------
        factor : int
            Its position.

        Returns
        -------
        str
            Such as ``adds nothing to the others``.
        """
        if self.kinds[factor] == "constant":
            return "constant"
        if self.path is not None and factor in self.path.spared:
            return "the others explain nearly as much"
        if self.evidence is not None:
            return self._lacks_evidence(factor, self.evidence)
        if self.path is None or factor in self.path.removed:
            return "adds nothing to the others"
        if factor not in self.path.last_gains:
            return "did not help when last tried"
        gain = f"{self.path.last_gains[factor]:+.3f}"
        return "R² unchanged if added" if float(gain) == 0 else f"R² {gain} if added".replace("-", "−")

    def _lacks_evidence(self, factor: int, evidence: Evidence) -> str:
        """In a few words what is known of a factor that the calibrated rule left out."""
        if factor in evidence.functions_of:
            known = list_names([printable(self.names[i]) for i in evidence.functions_of[factor]])
            return f"is a function of {known}"
        if factor not in evidence.p_values:
            return "the others explain everything"
        p_value = format_p(evidence.p_values[factor])
        return f"not enough evidence (p {p_value if p_value.startswith('<') else f'= {p_value}'})"

    def to_frame(self, backend: frames.Backend = "pandas") -> Any:
        """A data frame with a row for each factor: its importance, and how sure that is where it is known.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default "pandas"
            The library that makes it.

        Returns
        -------
        data frame
            Of that library.
        """
        columns = {"factor": list(self.names), "importance": self.shares.tolist()}
        if self.sharing is not None:
            columns["alone"] = self.sharing.alone.values.tolist()
        if self.uncertainty is not None:
            columns["standard_error"] = self.uncertainty.standard_errors.tolist()
        if self.uncertainty is not None and self.has_p_values:
            columns["p_value"] = self.uncertainty.p_values.tolist()
        if self.evidence is not None and self.has_p_values:
            columns["q_value"] = self.q_values.tolist()
        return frames.make_frame(columns, backend)

    def __repr__(self) -> str:
        order = np.argsort(-self.values, kind="stable")
        header, cells = ["factor", "importance"], [list(self.names), [f"{share:.4f}" for share in self.shares]]
        if self.uncertainty is not None:
            header += ["standard error"]
            cells += [["" if np.isnan(error) else f"{error:.4f}" for error in self.standard_errors]]
        if self.has_p_values:
            header += ["p"]
            cells += [[format_p(p_value) for p_value in self.p_values]]
        rows = [tuple(column[i] for column in cells) for i in order]
        explained = self.explained_variance
        return (
            f"{self.method}: Var(Y) = {self.response_variance:.4g}, of which explained {explained:.4g} and noise "
            f"{self.response_variance - explained:.4g}\n{frames.make_text(tuple(header), rows)}"
        )


def indices_of(result: Any) -> Indices:
    """The `Indices` of a fitted `FIRST`, or the one given, if it has one index per factor."""
    indices = result if isinstance(result, Indices) else getattr(result, "indices_", None)
    if not isinstance(indices, Indices):
        raise TypeError(
            f"result must be a fitted FIRST or what total_indices or backward_elimination return; got "
            f"{type(result).__name__}. Call fit(X, y) first."
        )
    if len(indices.kinds) != len(indices.names):
        raise ValueError(
            f"result must have one index per factor; got the joint index of the set {indices.names[0]!r}. "
            "Call total_indices without subset."
        )
    return indices
