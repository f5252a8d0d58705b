"""All methods of the study by name, each as `(X, y, seed) -> Outcome`. The competitors are imported when first used."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from firstfactor import FIRST, Indices, backward_elimination, total_indices

from .outcome import Certainty, Outcome, outcome_of

ALPHA = 0.1
Method = Callable[[Any, Any, int], Outcome]


def first(X: Any, y: Any, seed: int) -> Outcome:
    """FIRST, Algorithm 3 of the paper."""
    return _ours(FIRST(random_state=seed).fit(X, y).indices_)


def first_fast(X: Any, y: Any, seed: int) -> Outcome:
    """FIRST-FAST, which forgets a factor at the first step in which it does not help."""
    return _ours(FIRST(forward="fast", random_state=seed).fit(X, y).indices_)


def first_calibrated(X: Any, y: Any, seed: int) -> Outcome:
    """FIRST with the calibrated rule, which selects something from noise with probability 0.1."""
    return _ours(FIRST(rule="calibrated", alpha=ALPHA, random_state=seed).fit(X, y).indices_)


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
    return _sure(total_indices(X, y, uncertainty=True, estimator="nearest", random_state=seed))


def extrapolated(X: Any, y: Any, seed: int) -> Outcome:
    """Total indices by the estimator without most of the distance bias, with standard errors."""
    return _sure(total_indices(X, y, uncertainty=True, estimator="extrapolated", random_state=seed))


def nearest_subsample(X: Any, y: Any, seed: int) -> Outcome:
    """NEAREST with standard errors from subsamples."""
    return _sure(total_indices(X, y, uncertainty=True, method="subsample", estimator="nearest", random_state=seed))


def extrapolated_subsample(X: Any, y: Any, seed: int) -> Outcome:
    """EXTRAPOLATED with standard errors from subsamples."""
    return _sure(total_indices(X, y, uncertainty=True, method="subsample", estimator="extrapolated", random_state=seed))


def _ours(indices: Indices) -> Outcome:
    return Outcome(indices.values, tuple(sorted(indices.selected.tolist())), ceiling=_ceiling(indices))


def _sure(indices: Indices) -> Outcome:
    assert indices.uncertainty is not None
    certainty = Certainty(
        indices.standard_errors.tolist(),
        indices.p_values.tolist(),
        indices.uncertainty.r2,
        indices.sample_size.distance_share,
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
    "CALIBRATED-SPLIT": first_calibrated_split,
    "FIRST-2": first_two_neighbors,
    "FIRST-INTEGERS": first_integers_unscaled,
    "NANNE-BE": nanne_be,
    "NANNE": nanne,
    "NANNE-3": nanne_3,
    "NN": nearest_3,
    "NEAREST": nearest,
    "NEAREST-SUBSAMPLE": nearest_subsample,
    "EXTRAPOLATED": extrapolated,
    "EXTRAPOLATED-SUBSAMPLE": extrapolated_subsample,
}

COMPETITORS = {
    "LASSO": "lasso:lasso",
    "FILTER": "loess_filter:loess_filter",
    "COSSO": "cosso:cosso",
    "KFOCI": "kfoci:kfoci",
    "RF": "random_forest:random_forest",
    "RF-SHAP": "random_forest:random_forest_shap",
    "RF-VS": "rfvs:rfvs",
    "VIMP-R2": "vimp:vimp_r2",
    "VIMP-ACC": "vimp:vimp_accuracy",
}

NAMES = (*OURS, *COMPETITORS)


def method(name: str) -> Method:
    """Return the method of this name."""
    if name in OURS:
        return OURS[name]
    module, function = COMPETITORS[name].split(":")
    found: Method = getattr(importlib.import_module(f"study.competitors.{module}"), function)
    return found


def warm_up(name: str) -> None:
    """Run a method once on a small table, so that the first time that is taken holds no compiling."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(150, 4))
    noisy = X[:, 0] + 0.2 * rng.normal(size=150)
    y = noisy > noisy.mean() if name == "VIMP-ACC" else noisy
    if name == "FIRST-INTEGERS":
        import pandas as pd

        X = pd.DataFrame(X, columns=list("abcd"))
    method(name)(X, y, 0)
