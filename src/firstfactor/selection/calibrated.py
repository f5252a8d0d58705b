"""The calibrated rule: a factor enters or stays only if its gain is larger than chance would make it.

The gain of a factor is how much smaller the mean squared error of leave-one-out local linear fits becomes with it, for
several bandwidths (numbers of neighbours). What chance does is found by a wild bootstrap under the hypothesis that the
factor adds nothing: responses are the fit without it plus its residuals with random signs. The weights of the fits
depend on the factors only, so they serve all bootstrap responses. The best of all candidates is compared with the best
of all candidates in each bootstrap response: that accounts for how many there are and for how correlated they are,
whatever the distribution of the noise. All outputs of a row have the same sign, and so have all rows of a group.
"""

from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from scipy.special import gammaincc, ndtr

from .._utils.cache import BoundedCache
from ..data.response import centre_columns, normal_scores
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
        y = search.y[rows] - search.y[rows].mean(axis=0)
        if variances.response.task == "regression":
            y = _normal_scores_of_each(y)
        part = search.on_rows(rows, y)
        self._search = replace(part, outer=np.arange(len(y)))
        self._y, self._row_weights = y, self._search.row_weights
        self.total = centre_columns(y, part.weights)[1]
        self._alpha = alpha
        self._fits: BoundedCache[Fits] = BoundedCache(CACHED_FITS)

    def select(self, on_step: OnStep, forced: tuple[int, ...] = (), most: int | None = None) -> Selection:
        """Enter factors one at a time while the best is significant, then remove those that no longer are.

        The forced ones are in from the beginning and stay; at most ``most`` others enter.
        """
        varying = self._search.design.varying if self.total > 0 else ()  # some rows may vary less than all
        steps: list[Step] = []

        def note(step: Step) -> None:
            steps.append(step)
            on_step(step)

        entered = self._forward(varying, forced, most, note)
        kept, p_values = self._eliminate(entered, forced, note)
        return Selection(
            kept=kept,
            steps=tuple(steps),
            total=self.total,
            n_rows=len(self._y),
            p_values=p_values,
            forced=forced,
        )

    def _forward(
        self, varying: tuple[int, ...], forced: tuple[int, ...], most: int | None, note: OnStep
    ) -> tuple[int, ...]:
        entered, candidates = forced, tuple(i for i in varying if i not in forced)
        while candidates and (most is None or len(entered) - len(forced) < most):
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
        before = base.mean_squares(draws, self._row_weights)
        after = np.array(self._search.workers.map(lambda u: self._fit(u).mean_squares(draws, self._row_weights), sets))
        gains = before - after  # (sets, bands, y and draws)
        best = _standardise(gains, gains).max(axis=(0, 1))  # y is one among the draws: so is the level exact
        p_value = 1 - (1 - float(np.mean(best >= best[0]))) ** times
        scores = _standardise(gains, gains[..., 1:])[..., 0].max(axis=1)
        return CandidateTest(self.total - after[:, MIDDLE, 0], scores, p_value)

    def _eliminate(
        self, entered: tuple[int, ...], forced: tuple[int, ...], note: OnStep
    ) -> tuple[tuple[int, ...], Floats]:
        """Remove the least significant factor until all that are left are significant; their p-values."""
        kept = tuple(sorted(entered))
        p_values = np.full(len(kept), np.nan)
        while len(kept) > len(forced):
            whole, tested = self._fit(kept), tuple(i for i in kept if i not in forced)
            of_tested, explained = self._weigh_each(kept, tested, whole)
            worst = int(np.argmax(of_tested))
            removed = (tested[worst],) if of_tested[worst] > self._alpha / len(tested) else ()
            base_explained = self._explained(self._errors(whole))
            note(Step("elimination", kept, base_explained, tested, explained, removed, float(of_tested[worst])))
            p_values = np.full(len(kept), np.nan)
            p_values[np.isin(kept, tested)] = of_tested
            p_values = p_values[~np.isin(kept, removed)]
            kept = tuple(i for i in kept if i not in removed)
            if not removed:
                break
        return kept, p_values

    def _weigh_each(self, kept: tuple[int, ...], tested: tuple[int, ...], whole: Fits) -> tuple[Floats, Floats]:
        """For each tested factor, the p-value of its gain given the others, and the variance that these explain."""
        workers = self._search.workers
        rests = workers.map(self._fit, [tuple(j for j in kept if j != i) for i in tested])
        errors = [self._errors(rest) for rest in rests]
        draws = [self._draw(each, DRAWS) for each in errors]  # one after the other: the same for any workers

        def chance(case: tuple[Fits, BootstrapResponses]) -> float:
            rest, drawn = case
            gains = rest.mean_squares(drawn, self._row_weights) - whole.mean_squares(drawn, self._row_weights)
            best = _standardise(gains, gains[..., 1:]).max(axis=0)
            return chance_above(best[0], best[1:])

        p_values = workers.map(chance, list(zip(rests, draws, strict=True)))
        return np.array(p_values), np.array([self._explained(each) for each in errors])

    def _fit(self, factors: tuple[int, ...]) -> Fits:
        """The fits at all rows, cached: the set that enters is the base of the next step."""
        return self._fits.find(factors, lambda: LocalLinear(self._search, factors).fit(self._search.outer))

    def _errors(self, fits: Fits) -> Errors:
        return fits.errors(self._y, fits.local.point_means(self._y))

    def _draw(self, errors: Errors, n_draws: int) -> BootstrapResponses:
        """The response, and bootstrap responses as if nothing but the fitted factors mattered: (…, 1 + draws).

        The fit is the one with the widest bandwidth, which has the least noise. What it misses of the function is
        missed in the bootstrap responses too.
        """
        groups = self._search.groups
        n_signs = len(self._y) if groups is None else int(groups.max()) + 1
        signs = self._rng.integers(0, 2, (n_signs, 1, n_draws), dtype=np.int8) * 2 - 1
        signs = signs if groups is None else signs[groups]
        drawn = errors.fits[-1][:, :, None] + errors.values[MIDDLE][:, :, None] * signs
        return np.concatenate([self._y[:, :, None], drawn], axis=2).astype(np.float32)

    def _explained(self, errors: Errors) -> float:
        return self.total - self._search.mean_over_outer(errors.squares[MIDDLE])


