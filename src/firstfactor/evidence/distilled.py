"""Tests of the line of each factor beside all others, where the factors are too many for least squares.

A lasso predicts y from other factors, and least squares on those of them that are correlated with a factor predict its
line. The residuals of both are multiplied, on rows that neither was fitted on (Shah and Peters 2020; Liu, Katsevich,
Janson and Ramdas 2022). Most of many factors have no effect: if their scores spread more than under the null
hypothesis, all are scaled down (Efron 2004).
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
from ..data.encoding import TINY_IN_SINGLE
from ..neighbors.strategy import Floats, Positions
from .constants import (
    FEWEST_LINES_OF_LASSO,
    MOST_LINES_OF_LASSO,
    MOST_VALUES_OF_LINES,
    N_FOLDS,
    N_PENALTIES,
    RELATED_TO_LINE,
    SMALLEST_PENALTY,
)
from .lines import Lines

# Maximum iterations of a fit, and its tolerance.
MOST_PASSES, TOLERANCE = 1000, 1e-3

# An empty fold.
NO_ROWS = slice(0, 0)


@contextlib.contextmanager
def _rough_fits() -> Iterator[None]:
    """Silence convergence warnings: fits that have not converged are accurate enough here."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def distil(
    lines: Lines, outputs: Floats, folds: Positions, groups: Positions | None, workers: Workers
) -> dict[int, float]:
    """Return the p-value of the lines of each factor beside all others, for the residuals of y, (outputs, rows)."""
    if len(lines.left) == 0:  # the base explains all of them
        return {}
    with _rough_fits():
        samples = _samples(lines.left, outputs, folds, groups)
        p_values = np.min([_distil_output(sample, workers) for sample in samples], axis=0) * len(outputs)
    factors, number, n_lines = np.unique(lines.owner, return_inverse=True, return_counts=True)
    smallest = np.ones(factors.size)
    np.minimum.at(smallest, number, p_values)
    return dict(zip(factors.tolist(), np.minimum(smallest * n_lines, 1.0).tolist(), strict=True))


def predictors(lines: Lines, outputs: Floats, folds: Positions, workers: Workers) -> tuple[int, ...]:
    """Return the factors selected by a lasso with the least cross-validated error for the residuals of y."""
    with _rough_fits():
        samples = _samples(lines.left, outputs, folds)
        taken = [_take(sample, NO_ROWS, _choose_penalty(sample, workers))[0] for sample in samples]
    return tuple(np.unique(lines.owner[np.concatenate(taken)]).tolist())


@dataclass(frozen=True)
class _Sample:
    """Lines, (lines, rows), and one output of the residuals of y, (rows,), sorted by fold and then by group."""

    lines: Floats
    y: Floats
    folds: list[slice]
    """Rows of each fold."""
    groups: Positions | None

    def without(self, some: Positions, fold: slice) -> tuple[Floats, Floats]:
        """Return some lines, and y, in the rows of all other folds."""
        return np.delete(self.lines[some], fold, axis=1), np.delete(self.y, fold)

    def screen(self, fold: slice) -> Positions:
        """Return the lines with the largest products with y in the rows of all other folds."""
        products = self._products - self.lines[:, fold] @ self.y[fold]
        return _largest(products, self.y.size - (fold.stop - fold.start))

    @cached_property
    def _products(self) -> Floats:
        products: Floats = self.lines @ self.y
        return products


def _samples(lines: Floats, outputs: Floats, folds: Positions, groups: Positions | None = None) -> list[_Sample]:
    """Return the lines with each output; rows of a fold are made contiguous, so that no copies are needed later."""
    order = np.lexsort((folds,) if groups is None else (groups, folds))
    ends = np.cumsum(np.bincount(folds)).tolist()
    parts = [slice(start, stop) for start, stop in pairwise([0, *ends])]
    lines, of_rows = lines[:, order], None if groups is None else groups[order]
    return [_Sample(lines, y[order], parts, of_rows) for y in outputs]


