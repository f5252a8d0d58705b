"""VIMP: what a factor adds to the best possible prediction, by Williamson, Gilbert, Simon and Carone (2023).

Follows the R package vimp (`vimp_rsquared`, `vimp_accuracy`) with forests as its `SL.ranger` grows them. For each
factor, rows fall into 2 V folds at random. Forests on all factors are judged on V of the folds, forests without the
factor on the other V, each on rows it has not seen; the difference is the importance, and because the two halves share
no rows, it has a valid test against zero. With R², the forests without the factor learn the fitted values of a forest
on everything instead of the response.

The Python package vimpy 2.0.2.2 imports and runs with today's numpy, but is not used: it splits the table first and
trains within each half, on 2/5 of the rows where R trains on 9/10; it never learns fitted values; it draws folds from
numpy's global generator; its accuracy fails on probabilities, which are what it asks classifiers for; and it would take
many times as long with scikit-learn's forests.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from ...data.arrays import Floats
from ..forest.forest import MIN_NODE_REGRESSION, MIN_NODE_VOTES, grow
from ..outcome import Outcome

V = 5
"""Folds that either side is judged on, as in the paper."""
LEVEL = 0.05
"""Factors whose one-sided p-value is below it are selected: the package's default."""

Judge = Callable[[Floats, Floats, NDArray[np.intp]], tuple[float, float]]


def vimp_r2(X: Floats, y: Floats, seed: int) -> Outcome:
    """Importance as a difference of R²."""

    def judge(response: Floats, fitted: Floats, fold: NDArray[np.intp]) -> tuple[float, float]:
        return _r_squared(response, fitted, fold, y.mean())

    rng = np.random.default_rng(seed)
    smoothed = grow(X, y, seed=_seed(rng)).predict(X)
    return _importances(X, y, smoothed, MIN_NODE_REGRESSION, judge, rng)


def vimp_accuracy(X: Floats, y: NDArray[np.bool_], seed: int) -> Outcome:
    """Importance as a difference of the share of rows classified correctly, by forests of probabilities."""
    response = y.astype(np.float64)
    return _importances(X, response, response, MIN_NODE_VOTES, _accuracy, np.random.default_rng(seed))


def _seed(rng: np.random.Generator) -> int:
    """Draw a seed for one forest."""
    return int(rng.integers(2**63))


def _importances(
    X: Floats, y: Floats, reduced_y: Floats, min_node: int, judge: Judge, rng: np.random.Generator
) -> Outcome:
    """Return estimates clipped at zero, and the factors whose estimate is significantly positive.

    Forests without a factor learn `reduced_y`. `judge` returns a measure of predictions and its variance.
    """
    estimates, p_values = np.zeros(X.shape[1]), np.ones(X.shape[1])
    for j in range(X.shape[1]):
        fold = rng.permutation(np.arange(len(y)) % (2 * V))
        halves = rng.permutation(2 * V)
        full, variance_full = _cross_fitted(X, y, y, fold, halves[:V], min_node, judge, rng)
        without = np.delete(X, j, axis=1)
        rest, variance_rest = _cross_fitted(without, reduced_y, y, fold, halves[V:], min_node, judge, rng)
        estimates[j] = max(full - rest, 0.0)
        p_values[j] = norm.sf((full - rest) / np.sqrt(variance_full + variance_rest))
    return Outcome(estimates, tuple(np.flatnonzero(p_values < LEVEL).tolist()))


def _cross_fitted(
    X: Floats,
    learned: Floats,
    y: Floats,
    fold: NDArray[np.intp],
    judged: NDArray[np.intp],
    min_node: int,
    judge: Judge,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Judge forests on some folds, each grown on all rows outside its fold."""
    fitted = np.zeros(len(y))
    for k in judged:
        unseen = fold == k
        forest = grow(X[~unseen], learned[~unseen], min_node=min_node, seed=_seed(rng))
        fitted[unseen] = forest.predict(X[unseen])
    here = np.isin(fold, judged)
    return judge(y[here], fitted[here], fold[here])


def _r_squared(y: Floats, fitted: Floats, fold: NDArray[np.intp], centre: float) -> tuple[float, float]:
    """Return R², mean over folds, and its variance by the influence function; deviations are from `centre`."""
    error, deviation = (y - fitted) ** 2, (y - centre) ** 2
    variance = deviation.mean()
    measures, influences = [], []
    for k in np.unique(fold):
        mse = error[fold == k].mean()
        influence = -(error[fold == k] - mse) / variance + mse * (deviation[fold == k] - variance) / variance**2
        measures.append(1 - mse / variance)
        influences.append(np.mean(influence**2))
    return float(np.mean(measures)), float(np.mean(influences) / len(y))


def _accuracy(y: Floats, fitted: Floats, fold: NDArray[np.intp]) -> tuple[float, float]:
    """Return the share of rows classified correctly, mean over folds, and its variance."""
    correct = (fitted > 0.5) == (y > 0.5)
    shares = np.array([correct[fold == k].mean() for k in np.unique(fold)])
    return float(shares.mean()), float(np.mean(shares * (1 - shares)) / len(y))
