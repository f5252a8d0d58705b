"""Targets of estimation: sums of conditional variances of factor sets, as shares of the explained variance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..neighbors.strategy import Floats
from ..variance.conditional import Variances

FactorSet = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Target:
    """Indices (Σ c_u ev(u)) / (Var(Y) − ev(S)), with S the set of all factors; one for each row of coefficients."""

    factors: FactorSet
    """Set S of all factors."""
    sets: tuple[FactorSet, ...]
    """Sets u other than S and the empty set, whose ev is Var(Y)."""
    coefficients: Floats
    """Coefficients of ev(u), (indices, sets)."""
    times_whole: Floats
    """Coefficient of ev(S) in each index, (indices,)."""
    times_total: Floats
    """Coefficient of Var(Y) in each index, (indices,)."""
    noise: bool = True
    """True if ev(S) is noise, False if it is only an effect of the distance between neighbours."""

    @classmethod
    def make(cls, factors: FactorSet, sums: Sequence[Mapping[FactorSet, float]], noise: bool = True) -> "Target":
        """Return the target whose indices are given by the coefficients of sorted sets."""
        whole = tuple(sorted(factors))
        sets = tuple(dict.fromkeys(u for counts in sums for u in counts if u not in ((), whole)))
        column = {u: number for number, u in enumerate(sets)}
        coefficients = np.zeros((len(sums), len(sets)))
        for row, counts in enumerate(sums):
            for u, times in counts.items():
                if u in column:
                    coefficients[row, column[u]] = times
        times_whole, times_total = (np.array([counts.get(u, 0.0) for counts in sums], dtype=float) for u in (whole, ()))
        if not whole:  # S is the empty set
            times_whole = np.zeros(len(sums))
        return cls(whole, sets, coefficients, times_whole, times_total, noise)

    def left(self, variances: Variances) -> float:
        """Return the share of Var(Y) that all factors leave unexplained."""
        return variances.of(self.factors) / variances.response.variance if self.noise else 0.0

    def effects(self, variances: Variances) -> Floats:
        """Return the sums of conditional variances, (indices,), in units of Var(Y)."""
        of_sets = np.array([variances.of(u) for u in self.sets]) / variances.response.variance
        return self.coefficients @ of_sets + self.times_whole * self.left(variances) + self.times_total


def total_target(factors: FactorSet, rests: Sequence[FactorSet], noise: bool = True) -> Target:
    """Return the total indices of all factors beyond smaller sets: (ev(rest) − ev(S)) / (Var(Y) − ev(S))."""
    whole = tuple(sorted(factors))
    sums = [_sum_up(((tuple(sorted(rest)), 1.0), *([(whole, -1.0)] if noise else []))) for rest in rests]
    return Target.make(whole, sums, noise)


def closed_target(factors: FactorSet, sets: Sequence[FactorSet]) -> Target:
    """Return the closed indices of sets: (Var(Y) − ev(u)) / (Var(Y) − ev(S)), the share that they explain alone."""
    return Target.make(factors, [_sum_up((((), 1.0), (tuple(sorted(u)), -1.0))) for u in sets])


def interaction_target(factors: FactorSet, pairs: Sequence[tuple[FactorSet, FactorSet]]) -> Target:
    """Return the joint total indices of two sets minus the total index of each."""

    def without(*some: FactorSet) -> FactorSet:
        return tuple(sorted(set(factors).difference(*some)))

    whole = tuple(sorted(factors))
    sums = [_sum_up(((without(a, b), 1.0), (without(a), -1.0), (without(b), -1.0), (whole, 1.0))) for a, b in pairs]
    return Target.make(whole, sums)


def _sum_up(terms: Sequence[tuple[FactorSet, float]]) -> dict[FactorSet, float]:
    """Add up the coefficients of equal sets."""
    sums: dict[FactorSet, float] = {}
    for u, times in terms:
        sums[u] = sums.get(u, 0.0) + times
    return sums
