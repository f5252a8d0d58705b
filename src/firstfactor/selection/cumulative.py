"""All factors in order of what each adds: forward selection that never ends early."""

import numpy as np

from ..variance.conditional import Variances
from .selection import first_best


def rank_by_gain(variances: Variances) -> tuple[int, ...]:
    """All varying factors, always the one next that explains most together with those before it.

    In noise, what is explained can fall with every factor: the order is by what it is then, not by how much it rises.
    """
    order: tuple[int, ...] = ()
    left = list(variances.design.varying)
    while left:
        best = first_best(-np.asarray(variances.plus_each(order, left)), variances.tolerance)
        order += (left.pop(best),)
    return order
