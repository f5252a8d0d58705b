"""Least squares on the functions of some factors and on their products: what the factors leave of y, and of others.

If y depends on the factors of a base only, what they leave of y has nothing in common with what they leave of a
function of another factor. That nearly holds where the sum misses something of one of the two, but not of the other.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..neighbors.strategy import Floats
from .functions import FactorFunctions, Functions

Values = TypeVar("Values", bound=NDArray[Any])

# Rows, or groups of rows, for each coefficient; and the most coefficients, as time goes with their square.
ROWS_PER_COEFFICIENT, MOST_COEFFICIENTS = 8, 200

# Which functions of two factors are multiplied: the richest of these for which there are rows enough.
PRODUCTS = (
    ((0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (1, 2), (2, 1)),
    ((0, 0), (0, 1), (1, 0), (1, 1)),
    ((0, 0),),
)

# Directions with less than this share of the largest variance cannot be told from rounding.
SMALLEST_VARIANCE = 1e-9

# A function of which less than this share is left is known from the base but for rounding in single precision.
SMALLEST_LEFT = 1e-6

# No row fits itself entirely.
LARGEST_LEVERAGE = 0.9


class Regression:
    """Least squares on the functions of a base of factors."""

    def __init__(
        self, functions: FactorFunctions, base: Sequence[int], root_weights: Floats | None, n_units: int
    ) -> None:
        terms: list[NDArray[Any]] = [np.ones((1, functions.n_rows))]
        terms += _terms(functions, base, min(n_units / ROWS_PER_COEFFICIENT, MOST_COEFFICIENTS))
        self._root_weights = root_weights
        self._basis = _orthonormal(self.weigh(np.concatenate(terms)))
        self._single = self._basis.astype(np.float32)
        self.n_coefficients = len(self._basis)
        self.leverage: Floats = np.minimum((self._basis**2).sum(axis=0), LARGEST_LEVERAGE)
        """How much each row fits itself, (rows,)."""

    def __getstate__(self) -> dict[str, Any]:
        """What other processes need: to tell what is left of functions, not of y."""
        return {name: value for name, value in vars(self).items() if name != "_basis"}

    def residuals(self, y: Floats) -> Floats:
        """What is left of some responses, (outputs, rows), weighed."""
        y = self.weigh(y)
        left: Floats = y - (y @ self._basis.T) @ self._basis
        return left

    def remains(self, functions: Functions) -> Functions:
        """What is left of weighed functions; 0 if that is rounding."""
        left = functions - np.asarray((functions @ self._single.T) @ self._single, np.float32)
        before, after = (np.einsum("ij,ij->i", each, each) for each in (functions, left))
        left[after <= SMALLEST_LEFT * before] = 0.0
        return left

    def weigh(self, values: Values) -> Values:
        """Values, (…, rows), times the root of the weights: least squares of them are weighted least squares."""
        return values if self._root_weights is None else values * self._root_weights.astype(values.dtype)

    def unweigh(self, values: Values) -> Values:
        """Weighed values as they were; 0 where the weight is 0 in their precision."""
        if self._root_weights is None:
            return values
        unweighed: Values = values / np.maximum(self._root_weights.astype(values.dtype), np.finfo(values.dtype).tiny)
        return unweighed


def _terms(functions: FactorFunctions, base: Sequence[int], most: float) -> Iterator[Functions]:
    """The functions of the factors, then products of those of two factors and of three, about ``most`` in all."""
    if not base:
        return
    each = int(max(most / 2 / len(base), 2))
    single = [functions.of(i)[:each] for i in base]
    yield from single
    most -= sum(map(len, single))
    for degrees in PRODUCTS:
        pairs = [a[k] * b[m] for a, b in combinations(single, 2) for k, m in degrees if k < len(a) and m < len(b)]
        if len(pairs) <= most:
            yield from (pair[None] for pair in pairs)
            most -= len(pairs)
            break
    if len(base) * (len(base) - 1) * (len(base) - 2) / 6 <= most:
        yield from ((a[0] * b[0] * c[0])[None] for a, b, c in combinations(single, 3))


def _orthonormal(terms: Floats) -> Floats:
    """An orthonormal basis, (directions, rows), of the space of some terms; what is nearly collinear counts once."""
    terms = terms / np.maximum(np.sqrt(np.einsum("ij,ij->i", terms, terms)), 1e-300)[:, None]
    variances, directions = np.linalg.eigh(terms @ terms.T)
    kept = variances > SMALLEST_VARIANCE * variances[-1]
    basis: Floats = (directions[:, kept] / np.sqrt(variances[kept])).T @ terms
    return basis
