"""Lines of many factors, each beside all others, where there are more factors than rows could tell apart.

A lasso tells what other factors explain of y, and least squares on those of them that are related to a factor tell what
they explain of its line. What is left of the two is multiplied, on rows that neither was fitted on (Shah and Peters
2020; Liu, Katsevich, Janson and Ramdas 2022). Most of many factors have no effect: if their scores spread more than
chance would let them, so do all (Efron 2004).
"""

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control, norm
from scipy.stats import t as student

from .._utils.threads import Workers
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

# The rows of no fold.
NO_ROWS = slice(0, 0)


@contextlib.contextmanager
def _rough_fits() -> Iterator[None]:
    """Let fits end before they have converged: they only tell roughly what others explain."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def distil(
    lines: Lines, outputs: Floats, folds: Positions, groups: Positions | None, workers: Workers
) -> dict[int, float]:
    """Return the p-value of the lines of each factor beside all others, for what is left of y, (outputs, rows)."""
    if len(lines.left) == 0:  # all are known from the base
        return {}
    with _rough_fits():
        samples = _samples(lines.left, outputs, folds, groups)
        p_values = np.min([_distil_output(sample, workers) for sample in samples], axis=0) * len(outputs)
    factors, number, n_lines = np.unique(lines.owner, return_inverse=True, return_counts=True)
    smallest = np.ones(factors.size)
    np.minimum.at(smallest, number, p_values)
    return dict(zip(factors.tolist(), np.minimum(smallest * n_lines, 1.0).tolist(), strict=True))


def predictors(lines: Lines, outputs: Floats, folds: Positions, workers: Workers) -> tuple[int, ...]:
    """Return the factors that a lasso with the least cross-validated error takes to predict what is left of y."""
    with _rough_fits():
        samples = _samples(lines.left, outputs, folds)
        taken = [_take(sample, NO_ROWS, _choose_penalty(sample, workers))[0] for sample in samples]
    return tuple(np.unique(lines.owner[np.concatenate(taken)]).tolist())


@dataclass(frozen=True)
class _Sample:
    """Lines, (lines, rows), and one output of what is left of y, (rows,), by fold and in these by group."""

    lines: Floats
    y: Floats
    folds: list[slice]
    """The rows of each fold."""
    groups: Positions | None

    def without(self, some: Positions, fold: slice) -> tuple[Floats, Floats]:
        """Return some lines, and y, in the rows of all other folds."""
        return np.delete(self.lines[some], fold, axis=1), np.delete(self.y, fold)

    def screen(self, fold: slice) -> Positions:
        """Return the lines that go most with y in the rows of all other folds."""
        products = self._products - self.lines[:, fold] @ self.y[fold]
        return _largest(products, self.y.size - (fold.stop - fold.start))

    @cached_property
    def _products(self) -> Floats:
        products: Floats = self.lines @ self.y
        return products


def _samples(lines: Floats, outputs: Floats, folds: Positions, groups: Positions | None = None) -> list[_Sample]:
    """The lines with each of the outputs; rows of a fold are brought together, so that they need no copies later."""
    order = np.lexsort((folds,) if groups is None else (groups, folds))
    ends = np.cumsum(np.bincount(folds)).tolist()
    parts = [slice(start, stop) for start, stop in pairwise([0, *ends])]
    lines, of_rows = lines[:, order], None if groups is None else groups[order]
    return [_Sample(lines, y[order], parts, of_rows) for y in outputs]


def _distil_output(sample: _Sample, workers: Workers) -> Floats:
    """The p-value of each line."""
    lines, penalty = sample.lines, _choose_penalty(sample, workers)
    fits = workers.map(lambda fold: _take(sample, fold, penalty), sample.folds)
    ever = np.unique(np.concatenate([taken for taken, _ in fits]))
    parts = np.array_split(ever, len(fits))
    products = np.concatenate(workers.map(lambda some: lines[some] @ lines.T, parts))
    squares = np.einsum("ij,ij->i", lines, lines)

    def add_up(number: int) -> tuple[Floats, Floats, int]:
        """Sums over one fold of the terms of each line, and of their squares, and how many there are."""
        fold, (taken, slopes) = sample.folds[number], fits[number]
        new = lines[:, fold]
        inside = products[np.searchsorted(ever, taken)] - new[taken] @ new.T
        lengths = np.sqrt(np.maximum(squares - np.einsum("ij,ij->i", new, new), TINY))
        of_lines = _lines_beside(sample, fold, taken, inside / np.outer(lengths[taken], lengths))
        terms = of_lines * (sample.y[fold] - slopes @ new[taken])
        terms[taken] += of_lines[taken] * (slopes[:, None] * new[taken])  # beside others, not beside itself
        if sample.groups is not None:
            terms = np.add.reduceat(terms, np.flatnonzero(np.diff(sample.groups[fold], prepend=-1)), axis=1)
        return terms.sum(axis=1), np.einsum("ij,ij->i", terms, terms), terms.shape[1]

    sums, of_squares, numbers = zip(*workers.map(add_up, range(len(fits))), strict=True)
    scores = np.abs(np.sum(sums, axis=0)) / np.sqrt(np.maximum(np.sum(of_squares, axis=0), TINY))
    spread = float(np.median(scores) / norm.isf(0.25))
    p_values: Floats = 2 * student.sf(scores / max(spread, 1.0), max(sum(numbers) - 2, 1))
    return p_values


def _choose_penalty(sample: _Sample, workers: Workers) -> float:
    """The penalty with the least cross-validated error."""
    from sklearn.linear_model import lasso_path  # only if it is asked for

    some = sample.screen(NO_ROWS)
    lines = sample.lines[some]
    gram, products = lines @ lines.T, lines @ sample.y
    largest = max(float(np.abs(products).max()) / sample.y.size, TINY)
    penalties = np.geomspace(largest, SMALLEST_PENALTY * largest, N_PENALTIES)

    def errors(fold: slice) -> Floats:
        X, y = sample.without(some, fold)
        new, y_new = lines[:, fold], sample.y[fold]
        slopes = lasso_path(
            X.T,
            y,
            alphas=penalties,
            precompute=gram - new @ new.T,
            Xy=products - new @ y_new,
            max_iter=MOST_PASSES,
            tol=TOLERANCE,
            check_input=False,  # it would look at the matrix once for each penalty
        )[1]
        of_penalties: Floats = ((y_new - slopes.T @ new) ** 2).mean(axis=1)
        return of_penalties

    return float(penalties[np.argmin(np.mean(workers.map(errors, sample.folds), axis=0))])


def _largest(products: Floats, n_rows: int) -> Positions:
    """The lines whose products with y are largest: as many as a lasso chooses from, in order."""
    most = int(np.clip(MOST_VALUES // n_rows, FEWEST_LINES, MOST_LINES))
    return np.sort(np.argsort(-np.abs(products), kind="stable")[:most])


def _take(sample: _Sample, fold: slice, penalty: float) -> tuple[Positions, Floats]:
    """The lines that a lasso takes in the rows of all other folds, and their slopes."""
    from sklearn.linear_model import Lasso  # only if it is asked for

    candidates = sample.screen(fold)
    lines, y = sample.without(candidates, fold)
    lasso = Lasso(penalty, fit_intercept=False, max_iter=MOST_PASSES, tol=TOLERANCE).fit(lines.T, y)
    is_taken = lasso.coef_ != 0
    return candidates[is_taken], lasso.coef_[is_taken]


def _lines_beside(sample: _Sample, fold: slice, taken: Positions, correlations: Floats) -> Floats:
    """What those of the lines taken that are related to each line leave of it in the rows of a fold.

    Correlations, (taken, lines), are those in the rows of all other folds, in which the lines are fitted.
    """
    left = sample.lines[:, fold].copy()
    correlations[np.arange(taken.size), taken] = 0.0
    n_inside = sample.y.size - left.shape[1]
    are_related: NDArray[np.bool_] = np.abs(correlations) > RELATED / np.sqrt(n_inside)
    fitted, _ = sample.without(taken, fold)
    for line in np.flatnonzero(are_related.any(axis=0)).tolist():
        related = are_related[:, line]
        slopes = np.linalg.lstsq(fitted[related].T, np.delete(sample.lines[line], fold), rcond=None)[0]
        left[line] -= slopes @ sample.lines[taken[related], fold]
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
