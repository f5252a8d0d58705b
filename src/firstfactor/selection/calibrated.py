"""The calibrated rule: a factor enters or stays only if its effect is larger than expected by chance.

The tests are score tests: the residuals of y given a set of factors are compared with those of functions of each
candidate (see `firstfactor.evidence`). The best of all candidates is compared with the best of all in draws without any
effect, which accounts for the number of candidates and their correlation. Unless the evidence for the best one is very
strong, pairs and triples are tested as well. A factor that has entered must be significant given all others, including
those left out; a near copy that explains more replaces it. This is repeated until no factor enters or leaves.
"""

from collections.abc import Iterable
from functools import cached_property, partial

import numpy as np

from ..data.design import Design
from ..data.encoding import TINY
from ..data.response import centre_columns
from ..evidence.candidates import Candidates, CandidateTest, JointTest, beside_others, joint_test
from ..evidence.constants import (
    BEYOND_DOUBT,
    COMPARED,
    COPY,
    DISTILLED,
    FEWER_ROWS,
    KINDS_PER_COLUMN,
    LEFT_TO_SHOW,
    MAX_ROWS,
    MIN_ROWS,
    MOST_DISTILLED,
    MOST_DISTILLED_ROWS,
    MOST_KINDS,
    MOST_LINES_BESIDE,
    MOST_LINES_OF_REST,
    MOST_ROUNDS,
    MOST_ROWS_OF_REST,
    RELATED,
    ROWS_PER_LINE,
    ROWS_TO_TELL_APART,
    SINGLE,
    SURE,
    TOGETHER,
)
from ..evidence.distilled import benjamini_hochberg, distil, draw_folds, holm, predictors
from ..evidence.functions import FactorFunctions
from ..evidence.known import known_from, nearly_known
from ..evidence.lines import Lines, explained_by_rest
from ..evidence.regression import regress
from ..evidence.scores import Draws, Residuals
from ..findings.copies import number_kinds
from ..neighbors.strategy import Floats, Positions
from ..results.path import Step
from ..results.uncertainty import Evidence
from ..variance.conditional import ROUNDING, Variances
from .selection import OnStep, Selection


