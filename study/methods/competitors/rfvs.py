"""RF-VS: variable selection with random forests (Genuer, Poggi and Tuleau-Malot, 2010), up to the interpretation step.

Follows the R package VSURF 1.2: many forests give each factor a mean and a spread of its permutation importance;
factors whose mean is below the smallest spread, smoothed, are dropped; nested models of the others in the order of
importance are compared by out-of-bag error, and the smallest model within one standard deviation of the best is the
interpretation set. Its forests are those of the R package randomForest.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from ...data.arrays import Floats
from ..forest.forest import grow, root_of, third_of
from ..outcome import Outcome

# VSURF's defaults since version 1.2.0.
THRESHOLD_FORESTS, THRESHOLD_TREES = 20, 500
INTERPRETATION_FORESTS, INTERPRETATION_TREES = 10, 100
STANDARD_DEVIATIONS = 1.0
FAR = 100.0
"""How many times the largest penalty stands for an infinite one, which no tree would split under."""
FOLDS = 10
"""Folds of the cross-validation that prunes the tree: rpart's default."""


def rfvs(X: Floats, y: NDArray[Any], seed: int) -> Outcome:
    """Select the interpretation set; importances are the impurity importances of a forest on it, as in the paper.

    An importance could only be zero if no tree of the last forest ever split at the factor, so the selection is kept
    apart from it.
    """
    rng = np.random.default_rng(seed)
    kept = _interpret(X, y, _threshold(X, y, rng), rng)
    importances = np.zeros(X.shape[1])
    importances[kept] = grow(X[:, kept], y, seed=_seed(rng)).impurity_importances
    return Outcome(importances, tuple(sorted(kept.tolist())))


def _seed(rng: np.random.Generator) -> int:
    """Draw a seed for one forest."""
    return int(rng.integers(2**63))


def _threshold(X: Floats, y: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the factors that matter more than by chance, the most important first."""
    mtry = third_of(X.shape[1])
    importances = np.array(
        [
            grow(X, y, THRESHOLD_TREES, mtry, seed=_seed(rng), permute=True).permutation_importances
            for _ in range(THRESHOLD_FORESTS)
        ]
    )
    mean, spread = importances.mean(axis=0), importances.std(axis=0, ddof=1)
    order = np.argsort(-mean, kind="stable")
    floor = _lowest_stair(spread[order], rng)
    return order[: max(np.count_nonzero(mean >= floor), 1)]


def _lowest_stair(curve: Floats, rng: np.random.Generator) -> float:
    """Return the lowest value of a step function fitted to a curve: a tree pruned by cross-validation, as in rpart.

    Each subtree of the cost-complexity sequence is judged at the geometric mean of the penalties it is best for; of
    equally good ones the smallest is taken.
    """
    if len(curve) == 1:
        return float(curve[0])
    places = np.arange(len(curve), dtype=np.float64)[:, None]
    penalties = DecisionTreeRegressor().cost_complexity_pruning_path(places, curve).ccp_alphas[::-1]
    above = np.append(FAR * penalties[0], penalties[:-1])
    typical = np.sqrt(penalties * above)
    fold = rng.permutation(np.arange(len(curve)) % FOLDS)
    errors = [_cross_validated_error(places, curve, penalty, fold) for penalty in typical]
    pruned = DecisionTreeRegressor(ccp_alpha=penalties[np.argmin(errors)], random_state=0).fit(places, curve)
    return float(pruned.predict(places).min())


def _cross_validated_error(places: Floats, curve: Floats, penalty: float, fold: NDArray[np.intp]) -> float:
    """Return the squared error of trees pruned with a penalty, each on the fold it has not seen."""
    error = 0.0
    for held_out in np.unique(fold):
        seen, unseen = fold != held_out, fold == held_out
        tree = DecisionTreeRegressor(ccp_alpha=penalty, random_state=0).fit(places[seen], curve[seen])
        error += float(np.sum((curve[unseen] - tree.predict(places[unseen])) ** 2))
    return error


def _interpret(X: Floats, y: NDArray[Any], order: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the smallest beginning of an order of factors that predicts nearly as well as the best."""
    candidates_in = root_of if y.dtype == bool else third_of
    errors = np.array(
        [
            [
                grow(X[:, order[:size]], y, INTERPRETATION_TREES, candidates_in(size), seed=_seed(rng)).oob_error()
                for _ in range(INTERPRETATION_FORESTS)
            ]
            for size in range(1, len(order) + 1)
        ]
    )
    mean = errors.mean(axis=1)
    best = np.argmin(mean)
    enough = mean <= mean[best] + STANDARD_DEVIATIONS * errors[best].std(ddof=1)
    return order[: np.argmax(enough) + 1]