def _distil_output(sample: _Sample, workers: Workers) -> Floats:
    """Return the p-value of each line."""
    lines, penalty = sample.lines, _choose_penalty(sample, workers)
    fits = workers.map(lambda fold: _take(sample, fold, penalty), sample.folds)
    ever = np.unique(np.concatenate([taken for taken, _ in fits]))
    parts = np.array_split(ever, len(fits))
    products = np.concatenate(workers.map(lambda some: lines[some] @ lines.T, parts))
    squares = np.einsum("ij,ij->i", lines, lines)

    def add_up(number: int) -> tuple[Floats, Floats, int]:
        """Return the sums over one fold of the terms of each line and of their squares, and the number of terms."""
        fold, (taken, slopes) = sample.folds[number], fits[number]
        new = lines[:, fold]
        inside = products[np.searchsorted(ever, taken)] - new[taken] @ new.T
        lengths = np.sqrt(np.maximum(squares - np.einsum("ij,ij->i", new, new), TINY_IN_SINGLE))
        of_lines = _lines_beside(sample, fold, taken, inside / np.outer(lengths[taken], lengths))
        terms = of_lines * (sample.y[fold] - slopes @ new[taken])
        terms[taken] += of_lines[taken] * (slopes[:, None] * new[taken])  # beside others, not beside itself
        if sample.groups is not None:
            terms = np.add.reduceat(terms, np.flatnonzero(np.diff(sample.groups[fold], prepend=-1)), axis=1)
        return terms.sum(axis=1), np.einsum("ij,ij->i", terms, terms), terms.shape[1]

    sums, of_squares, numbers = zip(*workers.map(add_up, range(len(fits))), strict=True)
    scores = np.abs(np.sum(sums, axis=0)) / np.sqrt(np.maximum(np.sum(of_squares, axis=0), TINY_IN_SINGLE))
    spread = float(np.median(scores) / norm.isf(0.25))
    p_values: Floats = 2 * student.sf(scores / max(spread, 1.0), max(sum(numbers) - 2, 1))
    return p_values


def _choose_penalty(sample: _Sample, workers: Workers) -> float:
    """Return the penalty with the least cross-validated error."""
    from sklearn.linear_model import lasso_path  # only if needed

    some = sample.screen(NO_ROWS)
    lines = sample.lines[some]
    gram, products = lines @ lines.T, lines @ sample.y
    largest = max(float(np.abs(products).max()) / sample.y.size, TINY_IN_SINGLE)
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
            check_input=False,  # would check the matrix once for each penalty
        )[1]
        of_penalties: Floats = ((y_new - slopes.T @ new) ** 2).mean(axis=1)
        return of_penalties

    return float(penalties[np.argmin(np.mean(workers.map(errors, sample.folds), axis=0))])


def _largest(products: Floats, n_rows: int) -> Positions:
    """Return the lines with the largest products with y, as many as a lasso chooses from, in order."""
    most = int(np.clip(MOST_VALUES_OF_LINES // n_rows, FEWEST_LINES_OF_LASSO, MOST_LINES_OF_LASSO))
    return np.sort(np.argsort(-np.abs(products), kind="stable")[:most])


def _take(sample: _Sample, fold: slice, penalty: float) -> tuple[Positions, Floats]:
    """Return the lines that a lasso selects in the rows of all other folds, and their slopes."""
    from sklearn.linear_model import Lasso  # only if needed

    candidates = sample.screen(fold)
    lines, y = sample.without(candidates, fold)
    lasso = Lasso(penalty, fit_intercept=False, max_iter=MOST_PASSES, tol=TOLERANCE).fit(lines.T, y)
    is_taken = lasso.coef_ != 0
    return candidates[is_taken], lasso.coef_[is_taken]


def _lines_beside(sample: _Sample, fold: slice, taken: Positions, correlations: Floats) -> Floats:
    """Return the residuals of each line in a fold, given the selected lines that are correlated with it.

    The fits and the correlations, (taken, lines), are those in the rows of all other folds.
    """
    left = sample.lines[:, fold].copy()
    correlations[np.arange(taken.size), taken] = 0.0
    n_inside = sample.y.size - left.shape[1]
    are_related: NDArray[np.bool_] = np.abs(correlations) > RELATED_TO_LINE / np.sqrt(n_inside)
    fitted, _ = sample.without(taken, fold)
    for line in np.flatnonzero(are_related.any(axis=0)).tolist():
        related = are_related[:, line]
        slopes = np.linalg.lstsq(fitted[related].T, np.delete(sample.lines[line], fold), rcond=None)[0]
        left[line] -= slopes @ sample.lines[taken[related], fold]
    return left


def holm(p_values: dict[int, float]) -> dict[int, float]:
    """Return p-values adjusted by Holm's method, ascending: each times the number not below it, made monotone."""
    ascending = sorted(p_values, key=lambda i: (p_values[i], i))
    adjusted = np.maximum.accumulate([p_values[i] * (len(ascending) - k) for k, i in enumerate(ascending)])
    return dict(zip(ascending, np.minimum(adjusted, 1.0).tolist(), strict=True))


def benjamini_hochberg(p_values: dict[int, float]) -> dict[int, float]:
    """Return p-values adjusted for the false discovery rate, ascending."""
    ascending = sorted(p_values, key=lambda i: (p_values[i], i))
    adjusted = false_discovery_control([min(p_values[i], 1.0) for i in ascending])
    return dict(zip(ascending, np.atleast_1d(adjusted).tolist(), strict=True))


def draw_folds(rng: np.random.Generator, n_rows: int, groups: Positions | None) -> Positions:
    """Return a random fold for each row; all rows of a group are in the same fold."""
    units: Sequence[int] | Positions = np.arange(n_rows) if groups is None else groups
    return rng.permutation(int(np.max(units)) + 1)[units] % N_FOLDS
