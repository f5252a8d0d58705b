"""The tables that show how good the calibrated rule is: what it must not find, and what it must."""

from .real_tables import TABLES
from .setting import Setting

CORRELATIONS = (0.0, 0.5, 0.9)

HARD_NOISE = (
    Setting("noise-rare-class", 1000, 10),
    Setting("noise-zeros", 1000, 10),
    Setting("noise-counts", 1000, 10),
    Setting("noise", 1000, 10, 0.95),
    Setting("noise-100-levels", 1000, 10),
    Setting("noise", 60, 10),
    Setting("noise", 300, 300),
    *(Setting("noise-skewed", n, 10) for n in (300, 1000)),
)
IN_TIME = Setting("noise-in-time", 1000, 10)

WITH_TRUE_FACTORS = ("friedman", "ishigami", "heavy-tailed", "sines")
SIZES = ((500, 20), (500, 100), (5000, 20))
FALSE_FACTORS = tuple(
    Setting(source, *size, rho) for source in WITH_TRUE_FACTORS for rho in CORRELATIONS for size in SIZES
)
NEXT_STEP = tuple(Setting(source, 1000, 20, rho, part="given") for source in WITH_TRUE_FACTORS for rho in (0.0, 0.5))

SMALL_EFFECTS = tuple(
    Setting(source, n, 20) for source in ("small-effect", "small-effect-in-noise") for n in (5000, 20_000, 100_000)
)
TEN_TERMS = tuple(Setting("ten-terms", n, 30) for n in (500, 1000, 5000))
SINES, NOISY_SINES = (
    tuple(Setting(source, 500, 20, rho) for rho in CORRELATIONS) for source in ("sines", "noisy-sines")
)
G_FUNCTION, BOREHOLE, NOISY_BOREHOLE = (
    Setting(source, 1000, 20) for source in ("g-function", "borehole", "noisy-borehole")
)
MORRIS = tuple(Setting("morris", n, 20) for n in (1000, 5000))
OTHER_FUNCTIONS = (*TEN_TERMS, *SINES, *NOISY_SINES, G_FUNCTION, BOREHOLE, NOISY_BOREHOLE, *MORRIS)
INTERACTIONS = tuple(
    Setting(source, 1000, 20) for source in ("xor", "product", "product-of-three", "parity", "mains-and-xor")
)
CLASSES = Setting("friedman", 1000, 10, 0.9, classes=True)
RARE_CLASS, AMOUNTS = (Setting(source, 1000, 20) for source in ("rare-class", "amounts"))

INTERVALS = tuple(
    setting
    for n in (1000, 5000)
    for setting in (
        Setting("g-function", n, 4),
        Setting("friedman", n, 5, part="model"),
        Setting("ishigami", n, 3, part="model"),
    )
)
SHUFFLED, FOLDS = (
    tuple(
        Setting(name, table.n_rows, table.n_factors, classes=table.true_class is not None, part=part)
        for name, table in TABLES.items()
    )
    for part in ("shuffled", "fold")
)
"""The paper's ten real tables."""
