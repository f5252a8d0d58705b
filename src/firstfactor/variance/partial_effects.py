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


def partial_levels(search: Search, others: Sequence[int], bins: Positions, values: Floats) -> Levels:
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
    """
    others = [i for i in others if not search.design.constant[i]]
    if not others:
        return plain_levels(bins, values, search.weights, search.groups)
    n_bins, centre = int(bins.max()) + 1, np.average(values, axis=0, weights=search.weights)
    some = draw_fixed(search.design.n_rows, MAX_SEARCHED)
    search, bins, values = search.on_rows(some, search.y[some]), bins[some], values[some] - centre
    rows = draw_fixed(some.size, MAX_FITTED)
    used = np.flatnonzero(np.bincount(bins[rows], minlength=n_bins))
    share = np.bincount(bins, search.row_weights, minlength=n_bins)[used]
    columns = np.hstack([values, bins[:, None] == used])
    bands = numbers_of_neighbors(len(search.design.numeric_columns(others)))
    errors = LocalLinear(search, others, bands[1:]).errors(columns, rows)
    left, squared_weights = columns[rows] - errors.fits[0], errors.squared_weights[0]
    weights = search.row_weights[rows] / (1 + squared_weights)
    n_outputs, of_all = values.shape[1], rows.size / search.design.n_rows
    groups = None if search.groups is None else search.groups[rows]
    found = _regress(left[:, :n_outputs], left[:, n_outputs:], weights, share / share.sum(), of_all, groups)
    # Rows are in the fits of each other, which adds to the variance about as much as if twice Σw² rows were missing.
    widened = np.sqrt(1 + 2 * of_all * float(np.mean(squared_weights / (1 + squared_weights) ** 2)))
    means, errors_of_means = np.full((2, n_bins, n_outputs), np.nan)
    means[used], errors_of_means[used] = centre + found.means, widened * found.standard_errors
    means[np.bincount(bins[rows], minlength=n_bins) < LEAST_ROWS] = np.nan
    return Levels(means, np.where(np.isnan(means), np.nan, errors_of_means))


def _regress(
    y: Floats, indicators: Floats, weights: Floats, share: Floats, of_all: float, groups: Positions | None
) -> Levels:
    """The levels of bins whose mean is 0, from what is left of y, (rows, outputs), and of indicators, (rows, bins).

    Parameters
    ----------
    y, indicators : (rows, outputs), (rows, bins)
    weights : (rows,)
    share : (bins,)
        The share of rows in each bin.
    of_all : float
        Which share of all rows these are: the mean of y is that of all.
    groups : (rows,), optional
    """
    mean = weights / weights.sum()
    y = y - np.einsum("n,no->o", mean, y)
    indicators = indicators - np.einsum("n,nb->b", mean, indicators)
    inverse, known = _invert(np.einsum("n,na,nb->ab", mean, indicators, indicators), share)
    slopes = np.einsum("nb,ab->na", indicators, inverse)
    beta = np.einsum("n,na,no->ao", mean, slopes, y)
    left = y - np.einsum("nb,bo->no", indicators, beta)
    own = mean * ((slopes * indicators).sum(axis=1) + 1)
    left /= np.sqrt(1 - np.minimum(own, MAX_LEVERAGE))[:, None]
    influence = mean[:, None] * (slopes - np.einsum("nb,b->n", slopes, share)[:, None] + of_all)
    scores = influence[:, :, None] * left[:, None, :]
    if groups is not None:
        scores = _sum_by(groups, scores, int(groups.max()) + 1) * np.sqrt(_few_groups(groups))
    levels = beta - np.einsum("b,bo->o", share, beta)
    return Levels(np.where(known, levels, np.nan), np.sqrt((scores**2).sum(axis=0)))


def _invert(products: Floats, share: Floats) -> tuple[Floats, bool]:
    """The inverse of a matrix of mean products of indicators, and whether all differences of bins can be told.

    All bins together are always 1, which leaves one direction out that no difference needs.
    """
    scale = np.sqrt(np.maximum(share * (1 - share), 1e-300))
    values, vectors = np.linalg.eigh(products / np.outer(scale, scale))
    told = values > LEAST_LEFT
    vectors = vectors[:, told] / np.sqrt(values[told]) / scale[:, None]
    return vectors @ vectors.T, bool(told.sum() >= share.size - 1)


def _few_groups(groups: Positions) -> float:
    """What squared sums of groups are multiplied by to make up for estimated means."""
    count = np.unique(groups).size
    return count / max(count - 1, 1)


def _sum_by(numbers: Positions, values: Floats, count: int) -> Floats:
    """Sums of ``values``, (rows, …), over the rows of each number: (count, …)."""
    flat = values.reshape(len(values), -1)
    sums = np.column_stack([np.bincount(numbers, column, minlength=count) for column in flat.T])
    return sums.reshape(count, *values.shape[1:])
