"""Least squares on functions of a base and their products, for the residuals of y and of other factors.

If y depends on the factors of a base only, the residuals of y are uncorrelated with the residuals of any function of
another factor. This nearly holds if the fit is incomplete for one of the two but not for the other. A fit therefore
contains the plain functions of the base, and those curves and products that are related to y or to the line of a
candidate (double selection: Belloni, Chernozhukov and Hansen 2014). Others would only cost power.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri

from .._utils.threads import Workers
from ..data.encoding import TINY, TINY_IN_SINGLE
from ..neighbors.strategy import Floats, Positions, spans
from .constants import (
    CURVES_OF_BASE,
    LARGEST_LEVERAGE,
    LINE_ASKS,
    MOST_ASKING,
    MOST_COEFFICIENTS,
    PRODUCTS_OF_BASE,
    ROWS_PER_COEFFICIENT,
    Y_ASKS,
)
from .functions import FactorFunctions, Functions

Values = TypeVar("Values", bound=NDArray[Any])

# Ridge that separates linear combinations of other terms from rounding error.
RIDGE = 1e-12

# Shorter terms count as 0. Number of rows processed together.
SHORTEST, ROWS_IN_BLOCK = 1e-150, 8192

# Directions with less than this share of their length left given those before them are rounding error.
SMALLEST_LENGTH = 3e-5

# Functions of which less than this share is left are explained by the base up to rounding in single precision.
SMALLEST_LEFT = 1e-6


class Regression:
    """Least squares of weighted values on orthonormal combinations of terms, beyond a smaller regression if given."""

    def __init__(
        self, terms: "_Terms", directions: Floats, root_weights: Floats | None, smaller: "Regression | None" = None
    ) -> None:
        self._root_weights = root_weights
        self._terms, self._directions, self._smaller = terms, directions, smaller
        self._single, self.leverage = terms.at_rows(directions)
        """Directions, (directions, rows), and the leverage of each row, (rows,)."""
        if smaller is not None:
            self._single = np.concatenate([smaller._single, self._single])
            self.leverage += smaller.leverage
        self.leverage = np.minimum(self.leverage, LARGEST_LEVERAGE)
        self.n_coefficients = len(self._single)

    def leverage_of(self, groups: Positions | None) -> Floats:
        """Return the leverage of each row or of its group, (rows,)."""
        if groups is None:
            return self.leverage
        of_group: Floats = np.minimum(np.bincount(groups, self.leverage), LARGEST_LEVERAGE)
        return of_group[groups]

    def __getstate__(self) -> dict[str, Any]:
        """Return the state that other processes need: enough for residuals of functions, not of y."""
        return {name: value for name, value in vars(self).items() if name not in ("_terms", "_smaller")}

    def residuals(self, y: Floats) -> Floats:
        """Return the weighted residuals of responses, (outputs, rows)."""
        left = self.weigh(y) if self._smaller is None else self._smaller.residuals(y)
        return left - self._terms.fit(self._directions, left)

    def remains(self, functions: Functions) -> Functions:
        """Return the residuals of weighted functions; 0 where they are rounding error."""
        left = functions - np.asarray((functions @ self._single.T) @ self._single, np.float32)
        before, after = (np.einsum("ij,ij->i", each, each) for each in (functions, left))
        left[after <= SMALLEST_LEFT * before] = 0.0
        return left

    def weigh(self, values: Values) -> Values:
        """Multiply values, (…, rows), by the root of the weights, so that least squares are weighted."""
        return values if self._root_weights is None else values * self._root_weights.astype(values.dtype)

    def unweigh(self, values: Values) -> Values:
        """Undo the weighting of values; 0 where the weight is 0 in their precision."""
        if self._root_weights is None:
            return values
        unweighed: Values = values / np.maximum(self._root_weights.astype(values.dtype), np.finfo(values.dtype).tiny)
        return unweighed

    def extend(self, left: Floats) -> "Regression":
        """Return the regression extended by functions that are given by their residuals from this one."""
        terms = _Terms(left, None, self._terms.workers)
        return Regression(terms, terms.directions, self._root_weights, self)


def regress(
    functions: FactorFunctions,
    base: Sequence[int],
    root_weights: Floats | None,
    n_units: int,
    y: Floats,
    candidates: Sequence[int] = (),
    whole: bool = False,
) -> Regression:
    """Return the regression on a base, with optional terms related to y, (outputs, rows), or to candidates' lines.

    With ``whole``, it has all optional terms, related or not.
    """
    plain = [np.ones((1, functions.n_rows), np.float32), *(functions.plain(i) for i in base)]
    optional = _optional(functions, base, min(n_units / ROWS_PER_COEFFICIENT, MOST_COEFFICIENTS))
    terms = _Terms(np.concatenate([*plain, *optional]), root_weights, functions.workers)
    if whole:
        return Regression(terms, terms.directions, root_weights)
    terms.n_plain = int((terms.number < sum(map(len, plain))).sum())
    wanted = np.arange(len(terms.directions)) < terms.n_plain
    wanted[terms.n_plain :] = _y_asks(terms, y, n_units)
    if candidates and not wanted.all():
        wanted[terms.n_plain :] |= _lines_ask(functions, candidates, terms)
    return Regression(terms, terms.directions[wanted], root_weights)


class _Terms:
    """Functions of all rows, (terms, rows), and the orthonormal directions that they span if weighted.

    Rows are processed in blocks, in double precision: all at once would not stay in a cache.
    """

    n_plain: int
    """Number of leading directions that belong to the plain functions."""

    def __init__(self, values: NDArray[Any], root_weights: Floats | None, workers: Workers) -> None:
        self.workers = workers
        self._values, self._root_weights = values, root_weights
        self._blocks = spans(values.shape[1], ROWS_IN_BLOCK)
        self.directions, self.number = _directions(self._sum(lambda rows: self._multiply(rows, None)))
        """Directions as combinations of terms, (directions, terms), and the last term of each."""

    def _weigh(self, values: NDArray[Any], rows: slice) -> Floats:
        """Return values, (…, rows), of some rows, weighted."""
        block: Floats = values[..., rows].astype(np.float64)
        if self._root_weights is not None:
            block *= self._root_weights[rows]
        return block

    def _multiply(self, rows: slice, others: Floats | None) -> Floats:
        """Return the sums of products of the terms with other values, (others, rows), or with each other."""
        block = self._weigh(self._values, rows)
        products: Floats = block @ (block if others is None else others).T
        return products

    def _sum(self, of_block: Callable[[slice], Floats]) -> Floats:
        """Return the sum over all blocks of rows."""
        total: Floats = np.sum(self.workers.map(of_block, self._blocks), axis=0)
        return total

    def at_rows(self, directions: Floats) -> tuple[Functions, Floats]:
        """Return directions at all rows, (directions, rows), in single precision, and the sum of their squares."""
        found, squares = np.empty((len(directions), self._values.shape[1]), np.float32), np.empty(self._values.shape[1])

        def fill(rows: slice) -> None:
            block = directions @ self._weigh(self._values, rows)
            found[:, rows], squares[rows] = block, np.einsum("ij,ij->j", block, block)

        self.workers.map(fill, self._blocks)
        return found, squares

    def fit(self, directions: Floats, values: Floats) -> Floats:
        """Return the least squares fit of some directions to weighted values, (outputs, rows)."""
        coefficients = (directions @ self._sum(lambda rows: self._multiply(rows, values[:, rows]))).T @ directions
        blocks = self.workers.map(lambda rows: coefficients @ self._weigh(self._values, rows), self._blocks)
        return np.concatenate(blocks, axis=1)

    def scores_of(self, others: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return the squared products of optional directions with other values, and the residual squares of these.

        They are (optional directions, others), and (others,) given the plain directions.
        """
        squares = (self.directions @ self._sum(lambda rows: self._multiply(rows, self._weigh(others, rows)))) ** 2
        whole = sum(np.einsum("ij,ij->i", each, each) for each in (self._weigh(others, rows) for rows in self._blocks))
        return squares[self.n_plain :], whole - squares[: self.n_plain].sum(axis=0)


