"""The calibrated rule: a factor enters or stays only if its gain is larger than chance would make it.

The gain of a factor is how much smaller the mean squared error of leave-one-out local linear fits becomes with it, for
several bandwidths (numbers of neighbours). What chance does is found by a wild bootstrap under the hypothesis that the
factor adds nothing: responses are the fit without it plus its residuals with random signs. The weights of the fits
depend on the factors only, so they serve all bootstrap responses. The best of all candidates is compared with the best
of all candidates in each bootstrap response: that accounts for how many there are and for how correlated they are,
whatever the distribution of the noise.
"""

from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from scipy.special import gammaincc, ndtr, ndtri

from .._utils.cache import BoundedCache
from ..neighbors.strategy import Floats, Positions
from ..results.path import Step
from ..variance.conditional import Variances
from ..variance.local_linear import BANDS, BootstrapResponses, Errors, Fits, LocalLinear
from .selection import OnStep, Selection

# Rows to test on: those of larger tables are drawn. The time does not grow beyond it.
MAX_ROWS = 1500

# Candidates tested in each step: so many, or a tenth of all, those with the largest explained variance.
CANDIDATES, SHARE = 8, 0.1

# Bootstrap responses, at least.
DRAWS = 199

# Sets whose fits are cached, at some megabytes each.
CACHED_FITS = 12

# Below this skewness, a normal distribution is used.
NO_SKEWNESS = 1e-3

# The bandwidth whose residuals the bootstrap uses: wide enough for little noise, narrow enough for little bias.
MIDDLE = len(BANDS) // 2


@dataclass(frozen=True)
class CandidateTest:
    """A test of candidates by their gains, in y and in the bootstrap responses."""

    explained: Floats
    """Variance explained by the base with each candidate, (candidates,)."""
    scores: Floats
    """Best gain of each candidate in standard deviations of the bootstrap, (candidates,)."""
    p_value: float
    """Probability that the best of as many candidates has such a gain by chance."""


class CalibratedRule:
    """Forward selection and elimination by evidence, on one table."""

    def __init__(self, variances: Variances, alpha: float) -> None:
        search, self._rng = variances.search, variances.rng
        rows = _some_rows(variances)
        y = search.y[rows]
        y = normal_scores(y) if variances.response.task == "regression" else y - y.mean()
        self._search = replace(search.on_rows(rows, y), outer=np.arange(y.size))
        self._y = y
        self.total = float(y.var(ddof=1))
        self._alpha = alpha
        self._fits: BoundedCache[Fits] = BoundedCache(CACHED_FITS)

    def select(self, on_step: OnStep) -> Selection:
        """Enter factors one at a time while the best is significant, then remove those that no longer are."""
        candidates = self._search.design.varying if self.total > 0 else ()  # some rows may vary less than all
        steps: list[Step] = []

        def note(step: Step) -> None:
            steps.append(step)
            on_step(step)

        entered = self._forward(candidates, note)
        kept, p_values = self._eliminate(entered, note)
        return Selection(kept=kept, steps=tuple(steps), total=self.total, n_rows=self._y.size, p_values=p_values)

    def _forward(self, candidates: tuple[int, ...], note: OnStep) -> tuple[int, ...]:
        entered: tuple[int, ...] = ()
        while candidates:
            near, base = self._screen(entered, candidates), self._fit(entered)
            errors = self._errors(base)
            test = self._try_each(base, errors, [(*entered, i) for i in near], len(candidates))
            best = near[int(np.argmax(test.scores))]
            chosen = (best,) if test.p_value <= self._alpha else ()
            note(Step("forward", entered, self._explained(errors), near, test.explained, chosen, test.p_value))
            if not chosen:
                break
            entered += chosen
            candidates = tuple(i for i in candidates if i != best)
        return entered

    def _screen(self, entered: tuple[int, ...], candidates: tuple[int, ...]) -> tuple[int, ...]:
        """The candidates worth a test, in the order of the columns: those that explain most by nearest neighbours."""
        most = max(CANDIDATES, ceil(SHARE * len(candidates)))
        if len(candidates) <= most:
            return candidates
        best = np.argsort(self._search.plus_each(entered, candidates), kind="stable")[:most]
        return tuple(sorted(candidates[i] for i in best))

    def _try_each(self, base: Fits, errors: Errors, sets: list[tuple[int, ...]], n_candidates: int) -> CandidateTest:
        """Test larger sets against the base; they are the most promising of ``n_candidates``."""
        times = n_candidates / len(sets)
        draws = self._draw(errors, max(DRAWS, ceil(2 * times / self._alpha) - 1))
        before = base.mean_squares(draws)
        after = np.array(self._search.workers.map(lambda u: self._fit(u).mean_squares(draws), sets))
        gains = before - after  # (sets, bands, y and draws)
        best = _standardise(gains, gains).max(axis=(0, 1))  # y is one among the draws: so is the level exact
        p_value = 1 - (1 - float(np.mean(best >= best[0]))) ** times
        scores = _standardise(gains, gains[..., 1:])[..., 0].max(axis=1)
        return CandidateTest(self.total - after[:, MIDDLE, 0], scores, p_value)

    def _eliminate(self, entered: tuple[int, ...], note: OnStep) -> tuple[tuple[int, ...], Floats]:
        """Remove the least significant factor until all that are left are significant."""
        kept = tuple(sorted(entered))
        p_values = np.empty(0)
        while kept:
            whole = self._fit(kept)
            p_values, explained = self._weigh_each(kept, whole)
            worst = int(np.argmax(p_values))
            removed = (kept[worst],) if p_values[worst] > self._alpha / len(kept) else ()
            base_explained = self._explained(self._errors(whole))
            note(Step("elimination", kept, base_explained, kept, explained, removed, float(p_values[worst])))
            if not removed:
                break
            kept = tuple(i for i in kept if i not in removed)
        return kept, p_values[: len(kept)]

    def _weigh_each(self, kept: tuple[int, ...], whole: Fits) -> tuple[Floats, Floats]:
        """For each factor, the p-value of its gain given the others, and the variance that the others explain."""
        workers = self._search.workers
        rests = workers.map(self._fit, [tuple(j for j in kept if j != i) for i in kept])
        errors = [self._errors(rest) for rest in rests]
        draws = [self._draw(each, DRAWS) for each in errors]  # one after the other: the same for any workers

        def chance(case: tuple[Fits, BootstrapResponses]) -> float:
            rest, drawn = case
            gains = rest.mean_squares(drawn) - whole.mean_squares(drawn)
            best = _standardise(gains, gains[..., 1:]).max(axis=0)
            return chance_above(best[0], best[1:])

        p_values = workers.map(chance, list(zip(rests, draws, strict=True)))
        return np.array(p_values), np.array([self._explained(each) for each in errors])

    def _fit(self, factors: tuple[int, ...]) -> Fits:
        """The fits at all rows, cached: the set that enters is the base of the next step."""
        return self._fits.find(factors, lambda: LocalLinear(self._search, factors).fit(self._search.outer))

    def _errors(self, fits: Fits) -> Errors:
        return fits.errors(self._y, fits.local.point_means(self._y[:, None]))

    def _draw(self, errors: Errors, n_draws: int) -> BootstrapResponses:
        """The response, and bootstrap responses as if nothing but the fitted factors mattered: (rows, 1 + draws).

        The fit is the one with the widest bandwidth, which has the least noise. What it misses of the function is
        missed in the bootstrap responses too.
        """
        signs = self._rng.integers(0, 2, (self._y.size, n_draws), dtype=np.int8) * 2 - 1
        drawn = errors.fits[-1][:, None] + errors.values[MIDDLE][:, None] * signs
        return np.column_stack([self._y, drawn]).astype(np.float32)

    def _explained(self, errors: Errors) -> float:
        return self.total - float(np.mean(errors.values[MIDDLE] ** 2))


