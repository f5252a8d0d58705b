"""ev(u) by local linear fits to several neighbours, extrapolated to neighbours at no distance.

The mean squared error of a local linear fit is too large by what the function bends, which grows with the fourth power
of the distance to the last neighbour. Two numbers of neighbours show how much that is, and it is taken off.
"""

from collections.abc import Sequence

import numpy as np

from .._utils.cache import BoundedCache
from ..neighbors.search import CACHED_SETS, Contributions, Search
from ..neighbors.strategy import Floats
from .local_linear import Errors, LocalLinear

# Numbers of neighbours of the two fits.
PAIR = (12, 24)

# The least ratio of the fourth powers of distances to extrapolate from: with many factors, the neighbours of both fits
# are about equally far, and taking off the difference many times over would only add noise.
LEAST_RATIO = 1.5


class ExtrapolatedSearch:
    """Conditional variances from local linear fits; the interface is that of `Search`."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._recent: BoundedCache[Errors] = BoundedCache(CACHED_SETS)

    def one(self, factors: Sequence[int]) -> float:
        """The variance of y that is left, given the factors."""
        return max(self._search.unit * self._search.mean_over_outer(self.contributions(factors, 1).rows), 0.0)

    def plus_each(self, base: Sequence[int], candidates: Sequence[int]) -> Floats:
        """What is left given ``base`` plus each candidate."""
        return self._each([(*base, i) for i in candidates])

    def minus_each(self, base: Sequence[int], members: Sequence[int | None]) -> Floats:
        """What is left given ``base`` minus each of the members given; None leaves nothing out."""
        return self._each([tuple(i for i in base if i != member) for member in members])

    def _each(self, sets: list[tuple[int, ...]]) -> Floats:
        return np.array(self._search.workers.map(self.one, sets))

    def contributions(self, factors: Sequence[int], step: int) -> Contributions:
        """What every ``step``-th outer row contributes to the variance that is left.

        Rows share neighbours and are neighbours of each other: that adds about 2 σ⁴ Σw² to the variance of a
        contribution, w being the weights of both fits together and σ⁴ a third of the mean fourth power of an error. The
        weights of the wider fit are half of those of the narrower one, on the same rows and as many more. Of several
        outputs, σ⁴ is the trace of the square of their covariance.
        """
        if not factors:
            return self._search.contributions(factors, step)
        errors = self._errors(factors, step)
        near, far = _extrapolate(errors)
        squares, alike = errors.squares / self._search.unit, self._search.likeness
        narrow, wide = errors.squared_weights.mean(axis=1)
        squared_weights = near * near * narrow + (far * far + 2 * near * far) * wide
        share = self._search.outer.size / self._search.design.n_rows
        fourth = alike * np.mean(squares[0] ** 2) / (1 + 2 * alike)
        overlap = 2 * fourth * max(squared_weights, 0.0) * share
        return Contributions(near * squares[0] + far * squares[1], float(overlap))

    def _errors(self, factors: Sequence[int], step: int) -> Errors:
        """The errors at every ``step``-th outer row; standard errors need some of those that estimates need."""
        known = self._recent.get(factors)
        if known is not None:
            return Errors(*(each[:, ::step] for each in known))
        errors = LocalLinear(self._search, factors, PAIR).errors(self._search.y, self._search.outer[::step])
        if step == 1 and self._search.is_small:
            self._recent.put(factors, errors)
        return errors


def _extrapolate(errors: Errors) -> tuple[float, float]:
    """What the squared errors of the narrower and of the wider fit count; together 1."""
    fourth = np.mean(errors.reach**2, axis=1)
    if fourth[1] <= fourth[0]:  # the same neighbours, all at the same place
        return 1.0, 0.0
    ratio = max(float(fourth[1] / max(fourth[0], 1e-300)), LEAST_RATIO)
    return ratio / (ratio - 1), -1 / (ratio - 1)
