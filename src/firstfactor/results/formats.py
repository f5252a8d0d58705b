"""Formats of numbers in the terminal, in plots and on pages."""

import numpy as np
from numpy.typing import NDArray

EIGHTHS = " ▏▎▍▌▋▊▉█"

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_p(p_value: float) -> str:
    """Format a p-value with three decimals; empty for NaN."""
    return "" if np.isnan(p_value) else "<0.001" if p_value < 0.0005 else f"{p_value:.3f}"


def say_p(p_value: float) -> str:
    """Return a p-value in a sentence, such as ``p = 0.030`` or ``p < 0.001``."""
    text = format_p(p_value)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def format_importance(value: float) -> str:
    """Format an importance with three decimals; a small positive value is not shown as 0."""
    return "<0.001" if 0 < value < 0.0005 else f"{value:.3f}"


def format_interval(interval: NDArray[np.float64] | tuple[float, float]) -> str:
    """Format an interval in parentheses, with enough decimals to distinguish its limits; empty if there is none."""
    if np.isnan(interval).any():
        return ""
    for decimals in (3, 4, 5):
        low, high = (f"{end:.{decimals}f}" for end in interval)
        if low != high:
            return f"({low}–{high})"
    return ""


def format_number(value: float) -> str:
    """Format a number of the data with four significant digits: 18,820 and 0.00123, but 1.2 × 10⁻⁹ and 1998."""
    if value == 0 or not np.isfinite(value):
        return f"{abs(value) if value == 0 else value:g}".replace("-", "−")
    exponent = int(np.floor(np.log10(abs(value))))
    if not -5 <= exponent < 15:
        mantissa, power = f"{value:.3e}".split("e")
        return f"{float(mantissa):g} × 10{str(int(power)).translate(SUPERSCRIPTS)}".replace("-", "−")
    whole, _, decimals = f"{float(f'{value:.4g}'):.{max(3 - exponent, 0)}f}".partition(".")
    if len(whole.lstrip("-")) > 4:  # a year has no separator
        whole = f"{int(whole):,}"
    return f"{whole}.{decimals}".rstrip("0").rstrip(".").replace("-", "−") if decimals else whole.replace("-", "−")


def percent(share: float, least_decimals: int = 0) -> str:
    """Format a share in percent; only exact shares of 0 and 1 are shown as 0 % and 100 %."""
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    decimals = next((d for d in range(least_decimals, 4) if 0 < round(100 * share, d) < 100), 4)
    return f"{min(max(100 * share, 0.0001), 99.9999):.{decimals}f} %"


def percents(*shares: float) -> list[str]:
    """Format shares in percent, with enough decimals to distinguish those that differ."""
    texts: list[str] = []
    for decimals in range(4):
        texts = [percent(share, decimals) for share in shares]
        if len(set(texts)) == len(set(shares)):
            break
    return texts


def unbroken(text: str) -> str:
    """Replace the space before each percent sign by a non-breaking space."""
    return text.replace(" %", "\u00a0%")


def draw_bar(share: float | None, pale: float, width: int, in_ascii: bool = False) -> str:
    """Return a solid bar for a share of the width, never empty if there is one, then a pale bar up to ``pale``."""
    if share is None:
        solid = ""
    elif in_ascii:
        solid = "#" * max(round(share * width), 1)
    else:
        whole, eighths = divmod(max(round(share * width * 8), 1), 8)
        solid = "█" * whole + EIGHTHS[eighths].strip()
    return solid + ("." if in_ascii else "░") * (round(pale * width) - len(solid))
