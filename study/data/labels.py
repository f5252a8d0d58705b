"""What a setting is called."""

from .additive import MODELS
from .everyday import CHANGES, PANELS, ROWS_PER_PERSON
from .functions import NOISE_SHARES, WITHOUT_NOISE, in_noise
from .levels import N_LEVELS
from .real_tables import TABLES
from .setting import PROBLEMS, SOURCES, Setting

NAMES = {
    "ishigami": "Ishigami",
    "heavy-tailed": "Heavy-tailed",
    "friedman": "Friedman",
    "noise": "Noise",
    "noise-cauchy": "Cauchy noise",
    "noise-mixed": "Noise, mixed factors",
    "mixed": "Mixed factors",
    "noise-3-classes": "Noise, 3 classes",
    "noise-10-classes": "Noise, 10 classes",
    "noise-3-outputs": "Noise, 3 outputs",
    "noise-panel": "Panel of noise",
    "panel": "Panel",
    "noise-rare-class": "Noise, class of 3 %",
    "noise-zeros": "Noise, 95 % zeros",
    "noise-counts": "Noise, counts",
    "noise-100-levels": "Noise, 100 levels",
    "noise-skewed": "Skewed noise",
    "noise-in-time": "Noise in time order",
    "rare-class": "Class of 3 %",
    "amounts": "Amounts and zeros",
    "small-effect": "0.3 % effect",
    "small-effect-in-noise": "1 % in half noise",
    "sines": "Five sines",
    "noisy-sines": "Noisy sines",
    "ten-terms": "Ten terms",
    "g-function": "g-function",
    "borehole": "Borehole",
    "noisy-borehole": "Noisy borehole",
    "morris": "Morris",
    "xor": "XOR",
    "product": "x₁x₂",
    "product-of-three": "x₁x₂x₃",
    "parity": "Parity of three",
    "mains-and-xor": "Two mains and XOR",
    "stand-in": "The paper's example",
    "equal-correlations": "Equal correlations",
    "random-correlations": "Random correlations",
    "three-two-one": "3x₁ + 2x₂ + x₃",
    "three-two-one-noisy": "3x₁ + 2x₂ + x₃ in half noise",
    "linear": "Lines",
    "curved": "Curves",
    "class-10": "Class of 10 %",
    "class-30": "Class of 30 %",
    "class-50": "Class of 50 %",
    "poisson": "Counts",
    "ordinal": "Five ordered levels",
    "many-correlated": "Lines",
    "nested": "Continent of country",
    "near-copies": "Near-copies",
    "suppressors": "Suppressors",
    "weak-product": "x₁x₂ of 10 %",
    "weak-product-of-three": "x₁x₂x₃ of 25 %",
    "weak-xor": "XOR of 6 %",
    "five-lines": "5 lines of 70 %",
    "twenty-lines": "20 lines of 95 %",
    "twenty-noisy-lines": "20 lines of 70 %",
    **{name: f"{'Curves' if model.curved else 'Lines'}, R² = {model.ceiling}" for name, model in MODELS.items()},
    **{f"levels-{n}": f"{n} levels" for n in N_LEVELS},
}
NAMES |= {
    in_noise(name, share): f"{NAMES[name]}, {100 * share:.0f} % noise"
    for name in (*WITHOUT_NOISE, *(f"levels-{n}" for n in N_LEVELS))
    for share in NOISE_SHARES
}


def label(setting: Setting) -> str:
    """Return the setting in a few words: rows if they are not 1,000, factors, correlation, classes, what is changed.

    Real tables have nothing but a title.
    """
    if setting.source in TABLES:
        return TABLES[setting.source].title
    parts = [NAMES[setting.source]]
    if setting.source in PANELS:
        parts.append(panel_size(setting))
    elif setting.n_rows != 1000 or not setting.true_factors:
        parts.append(f"N = {setting.n_rows:,}")
    parts.append(f"p = {_factors(setting)}")
    if setting.source in PROBLEMS or setting.correlation:
        parts.append(f"ρ = {setting.correlation}")
    parts += ["two classes"] if setting.classes else []
    parts += [setting.part.removesuffix(" at random")] if setting.part in CHANGES else []
    return ", ".join(parts)


def panel_size(setting: Setting) -> str:
    """Return how many persons there are, and how many rows of each."""
    return f"{setting.n_rows // ROWS_PER_PERSON} × {ROWS_PER_PERSON} rows"


def _factors(setting: Setting) -> str:
    """Return how many factors there are; of a model and others, both."""
    n_true = len(SOURCES[setting.source].true_factors)
    if (setting.part == "model" or setting.source in ("mixed", "panel")) and setting.n_factors > n_true:
        return f"{n_true} + {setting.n_factors - n_true}"
    return f"{setting.n_factors:,}"
