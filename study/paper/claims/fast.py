"""Statements about FIRST-FAST."""

import numpy as np

from ...runs.experiments import CORRELATIONS, DIMENSIONS
from ...scores.results import Results, at
from ..printed_numbers import FAST
from .claim import Claim, time_ratio, times


def _fast_saves_time(results: Results) -> tuple[bool, str]:
    ratios = [
        time_ratio(results, "FIRST", (at("friedman", rho, p),), base="FIRST-FAST")
        for p in DIMENSIONS
        for rho in CORRELATIONS
    ]
    text = f"{times(float(np.median(ratios)))} (from {times(min(ratios))} to {times(max(ratios))})"
    return bool(np.median(ratios) > 3), text


def _fast_misses(results: Results) -> tuple[bool, str]:
    rates = [
        [results.mean(name, at("friedman", rho, p), "true positives").value for name in ("FIRST", "FIRST-FAST")]
        for p in DIMENSIONS
        for rho in CORRELATIONS
    ]
    first, fast = np.array(rates).T
    text = f"FIRST {first.min():.2f} to {first.max():.2f}, FIRST-FAST {fast.min():.2f} to {fast.max():.2f}"
    return bool((fast < first).all()), text


def _paper_ratio() -> str:
    ratios = [
        FAST["FIRST", p, rho][3].value / FAST["FIRST-FAST", p, rho][3].value for p in DIMENSIONS for rho in CORRELATIONS
    ]
    return times(float(np.median(ratios)))


CLAIMS = (
    Claim(
        "fast",
        "FIRST-FAST cuts the time of FIRST to less than a third.",
        f"median over the settings of the ratio of median times above 3 (the paper's printed times: {_paper_ratio()})",
        _fast_saves_time,
        "Here one search serves all candidates of a step, so that leaving some out saves less.",
    ),
    Claim(
        "fast",
        "FIRST-FAST is more likely to leave out factors of the model.",
        "lower rate of true positives in every setting",
        _fast_misses,
    ),
)
