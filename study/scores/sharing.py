"""What factors share, held against closed forms."""

import functools
from collections.abc import Callable
from itertools import combinations
from math import comb

import numpy as np

from ..data.arrays import Floats
from ..data.setting import Setting
from ..data.sharing import MODELS
from ..methods.sharing import KINDS, layout
from .certainty import Quality, listed, quality
from .estimates import Estimate, estimate
from .metrics import importances
from .results import Cell

Explained = Callable[[tuple[int, ...]], float]
"""What a set of factors explains together, in any unit."""

A, B = 7.0, 0.1
"""Of the Ishigami function, sin x₁ + A sin² x₂ + B x₃⁴ sin x₁ on (−π, π)."""
ISHIGAMI = {
    (0,): (1 + B * np.pi**4 / 5) ** 2 / 2,
    (1,): A**2 / 8,
    (0, 2): 8 * B**2 * np.pi**8 / 225,
}
"""The variance of each of its terms, all others of which are 0: factors are independent."""


def explained_by(setting: Setting) -> Explained:
    """Return what sets of factors explain, in closed form."""
    if setting.source in MODELS:
        return MODELS[setting.source].explained
    return lambda factors: sum(variance for term, variance in ISHIGAMI.items() if set(term) <= set(factors))


@functools.cache
def true_shares(setting: Setting) -> dict[str, list[float]]:
    """Return the true value of each kind, for each set of factors that has one."""
    everything = tuple(range(setting.n_factors))
    explained, sets = explained_by(setting), layout(setting.n_factors)
    of_all = explained(everything)

    def closed(factors: tuple[int, ...]) -> float:
        return explained(factors) / of_all

    def total(factors: tuple[int, ...]) -> float:
        return 1 - closed(tuple(i for i in everything if i not in factors))

    formulas: dict[str, Explained] = {
        "alone": closed,
        "total": total,
        "joint": total,
        "pair": lambda pair: total(pair) - sum(total((i,)) for i in pair),
        "fair share": lambda one: _fair_share(one[0], everything, closed),
    }
    return {kind: [formulas[kind](one) for one in sets[kind]] for kind in KINDS}


def _fair_share(factor: int, everything: tuple[int, ...], closed: Explained) -> float:
    """Return what a factor adds to others that came before it, on average over all orders."""
    others, n = [i for i in everything if i != factor], len(everything)
    return sum(
        (closed(tuple(sorted((*before, factor)))) - closed(before)) / (n * comb(n - 1, size))
        for size in range(n)
        for before in combinations(others, size)
    )


def qualities_by_kind(cell: Cell) -> dict[str, list[Quality]]:
    """Return how good the estimates of each kind are."""
    sets, true = layout(cell.setting.n_factors), true_shares(cell.setting)
    length = sum(len(some) for some in sets.values())
    values = importances(cell.setting, cell.rows, length)
    errors, lower, upper = (listed(cell, field, length) for field in ("standard_errors", "lower", "upper"))
    found: dict[str, list[Quality]] = {}
    k = 0
    for kind in KINDS:
        found[kind] = []
        for one, truth in zip(sets[kind], true[kind], strict=True):
            columns = (some[:, k] for some in (values, errors, lower, upper))
            found[kind].append(quality(set_name(one), truth, *columns))
            k += 1
    return found


def set_name(factors: tuple[int, ...]) -> str:
    """Return what some factors are called."""
    return ", ".join(f"X{i + 1}" for i in factors)


def mean_coverage(found: list[Quality]) -> float:
    """Return how often intervals of one kind hold the truth, on average."""
    return float(np.mean([one.covered.value for one in found]))


def sum_of_fair_shares(cell: Cell) -> Floats:
    """Return what the fair shares of all factors add up to, in each repetition."""
    sets = layout(cell.setting.n_factors)
    length, n_shares = sum(len(some) for some in sets.values()), len(sets[KINDS[-1]])
    sums: Floats = importances(cell.setting, cell.rows, length)[:, length - n_shares :].sum(axis=1)
    return sums


def right_order(cell: Cell) -> Estimate:
    """Return how often all factors are put in the order of the table, which is the true one."""
    orders = np.array(cell.rows["selected"].to_list()).reshape(cell.n, cell.setting.n_factors)
    return estimate((orders == np.arange(cell.setting.n_factors)).all(axis=1).astype(float), share=True)


def true_cumulative_shares(setting: Setting) -> list[float]:
    """Return what the first factors explain together, one more each time, as a share of what all explain."""
    explained, n = explained_by(setting), setting.n_factors
    return [explained(tuple(range(k + 1))) / explained(tuple(range(n))) for k in range(n)]
