"""`Indices`: the importance of each factor, returned by most methods."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from .._utils import frames
from .._utils.cache import LaterField
from .._utils.text import list_names, printable
from ..data.design import Kind
from ..data.response import Task
from ..findings.finding import Finding
from ..settings import Settings, VarianceEstimator
from .constants import CHEAP, LEVEL, WEAK
from .estimates import margin
from .formats import format_p, say_p
from .path import Path
from .ranking_line import RankingLine
from .sharing import Cluster, Exchange, Sharing
from .stability import Stability
from .uncertainty import SAMPLE_SIZE_OK, Evidence, SampleSize, Uncertainty

# Reason why a factor was selected or left out.
Reason = Literal[
    "selected",
    "minimum",
    "prediction",
    "constant",
    "function",
    "stands in",
    "adds little",
    "removed",
    "no room",
    "lacks evidence",
    "adds nothing",
]


@dataclass(frozen=True, eq=False, kw_only=True)
class Indices(frames.Tabular):
    """Importance of each factor, and the variances that it refers to.

    Most functions return this object; a fitted `FIRST` has it as ``indices_``.

    After a selection, ``uncertainty``, ``sharing`` and ``findings`` are computed on first access, from a copy of the
    table that is kept until then; see the notes of `FIRST`. A pickle contains them, and no table.

    See Also
    --------
    total_indices, closed_indices, shapley_effects, backward_elimination : Return this object.
    FIRST : Selector that has this object as ``indices_``.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import total_indices
    >>> X = np.random.default_rng(0).uniform(size=(500, 3))
    >>> y = np.sin(6 * X[:, 0]) + X[:, 1]
    >>> indices = total_indices(X, y, uncertainty=True, variance_estimator="adaptive")
    >>> indices.ranking
    array([1, 2, 3])
    >>> indices.interval().round(2)
    array([[0.75, 0.85],
           [0.11, 0.14],
           [0.  , 0.  ]])
    """

    values: NDArray[np.float64]
    """Estimated index of each factor, in the order of the columns; or the single index of a set.

    The estimate can exceed 1 by chance; `shares` are clipped and are what is shown.
    """
    names: tuple[str, ...]
    """Name of each factor; the name of a set joins its members by plus signs."""
    kinds: tuple[Kind, ...]
    """Kind of each factor; empty for a set."""
    noise_variance: float
    """Variance of the response that the factors cannot explain; 0 if the response is assumed to be free of noise.

    The estimate can exceed the variance of the response by chance; then nothing is explained.
    """
    response_variance: float
    """Variance of the response: the sum over its outputs."""
    n_rows: int
    """Number of rows on which importances were estimated."""
    task: Task
    """Kind of response: ``regression`` or ``classification``."""
    method: str
    """Method of estimation, such as ``NANNE`` or ``FIRST``."""
    estimator: VarianceEstimator = "nearest"
    """Estimator of conditional variances."""
    procedure: Settings | None = None
    """Parameters of the selection by `FIRST`; None without one."""
    path: Path | None = None
    """Steps of the selection; None without one."""
    uncertainty: LaterField[Uncertainty | None] = LaterField(None)
    """Standard errors and p-values; None if they were not requested."""
    sample_size: SampleSize = SAMPLE_SIZE_OK
    """Diagnosis of whether there are enough rows for the number of factors."""
    kept: tuple[int, ...] | None = None
    """Positions of the selected factors; None if these are the factors with an importance above 0."""
    forced: tuple[int, ...] = ()
    """Positions of the factors that are always selected."""
    classes: tuple[Any, ...] = ()
    """Class labels in order, for classification."""
    outputs: tuple[str, ...] = ("y",)
    """Names of the outputs."""
    inputs: tuple[tuple[int, ...], ...] = ()
    """Columns of the table that each factor was made of; empty if each factor is a column."""
    rows: NDArray[np.intp] | None = None
    """Rows of the table that were analysed; None if all were."""
    n_averaged: int | None = None
    """Number of rows over which importances and the ceiling are averaged; None if all."""
    missing: tuple[int, ...] = ()
    """Number of missing values of each factor."""
    findings: LaterField[tuple[Finding, ...]] = LaterField(())
    """Properties of the table that make these results misleading; from `rank`, all that a colleague would notice."""
    sharing: LaterField[Sharing | None] = LaterField(None)
    """Shares that factors explain alone, and the information that they share; None if not analysed."""
    evidence: Evidence | None = None
    """Evidence for each factor that the calibrated rule left out."""

    @property
    def is_shapley(self) -> bool:
        """True if the values are Shapley effects, fair shares that add up to 1, rather than total indices."""
        return self.method == "Shapley" or (self.procedure is not None and self.procedure.importance == "shapley")

    @property
    def members(self) -> tuple[tuple[int, ...], ...]:
        """Columns of the table that belong to each factor."""
        return self.inputs or tuple((j,) for j in range(len(self.names)))

    @property
    def explained_variance(self) -> float:
        """Variance of the response that the factors with an importance above 0 can explain; never below 0."""
        return max(self.response_variance - self.noise_variance, 0.0)

    @property
    def r2_ceiling(self) -> float:
        """Highest R² that any model of these factors can reach."""
        return self.explained_variance / self.response_variance

    @property
    def shares(self) -> NDArray[np.float64]:
        """Indices as shares of the explained variance, clipped to the range from 0 to 1; of shape (factors,)."""
        return np.clip(self.values, 0.0, 1.0)

    @property
    def has_shares(self) -> bool:
        """True if the interval of the R² ceiling, or else its estimate, excludes 0; otherwise shares mean nothing."""
        if self.uncertainty is None:
            return self.explained_variance > 0
        return self.r2_interval()[0] > 0

    @property
    def support(self) -> NDArray[np.bool_]:
        """Mask of the selected factors."""
        if self.kept is None:
            return self.values > 0
        support = np.zeros(self.values.size, dtype=bool)
        support[list(self.kept)] = True
        return support

    @property
    def selected(self) -> NDArray[np.intp]:
        """Positions of the selected factors, in order of decreasing importance."""
        return self._selected.copy()

    @cached_property
    def _selected(self) -> NDArray[np.intp]:
        order = np.argsort(-self.values, kind="stable")
        return order[self.support[order]]

    @property
    def for_prediction(self) -> tuple[int, ...]:
        """Positions of the factors that are selected for prediction without enough evidence."""
        if self.kept is None or self.procedure is None or self.procedure.goal != "predict" or self.uncertainty is None:
            return ()
        lacking = self.uncertainty.p_values > self.procedure.alpha
        added = () if self.path is None else self.path.added_to_minimum
        return tuple(i for i in self.kept if lacking[i] and i not in self.forced and i not in added)

    @property
    def without_evidence(self) -> tuple[int, ...]:
        """Positions of the factors that are selected without enough evidence: for prediction, or for a minimum."""
        return (*self.for_prediction, *(() if self.path is None else self.path.added_to_minimum))

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """Standard error of each index; NaN for factors without one."""
        return self._sure().standard_errors

    @property
    def p_values(self) -> NDArray[np.float64]:
        """Probability of such an effect if the factor adds nothing to the others, for each factor.

        For a factor that the calibrated rule left out, it is conditional on the selected factors. p-values are adjusted
        for the choice among all candidates. NaN if the same rows were used to select the factors by the paper's rule:
        for the best of many candidates, such a p-value would be too small.
        """
        return self._sure().p_values

    @property
    def q_values(self) -> NDArray[np.float64]:
        """False discovery rate if a factor and all factors with smaller q-values were selected, for each factor.

        NaN for factors without a p-value.
        """
        found = self.p_values.copy()
        if self.evidence is not None:
            found[list(self.evidence.single_p_values)] = list(self.evidence.single_p_values.values())
        known = ~np.isnan(found)
        found[known] = false_discovery_control(found[known]) if known.any() else found[known]
        return found

    @property
    def has_p_values(self) -> bool:
        """True if any factor has a p-value."""
        return self.uncertainty is not None and not np.isnan(self.uncertainty.p_values).all()

    @property
    def weak(self) -> NDArray[np.bool_]:
        """Mask of the selected factors that may add nothing: their p-value is above 0.05.

        Forced factors without a p-value are not weak. If there are no p-values at all, factors are weak if their
        interval reaches 0.
        """
        if self.uncertainty is None:
            return np.zeros(self.values.size, dtype=bool)
        if not self.has_p_values:
            return self.support & (self.interval()[:, 0] <= 0)
        untested = np.isin(np.arange(self.values.size), self.forced) & np.isnan(self.uncertainty.p_values)
        return self.support & ~(self.uncertainty.p_values <= WEAK) & ~untested

    def interval(self, level: float = 0.95) -> NDArray[np.float64]:
        """Return the confidence interval of each index.

        It accounts for chance and bias: the distance between neighbours makes indices too small, by an amount that is
        known only roughly with ``variance_estimator="nearest"``. It contains the share that is shown, and extends from
        0 to 1 if the ceiling may be 0.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level, between 0 and 1.

        Returns
        -------
        array of shape (factors, 2)
            Lower and upper limits, between 0 and 1; NaN for factors without a standard error.
        """
        half = margin(level, self.standard_errors, self._sure().bias)
        interval: NDArray[np.float64] = np.clip(np.column_stack([self.shares - half, self.shares + half]), 0.0, 1.0)
        if self.r2_interval(level)[0] <= 0:
            interval[~np.isnan(half)] = 0.0, 1.0
        return interval

    def r2_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of the R² ceiling; see `interval`.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level, between 0 and 1.

        Returns
        -------
        tuple of float
            Lower and upper limits, between 0 and 1.
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
        """Rank of each factor; 1 is the most important. All factors that are not selected share the last rank."""
        ranking = np.full(self.values.size, self.selected.size + 1)
        ranking[self.selected] = np.arange(1, self.selected.size + 1)
        return ranking

    @cached_property
    def drivers(self) -> tuple[RankingLine, ...]:
        """Drivers of the response in order of decreasing importance: clusters, and other selected factors."""
        return tuple(line for line in ranking_lines(self) if line.rank is not None)

    @property
    def left_out(self) -> NDArray[np.intp]:
        """Positions of the factors left out: those closest to being selected first, constant factors last."""
        others = np.flatnonzero(~self.support).tolist()
        if self.evidence is not None:
            p_values = self.evidence.p_values
            nearest = {i: (p_values.get(i, 1.0), self.evidence.single_p_values.get(i, 1.0)) for i in others}
        else:
            gains = {} if self.path is None else self.path.last_gains
            nearest = {i: (-gains.get(i, -np.inf), 0.0) for i in others}
        return np.array(sorted(others, key=lambda i: (self.kinds[i] == "constant", *nearest[i])), np.intp)

    def why_left_out(self, factor: int) -> str:
        """Return the reason why a factor was left out, in a few words.

        Parameters
        ----------
        factor : int
            Position of the factor.

        Returns
        -------
        str
            The reason, such as ``adds nothing to the others``.
        """
        evidence, path, exchange = self.evidence, self.path, find_exchange(self, factor)
        match find_reason(self, factor):
            case "constant":
                return "constant"
            case "function" if evidence is not None:
                known = list_names([printable(self.names[i]) for i in evidence.functions_of[factor]])
                return f"is a function of {known}"
            case "stands in" if exchange is not None:
                return f"stands in for {printable(self.names[exchange.selected])}"
            case "adds little":
                return "the others explain nearly as much"
            case "no room":
                p_value = None if evidence is None else evidence.p_values.get(factor)
                return "no more factors were wanted" + ("" if p_value is None else f" ({say_p(p_value)})")
            case "lacks evidence" if evidence is not None:
                p_value = evidence.p_values.get(factor)
                return "the others explain everything" if p_value is None else f"not enough evidence ({say_p(p_value)})"
        if path is None or factor in path.removed:
            return "adds nothing to the others"
        if factor not in path.last_gains:
            return "did not help when last tried"
        gain = f"{path.last_gains[factor]:+.3f}"
        return "R² unchanged if added" if float(gain) == 0 else f"R² {gain} if added".replace("-", "−")

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {"factor": list(self.names), "importance": self.shares.tolist()}
        if self.sharing is not None:
            columns["alone"] = self.sharing.alone.values.tolist()
        if self.uncertainty is not None:
            columns["standard_error"] = self.uncertainty.standard_errors.tolist()
        if self.uncertainty is not None and self.has_p_values:
            columns["p_value"] = self.uncertainty.p_values.tolist()
        if self.evidence is not None and self.has_p_values:
            columns["q_value"] = self.q_values.tolist()
        return columns

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


def find_reason(indices: Indices, factor: int) -> Reason:
    """Return the reason why a factor was selected or left out."""
    evidence, path = indices.evidence, indices.path
    if path is not None and factor in path.added_to_minimum:
        return "minimum"
    if factor in indices.for_prediction:
        return "prediction"
    if indices.support[factor]:  # first: a factor selected on other rows may be constant on these
        return "selected"
    if indices.kinds[factor] == "constant":
        return "constant"
    if evidence is not None and factor in evidence.functions_of:
        return "function"
    if find_exchange(indices, factor) is not None:
        return "stands in"
    if path is not None and factor in path.dropped_by_compact:
        return "adds little"
    if path is not None and factor in path.removed and evidence is None:
        return "removed"
    if path is not None and _had_no_room(indices, path, factor):
        return "no room"
    return "adds nothing" if evidence is None else "lacks evidence"


def _had_no_room(indices: Indices, path: Path, factor: int) -> bool:
    """Return True if ``max_factors`` was reached in a step in which this factor would help, or was not tested."""
    if indices.procedure is None or indices.procedure.max_factors is None:
        return False
    last = [step for step in path.steps if step.phase == "forward"][-1:]
    if not last or not last[0].chosen or factor in last[0].chosen or factor not in last[0].candidates:
        return False
    return path.is_calibrated or path.last_gains[factor] > 0


def find_exchange(indices: Indices, factor: int) -> Exchange | None:
    """Return the exchange with the selected factor that a factor that was left out could replace.

    None if the exchange would cost much, or if the factor may add something to the selected ones.
    """
    sharing = indices.sharing
    exchange = None if sharing is None else sharing.exchanges.get(factor)
    if sharing is None or exchange is None or exchange.cost > CHEAP:
        return None
    if not exchange.stands_in and sharing.cluster_of(factor) is None:
        return None
    single = {} if indices.evidence is None else indices.evidence.single_p_values
    return exchange if single.get(factor, 1.0) > WEAK else None


def ranking_lines(indices: Indices, stability: Stability | None = None) -> list[RankingLine]:
    """Return the lines of the ranking: drivers, factors that could replace a selected one, then all others left out."""
    clusters = () if indices.sharing is None else indices.sharing.clusters
    together = {i for cluster in clusters for i in cluster.positions}
    of_factor, same = _name_once(indices, _factor_lines(indices, stability), together)
    drivers = [_cluster_line(indices, cluster, [of_factor[i] for i in cluster.positions]) for cluster in clusters]
    drivers += [of_factor[i] for i in indices.selected.tolist() if i not in together]
    drivers.sort(key=lambda line: -line.importance)
    others = [of_factor[i] for i in indices.left_out.tolist() if i not in together and i not in same]
    others.sort(key=lambda line: not line.is_substitute)
    return [*(replace(line, rank=rank) for rank, line in enumerate(drivers, start=1)), *others]


def _factor_lines(indices: Indices, stability: Stability | None) -> list[RankingLine]:
    """Return the line of each factor, in the order of the table."""
    names, support, sure = [printable(name) for name in indices.names], indices.support.tolist(), indices.uncertainty
    unknown: list[float | None] = [None] * len(names)
    errors, p_values, alone, ends = unknown, unknown, unknown, [(np.nan, np.nan)] * len(names)
    if sure is not None:
        errors, p_values = _known(sure.standard_errors), _known(sure.p_values)
        ends = indices.interval(LEVEL).tolist()
    if indices.sharing is not None:
        alone = _known(np.clip(indices.sharing.alone.values, 0.0, 1.0))
    reasons = ["" if support[i] else indices.why_left_out(i) for i in range(len(names))]
    shares, weak = indices.shares.tolist(), indices.weak.tolist()
    return [
        RankingLine(
            factors=(i,),
            names=(name,),
            name=name,
            kind=indices.kinds[i],
            rank=None,
            selected=support[i],
            importance=shares[i],
            standard_error=errors[i],
            interval=None if np.isnan(ends[i]).any() else (ends[i][0], ends[i][1]),
            alone=alone[i],
            p_value=p_values[i],
            frequency=None if stability is None else float(stability.frequencies[i]),
            weak=weak[i],
            forced=i in indices.forced,
            reason=reasons[i],
            is_substitute=not support[i] and find_exchange(indices, i) is not None,
        )
        for i, name in enumerate(names)
    ]


def _name_once(
    indices: Indices, lines: list[RankingLine], together: Collection[int]
) -> tuple[list[RankingLine], set[int]]:
    """Make a factor and its functions one line, which names the factor; return also those that need no line.

    All that are selected, or in a cluster, keep their lines.
    """
    position = {name: i for i, name in enumerate(indices.names)}
    functions = dict[int, list[int]]()
    for one in indices.findings:
        if one.kind == "function" and len(one.sources) == 1 and one.sources[0] in position:
            found = functions.setdefault(position[one.sources[0]], [])
            found += [position[name] for name in one.columns if name in position]
    lines, gone = [*lines], set[int]()
    for source, derived in functions.items():
        members = {source, *derived}
        order = [i for i in [*indices.selected.tolist(), *indices.left_out.tolist()] if i in members]
        shown = [i for i in order if lines[i].selected or i in together] or order[:1]
        left, first = [i for i in order if i not in shown], source if source in shown else shown[0]
        gone.update(left)
        plain = lines[source].names[0]
        for i in shown:
            if source not in shown:
                name = f"{plain} (by {lines[i].names[0]})"
                lines[i] = replace(lines[i], name=name, names=(name,))
            elif i != source:
                lines[i] = replace(lines[i], name=f"{lines[i].names[0]} (a function of {plain})")
            elif left:
                verb = "is a function" if len(left) == 1 else "are functions"
                name = f"{plain} ({list_names([lines[j].names[0] for j in left], most=3)} {verb} of it)"
                lines[i] = replace(lines[i], name=name)
        why = dict.fromkeys(derived, f"is a function of {plain}") | {source: f"is named as {lines[first].names[0]}"}
        lines[first] = replace(lines[first], same=tuple(replace(lines[j], reason=why[j]) for j in left))
    return lines, gone


def _cluster_line(indices: Indices, cluster: Cluster, lines: list[RankingLine]) -> RankingLine:
    """Return the line of a cluster, with the lines of its factors as members."""
    importance, interval = min(cluster.joint, 1.0), None if indices.is_shapley else cluster.interval(LEVEL)
    if indices.is_shapley:  # fair shares add up, those below 0 included
        importance = float(np.clip(indices.values[list(cluster.positions)].sum(), 0.0, 1.0))
    names = tuple(line.names[0] for line in lines)
    return RankingLine(
        factors=cluster.positions,
        names=names,
        name=list_names(names, "or" if cluster.interchangeable else "and"),
        kind="",
        rank=None,
        selected=True,
        importance=importance,
        standard_error=None if indices.is_shapley else cluster.standard_error,
        interval=interval,
        alone=max((line.alone for line in lines if line.alone is not None), default=None),
        # Each is adjusted for the choice among all candidates. If the cluster adds nothing, none of its factors does.
        p_value=min((line.p_value for line in lines if line.p_value is not None and line.selected), default=None),
        weak=all(line.weak for line in lines if line.selected)
        if indices.has_p_values
        else interval is not None and interval[0] <= 0,
        cluster=cluster,
        members=tuple(replace(line, kept=kept) for line, kept in zip(lines, cluster.kept, strict=True)),
    )


def _known(values: NDArray[np.float64]) -> list[float | None]:
    """Return values as numbers, with None for NaN."""
    return [None if np.isnan(value) else value for value in values.tolist()]


def indices_of(result: Any) -> Indices:
    """Return the `Indices` of a fitted `FIRST`, or those given; raise an error without one index per factor."""
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
