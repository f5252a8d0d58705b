"""What factors share, all from the same neighbours: what each explains alone, totals, pairs and fair shares.

Its outcome has a value for each of `layout`, one kind after the other, in place of one for each factor.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from firstfactor import cumulative_ranking
from firstfactor.dependence.shapley import fair_shares
from firstfactor.inference.estimates import estimate
from firstfactor.inference.sample_size import diagnose_sample_size
from firstfactor.inference.targets import FactorSet, Target, closed_target, interaction_target, total_target
from firstfactor.settings import Options, VarianceEstimator
from firstfactor.variance.conditional import Variances, open_variances

from .outcome import LEVEL, Certainty, Outcome

ESTIMATOR: VarianceEstimator = "extrapolated"
"""Of the rows of SHARING."""
KINDS = ("alone", "total", "joint", "pair", "fair share")
"""What a set of factors can have: closed index, total index, joint total index, interaction, Shapley effect."""


def layout(n_factors: int) -> dict[str, list[FactorSet]]:
    """Return the sets of factors that have a value of each kind, in the order of the outcome."""
    singles: list[FactorSet] = [(i,) for i in range(n_factors)]
    pairs: list[FactorSet] = list(combinations(range(n_factors), 2))
    return {kind: pairs if kind in ("joint", "pair") else singles for kind in KINDS}


def sharing(X: Any, y: Any, seed: int) -> Outcome:
    """All kinds of shares of all factors and pairs, with standard errors and intervals."""
    return _share(ESTIMATOR, X, y, seed)


def sharing_adaptive(X: Any, y: Any, seed: int) -> Outcome:
    """The same by the adaptive estimator: from one smooth fit in all factors."""
    return _share("adaptive", X, y, seed)


def _share(estimator: VarianceEstimator, X: Any, y: Any, seed: int) -> Outcome:
    with open_variances(X, y, Options(variance_estimator=estimator, random_state=seed)) as variances:
        everything = variances.design.varying
        variances = variances.around(everything)
        size = diagnose_sample_size(variances, everything, variances.of(everything))
        found = [estimate(variances, target, size) for target in _targets(variances, everything)]
        left = variances.of(everything) / variances.response.variance
    lower, upper = np.concatenate([one.interval(LEVEL) for one in found]).T.tolist()
    errors, p_values = (
        np.concatenate([getattr(one, field) for one in found]).tolist() for field in ("standard_errors", "p_values")
    )
    certainty = Certainty(errors, p_values, np.nan, size.distance_share, lower, upper)
    return Outcome(np.concatenate([one.values for one in found]), None, ceiling=1 - left, certainty=certainty)


def _targets(variances: Variances, everything: FactorSet) -> Sequence[Target]:
    """Return what is estimated, in the order of `KINDS`."""
    fair = fair_shares(variances, everything).target  # looks at all sets at once, so that the others find theirs
    sets = layout(len(everything))
    singles, pairs = sets["alone"], sets["pair"]
    return (
        closed_target(everything, singles),
        total_target(everything, [_without(everything, one) for one in singles]),
        total_target(everything, [_without(everything, pair) for pair in pairs]),
        interaction_target(everything, [((i,), (j,)) for i, j in pairs]),
        fair,
    )


def _without(everything: FactorSet, some: FactorSet) -> FactorSet:
    return tuple(i for i in everything if i not in some)


def cumulative(X: Any, y: Any, seed: int) -> Outcome:
    """All factors in order of what each adds: cumulative shares by place, and which factor has which place."""
    found = cumulative_ranking(X, y, random_state=seed)
    return Outcome(found.values, found.order, ceiling=found.r2_ceiling)
