"""Tests of whether factors add anything to a base, with the best of all candidates compared with chance.

A candidate is tested for several forms of effect, each with a share of the type I error: its plain form, a line or
levels; curves, from smooth to rough; products with a factor of the base, for effects that change sign from one place to
another; and its line beside the lines of all other candidates.

Two or three candidates that have an effect only together are tested by their products, where the best single one is not
significant beyond doubt.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from .._utils.threads import ONE_BLAS_THREAD, Workers
from ..neighbors.strategy import Floats
from .constants import (
    BESIDE,
    BEST_PAIRS,
    CURVED,
    MOST_PAIRS,
    MOST_THREES,
    MULTIPLIED,
    MULTIPLIED_OF_MANY,
    MULTIPLIED_WITH_BASE,
    NESTED,
    PLAIN,
    THREE_LINES,
    TWO_CURVES,
    TWO_LINES,
)
from .functions import BLOCK, FactorFunctions, Functions
from .lines import Lines
from .regression import Regression
from .scores import Residuals, Squares, bonferroni, deviate, is_sure, p_value, reweigh, standardise

Look = tuple[Floats, float]
"""Deviates of some factors for one form of effect, (factors, …), and its share of the type I error."""

Found = tuple[Floats, Floats]
"""Largest deviate of each factor, (factors,), and the largest of all in y and in each draw, (1 + draws,)."""

FirstFunctions = NDArray[np.float32]
"""Residuals of the first functions of each factor given a base, padded with 0: (factors, MULTIPLIED, rows)."""


@dataclass(frozen=True)
class BesideOthers:
    """First functions of all candidates, and residuals for testing each candidate beside all others."""

    lines: Lines
    residuals: Residuals
    share: float

    def find(self, candidates: Sequence[int]) -> Found:
        """Return the deviates of candidates for effects beyond the functions of all others."""
        lines, residuals = self.lines, self.residuals
        mine = np.isin(lines.owner, candidates)
        squares, owner = residuals.squares_and_draws(lines.beside_each_other()[mine]), lines.owner[mine]
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        n_scores = np.diff(first, append=owner.size) * residuals.n_outputs
        deviates = standardise(deviate(np.add.reduceat(squares, first, axis=0), n_scores[:, None]))
        of_y = np.full(len(candidates), -np.inf)
        of_y[np.isin(candidates, owner)] = deviates[:, 0]
        return reweigh(of_y, self.share), reweigh(deviates.max(axis=0, initial=-np.inf), self.share)


@dataclass(frozen=True)
class CandidateTest:
    """Evidence for each candidate, and the p-value of the best."""

    n_rows: int
    deviates: Floats
    """Evidence for each candidate as a normal deviate, (candidates,)."""
    gains: Floats
    """Variance explained beyond the base, (candidates,)."""
    draws: Floats
    """Largest deviate of all candidates in each draw, (draws,); empty if one is significant without draws."""

    @property
    def p_value(self) -> float:
        """Probability of the largest deviate by chance, given all candidates."""
        return self._chance(self.deviates.max())

    @property
    def p_values(self) -> Floats:
        """Probability by chance that the best of all candidates reaches the deviate of each, (candidates,)."""
        return np.array([self._chance(deviate) for deviate in self.deviates.tolist()])

    @property
    def single_p_values(self) -> Floats:
        """Probability by chance of the deviate of each candidate if it were the only one, (candidates,)."""
        return np.asarray(ndtr(-self.deviates))

    def _chance(self, largest: float) -> float:
        if self.draws.size == 0:
            return bonferroni(largest, self.deviates.size)
        return p_value(np.concatenate([[largest], self.draws]), self.n_rows)


class Candidates:
    """Tests of the factors outside one base."""

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
        """Test whether the best candidate adds anything by itself; candidates are sorted."""
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
        """Apply a test to the candidates: all at once if they are in memory, else in blocks where these are stored."""
        if self._functions.design.is_in_memory:
            return [ask(self, candidates)]
        name = f"step {len(self._base) + 1} {name}"
        return self._functions.ask_each_block(name, _ask_block, candidates, ask, self._residuals, self._base)

    def look_at_each(self, candidates: Sequence[int]) -> tuple[Floats, Floats]:
        """Return the deviate of the functions of each candidate, and its gain, both (candidates,)."""
        blocks, order = self._blocks(candidates)
        deviates, gains = zip(*self._workers.map(self._look, blocks), strict=True)
        return np.concatenate(deviates)[order], np.concatenate(gains)[order]

    def draw_for_each(self, candidates: Sequence[int]) -> Found:
        """Return the largest deviate of each candidate, and the largest of all in y and in each draw."""
        blocks, order = self._blocks(candidates)
        squares = self._residuals.squares_and_draws
        found = self._workers.map(lambda some: _largest(self._looks(some, squares)), blocks)
        return np.concatenate([of_y for of_y, _ in found])[order], np.max([best for _, best in found], axis=0)

    def _blocks(self, candidates: Sequence[int]) -> tuple[list[tuple[int, ...]], NDArray[np.intp]]:
        """Return the candidates in blocks, and the permutation that restores their order."""
        blocks = self._functions.blocks(candidates)
        return blocks, np.argsort([i for block in blocks for i in block], kind="stable")

    def test_member(self, factor: int) -> float:
        """Return the p-value of a selected factor given the others; also tested in products with two of them."""
        (of_y,) = _best(self._looks((factor,), self._residuals.squares, threes=True))
        if is_sure(of_y, 1, self._functions.n_rows):
            return bonferroni(of_y, 1)
        best = _best(self._looks((factor,), self._residuals.squares_and_draws, threes=True))
        for each in self._beside():
            best = np.maximum(best, each.find((factor,))[1])
        return p_value(best, self._functions.n_rows)

    def _look(self, some: Sequence[int]) -> tuple[Floats, Floats]:
        """Return the deviates of the functions of some factors, and their gains, both (factors,)."""
        left = self._left_of(some)
        deviates, _ = _largest(self._of_functions(some, left, self._residuals.squares))
        return deviates, self._residuals.gains(left, len(left) // len(some))

    def _looks(self, some: Sequence[int], squares: Squares, threes: bool = False) -> Iterator[Look]:
        """Yield all forms of effect except lines beside those of others; for a single factor also products of three."""
        left = self._left_of(some)
        yield from self._of_functions(some, left, squares)
        if not self._base:
            return
        first = self._first_of(some)
        pairs = list(combinations(self._base, 2)) if threes else []
        share = MULTIPLIED_WITH_BASE / (len(self._base) + len(pairs))
        for others in self._base:
            yield self._of_products(first, others, squares), share
        size = max(BLOCK // first.shape[2], 1)
        for at in range(0, len(pairs), size):
            lines = np.stack([first[0, :1] * b[:1] * c[:1] for b, c in pairs[at : at + size]])
            yield self._deviates(lines, squares), share

    def _left_of(self, some: Sequence[int]) -> Functions:
        """Return the residuals of the functions of some factors, with equally many each, given the base."""
        regression = self._residuals.regression
        return regression.remains(regression.weigh(np.concatenate([self._functions.of(i) for i in some])))

    def _first_of(self, some: Sequence[int]) -> Functions:
        """Return the residuals of the functions used in products, given the base: (factors, functions, rows)."""
        number = MULTIPLIED if self._functions.are_few else MULTIPLIED_OF_MANY
        regression = self._residuals.regression
        first = np.stack([_pad(self._functions.multiplied(i)[:number], number) for i in some])
        return regression.remains(regression.weigh(first.reshape(-1, first.shape[2]))).reshape(first.shape)

    def _of_functions(self, some: Sequence[int], left: Functions, squares: Squares) -> Iterator[Look]:
        """Yield the deviates of the plain functions of some factors, and of nested sums of their functions."""
        found = squares(left)
        sums = np.cumsum(found.reshape(len(some), -1, found.shape[1]), axis=1)
        n_plain, n_all = self._functions.n_plain(some[0]), sums.shape[1]
        curves = sorted({min(number, n_all) for number in NESTED} - {n_plain})
        # All levels of a category are its plain form: a subset of them is not a curve.
        of_curves = CURVED if n_plain < n_all else CURVED * len(curves) / (len(curves) + 1)
        of_plain = PLAIN + CURVED - of_curves
        shares = {n_plain: of_plain, **dict.fromkeys(curves, of_curves / max(len(curves), 1))}
        for number, share in shares.items():
            deviates = deviate(sums[:, number - 1], number * self._residuals.n_outputs)
            yield deviates, share

    def _of_products(self, first: Functions, others: Functions, squares: Squares) -> Floats:
        """Return the deviates of products of functions, (factors, functions, rows), with those of another factor."""
        products = first[:, :, None] * others[: first.shape[1]]
        return self._deviates(products.reshape(len(first), -1, first.shape[2]), squares)

    def _deviates(self, products: Functions, squares: Squares) -> Floats:
        """Return the larger deviate of all products, (sets, products, rows), of each set, and of the first alone."""
        n_sets, n_each, n_rows = products.shape
        flat, n_outputs = products.reshape(-1, n_rows), self._residuals.n_outputs
        if self._functions.are_few:  # else they are not adjusted for the base, which costs little power
            flat = self._residuals.regression.remains(flat)
        found = squares(flat).reshape(n_sets, n_each, -1)
        of_first = deviate(found[:, 0], n_outputs)
        return of_first if n_each == 1 else np.maximum(deviate(found.sum(axis=1), n_each * n_outputs), of_first)


def _pad(functions: Functions, number: int) -> Functions:
    """Return ``number`` functions, padded with zeros."""
    return np.concatenate([functions, np.zeros((number - len(functions), functions.shape[1]), np.float32)])


def _by_share(looks: Iterable[Look]) -> list[tuple[float, list[Floats]]]:
    """Return the deviates of all looks with the same share together: they are standardised and reweighed at once."""
    found: dict[float, list[Floats]] = {}
    for deviates, share in looks:
        found.setdefault(share, []).append(deviates)
    return list(found.items())


def _largest(looks: Iterable[Look]) -> Found:
    """Return the largest deviate of each factor and of all in y and in each draw, in units of their shares."""
    found = []
    for share, some in _by_share(looks):
        largest = standardise(np.concatenate(some)).reshape(len(some), *some[0].shape).max(axis=0)
        found.append((reweigh(largest[:, 0], share), reweigh(largest.max(axis=0), share)))
    of_y, best = (np.max(each, axis=0) for each in zip(*found, strict=True))
    return of_y, best


def _best(looks: Iterable[Look]) -> Floats:
    """Return the largest deviate of all in y and in each draw, each in units of its share."""
    best = [reweigh(standardise(np.concatenate(some)).max(axis=0), share) for share, some in _by_share(looks)]
    largest: Floats = np.max(best, axis=0)
    return largest


def beside_others(
    functions: FactorFunctions, residuals: Residuals, y: Floats, factors: Sequence[int], n_units: int
) -> list[BesideOthers]:
    """Return the first functions of factors beside each other, as far as there are enough rows."""
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
    """Apply a test to the candidates of one block."""
    with ONE_BLAS_THREAD:
        return ask(Candidates(functions, residuals, base, Workers(1)), candidates)


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
) -> FirstFunctions:
    """Return the lines of the candidates, or of those with the given names, at most ``most`` of each."""
    design, regression = functions.design, residuals.regression
    if design.is_in_memory:
        return np.concatenate([_first_of(functions, regression, some) for some in design.in_blocks(candidates)])
    return _join(functions.ask_each_block("take lines of", _first_of_block, candidates, regression, most, names))


def _join(blocks: list[FirstFunctions]) -> FirstFunctions:
    """Concatenate blocks of lines, freeing each in turn, so that there is no second copy of all."""
    ends = np.cumsum([len(block) for block in blocks]).tolist()
    lines = np.empty((ends[-1], *blocks[0].shape[1:]), np.float32)
    for end in reversed(ends):
        block = blocks.pop()
        lines[end - len(block) : end] = block
    return lines


def _first_of(functions: FactorFunctions, regression: Regression, factors: Sequence[int]) -> FirstFunctions:
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
) -> FirstFunctions:
    """Return the lines of some factors of one block, computed together: this determines their last bits."""
    with ONE_BLAS_THREAD:
        lines = _first_of(functions, regression, factors)
    wanted = [k for k, i in enumerate(factors) if names is None or functions.design.names[i] in names]
    return np.ascontiguousarray(lines[wanted, :most])


def _promising_pairs(lines: FirstFunctions, residuals: Residuals, workers: Workers) -> list[tuple[int, ...]]:
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
    lines: FirstFunctions, residuals: Residuals, sets: list[tuple[int, ...]], squares: Squares, workers: Workers
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
