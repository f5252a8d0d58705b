"""Least squares on many basis functions with data-driven shrinkage: an empirical-Bayes fit.

Functions that belong together (the line of a factor, its curve, the products of two or three factors) are random
effects with a common variance, estimated by penalised marginal likelihood from sums of products alone. Within a block
rougher functions have smaller prior variances; a second variance component lets these decay less steeply.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ..data.encoding import TINY
from ..neighbors.strategy import Floats, Positions
from .constants import (
    COST_OF_LINE,
    COST_OF_ROUGH,
    COST_OF_SMOOTH,
    FEW_IN_BLOCK,
    LEAST_NOISE,
    LEAST_USED,
    ROUGH,
    SMALL_PRIOR,
    SMALLEST_PRIOR,
    SMOOTH,
)

# Converged when variances change by less than this share of Var(y) and the noise by this share of itself.
TOLERANCE, FEWEST_ROUNDS = 1e-4, 4


class Block(NamedTuple):
    """Functions with a common variance."""

    members: Positions
    orders: Floats
    """Roughness of each function."""
    n_factors: int


class Effects(NamedTuple):
    """Coefficients of the functions that are not shrunk to 0."""

    active: Positions
    coefficients: Floats
    covariance: Floats
    """Posterior covariance of the coefficients, (active, active)."""
    noise: float
    """Noise variance that belongs to the covariance."""
    adaptivity: Floats
    """Degrees of freedom of each function that come from choosing its variance on the same rows, (active,)."""


def shrink(
    gram: Floats, moments: Floats, square: float, n_rows: float, blocks: Sequence[Block], rounds: int
) -> Effects:
    """Return shrunken coefficients of functions, given their products with each other and with y, summed over rows.

    Each round updates variances from coefficients and coefficients from variances (MacKay 1992), at most ``rounds``
    times. ``square`` is the sum of squares of y.
    """
    total = square / n_rows
    if not blocks or total == 0:
        return Effects(np.arange(0), np.zeros(0), np.zeros((0, 0)), total, np.zeros(0))
    shapes, costs, plain = _shapes(blocks, moments.size)
    noise = total / 2
    variances = np.where(plain, total / (4 * max(int(plain.sum()), 1)), total / (4 * len(shapes)))
    active = np.arange(0)
    for turn in range(rounds):
        prior, before = variances @ shapes, active
        active = np.flatnonzero(prior * n_rows > (SMALLEST_PRIOR if turn < FEWEST_ROUNDS else SMALL_PRIOR) * noise)
        if active.size == 0:
            active = np.arange(min(1, prior.size))
        if not np.array_equal(active, before):
            own, products, of_active = gram[np.ix_(active, active)], moments[active], shapes[:, active]
        root = np.sqrt(np.maximum(prior[active], TINY))
        half = _invert_root(own, root, noise)
        scaled = half @ (root * products @ half) / noise
        coefficients, freedom = root * scaled, 1 - np.einsum("ij,ij->i", half, half)
        weight = of_active / root**2
        used = variances * (weight @ freedom)
        updated = variances**2 * (weight @ scaled**2) / np.maximum(used + costs, TINY)
        left = float(square - 2 * coefficients @ products + coefficients @ own @ coefficients)
        left = max(left / max(n_rows - float(freedom.sum()), 1.0), LEAST_NOISE * total)
        is_steady = abs(np.log(left / noise)) < TOLERANCE and np.abs(updated - variances).max() < TOLERANCE * total
        if (is_steady and turn >= FEWEST_ROUNDS) or turn == rounds - 1:
            break
        variances, noise = updated, left
    half *= root[:, None]
    return Effects(active, coefficients, half @ half.T, noise, _adaptivity(variances[:, None] * weight, freedom))


def _shapes(blocks: Sequence[Block], n_functions: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return for each variance its distribution over functions, its cost, and True if it is of a single factor."""
    shapes, costs, plain = [], [], []
    for block in blocks:
        is_line = block.n_factors == 1 and block.members.size == 1
        is_small = block.members.size <= FEW_IN_BLOCK or bool((block.orders == 1).all())
        for decay in (SMOOTH,) if is_small else (SMOOTH, ROUGH):
            shape = np.zeros(n_functions)
            shape[block.members] = block.orders**-decay
            shapes.append(shape / shape.sum())
            costs.append(COST_OF_LINE if is_line else COST_OF_SMOOTH if decay == SMOOTH else COST_OF_ROUGH)
            plain.append(block.n_factors == 1)
    return np.array(shapes), np.array(costs), np.array(plain, dtype=bool)


def _adaptivity(parts: Floats, freedom: Floats) -> Floats:
    """Return the degrees of freedom of each function that come from choosing variances.

    A function shrunk by the factor s follows y not only through s but also through the change of s with y. For a
    maximum likelihood variance this adds 2 Σs²(1 − s) / Σs² over the functions that share it, as in the James-Stein
    estimator, where it is 2(1 − s). ``parts`` holds the share of each variance in the prior of each function.
    """
    squares = parts * freedom**2
    shares = squares / np.maximum(squares.sum(axis=1, keepdims=True), LEAST_USED)
    adaptivity: Floats = 2 * (1 - freedom) * shares.sum(axis=0)
    return adaptivity


def _invert_root(gram: Floats, root: Floats, noise: float) -> Floats:
    """Return A, upper triangular, with A A' the inverse of the identity plus ``gram``, scaled by ``root``, over noise.

    The inverse itself would take longer, and each round needs only its diagonal and its product with a vector.
    """
    matrix = gram * root
    matrix *= (root / noise)[:, None]
    matrix[np.diag_indices(len(matrix))] += 1
    lower = lapack.dpotrf(matrix.T, lower=1, overwrite_a=1)[0]  # zeros above the diagonal
    half: Floats = lapack.dtrtri(lower, lower=1, overwrite_c=1)[0].T
    return half