def normal_scores(y: Floats) -> Floats:
    """Normal scores of y, (rows,): normal quantiles at its ranks, so that outliers do not dominate."""
    _, value, times = np.unique(y, return_inverse=True, return_counts=True)
    ranks = np.cumsum(times) - times / 2
    scores: Floats = ndtri(ranks / y.size)[value]
    scores -= scores.mean()
    return scores


def chance_above(value: float, draws: Floats) -> float:
    """Probability of a draw above the value, from a gamma distribution with the moments of the draws."""
    centre, deviation = draws.mean(), draws.std(ddof=1)
    if deviation**3 == 0:  # the draws all fit equally well: there is nothing to compare with
        return float(value <= centre)
    skewness = np.mean((draws - centre) ** 3) / deviation**3
    distance = (value - centre) / deviation
    if skewness < NO_SKEWNESS:
        return float(ndtr(-distance))
    shape = 4 / skewness**2
    return float(gammaincc(shape, max(shape + np.sqrt(shape) * distance, 0.0)))


def _some_rows(variances: Variances) -> Positions:
    """Rows to test on: the outer rows, or a sample of them; of two classes, as many of each as there are.

    A factor that adds nothing to others still adds nothing if one class is sampled more often than the other. A single
    outer row has no neighbours among the outer rows: then all rows are used.
    """
    outer, y, rng = variances.search.outer, variances.response.values, variances.rng
    if outer.size < 2:
        outer = np.arange(y.size)
    if outer.size <= MAX_ROWS:
        return outer
    shuffled = rng.permutation(outer)
    if variances.response.classes:
        first, second = (shuffled[y[shuffled] == value] for value in (y.min(), y.max()))
        n_first = min(first.size, max(MAX_ROWS // 2, MAX_ROWS - second.size))
        shuffled = np.concatenate([first[:n_first], second])
    return np.sort(shuffled[:MAX_ROWS])


def _standardise(gains: Floats, draws: Floats) -> Floats:
    """Gains in standard deviations of the draws, which are the last axis."""
    deviation = np.maximum(draws.std(axis=-1, keepdims=True), 1e-300)
    standardised: Floats = (gains - draws.mean(axis=-1, keepdims=True)) / deviation
    return standardised
