"""Generalised linear models with likelihood-ratio tests and Holm's procedure: two classes, counts, ordered levels."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats
from statsmodels.genmod import families
from statsmodels.genmod.generalized_linear_model import GLM
from statsmodels.miscmodels.ordinal_model import OrderedModel
from statsmodels.tools.sm_exceptions import PerfectSeparationWarning

from ...data.arrays import Floats
from ..outcome import Outcome
from .blocks import dummies, select
from .linear_tests import as_numbers

Fit = Callable[[Floats, Floats], float]
"""Return the log-likelihood of a model; NaN where there is none."""


def logistic_holm(X: Any, y: Any, seed: int) -> Outcome:
    """Logistic regression of two classes."""
    del seed
    return select(logistic_p_values(X, as_numbers(y)))


def logistic_p_values(X: Any, y: Floats) -> Floats:
    """Return the p-value of each factor in a logistic regression of 0 and 1."""
    return ratio_p_values(dummies(X), y, _glm(families.Binomial()))


def poisson_holm(X: Any, y: Any, seed: int) -> Outcome:
    """Poisson regression of counts."""
    del seed
    return select(ratio_p_values(dummies(X), as_numbers(y), _glm(families.Poisson())))


def ordered_holm(X: Any, y: Any, seed: int) -> Outcome:
    """Proportional odds of ordered levels."""
    del seed
    return select(ratio_p_values(dummies(X), as_numbers(y), _proportional_odds))


def ratio_p_values(blocks: list[Floats], y: Floats, fit: Fit) -> Floats:
    """Return the p-value of the likelihood-ratio test of each block, given all others.

    It is 1 where a model does not converge, where a class is separated, and where the others make a block up.
    """
    standardised = [(block - block.mean(axis=0)) / np.maximum(block.std(axis=0), 1e-12) for block in blocks]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", PerfectSeparationWarning)
        together, rank = _likelihood(standardised, y, fit)
        p_values = np.ones(len(blocks))
        for k in range(len(blocks)):
            without, rank_without = _likelihood(standardised[:k] + standardised[k + 1 :], y, fit)
            gain = 2 * (together - without)
            if rank > rank_without and np.isfinite(gain):
                p_values[k] = stats.chi2.sf(max(gain, 0.0), rank - rank_without)
    return p_values


def _likelihood(blocks: list[Floats], y: Floats, fit: Fit) -> tuple[float, int]:
    """Return the log-likelihood of independent columns of blocks, and how many there are."""
    columns = np.column_stack([np.zeros((len(y), 0)), *blocks])
    _, R, order = _pivoted(columns)
    rank = int((np.abs(np.diag(R)) > 1e-8 * max(abs(R[0, 0]), 1e-300)).sum()) if R.size else 0
    try:
        return fit(columns[:, np.sort(order[:rank])], y), rank
    except (PerfectSeparationWarning, np.linalg.LinAlgError, ValueError, FloatingPointError):
        return np.nan, rank


def _pivoted(columns: Floats) -> Any:
    from scipy.linalg import qr

    return qr(columns, mode="economic", pivoting=True) if columns.shape[1] else (None, np.zeros((0, 0)), np.zeros(0))


def _glm(family: Any) -> Fit:
    def fit(columns: Floats, y: Floats) -> float:
        found = GLM(y, np.column_stack([np.ones(len(y)), columns]), family=family).fit(maxiter=50)
        return float(found.llf) if found.converged else np.nan

    return fit


def _proportional_odds(columns: Floats, y: Floats) -> float:
    levels = np.unique(y, return_inverse=True)[1]
    if columns.shape[1] == 0:
        counts = np.bincount(levels)
        return float(counts @ np.log(counts / counts.sum()))
    found = OrderedModel(levels, columns, distr="logit").fit(method="bfgs", disp=False, skip_hessian=True, maxiter=200)
    return float(found.llf)
