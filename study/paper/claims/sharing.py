"""What we require of shares: that they are right where factors share information."""

from collections.abc import Iterable

import numpy as np

from ...data.labels import label
from ...data.setting import Setting
from ...methods.sharing import KINDS
from ...runs.experiments import IN_ORDER, LINEAR, LINEAR_LARGE, SHARING_ISHIGAMI
from ...scores.results import Results
from ...scores.sharing import (
    mean_coverage,
    qualities_by_kind,
    right_order,
    sum_of_fair_shares,
    true_cumulative_shares,
)
from .claim import Check, Requirement
from .requirements import BIAS, COVERED, is_covered

WORDS = {
    "alone": "what each factor explains alone",
    "total": "what is lost without each factor",
    "joint": "what is lost without each pair",
    "pair": "what each pair shares or does together",
    "fair share": "the fair share of each factor",
}
ROUNDING = 1e-5
"""Seven digits of a result are kept."""
ALL_RIGHT = 0.95
OFF = 0.02
"""How far the mean of cumulative shares may be from the truth."""


def _covered(setting: Setting, kind: str) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        found = qualities_by_kind(results.need("SHARING", setting))[kind]
        mean = mean_coverage(found)
        low, high = (choose(found, key=lambda one: one.covered.value) for choose in (min, max))
        texts = [f"{one.name} {one.covered.text(3)} (bias {one.bias.text(4, sign=True)})" for one in (low, high)]
        return is_covered(mean), f"mean {mean:.3f}; lowest {texts[0]}, highest {texts[1]}"

    return check


def _sums_to_one(setting: Setting) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        off = float(np.abs(sum_of_fair_shares(results.need("SHARING", setting)) - 1).max())
        return off <= ROUNDING, f"at most {off:.0e} off"

    return check


def _in_order(setting: Setting) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        share = right_order(results.need("CUMULATIVE", setting))
        return share.value >= ALL_RIGHT, f"{share} of {share.n} runs"

    return check


def _close(setting: Setting) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        means = results.need("CUMULATIVE", setting).importances.mean(axis=0)
        true = true_cumulative_shares(setting)
        text = ", ".join(f"{value:.3f}" for value in means)
        return bool((np.abs(means - true) <= OFF).all()), f"{text} beside {', '.join(f'{one:.3f}' for one in true)}"

    return check


def _sharing() -> Iterable[Requirement]:
    low, high = COVERED
    for setting in (*LINEAR, *LINEAR_LARGE, SHARING_ISHIGAMI):
        for kind in KINDS:
            yield Requirement(
                "sharing",
                f"{label(setting)}: intervals of {WORDS[kind]} hold the truth.",
                f"mean over all of them from {low:.2f} to {high:.2f}",
                _covered(setting, kind),
                BIAS,
            )
        yield Requirement(
            "sharing",
            f"{label(setting)}: fair shares add up to 1.",
            "in every run, but for the digits that are stored",
            _sums_to_one(setting),
        )


def _cumulative() -> Iterable[Requirement]:
    for setting in IN_ORDER:
        yield Requirement(
            "cumulative",
            f"{label(setting)}: the order is x₁, x₂, x₃.",
            f"share of runs at least {ALL_RIGHT}",
            _in_order(setting),
        )
        yield Requirement(
            "cumulative",
            f"{label(setting)}: cumulative shares are right.",
            f"means at most {OFF} from the truth",
            _close(setting),
        )


CLAIMS = (*_sharing(), *_cumulative())