class CalibratedRule:
    """Forward selection and elimination by evidence, on one table."""

    def __init__(
        self,
        variances: Variances,
        alpha: float,
        control: str = "fwer",
        goal: str = "explain",
        most_rows: int | None = None,
    ) -> None:
        search = variances.search
        self._variances, self._memoize = variances, variances.memoize
        rows = _some_rows(variances, most_rows or MAX_ROWS)
        self._alpha, self._control, self._goal, self._workers = alpha, control, goal, search.workers
        self._design = variances.design.on_rows(rows, many_functions=True)
        weights = None if search.weights is None else search.weights[rows]
        groups = _equal_rows(self._design) if search.groups is None else search.groups[rows]
        groups = None if groups is None else np.unique(groups, return_inverse=True)[1]
        y, self.response_variance = centre_columns(search.y[rows], weights)
        self._y = np.ascontiguousarray(y.T) / np.sqrt(
            max(self.response_variance, TINY)
        )  # so that it fits into single precision
        self._root_weights = None if weights is None else np.sqrt(weights)
        self._n_units = rows.size if groups is None else int(groups.max()) + 1
        self._draws = Draws.make(variances.rng, rows.size, groups, weighted=weights is not None)
        self._folds = draw_folds(variances.rng, rows.size, groups)
        self._functions = FactorFunctions(self._design, self._workers)
        self._no_news: set[int] = set()
        """Factors that would have entered if they were not functions of others."""
        self._last_test: dict[tuple[frozenset[int], tuple[int, ...]], CandidateTest] = {}

    def select(
        self, on_step: OnStep, forced: tuple[int, ...] = (), most: int | None = None, explain: bool = True
    ) -> Selection:
        """Add factors while the best is significant and remove those that no longer are, until neither happens.

        Forced factors are in the set from the beginning and stay; at most ``most`` others enter. The evidence for
        factors that are left out is computed only if ``explain``.
        """
        steps: list[Step] = []

        def note(step: Step) -> None:
            steps.append(step)
            on_step(step)

        kept, p_values, removed = self._search(forced, most, note)
        if self._goal == "predict":
            room = None if most is None else most - len(kept) + len(forced)
            all_in = dict(zip(kept, p_values, strict=True)) | self._find_predictors(kept, removed, room, note)
            kept, p_values = tuple(sorted(all_in)), np.array([all_in[i] for i in sorted(all_in)])
            removed = {i: p for i, p in removed.items() if i not in kept}
        evidence = self._test_left_out(kept, removed) if explain else None
        return Selection(
            kept=kept,
            steps=tuple(steps),
            response_variance=self.response_variance,
            n_rows=self._design.n_rows,
            p_values=p_values,
            forced=forced,
            evidence=evidence,
        )

    def _search(
        self, forced: tuple[int, ...], most: int | None, note: OnStep
    ) -> tuple[tuple[int, ...], Floats, dict[int, float]]:
        """Return the selected factors, their p-values (the larger of entering and of staying), and those removed."""
        entered: dict[int, float] = {}
        removed: dict[int, float] = {}
        kept, p_values = tuple(sorted(forced)), np.full(len(forced), np.nan)
        for _ in range(MOST_ROUNDS):
            room = None if most is None else most - len(kept) + len(forced)
            new = self._forward(kept, forced, removed, room, note)
            if not new and removed:
                break
            entered |= new
            grown = tuple(sorted({*kept, *new}))
            kept, p_values = self._eliminate(grown, forced, removed, note)
            exchanged = self._exchange(kept, forced, note)
            if exchanged:
                entered |= {better: entered[worse] for worse, better in exchanged.items()}
                kept = tuple(sorted(exchanged.get(i, i) for i in kept))
                removed |= dict.fromkeys(exchanged, 1.0)  # beside its copy
                kept, p_values = self._eliminate(kept, forced, removed, note)
            removed = {i: p for i, p in removed.items() if i not in kept}
            if not removed:
                break
        p_values = np.array([max(p, entered.get(i, p)) for i, p in zip(kept, p_values, strict=True)])
        return kept, p_values, removed

    def _forward(
        self, kept: tuple[int, ...], forced: tuple[int, ...], removed: Iterable[int], room: int | None, note: OnStep
    ) -> dict[int, float]:
        """Return the factors that entered, in order, with the p-value of the step in which each did.

        Tests are also conditional on factors that were removed before, so that no factor enters only in their place.
        """
        entered: dict[int, float] = {}
        controls = tuple(sorted(removed))
        base = self._varying_of(kept)
        candidates = self._varying_but((*kept, *removed))
        while candidates and (room is None or len(entered) < room):
            given = (*base, *controls)
            residuals = self._residuals(given, candidates)
            if residuals.variance <= ROUNDING or residuals.regression.n_coefficients > self._n_units / ROWS_PER_LINE:
                break
            explained = self._explained(residuals)
            test = self._test_each(residuals, given, candidates)
            n_in = sum(i not in forced for i in base)
            chance = self._adjust(test, n_in) / self._share(candidates)
            best = JointTest((candidates[int(np.argmax(test.deviates))],), min(chance, 1.0))
            most = len(candidates) if room is None else room - len(entered)
            if best.p_value > SURE and len(candidates) > 1 and most > 1:
                best = self._try_together(residuals, given, candidates, best, most)
            chosen = best.factors if best.p_value <= self._alpha else ()
            known = tuple(i for i in chosen if known_from(self._design, i, given))
            if known:  # a function of the base adds nothing, whatever its p-value
                self._no_news.update(known)
                candidates = tuple(i for i in candidates if i not in known)
                continue
            p_values = dict.fromkeys(chosen, best.p_value)
            if not chosen and self._are_many(candidates):
                distilled = self._distil(residuals, given, candidates)
                p_values = dict(list(distilled.items())[:most])
                chosen = tuple(p_values)
            gained = explained + self.response_variance * test.gains
            note(Step("forward", base, explained, candidates, gained, chosen, min([best.p_value, *p_values.values()])))
            if not chosen:
                break
            entered.update(p_values)
            base += chosen
            candidates = tuple(i for i in candidates if i not in chosen)
        return entered

    def _adjust(self, test: CandidateTest, n_in: int) -> float:
        """Return the p-value of the best candidate, adjusted for the number of candidates.

        The false discovery rate allows for a share of false discoveries, so the more factors are in the set, the weaker
        the evidence for another one may be.
        """
        if self._control == "fwer":
            return test.p_value
        return float(test.single_p_values.min() * (n_in + test.deviates.size) / (n_in + 1))

    def _share(self, candidates: tuple[int, ...]) -> float:
        """Return the share of alpha for single candidates, without the share for linear effects by a lasso."""
        return SINGLE * (1 - DISTILLED) if self._are_many(candidates) else SINGLE

    def _are_many(self, candidates: tuple[int, ...]) -> bool:
        """Return True if linear effects given all others take a lasso, because least squares would need more rows."""
        n_rows, n_lines = self._design.n_rows, len(candidates)
        are_many = n_lines > min(self._n_units / ROWS_PER_LINE, MOST_LINES_BESIDE)
        is_enough = self._n_units >= MIN_ROWS and n_rows <= MOST_DISTILLED_ROWS
        return are_many and is_enough and n_rows * n_lines <= MOST_DISTILLED

    def _distil(self, residuals: Residuals, base: tuple[int, ...], candidates: tuple[int, ...]) -> dict[int, float]:
        """Return the candidates whose linear effects are significant given those of all others, with p-values."""

        def test() -> Floats:
            lines = Lines.of(self._functions, residuals.regression, candidates)
            found = distil(lines, residuals.left, self._folds, self._draws.groups, self._workers)
            return np.array([found.get(i, 1.0) for i in candidates])

        found = self._memoize(("distil", base, candidates), test)
        p_values = dict(zip(candidates, (found / (SINGLE * DISTILLED)).tolist(), strict=True))
        adjusted = holm(p_values) if self._control == "fwer" else benjamini_hochberg(p_values)
        return {i: p for i, p in adjusted.items() if p <= self._alpha}

    def _try_together(
        self,
        residuals: Residuals,
        base: tuple[int, ...],
        candidates: tuple[int, ...],
        best: JointTest,
        most: int,
    ) -> JointTest:
        """Return a pair or triple of candidates, if there is more evidence for it than for the best single one."""
        joint = self._test_together(residuals, base, candidates, most)
        joint = JointTest(joint.factors, min(joint.p_value / TOGETHER, 1.0))
        return joint if joint.p_value < best.p_value else best

    def _eliminate(
        self, kept: tuple[int, ...], forced: tuple[int, ...], removed: dict[int, float], note: OnStep
    ) -> tuple[tuple[int, ...], Floats]:
        """Remove the factor with the least evidence until all others are significant; return these with p-values."""
        p_values = np.full(len(kept), np.nan)
        while len(kept) > len(forced):
            tested = tuple(i for i in kept if i not in forced)
            of_tested, explained = self._test_members(kept, tested)
            worst = int(np.argmax(of_tested))
            chosen = (tested[worst],) if of_tested[worst] > self._alpha else ()
            base_explained = self._explained(self._residuals(self._varying_of(kept)))
            note(Step("elimination", kept, base_explained, tested, explained, chosen, float(of_tested[worst])))
            removed |= dict.fromkeys(chosen, float(of_tested[worst]))
            p_values = np.full(len(kept), np.nan)
            p_values[np.isin(kept, tested)] = of_tested
            p_values = p_values[~np.isin(kept, chosen)]
            kept = tuple(i for i in kept if i not in chosen)
            if not chosen:
                break
        return kept, p_values

    def _find_predictors(
        self, kept: tuple[int, ...], removed: dict[int, float], room: int | None, note: OnStep
    ) -> dict[int, float]:
        """Return at most ``room`` factors that help to predict the residuals of y given those kept, with p-values."""
        base, left_out = self._varying_of(kept), self._varying_but(kept)
        residuals = self._residuals(base, left_out)
        lines = Lines.of(self._functions, residuals.regression, left_out, COMPARED) if left_out else None
        if lines is None or not len(lines.left) or self._n_units < MIN_ROWS or residuals.variance <= ROUNDING:
            return {}
        found = predictors(lines, residuals.left, self._folds, self._workers)
        lacking = self._test_left_out(kept, removed).p_values  # functions of those kept have none
        best = sorted((lacking[i], i) for i in found if i in lacking)[:room]
        gains = np.array([self._gain(residuals, i) for i in left_out])
        explained = self._explained(residuals)
        note(
            Step(
                "prediction",
                base,
                explained,
                left_out,
                explained + self.response_variance * gains,
                tuple(i for _, i in best),
            )
        )
        return {i: p for p, i in best}

    def _exchange(self, kept: tuple[int, ...], forced: tuple[int, ...], note: OnStep) -> dict[int, int]:
        """Find the factors that have a near copy that explains more in their place; map them to these copies."""
        exchanged: dict[int, int] = {}
        replaceable, left_out = [i for i in kept if i not in forced], self._varying_but(kept)
        if not replaceable or not left_out:
            return exchanged
        lines = Lines.of(self._functions, self._residuals(()).regression, left_out)
        for factor in replaceable:
            copies = tuple(i for i in self._copies(factor, lines) if i not in exchanged.values())
            if not copies:
                continue
            others = self._varying_of(tuple(exchanged.get(i, i) for i in kept if i != factor))
            residuals = self._residuals(others, (factor, *copies))
            gains = [self._gain(residuals, i) for i in (factor, *copies)]
            explained = self._explained(residuals) + self.response_variance * np.array(gains)
            best = int(np.argmax(explained))
            chosen = (factor, copies[best - 1]) if best else ()
            now = tuple(exchanged.get(i, i) for i in kept)
            note(Step("exchange", now, float(explained[0]), copies, explained[1:], chosen))
            if best:
                exchanged[factor] = copies[best - 1]
        return exchanged

    def _gain(self, residuals: Residuals, factor: int) -> float:
        """Return the share of the variance that a factor explains beyond a base."""
        regression = residuals.regression
        first = self._functions.of(factor)[: max(COMPARED, self._functions.n_plain(factor))]
        return float(residuals.gains(regression.remains(regression.weigh(first)), len(first))[0])

    def _copies(self, factor: int, lines: Lines) -> tuple[int, ...]:
        """Return the near copies of a factor among those left out, by the correlation of their linear terms."""
        return lines.like(self._functions.plain(factor).astype(np.float64), COPY)

    def _test_members(self, kept: tuple[int, ...], tested: tuple[int, ...]) -> tuple[Floats, Floats]:
        """Return the p-value of each tested factor given all others, and the variance that these explain.

        All rows are used only for factors for which fewer rows leave doubt.
        """
        if self._on_fewer_rows is None:
            return self._test_members_here(kept, tested)
        p_values, explained = self._on_fewer_rows._test_members_here(kept, tested)
        explained = explained * (self.response_variance / max(self._on_fewer_rows.response_variance, TINY))
        unsure = np.flatnonzero(p_values > BEYOND_DOUBT)
        if unsure.size:
            p_values[unsure], explained[unsure] = self._test_members_here(kept, tuple(tested[k] for k in unsure))
        return p_values, explained

    @cached_property
    def _on_fewer_rows(self) -> "CalibratedRule | None":
        if self._design.n_rows < 2 * FEWER_ROWS:
            return None
        return CalibratedRule(self._variances, self._alpha, self._control, self._goal, FEWER_ROWS)

    def _test_members_here(self, kept: tuple[int, ...], tested: tuple[int, ...]) -> tuple[Floats, Floats]:
        def test() -> Floats:
            return np.ravel(self._workers.map(partial(self._test_member, kept), tested))

        p_values, explained = (
            self._memoize(("test members", kept, tested, (self._design.n_rows,)), test).reshape(-1, 2).T
        )
        return p_values, explained

    def _test_member(self, kept: tuple[int, ...], member: int) -> tuple[float, float]:
        """Return the p-value of one factor given the others, and the variance that these explain."""
        others = self._varying_of(tuple(i for i in kept if i != member))
        residuals = self._residuals(others, (member,))
        explained = self._explained(residuals)
        # The others may leave nothing of y, or nothing of the factor.
        if residuals.variance <= ROUNDING or known_from(self._design, member, others):
            return 1.0, explained
        p_value = self._candidates(residuals, others, self._varying_but(others)).test_member(member)
        if self._n_units >= ROWS_TO_TELL_APART:
            p_value = max(p_value, self._test_beside_left_out(residuals, others, member))
        return p_value, explained

    def _test_beside_left_out(self, residuals: Residuals, others: tuple[int, ...], member: int) -> float:
        """Return the p-value of a factor given the others and the linear terms of all factors left out but near copies.

        A factor that is only a proxy of factors left out is not significant here. The p-value is 0 if there are too few
        rows for the test, or if the factors left out leave hardly anything of the factor.
        """
        regression = residuals.regression
        left_out = self._varying_but((*others, member))
        own = regression.remains(regression.weigh(self._functions.plain(member))).astype(np.float64)
        lines = Lines.of_few(self._functions, regression, left_out)
        if lines is None:
            return 0.0
        lines = lines.without(lines.like(own, COPY))
        if not lines.fit(regression, self._n_units):
            return 0.0
        full = Residuals(regression.extend(lines.left), self._y, self._draws, is_exchangeable=False)
        if np.sum(full.regression.remains(own.astype(np.float32)) ** 2) <= LEFT_TO_SHOW * np.sum(own**2):
            return 0.0
        of_others = [self._functions.multiplied(i) for i in others]
        p_value = Candidates(self._functions, full, of_others, self._workers).test_member(member)
        return float(min(p_value * np.sqrt(1 + len(lines.like(own, RELATED))), 1.0))

    def _test_left_out(self, kept: tuple[int, ...], removed: dict[int, float]) -> Evidence:
        """Compute the evidence for each factor that is left out, given those that are kept."""
        base, left_out = self._varying_of(kept), self._varying_but(kept)
        whole = regress(self._functions, base, self._root_weights, self._n_units, self._y, whole=True)
        nearly = {*nearly_known(self._functions, whole, left_out), *self._no_news} if base else set()
        known = {i: others for i in left_out if i in nearly and (others := known_from(self._design, i, base))}
        gone = {i: p for i, p in removed.items() if i not in known}
        candidates, given = tuple(i for i in left_out if i not in known and i not in gone), (*base, *sorted(gone))
        residuals = self._residuals(given, candidates)
        if not candidates or residuals.variance <= ROUNDING:
            return Evidence(gone, gone, known, 0.0)
        test = self._test_each(residuals, given, candidates)
        share = self._share(candidates)
        p_values = np.minimum(test.p_values / share, 1.0).tolist()
        single = np.minimum(test.single_p_values / share, 1.0).tolist()
        return Evidence(
            gone | dict(zip(candidates, p_values, strict=True)),
            gone | dict(zip(candidates, single, strict=True)),
            known,
            self._explained_by_rest(base, (*candidates, *gone)),
        )

    def _explained_by_rest(self, base: tuple[int, ...], left_out: tuple[int, ...]) -> float:
        """Return a lower bound on the share of Var(Y) that all factors left out explain; 0 if not estimated."""
        if len(left_out) > MOST_LINES_OF_REST or self._n_units < MIN_ROWS or self._design.n_rows > MOST_ROWS_OF_REST:
            return 0.0
        residuals = self._residuals(base)
        lines = Lines.of(self._functions, residuals.regression, tuple(sorted(left_out)))
        if not len(lines.left):
            return 0.0
        return max(explained_by_rest(lines, residuals.left, self._folds, self._draws.groups), 0.0)

    def _test_each(self, residuals: Residuals, base: tuple[int, ...], candidates: tuple[int, ...]) -> CandidateTest:
        def test() -> Floats:
            found = self._candidates(residuals, base, candidates).test_each(candidates)
            return np.concatenate([found.deviates, found.gains, found.draws])

        key, n = (frozenset(base), candidates), len(candidates)
        if key not in self._last_test:
            found = self._memoize(("test", base, candidates), test)
            self._last_test = {key: CandidateTest(self._design.n_rows, found[:n], found[n : 2 * n], found[2 * n :])}
        return self._last_test[key]

    def _test_together(
        self, residuals: Residuals, base: tuple[int, ...], candidates: tuple[int, ...], most: int
    ) -> JointTest:
        def test() -> Floats:
            found = joint_test(self._functions, residuals, candidates, self._workers, most)
            return np.array([found.p_value, *found.factors])

        p_value, *factors = self._memoize(("test together", base, candidates, (most,)), test).tolist()
        return JointTest(tuple(map(int, factors)), p_value)

    def _candidates(self, residuals: Residuals, base: tuple[int, ...], beside: tuple[int, ...]) -> Candidates:
        return Candidates(
            self._functions,
            residuals,
            [self._functions.multiplied(i) for i in base],
            self._workers,
            partial(beside_others, self._functions, residuals, self._y, beside, self._n_units),
        )

    def _varying_of(self, factors: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(i for i in factors if not self._design.constant[i])  # a factor may be constant on the rows tested

    def _varying_but(self, factors: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(i for i in self._design.varying if i not in factors)

    def _explained(self, residuals: Residuals) -> float:
        return self.response_variance * (1 - residuals.variance)

    def _residuals(self, base: tuple[int, ...], candidates: tuple[int, ...] = ()) -> Residuals:
        regression = regress(self._functions, base, self._root_weights, self._n_units, self._y, candidates)
        return Residuals(regression, self._y, self._draws, is_exchangeable=not base)


def _equal_rows(design: Design) -> Positions | None:
    """Return a group number for rows with the same values, in a table of many different rows; None otherwise.

    The part of y that a base misses is the same in rows with the same values, so a test treats them as a group. If only
    few different rows are possible, as with levels of categories, a base misses nothing.
    """
    columns, most = design.columns_of(design.varying), MOST_KINDS * design.n_rows
    if any(np.unique(design.column(j)).size > most for j in columns):
        return None
    kinds = number_kinds(design)
    return kinds if KINDS_PER_COLUMN * len(columns) <= kinds.max() + 1 <= most else None


def _some_rows(variances: Variances, most: int) -> Positions:
    """Draw at most ``most`` rows to test on: the outer rows, or a sample of them that balances the classes.

    A factor that adds nothing to others still adds nothing if one class is sampled more often than another. A single
    outer row has no neighbours among the outer rows: then all rows are used.
    """
    outer, rng = variances.search.outer, variances.rng
    if outer.size < 2:
        outer = np.arange(variances.design.n_rows)
    if outer.size <= most:
        return outer
    shuffled = rng.permutation(outer)
    codes = variances.response.codes[shuffled]
    classes = [shuffled[codes == code] for code in range(int(codes.max()) + 1)]
    return np.sort(np.concatenate([rows[:n] for rows, n in zip(classes, _share_out(classes, most), strict=True)]))


def _share_out(classes: list[Positions], most: int) -> list[int]:
    """Return the number of rows to use of each class: as equal as possible, and all rows of rare classes."""
    quota, left = [0] * len(classes), most
    smallest_first = sorted(range(len(classes)), key=lambda code: (classes[code].size, -code))
    for done, code in enumerate(smallest_first):
        quota[code] = min(classes[code].size, left // (len(classes) - done))
        left -= quota[code]
    return quota
