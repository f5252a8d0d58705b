"""Effect of a factor with others held fixed: the level of y in each of its bins, after local fits in the others.

Plain means of y in bins of a factor also reflect correlated factors: large diamonds are less clear, so clear ones look
cheap. Robinson's method removes this. The residuals of y from local fits in the other factors are regressed on the
residuals of the bin indicators from the same fits. The same weights act on both sides, so noise in the fits does not
distort the levels; misfit matters only where it is shared by y and the indicators.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..neighbors.search import Search
from ..neighbors.strategy import Floats, Positions
from .constants import LEAST_LEFT, LEAST_ROWS_OF_BIN, MAX_FITTED, MAX_LEVERAGE, MAX_SEARCHED
from .extrapolated import numbers_of_neighbors
from .local_linear import LocalLinear
from .sampling import draw_fixed


class Levels(NamedTuple):
    """Level of y in each bin."""

    means: Floats
    """Levels, (bins, outputs), in units of y; NaN where not identifiable. Their mean over rows is that of y."""
    standard_errors: Floats
    """Standard errors, (bins, outputs), robust to heteroscedasticity and to correlation within groups."""


def plain_levels(
    bins: Positions, values: Floats, weights: Floats | None = None, groups: Positions | None = None
) -> Levels:
    """Return the means of y in bins, ignoring the other factors.

    Parameters
    ----------
    bins : (rows,)
        Index of each row's bin, from 0.
    values : (rows, outputs)
        y.
    weights : (rows,), optional
        Weight of each row.
    groups : (rows,), optional
        Index of each row's group, whose rows may have correlated noise.
    """
    n_bins = int(bins.max()) + 1
    weights = np.ones(bins.size) if weights is None else weights
    total = _sum_by(bins, weights[:, None], n_bins)
    with np.errstate(invalid="ignore", divide="ignore"):  # bins without rows
        means = values[0] + _sum_by(bins, weights[:, None] * (values - values[0]), n_bins) / total
        own = weights / total[bins, 0]  # the share of its own mean that each row is
        left = np.sqrt(1 / (1 - own))[:, None] * (values - means[bins])
        left[own > MAX_LEVERAGE] = np.nan
    scores = own[:, None] * left
    if groups is None:
        return Levels(means, np.sqrt(_sum_by(bins, scores**2, n_bins)))
    cell, number = np.unique(groups * n_bins + bins, return_inverse=True)
    sums = _sum_by(number, scores, cell.size)
    return Levels(means, np.sqrt(_sum_by(cell % n_bins, sums**2, n_bins) * _few_groups(groups)))


def partial_levels(
    search: Search, others: Sequence[int], bins: Positions, values: Floats, positions: Floats | None = None
) -> Levels:
    """Return the levels of y in bins of a factor, with other factors held fixed.

    The model is additive: y is a function of the bins plus a function of the others. With interactions, a level is a
    mean over the others, in which rows weigh more where the others leave the bin uncertain. Without others, it is the
    plain mean.

    Parameters
    ----------
    search : Search
        Its weights are row weights; rows of one of its groups are never each other's neighbours.
    others : indices of factors
        Constant ones are dropped.
    bins : (rows,)
        Index of each row's bin, from 0.
    values : (rows, outputs)
        y in any units.
    positions : (rows,), optional
        Numeric value from which the bins are made, increasing from bin to bin: y is then piecewise linear between bins.
        NaN for rows whose bin stands alone. Default: y is piecewise constant.
    """
    others = [i for i in others if not search.design.constant[i]]
    if not others:
        return plain_levels(bins, values, search.weights, search.groups)
    centre, some = np.average(values, axis=0, weights=search.weights), draw_fixed(search.design.n_rows, MAX_SEARCHED)
    rows, counts = draw_fixed(some.size, MAX_FITTED), np.bincount(bins)
    searched = search.on_rows(some, search.y[some])
    positions = None if positions is None else positions[some]
    used = np.flatnonzero(np.bincount(bins[some][rows], minlength=counts.size) >= LEAST_ROWS_OF_BIN)
    levels = Levels(*np.full((2, counts.size, values.shape[1]), np.nan))
    if used.size:
        found = _fit_levels(searched, others, Binned(bins[some], positions, used), values[some] - centre, rows)
        levels.means[used], levels.standard_errors[used] = centre + found.means, found.standard_errors
    return levels


class Binned(NamedTuple):
    """Bins of a factor."""

    of_row: Positions
    """Bin of each row, (rows,)."""
    positions: Floats | None
    """See `partial_levels`."""
    used: Positions
    """Bins that have a level, increasing; rows of other bins belong to none."""


def _fit_levels(search: Search, others: Sequence[int], bins: Binned, values: Floats, rows: Positions) -> Levels:
    """Return the levels of the used bins from fits at some rows, centred so that their mean over all rows is 0."""
    columns = _columns(bins)
    mixture, share = _mixture(bins, columns, search.row_weights)
    left, squared_weights = _take_off(search, others, np.hstack([values, columns]), rows)
    of_all = rows.size / len(values)
    found = _regress(
        Left(
            y=left[:, : values.shape[1]],
            columns=left[:, values.shape[1] :],
            spread=columns[rows].std(axis=0),
            weights=search.row_weights[rows] / (1 + squared_weights),
            groups=None if search.groups is None else search.groups[rows],
            of_all=of_all,
        ),
        mixture,
        share,
    )
    # Rows are in each other's fits, which adds about as much to the variance as if twice Σw² rows were missing.
    widened = np.sqrt(1 + 2 * of_all * float(np.mean(squared_weights / (1 + squared_weights) ** 2)))
    return Levels(found.means, widened * found.standard_errors)


def _columns(bins: Binned) -> Floats:
    """Return the design matrix, (rows, used bins): indicators, or linear interpolation between bins of numbers.

    Each row sums to 1. Lines are extended beyond the outermost bins by at most the distance to the next bin.
    """
    columns: Floats = (bins.of_row[:, None] == bins.used).astype(np.float64)
    if bins.positions is None:
        return columns
    known = np.flatnonzero(~np.isnan(bins.positions))
    numbers = np.flatnonzero(columns[known].any(axis=0))
    if numbers.size < 2:
        return columns
    knots = np.array([np.median(bins.positions[columns[:, b] == 1]) for b in numbers])
    inside = np.clip(bins.positions[known], 2 * knots[0] - knots[1], 2 * knots[-1] - knots[-2])
    below = np.clip(np.searchsorted(knots, inside, side="right") - 1, 0, knots.size - 2)
    above = (inside - knots[below]) / (knots[below + 1] - knots[below])
    columns[known] = 0.0
    columns[known, numbers[below]], columns[known, numbers[below + 1]] = 1 - above, above
    return columns


def _mixture(bins: Binned, columns: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the mean of each column in each used bin, (bins, columns), and the share of rows in each, (bins,)."""
    total = np.bincount(bins.of_row, weights)
    sums = _sum_by(bins.of_row, weights[:, None] * columns, total.size)
    return sums[bins.used] / total[bins.used, None], total[bins.used] / total[bins.used].sum()


