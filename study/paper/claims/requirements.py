"""What we require of the calibrated rule, of intervals and of p-values, also of everyday data."""

import math
from collections.abc import Iterable

from ...data.labels import label
from ...data.setting import Setting
from ...methods.ours import ALPHA
from ...runs.experiments import (
    COVERAGE,
    COVERAGE_LARGE,
    ESTIMATORS,
    EVERYDAY_NOISE,
    MOST,
    NULL_FACTORS,
    PANEL,
    PURE_NOISE,
)
from ...scores.certainty import Quality, paired_difference, qualities, small_p_values
from ...scores.results import Results, at
from .claim import Check, Requirement

EXACT = {
    at("friedman", 0.0): 0.98,
    at("friedman", 0.5): 0.98,
    at("friedman", 0.9): 0.85,
    at("friedman", 0.9, 100): 0.75,
    at("heavy-tailed", 0.0): 0.85,
    at("heavy-tailed", 0.5): 0.90,
    at("heavy-tailed", 0.9): 0.60,
    at("ishigami", 0.0): 0.98,
    at("ishigami", 0.0, 100): 0.98,
}
"""The share of exact selections that the calibrated rule must reach."""

CLASSES = tuple(at(source, rho, classes=True) for source in ("ishigami", "friedman") for rho in (0.0, 0.5, 0.9))
FALSE_POSITIVES = 0.01
COVERED = (0.90, 0.98)
SMALL_P_VALUES = 0.06
BIAS = (
    "Intervals also allow for what was taken off for bias, as if it could as well have been nothing or twice as much: "
    "where the correction is about right, they are wider than they need to be."
)


def allowed_alarms(n: int) -> float:
    """Return alpha plus two standard errors of such a share in so many runs."""
    return ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / n)


def _few_alarms(setting: Setting) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        share = results.mean("CALIBRATED", setting, "any selected")
        return share.value <= allowed_alarms(share.n), share.text(3)

    return check


def _exact_at_least(setting: Setting, least: float) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        share = results.mean("CALIBRATED", setting, "exact")
        return share.value >= least, f"{share}; the paper's rule {results.mean('FIRST', setting, 'exact')}"

    return check


def _not_below_the_paper(setting: Setting) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        ours, theirs = (results.need(name, setting) for name in ("CALIBRATED", "FIRST"))
        difference = paired_difference(ours, theirs, "exact")
        text = f"{ours.mean('exact')} against {theirs.mean('exact')}: {difference.text(2, sign=True)}"
        return difference.value >= -2 * difference.standard_error, text

    return check


def _few_false_positives(results: Results) -> tuple[bool, str]:
    rates = {setting: results.mean("CALIBRATED", setting, "false positives") for setting in CLASSES}
    worst = max(rates, key=lambda setting: rates[setting].value)
    return rates[worst].value <= FALSE_POSITIVES, f"highest: {rates[worst].text(3)}, {label(worst)}"


def _indices_covered(setting: Setting) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        found = qualities(results.need("EXTRAPOLATED", setting))[:-1]
        mean = sum(one.covered.value for one in found) / len(found)
        low, high = (choose(found, key=lambda one: one.covered.value) for choose in (min, max))
        text = f"mean {mean:.3f}; lowest {_covered(low)}, highest {_covered(high)}"
        return is_covered(mean) and all(_nearly_covered(one) for one in found), text

    return check


def _covered(one: Quality) -> str:
    return f"{one.name} {one.covered.text(3)} (bias {one.bias.text(4, sign=True)})"


def is_covered(share: float) -> bool:
    """Whether a share of intervals that hold the truth is as wanted; rounding does not decide."""
    low, high = COVERED
    return low <= round(share, 9) <= high


def _nearly_covered(one: Quality) -> bool:
    low, high = (bound + sign * 2 * one.covered.standard_error for bound, sign in zip(COVERED, (-1, 1), strict=True))
    return low <= one.covered.value <= high


def _ceiling_covered(setting: Setting) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        ceiling = qualities(results.need("EXTRAPOLATED", setting))[-1]
        text = f"{ceiling.covered.text(3)}; bias {ceiling.bias.text(4, sign=True)}"
        return is_covered(ceiling.covered.value), f"{text}, standard deviation {ceiling.deviation:.4f}"

    return check


def _p_values_not_too_small(setting: Setting) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        shares = {name: small_p_values(results.need(name, setting)) for name in ESTIMATORS}
        holds = all(share.value <= SMALL_P_VALUES + 2 * share.standard_error for share in shares.values())
        return holds, ", ".join(f"{name.lower()} {share.text(3)}" for name, share in shares.items())

    return check


def few_alarms_in(experiment: str, settings: Iterable[Setting]) -> Iterable[Requirement]:
    """Yield what is required in settings of pure noise."""
    for setting in settings:
        yield Requirement(
            experiment,
            f"{label(setting)}: something is selected in no more than a tenth of the runs.",
            f"share at most {allowed_alarms(MOST):.3f}: alpha and two standard errors of such a share in {MOST} runs",
            _few_alarms(setting),
        )


def _calibrated() -> Iterable[Requirement]:
    for setting, least in EXACT.items():
        yield Requirement(
            "calibrated",
            f"{label(setting)}: exact selection.",
            f"share at least {least:.2f}",
            _exact_at_least(setting, least),
        )
    for setting in CLASSES:
        yield Requirement(
            "calibrated",
            f"{label(setting)}: as often exact as the paper's rule.",
            "share not below by more than two standard errors of the difference on the same tables",
            _not_below_the_paper(setting),
        )
    yield Requirement(
        "calibrated",
        "Two classes: few false positives.",
        f"mean rate at most {FALSE_POSITIVES} in each of the six settings",
        _few_false_positives,
    )


def _coverage() -> Iterable[Requirement]:
    low, high = COVERED
    for setting in (*COVERAGE, *COVERAGE_LARGE):
        yield Requirement(
            "coverage",
            f"{label(setting)}: intervals of indices hold the truth.",
            f"mean over factors from {low:.2f} to {high:.2f}, none outside by more than two standard errors",
            _indices_covered(setting),
            BIAS,
        )
        yield _ceiling("coverage", setting, BIAS)


def _ceiling(experiment: str, setting: Setting, reason: str = "") -> Requirement:
    return Requirement(
        experiment,
        f"{label(setting)}: intervals of the R² ceiling hold the truth.",
        f"share from {COVERED[0]:.2f} to {COVERED[1]:.2f}",
        _ceiling_covered(setting),
        reason,
    )


def _p_values() -> Iterable[Requirement]:
    for setting in NULL_FACTORS:
        yield Requirement(
            "null-p-values",
            f"{label(setting)}: p-values of factors that add nothing are not too small.",
            f"at most {SMALL_P_VALUES} of them up to 0.05, within two standard errors, with both estimators",
            _p_values_not_too_small(setting),
        )


CLAIMS = (
    *few_alarms_in("noise", PURE_NOISE),
    *_calibrated(),
    *_coverage(),
    *_p_values(),
    *few_alarms_in("everyday-noise", EVERYDAY_NOISE),
    _ceiling("panel-ceiling", PANEL, BIAS),
)
