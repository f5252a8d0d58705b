"""Public functions: each validates its arguments, calls the stages in order, and returns a result."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from ._utils import checks
from .data.table import Factors
from .dependence.shapley import estimate_shapley
from .findings.finding import warn_of_findings
from .inference.estimates import estimate, find_interactions
from .inference.row_order import find_at_once
from .inference.sample_size import diagnose_sample_size, warn_if_too_few_rows
from .inference.targets import closed_target
from .inference.totals import estimate_closed, estimate_totals
from .results.cumulative import CumulativeRanking
from .results.indices import Indices
from .results.interactions import Interactions
from .results.stability import Stability
from .selection.algorithms import eliminate, rank_by_gain
from .selection.fitting import estimate_selected
from .selection.stability import Pairs, Progress, select_on_halves
from .settings import Options, OptionsDict, find
from .variance.conditional import Variances, open_variances

if TYPE_CHECKING:
    from .first import FIRST


def total_indices(
    X: Any,
    y: Any,
    *,
    subset: Factors | None = None,
    noise: bool = True,
    uncertainty: bool = False,
    method: str = "plug-in",
    sample_weight: Any = None,
    groups: Any = None,
    **options: Unpack[OptionsDict],
) -> Indices:
    """Estimate the total Sobol' index of every factor, relative to all factors given.

    The total index of a factor is the share of the explainable variance that no model could reach without
    it [1]_. No model is fitted: by default, conditional variances are estimated from nearest neighbours.

    Parameters
    ----------
    X : array-like or table of shape (rows, factors)
        The factors. Text, boolean and categorical columns are categories.
    y : array-like of shape (rows,) or (rows, outputs)
        The response: numbers or class labels. Several outputs are standardised and explained together.
    subset : names, positions or mask, optional
        Factors whose joint total index is estimated, instead of one index per factor.
    noise : bool, default True
        Whether to subtract the noise variance (NANNE, Algorithm 1 of [1]_). False assumes a response without noise
        (NN).
    uncertainty : bool, default False
        Whether to compute standard errors and p-values as well.
    method : {"plug-in", "subsample"}, default "plug-in"
        Estimator of the standard errors. "plug-in": from the contribution of each row. "subsample": from estimates on
        50 random half-samples, which takes longer and makes fewer assumptions.
    sample_weight, groups : array-like of shape (rows,), optional
        As in `FIRST.fit`.
    **options : keyword arguments
        ``n_neighbors``, ``n_outer``, ``subsample``, ``scale``, ``categorical``, ``factor_groups``, ``period``,
        ``missing``, ``task``, ``response_scale``, ``output_weights``, ``n_jobs``, ``random_state``,
        ``variance_estimator``, ``checkpoint``: as in `rank` and `FIRST`.

    Returns
    -------
    Indices
        One value per factor, 0 for constant factors; a single value if ``subset`` is given.

    See Also
    --------
    FIRST : Select factors first; the better choice if many factors matter little.
    closed_indices : Estimate the share that each factor explains alone.
    shapley_effects : Estimate fair shares, which add up to 1.

    References
    ----------
    .. [1] Huang, C. and Joseph, V. R. (2025). Factor Importance Ranking and Selection using Total Indices.
       Technometrics 67. https://doi.org/10.1080/00401706.2025.2483531

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
    checks.boolean("uncertainty", uncertainty)
    checks.one_of("method", method, ("plug-in", "subsample"))
    with open_variances(X, y, Options.parse(options), sample_weight, groups) as variances:
        return _warn(variances, estimate_totals(variances, subset, noise, method if uncertainty else None))


def _warn(variances: Variances, indices: Indices) -> Indices:
    """Return the indices after warning about the table and about too few rows."""
    warn_of_findings(find_at_once(variances, indices))
    warn_if_too_few_rows(indices.sample_size)
    return indices


def explained_variance(
    X: Any,
    y: Any,
    subset: Factors,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    **options: Unpack[OptionsDict],
) -> float:
    """Estimate the variance of y that the factors in ``subset`` explain together.

    This is V̂ of the paper: Var(Y) minus the expected conditional variance of Y given these factors, in the
    units of y squared. It is 0 for the empty set, and the estimate can be negative if nothing is explained.

    Parameters
    ----------
    X, y : array-like
        As in `total_indices`.
    subset : names, positions or mask
        Factors that explain y.
    sample_weight, groups : array-like of shape (rows,), optional
        As in `FIRST.fit`.
    **options : keyword arguments
        As in `total_indices`.

    Returns
    -------
    float
        The explained variance, in the units of y squared.

    See Also
    --------
    closed_indices : Estimate the same as a share of what all factors explain, with standard errors.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import explained_variance
    >>> X = np.random.default_rng(0).uniform(size=(500, 3))
    >>> round(explained_variance(X, X[:, 0] + X[:, 1], [0, 1]), 2)
    0.15
    """
    with open_variances(X, y, Options.parse(options), sample_weight, groups) as variances:
        return variances.response.variance - variances.of(variances.design.locate("subset", subset))


