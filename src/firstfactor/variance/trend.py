"""Smooth trend in numeric factors, fitted to all rows, so that local fits need only follow its residuals.

The trend is a polynomial: powers of single columns, and products of two. Local fits to its residuals follow the rest.
The conditional variance given the factors does not change when any function of these factors is subtracted from y, but
the closer this function is to the true one, the less curvature is left for the local fits.

A row and the others of its group are excluded from the trend that its own fit is compared with; otherwise the trend
would seem to explain noise. The trend without them follows from the one with all rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._utils.cache import BoundedCache
from ..data.encoding import is_missing
from ..neighbors.kernels import polynomials
from ..neighbors.search import Search
from ..neighbors.strategy import Floats, Positions
from .constants import (
    BENT,
    MAX_CELLS,
    MAX_LEVERAGE,
    MAX_TERMS,
    MAX_TERMS_PER_ROW,
    MAX_TREND_ROWS,
    POWERS_AND_DEGREES,
    STRAIGHT,
)
from .sampling import draw_fixed

# A term that others explain but for this share of its sum of squares is rounding error.
LEAST_NEW = 1e-10

# Minimum improvement by further terms, as a share of the mean squared error: more than rounding error.
LEAST_GAIN = 1e-6

Term = tuple[int, int, int, int]
"""Product of two powers: the column and the power of each; the second power may be 0."""


@dataclass(frozen=True)
class Trend:
    """Trend in some factors, and its residuals."""

    residuals: Floats
    """Residuals of y from the trend of all rows, (rows, outputs)."""
    terms: Floats
    """Terms, (rows, terms), orthonormal over the rows of the fit; zeros if other terms explain them."""
    leverage: Floats
    """Leverage of each row, (rows,); 0 for rows that the trend is not fitted to."""
    left_out: Floats
    """Residual of each row from the trend without it and its group, (rows, outputs); 0 where leverage is 0."""
    groups: Positions | None

    @property
    def columns(self) -> Floats:
        """Residuals and terms side by side: the responses of the local fits."""
        return np.hstack([self.residuals, self.terms])

    def change(self, rows: Positions) -> Floats:
        """Return the change of the coefficients due to each row and its group, (rows, terms, outputs)."""
        if self.groups is None:
            return self.terms[rows][:, :, None] * self.left_out[rows][:, None, :]
        sums = np.zeros((int(self.groups.max()) + 1, self.terms.shape[1], self.left_out.shape[1]))
        np.add.at(sums, self.groups, self.terms[:, :, None] * self.left_out[:, None, :])
        return sums[self.groups[rows]]

    def leave_out(self, fits: Floats, squared_weights: Floats, rows: Positions) -> tuple[Floats, Floats]:
        """Return leave-one-out errors of fits around the trend, and the sums of squared weights including the trend.

        The fit of a row is the local fit to its neighbours' residuals plus its own trend. Let δ be the residual of the
        terms from the same local fit; the change of the coefficients then enters the error with weight δ. Returns
        (bands, rows, outputs) and (bands, rows).

        Parameters
        ----------
        fits : (bands, rows, outputs + terms)
            Local fits to `columns` at the rows.
        squared_weights : (bands, rows)
            Sums of squared weights of the local fits.
        rows : (rows,)
        """
        n_outputs = self.residuals.shape[1]
        left = self.terms[rows] - fits[:, :, n_outputs:]
        errors = self.residuals[rows] - fits[:, :, :n_outputs] + np.einsum("bnt,nto->bno", left, self.change(rows))
        own, others = np.einsum("bnt,nt->bn", left, self.terms[rows]), 1 - self.leverage[rows]
        with_trend = squared_weights + (2 - own) * own / others - (left * left).sum(axis=2)
        return errors, np.maximum(with_trend, 0.0)


class TrendFitter:
    """Trends of one response in any set of factors."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._rows = draw_fixed(search.design.n_rows, MAX_TREND_ROWS)
        self._groups = None if search.groups is None else search.groups[self._rows]
        n_independent = self._rows.size if self._groups is None else np.unique(self._groups).size
        self._most = int(min(MAX_TERMS, MAX_TERMS_PER_ROW * n_independent, MAX_CELLS / search.design.n_rows))

    def _scaled(self, j: int) -> tuple[Floats, Floats]:
        """Return a numeric column scaled for curves and for lines, (rows,) each."""

        def scale() -> tuple[Floats, Floats]:
            column = self._search.design.column(j)
            return _scale(column, *BENT), _scale(column, *STRAIGHT)

        return self._recent.find((j,), scale)

    @cached_property
    def _recent(self) -> BoundedCache[tuple[Floats, Floats]]:
        """Recently scaled columns."""
        return BoundedCache(max(int(MAX_CELLS) // self._search.design.n_rows, 1))

    def fit(self, factors: Sequence[int]) -> Trend | None:
        """Return the trend with the best leave-one-out prediction, or None if this is a constant."""
        numeric = self._search.design.numeric_columns(factors)
        levels = list(_levels(len(numeric), self._most))
        if len(levels) == 1:
            return None
        terms = self._terms(numeric, [term for level in levels for term in level])
        return self._choose(terms, np.cumsum([len(level) for level in levels]).tolist())

    def _terms(self, numeric: Sequence[int], terms: list[Term]) -> Floats:
        """Return terms in numeric columns, (rows, terms), orthonormal over the rows that the trend is fitted to."""
        bent, straight = zip(*map(self._scaled, numeric), strict=True)
        values = polynomials.evaluate_terms(np.column_stack([*bent, *straight]), np.array(terms))
        orthonormal: Floats = polynomials.orthonormalise(values, self._rows, LEAST_NEW)
        return orthonormal

    def _choose(self, terms: Floats, ends: list[int]) -> Trend | None:
        """Return the trend with the number of terms that best predicts left-out rows, or None for the constant alone.

        ``ends``, increasing, are the numbers of terms to try.
        """
        y, rows = self._search.y, self._rows
        fitted, residuals = terms[rows], y[rows]
        coefficients = _multiply(fitted.T, residuals)
        leverage, start, least, best = np.zeros(rows.size), 0, np.inf, None
        for end in ends:
            some = fitted[:, start:end]
            residuals = residuals - _multiply(some, coefficients[start:end])
            leverage = leverage + (some * some).sum(axis=1)
            start = end
            left_out = _leave_out(fitted[:, :end], residuals, leverage, self._groups)
            if left_out is not None and (error := float((left_out**2).sum())) < (1 - LEAST_GAIN) * least:
                least, best = error, (end, leverage, left_out)
        if best is None or best[0] == 1:
            return None
        end, leverage, left_out = best
        kept, everywhere, apart = np.ascontiguousarray(terms[:, :end]), np.zeros(len(y)), np.zeros_like(y)
        everywhere[rows], apart[rows] = leverage, left_out
        return Trend(y - _multiply(kept, coefficients[:end]), kept, everywhere, apart, self._search.groups)


def _multiply(a: Floats, b: Floats) -> Floats:
    """Return the product of two matrices without BLAS, which would start threads of its own."""
    product: Floats = np.einsum("ij,jk->ik", a, b)
    return product


def _levels(n_columns: int, most: int) -> Iterator[list[Term]]:
    """Yield the terms of each level, the constant first, while there are no more than ``most``.

    Each column is given twice: first all columns scaled for curves, then all scaled for lines.
    """
    pairs, total = [(i, j) for j in range(n_columns) for i in range(j)], 1
    yield [(0, 0, 0, 0)]
    for powers, sums in POWERS_AND_DEGREES:
        terms = [(j + n_columns * (power == 1), power, j, 0) for j in range(n_columns) for power in powers]
        terms += [(i, power, j, both - power) for both in sums for i, j in pairs for power in range(1, both)]
        total += len(terms)
        if total > most:
            return
        if terms:
            yield terms


def _scale(column: Floats, low: float, high: float, beyond: float) -> Floats:
    """Return a numeric column scaled to the range from −1 to 1; missing values become 0.

    Values beyond two percentiles by more than ``beyond`` times the distance between them are clipped.
    """
    known, scaled = ~is_missing(column), np.zeros_like(column)
    if not known.any():
        return scaled
    bottom, top = np.percentile(column[known], [low, high])
    reach = beyond * (top - bottom) if top > bottom else np.inf
    values = np.clip(column[known], bottom - reach, top + reach)
    least, most = values.min(), values.max()
    if most > least:
        scaled[known] = 2 * ((values - least) / (most - least)) - 1
    return scaled


def _leave_out(terms: Floats, residuals: Floats, leverage: Floats, groups: Positions | None) -> Floats | None:
    """Return residuals, (rows, outputs), from the trend without each row and its group, or None if not identifiable."""
    if groups is None:
        return residuals / (1 - leverage)[:, None] if leverage.max() <= MAX_LEVERAGE else None
    left_out = np.empty_like(residuals)
    order, sizes = np.argsort(groups, kind="stable"), np.bincount(groups)
    first = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]):  # groups of one size at a time, as one stack of matrices
        members = order[first[sizes == size][:, None] + np.arange(size)]
        some = terms[members]
        others = np.eye(size) - some @ some.swapaxes(1, 2)
        if np.linalg.eigvalsh(others).min() < 1 - MAX_LEVERAGE:
            return None
        left_out[members] = np.linalg.solve(others, residuals[members])
    return left_out
