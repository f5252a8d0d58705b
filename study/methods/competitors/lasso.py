"""LASSO: linear regression with an absolute penalty, logistic for two classes, chosen by cross-validation."""

from typing import Any

import numpy as np
from numba import njit
from scipy.special import expit
from sklearn.preprocessing import StandardScaler

from ...data.arrays import Floats
from ..outcome import Outcome, outcome_of

# The defaults of the R package glmnet.
N_PENALTIES = 100
SMALLEST_PENALTY = 1e-4  # relative to the largest, which leaves out every factor
LEAST_PENALTIES = 5  # the path of penalties ends early, though not before these,
LEAST_GAIN = 1e-5  # when explained deviance grows by less than this share of it
MOST_EXPLAINED = 0.999  # or exceeds this
N_FOLDS = 10
LEAST_PROBABILITY = 1e-5  # of either class; what is less counts as this

PRECISION = 1e-8  # a change of the fit, squared and relative to the variance of the response, that is none


def lasso(X: Floats, y: Floats, seed: int) -> Outcome:
    """Return the squared coefficients of standardised factors, as with glmnet's `lambda.1se`.

    The penalty is the largest whose error in cross-validation is within one standard error of the least.
    """
    rows = _standardised(StandardScaler().fit(X), X)
    largest = np.abs((y - y.mean()) @ rows).max() / y.size * (1 + PRECISION)  # rounding must let no factor in
    penalties = largest * np.geomspace(1, SMALLEST_PENALTY, N_PENALTIES)
    path = _path(rows, y, penalties)
    errors = _cross_validated(X, y, penalties[: _end(_deviances(y, rows, path))], seed)
    return outcome_of(path[_largest_within_one_standard_error(*errors), 1:] ** 2)


def _standardised(scaler: StandardScaler, X: Floats) -> Floats:
    """Return standardised factors behind a column of ones, which carries the intercept."""
    return np.column_stack([np.ones(len(X)), scaler.transform(X)])


def _end(deviances: Floats) -> int:
    """Return how many penalties are worth a fit; the deviance of the first is that of the mean."""
    explained = 1 - deviances / deviances[0]
    useless = (np.diff(explained) < LEAST_GAIN * explained[1:]) | (explained[1:] > MOST_EXPLAINED)
    ends = np.flatnonzero(useless[LEAST_PENALTIES - 2 :])  # a gain takes two penalties
    return int(ends[0]) + LEAST_PENALTIES if ends.size else deviances.size


def _cross_validated(X: Floats, y: Floats, penalties: Floats, seed: int) -> tuple[Floats, Floats]:
    """Return the mean error of each penalty on rows not fitted to, and its standard error.

    Factors are standardised anew for each fit, as glmnet does.
    """
    folds = np.random.default_rng(seed).permutation(np.arange(y.size) % N_FOLDS)
    errors = np.empty((N_FOLDS, penalties.size))
    for fold in range(N_FOLDS):
        fitted, held_out = folds != fold, folds == fold
        scaler = StandardScaler().fit(X[fitted])
        path = _path(_standardised(scaler, X[fitted]), y[fitted], penalties)
        errors[fold] = _deviances(y[held_out], _standardised(scaler, X[held_out]), path)
    sizes = np.bincount(folds)
    means = np.average(errors, axis=0, weights=sizes)
    return means, np.sqrt(np.average((errors - means) ** 2, axis=0, weights=sizes) / (N_FOLDS - 1))


def _largest_within_one_standard_error(means: Floats, standard_errors: Floats) -> int:
    """Return the position of a penalty; the largest comes first."""
    best = means.argmin()
    return int(np.flatnonzero(means <= means[best] + standard_errors[best])[0])


def _deviances(y: Floats, rows: Floats, path: Floats) -> Floats:
    """Return the mean squared error for each penalty, for two classes minus twice the mean log-likelihood."""
    means = _means(y, path @ rows.T)
    losses = -2 * np.log(np.where(y, means, 1 - means)) if y.dtype == bool else (y - means) ** 2
    deviances: Floats = losses.mean(axis=1)
    return deviances


def _means(y: Floats, linear: Floats) -> Floats:
    """Return the expected response given linear functions of the factors, for two classes the probability of True."""
    return np.clip(expit(linear), LEAST_PROBABILITY, 1 - LEAST_PROBABILITY) if y.dtype == bool else linear


def _path(rows: Floats, y: Floats, penalties: Floats) -> Floats:
    """Return the coefficients for each penalty, the intercept first, every fit starting from the one before.

    Newton's method with the curvature at the start of each fit, which is close since penalties are.
    """
    coefficients = np.zeros(rows.shape[1])
    penalised = np.arange(coefficients.size) > 0
    path = np.empty((penalties.size, coefficients.size))
    none = PRECISION * float(y.var())
    curvature = rows.T @ rows / y.size
    for i, penalty in enumerate(penalties):
        if y.dtype == bool:
            probabilities = _means(y, rows @ coefficients)
            curvature = (rows.T * (probabilities * (1 - probabilities))) @ rows / y.size
        squared_change = np.inf
        while squared_change > none:
            before = coefficients.copy()
            slopes = (y - _means(y, rows @ coefficients)) @ rows / y.size
            _descend(curvature, slopes, penalty * penalised, none, coefficients)
            squared_change = float((coefficients - before) @ curvature @ (coefficients - before))
        path[i] = coefficients
    return path


@njit(cache=True, nogil=True)
def _descend(curvature: Any, slopes: Any, penalties: Any, none: float, coefficients: Any) -> None:
    """Bring coefficients to the minimum of a quadratic function plus penalties on their absolute values.

    One after the other, all of them at first and at last, in between those that are not zero. The slopes follow.
    """
    everyone, largest = True, np.inf
    while largest > none or not everyone:
        everyone = largest <= none or largest == np.inf
        largest = 0.0
        for j in range(coefficients.size):
            if everyone or coefficients[j] != 0:
                wanted = slopes[j] + curvature[j, j] * coefficients[j]
                value = np.sign(wanted) * max(0.0, abs(wanted) - penalties[j]) / curvature[j, j]
                change = value - coefficients[j]
                if change != 0:
                    coefficients[j] = value
                    slopes -= change * curvature[j]
                    largest = max(largest, curvature[j, j] * change**2)