def closed_indices(
    X: Any,
    y: Any,
    *,
    subset: Factors | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    **options: Unpack[OptionsDict],
) -> Indices:
    """Estimate first-order (closed) Sobol' indices: the share that each factor, or a set of factors, explains alone.

    These are V(u)/V(S), the share of the variance explained by all factors S that the factors u explain without the
    others. Noise cancels. A negative estimate of V(u), which occurs by chance if u explains nothing, is set to 0. If
    factors share information, a factor can explain much alone although little is lost without it: compare
    `total_indices`.

    Parameters
    ----------
    X, y : array-like
        As in `total_indices`.
    subset : names, positions or mask, optional
        Factors whose closed index as a set is estimated, instead of one index per factor.
    sample_weight, groups : array-like of shape (rows,), optional
        As in `FIRST.fit`.
    **options : keyword arguments
        As in `total_indices`; ``variance_estimator`` is "adaptive" unless given.

    Returns
    -------
    Indices
        One value per factor, 0 for constant factors, with standard errors; a single value if ``subset`` is given.

    See Also
    --------
    total_indices : Estimate the share that is lost without each factor.
    cumulative_ranking : Estimate the share that the first factors of a ranking explain together.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import closed_indices
    >>> X = np.random.default_rng(0).uniform(size=(500, 3))
    >>> closed_indices(X, X[:, 0] + 2 * X[:, 1]).values.round(1)
    array([0.2, 0.8, 0. ])
    """
    with open_variances(X, y, _parse(options), sample_weight, groups) as variances:
        return _warn(variances, estimate_closed(variances, subset))


def shapley_effects(
    X: Any,
    y: Any,
    *,
    uncertainty: bool = True,
    sample_weight: Any = None,
    groups: Any = None,
    **options: Unpack[OptionsDict],
) -> Indices:
    """Estimate Shapley effects, the factors' fair shares of the explained variance, which add up to 1.

    The Shapley effect of a factor is its contribution to the factors before it, averaged over all orders [1]_. Factors
    that carry the same information divide it between them; total indices attribute it to none of them. Noise cancels.
    Use ``factor_groups`` to estimate the shares of groups.

    Parameters
    ----------
    X, y : array-like
        As in `total_indices`.
    uncertainty : bool, default True
        Whether to compute standard errors and p-values as well.
    sample_weight, groups : array-like of shape (rows,), optional
        As in `FIRST.fit`.
    **options : keyword arguments
        As in `total_indices`.

    Returns
    -------
    Indices
        One value per factor, 0 for constant factors. Estimates can be slightly negative.

    See Also
    --------
    total_indices : Estimate the share that is lost without each factor.
    closed_indices : Estimate the share that each factor explains alone.

    Notes
    -----
    For up to 15 factors, all subsets are evaluated. For more, orders are sampled at random until the Monte Carlo error
    of every share is at most 0.01, or until 1,000 orders are sampled; standard errors include this error.

    References
    ----------
    .. [1] Owen, A. B. (2014). Sobol' indices and Shapley value. SIAM/ASA Journal on Uncertainty Quantification 2,
       245-251.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import shapley_effects
    >>> X = np.random.default_rng(0).uniform(size=(500, 2))
    >>> X = np.column_stack([X, X[:, 1]])  # the last two are the same
    >>> shapley_effects(X, X[:, 0] + X[:, 1]).values.round(1)
    array([0.5, 0.2, 0.2])
    """
    checks.boolean("uncertainty", uncertainty)
    with open_variances(X, y, Options.parse(options), sample_weight, groups, many_sets=True) as variances:
        return _warn(variances, estimate_shapley(variances, uncertainty))


