"""The public functions: each validates, calls the stages in order, and returns a result."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from ._utils import checks
from .data.quality import warn_of_findings
from .data.table import Factors
from .dependence.pairs import find_interactions
from .dependence.shares import estimate_closed, estimate_shapley
from .inference.estimates import estimate
from .inference.row_order import find_at_once
from .inference.sample_size import diagnose_sample_size, warn_if_too_few_rows
from .inference.targets import closed_target
from .inference.totals import estimate_totals
from .parameters import Options, OptionsDict, Procedure
from .results.cumulative import CumulativeRanking
from .results.indices import Indices
from .results.interactions import Interactions
from .results.stability import Stability
from .selection.backward import eliminate
from .selection.cumulative import rank_by_gain
from .selection.fitting import estimate_selected
from .selection.stability import Pairs, Progress, select_on_halves
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
    it [1]_. No model is fitted: conditional variances come from nearest neighbours.

    Parameters
    ----------
    X : array-like or table of shape (rows, factors)
        The factors. Text, boolean and categorical columns are categories.
    y : array-like of shape (rows,) or (rows, outputs)
        The response: numbers or classes; several outputs are standardised and explained together.
    subset : names, positions or mask, optional
        A set of factors whose joint total index is wanted instead of one index per factor.
    noise : bool, default True
        True subtracts the noise variance (NANNE, Algorithm 1 of [1]_); False takes the response to be free
        of noise (NN).
    uncertainty : bool, default False
        Whether to compute standard errors and p-values as well.
    method : {"plug-in", "subsample"}, default "plug-in"
        How: from what each row contributes, or from estimates on 50 random halves of the rows, which takes longer and
        assumes less.
    sample_weight, groups : array-like of shape (rows,), optional
        As in `FIRST.fit`.
    **options : keyword arguments
        ``n_neighbors``, ``n_outer``, ``subsample``, ``scale``, ``categorical``, ``factor_groups``, ``period``,
        ``missing``, ``task``, ``response``, ``output_weights``, ``n_jobs``, ``random_state``, ``estimator``,
        ``checkpoint``: as in `FIRST`.

    Returns
    -------
    Indices
        One value per factor, 0 for constant ones; a single value if ``subset`` is given.

    See Also
    --------
    FIRST : Selects factors first, and is the better choice where many factors matter little.
    closed_indices : What each factor explains alone.
    shapley_effects : Fair shares, which add up to 1.

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
    """Return indices, after warnings about the table and about too few rows."""
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
    """Estimate how much of the variance of y the factors in ``subset`` explain together.

    This is V̂ of the paper, Var(Y) minus the expected conditional variance of Y given these factors, in the
    units of y squared. It is 0 for the empty set and can come out below 0 where nothing is explained.

    Parameters
    ----------
    X, y : array-like
        As in `total_indices`.
    subset : names, positions or mask
        The factors.
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
    closed_indices : The same as a share of what all factors explain, with standard errors.

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
    """Estimate what each factor, or a set of them, explains alone: first-order (closed) Sobol' indices.

    These are V(u)/V(S), the share of the variance explained by all factors S that the factors u explain without the
    others. What noise leaves cancels. An estimate V(u) below 0, which chance gives where u explains nothing, is set to
    0. Where factors share information, a factor can explain much alone and still not be missed: compare
    `total_indices`.

    Parameters
    ----------
    X, y : array-like
        As in `total_indices`.
    subset : names, positions or mask, optional
        A set of factors whose closed index is wanted instead of one index per factor.
    sample_weight, groups : array-like of shape (rows,), optional
        As in `FIRST.fit`.
    **options : keyword arguments
        As in `total_indices`; ``estimator`` is "adaptive" unless given.

    Returns
    -------
    Indices
        One value per factor, 0 for constant ones, with standard errors; a single value if ``subset`` is given.

    See Also
    --------
    total_indices : What is lost without each factor.
    cumulative_ranking : What the first few factors explain together.

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
    """Estimate each factor's fair share of what all factors explain: Shapley effects, which add up to 1.

    The share of a factor is what it adds to those before it, on average over all orders [1]_. Factors that carry the
    same information share what they explain; total indices give it to none of them. What noise leaves cancels. Put
    factors into ``factor_groups`` to share between groups.

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
        One value per factor, 0 for constant ones. Estimates can be slightly below 0.

    See Also
    --------
    total_indices : What is lost without each factor.
    closed_indices : What each factor explains alone.

    Notes
    -----
    Up to 15 factors, all sets of them are looked at. Beyond that, orders are drawn at random until no share is less
    sure than 0.01 for that reason, or 1,000 were drawn; standard errors include it.

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
    """Estimate which pairs of factors work together, and which stand in for each other.

    For each pair this is the joint total index minus the total index of each. It is below 0 for factors that work
    together, such as x₁ and x₂ in x₁x₂, and above 0 for factors that carry the same information.

    Parameters
    ----------
    X, y : array-like
        As in `total_indices`.
    factors : names, positions or mask, optional
        Look at pairs of these only. Default: all.
    sample_weight, groups : array-like of shape (rows,), optional
        As in `FIRST.fit`.
    **options : keyword arguments
        As in `total_indices`; ``estimator`` is "adaptive" unless given.

    Returns
    -------
    Interactions
        The value of each pair with its standard error and p-value; prints with the strongest pairs first.

    See Also
    --------
    total_indices : With ``subset``, the joint total index of two or more factors.
    firstfactor.plots.plot_pair : A picture of what two factors do together.

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
    """Rank all factors by what each adds: the one that explains most first, then the one that adds most to it, ….

    Nothing is selected: every factor that varies has its place. What the first of them explain together is a share of
    what all explain, so that noise cancels.

    Parameters
    ----------
    X, y : array-like
        As in `total_indices`.
    sample_weight, groups : array-like of shape (rows,), optional
        As in `FIRST.fit`.
    **options : keyword arguments
        As in `total_indices`; ``estimator`` is "adaptive" unless given.

    Returns
    -------
    CumulativeRanking
        The factors in order, and the cumulative shares with their standard errors.

    See Also
    --------
    FIRST : Stops where no factor helps, and removes what is not needed.
    closed_indices : What each factor explains alone.

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
    """The options given, with the estimator that has least bias unless one is given."""
    parsed = Options.parse(options)
    return parsed if parsed.estimator is not None else replace(parsed, estimator="adaptive")


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

    Factors with a total index of 0 are removed and the others estimated anew, until all are positive.

    Parameters
    ----------
    X, y : array-like
        As in `total_indices`.
    elimination : {"batch", "single"}, default "batch"
        Whether to remove all factors with index 0 at a time, or only the least useful one.
    uncertainty : bool, default False
        Whether to compute standard errors and p-values as well.
    sample_weight, groups : array-like of shape (rows,), optional
        As in `FIRST.fit`.
    **options : keyword arguments
        As in `total_indices`.

    Returns
    -------
    Indices
        One value per factor, 0 for those that were removed; its ``path`` has every step.

    See Also
    --------
    FIRST : Starts with forward selection, so that it can deal with many factors.
    total_indices : Without elimination.

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
    procedure = Procedure(elimination=elimination)
    with open_variances(X, y, Options.parse(options), sample_weight, groups) as variances:
        selection = eliminate(variances, variances.design.varying, procedure.elimination)
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
) -> Stability:
    """Tell how often each factor is selected when only half of the rows are there.

    The rows are split at random into two halves, factors are selected on each, and this is repeated. A factor that
    is selected on most halves does not owe it to a few rows (complementary pairs stability selection [1]_).

    Parameters
    ----------
    X : array-like or table of shape (rows, factors)
        The factors: a numpy array, a list of rows, or a pandas, polars or pyarrow table. At least 4 rows.
    y : array-like of shape (rows,)
        The response: numbers, or two classes.
    n_pairs : int, default 50
        How often the rows are split; twice as many fits.
    threshold : float, default 0.6
        The share of halves, above 0.5, in which a factor has to be selected to count as selected (τ).
    selector : FIRST, optional
        What selects: a `FIRST` that need not be fitted and stays as it is. Default: ``FIRST()``. Its ``n_jobs``,
        ``random_state`` and ``verbose`` are not used.
    n_jobs : int or None, default -1
        Halves that are looked at at the same time, as in joblib: -1 is all cores, None is 1 unless in a joblib context.
        Results are the same to the last bit for any number.
    random_state : int, Generator or None, default None
        Seed for the splits, and for rows that the selector draws.
    progress : callable, optional
        Called as ``progress(done, total)`` after each half, in the thread that called.
    sample_weight, groups : array-like of shape (rows,), optional
        As in `FIRST.fit`. Groups stay together: half of them are in each half.

    Returns
    -------
    Stability
        How often each factor was selected, and bounds on how many of those selected may be false.

    See Also
    --------
    FIRST : Selects on all rows; with ``split=True``, on one half.
    firstfactor.plots.plot_stability : A picture of the frequencies.

    Notes
    -----
    Halves have ⌊N/2⌋ rows each. With two classes both halves get as many rows of each class, or one more of one and
    one less of the other. Whether y is classes, and which factors are categories, is decided by all rows. A factor
    that is constant in a half is not selected there, and nothing is selected where y is.

    How many false factors to expect: let q be the number of factors selected on a half on average, and p the number
    of factors that are not constant. Call a factor of *low selection probability* if the chance that it is selected
    on a half is at most θ = q/p, that is, no larger than if as many factors were drawn by lot. The expected number
    of these among those selected at the threshold τ is at most q² / ((2τ − 1) p), whatever the data and the selector
    (``expected_false``). It is at most about half of this if, further, the share of pairs in which both halves
    select such a factor has a distribution with a single peak (``expected_false_unimodal``). What to keep in mind:

    - Rows must be independent draws (with two classes: within each class, given how many rows each has).
    - q is estimated by the average over the halves seen, so the bounds are estimates as well.
    - A factor without any influence is one of low selection probability only if the selector prefers it no more than
      drawing by lot would. A stand-in for a true factor may well be selected often; the bounds do not count it.
    - With few factors, many of which matter, q/p is large and the bounds exceed the number of factors selected. They
      are returned all the same, and then say nothing. A selector that selects less, or a higher threshold, helps.

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
    options, procedure = _check_selector(selector).parameters()
    options = replace(options, n_jobs=n_jobs, random_state=random_state)
    pairs = Pairs(n_pairs, threshold)
    return select_on_halves(X, y, options, procedure, pairs, progress, sample_weight, groups)


def _check_selector(selector: Any) -> "FIRST":
    from .first import FIRST  # scikit-learn comes with it, which no other function needs

    if selector is None:
        return FIRST()
    if not isinstance(selector, FIRST):
        kind = selector.__name__ if isinstance(selector, type) else type(selector).__name__
        raise TypeError(f"selector must be a FIRST object, such as FIRST(n_neighbors=3); got {kind}.")
    return selector
