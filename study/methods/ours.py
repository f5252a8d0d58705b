"""Our methods by name: FIRST in all its variants, and the estimators of total indices."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer

from firstfactor import FIRST, Indices, backward_elimination, total_indices
from firstfactor.settings import VarianceEstimator

from ..data.everyday import Described, given_of, parts
from .outcome import LEVEL, Certainty, Outcome, outcome_of
from .sharing import cumulative, sharing, sharing_adaptive

ALPHA = 0.1
FEWEST_ROWS = 2
"""With fewer rows, FIRST refuses a table."""

Method = Callable[[Any, Any, int], Outcome]


def first(X: Any, y: Any, seed: int) -> Outcome:
    """FIRST, Algorithm 3 of the paper."""
    return _fit(FIRST(random_state=seed), X, y)


def first_fast(X: Any, y: Any, seed: int) -> Outcome:
    """FIRST-FAST, which forgets a factor at the first step in which it does not help."""
    return _ours(FIRST(forward="fast", random_state=seed).fit(X, y).indices_)


def first_calibrated(X: Any, y: Any, seed: int) -> Outcome:
    """FIRST with the calibrated rule, which selects something from noise with probability 0.1."""
    return _fit(_calibrated(seed), X, y)


def calibrated_choice(X: Any, y: Any, seed: int) -> Outcome:
    """The set that the calibrated rule selects, without its importances, which take most of the time."""
    return _choose(_calibrated(seed), X, y)


def calibrated_fdr(X: Any, y: Any, seed: int) -> Outcome:
    """The same with alpha as the share of false factors among those selected."""
    return _choose(_calibrated(seed, control="fdr"), X, y)


def calibrated_predict(X: Any, y: Any, seed: int) -> Outcome:
    """The same with what helps a cross-validated fit as well."""
    return _choose(_calibrated(seed, goal="predict"), X, y)


def first_calibrated_next(X: Any, y: Any, seed: int) -> Outcome:
    """FIRST with the calibrated rule, which begins with the factors given: the p-value of its first step."""
    factors, rows = parts(X)
    indices = _calibrated(seed, forced=list(given_of(X))).fit(factors, y, **rows).indices_
    assert indices.path is not None
    first_step = next(step for step in indices.path.steps if step.phase == "forward")
    return replace(_ours(indices), p_value=first_step.p_value)


def first_split(X: Any, y: Any, seed: int) -> Outcome:
    """FIRST that selects on one half of the rows and estimates on the other."""
    return _ours(FIRST(split=True, random_state=seed).fit(X, y).indices_)


def first_calibrated_split(X: Any, y: Any, seed: int) -> Outcome:
    """FIRST with the calibrated rule, on one half of the rows, and estimates from the other."""
    return _ours(FIRST(rule="calibrated", alpha=ALPHA, split=True, random_state=seed).fit(X, y).indices_)


def first_two_neighbors(X: Any, y: Any, seed: int) -> Outcome:
    """FIRST with two neighbours for classes too, where the paper recommends three."""
    return _ours(FIRST(n_neighbors=2, random_state=seed).fit(X, y).indices_)


def first_integers_unscaled(X: Any, y: Any, seed: int) -> Outcome:
    """FIRST with whole numbers in their own units, as in the authors' first release."""
    whole = X.select_dtypes("number").columns[[(X[name] % 1 == 0).all() for name in X.select_dtypes("number")]]
    others = X.select_dtypes("number").columns.difference(whole)
    scaled = X.assign(**{name: (X[name] - X[name].mean()) / X[name].std() for name in others})
    return _ours(FIRST(scale=False, random_state=seed).fit(scaled, y).indices_)


def nanne_be(X: Any, y: Any, seed: int) -> Outcome:
    """NANNE-BE: backward elimination from all factors."""
    return _ours(backward_elimination(X, y, random_state=seed))


def nanne(X: Any, y: Any, seed: int) -> Outcome:
    """NANNE: total indices relative to all factors, adjusted for noise."""
    return outcome_of(total_indices(X, y, random_state=seed).values)


def nanne_3(X: Any, y: Any, seed: int) -> Outcome:
    """NANNE with three neighbours."""
    return outcome_of(total_indices(X, y, n_neighbors=3, random_state=seed).values)


def nearest_3(X: Any, y: Any, seed: int) -> Outcome:
    """NN: total indices as if there were no noise, with three neighbours."""
    return outcome_of(total_indices(X, y, n_neighbors=3, noise=False, random_state=seed).values)


def nearest(X: Any, y: Any, seed: int) -> Outcome:
    """Total indices by the paper's estimator, with standard errors."""
    return _estimate("nearest", X, y, seed)


def extrapolated(X: Any, y: Any, seed: int) -> Outcome:
    """Total indices by the estimator without most of the distance bias, with standard errors."""
    return _estimate("extrapolated", X, y, seed)


def adaptive(X: Any, y: Any, seed: int) -> Outcome:
    """Total indices from smooth fits and local ones, with standard errors."""
    return _estimate("adaptive", X, y, seed)


def nearest_subsample(X: Any, y: Any, seed: int) -> Outcome:
    """NEAREST with standard errors from subsamples."""
    return _sure(
        total_indices(X, y, uncertainty=True, method="subsample", variance_estimator="nearest", random_state=seed)
    )


