"""What we require of importances: that they are precise, and that intervals hold the truth and are not too wide."""

from collections.abc import Iterable, Sequence

import numpy as np

from ...data.importances import ADDITIVE, CORRELATIONS, HARDER, SIZES, SMOOTH
from ...data.labels import label
from ...data.setting import Setting
from ...runs.experiments import BY_NAME, FEW, LINEAR
from ...scores.estimates import Estimate
from ...scores.importances import LEAST_SHARE, bound_error, covered, error_ratio, pooled, share_error, widths
from ...scores.results import Cell, Results
from ...scores.sharing import qualities_by_kind
from .claim import Check, Requirement

OURS = "ADAPTIVE"
MOST_CELLS = 0.9
PRECISE, NEVER_WORSE = 1.25, 1.6
"""Times the better of the bound and the peers: in most cells, and in all."""
BESIDE = 1.1
"""Times the best of all others, in most cells."""
COVERED, NEVER_BELOW = (0.92, 0.98), 0.88
WIDER = 1.4
"""Times the width that the bound gives, as a median."""
WORDS = {"shares": f"shares of at least {LEAST_SHARE}", "nulls": "smaller shares", "ceiling": "the R² ceiling"}
GROUPS = {
    f"{shape}, N = {n:,}, ρ = {rho}": [
        one for one in ADDITIVE if one.source.startswith(shape.lower()) and (one.n_rows, one.correlation) == (n, rho)
    ]
    for shape in ("Lines", "Curves")
    for n in SIZES
    for rho in CORRELATIONS
}
"""Additive cells that differ only in R² and the number of factors."""


def highest_ratio(results: Results, setting: Setting, at_least: int = FEW) -> float:
    """Return our error over the smallest one of others: of additive tables the bound and the peer, else of all."""
    ours = results.need(OURS, setting, at_least)
    if setting in ADDITIVE:
        peer = results.need("SPLINE-DROP", setting, at_least)
        return max(error_ratio(ours, peer), share_error(ours) / bound_error(setting))
    names = [name for name in BY_NAME["harder-importances"].methods if name != OURS]
    if setting not in SMOOTH:
        names.remove("GP-DROP")
    return max(error_ratio(ours, results.need(name, setting, at_least)) for name in names)


def _precise(settings: Sequence[Setting], most: float, share: float) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        ratios = {one: highest_ratio(results, one) for one in settings}
        within = float(np.mean([value <= most for value in ratios.values()]))
        worst = max(ratios, key=lambda one: ratios[one])
        text = f"{100 * within:.0f} % of {len(ratios)} cells; median {np.median(list(ratios.values())):.2f}"
        return within >= share, f"{text}, highest {ratios[worst]:.2f} ({label(worst)})"

    return check


def in_range(share: Estimate, chance: bool) -> bool:
    """Tell whether intervals hold the truth as often as they should, give or take two standard errors or as it is."""
    low, high = COVERED
    allowance = 2 * share.standard_error if chance else 0.0
    return low - allowance <= round(share.value, 9) <= high + allowance


def _covered(settings: Sequence[Setting], what: str) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        found = {label(one): covered(results.need(OURS, one), what) for one in settings}
        known = {name: share for name, share in found.items() if share is not None}
        return _judge(known, chance=True, from_above=what != "nulls")

    return check


def _covered_in_groups(results: Results) -> tuple[bool, str]:
    found = {}
    for name, settings in GROUPS.items():
        share = pooled([one for at in settings if (one := covered(results.need(OURS, at), "shares")) is not None])
        assert share is not None
        found[name] = share
    return _judge(found, chance=False)


def _judge(found: dict[str, Estimate], chance: bool, from_above: bool = True) -> tuple[bool, str]:
    """Judge shares of intervals that hold the truth, of which too many may be none of our concern."""
    low = COVERED[0]
    as_it_is, allowed = (
        float(np.mean([in_range(one, c) or (not from_above and one.value >= low) for one in found.values()]))
        for c in (False, chance)
    )
    lowest = min(found, key=lambda name: found[name].value)
    least = NEVER_BELOW - (2 * found[lowest].standard_error if chance else 0.0)
    mean = float(np.mean([one.value for one in found.values()]))
    cells = f"{100 * as_it_is:.0f} % of {len(found)} cells as they are"
    cells += f", {100 * allowed:.0f} % give or take chance" if chance else ""
    text = f"mean {mean:.3f}; {cells}; lowest {found[lowest].text(3)} ({lowest})"
    return allowed >= MOST_CELLS and found[lowest].value >= least, text


