"""The effect of a factor with others held fixed: the level of y in each bin of it, after local fits in the others.

Plain means of y in bins of a factor also show what the factor goes along with: large diamonds are less clear, so that
clear ones look cheap. Robinson's way takes that off. What local fits in the space of the others leave of y is regressed
on what the same fits leave of the indicators of the bins. The same weights act on both sides, so that noise in the fits
does not bend the levels; what the fits miss matters only where they miss it in y and in the indicators alike.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..neighbors.search import Search
from ..neighbors.strategy import Floats, Positions
from .extrapolated import numbers_of_neighbors
from .local_linear import LocalLinear
from .sampling import draw_fixed

# Rows at which fits are made, and rows that their neighbours come from: more would not be seen in a picture.
MAX_FITTED, MAX_SEARCHED = 5000, 100_000

# A bin with fewer fitted rows has no level of its own.
LEAST_ROWS = 3

# Where others explain a difference of bins but for this share of its variance, its effect cannot be told from theirs.
LEAST_LEFT = 1e-4

# The most of its own fit that a row may be: what is left of it says little about its noise.
MAX_LEVERAGE = 0.999


class Levels(NamedTuple):
    """The level of y in each bin."""

    means: Floats
    """(bins, outputs) in units of y; not a number where it cannot be told. Their mean over rows is that of y."""
    standard_errors: Floats
    """(bins, outputs), whatever the variance of each row; of rows in groups, whatever they have in common."""


def plain_levels(
    bins: Positions, values: Floats, weights: Floats | None = None, groups: Positions | None = None
) -> Levels:
    """The means of y in bins, whatever the other factors.

    Parameters
    ----------
    bins : (rows,)
        The number of each row's bin, from 0 on.
    values : (rows, outputs)
        y.
    weights : (rows,), optional
        What each row counts.
    groups : (rows,), optional
        The number of each row's group, whose rows may have noise in common.
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
    """The levels of y in bins of a factor, others held fixed: y is taken to be their sum with a function of the others.

    Where others change what the bins do, a level is a mean over them, in which rows count more where the others leave
    the bin open. Without others it is the plain mean.

    Parameters
    ----------
    search : Search
        Its weights say what rows count; rows of one of its groups are never each other's neighbours.
    others : positions of factors
        Constant ones are left out.
    bins : (rows,)
        The number of each row's bin, from 0 on.
    values : (rows, outputs)
        y in any units.
    positions : (rows,), optional
        The number that bins are made of, increasing from bin to bin: y then goes from bin to bin in straight lines. Not
        a number where a bin is by itself. Default: y jumps from bin to bin.
    """
    others = [i for i in others if not search.design.constant[i]]
    if not others:
        return plain_levels(bins, values, search.weights, search.groups)
    centre, some = np.average(values, axis=0, weights=search.weights), draw_fixed(search.design.n_rows, MAX_SEARCHED)
    rows, counts = draw_fixed(some.size, MAX_FITTED), np.bincount(bins)
    searched = search.on_rows(some, search.y[some])
    positions = None if positions is None else positions[some]
    used = np.flatnonzero(np.bincount(bins[some][rows], minlength=counts.size) >= LEAST_ROWS)
    levels = Levels(*np.full((2, counts.size, values.shape[1]), np.nan))
    if used.size:
        found = _fit_levels(searched, others, Binned(bins[some], positions, used), values[some] - centre, rows)
        levels.means[used], levels.standard_errors[used] = centre + found.means, found.standard_errors
    return levels


class Binned(NamedTuple):
    """A factor in bins."""

    of_row: Positions
    """The bin of each row, (rows,)."""
    positions: Floats | None
    """See `partial_levels`."""
    used: Positions
    """The bins that have a level, increasing; rows of others are in none."""


def _fit_levels(search: Search, others: Sequence[int], bins: Binned, values: Floats, rows: Positions) -> Levels:
    """The levels of the bins used, from fits at some rows; their mean over all rows is 0."""
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
    # Rows are in the fits of each other, which adds to the variance about as much as if twice Σw² rows were missing.
    widened = np.sqrt(1 + 2 * of_all * float(np.mean(squared_weights / (1 + squared_weights) ** 2)))
    return Levels(found.means, widened * found.standard_errors)


