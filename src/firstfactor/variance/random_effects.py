"""Least squares on many functions, each shrunk as far as the data ask for: an empirical-Bayes fit.

Functions that belong together (the line of a factor, its curve, the products of two or three factors) are random
effects with a variance in common, found by penalised marginal likelihood from sums of products alone. Among the
functions of one block rougher ones have smaller variances; a second variance lets these fall less steeply.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ..neighbors.strategy import Floats, Positions

# The prior variance of a function of order k is k to the power of minus one of these: smooth effects, and rough ones.
SMOOTH, ROUGH = 4.0, 1.0

# Blocks of no more functions than this have the smooth variance only.
FEW = 3

# Degrees of freedom that a variance costs: of a line, of a smooth block, of a rough one.
COST_OF_LINE, COST_OF_SMOOTH, COST_OF_ROUGH = 0.25, 0.5, 1.0

# Prior variances below this share of that of the error of a coefficient are 0: in the first rounds, in which all blocks
# begin with small ones, and later. Functions that are dropped late would be shrunk by three quarters and more; without
# them, errors are smaller and all that follows is faster.
SMALLEST, SMALL = 0.03, 0.3

# Variances are found when they change by less than this share of Var(y), the noise by this share of itself.
TOLERANCE, FEWEST_ROUNDS = 1e-4, 4

# The noise is at least this share of Var(y).
LEAST_NOISE = 1e-8


# Choosing a variance counts less where the functions use less than this, squared, of their degrees of freedom.
LEAST_USED = 0.01


class Block(NamedTuple):
    """Functions that have a variance in common."""

    members: Positions
    orders: Floats
    """How rough each function is."""
    n_factors: int


class Effects(NamedTuple):
    """The coefficients of the functions that are not shrunk to 0."""

    active: Positions
    coefficients: Floats
    covariance: Floats
    """Of the coefficients given the data, (active, active)."""
    noise: float
    """The noise variance that belongs to the covariance."""
    adaptivity: Floats
    """Degrees of freedom of each function because its variance was chosen by the same rows, (active,)."""


def shrink(
    gram: Floats, moments: Floats, square: float, n_rows: float, blocks: Sequence[Block], rounds: int
) -> Effects:
    """Return the coefficients of functions, given their products with each other and with y, summed over rows.

    Each round takes variances from coefficients and coefficients from variances (MacKay 1992), at most ``rounds``
    times. ``square`` is the sum of squares of y.
    """
    total = square / n_rows
    if not blocks or total == 0:
        return Effects(np.arange(0), np.zeros(0), np.zeros((0, 0)), total, np.zeros(0))
    shapes, costs, plain = _shapes(blocks, moments.size)
    noise = total / 2
    variances = np.where(plain, total / (4 * max(int(plain.sum()), 1)), total / (4 * len(shapes)))
    for turn in range(rounds):
        prior = variances @ shapes
        active = np.flatnonzero(prior * n_rows > (SMALLEST if turn < FEWEST_ROUNDS else SMALL) * noise)
        if active.size == 0:
            active = np.arange(min(1, prior.size))
        root, own = np.sqrt(np.maximum(prior[active], 1e-300)), gram[np.ix_(active, active)]
        inverse = _invert(root[:, None] * own * root / noise)
        scaled = inverse @ (root * moments[active]) / noise
        coefficients, freedom = root * scaled, 1 - np.diag(inverse)
        adaptivity = _adaptivity(variances[:, None] * shapes[:, active] / root**2, freedom)
        found = Effects(active, coefficients, root[:, None] * inverse * root, noise, adaptivity)
        weight = shapes[:, active] / root**2
        used = variances * (weight @ freedom)
        updated = variances**2 * (weight @ scaled**2) / np.maximum(used + costs, 1e-300)
        left = float(square - 2 * coefficients @ moments[active] + coefficients @ own @ coefficients)
        left = max(left / max(n_rows - float(freedom.sum()), 1.0), LEAST_NOISE * total)
        is_steady = abs(np.log(left / noise)) < TOLERANCE and np.abs(updated - variances).max() < TOLERANCE * total
        variances, noise = updated, left
        if is_steady and turn >= FEWEST_ROUNDS:
            break
    return found


def _shapes(blocks: Sequence[Block], n_functions: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return how each variance is shared out among functions, what it costs, and whether it is of a single factor."""
    shapes, costs, plain = [], [], []
    for block in blocks:
        is_line = block.n_factors == 1 and block.members.size == 1
        is_small = block.members.size <= FEW or bool((block.orders == 1).all())
        for decay in (SMOOTH,) if is_small else (SMOOTH, ROUGH):
            shape = np.zeros(n_functions)
            shape[block.members] = block.orders**-decay
            shapes.append(shape / shape.sum())
            costs.append(COST_OF_LINE if is_line else COST_OF_SMOOTH if decay == SMOOTH else COST_OF_ROUGH)
            plain.append(block.n_factors == 1)
    return np.array(shapes), np.array(costs), np.array(plain, dtype=bool)


def _adaptivity(parts: Floats, freedom: Floats) -> Floats:
    """Return the degrees of freedom of each function that come from choosing variances.

    A function that is shrunk by the factor s follows y not only by s but also by how s changes with y. If the variance
    is that of maximum likelihood, this adds 2 Σs²(1 − s) / Σs² for the functions that share it, as in the James-Stein
    estimator, where it is 2(1 − s). ``parts`` are what each variance is of the prior of each function.
    """
    squares = parts * freedom**2
    shares = squares / np.maximum(squares.sum(axis=1, keepdims=True), LEAST_USED)
    adaptivity: Floats = 2 * (1 - freedom) * shares.sum(axis=0)
    return adaptivity


def _invert(matrix: Floats) -> Floats:
    """Return the inverse of one plus a positive semidefinite matrix."""
    matrix[np.diag_indices(len(matrix))] += 1
    lower = lapack.dpotri(lapack.dpotrf(matrix, lower=1)[0], lower=1)[0]  # with zeros above
    inverse: Floats = lower + lower.T
    inverse[np.diag_indices(len(inverse))] /= 2
    return inverse
