"""What we require of the calibrated rule on ordinary tables: what the best test finds there, and no more false ones."""

import math
from collections.abc import Iterable

from ...data.labels import NAMES, label
from ...data.ordinary_settings import (
    CLASSES,
    COUNTS,
    CURVES,
    FIVE_LINES,
    FIVE_OF_2000,
    FIVE_OF_20000,
    LINES,
    MANY_CORRELATED,
    NEAR_COPIES,
    NESTED,
    ORDINAL,
    PRODUCT,
    PRODUCT_OF_THREE,
    SIZES,
    TWENTY_LINES,
    TWENTY_NOISY_LINES,
    XOR,
)
from ...data.setting import Setting
from ...scores.ordinary import pooled_difference, pooled_mean
from ...scores.results import Results
from .claim import Check, Requirement

OURS, FDR, PREDICT = "CALIBRATED-CHOICE", "CALIBRATED-FDR", "CALIBRATED-PREDICT"
FALSE, FALSE_MANY, FALSE_NESTED = 0.12, 0.14, 0.12
BELOW_OLS, BELOW_SPLINE, BELOW_GLM = 0.04, 0.02, 0.06
EXACT_COPIES = 0.75
MOST_SECONDS = 60.0

CURVES_BEFORE = dict(zip(SIZES, (0.213, 0.445, 0.676, 0.911), strict=True))
"""What the rule of version 0.2 found of curves, by number of rows, on the same tables."""
TOGETHER_BEFORE = {PRODUCT: 0.600, PRODUCT_OF_THREE: 0.707, XOR: 0.737}
"""What the rule of version 0.2 found of factors that matter only together, on the same tables."""

GLM = {
    **dict.fromkeys(CLASSES, "LOGISTIC-HOLM"),
    **dict.fromkeys(COUNTS, "POISSON-HOLM"),
    **dict.fromkeys(ORDINAL, "ORDERED-HOLM"),
}
"""Which model each response has."""
WORDS = {
    OURS: "calibrated",
    FDR: "calibrated, FDR",
    "OLS-HOLM": "OLS + Holm",
    "SPLINE-HOLM": "splines + Holm",
    "LASSO-SET": "lasso",
    "KNOCKOFFS": "knockoffs",
    "LOGISTIC-HOLM": "GLM + Holm",
    "POISSON-HOLM": "GLM + Holm",
    "ORDERED-HOLM": "GLM + Holm",
    "PRODUCTS-HOLM": "pairs + Holm",
    "TRIPLES-HOLM": "triples + Holm",
    "BEST-THREE": "best three",
}

MANY_COLUMNS: dict[Setting, tuple[str, float]] = {
    FIVE_LINES: (OURS, 0.70),
    TWENTY_LINES: (FDR, 0.95),
    TWENTY_NOISY_LINES: (FDR, 0.5),
    FIVE_OF_2000: (OURS, 1.0),
    FIVE_OF_20000: (OURS, 0.9),
}
"""How much must be found with more columns than rows, and by which way to control errors."""


def of_size(settings: Iterable[Setting], n_rows: int) -> list[Setting]:
    """Return the settings that have so many rows."""
    return [setting for setting in settings if setting.n_rows == n_rows]


def allowed(share: float, n: int) -> float:
    """Return a share plus two standard errors of such a share in so many runs."""
    return share + 2 * math.sqrt(share * (1 - share) / n)


def _near(settings: list[Setting], other: str, below: float) -> Check:
    """Return a check that not much less is found than by another method."""

    def check(results: Results) -> tuple[bool, str]:
        ours, theirs = ([results.need(name, setting) for setting in settings] for name in (OURS, other))
        difference = pooled_difference(ours, theirs, "found")
        means = f"{pooled_mean(ours, 'found')} against {pooled_mean(theirs, 'found')}"
        return difference.value >= -below, f"{means}: {difference.text(3, sign=True)}"

    return check


def _few_false_in_each(settings: list[Setting]) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        cells = [results.need(OURS, setting) for setting in settings]
        shares = [cell.mean("any false") for cell in cells]
        together = pooled_mean(cells, "any false")
        holds = all(share.value <= allowed(FALSE, share.n) for share in shares) and together.value <= FALSE
        worst = max(range(len(cells)), key=lambda k: shares[k].value)
        above = sum(share.value > FALSE for share in shares)
        at = cells[worst].setting
        highest = f"highest {shares[worst]} (p = {at.n_factors}, ρ = {at.correlation})"
        return holds, f"{highest}, {above} of {len(cells)} above {FALSE}; together {together.text(3)}"

    return check


