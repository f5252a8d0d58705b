"""What is required of the calibrated rule, intervals and p-values is reached or not."""

import dataclasses

import numpy as np
import pytest

from study.data.labels import label
from study.data.setting import Setting
from study.paper import claims
from study.paper.verdicts import Verdict
from study.runs.experiments import COVERAGE, EVERYDAY_NOISE, NULL_FACTORS, PANEL, PURE_NOISE
from study.scores import truths
from study.scores.results import Results, at
from tests.study.rows import estimate, results_of, selection

ISHIGAMI = COVERAGE[0]


def judged(results: Results, says: str) -> claims.Judged:
    (claim,) = [one for one in claims.ALL if says in one.says]
    return claims.judge(claim, results)


class TestRequirements:
    @pytest.mark.parametrize(("n_alarms", "verdict"), [(28, Verdict.REACHED), (29, Verdict.MISSED)])
    def test_alarms_from_noise_may_exceed_alpha_by_two_standard_errors(self, n_alarms: int, verdict: Verdict) -> None:
        rows = [
            selection(PURE_NOISE[1], "CALIBRATED", k, np.eye(10)[0] if k < n_alarms else np.zeros(10))
            for k in range(200)
        ]
        assert judged(results_of(rows), "Noise, N = 1,000, p = 10: ").verdict == verdict

    @pytest.mark.parametrize("setting", EVERYDAY_NOISE, ids=label)
    def test_everyday_noise_is_held_to_the_same_level(self, setting: Setting) -> None:
        for n_alarms, verdict in ((28, Verdict.REACHED), (29, Verdict.MISSED)):
            found = [np.eye(10)[0] if k < n_alarms else np.zeros(10) for k in range(200)]
            rows = [selection(setting, "CALIBRATED", k, one) for k, one in enumerate(found)]
            assert judged(results_of(rows), f"{label(setting)}: something").verdict == verdict

    @pytest.mark.parametrize(
        ("n_outside", "verdict"), [(0, Verdict.MISSED), (5, Verdict.REACHED), (11, Verdict.MISSED)]
    )
    def test_intervals_of_the_ceiling_of_a_panel_must_hold_the_truth(self, n_outside: int, verdict: Verdict) -> None:
        rows = [
            dataclasses.replace(
                estimate(PANEL, k, truths.truth(PANEL), 0.01, np.ones(4)), ceiling=0.65 if k < n_outside else 0.61
            )
            for k in range(100)
        ]
        found = judged(results_of(rows), f"{label(PANEL)}: intervals of the R² ceiling")
        assert found.verdict == verdict and f"{1 - n_outside / 100:.3f} ± " in found.measured

    @pytest.mark.parametrize(("n_exact", "verdict"), [(85, Verdict.REACHED), (84, Verdict.MISSED)])
    def test_a_required_share_must_be_reached_as_it_is(self, n_exact: int, verdict: Verdict) -> None:
        setting = at("friedman", 0.9)
        right, wrong = truths.truth(setting), np.eye(10)[0]
        rows = [
            selection(setting, name, k, right if k < n_exact else wrong)
            for name in ("CALIBRATED", "FIRST")
            for k in range(100)
        ]
        found = judged(results_of(rows), "Friedman, p = 10, ρ = 0.9: exact selection")
        assert found.verdict == verdict and f"{n_exact / 100:.2f} ± 0.04" in found.measured

    @pytest.mark.parametrize(("n_worse", "verdict"), [(5, Verdict.REACHED), (20, Verdict.MISSED)])
    def test_two_classes_must_not_be_clearly_below_the_paper(self, n_worse: int, verdict: Verdict) -> None:
        setting = at("friedman", 0.5, classes=True)
        right, wrong = truths.truth(setting), np.eye(10)[0]
        rows = [selection(setting, "FIRST", k, right) for k in range(100)]
        rows += [selection(setting, "CALIBRATED", k, wrong if k < n_worse else right) for k in range(100)]
        found = judged(results_of(rows), "Friedman, p = 10, ρ = 0.5, two classes: as often exact")
        assert found.verdict == verdict and f"−{n_worse / 100:.2f}" in found.measured

    @pytest.mark.parametrize(
        ("n_outside", "verdict"), [(0, Verdict.MISSED), (10, Verdict.REACHED), (40, Verdict.MISSED)]
    )
    def test_intervals_must_hold_the_truth_neither_too_seldom_nor_too_often(
        self, n_outside: int, verdict: Verdict
    ) -> None:
        true = truths.truth(ISHIGAMI)
        rows = [estimate(ISHIGAMI, k, true + (0.03 if k < n_outside else 0.0), 0.01, np.ones(3)) for k in range(200)]
        results = results_of(rows)
        assert judged(results, f"{label(ISHIGAMI)}: intervals of indices").verdict == verdict
        of_ceiling = judged(results, f"{label(ISHIGAMI)}: intervals of the R² ceiling")
        assert of_ceiling.verdict == Verdict.MISSED and "bias +0.0250" in of_ceiling.measured

    @pytest.mark.parametrize(("n_small", "verdict"), [(16, Verdict.REACHED), (26, Verdict.MISSED)])
    def test_small_p_values_of_one_estimator_are_enough_to_miss(self, n_small: int, verdict: Verdict) -> None:
        setting = NULL_FACTORS[0]
        rows = [
            estimate(setting, k, np.zeros(5), 0.1, np.full(5, 0.01 if k < count else 0.5), method)
            for method, count in (("NEAREST", 0), ("EXTRAPOLATED", n_small))
            for k in range(200)
        ]
        assert judged(results_of(rows), f"{label(setting)}: p-values").verdict == verdict
