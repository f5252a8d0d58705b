"""FIRST as a scikit-learn selector."""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from ._utils.checks import warn_user
from ._utils.packages import transform_output
from .cluster.client import is_dask
from .cluster.table import take_columns, without_rows
from .data.table import Factors, flatten_names
from .findings.finding import warn_of_findings
from .inference.row_order import find_at_once
from .inference.sample_size import warn_if_too_few_rows
from .results.explanations import Explanations, explain
from .results.sharing import Cluster, Tree
from .selection.fitting import choose, fit, log_step
from .selection.selection import ignore_step
from .settings import (
    Control,
    Elimination,
    Forward,
    Goal,
    ResponseScale,
    Rule,
    Settings,
    Task,
    VarianceEstimator,
    document,
    present_names,
)
from .variance.conditional import open_variances

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Parameters that the constructor still takes by name, and what to write instead.
DEPRECATED = {
    "subsample": "Leave it out: rows are drawn at random. Functions such as total_indices keep it",
    "response_scale": "Pass it to fit: fit(X, y, response_scale=…)",
    "output_weights": "Pass it to fit: fit(X, y, output_weights=…)",
    "cluster_cut": "Use rank(X, y, cluster_cut=…), or leave it out",
    "checkpoint": "Pass it to fit: fit(X, y, checkpoint=…)",
    "missing": "Use rank(X, y, missing=…), or leave out or refuse such rows before fit",
    "verbose": "Leave it out: path_ has each step, and rank(X, y, progress=…) reports them",
    "importance": "Use rank(X, y, importance=…), or shapley_effects(X, y)",
    "period": "Use rank(X, y, period=…), or the sine and cosine of the column as one factor of factor_groups",
}


