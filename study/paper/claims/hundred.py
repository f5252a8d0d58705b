"""Statements about a hundred factors."""

from ...runs.experiments import CORRELATIONS
from ...scores.results import Results, at
from .claim import Check, Claim, always_exact, not_beaten, ratios_text, time_ratios
from .selection import KEY_COMPETITORS

RANKERS = ("LASSO", "FILTER", "RF", "RF-SHAP", "RF-VS", "COSSO")
SELECTORS = ("LASSO", "RF-VS", "COSSO", "KFOCI")


def _top(source: str, metric: str, methods: tuple[str, ...]) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        return not_beaten(results, methods, (at(source, rho, 100) for rho in CORRELATIONS), metric)

    return check


def _quicker(source: str, methods: tuple[str, ...], least: float) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        ratios = time_ratios(results, methods, (at(source, rho, 100) for rho in CORRELATIONS))
        return min(ratios.values()) >= least, ratios_text(ratios)

    return check


def _many_factors_hurt_elimination(results: Results) -> tuple[bool, str]:
    settings = [at(source, rho, 100) for source in ("ishigami", "friedman") for rho in CORRELATIONS]
    shares = {name: results.average(name, settings, "exact") for name in ("FIRST", "NANNE-BE", "NANNE")}
    text = ", ".join(f"{name} {share:.2f}" for name, share in shares.items())
    return shares["FIRST"] > max(shares["NANNE-BE"], shares["NANNE"]), text


CLAIMS = (
    Claim(
        "hundred",
        "FIRST ranks better than the others on Friedman.",
        "no higher mean τ by more than two standard errors at any ρ",
        _top("friedman", "tau", RANKERS),
    ),
    Claim(
        "hundred",
        "FIRST selects better than the others on Friedman.",
        "no higher share of exact selections by more than two standard errors at any ρ",
        _top("friedman", "exact", SELECTORS),
    ),
    Claim(
        "hundred",
        "FIRST is faster than COSSO, RF-VS and KFOCI by orders of magnitude.",
        "each takes at least 100 times as long (medians, Friedman)",
        _quicker("friedman", KEY_COMPETITORS, 100),
        "The competitors are other software than the paper's.",
    ),
    Claim(
        "hundred",
        "FIRST ranks better than the others on Ishigami.",
        "no higher mean τ by more than two standard errors at any ρ",
        _top("ishigami", "tau", RANKERS),
    ),
    Claim(
        "hundred",
        "FIRST selects the factors of Ishigami exactly in every run, at all correlations.",
        "the share agrees with 1.00",
        always_exact("ishigami", (100,), CORRELATIONS),
    ),
    Claim(
        "hundred",
        "On Ishigami, FIRST takes a fraction of the time of RF-VS and KFOCI.",
        "each takes at least twice as long (medians)",
        _quicker("ishigami", ("RF-VS", "KFOCI"), 2),
    ),
    Claim(
        "hundred",
        "Many factors that do not matter make NANNE and NANNE-BE unreliable, hence the forward selection.",
        "lower mean share of exact selections than FIRST over both problems and all ρ",
        _many_factors_hurt_elimination,
    ),
)
