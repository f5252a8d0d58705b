"""Statements about two classes."""

import numpy as np

from ...runs.experiments import CORRELATIONS
from ...scores.results import Results, at
from .claim import Claim

METHODS = ("FIRST", "LASSO", "RF-VS", "COSSO", "VIMP-ACC", "KFOCI")
PROBLEMS = ("ishigami", "friedman")


def _exact(results: Results, source: str) -> dict[str, float]:
    settings = [at(source, rho, classes=True) for rho in CORRELATIONS]
    return {name: results.average(name, settings, "exact") for name in METHODS}


def _named(values: dict[str, float]) -> str:
    ordered = sorted(values, key=lambda name: -values[name])
    return ", ".join(f"{name} {values[name]:.2f}" for name in ordered)


def _among_the_best(results: Results) -> tuple[bool, str]:
    shares = {source: _exact(results, source) for source in PROBLEMS}
    ranks = {source: sum(share > of["FIRST"] for share in of.values()) + 1 for source, of in shares.items()}
    text = ", ".join(f"number {rank} of {len(METHODS)} on {source.capitalize()}" for source, rank in ranks.items())
    return max(ranks.values()) <= 2, text


def _behind_cosso_on_ishigami(results: Results) -> tuple[bool, str]:
    shares = _exact(results, "ishigami")
    return 0 < shares["COSSO"] - shares["FIRST"] <= 0.2, _named(shares)


def _behind_rfvs_on_friedman(results: Results) -> tuple[bool, str]:
    shares = _exact(results, "friedman")
    better = {name for name, share in shares.items() if share > shares["FIRST"]}
    return better == {"RF-VS"}, _named(shares)


def _few_false_positives(results: Results) -> tuple[bool, str]:
    rates = [
        results.mean("FIRST", at(source, rho, classes=True), "false positives").value
        for source in PROBLEMS
        for rho in CORRELATIONS
    ]
    return max(rates) <= 0.05, f"highest rate {max(rates):.3f}"


def _misses_on_friedman(results: Results) -> tuple[bool, str]:
    rates = {
        source: results.average("FIRST", [at(source, rho, classes=True) for rho in CORRELATIONS], "true positives")
        for source in PROBLEMS
    }
    text = ", ".join(f"{source.capitalize()} {rate:.2f}" for source, rate in rates.items())
    return rates["friedman"] < min(rates["ishigami"], 0.99), text


def _good_balance(results: Results) -> tuple[bool, str]:
    settings = [at(source, rho, classes=True) for source in PROBLEMS for rho in CORRELATIONS]
    balance = {
        name: float(
            np.subtract(
                results.average(name, settings, "true positives"), results.average(name, settings, "false positives")
            )
        )
        for name in METHODS
    }
    return sorted(balance, key=lambda name: -balance[name]).index("FIRST") <= 1, _named(balance)


def _three_neighbours_are_better(results: Results) -> tuple[bool, str]:
    settings = [at(source, rho, classes=True) for source in PROBLEMS for rho in CORRELATIONS]
    three, two = (results.average(name, settings, "exact") for name in ("FIRST", "FIRST-2"))
    return three > two, f"three neighbours {three:.2f}; two {two:.2f}"


CLAIMS = (
    Claim(
        "classes",
        "FIRST is one of the top methods.",
        "first or second of six in the mean share of exact selections over ρ, on both problems",
        _among_the_best,
    ),
    Claim(
        "classes",
        "On Ishigami, FIRST is marginally less effective than COSSO.",
        "mean share over ρ lower by at most 0.2",
        _behind_cosso_on_ishigami,
    ),
    Claim(
        "classes",
        "On Friedman, only RF-VS outperforms FIRST.",
        "RF-VS, and no other, has a higher mean share over ρ",
        _behind_rfvs_on_friedman,
    ),
    Claim(
        "classes",
        "FIRST has an excellent rate of false positives.",
        "at most 0.05 in every setting",
        _few_false_positives,
    ),
    Claim(
        "classes",
        "On Friedman, FIRST misses some factors of the model.",
        "mean rate of true positives below 0.99, and below that on Ishigami",
        _misses_on_friedman,
    ),
    Claim(
        "classes",
        "FIRST balances true and false positives well.",
        "first or second of six in the difference of the two rates, over both problems and all ρ",
        _good_balance,
    ),
    Claim(
        "classes",
        "Three neighbours are more robust than two for two classes.",
        "higher mean share of exact selections over both problems and all ρ",
        _three_neighbours_are_better,
    ),
)
