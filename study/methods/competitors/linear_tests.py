"""Tests that every statistician knows: one linear model, splines, or products, each with Holm's procedure."""

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.linear_model import LassoCV

from ...data.arrays import Floats
from ..outcome import Outcome, outcome_of
from .blocks import block_p_values, dummies, select, splines

N_FOLDS = 5
LASSO_STEPS = 10_000


def ols_holm(X: Any, y: Any, seed: int) -> Outcome:
    """Least squares of all factors: t tests, F tests of categories, and Holm's procedure."""
    del seed
    return select(block_p_values(dummies(X), as_numbers(y)))


def spline_holm(X: Any, y: Any, seed: int) -> Outcome:
    """Natural cubic splines of all factors in one model: F tests and Holm's procedure."""
    del seed
    return select(block_p_values(splines(X), as_numbers(y)))


def products_of_two(X: Floats, y: Any, seed: int) -> Outcome:
    """All lines and all products of two in one model: t tests and Holm's procedure."""
    del seed
    return _products(X, as_numbers(y), 2)


def products_of_three(X: Floats, y: Any, seed: int) -> Outcome:
    """All lines and all products of three in one model: t tests and Holm's procedure."""
    del seed
    return _products(X, as_numbers(y), 3)


def _products(X: Floats, y: Floats, order: int) -> Outcome:
    centred = X - X.mean(axis=0)
    factors = range(X.shape[1])
    terms = [*((j,) for j in factors), *combinations(factors, order)]
    return select(block_p_values([centred[:, term].prod(axis=1)[:, None] for term in terms], y), terms, X.shape[1])


def best_three(X: Floats, y: Any, seed: int) -> Outcome:
    """Least squares that is told how many factors are true: the three with the least residual sum of squares."""
    del seed
    centred, response = X - X.mean(axis=0), as_numbers(y) - np.mean(y)

    def error(some: tuple[int, ...]) -> float:
        columns = centred[:, some]
        return float(np.sum((response - columns @ np.linalg.lstsq(columns, response)[0]) ** 2))

    best = min(combinations(range(X.shape[1]), 3), key=error)
    return outcome_of(np.isin(np.arange(X.shape[1]), best).astype(float))


def lasso_set(X: Any, y: Any, seed: int) -> Outcome:
    """Lasso with the penalty of least cross-validated error; classes are 0 and 1, categories one column per level."""
    blocks = dummies(X)
    columns = np.column_stack(blocks)
    scale = columns.std(axis=0)
    standardised = (columns - columns.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    folds = np.random.default_rng(seed).permutation(len(columns)) % N_FOLDS
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(N_FOLDS)]
    fitted = LassoCV(cv=splits, max_iter=LASSO_STEPS, tol=1e-3).fit(standardised, as_numbers(y))
    owner = np.repeat(np.arange(len(blocks)), [block.shape[1] for block in blocks])
    squares = np.bincount(owner, weights=fitted.coef_**2, minlength=len(blocks))
    return outcome_of(squares.astype(np.float64))


def as_numbers(y: Any) -> Floats:
    """Return a response as numbers; two classes are 0 and 1."""
    return np.asarray(y, dtype=float)
