"""COSSO: additive smoothing splines with component selection (Lin and Zhang 2006; two classes: Zhang and Lin 2006).

Tuned as the R package `cosso` 2.1 does by default: with random rows as knots and all weights θ one, the smoothing λ₀ is
chosen by cross-validation. Then, for every bound M on Σθ: a spline with θ = 1, the garrote for θ given its components,
and a spline with that θ. M is chosen by 5-fold cross-validation; factors with θ > 0 are selected.

The knots limit what can be seen: 1,000 rows have 56 of them, which all components share, so with 100 factors the first
spline fits poorly, and few factors without a strong trend get weights.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.arrays import Floats
from ..outcome import Outcome, outcome_of
from .cosso_families import Binomial, Family, Gaussian
from .cosso_splines import Kernels, kernels_of

FOLDS = 5


def cosso(X: Floats, y: NDArray[Any], seed: int) -> Outcome:
    """Return the variance of each additive component, and the components that stay."""
    rng = np.random.default_rng(seed)
    family: Family = Binomial() if y.dtype == bool else Gaussian()
    kernels = kernels_of(X, _knots(len(X), rng))
    response = y.astype(float)
    smoothing = _tuned_smoothing(family, kernels, response, rng)
    bound = _tuned_bound(family, kernels, response, smoothing, rng)
    everything = np.ones(len(y), dtype=bool)
    (weights,), (coefficients,), _ = _fits(family, kernels, response, everything, smoothing, np.array([bound]))
    components = weights[:, None] * (kernels.at_rows @ coefficients[1:])
    return outcome_of(components.var(axis=1))


def _knots(n_rows: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the rows that serve as knots."""
    n_knots = min(n_rows, max(40, int(np.ceil(12 * n_rows ** (2 / 9)))))
    return np.sort(rng.choice(n_rows, n_knots, replace=False))


def _folds(
    n_rows: int, n_folds: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Yield which rows are for fitting and which for testing, for every fold."""
    fold = rng.permutation(np.arange(n_rows) % n_folds)
    for k in range(n_folds):
        yield fold != k, fold == k


def _fits(
    family: Family, kernels: Kernels, y: Floats, fitted: NDArray[np.bool_], smoothing: float, bounds: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return weights, coefficients and predictions at all rows, for every bound."""
    weights = _weights(family, kernels, y, fitted, smoothing, bounds)
    designs, penalties = kernels.designs(weights), kernels.penalties(weights)
    coefficients = np.empty((len(bounds), designs.shape[2]))
    predictor = np.zeros(fitted.sum())
    for i, penalty in enumerate(penalties):
        design = designs[i, fitted]
        coefficients[i] = family.spline(design, penalty, y[fitted], smoothing, predictor)
        predictor = design @ coefficients[i]
    return weights, coefficients, (designs @ coefficients[:, :, None])[:, :, 0]


def _weights(
    family: Family, kernels: Kernels, y: Floats, fitted: NDArray[np.bool_], smoothing: float, bounds: Floats
) -> Floats:
    """Return the garrote's weights of all components, for every bound."""
    alike = np.ones((1, len(kernels.at_rows)))
    (design,), (penalty,) = kernels.designs(alike), kernels.penalties(alike)
    constant, *others = family.spline(design[fitted], penalty, y[fitted], smoothing, np.zeros(fitted.sum()))
    coefficients = np.array(others)
    components = (kernels.at_rows @ coefficients)[:, fitted].T
    tolls = fitted.sum() * smoothing * (kernels.at_knots @ coefficients @ coefficients)
    return family.garrote(components, tolls, constant, y[fitted], bounds)


def _tuned_smoothing(family: Family, kernels: Kernels, y: Floats, rng: np.random.Generator) -> float:
    """Return the smoothing for splines in which all factors weigh the same, chosen by cross-validation."""
    alike = np.ones((1, len(kernels.at_rows)))
    (design,), (penalty,) = kernels.designs(alike), kernels.penalties(alike)
    losses = np.zeros(len(family.smoothing_grid))
    for fitted, tested in _folds(len(y), family.smoothing_folds, rng):
        predictor = np.zeros(len(y))
        for i, smoothing in enumerate(family.smoothing_grid):
            predictor = design @ family.spline(design[fitted], penalty, y[fitted], smoothing, predictor[fitted])
            losses[i] += family.loss(predictor[tested], y[tested]).sum()
    return float(family.smoothing_grid[_dip(losses)] * family.smoothing_share)


def _tuned_bound(family: Family, kernels: Kernels, y: Floats, smoothing: float, rng: np.random.Generator) -> float:
    """Return the bound on the sum of the weights, chosen by cross-validation."""
    n_factors, n_rows, _ = kernels.at_rows.shape
    bounds = _bounds(n_factors)
    weights = _weights(family, kernels, y, np.ones(n_rows, dtype=bool), smoothing, bounds)
    candidates = _candidates(bounds, (weights > 0).sum(axis=1), family, n_factors)
    losses = np.zeros(len(candidates))
    for fitted, tested in _folds(n_rows, FOLDS, rng):
        _, _, predictors = _fits(family, kernels, y, fitted, smoothing, candidates)
        losses += family.loss(predictors[:, tested], y[tested]).sum(axis=1)
    return float(candidates[_dip(losses)])


def _bounds(n_factors: int) -> Floats:
    """Return the grid of bounds: fine steps first, then larger ones."""
    steps = np.full(2 * n_factors if n_factors <= 15 else n_factors, 2.0)
    steps[:9], steps[9:15], steps[15:19] = 0.25, 0.5, 1.0
    return 0.2 + np.concatenate([[0.0], np.cumsum(steps)])


def _candidates(bounds: Floats, sizes: NDArray[np.intp], family: Family, n_factors: int) -> Floats:
    """Return the bounds to try: all that select few factors, one for each larger number, and some in between.

    Where no bound selects k but one selects more, two bounds are added (one, beyond the tenth number), in the interval
    of the grid that has the place of k among the numbers that occur; so the package.
    """
    if family.ends_when_full and (sizes == n_factors).any():
        end = int(np.argmax(sizes == n_factors)) + 1
        bounds, sizes = bounds[:end], sizes[:end]
    different = np.unique(sizes)
    kept = bounds[sizes <= family.kept_in_full(n_factors)].tolist()
    kept += [bounds[sizes == size].max() for size in different if size > family.kept_in_full(n_factors)]
    for place in np.flatnonzero(np.diff(different, prepend=0) > 1):
        if place + 1 < len(bounds):
            parts = np.array([0.3, 0.6] if place < 9 else [0.5])
            kept += (bounds[place] + parts * (bounds[place + 1] - bounds[place])).tolist()
    return np.unique(kept)


def _dip(losses: Floats) -> int:
    """Return the position of the least loss, where a dip within the grid is preferred to its ends.

    Dips behind the last hump in the last third of the grid do not count, nor does the last of more than two.
    """
    inner = np.arange(1, len(losses) - 1)
    before, here, after = losses[:-2], losses[1:-1], losses[2:]
    dips, humps = inner[(before > here) & (here < after)], inner[(before < here) & (here > after)]
    humps = humps[humps + 1 > len(losses) * 2 / 3]
    dips = dips[dips < humps.max()] if len(humps) else dips
    if not len(dips):
        return int(losses.argmin())
    dips = dips[:-1] if len(dips) > 2 else dips
    return int(dips[losses[dips].argmin()])