def _not_too_wide(results: Results) -> tuple[bool, str]:
    of_cells = {one: widths(results.need(OURS, one)) for one in ADDITIVE}
    median = float(np.median(np.concatenate(list(of_cells.values()))))
    texts = [
        f"N = {n:,}: {np.median([width for one, some in of_cells.items() if one.n_rows == n for width in some]):.2f}"
        for n in SIZES
    ]
    return median <= WIDER, f"{median:.2f}; {', '.join(texts)}"


def kind_coverage(cell: Cell, kind: str) -> Estimate:
    """Return how often intervals of one kind of index hold the truth, of those that are not small."""
    share = pooled([one.covered for one in qualities_by_kind(cell)[kind] if one.truth >= LEAST_SHARE])
    assert share is not None
    return share


def _kind_covered(kind: str) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        found = {label(one): kind_coverage(results.need("SHARING-ADAPTIVE", one), kind) for one in LINEAR}
        return _judge(found, chance=True)

    return check


def _intervals(experiment: str, settings: Sequence[Setting]) -> Iterable[Requirement]:
    low, high = COVERED
    for what, words in WORDS.items():
        limits = f"at least {low}" if what == "nulls" else f"from {low} to {high}"
        yield Requirement(
            experiment,
            f"{'Lines and curves' if experiment == 'additive' else 'Harder tables'}: 95 % intervals of {words} hold "
            "the truth.",
            f"{limits} in {100 * MOST_CELLS:.0f} % of the cells, never below {NEVER_BELOW}, both give or take two "
            "standard errors",
            _covered(settings, what),
        )


def _precision(shape: str) -> Iterable[Requirement]:
    settings = [one for one in ADDITIVE if one.source.startswith(shape.lower())]
    for most, share in ((PRECISE, MOST_CELLS), (NEVER_WORSE, 1.0)):
        yield Requirement(
            "additive",
            f"{shape} are nearly as precise as can be, {'nearly everywhere' if share < 1 else 'everywhere'}.",
            f"error at most {most} times the better of the bound and splines in {100 * share:.0f} % of the cells",
            _precise(settings, most, share),
        )


CLAIMS = (
    *_precision("Lines"),
    *_precision("Curves"),
    *_intervals("additive", ADDITIVE),
    Requirement(
        "additive",
        "Lines and curves by N and ρ: 95 % intervals of shares hold the truth.",
        f"over all R² and numbers of factors, from {COVERED[0]} to {COVERED[1]} in {100 * MOST_CELLS:.0f} % of "
        f"{len(GROUPS)} groups, never below {NEVER_BELOW}",
        _covered_in_groups,
    ),
    Requirement(
        "additive",
        "Lines and curves: 95 % intervals are not too wide.",
        f"median over all shares of at least {LEAST_SHARE} at most {WIDER} times the width that the bound gives",
        _not_too_wide,
    ),
    Requirement(
        "harder-importances",
        "Harder tables: nearly as precise as the best of the other estimators and the peers.",
        f"error at most {BESIDE} times that of the best in {100 * MOST_CELLS:.0f} % of the cells",
        _precise(HARDER, BESIDE, MOST_CELLS),
    ),
    *_intervals("harder-importances", HARDER),
    *(
        Requirement(
            "alone-and-joint",
            f"95 % intervals of {words} hold the truth.",
            f"from {COVERED[0]} to {COVERED[1]} in {100 * MOST_CELLS:.0f} % of the models, never below {NEVER_BELOW}, "
            "both give or take two standard errors",
            _kind_covered(kind),
        )
        for kind, words in (
            ("alone", "what factors explain alone"),
            ("total", "what is lost without a factor"),
            ("joint", "what is lost without two factors"),
        )
    ),
)
