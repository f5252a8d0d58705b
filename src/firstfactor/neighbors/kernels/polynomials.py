"""Numba kernels for polynomials in several columns: their terms at each row, orthonormalised.

Terms are products of two Legendre polynomials, the second of which may be the constant. Arrays of terms are padded with
columns of zeros to whole vectors. Matrix products are written out: BLAS would start threads of its own.
"""

from typing import Any

import numpy as np

from .compiling import inlined, jit
from .simd import WIDTH, broadcast8, load8, store

# Number of rows multiplied at a time: they stay in a fast cache for every pair of columns.
ROWS = 256


def evaluate_terms(columns: Any, terms: Any) -> Any:
    """Return the value of each term at each row, float64 (rows, padded terms).

    Parameters
    ----------
    columns : float64 (rows, columns)
        Values between −1 and 1.
    terms : intp (terms, 4)
        Column and degree of the first polynomial, and of the second.
    """
    highest = max(terms[:, 1].max(), terms[:, 3].max(), 1)
    width = -(-len(terms) // WIDTH) * WIDTH
    values, powers = np.zeros((len(columns), width)), np.ones((columns.shape[1], highest + 1))
    _fill_terms(columns, terms, powers, values)
    return values


@jit
def _fill_terms(columns: Any, terms: Any, powers: Any, values: Any) -> None:
    """Fill in the value of each term at each row; ``powers``, (columns, degrees), are the polynomials of one row."""
    n, d = columns.shape
    for row in range(n):
        for j in range(d):
            powers[j, 1] = columns[row, j]
            for k in range(1, powers.shape[1] - 1):
                powers[j, k + 1] = ((2 * k + 1) * powers[j, 1] * powers[j, k] - k * powers[j, k - 1]) / (k + 1)
        for t in range(terms.shape[0]):
            values[row, t] = powers[terms[t, 0], terms[t, 1]] * powers[terms[t, 2], terms[t, 3]]


def orthonormalise(values: Any, rows: Any, least: float) -> Any:
    """Return columns orthonormalised in sequence over some rows: float64 (all rows, padded terms).

    A column becomes zeros if earlier ones explain all but a share ``least`` of its sum of squares.

    Parameters
    ----------
    values : float64 (all rows, padded terms)
    rows : intp (rows,)
    least : float
    """
    gram, inverse = np.zeros((2, values.shape[1], values.shape[1]))
    found = np.zeros_like(values)
    _fill_orthonormal(values, rows, least, gram, inverse, found)
    return found


@jit
def _fill_orthonormal(values: Any, rows: Any, least: float, gram: Any, inverse: Any, found: Any) -> None:
    """Fill in the orthonormal columns; ``gram`` and ``inverse``, (padded terms, padded terms), are zeros before."""
    for start in range(0, rows.size, ROWS):
        _add_products(gram, values, rows, start, min(start + ROWS, rows.size))
    _factorise(gram, least)
    _fill_inverse(inverse, gram)
    _fill_product(found, values, inverse)


@inlined
def _add_products(gram: Any, values: Any, rows: Any, start: int, end: int) -> None:
    """Add the products of any two columns, summed over some rows, to the upper triangle, four columns at a time."""
    width = gram.shape[0]
    for k in range(0, width, 4):
        for j in range(k // WIDTH * WIDTH, width, WIDTH):
            a, b, c, d = broadcast8(0.0), broadcast8(0.0), broadcast8(0.0), broadcast8(0.0)
            for m in range(start, end):
                row = rows[m]
                some = load8(values, row * width + j)
                a = a + broadcast8(values[row, k]) * some
                b = b + broadcast8(values[row, k + 1]) * some
                c = c + broadcast8(values[row, k + 2]) * some
                d = d + broadcast8(values[row, k + 3]) * some
            at = k * width + j
            store(gram, at, load8(gram, at) + a)
            store(gram, at + width, load8(gram, at + width) + b)
            store(gram, at + 2 * width, load8(gram, at + 2 * width) + c)
            store(gram, at + 3 * width, load8(gram, at + 3 * width) + d)


@inlined
def _factorise(gram: Any, least: float) -> None:
    """Replace the upper triangle by its Cholesky factor; rows of columns that others explain become zeros."""
    width = gram.shape[0]
    for k in range(width):
        square = gram[k, k]
        for i in range(k):
            weight = gram[i, k]
            for j in range(k, width):
                gram[k, j] -= weight * gram[i, j]
        scale = 1.0 / np.sqrt(gram[k, k]) if gram[k, k] > least * square else 0.0
        for j in range(k, width):
            gram[k, j] *= scale


@inlined
def _fill_inverse(inverse: Any, upper: Any) -> None:
    """Fill in the inverse of an upper triangle, row by row from the last; rows of zeros stay zeros."""
    width = upper.shape[0]
    for k in range(width - 1, -1, -1):
        if upper[k, k] == 0.0:
            continue
        inverse[k, k] = 1.0 / upper[k, k]
        for i in range(k + 1, width):
            weight = upper[k, i] * inverse[k, k]
            for j in range(i, width):
                inverse[k, j] -= weight * inverse[i, j]


@inlined
def _fill_product(found: Any, values: Any, upper: Any) -> None:
    """Fill in the product of rows with an upper triangle, four rows at a time."""
    n, width = values.shape
    for row in range(0, n - 3, 4):
        for j in range(0, width, WIDTH):
            a, b, c, d = broadcast8(0.0), broadcast8(0.0), broadcast8(0.0), broadcast8(0.0)
            for k in range(j + WIDTH):
                some = load8(upper, k * width + j)
                a = a + broadcast8(values[row, k]) * some
                b = b + broadcast8(values[row + 1, k]) * some
                c = c + broadcast8(values[row + 2, k]) * some
                d = d + broadcast8(values[row + 3, k]) * some
            at = row * width + j
            store(found, at, a)
            store(found, at + width, b)
            store(found, at + 2 * width, c)
            store(found, at + 3 * width, d)
    for row in range(n // 4 * 4, n):
        for k in range(width):
            for j in range(k, width):
                found[row, j] += values[row, k] * upper[k, j]
