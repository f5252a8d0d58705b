"""A statement of the paper or a requirement of ours, and what the ways to test them share."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from ...data.setting import Setting
from ...scores.estimates import Estimate
from ...scores.results import Results, at
from ..verdicts import Printed, Verdict, agrees, beats

Check = Callable[[Results], tuple[bool, str]]
"""Tells whether a statement holds, and what was measured."""


@dataclass(frozen=True)
class Claim:
    """Something that the paper says."""

    verdicts: ClassVar[tuple[Verdict, Verdict]] = (Verdict.AGREES, Verdict.DIFFERS)
    """If it holds, and if not."""
    heading: ClassVar[str] = "The paper says"

    experiment: str
    says: str
    means: str
    """The same in numbers."""
    check: Check
    reason: str = ""
    """Why it differs, where that is known."""


@dataclass(frozen=True)
class Requirement(Claim):
    """Something that we require."""

    verdicts = (Verdict.REACHED, Verdict.MISSED)
    heading = "We require"


@dataclass(frozen=True)
class Judged:
    """A statement with what came of it."""

    claim: Claim
    verdict: Verdict
    measured: str


def best_other(results: Results, methods: Iterable[str], setting: Setting, metric: str = "tau") -> tuple[str, Estimate]:
    """Return the method with the highest mean in a setting, and that mean."""
    means = {name: results.mean(name, setting, metric) for name in methods}
    name = max(means, key=lambda name: means[name].value)
    return name, means[name]


def not_beaten(results: Results, methods: Iterable[str], settings: Iterable[Setting], metric: str) -> tuple[bool, str]:
    """Tell whether no method is better than FIRST in any setting by more than two standard errors."""
    methods, worst, texts = tuple(methods), False, []
    for setting in settings:
        ours = results.mean("FIRST", setting, metric)
        name, theirs = best_other(results, methods, setting, metric)
        worst = worst or beats(theirs, ours)
        texts.append(f"ρ = {setting.correlation}: FIRST {ours}, {name} {theirs}")
    return not worst, "; ".join(texts)


def time_ratio(results: Results, method: str, settings: Iterable[Setting], base: str = "FIRST") -> float:
    """Return the median time of a method as a multiple of another's."""
    settings = tuple(settings)
    return results.median_seconds(method, settings) / results.median_seconds(base, settings)


def times(ratio: float) -> str:
    """Return a ratio as text with two digits that count."""
    return f"{ratio:.0f} ×" if ratio >= 9.95 else f"{ratio:.1f} ×"


def time_ratios(results: Results, methods: Iterable[str], settings: Iterable[Setting]) -> dict[str, float]:
    """Return the times of several methods as multiples of the time of FIRST."""
    settings = tuple(settings)
    return {name: time_ratio(results, name, settings) for name in methods}


def ratios_text(ratios: dict[str, float]) -> str:
    """Return times of several methods as text."""
    return ", ".join(f"{name} {times(ratio)}" for name, ratio in ratios.items())


def named(values: dict[str, float]) -> str:
    """Return values of several methods or problems as text."""
    return ", ".join(f"{name} {value:.2f}" for name, value in values.items())


def always_exact(source: str, dimensions: tuple[int, ...], correlations: tuple[float, ...]) -> Check:
    """Return a check that FIRST selects exactly in every run."""

    def check(results: Results) -> tuple[bool, str]:
        shares = [results.mean("FIRST", at(source, rho, p), "exact") for p in dimensions for rho in correlations]
        holds = all(agrees(share, Printed("1.00")) for share in shares)
        return holds, f"lowest share {min(share.value for share in shares):.2f}"

    return check
