"""Does a factor add anything to a base? Tests of candidates, the best of which is compared with chance.

A candidate has several ways to show, each with a share of the error that is allowed: its plain form, a line or levels;
curves, from smooth to rough; products with a factor of the base, which show what changes sign from one place to
another; and its line beside the lines of all other candidates.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from .._utils.threads import ONE_BLAS_THREAD, Workers
from ..neighbors.strategy import Floats
from .functions import BLOCK, MULTIPLIED, FactorFunctions, Functions
from .lines import Lines
from .scores import Residuals, Squares, bonferroni, deviate, is_sure, p_value, reweigh, standardise

# How many of a candidate's functions are summed, from the smoothest on; at last all.
NESTED = (1, 2, 4, 10**9)

# Of many factors, only so many functions of each of two are multiplied.
MULTIPLIED_OF_MANY = 1

# Shares of the error that is allowed: of the plain form, of all curves, and of all products.
PLAIN, CURVES, PRODUCTS = 0.35, 0.15, 0.10

# First functions of a factor that are tried beside those of all other candidates, and their share: lines, and curves.
BESIDE = ((1, 0.30), (4, 0.10))

Look = tuple[Floats, float]
"""The deviates of some factors in one way to show, (factors, …), and its share of the error."""

Found = tuple[Floats, Floats]
"""The largest deviate of each factor, (factors,), and that of all in y and in each draw, (1 + draws,)."""


@dataclass(frozen=True)
class BesideOthers:
    """The first functions of all candidates, and the residuals that tell what each adds to those of all others."""

    lines: Lines
    residuals: Residuals
    share: float

    def find(self, candidates: Sequence[int]) -> Found:
        """Find what the functions of some candidates add to those of all others."""
        lines, residuals = self.lines, self.residuals
        mine = np.isin(lines.owner, candidates)
        squares = residuals.squares_and_draws(lines.beside_each_other()[mine])
        of_y, best = np.full(len(candidates), -np.inf), np.full(squares.shape[1], -np.inf)
        for place, factor in enumerate(candidates):
            own = squares[lines.owner[mine] == factor]
            if len(own):
                deviates = standardise(deviate(own.sum(axis=0), len(own) * residuals.n_outputs)[None])[0]
                of_y[place], best = deviates[0], np.maximum(best, deviates)
        return reweigh(of_y, self.share), reweigh(best, self.share)


@dataclass(frozen=True)
class CandidateTest:
    """The evidence for each candidate, and how likely the best of them is by chance."""

    n_rows: int
    deviates: Floats
    """The evidence for each candidate as a normal deviate, (candidates,)."""
    gains: Floats
    """Variance explained beyond the base, (candidates,)."""
    draws: Floats
    """The largest deviate of all candidates in each draw, (draws,); none if one is beyond doubt without them."""

    @property
    def p_value(self) -> float:
        """The probability that chance gives the best candidate so large a deviate."""
        return self._chance(self.deviates.max())

    @property
    def p_values(self) -> Floats:
        """The probability that chance gives the best of all candidates the deviate of each, (candidates,)."""
        return np.array([self._chance(deviate) for deviate in self.deviates.tolist()])

    @property
    def single_p_values(self) -> Floats:
        """The probability that chance gives each candidate its deviate, if it were the only one: (candidates,)."""
        return np.asarray(ndtr(-self.deviates))

    def _chance(self, largest: float) -> float:
        if self.draws.size == 0:
            return bonferroni(largest, self.deviates.size)
        return p_value(np.concatenate([[largest], self.draws]), self.n_rows)


class Candidates:
    """Tests of the factors outside of one base."""

    def __init__(
        self,
        functions: FactorFunctions,
        residuals: Residuals,
        base: Sequence[Functions],
        workers: Workers,
        beside: Callable[[], Sequence[BesideOthers]] = tuple,
    ) -> None:
        self._functions, self._residuals, self._base, self._workers = functions, residuals, base, workers
        self._beside = beside

    def test_each(self, candidates: Sequence[int]) -> CandidateTest:
        """Whether the best candidate adds anything by itself; candidates are in order."""
        looks = self._ask(look_at_each, "test", candidates)
        deviates, gains = (np.concatenate(each) for each in zip(*looks, strict=True))
        if is_sure(deviates.max(), len(candidates), self._functions.n_rows):
            return CandidateTest(self._functions.n_rows, deviates, gains, np.zeros(0))
        drawn = self._ask(draw_for_each, "test against draws", candidates)
        deviates, best = np.concatenate([found for found, _ in drawn]), np.max([best for _, best in drawn], axis=0)
        for each in self._beside():
            beside, best_beside = each.find(candidates)
            deviates, best = np.maximum(deviates, beside), np.maximum(best, best_beside)
        return CandidateTest(self._functions.n_rows, deviates, gains, best[1:])

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

    def draw_for_each(self, candidates: Sequence[int]) -> Found:
        """Find the largest deviate of each candidate, and that of all in y and in each draw."""
        blocks, order = self._blocks(candidates)
        squares = self._residuals.squares_and_draws
        found = self._workers.map(lambda some: _largest(self._looks(some, squares)), blocks)
        return np.concatenate([of_y for of_y, _ in found])[order], np.max([best for _, best in found], axis=0)

    def _blocks(self, candidates: Sequence[int]) -> tuple[list[tuple[int, ...]], NDArray[np.intp]]:
        """The candidates in blocks, and the order in which they were."""
        blocks = self._functions.blocks(candidates)
        return blocks, np.argsort([i for block in blocks for i in block], kind="stable")

    def test_member(self, factor: int) -> float:
        """The p-value of one factor that was in, given those of the base; also in threes with two of them."""
        (of_y,) = _best(self._looks((factor,), self._residuals.squares, threes=True))
        if is_sure(of_y, 1, self._functions.n_rows):
            return bonferroni(of_y, 1)
        best = _best(self._looks((factor,), self._residuals.squares_and_draws, threes=True))
        for each in self._beside():
            best = np.maximum(best, each.find((factor,))[1])
        return p_value(best, self._functions.n_rows)

    def _look(self, some: Sequence[int]) -> tuple[Floats, Floats]:
        """The deviates of the functions of some factors, and the gains: both (factors,)."""
        left = self._left_of(some)
        deviates, _ = _largest(self._of_functions(some, left, self._residuals.squares))
        return deviates, self._residuals.gains(left, len(left) // len(some))

    def _looks(self, some: Sequence[int], squares: Squares, threes: bool = False) -> Iterator[Look]:
        """Yield all ways to show but for lines beside those of others; of a single factor, in ``threes`` as well."""
        left = self._left_of(some)
        yield from self._of_functions(some, left, squares)
        if not self._base:
            return
        first = self._first_of(some)
        pairs = list(combinations(self._base, 2)) if threes else []
        share = PRODUCTS / (len(self._base) + len(pairs))
        for others in self._base:
            yield self._of_products(first, others, squares), share
        size = max(BLOCK // first.shape[2], 1)
        for at in range(0, len(pairs), size):
            lines = np.stack([first[0, :1] * b[:1] * c[:1] for b, c in pairs[at : at + size]])
            yield self._deviates(lines, squares), share

    def _left_of(self, some: Sequence[int]) -> Functions:
        """What the base leaves of the functions of some factors that have equally many, one after the other."""
        regression = self._residuals.regression
        return regression.remains(regression.weigh(np.concatenate([self._functions.of(i) for i in some])))

    def _first_of(self, some: Sequence[int]) -> Functions:
        """What the base leaves of the functions of some factors that are multiplied: (factors, functions, rows)."""
        number = MULTIPLIED if self._functions.are_few else MULTIPLIED_OF_MANY
        regression = self._residuals.regression
        first = np.stack([_pad(self._functions.multiplied(i)[:number], number) for i in some])
        return regression.remains(regression.weigh(first.reshape(-1, first.shape[2]))).reshape(first.shape)

    def _of_functions(self, some: Sequence[int], left: Functions, squares: Squares) -> Iterator[Look]:
        """Yield the deviates of the plain functions of some factors, and of more and more of all."""
        found = squares(left)
        sums = np.cumsum(found.reshape(len(some), -1, found.shape[1]), axis=1)
        n_plain, n_all = self._functions.n_plain(some[0]), sums.shape[1]
        curves = sorted({min(number, n_all) for number in NESTED} - {n_plain})
        # All levels of a category are its plain form: the first of them are no curves.
        of_curves = CURVES if n_plain < n_all else CURVES * len(curves) / (len(curves) + 1)
        of_plain = PLAIN + CURVES - of_curves
        shares = {n_plain: of_plain, **dict.fromkeys(curves, of_curves / max(len(curves), 1))}
        for number, share in shares.items():
            deviates = deviate(sums[:, number - 1], number * self._residuals.n_outputs)
            yield deviates, share

    def _of_products(self, first: Functions, others: Functions, squares: Squares) -> Floats:
        """The deviate of products of functions, (factors, functions, rows), with those of another: (factors, …)."""
        products = first[:, :, None] * others[: first.shape[1]]
        return self._deviates(products.reshape(len(first), -1, first.shape[2]), squares)

    def _deviates(self, products: Functions, squares: Squares) -> Floats:
        """The larger deviate of all products of each set, and of the first one: (sets, products, rows) to (sets, …)."""
        n_sets, n_each, n_rows = products.shape
        flat, n_outputs = products.reshape(-1, n_rows), self._residuals.n_outputs
        if self._functions.are_few:  # else what the base knows of them is left in, which costs a little power
            flat = self._residuals.regression.remains(flat)
        found = squares(flat).reshape(n_sets, n_each, -1)
        largest: Floats = np.maximum(deviate(found.sum(axis=1), n_each * n_outputs), deviate(found[:, 0], n_outputs))
        return largest


def _pad(functions: Functions, number: int) -> Functions:
    """Return so many functions, 0 where there are fewer."""
    return np.concatenate([functions, np.zeros((number - len(functions), functions.shape[1]), np.float32)])


def _largest(looks: Iterable[Look]) -> Found:
    """Find the largest deviate of each factor, and that of all in y and in each draw, each in units of its share."""
    looks = [(standardise(deviates), share) for deviates, share in looks]
    found = [(reweigh(deviates[:, 0], share), reweigh(deviates.max(axis=0), share)) for deviates, share in looks]
    of_y, best = (np.max(each, axis=0) for each in zip(*found, strict=True))
    return of_y, best


def _best(looks: Iterable[Look]) -> Floats:
    """The largest deviate of all in y and in each draw, each in units of its share."""
    by_share: dict[float, Floats] = {}
    for deviates, share in looks:
        best = standardise(deviates).max(axis=0)
        by_share[share] = np.maximum(best, by_share.get(share, best))
    largest: Floats = np.max([reweigh(best, share) for share, best in by_share.items()], axis=0)
    return largest


def beside_others(
    functions: FactorFunctions, residuals: Residuals, y: Floats, factors: Sequence[int], n_units: int
) -> list[BesideOthers]:
    """Return the first functions of factors beside each other, as far as there are rows enough."""
    found = []
    for n_functions, share in BESIDE:
        lines = Lines.of_few(functions, residuals.regression, factors, n_functions)
        if lines is not None and len(factors) > 1 and lines.fit(residuals.regression, n_units):
            found.append(BesideOthers(lines, residuals.given(y, residuals.regression.extend(lines.left)), share))
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
    with ONE_BLAS_THREAD:
        return ask(Candidates(functions, residuals, base, Workers(1)), candidates)
