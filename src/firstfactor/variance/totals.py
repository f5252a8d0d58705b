"""Total Sobol' indices from conditional variances: nearest-neighbour (NN) and noise-adjusted (NANNE)."""

import numpy as np
from numpy.typing import NDArray

from .conditional import Variances


def single_totals(variances: Variances, factors: tuple[int, ...], noise: bool = True) -> NDArray[np.float64]:
    """Return Ŝᵢ of every factor relative to ``factors`` (Algorithm 1; equation 8 without noise)."""
    without = variances.minus_each(factors)  # also computes the noise variance
    return _share(variances, without, variances.of(factors) if noise else 0.0)


def group_total(variances: Variances, factors: tuple[int, ...], group: tuple[int, ...], noise: bool = True) -> float:
    """Return Ŝ_u of the set ``group`` relative to ``factors``: the same with a set in place of one factor."""
    rest = variances.of([i for i in factors if i not in group])
    return float(_share(variances, np.array([rest]), variances.of(factors) if noise else 0.0)[0])


def _share(variances: Variances, without: NDArray[np.float64], noise: float) -> NDArray[np.float64]:
    """Return max(ev(S∖u) − noise, 0) / max(Var(Y) − noise, 0), or 0 where nothing can be explained."""
    explained = variances.response.variance - noise
    effects = without - noise
    if explained <= variances.tolerance:
        return np.zeros_like(effects)
    return np.where(effects > variances.tolerance, effects, 0.0) / explained
