"""Difficult tables: rare classes, many zeros, counts, categories of many levels, skewed noise, rows in time order."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from firstfactor.problems import uniform_factors

from .arrays import Floats
from .everyday import Described
from .noise import Source

RARE = 0.03
"""Share of the rare one of two classes."""
STEEPNESS, INTERCEPT = 4.5, -4.82
"""Of the logit of the rare class, for two factors; the intercept makes it as rare as it is in noise."""
ZEROS, FEWER_ZEROS = 0.95, 0.7
"""Share of zeros: in noise, and where a factor drives the other amounts."""
AMOUNT = 1.5
"""By how much the mean logarithm of an amount grows with its factor, from 0 to 1."""
N_LEVELS = 100
SCALE = 1.5
"""By how much the logarithm of the scale of skewed noise grows with the first factor, from 0 to 1."""
MEMORY, BLOCK = 0.9, 50
"""Correlation of consecutive rows in time order, and how many of them make a group."""


def many_levels(n_rows: int, n_factors: int, correlation: float, rng: np.random.Generator) -> pd.DataFrame:
    """Draw factors of which one half is numbers, the other half categories of a hundred levels."""
    columns: list[Any] = list(uniform_factors(n_rows, n_factors // 2, correlation, rng).T)
    names = [f"level {k}" for k in range(N_LEVELS)]
    n_categories = n_factors - len(columns)
    columns += [pd.Categorical.from_codes(rng.integers(N_LEVELS, size=n_rows), names) for _ in range(n_categories)]
    return pd.DataFrame({f"x{j + 1}": column for j, column in enumerate(columns)})


def in_time_order(n_rows: int, n_factors: int, correlation: float, rng: np.random.Generator) -> Described:
    """Draw independent factors whose rows follow each other, with blocks of rows as groups."""
    del correlation  # of factors with each other there is none
    return Described(_series(n_rows, n_factors, rng), {"groups": np.arange(n_rows) // BLOCK})


def _series(n_rows: int, n_columns: int, rng: np.random.Generator) -> Floats:
    """Return normal columns of variance 1 in which every row depends on the one before."""
    values = rng.normal(size=(n_rows, n_columns))
    for row in range(1, n_rows):
        values[row] = MEMORY * values[row - 1] + np.sqrt(1 - MEMORY**2) * values[row]
    return values


def _series_of_its_own(X: Described, rng: np.random.Generator) -> Floats:
    return _series(len(X), 1, rng)[:, 0]


def _rare_class(X: Any, rng: np.random.Generator) -> Any:
    return rng.uniform(size=len(X)) < RARE


def _rare_class_of_two_factors(X: Floats, rng: np.random.Generator) -> Any:
    """Return a class that gets more likely with both of the first factors, by a logistic regression."""
    return rng.uniform(size=len(X)) < expit(INTERCEPT + STEEPNESS * (X[:, :2] - 0.5).sum(axis=1))


def _mostly_zeros(X: Any, rng: np.random.Generator) -> Floats:
    return _amounts(np.zeros(len(X)), ZEROS, 1.0, rng)


def _amounts_of_one_factor(X: Floats, rng: np.random.Generator) -> Floats:
    """Return amounts that grow with the first factor; what is 0 and what is not depends on nothing."""
    return _amounts(AMOUNT * (X[:, 0] - 0.5), FEWER_ZEROS, 0.5, rng)


def _amounts(logarithms: Floats, zeros: float, spread: float, rng: np.random.Generator) -> Floats:
    """Return exp(normal) with given means of the logarithm, and zeros in their place with a given probability."""
    zero = rng.uniform(size=len(logarithms)) < zeros
    return np.where(zero, 0.0, np.exp(logarithms + spread * rng.normal(size=len(logarithms))))


def _counts(X: Any, rng: np.random.Generator) -> Floats:
    return rng.poisson(1.0, size=len(X)).astype(np.float64)


def _skewed(X: Floats, rng: np.random.Generator) -> Floats:
    """Return exponential noise around 0 whose scale grows with the first factor: its mean is 0 everywhere."""
    noise: Floats = np.exp(SCALE * X[:, 0]) * (rng.exponential(size=len(X)) - 1)
    return noise


SOURCES = {
    "noise-rare-class": Source(uniform_factors, _rare_class),
    "noise-zeros": Source(uniform_factors, _mostly_zeros),
    "noise-counts": Source(uniform_factors, _counts),
    "noise-100-levels": Source(many_levels, lambda X, rng: rng.normal(size=len(X))),
    "noise-skewed": Source(uniform_factors, _skewed),
    "noise-in-time": Source(in_time_order, _series_of_its_own),
    "rare-class": Source(uniform_factors, _rare_class_of_two_factors, (0, 1)),
    "amounts": Source(uniform_factors, _amounts_of_one_factor, (0,)),
}