def _columns(bins: Binned) -> Floats:
    """What y is made a sum of, (rows, bins used): 1 in a bin; between two of numbers, how near each of them is.

    They sum to 1 in every row. Beyond the outermost bins straight lines go on, at most as far as they come from.
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
    """The mean of each column in each bin used, (bins, columns), and the share of rows in each, (bins,)."""
    total = np.bincount(bins.of_row, weights)
    sums = _sum_by(bins.of_row, weights[:, None] * columns, total.size)
    return sums[bins.used] / total[bins.used, None], total[bins.used] / total[bins.used].sum()


def _take_off(search: Search, others: Sequence[int], columns: Floats, rows: Positions) -> tuple[Floats, Floats]:
    """What local fits in the others leave of columns at some rows, (rows, columns), and their Σw², (rows,).

    The fits are wide: what a smooth function bends within them matters only where the columns bend alike.
    """
    bands = numbers_of_neighbors(len(search.design.numeric_columns(others)))
    errors = LocalLinear(search, others, bands[1:]).errors(np.ascontiguousarray(columns), rows)
    return columns[rows] - errors.fits[0], errors.squared_weights[0]


class Left(NamedTuple):
    """What local fits in the others leave at some rows."""

    y: Floats
    """(rows, outputs)."""
    columns: Floats
    """(rows, columns)."""
    spread: Floats
    """The standard deviation of each column before the fits, (columns,)."""
    weights: Floats
    """(rows,)."""
    groups: Positions | None
    of_all: float
    """Which share of all rows these are."""


def _regress(left: Left, mixture: Floats, share: Floats) -> Levels:
    """The levels of bins, whose mean is 0, by least squares; ``mixture`` and ``share`` are as `_mixture` makes them."""
    mean = left.weights / left.weights.sum()
    y = left.y - np.einsum("n,no->o", mean, left.y)
    columns = left.columns - np.einsum("n,nb->b", mean, left.columns)
    inverse, is_known = _invert(np.einsum("n,na,nb->ab", mean, columns, columns), left.spread)
    gains = np.einsum("nb,ab->na", columns, inverse)
    beta = np.einsum("n,na,no->ao", mean, gains, y)
    own = mean * ((gains * columns).sum(axis=1) + 1)
    noise = (y - np.einsum("nb,bo->no", columns, beta)) / np.sqrt(1 - np.minimum(own, MAX_LEVERAGE))[:, None]
    contrasts = mixture - share @ mixture
    # The mean of y, which levels are shifted to, has noise as well: that of all rows.
    influence = mean[:, None] * (np.einsum("nc,bc->nb", gains, contrasts) + left.of_all)
    scores = influence[:, :, None] * noise[:, None, :]
    if left.groups is not None:
        scores = _sum_by(left.groups, scores, int(left.groups.max()) + 1) * np.sqrt(_few_groups(left.groups))
    levels = np.einsum("bc,co->bo", contrasts, beta)
    return Levels(levels if is_known else np.full_like(levels, np.nan), np.sqrt((scores**2).sum(axis=0)))


def _invert(products: Floats, spread: Floats) -> tuple[Floats, bool]:
    """The inverse of a matrix of mean products of columns, and whether all differences of bins can be told.

    All columns together are always 1, which leaves one direction out that no difference needs.
    """
    scale = np.maximum(spread, 1e-300)
    values, vectors = np.linalg.eigh(products / np.outer(scale, scale))
    told = values > LEAST_LEFT
    vectors = vectors[:, told] / np.sqrt(values[told]) / scale[:, None]
    return vectors @ vectors.T, bool(told.sum() >= spread.size - 1)


def _few_groups(groups: Positions) -> float:
    """What squared sums of groups are multiplied by to make up for estimated means."""
    count = np.unique(groups).size
    return count / max(count - 1, 1)


def _sum_by(numbers: Positions, values: Floats, count: int) -> Floats:
    """Sums of ``values``, (rows, …), over the rows of each number: (count, …)."""
    flat = values.reshape(len(values), -1)
    sums: Floats = np.column_stack([np.bincount(numbers, column, minlength=count) for column in flat.T])
    return sums.reshape(count, *values.shape[1:])
