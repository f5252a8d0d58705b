"""Total Sobol' indices of single factors and of sets: nearest-neighbour (NN) and noise-adjusted (NANNE)."""

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from . import _checks, _frames
from .crowding import NO_CROWD, Crowding, look_around, warn_if_crowded
from .data_quality import Finding, examine, warn_of_data
from .design import Factors, Kind
from .path import Path
from .response import Task
from .uncertainty import Question, Uncertainty, by_subsamples, format_p, plug_in
from .variance import Options, Variances, open_variances

# Evidence weaker than this is marked.
WEAK = 0.05


@dataclass(frozen=True, eq=False)
class Indices:
    """Importance of each factor, and the variances it is measured against."""

    values: NDArray[np.float64]
    """What the formula gives for each factor, in the order of the columns; or the one index of a set.

    By chance it can exceed 1. `shares` are what is shown.
    """
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    """What each factor is; empty for a set."""
    noise_variance: float
    """Variance of the response that the factors cannot explain; 0 where it is taken to be clean.

    What the formula gives: by chance it can exceed the variance of the response, and then nothing is explained.
    """
    response_variance: float
    n_rows: int
    task: Task
    method: str
    path: Path | None = None
    """How the factors were selected, where they were."""
    uncertainty: Uncertainty | None = None
    """Standard errors and p-values, where they were asked for."""
    crowding: Crowding = NO_CROWD
    """Whether there are enough rows for so many factors."""
    kept: tuple[int, ...] | None = None
    """The factors selected, if not simply those with an importance above 0."""
    findings: tuple[Finding, ...] = ()
    """What in the table makes these results misleading: identifiers, copies of rows."""

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
        """The indices as shares of what is explained, (factors,): none is above 1."""
        return np.minimum(self.values, 1.0)

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
        order = np.argsort(-self.values, kind="stable")
        return order[self.support[order]]

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """Of each index; not a number where there is none."""
        return self._sure().standard_errors

    @property
    def p_values(self) -> NDArray[np.float64]:
        """For each factor, how likely such an effect is if it adds nothing to the others."""
        return self._sure().p_values

    @property
    def weak(self) -> NDArray[np.bool_]:
        """Which selected factors may as well add nothing: their p-value is above 0.05."""
        if self.uncertainty is None:
            return np.zeros(self.values.size, dtype=bool)
        return self.support & ~(self.uncertainty.p_values <= WEAK)

    def interval(self, level: float = 0.95) -> NDArray[np.float64]:
        """Return the confidence interval of each index, (factors, 2); not a number for those without one.

        It takes account of chance, not of bias: neighbours that are not at the same place make indices too small. It
        holds the share that is shown, and goes from 0 to 1 where the ceiling may be 0.

        Parameters
        ----------
        level : float
            How often such intervals hold the truth, between 0 and 1.
        """
        margin = self._margin(level, self.standard_errors)
        interval: NDArray[np.float64] = np.clip(np.column_stack([self.shares - margin, self.shares + margin]), 0.0, 1.0)
        if self.r2_interval(level)[0] <= 0:
            interval[~np.isnan(margin)] = 0.0, 1.0
        return interval

    def r2_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of the R² ceiling; see `interval`."""
        margin = self._margin(level, self._sure().r2)
        low, high = np.clip([self.r2_ceiling - margin, self.r2_ceiling + margin], 0.0, 1.0)
        return float(low), float(high)

    def _sure(self) -> Uncertainty:
        if self.uncertainty is None:
            raise ValueError("no standard errors were computed; use uncertainty=True.")
        return self.uncertainty

    def _margin(self, level: float, errors: Any) -> Any:
        if _checks.number("level", level, 0.0, 1.0) in (0.0, 1.0):
            raise ValueError(f"level must be a number between 0 and 1, without these two; got {level!r}.")
        return ndtri((1 + level) / 2) * errors

    @property
    def ranking(self) -> NDArray[np.intp]:
        """1 for the most important factor; all with importance 0 share the last rank."""
        ranking = np.full(self.values.size, self.selected.size + 1)
        ranking[self.selected] = np.arange(1, self.selected.size + 1)
        return ranking

    @property
    def left_out(self) -> NDArray[np.intp]:
        """Positions of the others: first those that came closest to being selected, constant ones last."""
        gains = {} if self.path is None else self.path.last_gains
        others = np.flatnonzero(~self.support).tolist()
        return np.array(sorted(others, key=lambda i: (self.kinds[i] == "constant", -gains.get(i, -np.inf))), np.intp)

    def why_left_out(self, factor: int) -> str:
        """Return in a few words why a factor has importance 0."""
        if self.kinds[factor] == "constant":
            return "constant"
        if self.path is None or factor in self.path.removed:
            return "adds nothing to the others"
        if self.path.is_calibrated:
            return "adds no more than chance would"
        if factor not in self.path.last_gains:
            return "did not help when last tried"
        gain = f"{self.path.last_gains[factor]:+.3f}"
        return "R² unchanged if added" if float(gain) == 0 else f"R² {gain} if added".replace("-", "−")

    def to_frame(self, backend: _frames.Backend = "pandas") -> Any:
        """Return a data frame with a row for each factor: its importance, and how sure that is where it is known."""
        columns = {"factor": list(self.names), "importance": self.shares.tolist()}
        if self.uncertainty is not None:
            columns["standard_error"] = self.uncertainty.standard_errors.tolist()
            columns["p_value"] = self.uncertainty.p_values.tolist()
        return _frames.make_frame(columns, backend)

    def __repr__(self) -> str:
        order = np.argsort(-self.values, kind="stable")
        header, cells = ["factor", "importance"], [list(self.names), [f"{share:.4f}" for share in self.shares]]
        if self.uncertainty is not None:
            header += ["standard error", "p"]
            cells += [["" if np.isnan(error) else f"{error:.4f}" for error in self.standard_errors]]
            cells += [[format_p(p_value) for p_value in self.p_values]]
        rows = [tuple(column[i] for column in cells) for i in order]
        explained = self.explained_variance
        return (
            f"{self.method}: Var(Y) = {self.response_variance:.4g}, of which explained {explained:.4g} and noise "
            f"{self.response_variance - explained:.4g}\n{_frames.make_text(tuple(header), rows)}"
        )


def total_indices(
    X: Any,
    y: Any,
    *,
    subset: Factors | None = None,
    noise: bool = True,
    uncertainty: bool = False,
    method: str = "plug-in",
    **options: Unpack[Options],
) -> Indices:
    """Estimate the total Sobol' index of every factor, relative to all factors given.

    The total index of a factor is the share of the explainable variance that no model could reach without
    it [1]_. No model is fitted: conditional variances come from nearest neighbours.

    Parameters
    ----------
    X : array-like or table of shape (rows, factors)
        The factors. Text, boolean and categorical columns are categories.
    y : array-like of shape (rows,)
        The response: numbers, or two classes.
    subset : names, positions or mask, optional
        A set of factors whose joint total index is wanted instead of one index per factor.
    noise : bool
        True subtracts the noise variance (NANNE, Algorithm 1 of [1]_); False takes the response to be free
        of noise (NN).
    uncertainty : bool
        Whether to compute standard errors and p-values as well.
    method : {"plug-in", "subsample"}
        How: from what each row contributes, or from estimates on 50 random halves of the rows, which takes longer and
        assumes less.
    **options
        ``n_neighbors``, ``n_outer``, ``subsample``, ``scale``, ``categorical``, ``task``, ``n_jobs``,
        ``random_state``, ``estimator``: as in `FIRST`.

    Returns
    -------
    Indices
        One value per column, 0 for constant ones; a single value if ``subset`` is given.

    References
    ----------
    .. [1] Huang, C. and Joseph, V. R. (2025). Factor Importance Ranking and Selection using Total Indices.
       Technometrics.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import total_indices
    >>> X = np.random.default_rng(0).uniform(size=(500, 3))
    >>> y = np.sin(6 * X[:, 0]) + X[:, 1]
    >>> total_indices(X, y)
    NANNE: Var(Y) = 0.6288, of which explained 0.6085 and noise 0.02032
    factor  importance
    x0          0.7604
    x1          0.0972
    x2          0.0000
    """
    _checks.boolean("uncertainty", uncertainty)
    _checks.one_of("method", method, ("plug-in", "subsample"))
    with open_variances(X, y, **options) as variances:
        design, everything = variances.design, variances.design.varying
        if subset is None:
            names, kinds, positions = design.names, design.kinds, everything
            values = np.zeros(design.n_factors)
            values[list(everything)] = single_totals(variances, everything, noise)
            rests = tuple(tuple(j for j in everything if j != i) for i in everything)
        else:
            group = design.locate("subset", subset)
            names, kinds, positions = (" + ".join(design.names[i] for i in group),), (), (0,)
            values = np.array([group_total(variances, everything, group, noise)])
            rests = (tuple(i for i in everything if i not in group),)
        noise_variance = variances.of(everything) if noise else 0.0
        sure = None
        if uncertainty:
            question = Question(everything, rests, noise)
            sure = plug_in(variances, question) if method == "plug-in" else by_subsamples(variances, question)
            sure = sure.spread_over(len(names), positions)
        order = everything if subset is not None else sorted(everything, key=lambda i: -values[i])
        crowding = look_around(variances, order, variances.of(everything))
        findings = examine(variances, everything)
    warn_of_data(findings)
    warn_if_crowded(crowding, len(everything), design.n_rows)
    return Indices(
        values,
        names,
        kinds,
        noise_variance,
        variances.response.variance,
        design.n_rows,
        variances.response.task,
        "NANNE" if noise else "NN",
        uncertainty=sure,
        crowding=crowding,
        findings=findings,
    )


def explained_variance(X: Any, y: Any, subset: Factors, **options: Unpack[Options]) -> float:
    """Estimate how much of the variance of y the factors in ``subset`` explain together.

    This is V̂ of the paper, Var(Y) minus the expected conditional variance of Y given these factors, in the
    units of y squared. It is 0 for the empty set and can come out below 0 where nothing is explained.

    Parameters
    ----------
    X, y, **options
        As in `total_indices`.
    subset : names, positions or mask
        The factors.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import explained_variance
    >>> X = np.random.default_rng(0).uniform(size=(500, 3))
    >>> round(explained_variance(X, X[:, 0] + X[:, 1], [0, 1]), 2)
    0.15
    """
    with open_variances(X, y, **options) as variances:
        return variances.response.variance - variances.of(variances.design.locate("subset", subset))


def single_totals(variances: Variances, factors: tuple[int, ...], noise: bool = True) -> NDArray[np.float64]:
    """Ŝᵢ of every factor relative to ``factors`` (Algorithm 1; equation 8 without noise)."""
    without = variances.minus_each(factors)  # finds the noise variance on its way
    return _share(variances, without, variances.of(factors) if noise else 0.0)


def group_total(variances: Variances, factors: tuple[int, ...], group: tuple[int, ...], noise: bool = True) -> float:
    """Ŝ_u of the set ``group`` relative to ``factors``: the same with a set in place of one factor."""
    rest = variances.of([i for i in factors if i not in group])
    return float(_share(variances, np.array([rest]), variances.of(factors) if noise else 0.0)[0])


def _share(variances: Variances, without: NDArray[np.float64], noise: float) -> NDArray[np.float64]:
    """max(ev(S∖u) − noise, 0) / max(Var(Y) − noise, 0), all 0 where nothing can be explained."""
    explained = variances.response.variance - noise
    effects = without - noise
    if explained <= variances.tolerance:
        return np.zeros_like(effects)
    return np.where(effects > variances.tolerance, effects, 0.0) / explained