@document
class FIRST(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Factor Importance Ranking and Selection using Total (Sobol') indices.

    Select the factors that a response depends on and estimate the importance of each, from the data alone, without a
    model to choose or tune. Factors enter one at a time, starting with the one that explains most, until no other
    factor raises the explained variance; factors that add nothing to the others are then removed. The importance of a
    selected factor is its total Sobol' index: the share of the explainable variance that no model could reach without
    it [1]_.

    The default is Algorithm 3 of the paper. Even in pure noise, some factor raises the estimated explained variance,
    so a selection by this rule is no evidence. ``rule="calibrated"``, the default of `rank`, requires evidence.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    importances_ : array of shape (factors,)
        Importance of each factor; 0 for factors that are not selected. It is the total index relative to the selected
        factors or, with ``importance="shapley"``, the Shapley effect among them. Where little is explained, a total
        index can exceed 1 by chance; ``indices_.shares`` are the values clipped to the range from 0 to 1, as tables,
        plots and reports show them. Each column of X is a factor unless ``factor_groups`` combines columns;
        ``factor_names_`` has the names of the factors, and ``feature_importances_`` repeats the importance of a factor
        for each of its columns.
    support_ : array of shape (columns,)
        Mask of the columns of X that belong to selected factors.
    ranking_ : array of shape (factors,)
        Rank of each factor; 1 is the most important. All factors that are not selected share the last rank.
    selected_ : array
        Positions of the selected factors, in order of decreasing importance.
    noise_variance_ : float
        Variance of y that the selected factors cannot explain.
    explained_variance_ : float
        Variance of y that the selected factors can explain.
    r2_ceiling_ : float
        Highest R² that any model of the selected factors can reach, from 0 to 1. ``variance_estimator="nearest"``
        underestimates it, and factors that were selected by chance inflate it.
    standard_errors_ : array of shape (factors,)
        Standard error of each importance; NaN for factors that are not selected. See `interval` for confidence
        intervals, and ``indices_.uncertainty`` for the standard errors of the noise variance and of the ceiling.
    p_values_ : array of shape (factors,)
        Probability of such an effect if the factor adds nothing to the other selected factors, adjusted for the choice
        among all candidates; under the calibrated rule also for factors that are left out. NaN under the paper's rule
        without ``split``, because p-values from the rows that were used for selection would be too small.
    q_values_ : array of shape (factors,)
        False discovery rate if a factor and all factors with smaller q-values were selected; NaN where the p-value is.
    alone_ : array of shape (factors,)
        Share of the variance explained by the selected factors that each factor, selected or not, explains by itself.
        The excess of ``alone_`` over the importance is shared with other factors. ``indices_.sharing.alone`` has
        intervals.
    clusters_ : tuple of Cluster
        Clusters of factors that share information, in order of decreasing joint total index. Each has ``factors``,
        ``joint``, ``standard_error``, ``representative`` and ``kept``, the share of the joint index that remains if
        one factor replaces all of them.
    tree_ : Tree or None
        Dependence tree of the selected factors and of those related to them, with the joint total index of each node.
        Prints as a table; ``tree_.linkage`` is a linkage matrix for scipy's dendrogram.
    explanations_ : Explanations
        Reason why each factor was selected or left out; see `explain`.
    path_ : Path
        Every step of the selection with every candidate. Prints as a table; see ``path_.to_frame()``.
    indices_ : Indices
        All of the above in one object, with the kind of each factor and the reason why it was left out.
    factor_names_ : array of str
        Name of each factor.
    classes_ : array
        Class labels; only for classification.
    task_ : {"regression", "classification"}
        Kind of response that y was treated as.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : array of str
        Names of the columns seen during `fit`, if the table has any. Levels of a pandas MultiIndex are joined by "_".

    See Also
    --------
    rank : Rank the factors of a file or data frame by the calibrated rule, with notes and a report.
    total_indices : Estimate total indices of all factors, without a selection.
    stability : Count how often each factor is selected on random half-samples.

    Notes
    -----
    Ties between factors go to the one that comes first in the table. Differences in explained variance below 1e-12 of
    the variance of y are due to rounding and count as ties. Constant factors are never selected.

    `fit` computes the selection and the importances. Other results are computed on first access: standard errors and
    p-values, shared information (``alone_``, ``clusters_``, ``tree_``), explanations and ``indices_.findings``. They
    are the same as if `fit` had computed them, even if X and y have changed since: the selector keeps its own encoded
    copy of the table, 8 bytes for each value, until all of them are computed. A pickle or a deep copy contains all
    results and no table, so making one computes what is still missing. Tables that are not in memory, such as those of
    Dask, are not copied: `fit` then computes everything. Access is thread-safe.

    `fit` warns about rows that were left out, identifiers, duplicate rows and a response that may be class labels. It
    warns about serially dependent rows only if y alone shows it, because the full check takes longer than a small fit;
    ``indices_.findings`` has its result.

    The constructor takes these parameters until 0.5, with a FutureWarning: ``response_scale``, ``output_weights`` and
    ``checkpoint``, which are for `fit`; ``importance``, ``missing``, ``period`` and ``cluster_cut``, which `rank` has;
    ``subsample`` and ``verbose``.

    References
    ----------
    .. [1] Huang, C. and Joseph, V. R. (2025). Factor Importance Ranking and Selection using Total Indices.
       Technometrics 67. https://doi.org/10.1080/00401706.2025.2483531

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import FIRST
    >>> X = np.random.default_rng(0).uniform(size=(500, 4))
    >>> y = np.sin(6 * X[:, 2]) + X[:, 1]
    >>> selector = FIRST().fit(X, y)
    >>> selector.selected_
    array([2, 1])
    >>> selector.importances_.round(3)
    array([0.   , 0.122, 0.798, 0.   ])
    """

    support_: NDArray[np.bool_]

    def __init__(
        self,
        n_neighbors: int | None = Settings.n_neighbors,
        n_outer: int | float | None = Settings.n_outer,
        forward: Forward = Settings.forward,
        elimination: Elimination = Settings.elimination,
        *,
        scale: bool | Mapping[Any, float] = Settings.scale,
        categorical: Factors | None = Settings.categorical,
        task: Task = Settings.task,
        n_jobs: int | None = Settings.n_jobs,
        random_state: Any = Settings.random_state,
        variance_estimator: VarianceEstimator | None = Settings.variance_estimator,
        rule: Rule = Settings.rule,
        alpha: float = Settings.alpha,
        control: Control = Settings.control,
        goal: Goal = Settings.goal,
        split: bool = Settings.split,
        factor_groups: Mapping[str, Factors] | None = Settings.factor_groups,
        forced: Factors | None = Settings.forced,
        max_factors: int | None = Settings.max_factors,
        min_factors: int = Settings.min_factors,
        compact: bool | float = Settings.compact,
        **deprecated: Any,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_outer = n_outer
        self.forward = forward
        self.elimination = elimination
        self.scale = scale
        self.categorical = categorical
        self.task = task
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.variance_estimator = variance_estimator
        self.rule = rule
        self.alpha = alpha
        self.control = control
        self.goal = goal
        self.split = split
        self.factor_groups = factor_groups
        self.forced = forced
        self.max_factors = max_factors
        self.min_factors = min_factors
        self.compact = compact
        for name, value in present_names(deprecated, [each.name for each in fields(Settings)]).items():
            setattr(self, name, value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, and deprecated ones that were given.

        Parameters
        ----------
        deep : bool, default True
            As in scikit-learn; no parameter has parameters of its own.

        Returns
        -------
        dict
            Value of each parameter.
        """
        given = {name: value for name, value in vars(self).items() if name in DEPRECATED}
        return {**super().get_params(deep), **given}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, as in scikit-learn.

        Parameters
        ----------
        **params : keyword arguments
            New value of each parameter.

        Returns
        -------
        FIRST
            The selector.
        """
        for name, value in present_names(params, [each.name for each in fields(Settings)]).items():
            setattr(self, name, value)
        return self

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        response_scale: ResponseScale | None = None,
        output_weights: Sequence[float] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Select factors and estimate their importance.

        Parameters
        ----------
        X : array-like or table of shape (rows, columns)
            The factors: a numpy array, a list of rows, a pandas, polars or pyarrow table, or a Dask DataFrame or Array,
            which is processed on the cluster of the current Dask client.
        y : array-like of shape (rows,) or (rows, outputs)
            The response: numbers or class labels. Several outputs are standardised and explained together.
        sample_weight : array-like of shape (rows,), optional
            Weight of each row in means and in the variance of y. Weights do not affect which rows are neighbours: a
            weight of 2 is not the same as a duplicate row, which would be its own neighbour without noise. Rows with
            weight 0, or below 1e-100 of the largest, are left out.
        groups : array-like of shape (rows,), optional
            Group label of each row, such as a person, batch, site or month. Rows of the same group are never
            neighbours, and random half-samples, bootstrap draws and standard errors keep them together.
        response_scale : {"values", "ranks", "normal-scores"}, optional
            Scale on which a numeric response is explained: its values, their ranks, or normal scores of the ranks.
            Ranks and normal scores are less sensitive to outliers. Default: values.
        output_weights : sequence of float, optional
            Weight of each output, if there are several. Outputs are standardised first. Default: equal weights.
        checkpoint : path, optional
            File in which each finished step is saved. A run that was stopped resumes from this file if it is started
            again on the same table with the same parameters. ``random_state`` must be a whole number.

        Returns
        -------
        FIRST
            The fitted selector.
        """
        settings = self._validated_params(
            response_scale=response_scale, output_weights=output_weights, checkpoint=checkpoint
        )
        X = flatten_names(X)
        with open_variances(X, y, settings, sample_weight, groups) as variances:
            task, classes = variances.response.task, variances.response.classes
            self.indices_ = fit(variances, settings, log_step if settings.verbose else ignore_step)
            warn_of_findings(find_at_once(variances, self.indices_))
        warn_if_too_few_rows(self.indices_.sample_size)
        seen = without_rows(X) if is_dask(X) else X
        validate_data(self, seen, skip_check_array=True)  # n_features_in_, feature_names_in_
        self.task_ = task
        if classes:
            self.classes_ = np.array(classes)
        elif hasattr(self, "classes_"):  # from an earlier fit
            del self.classes_
        self.path_ = self.indices_.path
        self.noise_variance_ = self.indices_.noise_variance
        self.explained_variance_ = self.indices_.explained_variance
        self.r2_ceiling_ = self.indices_.r2_ceiling
        self.importances_ = self.indices_.values
        self.factor_names_ = np.array(self.indices_.names, dtype=object)
        self.support_ = self._by_column(self.indices_.support)
        self.selected_ = self.indices_.selected
        self.ranking_ = self.indices_.ranking
        self.explanations_ = Explanations(self.indices_)
        return self

    def _by_column(self, of_factors: NDArray[Any]) -> NDArray[Any]:
        """Repeat per-factor values for each column of X."""
        members = self.indices_.members
        columns = np.empty(self.n_features_in_, dtype=of_factors.dtype)
        columns[list(chain.from_iterable(members))] = np.repeat(of_factors, [len(some) for some in members])
        return columns

    def choose(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        response_scale: ResponseScale | None = None,
        output_weights: Sequence[float] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> NDArray[np.bool_]:
        """Return a mask of the factors that `fit` would select, without estimating their importance.

        Parameters
        ----------
        X, y, sample_weight, groups : array-like
            As in `fit`.
        response_scale, output_weights, checkpoint : optional
            As in `fit`.

        Returns
        -------
        array of bool of shape (factors,)
            True for factors that would be selected.
        """
        settings = self._validated_params(
            response_scale=response_scale, output_weights=output_weights, checkpoint=checkpoint
        )
        with open_variances(X, y, settings, sample_weight, groups) as variances:
            chosen = choose(variances, settings)
        return np.isin(np.arange(variances.design.n_factors), chosen)

    def _validated_params(self, **of_call: Any) -> Settings:
        """Return the parameters, those of a call before those of the constructor, after checking them."""
        given = {name: value for name, value in vars(self).items() if name in {each.name for each in fields(Settings)}}
        for name in [name for name in DEPRECATED if name in given]:
            message = f"{name} of FIRST is deprecated since 0.3 and will be removed in 0.5. {DEPRECATED[name]}."
            warn_user(message, FutureWarning)
        return Settings(
            **given | {name: value for name, value in of_call.items() if value is not None}
        ).resolve_estimator()

    def _params_used(self) -> dict[str, Any]:
        """Return the parameters of the last fit by name."""
        given: dict[str, Any] = self.get_params()
        return given | {name: getattr(self.indices_.procedure, name) for name in DEPRECATED}

    def _call(self) -> str:
        """Return the call that repeats the last fit."""
        used, defaults = self._params_used(), Settings()
        of_fit = [name for name in ("response_scale", "output_weights") if used[name] != getattr(defaults, name)]
        details = "".join(f", {name}={used[name]!r}" for name in of_fit if name not in vars(self))
        whole: str = super().__repr__(N_CHAR_MAX=10_000)
        return f"{whole}.fit(X, y{details})"

    def interval(self, level: float = 0.95) -> NDArray[np.float64]:
        """Return the confidence interval of each importance.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level, between 0 and 1.

        Returns
        -------
        array of shape (factors, 2)
            Lower and upper limits, as in `Indices.interval`; NaN for factors that are not selected.
        """
        check_is_fitted(self)
        return self.indices_.interval(level)

    def explain(self, factor: str | int) -> str:
        """Explain in one sentence why a factor was selected or left out.

        Parameters
        ----------
        factor : str or int
            Name or position of the factor.

        Returns
        -------
        str
            The sentence.
        """
        check_is_fitted(self)
        return explain(self.indices_, factor)

    @property
    def standard_errors_(self) -> NDArray[np.float64]:
        """Standard error of each importance; computed on first access."""
        check_is_fitted(self)
        return self.indices_.standard_errors

    @property
    def p_values_(self) -> NDArray[np.float64]:
        """P-value of each factor; computed with the standard errors."""
        check_is_fitted(self)
        return self.indices_.p_values

    @property
    def q_values_(self) -> NDArray[np.float64]:
        """Q-value of each factor; computed with the standard errors."""
        check_is_fitted(self)
        return self.indices_.q_values

    @property
    def alone_(self) -> NDArray[np.float64]:
        """Share that each factor explains by itself; computed on first access, with the clusters and the tree."""
        check_is_fitted(self)
        sharing = self.indices_.sharing
        return np.full(len(self.indices_.names), np.nan) if sharing is None else sharing.alone.values

    @property
    def clusters_(self) -> tuple[Cluster, ...]:
        """Clusters of factors that share information; computed on first access."""
        check_is_fitted(self)
        sharing = self.indices_.sharing
        return () if sharing is None else sharing.clusters

    @property
    def tree_(self) -> Tree | None:
        """Dependence tree of the factors; computed on first access."""
        check_is_fitted(self)
        sharing = self.indices_.sharing
        return None if sharing is None else sharing.tree

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importance of the factor that each column of X belongs to."""
        check_is_fitted(self)
        return self._by_column(self.importances_)

    def transform(self, X: Any) -> Any:
        """Return the selected columns of ``X``.

        Parameters
        ----------
        X : array-like or table of shape (rows, columns)
            A table with the columns seen during `fit`, in the same order.

        Returns
        -------
        array or table of shape (rows, selected columns)
            An array, or a data frame that keeps the column types if `set_output` asks for one. A Dask table stays lazy.
        """
        check_is_fitted(self)
        if not self.support_.any():
            warn_user("No features were selected, so no column is left. FIRST(min_factors=1) keeps one.", UserWarning)
        if is_dask(X):
            validate_data(self, without_rows(X), skip_check_array=True, reset=False)
            return take_columns(X, np.flatnonzero(self._get_support_mask()).tolist())
        X = flatten_names(X)
        wanted = transform_output(self)
        frame = nw.from_native(X, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            table = validate_data(self, X, dtype=None, accept_sparse="csr", ensure_all_finite=False, reset=False)
            return check_array(
                table[:, self.support_],
                dtype=None,
                accept_sparse="csr",
                ensure_min_features=0,
                ensure_all_finite="allow-nan",
            )
        validate_data(self, X, skip_check_array=True, reset=False)
        chosen = frame[:, np.flatnonzero(self._get_support_mask()).tolist()]
        if wanted == "default":
            values = _as_array(chosen, len(frame))
            has_labels = any(isinstance(kind, nw.Categorical | nw.Enum) for kind in chosen.schema.values())
            finite: Any = False if has_labels else "allow-nan"  # labels may be any numbers
            return check_array(values, dtype=None, ensure_min_features=0, ensure_all_finite=finite)
        return chosen.to_pandas() if wanted == "pandas" else chosen.to_polars()

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plot the importance of each factor; see `firstfactor.plots` for other plots.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw into. Default: a new figure.

        Returns
        -------
        matplotlib Axes
            Axes with the plot.
        """
        from .plots import plot_importance

        check_is_fitted(self)
        return plot_importance(self, ax)

    def report(self, path: str | os.PathLike[str], X: Any = None, y: Any = None, **details: Any) -> None:
        """Write the results to one self-contained HTML page.

        Parameters
        ----------
        path : path
            File to write.
        X, y : array-like, optional
            Data passed to `fit`, for the sections on effects and on the data.
        **details : keyword arguments
            ``title``; ``call``, the command or call that repeats the analysis; ``notes``, sentences on how the data
            were prepared; ``settings``, a mapping of parameters to values; ``stability``, the result of `stability`;
            ``source``, the name, size and sha256 of the table; ``sample_weight`` and ``groups``, as passed to `fit`.
        """
        from .reporting.report import write_report

        check_is_fitted(self)
        write_report(self, path, X, y, **details)

    @property
    def _repr_html_(self) -> Callable[[], str]:
        """Diagram of scikit-learn for notebooks, after a table of the result if the selector is fitted."""
        diagram = super()._repr_html_  # raises AttributeError if scikit-learn is set to show text
        return lambda: self._with_table(diagram())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._with_table(bundle["text/html"])
        return bundle

    def _with_table(self, diagram: str) -> str:
        if not hasattr(self, "indices_"):
            return diagram
        from .reporting.notebook import compact_table

        return compact_table(self.indices_) + diagram

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.target_tags.multi_output = True
        return tags


# Without the deprecated names.
FIRST.__signature__ = inspect.signature(FIRST).replace(
    parameters=[each for each in inspect.signature(FIRST).parameters.values() if each.kind is not each.VAR_KEYWORD]
)


def _as_array(frame: "nw.DataFrame[Any]", n_rows: int) -> NDArray[Any]:
    """Convert a table to an array; of objects if it has dates, which share no type with other columns."""
    if not frame.columns:
        return np.empty((n_rows, 0))  # a table without columns has lost its number of rows
    if len(frame.columns) > 1 and any(dtype.is_temporal() for dtype in frame.schema.values()):
        return np.array([column.to_list() for column in frame.iter_columns()], dtype=object).T
    return frame.to_numpy()
