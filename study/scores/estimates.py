"""Means over repetitions with their standard errors, and medians with quantiles."""

import math
from dataclasses import dataclass

import numpy as np

from ..data.arrays import Floats


@dataclass(frozen=True)
class Estimate:
    """A mean over repetitions."""

    value: float
    deviation: float
    """Standard deviation of a repetition."""
    n: int
    share: bool = False
    """Whether each repetition is a yes or a no."""

    @property
    def standard_error(self) -> float:
        """The Monte Carlo standard error of the mean."""
        return share_error(self.value, self.n) if self.share else self.deviation / math.sqrt(self.n)

    def text(self, decimals: int, sign: bool = False) -> str:
        """Return it as text with its standard error."""
        value = f"{self.value:{'+' if sign else ''}.{decimals}f}".replace("-", "−")
        return f"{value} ± {self.standard_error:.{decimals}f}"

    def __str__(self) -> str:
        return self.text(2)


def estimate(values: Floats, share: bool = False) -> Estimate:
    """Return the mean of some repetitions."""
    deviation = float(values.std(ddof=1)) if len(values) > 1 else math.nan
    return Estimate(float(values.mean()), deviation, len(values), share)


def share_error(share: float, n: int) -> float:
    """Return the standard error of a share with two successes and two failures added."""
    adjusted = (share * n + 2) / (n + 4)
    return math.sqrt(adjusted * (1 - adjusted) / (n + 4))


@dataclass(frozen=True)
class Quantiles:
    """A median with the quantiles of 20 and 80 %."""

    median: float
    low: float
    high: float

    def text(self, decimals: int) -> str:
        """Return them as text: the median first."""
        return f"{self.median:.{decimals}f} ({self.low:.{decimals}f}–{self.high:.{decimals}f})"


def quantiles(values: Floats) -> Quantiles:
    """Return median and quantiles of some repetitions."""
    low, median, high = np.quantile(values, [0.2, 0.5, 0.8]).tolist()
    return Quantiles(median, low, high)
