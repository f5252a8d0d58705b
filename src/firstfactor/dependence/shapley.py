"""Shapley effects: each factor's fair share of the variance that all of them explain.

The fair share of a factor is its contribution to the factors before it, averaged over all orders of the factors (Owen
2014). Shares add up to 1 whatever the noise, because the residual variance given all factors is the same in every
order.
"""

from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from ..inference.estimates import index_values
from ..inference.sample_size import diagnose_sample_size
from ..inference.standard_errors import error_step, plug_in
from ..inference.targets import FactorSet, Target
from ..inference.totals import relative_to_all
from ..neighbors.strategy import Floats
from ..results.indices import Indices
from ..variance.conditional import Variances
from .constants import MAX_EXACT, MAX_ORDERS, ORDERS_AT_A_TIME, PRECISION


class Shares(NamedTuple):
    """Shapley effects as linear combinations of conditional variances."""

    target: Target
    errors: Floats
    """Monte Carlo error of each share, of shape (factors,); 0 if all subsets were evaluated."""
    n_orders: int | None
    """Number of orders that were sampled; None if all subsets were evaluated."""


def fair_shares(variances: Variances, factors: FactorSet, uncertainty: bool = True) -> Shares:
    """Return the Shapley effects of some factors among themselves, in the order given."""
    if len(factors) <= MAX_EXACT:
        variances.precompute_subsets(factors, error_step(variances) if uncertainty else None)
        return Shares(exact_target(factors), np.zeros(len(factors)), None)
    return _draw_orders(variances, factors)


def estimate_shapley(variances: Variances, uncertainty: bool) -> Indices:
    """Estimate the Shapley effect of every factor, with standard errors if ``uncertainty``."""
    everything, sure = variances.design.varying, None
    variances = variances.around(everything)
    shares = fair_shares(variances, everything, uncertainty)
    size = diagnose_sample_size(variances, everything, variances.of(everything))
    if uncertainty:
        sure = plug_in(variances, shares.target, size)
        sure = sure.add_error(shares.errors)
    values = index_values(variances, shares.target)
    order = [everything[k] for k in np.argsort(-values, kind="stable").tolist()]
    return relative_to_all(variances, "Shapley", values, sure, size, order)


def exact_target(factors: FactorSet) -> Target:
    """Return Shapley effects from all subsets u: ev(u) counts as often as u precedes, or ends with, the factor."""
    whole, n = tuple(sorted(factors)), len(factors)
    sets = [u for size in range(1, n) for u in combinations(whole, size)]
    member = np.array([[i in u for u in sets] for i in factors], dtype=bool).reshape(n, len(sets))
    sizes = np.array([len(u) for u in sets], dtype=np.intp)
    before = np.array([1 / (n * comb(n - 1, size)) for size in range(n)])  # u precedes the factor
    after = np.array([0.0, *before])  # u ends with it
    coefficients = np.where(member, -after[sizes], before[sizes % n])
    ones = np.full(n, 1 / max(n, 1))
    return Target(whole, tuple(sets), coefficients, -ones, ones)


def _draw_orders(variances: Variances, factors: FactorSet) -> Shares:
    """Return Shapley effects from random orders, each with its reverse, until they are precise enough."""
    whole = tuple(sorted(factors))
    explained = variances.response.variance - variances.of(whole)
    most = MAX_ORDERS if explained > variances.tolerance else 2 * ORDERS_AT_A_TIME  # shares of nothing do not converge
    explained = max(explained, variances.tolerance)
    counts: list[dict[FactorSet, float]] = [{} for _ in factors]
    gains: list[Floats] = []
    position = {i: k for k, i in enumerate(factors)}
    errors = np.full(len(factors), np.inf)
    while errors.max() > PRECISION and 2 * len(gains) < most:
        drawn = [variances.rng.permutation(factors).tolist() for _ in range(ORDERS_AT_A_TIME)]
        steps = [list(_steps(order)) + list(_steps(order[::-1])) for order in drawn]
        variances.search.workers.map(variances.of, sorted({u for some in steps for _, u, v in some for u in (u, v)}))
        for some in steps:
            gained = np.zeros(len(factors))
            for i, before, after in some:
                k = position[i]
                gained[k] += (variances.of(before) - variances.of(after)) / (2 * explained)
                counts[k][before] = counts[k].get(before, 0.0) + 0.5
                counts[k][after] = counts[k].get(after, 0.0) - 0.5
            gains.append(gained)
        errors = np.std(gains, axis=0, ddof=1) / np.sqrt(len(gains))
    sums = [{u: times / len(gains) for u, times in each.items()} for each in counts]
    return Shares(Target.make(whole, sums), errors, 2 * len(gains))


def _steps(order: list[int]) -> Iterator[tuple[int, FactorSet, FactorSet]]:
    """Yield each factor of an order with the sorted sets of factors before it, without and with itself."""
    for k, i in enumerate(order):
        yield i, tuple(sorted(order[:k])), tuple(sorted(order[: k + 1]))
