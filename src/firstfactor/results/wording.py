"""How sure a result is, in figures and sentences that the terminal, pictures and pages share."""

import numpy as np
from numpy.typing import NDArray

from .._utils.text import printable
from .indices import WEAK, Indices

# How often the intervals that are shown hold the truth.
LEVEL = 0.95

# A ceiling that is too low by less than this share of Var(Y) is not worth a word.
LEAST_BIAS = 0.01


def intervals(indices: Indices) -> NDArray[np.float64]:
    """The interval of each importance, (factors, 2); not a number where there is none.

    The importance of a factor that stands alone is 1 by definition: that has no interval either.
    """
    if indices.uncertainty is None:
        return np.full((indices.values.size, 2), np.nan)
    return np.where(indices.standard_errors[:, None] > 0, indices.interval(LEVEL), np.nan)


def r2_range(indices: Indices) -> tuple[float, float] | None:
    """The interval of the ceiling, or None where there is none to speak of."""
    sure = indices.uncertainty
    if sure is None or not sure.r2 > 0 or not indices.selected.size:
        return None
    return indices.r2_interval(LEVEL)


def measure(indices: Indices) -> str:
    """What of the response is explained: the variance of numbers, or what plays its part for several classes."""
    return "Gini impurity" if len(indices.classes) > 2 else "variance"


def say_missing(indices: Indices, most: int = 8) -> str:
    """The sentence on how many values are missing in which factor; nothing if none are."""
    worst = sorted((i for i, count in enumerate(indices.missing) if count), key=lambda i: -indices.missing[i])
    if not worst:
        return ""
    named = ", ".join(f"{printable(indices.names[i])} {indices.missing[i]:,}" for i in worst[:most])
    more = f" and {len(worst) - most:,} more factors" if len(worst) > most else ""
    return f"Missing values: {named}{more}. A missing value counts as a level of its own; no row was left out for it."


def is_calibrated(indices: Indices) -> bool:
    """Tell whether factors were selected by evidence."""
    return indices.path is not None and indices.path.is_calibrated


def format_ceiling(indices: Indices) -> str:
    """The ceiling with two decimals and its interval."""
    ends = "–".join(f"{end:.2f}" for end in r2_range(indices) or ())
    return f"{indices.r2_ceiling:.2f}" + (f" ({ends})" if ends else "")


def say_no_shares(indices: Indices) -> str:
    """The sentence that too little is explained to have shares of; nothing if there is enough."""
    if indices.has_shares or indices.uncertainty is None or not indices.selected.size:
        return ""
    return (
        "The ceiling may be 0. Importances are shares of what is explained, so their size is unknown; only their order "
        "is an estimate."
    )


def say_disagreement(indices: Indices) -> str:
    """The sentence on why an interval reaches 0 though p is small, or does not though p is large; or nothing."""
    if indices.uncertainty is None or not indices.has_shares:
        return ""
    low = indices.interval(LEVEL)[:, 0]
    small = indices.p_values <= WEAK
    if not (indices.support & ~np.isnan(low) & ((low > 0) != small)).any():
        return ""
    if is_calibrated(indices) and indices.path is not None and not indices.path.rows_apart:
        how = "the ranks of the response" if indices.task == "regression" else "the rows the factors were selected on"
        return (
            f"p and the interval answer different questions and can disagree. p, from {how}, says whether a factor "
            "adds anything; the interval says how large its share of the variance is."
        )
    return (
        "p and the interval answer different questions and can disagree. p says whether a factor adds anything; the "
        "interval says how large its share is, which is less certain."
    )


def say_rows_judged(indices: Indices) -> str:
    """The sentence on how many rows the factors were selected on, if on fewer than there were; or nothing."""
    path = indices.path
    if path is None or path.n_rows >= (path.rows_apart or indices.n_rows):
        return ""
    return f"Factors were selected on {path.n_rows:,} rows, drawn at random."


def say_bias(indices: Indices, way_out: str) -> str:
    """The sentence that far neighbours lower the ceiling; nothing if by little, or too few rows explain it."""
    bias = min(indices.sample_size.distance_bias, 1 - indices.r2_ceiling)  # it cannot be more than seems to be noise
    if bias <= LEAST_BIAS or indices.sample_size.supported is not None:
        return ""
    points = f"{100 * bias:.0f} point{'' if round(100 * bias) == 1 else 's'}"
    return f"The true ceiling is probably higher, by {points} or more: neighbours are too far apart. {way_out}"
