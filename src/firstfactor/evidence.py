"""How sure a result is, in figures and sentences that the terminal, pictures and pages share."""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .indices import Indices

# How often the intervals that are shown hold the truth.
LEVEL = 0.95

# A ceiling that is too low by less than this share of Var(Y) is not worth a word.
LEAST_BIAS = 0.01


def margins(indices: Indices) -> NDArray[np.float64]:
    """Return half the width of the interval of each importance; not a number where there is none.

    The importance of a factor that stands alone is 1 by definition: that has no interval either.
    """
    if indices.uncertainty is None:
        return np.full(indices.values.size, np.nan)
    errors = indices.standard_errors
    return np.where(errors > 0, NormalDist().inv_cdf((1 + LEVEL) / 2) * errors, np.nan)


def format_margin(margin: float) -> str:
    """Return a margin with three decimals, rounded up where it would vanish; nothing if there is none."""
    return "" if math.isnan(margin) else f"± {max(margin, 0.001):.3f}"


def r2_range(indices: Indices) -> tuple[float, float] | None:
    """Return the interval of the ceiling, or None where there is none to speak of."""
    sure = indices.uncertainty
    if sure is None or not sure.r2 > 0 or not indices.selected.size:
        return None
    return indices.r2_interval(LEVEL)


def is_calibrated(indices: Indices) -> bool:
    """Tell whether factors were selected by evidence."""
    return indices.path is not None and any(step.p_value is not None for step in indices.path.steps)


def format_ceiling(indices: Indices) -> str:
    """Return the ceiling with two decimals and its interval; an estimate below 0 means that nothing is explained."""
    ends = "–".join(f"{end:.2f}" for end in r2_range(indices) or ())
    return f"{max(indices.r2_ceiling, 0.0):.2f}" + (f" ({ends})" if ends else "")


def say_too_few_rows(indices: Indices) -> str:
    """Return the sentence that the rows are too few for so many factors; nothing if they are enough."""
    supported = indices.crowding.supported
    if supported is None:
        return ""
    # A selection measures distances in what it selected, the others in all factors that vary.
    factors = len(indices.kinds) - indices.kinds.count("constant") if indices.path is None else indices.selected.size
    share = f"{100 * indices.crowding.distance_share:.0f} %"
    return (
        f"{indices.n_rows:,} rows are too few for {factors:,} factors at a time: the nearest neighbour of a row is "
        f"{share} as far away (squared) as any row, so that much of what seems to be noise is distance. They are "
        f"enough for about {supported:,}."
    )


def say_bias(indices: Indices, way_out: str) -> str:
    """Return the sentence that far neighbours lower the ceiling; nothing if by little, or too few rows explain it."""
    bias = min(indices.crowding.distance_bias, 1 - indices.r2_ceiling)  # it cannot be more than seems to be noise
    if bias <= LEAST_BIAS or indices.crowding.supported is not None:
        return ""
    points = f"{100 * bias:.0f} point{'' if round(100 * bias) == 1 else 's'}"
    return f"The ceiling is too low by {points} or more, as neighbours are not near enough; {way_out}."