def interactions(
    X: Any,
    y: Any,
    *,
    factors: Factors | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    **options: Unpack[OptionsDict],
) -> Interactions:
    """Estimate the interaction of pairs of factors: which work together, and which replace each other.

    The value of a pair is its joint total index minus the total index of each factor. It is negative for factors that
    work together, such as x₁ and x₂ in x₁x₂, and positive for factors that carry the same information.

    Parameters
    ----------
    X, y : array-like
        As in `total_indices`.
    factors : names, positions or mask, optional
        Factors whose pairs are estimated. Default: all.
    sample_weight, groups : array-like of shape (rows,), optional
        As in `FIRST.fit`.
    **options : keyword arguments
        As in `total_indices`; ``variance_estimator`` is "adaptive" unless given.

    Returns
    -------
    Interactions
        Value of each pair with its standard error and p-value; printed with the strongest pairs first.

    See Also
    --------
    total_indices : Estimate the joint total index of two or more factors, with ``subset``.
    firstfactor.plots.plot_pair : Plot the joint effect of two factors.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import interactions
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> interactions(X, X[:, 0] * X[:, 1] + X[:, 2]).values.round(1) + 0.0
    array([-0.4,  0. ,  0. ])
    """
    with open_variances(X, y, _parse(options), sample_weight, groups) as variances:
        design, everything = variances.design, variances.design.varying
        variances = variances.around(everything)
        among = everything if factors is None else design.locate("factors", factors)
        size = diagnose_sample_size(variances, everything, variances.of(everything))
        found = find_interactions(variances, everything, among, size)
    warn_if_too_few_rows(size)
    return found


def cumulative_ranking(
    X: Any, y: Any, *, sample_weight: Any = None, groups: Any = None, **options: Unpack[OptionsDict]
) -> CumulativeRanking:
    """Rank all factors by forward selection without a stopping rule.

    The first factor is the one that explains most, and each next factor is the one that explains most together with
    those before it. Every factor that varies is ranked. Cumulative values are shares of the variance that all factors
    explain together, so that noise cancels.

    Parameters
    ----------
    X, y : array-like
        As in `total_indices`.
    sample_weight, groups : array-like of shape (rows,), optional
        As in `FIRST.fit`.
    **options : keyword arguments
        As in `total_indices`; ``variance_estimator`` is "adaptive" unless given.

    Returns
    -------
    CumulativeRanking
        Factors in order, and cumulative shares with their standard errors.

    See Also
    --------
    FIRST : Stop when no factor helps, and remove factors that are not needed.
    closed_indices : Estimate the share that each factor explains alone.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import cumulative_ranking
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> y = 3 * X[:, 2] + 2 * X[:, 0] + X[:, 1] + np.random.default_rng(1).normal(size=1000)
    >>> cumulative_ranking(X, y).ranking
    ('x2', 'x0', 'x1')
    """
    with open_variances(X, y, _parse(options), sample_weight, groups) as variances:
        everything = variances.design.varying
        variances = variances.around(everything)
        order = rank_by_gain(variances)
        size = diagnose_sample_size(variances, order, variances.of(everything))
        target = closed_target(everything, [order[: k + 1] for k in range(len(order))])
        found = estimate(variances, target, size)
        ceiling = max(1 - target.left(variances), 0.0)
    warn_if_too_few_rows(size)
    return CumulativeRanking(variances.design.names, order, found, ceiling)


def _parse(options: OptionsDict) -> Options:
    """Return the options, with the adaptive estimator, which has least bias, unless one is given."""
    parsed = Options.parse(options)
    return parsed if parsed.variance_estimator is not None else replace(parsed, variance_estimator="adaptive")


def backward_elimination(
    X: Any,
    y: Any,
    *,
    elimination: str = "batch",
    uncertainty: bool = False,
    sample_weight: Any = None,
    groups: Any = None,
    **options: Unpack[OptionsDict],
) -> Indices:
    """Estimate importances after backward elimination from all factors (NANNE-BE, Algorithm 2).

    Factors with a total index of 0 are removed and the other indices re-estimated, until all are positive.

    Parameters
    ----------
    X, y : array-like
        As in `total_indices`.
    elimination : {"batch", "single"}, default "batch"
        In each step, remove all factors with index 0 ("batch") or only the least useful one ("single").
    uncertainty : bool, default False
        Whether to compute standard errors and p-values as well.
    sample_weight, groups : array-like of shape (rows,), optional
        As in `FIRST.fit`.
    **options : keyword arguments
        As in `total_indices`.

    Returns
    -------
    Indices
        One value per factor, 0 for factors that were removed; ``path`` has every step.

    See Also
    --------
    FIRST : Start with forward selection, which can handle many factors.
    total_indices : Estimate total indices without elimination.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import backward_elimination
    >>> X = np.random.default_rng(0).uniform(size=(500, 3))
    >>> y = np.sin(6 * X[:, 0]) + X[:, 1]
    >>> backward_elimination(X, y)
    NANNE-BE: Var(Y) = 0.6288, of which explained 0.6253 and noise 0.003544
    factor  importance
    x0          0.8138
    x1          0.1012
    x2          0.0000
    """
    checks.one_of("elimination", elimination, find("elimination").metadata["choices"])
    with open_variances(X, y, Options.parse(options), sample_weight, groups) as variances:
        selection = eliminate(variances, variances.design.varying, elimination)
        return _warn(variances, estimate_selected(variances, selection, "NANNE-BE", uncertainty))


