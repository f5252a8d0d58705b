"""Statements about many factors, from 50 to 1,000."""

import numpy as np

from ...runs.experiments import CORRELATIONS, DIMENSIONS
from ...scores.results import Results, at
from ..printed_numbers import FAST
from ..verdicts import Printed, agrees, beats
from .claim import Check, Claim, not_beaten, ratios_text, time_ratio, time_ratios, times
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


def _always_exact(source: str, dimensions: tuple[int, ...], correlations: tuple[float, ...]) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        shares = [results.mean("FIRST", at(source, rho, p), "exact") for p in dimensions for rho in correlations]
        holds = all(agrees(share, Printed("1.00")) for share in shares)
        return holds, f"lowest share {min(share.value for share in shares):.2f}"

    return check


def _ranked_well(source: str, correlations: tuple[float, ...]) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        lowest = min(results.mean("FIRST", at(source, rho, p), "tau").value for p in DIMENSIONS for rho in correlations)
        return lowest >= 0.985, f"lowest mean τ {lowest:.3f}"

    return check


def _crowd_hurts_elimination(results: Results) -> tuple[bool, str]:
    settings = [at(source, rho, 100) for source in ("ishigami", "friedman") for rho in CORRELATIONS]
    shares = {name: results.average(name, settings, "exact") for name in ("FIRST", "NANNE-BE", "NANNE")}
    text = ", ".join(f"{name} {share:.2f}" for name, share in shares.items())
    return shares["FIRST"] > max(shares["NANNE-BE"], shares["NANNE"]), text


def _friedman_harder(results: Results) -> tuple[bool, str]:
    shares = {
        p: (
            results.mean("FIRST", at("friedman", 0.9, p), "exact"),
            results.mean("FIRST", at("friedman", 0.5, p), "exact"),
        )
        for p in DIMENSIONS
    }
    text = ", ".join(f"{strong.value:.2f}" for strong, _ in shares.values())
    return all(beats(weak, strong) for strong, weak in shares.values()), f"p = 50 to 1,000: {text}"


def _no_degrading(results: Results) -> tuple[bool, str]:
    holds, texts = True, []
    for source in ("ishigami", "friedman"):
        for rho in CORRELATIONS:
            few, many = (results.mean("FIRST", at(source, rho, p), "exact") for p in (50, 1000))
            holds = holds and not beats(few, many)
            texts.append(f"{source.capitalize()} ρ = {rho}: {few.value:.2f} → {many.value:.2f}")
    return holds, "; ".join(texts)


def _grows(results: Results) -> tuple[bool, str]:
    medians = {p: results.median_seconds("FIRST", [at("friedman", rho, p) for rho in CORRELATIONS]) for p in DIMENSIONS}
    ordered = list(medians.values())
    text = ", ".join(f"p = {p:,}: {seconds:.2g} s" for p, seconds in medians.items())
    return ordered == sorted(ordered), text


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
        _always_exact("ishigami", (100,), CORRELATIONS),
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
        _crowd_hurts_elimination,
    ),
    Claim(
        "dimension",
        "On Ishigami, FIRST identifies the factors exactly at all p.",
        "every share agrees with 1.00",
        _always_exact("ishigami", DIMENSIONS, CORRELATIONS),
    ),
    Claim(
        "dimension",
        "On Ishigami, FIRST learns the ranking accurately at all p.",
        "mean τ at least 0.985",
        _ranked_well("ishigami", CORRELATIONS),
    ),
    Claim(
        "dimension",
        "The same on Friedman with ρ = 0 and 0.5: exact.",
        "every share agrees with 1.00",
        _always_exact("friedman", DIMENSIONS, CORRELATIONS[:2]),
    ),
    Claim(
        "dimension",
        "The same on Friedman with ρ = 0 and 0.5: accurate ranking.",
        "mean τ at least 0.985",
        _ranked_well("friedman", CORRELATIONS[:2]),
    ),
    Claim(
        "dimension",
        "Friedman with ρ = 0.9 is much harder.",
        "lower share of exact selections than with ρ = 0.5 by more than two standard errors, at every p",
        _friedman_harder,
    ),
    Claim(
        "dimension",
        "FIRST does not become worse with more factors.",
        "no higher share at p = 50 than at p = 1,000 by more than two standard errors",
        _no_degrading,
    ),
    Claim("dimension", "FIRST takes more and more time with more factors.", "median times increase with p", _grows),
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
