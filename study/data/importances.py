"""The tables on which importances are held against the truth: additive ones, and those that are harder."""

from itertools import product

from .additive import MODELS
from .functions import NOISE_SHARES, WITHOUT_NOISE, in_noise
from .levels import N_LEVELS
from .setting import Setting

SIZES = (300, 1000, 5000)
DIMENSIONS = (3, 6, 10)
CORRELATIONS = (0.0, 0.5, 0.8)
ADDITIVE = tuple(Setting(source, n, p, rho) for n, source, p, rho in product(SIZES, MODELS, DIMENSIONS, CORRELATIONS))

SMALL_SIZES = (300, 1000)
WIDTHS = {"friedman": 10, "ishigami": 6, "heavy-tailed": 8, "g-function": 6, "xor": 4, "product": 4}
"""How many factors each function has, others included."""
REMOVALS = ("20 % missing at random", "20 % missing by value")
IN_NOISE = tuple(
    Setting(in_noise(name, share), n, WIDTHS[name])
    for name, share, n in product(WITHOUT_NOISE, NOISE_SHARES, SMALL_SIZES)
)
LEVELS = tuple(
    Setting(in_noise(f"levels-{n_levels}", share), n, 4)
    for n_levels, share, n in product(N_LEVELS, NOISE_SHARES, SMALL_SIZES)
)
CLASSES = tuple(
    Setting(name, n, WIDTHS[name], classes=True) for name, n in product(("friedman", "ishigami"), SMALL_SIZES)
)
MISSING = tuple(Setting("friedman", n, WIDTHS["friedman"], part=part) for part, n in product(REMOVALS, SMALL_SIZES))
SMOOTH = tuple(setting for setting in IN_NOISE if setting.n_rows == min(SMALL_SIZES))
"""Those small enough for Gaussian processes."""
HARDER = (*IN_NOISE, *LEVELS, *CLASSES, *MISSING)
