"""Factors that do nothing alone but something together: products of two and of three of them.

They are tried where the best single factor is not beyond doubt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .._utils.threads import Workers
from ..neighbors.strategy import Floats
from .functions import BLOCK, FactorFunctions
from .scores import Residuals, Squares, bonferroni, deviate, is_sure, p_value

# Functions of a factor that are multiplied: a line and a parabola.
MULTIPLIED = 2

# Pairs, and threes, that are all tried. Of more pairs, so many are whose products of lines look best.
MOST_PAIRS, MOST_THREES = 20_000, 20_000
BEST_PAIRS = 200

Lines = NDArray[np.float32]
"""What a base leaves of the first functions of each factor, 0 if it has fewer: (factors, MULTIPLIED, rows)."""


@dataclass(frozen=True)
class JointTest:
    """Factors that show most together, and how likely that is by chance."""

    factors: tuple[int, ...]
    p_value: float


def joint_test(
    functions: FactorFunctions, residuals: Residuals, candidates: Sequence[int], workers: Workers, most: int
) -> JointTest:
    """The two or three candidates, at most so many, that add most together, and how likely that is by chance."""
    lines = _first_functions(functions, residuals, candidates)
    n = len(candidates)
    n_pairs, n_threes = n * (n - 1) // 2, n * (n - 1) * (n - 2) // 6
    sets: list[tuple[int, ...]] = _promising_pairs(lines, residuals, workers) if n_pairs > MOST_PAIRS else []
    sets = sets or list(combinations(range(n), 2))
    n_tests = 2 * n_pairs
    if most > 2 and n_threes <= MOST_THREES:
        sets += combinations(range(n), 3)
        n_tests += n_threes
    of_y = np.concatenate(_deviates(lines, residuals, sets, residuals.squares, workers))[:, 0]
    best = tuple(candidates[i] for i in sets[int(np.argmax(of_y))])
    chance = bonferroni(of_y.max(), n_tests)
    if chance >= 1 or n_pairs > MOST_PAIRS or is_sure(of_y.max(), n_tests, functions.n_rows):
        return JointTest(best, chance)
    drawn = _deviates(lines, residuals, sets, residuals.squares_and_draws, workers)
    return JointTest(best, p_value(np.max([each.max(axis=0) for each in drawn], axis=0), functions.n_rows))


def _first_functions(functions: FactorFunctions, residuals: Residuals, candidates: Sequence[int]) -> Lines:
    lines = np.zeros((len(candidates), MULTIPLIED, functions.n_rows), np.float32)
    for k, i in enumerate(candidates):
        first = functions.of(i)[:MULTIPLIED]
        lines[k, : len(first)] = first
    regression = residuals.regression
    left = regression.remains(regression.weigh(lines.reshape(-1, functions.n_rows)))
    return regression.unweigh(left).reshape(lines.shape)


def _promising_pairs(lines: Lines, residuals: Residuals, workers: Workers) -> list[tuple[int, ...]]:
    """The pairs of factors whose products of lines have the largest scores, as if all had the same variance."""
    first = np.ascontiguousarray(lines[:, 0])
    outputs = residuals.regression.weigh(residuals.left.astype(np.float32))
    size = max(BLOCK // first.shape[1], 1)

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
    """The deviates of some sets of two, then of three factors, in blocks: (sets, …) each."""
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
        found = squares(residuals.regression.weigh(flat))  # which the base hardly knows: removing it costs most
        found = found.reshape(len(some), -1, found.shape[1])
        together = deviate(found.sum(axis=1), found.shape[1] * residuals.n_outputs)
        largest: Floats = np.maximum(together, deviate(found[:, 0], residuals.n_outputs))
        return largest

    return workers.map(of_block, blocks)