def _normal_scores_of_each(y: Floats) -> Floats:
    """The normal scores of each output, (rows, outputs); of several, each keeps its share of the variance."""
    scores = np.column_stack([normal_scores(column) for column in y.T])
    if y.shape[1] > 1:
        scores *= y.std(axis=0) / np.maximum(scores.std(axis=0), 1e-300)
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
    """Rows to test on: the outer rows, or a sample of them; of classes, as many of each as there are.

    A factor that adds nothing to others still adds nothing if one class is sampled more often than another. A single
    outer row has no neighbours among the outer rows: then all rows are used.
    """
    outer, rng = variances.search.outer, variances.rng
    if outer.size < 2:
        outer = np.arange(variances.design.n_rows)
    if outer.size <= MAX_ROWS:
        return outer
    shuffled = rng.permutation(outer)
    codes = variances.response.codes[shuffled]
    classes = [shuffled[codes == code] for code in range(int(codes.max()) + 1)]
    return np.sort(np.concatenate([rows[:n] for rows, n in zip(classes, _share_out(classes), strict=True)]))


def _share_out(classes: list[Positions]) -> list[int]:
    """How many rows of each class are used: as many of each as possible, all of rare ones."""
    quota, left = [0] * len(classes), MAX_ROWS
    smallest_first = sorted(range(len(classes)), key=lambda code: (classes[code].size, -code))
    for done, code in enumerate(smallest_first):
        quota[code] = min(classes[code].size, left // (len(classes) - done))
        left -= quota[code]
    return quota


def _standardise(gains: Floats, draws: Floats) -> Floats:
    """Gains in standard deviations of the draws, which are the last axis."""
    deviation = np.maximum(draws.std(axis=-1, keepdims=True), 1e-300)
    standardised: Floats = (gains - draws.mean(axis=-1, keepdims=True)) / deviation
    return standardised
