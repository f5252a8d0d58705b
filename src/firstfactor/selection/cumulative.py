"""Ranking of all factors by what each adds: forward selection without a stopping rule."""

import numpy as np

from ..variance.conditional import Variances
from .selection import first_best


def rank_by_gain(variances: Variances) -> tuple[int, ...]:
    """Order all varying factors; each explains most together with those before it.

    With noise, the explained variance can fall with every factor: the order depends on its value, not on its gain.
    """
    order: tuple[int, ...] = ()
    left = list(variances.design.varying)
    while left:
        best = first_best(-np.asarray(variances.plus_each(order, left)), variances.tolerance)
        order += (left.pop(best),)
    return order