def _take_off(search: Search, others: Sequence[int], columns: Floats, rows: Positions) -> tuple[Floats, Floats]:
    """Return the residuals of columns from local fits in the others, (rows, columns), and their Σw², (rows,).

    The fits are wide: misfit of a curved function matters only where the columns are curved alike.
    """
    bands = numbers_of_neighbors(len(search.design.numeric_columns(others)))
    errors = LocalLinear(search, others, bands[1:]).errors(np.ascontiguousarray(columns), rows)
    return columns[rows] - errors.fits[0], errors.squared_weights[0]


class Left(NamedTuple):
    """Residuals from local fits in the other factors at some rows."""

    y: Floats
    """Residuals of y, (rows, outputs)."""
    columns: Floats
    """Residuals of the design columns, (rows, columns)."""
    spread: Floats
    """Standard deviation of each column before the fits, (columns,)."""
    weights: Floats
    """Row weights, (rows,)."""
    groups: Positions | None
    of_all: float
    """Number of these rows as a share of all rows."""


def _regress(left: Left, mixture: Floats, share: Floats) -> Levels:
    """Return centred levels of bins by least squares; ``mixture`` and ``share`` are as `_mixture` returns them."""
    mean = left.weights / left.weights.sum()
    y = left.y - np.einsum("n,no->o", mean, left.y)
    columns = left.columns - np.einsum("n,nb->b", mean, left.columns)
    inverse, is_known = _invert(np.einsum("n,na,nb->ab", mean, columns, columns), left.spread)
    gains = np.einsum("nb,ab->na", columns, inverse)
    beta = np.einsum("n,na,no->ao", mean, gains, y)
    own = mean * ((gains * columns).sum(axis=1) + 1)
    noise = (y - np.einsum("nb,bo->no", columns, beta)) / np.sqrt(1 - np.minimum(own, MAX_LEVERAGE))[:, None]
    contrasts = mixture - share @ mixture
    # The mean of y, to which levels are shifted, is itself an estimate: it adds the noise of all rows.
    influence = mean[:, None] * (np.einsum("nc,bc->nb", gains, contrasts) + left.of_all)
    scores = influence[:, :, None] * noise[:, None, :]
    if left.groups is not None:
        scores = _sum_by(left.groups, scores, int(left.groups.max()) + 1) * np.sqrt(_few_groups(left.groups))
    levels = np.einsum("bc,co->bo", contrasts, beta)
    return Levels(levels if is_known else np.full_like(levels, np.nan), np.sqrt((scores**2).sum(axis=0)))


def _invert(products: Floats, spread: Floats) -> tuple[Floats, bool]:
    """Return the inverse of a matrix of mean products of columns, and True if all differences of bins are identifiable.

    The columns always sum to 1, which leaves out one direction that no difference needs.
    """
    scale = np.where(spread > 0, spread, 1.0)  # a bin without any of these rows has a column of zeros
    values, vectors = np.linalg.eigh(products / scale[:, None] / scale)
    told = values > LEAST_LEFT
    vectors = vectors[:, told] / np.sqrt(values[told]) / scale[:, None]
    return vectors @ vectors.T, bool(told.sum() >= spread.size - 1)


def _few_groups(groups: Positions) -> float:
    """Return the factor for squared sums of groups that corrects for estimated means."""
    count = np.unique(groups).size
    return count / max(count - 1, 1)


def _sum_by(numbers: Positions, values: Floats, count: int) -> Floats:
    """Return the sums of ``values``, (rows, …), over the rows with each number: (count, …)."""
    flat = values.reshape(len(values), -1)
    sums: Floats = np.column_stack([np.bincount(numbers, column, minlength=count) for column in flat.T])
    return sums.reshape(count, *values.shape[1:])
