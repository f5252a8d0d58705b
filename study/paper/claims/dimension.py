"""Statements about many factors, from 50 to 1,000."""

from ...runs.experiments import CORRELATIONS, DIMENSIONS
from ...scores.results import Results, at
from ..verdicts import beats
from .claim import Check, Claim, always_exact


def _ranked_well(source: str, correlations: tuple[float, ...]) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        lowest = min(results.mean("FIRST", at(source, rho, p), "tau").value for p in DIMENSIONS for rho in correlations)
        return lowest >= 0.985, f"lowest mean τ {lowest:.3f}"

    return check


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


CLAIMS = (
    Claim(
        "dimension",
        "On Ishigami, FIRST identifies the factors exactly at all p.",
        "every share agrees with 1.00",
        always_exact("ishigami", DIMENSIONS, CORRELATIONS),
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
        always_exact("friedman", DIMENSIONS, CORRELATIONS[:2]),
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
)
