"""Tables with categories of few and of many levels, beside numbers, whose shares are known."""

from typing import Any

import numpy as np
import pandas as pd

from firstfactor.problems import uniform_factors

from .arrays import Floats
from .functions import NOISE_SHARES, in_noise
from .noise import Factors, Response, Source
from .ordinary import standardised

N_LEVELS = (3, 30)
SHARES = (0.3, 0.4, 0.5)
"""True total indices of x₁, x₂ and x₃."""


def _factors(n_levels: int) -> Factors:
    """Return what draws numbers, and two categories in the end."""

    def draw(n_rows: int, n_factors: int, correlation: float, rng: np.random.Generator) -> pd.DataFrame:
        columns: list[Any] = list(uniform_factors(n_rows, n_factors - 2, correlation, rng).T)
        names = [f"level {k}" for k in range(n_levels)]
        columns += [pd.Categorical.from_codes(rng.integers(n_levels, size=n_rows), names) for _ in range(2)]
        return pd.DataFrame({f"x{j + 1}": column for j, column in enumerate(columns)})

    return draw


def _response(n_levels: int, noise_share: float) -> Response:
    """Return a sine of x₁, a line of x₂, a mean for each level of x₃, and a slope of x₂ for each: x₄ does nothing.

    They have 0.3, 0.2, 0.3 and 0.2 of the variance, which is 1 without noise.
    """
    means, slopes = (standardised(np.cos(step * np.arange(n_levels))) for step in (2.4, 1.1))
    noise = np.sqrt(noise_share / (1 - noise_share))

    def respond(X: pd.DataFrame, rng: np.random.Generator) -> Floats:
        level = X["x3"].cat.codes.to_numpy()
        wave = np.sqrt(2) * np.sin(2 * np.pi * X["x1"].to_numpy())
        line = np.sqrt(12) * (X["x2"].to_numpy() - 0.5)
        mean = np.sqrt(0.3) * (wave + means[level]) + np.sqrt(0.2) * line * (1 + slopes[level])
        return np.asarray(mean + noise * rng.normal(size=len(X)))

    return respond


SOURCES = {
    in_noise(f"levels-{n_levels}", share): Source(_factors(n_levels), _response(n_levels, share), (0, 1, 2))
    for n_levels in N_LEVELS
    for share in NOISE_SHARES
}
