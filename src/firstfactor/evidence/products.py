"""Joint tests of factors that have an effect only together: products of two and of three of them.

They are used where the best single factor is not significant beyond doubt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .._utils.threads import ONE_BLAS_THREAD, Workers
from ..neighbors.strategy import Floats
from .constants import BEST_PAIRS, MOST_PAIRS, MOST_THREES, MULTIPLIED, THREE_LINES, TWO_CURVES, TWO_LINES
from .functions import BLOCK, FactorFunctions
from .regression import Regression
from .scores import Residuals, Squares, bonferroni, deviate, is_sure, p_value, reweigh, standardise

Lines = NDArray[np.float32]
"""Residuals of the first functions of each factor given a base, padded with 0: (factors, MULTIPLIED, rows)."""


@dataclass(frozen=True)
class JointTest:
    """Factors with the strongest joint effect, and its p-value."""

    factors: tuple[int, ...]
    p_value: float


def joint_test(
    functions: FactorFunctions, residuals: Residuals, candidates: Sequence[int], workers: Workers, most: int
) -> JointTest:
    """Return the two or three candidates, at most ``most``, with the largest joint effect, and its p-value."""
    n = len(candidates)
    n_pairs, n_threes = n * (n - 1) // 2, n * (n - 1) * (n - 2) // 6
    if n_pairs > MOST_PAIRS and not functions.design.is_in_memory:
        return _test_best_pairs(functions, residuals, candidates, workers)
    lines = _first_functions(functions, residuals, candidates)
    sets: list[tuple[int, ...]] = _promising_pairs(lines, residuals, workers) if n_pairs > MOST_PAIRS else []
    sets = sets or list(combinations(range(n), 2))
    n_tests = (TWO_LINES + TWO_CURVES) * n_pairs
    if most > 2 and 0 < n_threes <= MOST_THREES:
        sets += combinations(range(n), 3)
        n_tests += THREE_LINES * n_pairs
    of_y = np.concatenate(_deviates(lines, residuals, sets, residuals.squares, workers))[:, 0]
    best = tuple(candidates[i] for i in sets[int(np.argmax(of_y))])
    chance = bonferroni(of_y.max(), n_tests)
    if chance >= 1 or n_pairs > MOST_PAIRS or is_sure(of_y.max(), n_tests, functions.n_rows):
        return JointTest(best, chance)
    drawn = _deviates(lines, residuals, sets, residuals.squares_and_draws, workers)
    best = tuple(candidates[i] for i in sets[int(np.argmax(np.concatenate([each[:, 0] for each in drawn])))])
    return JointTest(best, p_value(np.max([each.max(axis=0) for each in drawn], axis=0), functions.n_rows))


def _test_best_pairs(
    functions: FactorFunctions, residuals: Residuals, candidates: Sequence[int], workers: Workers
) -> JointTest:
    """Return the same for many candidates that are not in memory: only functions of the best pairs are loaded."""
    n = len(candidates)
    sets = _promising_pairs(_first_functions(functions, residuals, candidates, 1), residuals, workers)
    sets = sets or [(0, 1)]  # no pair differs from the others
    involved = sorted({i for pair in sets for i in pair})
    names = frozenset(functions.design.names[candidates[i]] for i in involved)
    place = {i: k for k, i in enumerate(involved)}
    lines = _first_functions(functions, residuals, candidates, MULTIPLIED, names)
    local: list[tuple[int, ...]] = [(place[i], place[j]) for i, j in sets]
    of_y = np.concatenate(_deviates(lines, residuals, local, residuals.squares, workers))[:, 0]
    best = tuple(candidates[i] for i in sets[int(np.argmax(of_y))])
    return JointTest(best, bonferroni(of_y.max(), (TWO_LINES + TWO_CURVES) * n * (n - 1) / 2))


def _first_functions(
    functions: FactorFunctions,
    residuals: Residuals,
    candidates: Sequence[int],
    most: int = MULTIPLIED,
    names: frozenset[str] | None = None,
) -> Lines:
    """Return the lines of the candidates, or of those with the given names, at most ``most`` of each."""
    design, regression = functions.design, residuals.regression
    if design.is_in_memory:
        return np.concatenate([_first_of(functions, regression, some) for some in design.in_blocks(candidates)])
    return _join(functions.ask_each_block("take lines of", _first_of_block, candidates, regression, most, names))


def _join(blocks: list[Lines]) -> Lines:
    """Concatenate blocks of lines, freeing each in turn, so that there is no second copy of all."""
    ends = np.cumsum([len(block) for block in blocks]).tolist()
    lines = np.empty((ends[-1], *blocks[0].shape[1:]), np.float32)
    for end in reversed(ends):
        block = blocks.pop()
        lines[end - len(block) : end] = block
    return lines


def _first_of(functions: FactorFunctions, regression: Regression, factors: Sequence[int]) -> Lines:
    """Return the lines of the factors of one block."""
    lines = np.zeros((len(factors), MULTIPLIED, functions.n_rows), np.float32)
    for k, i in enumerate(factors):
        first = functions.multiplied(i)
        lines[k, : len(first)] = first
    left = regression.remains(regression.weigh(lines.reshape(-1, functions.n_rows)))
    return regression.unweigh(left).reshape(lines.shape)


def _first_of_block(
    functions: FactorFunctions,
    factors: Sequence[int],
    regression: Regression,
    most: int,
    names: frozenset[str] | None,
) -> Lines:
    """Return the lines of some factors of one block, computed together: this determines their last bits."""
    with ONE_BLAS_THREAD:
        lines = _first_of(functions, regression, factors)
    wanted = [k for k, i in enumerate(factors) if names is None or functions.design.names[i] in names]
    return np.ascontiguousarray(lines[wanted, :most])


def _promising_pairs(lines: Lines, residuals: Residuals, workers: Workers) -> list[tuple[int, ...]]:
    """Return the pairs whose products of lines have the largest scores, assuming equal variances."""
    first = np.ascontiguousarray(lines[:, 0])
    outputs = residuals.regression.weigh(residuals.left.astype(np.float32))
    size = max(BLOCK // max(first.shape), 1)

    def best_with(start: int) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
        some, others = first[start : start + size], first[start:].T
        squares = np.triu(sum(((some * output) @ others) ** 2 for output in outputs), 1)
        best = np.argpartition(-squares, min(BEST_PAIRS, squares.size - 1), axis=None)[:BEST_PAIRS]
        return squares.ravel()[best], np.stack(np.unravel_index(best, squares.shape), axis=1) + start

    found = workers.map(best_with, list(range(0, len(first), size)))
    squares, pairs = (np.concatenate(each) for each in zip(*found, strict=True))
    best = pairs[np.argsort(-squares, kind="stable")[:BEST_PAIRS]]
    return [(i, j) for i, j in best.tolist() if i < j]


def _deviates(
    lines: Lines, residuals: Residuals, sets: list[tuple[int, ...]], squares: Squares, workers: Workers
) -> list[Floats]:
    """Return the deviates of sets of two, then of three factors, in units of their shares: (sets, …) for each block."""
    size = max(BLOCK // (MULTIPLIED**2 * lines.shape[2]), 1)
    by_length = [[u for u in sets if len(u) == length] for length in (2, 3)]
    blocks = [some[at : at + size] for some in by_length for at in range(0, len(some), size)]

    def of_block(some: list[tuple[int, ...]]) -> Floats:
        members = np.array(some).T
        if len(members) == 2:
            products = lines[members[0]][:, :, None] * lines[members[1]][:, None]
        else:
            products = (lines[members[0], 0] * lines[members[1], 0] * lines[members[2], 0])[:, None]
        flat = products.reshape(-1, lines.shape[2])
        # Not adjusted for the base: it explains hardly anything of products, and this would take the most time.
        found = squares(residuals.regression.weigh(flat))
        found = found.reshape(len(some), -1, found.shape[1])
        of_lines = standardise(deviate(found[:, 0], residuals.n_outputs))
        if len(members) == 3:
            return reweigh(of_lines, THREE_LINES * 3 / (len(lines) - 2))  # (len(lines) − 2) / 3 times as many
        of_curves = standardise(deviate(found.sum(axis=1), found.shape[1] * residuals.n_outputs))
        return np.maximum(reweigh(of_lines, TWO_LINES), reweigh(of_curves, TWO_CURVES))

    return workers.map(of_block, blocks)
