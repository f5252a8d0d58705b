"""Our methods by name: FIRST in all its variants, and the estimators of total indices."""

from collections.abc import Callable
from typing import Any

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
