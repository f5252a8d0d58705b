"""The calibrated rule: a factor enters or stays only if it shows more than chance would make it show.

The evidence is what a base of factors leaves of y, held against what it leaves of functions of each candidate (see
`firstfactor.evidence`). The best of all candidates is compared with the best of all in draws without any effect, which
accounts for how many there are and how alike they are. Where the best one is not beyond doubt, pairs and threes are
tried as well.
"""

from functools import partial

import numpy as np

from .._utils.threads import one_blas_thread
from ..data.response import centre_columns
from ..evidence.candidates import Candidates, CandidateTest
from ..evidence.functions import FactorFunctions
from ..evidence.products import JointTest, joint_test
from ..evidence.regression import Regression
from ..evidence.scores import SURE, Draws, Residuals
from ..neighbors.strategy import Floats, Positions
from ..results.path import Step
from ..variance.conditional import ROUNDING, Variances
from .selection import OnStep, Selection

# Rows to test on: those of larger tables are drawn.
MAX_ROWS = 50_000

# Added to a variance that may be 0.
TINY = 1e-300

# What part of alpha is for single factors; the rest is for pairs and threes.
SINGLE = 0.8


class CalibratedRule:
    """Forward selection and elimination by evidence, on one table."""

    def __init__(self, variances: Variances, alpha: float) -> None:
        search = variances.search
        self._find_once = variances.find_once
        rows = _some_rows(variances)
        self._alpha, self._workers = alpha, search.workers
        self._design = variances.design.on_rows(rows, many_functions=True)
        weights = None if search.weights is None else search.weights[rows]
        groups = None if search.groups is None else np.unique(search.groups[rows], return_inverse=True)[1]
        y, self.total = centre_columns(search.y[rows], weights)
        self._y = np.ascontiguousarray(y.T) / np.sqrt(max(self.total, TINY))  # single precision must hold it
        self._root_weights = None if weights is None else np.sqrt(weights)
        self._n_units = rows.size if groups is None else int(groups.max()) + 1
        self._draws = Draws.make(variances.rng, rows.size, groups, weighted=weights is not None)
        self._functions = FactorFunctions(self._design, self._workers)

    def select(self, on_step: OnStep, forced: tuple[int, ...] = (), most: int | None = None) -> Selection:
        """Enter factors while the best is significant, then remove those that no longer are.

        The forced ones are in from the beginning and stay; at most ``most`` others enter.
        """
        steps: list[Step] = []

        def note(step: Step) -> None:
            steps.append(step)
            on_step(step)

        with one_blas_thread():
            entered = self._forward(forced, most, note)
            kept, p_values = self._eliminate(tuple(sorted({*entered, *forced})), forced, note)
        p_values = np.array([max(p, entered.get(i, p)) for i, p in zip(kept, p_values, strict=True)])
        return Selection(
            kept=kept,
            steps=tuple(steps),
            total=self.total,
            n_rows=self._design.n_rows,
            p_values=p_values,
            forced=forced,
        )

    def _forward(self, forced: tuple[int, ...], most: int | None, note: OnStep) -> dict[int, float]:
        """The factors that entered, in order, and the p-value of the step in which each did."""
        entered: dict[int, float] = {}
        varying = self._design.varying  # some rows may vary less than all
        base = tuple(i for i in forced if i in varying)
        candidates = tuple(i for i in varying if i not in forced)
        while candidates and (most is None or len(entered) < most):
            residuals = self._residuals(base)
            if residuals.variance <= ROUNDING:
                break
            explained = self._explained(residuals)
            test = self._test_each(residuals, base, candidates)
            best = JointTest((candidates[int(np.argmax(test.deviates))],), min(test.p_value / SINGLE, 1.0))
            level = self._alpha / max(len(entered), 1)  # the more are in, the surer the next one must be
            room = len(candidates) if most is None else most - len(entered)
            if best.p_value > SURE and len(candidates) > 1 and room > 1:
                best = self._try_together(residuals, candidates, best, room)
            chosen = best.factors if best.p_value <= level else ()
            note(
                Step("forward", base, explained, candidates, explained + self.total * test.gains, chosen, best.p_value)
            )
            if not chosen:
                break
            entered.update(dict.fromkeys(chosen, best.p_value))
            base += chosen
            candidates = tuple(i for i in candidates if i not in chosen)
        return entered

    def _try_together(self, residuals: Residuals, candidates: tuple[int, ...], best: JointTest, room: int) -> JointTest:
        """Two or three candidates, if there is more evidence for them than for the best single one."""
        joint = self._test_together(residuals, candidates, room)
        joint = JointTest(joint.factors, min(joint.p_value / (1 - SINGLE), 1.0))
        return joint if joint.p_value < best.p_value else best

    def _eliminate(
        self, kept: tuple[int, ...], forced: tuple[int, ...], note: OnStep
    ) -> tuple[tuple[int, ...], Floats]:
        """Remove the factor with the least evidence until all that are left have enough; their p-values."""
        p_values = np.full(len(kept), np.nan)
        while len(kept) > len(forced):
            tested = tuple(i for i in kept if i not in forced)
            of_tested, explained = self._test_members(kept, tested)
            worst = int(np.argmax(of_tested))
            removed = (tested[worst],) if of_tested[worst] > self._alpha / len(tested) else ()
            base_explained = self._explained(self._residuals(self._varying_of(kept)))
            note(Step("elimination", kept, base_explained, tested, explained, removed, float(of_tested[worst])))
            p_values = np.full(len(kept), np.nan)
            p_values[np.isin(kept, tested)] = of_tested
            p_values = p_values[~np.isin(kept, removed)]
            kept = tuple(i for i in kept if i not in removed)
            if not removed:
                break
        return kept, p_values

    def _test_members(self, kept: tuple[int, ...], tested: tuple[int, ...]) -> tuple[Floats, Floats]:
        """The p-value of some factors, each given all others, and the variance that these explain: (tested,) both."""

        def test() -> Floats:
            return np.ravel(self._workers.map(partial(self._test_member, kept), tested))

        p_values, explained = self._find_once(("test members", kept, tested), test).reshape(-1, 2).T
        return p_values, explained

    def _test_member(self, kept: tuple[int, ...], member: int) -> tuple[float, float]:
        """The p-value of one factor given the others, and the variance that these explain."""
        rest = self._varying_of(tuple(i for i in kept if i != member))
        residuals = self._residuals(rest)
        p_value = 1.0  # if the others leave nothing of y
        if residuals.variance > ROUNDING:
            p_value = self._candidates(residuals, rest).test_member(member)
        return p_value, self._explained(residuals)

    def _test_each(self, residuals: Residuals, base: tuple[int, ...], candidates: tuple[int, ...]) -> CandidateTest:
        def test() -> Floats:
            found = self._candidates(residuals, base).test_each(candidates)
            return np.concatenate([found.deviates, found.gains, [found.p_value]])

        found = self._find_once(("test", base, candidates), test)
        deviates, gains = found[:-1].reshape(2, -1)
        return CandidateTest(deviates, gains, float(found[-1]))

    def _test_together(self, residuals: Residuals, candidates: tuple[int, ...], room: int) -> JointTest:
        def test() -> Floats:
            found = joint_test(self._functions, residuals, candidates, self._workers, room)
            return np.array([found.p_value, *found.factors])

        p_value, *factors = self._find_once(("test together", candidates, (room,)), test).tolist()
        return JointTest(tuple(map(int, factors)), p_value)

    def _candidates(self, residuals: Residuals, base: tuple[int, ...]) -> Candidates:
        return Candidates(self._functions, residuals, [self._functions.of(i) for i in base], self._workers)

    def _varying_of(self, factors: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(i for i in factors if not self._design.constant[i])

    def _explained(self, residuals: Residuals) -> float:
        return self.total * (1 - residuals.variance)

    def _residuals(self, base: tuple[int, ...]) -> Residuals:
        regression = Regression(self._functions, base, self._root_weights, self._n_units)
        return Residuals(regression, self._y, self._draws, is_exchangeable=not base)


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