def _as_good_on_curves(n_rows: int) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        ours, theirs = (
            pooled_mean([results.need(name, setting) for setting in of_size(CURVES, n_rows)], "found")
            for name in (OURS, "SPLINE-HOLM")
        )
        before = CURVES_BEFORE[n_rows]
        text = f"{ours.text(3)}; splines {theirs.text(3)}, version 0.2 {before:.3f}"
        return ours.value >= max(theirs.value, before) - BELOW_SPLINE, text

    return check


def _few_false(setting: Setting, most: float) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        share = results.mean(OURS, setting, "any false")
        theirs = results.mean("OLS-HOLM", setting, "any false")
        return share.value <= most, f"{share.text(3)} in {share.n} runs; OLS + Holm {theirs.text(3)}"

    return check


def _at_least(method: str, setting: Setting, metric: str, least: float) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        mean = results.mean(method, setting, metric)
        return round(mean.value, 9) >= least, f"{mean.text(3)} in {mean.n} runs"

    return check


def _quick(results: Results) -> tuple[bool, str]:
    longest = float(results.need(OURS, FIVE_OF_20000).values("seconds").max())
    return longest <= MOST_SECONDS, f"longest {longest:.1f} s"


def _lines() -> Iterable[Requirement]:
    for n in SIZES:
        settings = of_size(LINES, n)
        yield Requirement(
            "lines",
            f"Lines, N = {n:,}: nearly as much is found as by OLS + Holm.",
            f"mean share of the true factors at most {BELOW_OLS} lower on the same tables",
            _near(settings, "OLS-HOLM", BELOW_OLS),
        )
        yield Requirement(
            "lines",
            f"Lines, N = {n:,}: few tables with a false factor, whatever p and ρ.",
            f"share at most {FALSE} of all tables, and in each of nine settings at most two standard errors of such a "
            "share above",
            _few_false_in_each(settings),
        )


def _curves() -> Iterable[Requirement]:
    for n in SIZES:
        yield Requirement(
            "curves",
            f"Curves, N = {n:,}: as much is found as by splines + Holm, or by the rule of version 0.2.",
            f"mean share of the true factors at most {BELOW_SPLINE} below the better of the two",
            _as_good_on_curves(n),
        )


def _look_alikes() -> Iterable[Requirement]:
    for setting, most in ((MANY_CORRELATED, FALSE_MANY), (NESTED, FALSE_NESTED)):
        yield Requirement(
            "look-alikes",
            f"{label(setting)}: few tables with a false factor.",
            f"share at most {most}",
            _few_false(setting, most),
        )
    for setting in NEAR_COPIES:
        yield Requirement(
            "look-alikes",
            f"{label(setting)}: exact selection.",
            f"share of exact selections at least {EXACT_COPIES}",
            _at_least(OURS, setting, "exact", EXACT_COPIES),
        )


def _responses() -> Iterable[Requirement]:
    for setting, name in GLM.items():
        yield Requirement(
            "responses",
            f"{NAMES[setting.source]}, N = {setting.n_rows:,}: nearly as much is found as by the GLM + Holm.",
            f"mean share of the true factors at most {BELOW_GLM} lower on the same tables",
            _near([setting], name, BELOW_GLM),
        )


def _together() -> Iterable[Requirement]:
    for setting, before in TOGETHER_BEFORE.items():
        yield Requirement(
            "together",
            f"{label(setting)}: as much is found as by the rule of version 0.2.",
            f"mean share of the true factors at least {before:.3f}",
            _at_least(OURS, setting, "found", before),
        )


def _many_columns() -> Iterable[Requirement]:
    for setting, (method, least) in MANY_COLUMNS.items():
        mode = " with the FDR controlled" if method == FDR else ""
        yield Requirement(
            "many-columns",
            f"{label(setting)}: what is there is found{mode}.",
            f"mean share of the true factors at least {least:.2f}",
            _at_least(method, setting, "found", least),
        )
    yield Requirement(
        "many-columns",
        f"{label(FIVE_OF_20000)}: selected in a minute.",
        f"at most {MOST_SECONDS:.0f} s on one thread, in every run",
        _quick,
    )


CLAIMS = (*_lines(), *_curves(), *_look_alikes(), *_responses(), *_together(), *_many_columns())
