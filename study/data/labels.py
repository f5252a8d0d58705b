"""What a simulated setting is called."""

from .setting import SOURCES, Setting

NAMES = {
    "ishigami": "Ishigami",
    "heavy-tailed": "Heavy-tailed",
    "friedman": "Friedman",
    "noise": "Noise",
    "noise-cauchy": "Cauchy noise",
    "noise-mixed": "Noise, mixed factors",
    "mixed": "Mixed factors",
}


def label(setting: Setting) -> str:
    """Return the setting in a few words: rows if they are not 1,000, factors, correlation and classes."""
    parts = [NAMES[setting.source]]
    if setting.n_rows != 1000 or not setting.true_factors:
        parts.append(f"N = {setting.n_rows:,}")
    parts.append(f"p = {_factors(setting)}")
    if setting.true_factors and setting.source != "mixed":
        parts.append(f"ρ = {setting.correlation}")
    return ", ".join([*parts, "two classes"] if setting.classes else parts)


def _factors(setting: Setting) -> str:
    """Return how many factors there are; of a model and others, both."""
    n_true = len(SOURCES[setting.source].true_factors)
    if (setting.part == "model" or setting.source == "mixed") and setting.n_factors > n_true:
        return f"{n_true} + {setting.n_factors - n_true}"
    return str(setting.n_factors)
