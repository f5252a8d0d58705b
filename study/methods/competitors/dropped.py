"""Importances from models that are fitted again without each factor: splines, products of two, Gaussian processes.

Errors are of rows that a fit has not seen, in folds that all fits share. Let f be the fit of all factors and f₋ᵢ that
without factor i; its share is mean((y − f₋ᵢ)² − (y − f)²) / (Var(y) − mean((y − f)²)).
"""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import RidgeCV
from sklearn.preprocessing import SplineTransformer

from ...data.arrays import Floats
from ..outcome import Outcome
from .linear_tests import as_numbers

N_FOLDS = 5
N_KNOTS = 6
PENALTIES = np.logspace(-3, 4, 15)

Predict = Callable[[list[int], Any, Any], Floats]
"""Fit to some rows with some factors, and predict others."""
Block = tuple[tuple[int, ...], Floats]
"""Columns, and the factors that they are made of."""


def spline_drop(X: Any, y: Any, seed: int) -> Outcome:
    """Cubic splines of all factors, with a ridge penalty that is cross-validated."""
    return drop(_ridge(spline_blocks(X), as_numbers(y)), as_numbers(y), X.shape[1], seed)


def products_drop(X: Any, y: Any, seed: int) -> Outcome:
    """The same with products of two factors, whose categories are a column for each level."""
    blocks = spline_blocks(X) + product_blocks(X)
    return drop(_ridge(blocks, as_numbers(y)), as_numbers(y), X.shape[1], seed)


def drop(predict: Predict, y: Floats, n_factors: int, seed: int) -> Outcome:
    """Return the share of each factor, at least 0; nothing where all factors explain nothing."""
    folds = np.random.default_rng(seed).permutation(len(y)) % N_FOLDS

    def error(factors: list[int]) -> float:
        predicted = np.empty(len(y))
        for k in range(N_FOLDS):
            predicted[folds == k] = predict(factors, folds != k, folds == k)
        return float(((y - predicted) ** 2).mean())

    everything = list(range(n_factors))
    of_all = error(everything)
    explained = float(y.var()) - of_all
    if explained <= 0:
        return Outcome(np.zeros(n_factors), None, ceiling=0.0)
    lost = np.array([error([j for j in everything if j != i]) - of_all for i in everything])
    return Outcome(np.maximum(lost / explained, 0.0), None, ceiling=explained / float(y.var()))


def spline_blocks(X: Any) -> list[Block]:
    """Return numbers as splines, with a column for what is missing, and categories as levels."""
    blocks: list[Block] = []
    for j, column in enumerate(_columns(X)):
        if isinstance(column.dtype, pd.CategoricalDtype):
            blocks.append(((j,), _levels(column)))
            continue
        values, missing = _filled(column)
        spline = SplineTransformer(N_KNOTS, knots="quantile", extrapolation="linear", include_bias=False)
        blocks.append(((j,), np.column_stack([spline.fit_transform(values), missing])))
    return blocks


def product_blocks(X: Any) -> list[Block]:
    """Return the products of each two factors."""
    lines = [
        _levels(column) if isinstance(column.dtype, pd.CategoricalDtype) else _filled(column)[0]
        for column in _columns(X)
    ]
    centred = [line - line.mean(axis=0) for line in lines]
    return [
        ((i, j), (centred[i][:, :, None] * centred[j][:, None, :]).reshape(len(X), -1))
        for i, j in combinations(range(len(lines)), 2)
    ]


def _columns(X: Any) -> list[Any]:
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X)
    return [frame.iloc[:, j] for j in range(frame.shape[1])]


def _levels(column: Any) -> Floats:
    return np.asarray(pd.get_dummies(column), dtype=float)


def _filled(column: Any) -> tuple[Floats, Floats]:
    """Return a number with its mean where it is missing, and a column that tells where, if it is anywhere."""
    missing = column.isna().to_numpy(float)[:, None]
    return column.fillna(column.mean()).to_numpy(float)[:, None], missing[:, : int(missing.any())]


def _ridge(blocks: list[Block], y: Floats) -> Predict:
    owners = [set(block[0]) for block in blocks]
    columns = [_scaled(block[1]) for block in blocks]

    def predict(factors: list[int], fitted: Any, predicted: Any) -> Floats:
        kept = [column for owner, column in zip(owners, columns, strict=True) if owner <= set(factors)]
        if not kept:
            return np.full(int(predicted.sum()), y[fitted].mean())
        Z = np.column_stack(kept)
        fit = RidgeCV(PENALTIES).fit(Z[fitted], y[fitted])
        return np.asarray(fit.predict(Z[predicted]))

    return predict


def _scaled(columns: Floats) -> Floats:
    scale = columns.std(axis=0)
    return np.asarray((columns - columns.mean(axis=0)) / np.where(scale > 0, scale, 1.0))
