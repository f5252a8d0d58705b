"""How numbers are written in the terminal, in pictures and on pages."""

import numpy as np
from numpy.typing import NDArray


def format_p(p_value: float) -> str:
    """A p-value with three decimals; nothing if there is none."""
    return "" if np.isnan(p_value) else "<0.001" if p_value < 0.0005 else f"{p_value:.3f}"


def format_importance(value: float) -> str:
    """An importance with three decimals, never a 0 that is none."""
    return "<0.001" if 0 < value < 0.0005 else f"{value:.3f}"


def format_interval(interval: NDArray[np.float64]) -> str:
    """Both ends of an interval with three decimals, in brackets; nothing if there is none."""
    return "" if np.isnan(interval).any() else "({:.3f}–{:.3f})".format(*interval)


def percent(share: float) -> str:
    """A share in percent: no 100 % that is not quite, no 0 % that is some."""
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    decimals = next((d for d in range(4) if 0 < round(100 * share, d) < 100), 4)
    return f"{min(max(100 * share, 0.0001), 99.9999):.{decimals}f} %"