def extrapolated_subsample(X: Any, y: Any, seed: int) -> Outcome:
    """EXTRAPOLATED with standard errors from subsamples."""
    return _sure(
        total_indices(X, y, uncertainty=True, method="subsample", variance_estimator="extrapolated", random_state=seed)
    )


def as_if_ungrouped(method: Method) -> Method:
    """Return the method in the hands of someone who does not say which rows belong together."""
    return lambda X, y, seed: method(_without_groups(X), y, seed)


def after_imputing(method: Method) -> Method:
    """Return the method on a table in which the mean of each factor stands for its missing values."""
    return lambda X, y, seed: method(SimpleImputer().fit_transform(X), y, seed)


def first_complete_rows(X: Any, y: Any, seed: int) -> Outcome:
    """FIRST without the rows that miss a value."""
    return _fit_complete_rows(FIRST(missing="drop", random_state=seed), X, y)


def first_calibrated_complete_rows(X: Any, y: Any, seed: int) -> Outcome:
    """FIRST with the calibrated rule, without the rows that miss a value."""
    return _fit_complete_rows(_calibrated(seed, missing="drop"), X, y)


def _fit_complete_rows(selector: FIRST, X: Any, y: Any) -> Outcome:
    """Return what comes of the complete rows: nothing, where there are too few to fit anything."""
    if np.isfinite(X).all(axis=1).sum() < FEWEST_ROWS:
        return Outcome(np.zeros(X.shape[1]), ())
    return _fit(selector, X, y)


def _calibrated(seed: int, **options: Any) -> FIRST:
    return FIRST(rule="calibrated", alpha=ALPHA, random_state=seed, **options)


def _choose(selector: FIRST, X: Any, y: Any) -> Outcome:
    factors, rows = parts(X)
    return outcome_of(selector.choose(factors, y, **rows).astype(float))


def _fit(selector: FIRST, X: Any, y: Any) -> Outcome:
    factors, rows = parts(X)
    return _ours(selector.fit(factors, y, **rows).indices_)


def _estimate(estimator: VarianceEstimator, X: Any, y: Any, seed: int) -> Outcome:
    factors, rows = parts(X)
    return _sure(total_indices(factors, y, uncertainty=True, variance_estimator=estimator, random_state=seed, **rows))


def _without_groups(X: Any) -> Any:
    factors, rows = parts(X)
    return Described(factors, {name: values for name, values in rows.items() if name != "groups"}, given_of(X))


def _ours(indices: Indices) -> Outcome:
    return Outcome(indices.values, tuple(sorted(indices.selected.tolist())), ceiling=_ceiling(indices))


def _sure(indices: Indices) -> Outcome:
    assert indices.uncertainty is not None
    lower, upper = indices.interval(LEVEL).T.tolist()
    certainty = Certainty(
        indices.standard_errors.tolist(),
        indices.p_values.tolist(),
        indices.uncertainty.r2,
        indices.sample_size.distance_share,
        lower,
        upper,
        list(indices.r2_interval(LEVEL)),
    )
    return Outcome(indices.values, None, ceiling=_ceiling(indices), certainty=certainty)


def _ceiling(indices: Indices) -> float:
    """Return the R² ceiling as the formula gives it, below 0 too: cut off at 0, its bias could not be measured."""
    return 1 - indices.noise_variance / indices.response_variance


OURS: dict[str, Method] = {
    "FIRST": first,
    "FIRST-FAST": first_fast,
    "FIRST-SPLIT": first_split,
    "CALIBRATED": first_calibrated,
    "CALIBRATED-CHOICE": calibrated_choice,
    "CALIBRATED-FDR": calibrated_fdr,
    "CALIBRATED-PREDICT": calibrated_predict,
    "CALIBRATED-NEXT": first_calibrated_next,
    "CALIBRATED-SPLIT": first_calibrated_split,
    "CALIBRATED-UNGROUPED": as_if_ungrouped(first_calibrated),
    "FIRST-COMPLETE": first_complete_rows,
    "FIRST-IMPUTED": after_imputing(first),
    "CALIBRATED-COMPLETE": first_calibrated_complete_rows,
    "CALIBRATED-IMPUTED": after_imputing(first_calibrated),
    "FIRST-2": first_two_neighbors,
    "FIRST-INTEGERS": first_integers_unscaled,
    "NANNE-BE": nanne_be,
    "NANNE": nanne,
    "NANNE-3": nanne_3,
    "NN": nearest_3,
    "NEAREST": nearest,
    "NEAREST-SUBSAMPLE": nearest_subsample,
    "NEAREST-UNGROUPED": as_if_ungrouped(nearest),
    "EXTRAPOLATED": extrapolated,
    "EXTRAPOLATED-SUBSAMPLE": extrapolated_subsample,
    "EXTRAPOLATED-UNGROUPED": as_if_ungrouped(extrapolated),
    "ADAPTIVE": adaptive,
    "SHARING": sharing,
    "SHARING-ADAPTIVE": sharing_adaptive,
    "CUMULATIVE": cumulative,
}
