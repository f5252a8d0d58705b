"""Lines of many factors, each beside all others, where there are more factors than rows could tell apart.

A lasso tells what other factors explain of y, and least squares on those of them that are related to a factor tell what
they explain of its line. What is left of the two is multiplied, on rows that neither was fitted on (Shah and Peters
2020; Liu, Katsevich, Janson and Ramdas 2022). Most of many factors have no effect: if their scores spread more than
chance would let them, so do all (Efron 2004).
"""

import contextlib
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control, norm
from scipy.stats import t as student

from ..neighbors.strategy import Floats, Positions
from .lines import Lines

N_FOLDS = 10

# A lasso is asked where there are fewer rows for each line.
ROWS_PER_LINE = 3

# A lasso chooses from as many lines, those that go most with y, as have so many values; at least and at most so many.
MOST_VALUES, FEWEST_LINES, MOST_LINES = 400_000, 200, 1000

# Penalties that are tried, down to this share of the largest; rounds of a fit, and how close it must be.
N_PENALTIES, SMALLEST_PENALTY, MOST_PASSES, TOLERANCE = 30, 0.02, 1000, 1e-3

# A line that was taken is related to another if their correlation is so many times that of chance.
RELATED = 4.0

TINY = 1e-30


@contextlib.contextmanager
def _rough_fits() -> Iterator[None]:
    """Let fits end before they have converged: they only tell roughly what others explain."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def distil(lines: Lines, outputs: Floats, folds: Positions, groups: Positions | None) -> dict[int, float]:
    """Return the p-value of the lines of each factor beside all others, for what is left of y, (outputs, rows)."""
    if len(lines.left) == 0:  # all are known from the base
        return {}
    with _rough_fits():
        p_values = np.min([_distil_output(lines, y, folds, groups) for y in outputs], axis=0) * len(outputs)
    factors, number, n_lines = np.unique(lines.owner, return_inverse=True, return_counts=True)
    smallest = np.ones(factors.size)
    np.minimum.at(smallest, number, p_values)
    return dict(zip(factors.tolist(), np.minimum(smallest * n_lines, 1.0).tolist(), strict=True))


def predictors(lines: Lines, outputs: Floats, folds: Positions) -> tuple[int, ...]:
    """Return the factors that a lasso with the least cross-validated error takes to predict what is left of y."""
    with _rough_fits():
        taken = [_take(lines.left, y, _choose_penalty(lines.left, y, folds))[0] for y in outputs]
    return tuple(np.unique(lines.owner[np.concatenate(taken)]).tolist())


def _distil_output(lines: Lines, y: Floats, folds: Positions, groups: Positions | None) -> Floats:
    """The p-value of each line."""
    left = lines.left
    penalty = _choose_penalty(left, y, folds)
    terms = np.empty_like(left)
    for fold in range(int(folds.max()) + 1):
        inside = folds != fold
        terms[:, ~inside] = _terms(left[:, inside], y[inside], left[:, ~inside], y[~inside], penalty)
    if groups is not None:
        order = np.argsort(groups, kind="stable")
        terms = np.add.reduceat(terms[:, order], np.flatnonzero(np.diff(groups[order], prepend=-1)), axis=1)
    scores = np.abs(terms.sum(axis=1)) / np.sqrt(np.maximum((terms**2).sum(axis=1), TINY))
    spread = float(np.median(scores) / norm.isf(0.25))
    p_values: Floats = 2 * student.sf(scores / max(spread, 1.0), max(terms.shape[1] - 2, 1))
    return p_values


def _choose_penalty(lines: Floats, y: Floats, folds: Positions) -> float:
    """The penalty with the least cross-validated error."""
    from sklearn.linear_model import LassoCV  # only if it is asked for

    rows = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(int(folds.max()) + 1)]
    some = lines[_screen(lines, y)]
    largest = max(float(np.abs(some @ y).max()) / len(y), TINY)
    penalties = np.geomspace(largest, SMALLEST_PENALTY * largest, N_PENALTIES)
    lasso = LassoCV(alphas=penalties, cv=rows, fit_intercept=False, max_iter=MOST_PASSES, tol=TOLERANCE)
    return float(lasso.fit(some.T, y).alpha_)


def _screen(lines: Floats, y: Floats) -> Positions:
    """The lines that go most with y."""
    most = int(np.clip(MOST_VALUES // len(y), FEWEST_LINES, MOST_LINES))
    return np.sort(np.argsort(-np.abs(lines @ y), kind="stable")[:most])


def _terms(lines: Floats, y: Floats, new: Floats, y_new: Floats, penalty: float) -> Floats:
    """What fits to some rows leave of y times what they leave of each line in new rows, (lines, new rows)."""
    taken, slopes = _take(lines, y, penalty)
    of_y = np.broadcast_to(y_new - slopes @ new[taken], new.shape).copy()
    of_y[taken] += slopes[:, None] * new[taken]  # beside others, not beside itself
    return of_y * _lines_beside(lines, new, taken)


def _take(lines: Floats, y: Floats, penalty: float) -> tuple[Positions, Floats]:
    """The lines that a lasso takes, and their slopes."""
    from sklearn.linear_model import Lasso  # only if it is asked for

    candidates = _screen(lines, y)
    lasso = Lasso(penalty, fit_intercept=False, max_iter=MOST_PASSES, tol=TOLERANCE).fit(lines[candidates].T, y)
    is_taken = lasso.coef_ != 0
    return candidates[is_taken], lasso.coef_[is_taken]


def _lines_beside(lines: Floats, new: Floats, taken: Positions) -> Floats:
    """What those of the lines taken that are related to each line leave of it in new rows, (lines, new rows)."""
    left = new.copy()
    lengths = np.maximum(np.sqrt(np.einsum("ij,ij->i", lines, lines)), TINY)
    correlations = np.abs(lines[taken] @ lines.T) / np.outer(lengths[taken], lengths)
    correlations[np.arange(taken.size), taken] = 0.0
    are_related: NDArray[np.bool_] = correlations > RELATED / np.sqrt(lines.shape[1])
    for line in np.flatnonzero(are_related.any(axis=0)).tolist():
        related = taken[are_related[:, line]]
        slopes = np.linalg.lstsq(lines[related].T, lines[line], rcond=None)[0]
        left[line] -= slopes @ new[related]
    return left


def holm(p_values: dict[int, float]) -> dict[int, float]:
    """Return adjusted p-values, ascending: the largest so far of each times the number of those not below it."""
    ascending = sorted(p_values, key=lambda i: (p_values[i], i))
    adjusted = np.maximum.accumulate([p_values[i] * (len(ascending) - k) for k, i in enumerate(ascending)])
    return dict(zip(ascending, np.minimum(adjusted, 1.0).tolist(), strict=True))


def benjamini_hochberg(p_values: dict[int, float]) -> dict[int, float]:
    """Return p-values adjusted for the false discovery rate, ascending."""
    ascending = sorted(p_values, key=lambda i: (p_values[i], i))
    adjusted = false_discovery_control([min(p_values[i], 1.0) for i in ascending])
    return dict(zip(ascending, np.atleast_1d(adjusted).tolist(), strict=True))


def draw_folds(rng: np.random.Generator, n_rows: int, groups: Positions | None) -> Positions:
    """Return a random fold for each row; all rows of a group are in the same one."""
    units: Sequence[int] | Positions = np.arange(n_rows) if groups is None else groups
    return rng.permutation(int(np.max(units)) + 1)[units] % N_FOLDS
