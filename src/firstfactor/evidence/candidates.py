"""Does a factor add anything to a base? Tests of candidates, the best of which is compared with chance.

A candidate has several ways to show: its smoothest function, its first ones together, all of them, and products of them
with functions of a factor of the base, which show what changes sign from one place to another.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .._utils.threads import Workers, one_blas_thread
from ..neighbors.strategy import Floats
from .functions import FactorFunctions, Functions
from .scores import Residuals, Squares, bonferroni, deviate, is_sure, p_value

# How many of a candidate's functions are summed, from the smoothest on; at last all.
NESTED = (1, 2, 4, 10**9)

# How many functions of each of two factors are multiplied, in a table with few factors and with many.
MULTIPLIED, MULTIPLIED_OF_MANY = 2, 1


@dataclass(frozen=True)
class CandidateTest:
    """The evidence for each candidate, and how likely the best of them is by chance."""

    deviates: Floats
    """The evidence for each candidate as a normal deviate, (candidates,)."""
    gains: Floats
    """Variance explained beyond the base, (candidates,)."""
    p_value: float


class Candidates:
    """Tests of the factors outside of one base."""

    def __init__(
        self, functions: FactorFunctions, residuals: Residuals, base: Sequence[Functions], workers: Workers
    ) -> None:
        self._functions, self._residuals, self._base, self._workers = functions, residuals, base, workers

    def test_each(self, candidates: Sequence[int]) -> CandidateTest:
        """Whether the best candidate adds anything by itself; candidates are in order."""
        looks = self._ask(look_at_each, "test", candidates)
        deviates, gains = (np.concatenate(each) for each in zip(*looks, strict=True))
        n_tests = len(candidates) * (len(NESTED) + len(self._base))
        if is_sure(deviates.max(), n_tests, self._functions.n_rows):
            return CandidateTest(deviates, gains, bonferroni(deviates.max(), n_tests))
        drawn = self._ask(draw_for_each, "test against draws", candidates)
        best = np.max([largest for _, largest in drawn], axis=0)
        deviates = np.concatenate([deviates for deviates, _ in drawn])
        return CandidateTest(deviates, gains, p_value(best, self._functions.n_rows))

    def _ask(self, ask: "AskCandidates", name: str, candidates: Sequence[int]) -> list[tuple[Floats, Floats]]:
        """What is asked of the candidates: all at once if they are in memory, else block by block where they are."""
        if self._functions.design.is_in_memory:
            return [ask(self, candidates)]
        name = f"step {len(self._base) + 1} {name}"
        return self._functions.ask_each_block(name, _ask_block, candidates, ask, self._residuals, self._base)

    def look_at_each(self, candidates: Sequence[int]) -> tuple[Floats, Floats]:
        """The deviate of the functions of each candidate, and its gain: both (candidates,)."""
        blocks, order = self._blocks(candidates)
        deviates, gains = zip(*self._workers.map(self._look, blocks), strict=True)
        return np.concatenate(deviates)[order], np.concatenate(gains)[order]

    def draw_for_each(self, candidates: Sequence[int]) -> tuple[Floats, Floats]:
        """The largest deviate of each candidate, (candidates,), and that of all in y and in each draw, (1 + draws,)."""
        blocks, order = self._blocks(candidates)
        drawn = self._workers.map(lambda some: self._deviates(some, self._residuals.squares_and_draws), blocks)
        best = np.max([each.max(axis=0) for each in drawn], axis=0)
        return np.concatenate([each[:, 0] for each in drawn])[order], best

    def _blocks(self, candidates: Sequence[int]) -> tuple[list[tuple[int, ...]], NDArray[np.intp]]:
        """The candidates in blocks, and the order in which they were."""
        blocks = self._functions.blocks(candidates)
        return blocks, np.argsort([i for block in blocks for i in block], kind="stable")

    def test_member(self, factor: int) -> float:
        """The p-value of one factor that was in, given those of the base; also in threes with two of them."""
        n_tests = len(NESTED) + len(self._base) * (len(self._base) + 1) // 2
        of_y = self._of_member(factor, self._residuals.squares)
        if is_sure(of_y[0], n_tests, self._functions.n_rows):
            return bonferroni(of_y[0], n_tests)
        return p_value(self._of_member(factor, self._residuals.squares_and_draws), self._functions.n_rows)

    def _look(self, some: Sequence[int]) -> tuple[Floats, Floats]:
        """The deviates of the functions of some factors, and the gains: both (factors,)."""
        left = self._left_of(some)
        deviates = self._nested(self._residuals.squares(left), len(some))[:, 0]
        return deviates, self._residuals.gains(left, len(left) // len(some))

    def _deviates(self, some: Sequence[int], squares: Squares) -> Floats:
        """The largest deviate of some factors, (factors, …), of their functions and of products with the base."""
        left = self._left_of(some)
        found = self._nested(squares(left), len(some))
        for others in self._base:
            found = np.maximum(found, self._of_products(left, len(some), others, squares))
        return found

    def _left_of(self, some: Sequence[int]) -> Functions:
        """What the base leaves of the functions of some factors that have equally many, one after the other."""
        regression = self._residuals.regression
        return regression.remains(regression.weigh(np.concatenate([self._functions.of(i) for i in some])))

    def _nested(self, squares: Floats, n_factors: int) -> Floats:
        """The largest deviate of the first functions, more and more of them: (factors, …)."""
        sums = np.cumsum(squares.reshape(n_factors, -1, squares.shape[1]), axis=1)
        numbers = sorted({min(number, sums.shape[1]) for number in NESTED})
        deviates = [deviate(sums[:, number - 1], number * self._residuals.n_outputs) for number in numbers]
        largest: Floats = np.max(deviates, axis=0)
        return largest

    def _of_products(self, left: Functions, n_factors: int, others: Functions, squares: Squares) -> Floats:
        """The deviate of products with another factor, (factors, …)."""
        n_rows = left.shape[1]
        number = MULTIPLIED if self._functions.are_few else MULTIPLIED_OF_MANY
        first = left.reshape(n_factors, -1, n_rows)[:, :number]
        products = (first[:, :, None] * others[:number]).reshape(-1, n_rows)
        if self._functions.are_few:  # else what the base knows of them is left in, which costs a little power
            products = self._residuals.regression.remains(products)
        found = squares(products)
        n_each, n_outputs = len(products) // n_factors, self._residuals.n_outputs
        found = found.reshape(n_factors, n_each, -1)
        largest: Floats = np.maximum(deviate(found.sum(axis=1), n_each * n_outputs), deviate(found[:, 0], n_outputs))
        return largest

    def _of_member(self, factor: int, squares: Squares) -> Floats:
        """The largest deviate of one factor, (…): of its functions, of products with one of the base and with two."""
        found: Floats = self._deviates((factor,), squares)[0]
        first = self._left_of((factor,))[:1]
        for b, c in combinations(self._base, 2):
            found = np.maximum(found, self._of_products(first, 1, b[:1] * c[:1], squares)[0])
        return found


AskCandidates = Callable[[Candidates, Sequence[int]], tuple[Floats, Floats]]
look_at_each: AskCandidates = Candidates.look_at_each
draw_for_each: AskCandidates = Candidates.draw_for_each


def _ask_block(
    functions: FactorFunctions,
    candidates: Sequence[int],
    ask: AskCandidates,
    residuals: Residuals,
    base: Sequence[Functions],
) -> tuple[Floats, Floats]:
    """What is asked of some candidates of one block."""
    with one_blas_thread():
        return ask(Candidates(functions, residuals, base, Workers(1)), candidates)