def _directions(gram: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return orthonormal combinations of terms in sequence, (directions, terms), and the last term of each.

    The input is the matrix of products of the terms. A term that is nearly a combination of earlier ones yields no
    direction.
    """
    length = np.sqrt(np.diag(gram))
    number = np.flatnonzero(length > SHORTEST)
    gram = gram[np.ix_(number, number)] / np.outer(length[number], length[number])
    triangle = np.linalg.cholesky(gram + RIDGE * np.eye(number.size))
    new = np.diag(triangle) > SMALLEST_LENGTH
    if not new.all():
        number, gram = number[new], gram[np.ix_(new, new)]
        triangle = np.linalg.cholesky(gram + RIDGE * np.eye(number.size))
    directions = np.zeros((number.size, length.size))
    directions[:, number] = dtrtri(triangle, lower=1)[0] / length[number]
    return directions, number


def _optional(functions: FactorFunctions, base: Sequence[int], most: float) -> Iterator[Functions]:
    """Yield curves of the factors and products of two and three of them, while there are enough rows."""
    of = [functions.multiplied(i) for i in base]
    rough = [functions.of(i)[functions.n_plain(i) :] for i in base]
    most -= 1 + sum(functions.n_plain(i) for i in base)
    curves = [[each[a:b] for each in rough] for a, b in CURVES_OF_BASE]
    pairs = [[_products(a, b, degrees) for a, b in combinations(of, 2)] for degrees in PRODUCTS_OF_BASE]
    threes = []
    if len(base) * (len(base) - 1) * (len(base) - 2) / 6 <= most:
        threes = [a[:1] * b[:1] * c[:1] for a, b, c in combinations(of, 3)]
    for kind in (curves[0], pairs[0], curves[1], pairs[1], threes, curves[2]):
        size = sum(map(len, kind))
        if size <= most:
            most -= size
            yield from kind


def _products(a: Functions, b: Functions, degrees: Sequence[tuple[int, int]]) -> Functions:
    found = [a[k] * b[m] for k, m in degrees if k < len(a) and m < len(b)]
    return np.array(found, np.float32).reshape(-1, a.shape[1])


def _y_asks(terms: _Terms, y: Floats, n_units: int) -> NDArray[np.bool_]:
    """Return a mask of the optional directions that explain more of y than they cost, similar to BIC."""
    explained, left = terms.scores_of(y)
    noise = np.maximum(left - explained.sum(axis=0), RIDGE * (y**2).sum(axis=1))
    gains = (explained / np.maximum(noise / max(y.shape[1] - len(terms.directions), 1), TINY)).sum(axis=1)
    wanted: NDArray[np.bool_] = gains > Y_ASKS * np.log(n_units) * len(y)
    return wanted


def _lines_ask(functions: FactorFunctions, candidates: Sequence[int], terms: _Terms) -> NDArray[np.bool_]:
    """Return a mask of the optional directions correlated with the line of a candidate beyond chance."""
    if functions.design.is_in_memory:
        found = [_largest_scores(functions, some, terms) for some in functions.design.in_blocks(candidates)]
    else:
        found = functions.ask_each_block("adjust for", _largest_scores, candidates, terms)
    wanted: NDArray[np.bool_] = np.max(found, axis=0) > LINE_ASKS + 2 * np.log(len(candidates))
    return wanted


def _largest_scores(functions: FactorFunctions, candidates: Sequence[int], terms: _Terms) -> Floats:
    """Return the largest squared score of the candidates' lines in each optional direction."""
    lines = np.concatenate([functions.plain(i, MOST_ASKING) for i in candidates])
    scores, left = terms.scores_of(lines)
    scores *= lines.shape[1] / np.maximum(left, TINY_IN_SINGLE)
    scores[:, left <= 1e-3 * lines.shape[1]] = 0.0  # hardly anything is left to test
    largest: Floats = scores.max(axis=1)
    return largest
