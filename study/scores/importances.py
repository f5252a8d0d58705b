"""Importances held against the truth, against the efficiency bound and against each other."""

import functools

import numpy as np
from scipy.special import ndtr
from scipy.stats import norm

from firstfactor.problems import uniform_factors

from ..data.additive import MODELS
from ..data.arrays import Floats
from ..data.everyday import REMOVALS
from ..data.ordinary import correlated
from ..data.setting import PROBLEMS, Setting
from ..methods.outcome import LEVEL
from .certainty import Quality, ceilings, listed, quality, same_repetitions
from .estimates import Estimate
from .results import Cell
from .truths import Truth, known_ceiling, known_truth, true_ceiling, truth

N_DRAWN = 200_000
"""Rows for what is found by Monte Carlo."""
LEAST_SHARE = 0.01
"""Smaller shares count as nulls."""
WIDTH_OF_BOUND = 2 * norm.ppf((1 + LEVEL) / 2)
"""Width of an interval of an estimator that reaches the bound, in standard errors."""


def true_importances(setting: Setting) -> Floats:
    """Return the true share of each factor."""
    if setting.source in MODELS:
        variance, totals = MODELS[setting.source].truth(setting.n_factors, setting.correlation)
        return totals / variance
    if setting.part in REMOVALS:
        return known_truth(setting)
    if setting.classes:
        indices = np.zeros(setting.n_factors)
        indices[list(setting.true_factors)] = _of_classes(setting.source)["indices"]
        return indices
    return truth(setting)


def best_r2(setting: Setting) -> float:
    """Return the best R² that any model can reach."""
    if setting.source in MODELS:
        return MODELS[setting.source].ceiling
    if setting.part in REMOVALS:
        return known_ceiling(setting)
    return _of_classes(setting.source)["variance"] if setting.classes else true_ceiling(setting)


@functools.cache
def _of_classes(source: str) -> Truth:
    """Return the truth about the probability Φ(f) of a class by Monte Carlo; its variance as a share of that of y.

    A factor drawn anew changes the probability by so much that half the mean square is its total index.
    """
    problem, rng = PROBLEMS[source], np.random.default_rng(0)
    X = uniform_factors(N_DRAWN, problem.n_factors, 0.0, rng)
    chance = ndtr(problem.function(X))
    totals = []
    for factor in problem.true_factors:
        anew = X.copy()
        anew[:, factor] = rng.uniform(size=N_DRAWN)
        totals.append(float(((chance - ndtr(problem.function(anew))) ** 2).mean() / 2))
    variance, mean = float(chance.var()), float(chance.mean())
    return {"indices": [total / variance for total in totals], "variance": variance / (mean * (1 - mean))}


def bounds(setting: Setting) -> Floats:
    """Return the efficiency bound of each share of an additive table: the least standard error, for many rows.

    No regular estimator of Tᵢ/V has an influence function of less variance than (2e(rᵢ − Sᵢg) + rᵢ² − Sᵢg²)/V, where
    g is the function around its mean, rᵢ what the other factors leave of it, e the noise and Sᵢ = Tᵢ/V.
    """
    of_one_row = _bounds_of_one_row(setting.source, setting.n_factors, setting.correlation)
    return np.asarray(of_one_row / np.sqrt(setting.n_rows))


@functools.cache
def _bounds_of_one_row(source: str, n_factors: int, correlation: float) -> Floats:
    model = MODELS[source]
    variance, totals = model.truth(n_factors, correlation)
    X = correlated(N_DRAWN, n_factors, correlation, True, np.random.default_rng(0))
    g, left, shares = model.terms(X).sum(axis=1)[:, None], model.left_without(X, correlation), totals / variance
    of_noise = 4 * model.noise(n_factors, correlation) ** 2 * ((left - shares * g) ** 2).mean(axis=0)
    return np.asarray(np.sqrt(of_noise + (left**2 - shares * g**2).var(axis=0)) / variance)


def bound_error(setting: Setting) -> float:
    """Return the root mean square of the bounds of all factors."""
    return _root_mean_square(bounds(setting))


def share_error(cell: Cell) -> float:
    """Return the root mean square error of the shares of all factors in all repetitions."""
    return _root_mean_square(cell.importances - true_importances(cell.setting))


def error_ratio(cell: Cell, other: Cell) -> float:
    """Return the error of a cell over that of another, on tables that both have seen."""
    ours, theirs = same_repetitions(cell, other)
    true = true_importances(cell.setting)
    return _root_mean_square(cell.importances[ours] - true) / _root_mean_square(other.importances[theirs] - true)


def _root_mean_square(values: Floats) -> float:
    return float(np.sqrt((values**2).mean()))


def share_qualities(cell: Cell) -> list[Quality]:
    """Return how good the share of each factor is, with its interval."""
    true = true_importances(cell.setting)
    errors, lower, upper = (listed(cell, field) for field in ("standard_errors", "lower", "upper"))
    return [
        quality(f"X{j + 1}", true[j], cell.importances[:, j], errors[:, j], lower[:, j], upper[:, j])
        for j in range(cell.setting.n_factors)
    ]


def covered(cell: Cell, what: str) -> Estimate | None:
    """Return how often intervals of shares, of nulls or of the ceiling hold the truth, if there are any.

    Those of one table are taken for independent of each other.
    """
    if what == "ceiling":
        errors = cell.rows["certainty"].struct.field("ceiling_error").to_numpy().astype(float)
        ends = listed(cell, "ceiling_interval", 2).T
        return quality(what, best_r2(cell.setting), ceilings(cell), errors, *ends).covered
    return pooled([one.covered for one in share_qualities(cell) if (one.truth < LEAST_SHARE) == (what == "nulls")])


def pooled(shares: list[Estimate]) -> Estimate | None:
    """Return the share over all repetitions of several, if there are any."""
    n = sum(one.n for one in shares)
    return Estimate(sum(one.value * one.n for one in shares) / n, np.nan, n, share=True) if n else None


def widths(cell: Cell) -> list[float]:
    """Return how wide intervals of shares are, as multiples of those of an estimator that reaches the bound."""
    least = WIDTH_OF_BOUND * bounds(cell.setting)
    found = zip(share_qualities(cell), least, strict=True)
    return [one.mean_width / width for one, width in found if one.truth >= LEAST_SHARE]
