"""A smooth trend in numeric factors, fitted to all rows: what is left of y is easier to follow from row to row.

The trend is a polynomial: powers of single columns, and products of two. Local fits to what it leaves follow the rest.
What is left given the factors has the same variance for any function of these factors that is taken off, but the closer
that is to the true one, the less local fits have to bend.

A row is not in the trend that its own fit is compared with, and nor are others of its group: that would seem to explain
noise. The trend without them follows from the one with all rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._utils.cache import BoundedCache
from ..data.scaling import FAR
from ..neighbors.kernels import polynomials
from ..neighbors.search import Search
from ..neighbors.strategy import Floats, Positions
from .sampling import draw_fixed

# Terms of a trend: at most so many, a share of the rows or groups, and of the cells of a matrix with all rows.
MAX_TERMS, MAX_SHARE, MAX_CELLS = 200, 0.5, 5e6

# Rows that a trend is fitted to.
MAX_TREND_ROWS = 20_000

# Values count as less far if they are farther outside than so many times the distance between two percentiles: one row
# far away would decide every bend. Straight lines can go on for longer.
BENT, STRAIGHT = (5, 95, 0.25), (25, 75, 4.0)

# Powers of single columns, and sums of both powers of products, in the order in which they are tried.
LEVELS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((1,), ()),
    ((2, 3), ()),
    ((), (2,)),
    ((4, 5, 6), ()),
    ((), (3,)),
    ((), (4,)),
    ((), (5,)),
)

# A term that others explain but for this share of its square adds only rounding.
LEAST_NEW = 1e-10

# The most of its own fit that a row or a group may be: without it a term would not be known.
MAX_LEVERAGE = 0.999

# What a trend with more terms must improve, as a share of its mean squared error: more than rounding.
LEAST_GAIN = 1e-6

Term = tuple[int, int, int, int]
"""A product of two powers: the column and the power of each; the second power may be 0."""


@dataclass(frozen=True)
class Trend:
    """The trend in some factors, and what it leaves."""

    residuals: Floats
    """y minus the trend of all rows, (rows, outputs)."""
    terms: Floats
    """Terms, orthonormal over the rows that the trend is fitted to; zeros if others explain them: (rows, terms)."""
    leverage: Floats
    """How much of its own fit each row is, (rows,); 0 for rows that the trend is not fitted to."""
    left_out: Floats
    """The residual of each row from the trend without it and its group, (rows, outputs); 0 where leverage is."""
    groups: Positions | None

    @property
    def columns(self) -> Floats:
        """Residuals and terms side by side: what local fits are made to."""
        return np.hstack([self.residuals, self.terms])

    def change(self, rows: Positions) -> Floats:
        """How much the coefficients are less without each row and its group, (rows, terms, outputs)."""
        if self.groups is None:
            return self.terms[rows][:, :, None] * self.left_out[rows][:, None, :]
        sums = np.zeros((int(self.groups.max()) + 1, self.terms.shape[1], self.left_out.shape[1]))
        np.add.at(sums, self.groups, self.terms[:, :, None] * self.left_out[:, None, :])
        return sums[self.groups[rows]]

    def leave_out(self, fits: Floats, squared_weights: Floats, rows: Positions) -> tuple[Floats, Floats]:
        """The errors of fits as if their rows had not been in the trend, and sums of squared weights with the trend's.

        The fit of a row is that of its neighbours' residuals plus its own trend. With δ for what the same fit leaves of
        the terms, the coefficients count δ times. Returned are (bands, rows, outputs) and (bands, rows).

        Parameters
        ----------
        fits : (bands, rows, outputs + terms)
            Local fits to `columns` at the rows.
        squared_weights : (bands, rows)
            Of the local fits.
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
        self._most = int(min(MAX_TERMS, MAX_SHARE * n_independent, MAX_CELLS / search.design.n_rows))

    def _scaled(self, j: int) -> tuple[Floats, Floats]:
        """A numeric column as bent and as straight terms take it, (rows,) each."""

        def scale() -> tuple[Floats, Floats]:
            column = self._search.design.column(j)
            return _scale(column, *BENT), _scale(column, *STRAIGHT)

        return self._recent.find((j,), scale)

    @cached_property
    def _recent(self) -> BoundedCache[tuple[Floats, Floats]]:
        """The columns scaled last."""
        return BoundedCache(max(int(MAX_CELLS) // self._search.design.n_rows, 1))

    def fit(self, factors: Sequence[int]) -> Trend | None:
        """The trend that predicts rows best which it is not fitted to; None if that is a constant."""
        numeric = self._search.design.numeric_columns(factors)
        levels = list(_levels(len(numeric), self._most))
        if len(levels) == 1:
            return None
        terms = self._terms(numeric, [term for level in levels for term in level])
        return self._choose(terms, np.cumsum([len(level) for level in levels]).tolist())

    def _terms(self, numeric: Sequence[int], terms: list[Term]) -> Floats:
        """Terms in some numeric columns, orthonormal over the rows that the trend is fitted to: (rows, terms)."""
        bent, straight = zip(*map(self._scaled, numeric), strict=True)
        values = polynomials.evaluate_terms(np.column_stack([*bent, *straight]), np.array(terms))
        orthonormal: Floats = polynomials.orthonormalise(values, self._rows, LEAST_NEW)
        return orthonormal

    def _choose(self, terms: Floats, ends: list[int]) -> Trend | None:
        """The trend with as many of the terms as predict rows that are left out best; None for the constant alone.

        ``ends``, increasing, are the numbers of terms that are tried.
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
    """The product of two matrices; BLAS would wake threads of its own."""
    product: Floats = np.einsum("ij,jk->ik", a, b)
    return product


def _levels(n_columns: int, most: int) -> Iterator[list[Term]]:
    """The terms of each level, the constant first, while there are no more than ``most``.

    Columns are given twice: those for bent terms, then those for straight ones.
    """
    pairs, total = [(i, j) for j in range(n_columns) for i in range(j)], 1
    yield [(0, 0, 0, 0)]
    for powers, sums in LEVELS:
        terms = [(j + n_columns * (power == 1), power, j, 0) for j in range(n_columns) for power in powers]
        terms += [(i, power, j, both - power) for both in sums for i, j in pairs for power in range(1, both)]
        total += len(terms)
        if total > most:
            return
        if terms:
            yield terms


def _scale(column: Floats, low: float, high: float, beyond: float) -> Floats:
    """A numeric column between −1 and 1; missing values are 0.

    Values outside of two percentiles by more than ``beyond`` times their distance are pulled in.
    """
    known, scaled = column != FAR, np.zeros_like(column)
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
    """Residuals, (rows, outputs), from the trend without each row and its group; None if that cannot be known."""
    if groups is None:
        return residuals / (1 - leverage)[:, None] if leverage.max() <= MAX_LEVERAGE else None
    left_out = np.empty_like(residuals)
    order, sizes = np.argsort(groups, kind="stable"), np.bincount(groups)
    first = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]):  # groups of one size at a time
        members = order[first[sizes == size][:, None] + np.arange(size)]
        some = terms[members]
        others = np.eye(size) - some @ some.swapaxes(1, 2)
        if np.linalg.eigvalsh(others).min() < 1 - MAX_LEVERAGE:
            return None
        left_out[members] = np.linalg.solve(others, residuals[members])
    return left_out