def stability(
    X: Any,
    y: Any,
    *,
    n_pairs: int = Pairs.n_pairs,
    threshold: float = Pairs.threshold,
    selector: "FIRST | None" = None,
    n_jobs: int | None = -1,
    random_state: Any = None,
    progress: Progress | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    response_scale: str | None = None,
    output_weights: Sequence[float] | None = None,
) -> Stability:
    """Compute how often each factor is selected on random half-samples.

    The rows are split at random into two halves, factors are selected on each half, and this is repeated
    (complementary pairs stability selection [1]_). A factor that is selected on most half-samples does not depend on a
    few rows.

    Parameters
    ----------
    X : array-like or table of shape (rows, factors)
        The factors: a numpy array, a list of rows, or a pandas, polars or pyarrow table. At least 4 rows.
    y : array-like of shape (rows,)
        The response: numbers, or two classes.
    n_pairs : int, default 50
        Number of random splits. Each takes two fits.
    threshold : float, default 0.6
        Share of half-samples, above 0.5, on which a factor must be selected to count as selected (τ).
    selector : FIRST, optional
        Selector to use. It need not be fitted and is not changed. Default: ``FIRST()``. Its ``n_jobs``,
        ``random_state`` and ``verbose`` are ignored.
    n_jobs : int or None, default -1
        Number of half-samples processed in parallel, as in joblib: -1 means all cores, None means 1 unless in a joblib
        context. Results are bit-for-bit identical for any number.
    random_state : int, Generator or None, default None
        Seed for the splits, and for rows that the selector draws.
    progress : callable, optional
        Called as ``progress(done, total)`` after each half-sample, in the calling thread.
    sample_weight, groups : array-like of shape (rows,), optional
        As in `FIRST.fit`. Groups stay together: each half-sample contains half of them.
    response_scale, output_weights : optional
        As in `FIRST.fit`.

    Returns
    -------
    Stability
        Selection frequency of each factor, and bounds on the expected number of false selections.

    See Also
    --------
    FIRST : Select on all rows or, with ``split=True``, on one half.
    firstfactor.plots.plot_stability : Plot the frequencies.

    Notes
    -----
    Each half-sample has ⌊N/2⌋ rows. With two classes, both halves have the same number of rows of each class, or one
    more of one class and one less of the other. All rows decide whether y is a class label and which factors are
    categories. A factor that is constant on a half-sample is not selected there, and nothing is selected where y is
    constant.

    Bounds on false selections: let q be the average number of factors selected on a half-sample, and p the number of
    factors that are not constant. A factor has *low selection probability* if the probability that it is selected on a
    half-sample is at most θ = q/p, that is, no larger than if as many factors were drawn at random. The expected number
    of such factors among those selected at the threshold τ is at most q² / ((2τ − 1) p), for any data and any selector
    (``expected_false``). It is at most about half of this if, in addition, the share of pairs in which both halves
    select such a factor has a unimodal distribution (``expected_false_unimodal``). Limitations:

    - Rows must be independent draws (with two classes: within each class, given the number of rows of each).
    - q is estimated by the average over the half-samples, so the bounds are estimates as well.
    - A factor without any influence has low selection probability only if the selector prefers it no more than
      drawing at random would. A factor that is correlated with a true one may be selected often; the bounds do not
      count it.
    - With few factors, many of which matter, q/p is large and the bounds exceed the number of factors selected. They
      are returned nevertheless, but are uninformative. A stricter selector or a higher threshold helps.

    References
    ----------
    .. [1] Shah, R. D. and Samworth, R. J. (2013). Variable selection with error control: another look at stability
       selection. Journal of the Royal Statistical Society B 75, 55-80.

    Examples
    --------
    >>> import numpy as np
    >>> from firstfactor import stability
    >>> X = np.random.default_rng(0).uniform(size=(400, 5))
    >>> y = np.sin(6 * X[:, 2]) + X[:, 1]
    >>> stability(X, y, n_pairs=10, random_state=0).selected
    array([1, 2])
    """
    settings = _check_selector(selector)._validated_params(response_scale=response_scale, output_weights=output_weights)
    settings = replace(settings, n_jobs=n_jobs, random_state=random_state)
    return select_on_halves(X, y, settings, Pairs(n_pairs, threshold), progress, sample_weight, groups)


def _check_selector(selector: Any) -> "FIRST":
    from .first import FIRST  # imports scikit-learn, which no other function needs

    if selector is None:
        return FIRST()
    if not isinstance(selector, FIRST):
        kind = selector.__name__ if isinstance(selector, type) else type(selector).__name__
        raise TypeError(f"selector must be a FIRST object, such as FIRST(n_neighbors=3); got {kind}.")
    return selector
