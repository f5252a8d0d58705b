"""What the study shows of standard errors, intervals, p-values and the calibrated rule."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from study.data.arrays import Floats
from study.data.labels import label
from study.data.setting import Setting
from study.methods.outcome import Certainty
from study.pages.certainty_page import CERTAINTY_PAGE, make_certainty_page, write_certainty_page
from study.pages.sections import make_section
from study.paper import claims
from study.paper.verdicts import Verdict
from study.runs.experiments import CERTAINTY, COVERAGE, NULL_FACTORS, PURE_NOISE
from study.runs.store import RESULTS, Row, Store, Task
from study.scores import certainty, truths
from study.scores.estimates import Estimate
from study.scores.results import Cell, Results, at

ISHIGAMI = COVERAGE[0]


def selection(setting: Setting, method: str, repetition: int, importances: Floats, ceiling: float = 0.0) -> Row:
    factors = np.flatnonzero(importances).tolist()
    task = Task(setting, method, repetition)
    return Row(task, factors, importances[factors].tolist(), factors, None, None, 0.1, ceiling)


def estimate(
    setting: Setting, repetition: int, values: Floats, error: float, p_values: Floats, method: str = "EXTRAPOLATED"
) -> Row:
    """A row whose indices and ceiling have the same standard error."""
    certain = Certainty([error] * len(values), p_values.tolist(), error, 0.05)
    ceiling = truths.true_ceiling(setting) + 2.5 * error
    factors = np.flatnonzero(values).tolist()
    task = Task(setting, method, repetition)
    return Row(task, factors, values[factors].tolist(), None, None, None, 0.1, ceiling, certain)


def store(folder: Path, rows: list[Row]) -> Results:
    for method in {row.task.method for row in rows}:
        with Store(method, folder).appending() as file:
            for row in rows:
                if row.task.method == method:
                    file.append(row)
    return Results.load(folder)


def judged(results: Results, says: str) -> claims.Judged:
    (claim,) = [one for one in claims.ALL if says in one.says]
    return claims.judge(claim, results)


class TestMeasures:
    def off_by(self, folder: Path, deviations: list[float]) -> Cell:
        """Estimates of the Ishigami indices that are so many standard errors of 0.01 off."""
        true = truths.truth(ISHIGAMI)
        rows = [
            estimate(ISHIGAMI, k, true + 0.01 * deviation, 0.01, np.ones(3)) for k, deviation in enumerate(deviations)
        ]
        return store(folder, rows).find("EXTRAPOLATED", ISHIGAMI)

    def test_bias_deviation_and_coverage_are_those_of_the_estimates(self, tmp_path: Path) -> None:
        deviations = [-2.1, -1.9, 0.0, 1.0]
        *indices, ceiling = certainty.qualities(self.off_by(tmp_path, deviations))
        assert [one.name for one in indices] == ["X1", "X2", "X3"] and ceiling.name == "ceiling"
        for one in indices:
            assert one.bias.value == pytest.approx(0.01 * np.mean(deviations), abs=1e-6)
            assert one.deviation == pytest.approx(0.01 * np.std(deviations, ddof=1), abs=1e-6)
            assert one.mean_error == pytest.approx(0.01, abs=1e-6)
            assert one.covered.value == 0.75  # 2.1 standard errors are too many
        assert ceiling.covered.value == 0 and ceiling.bias.value == pytest.approx(0.025, abs=1e-6)

    def test_names_of_factors_are_those_of_the_paper(self, tmp_path: Path) -> None:
        setting = COVERAGE[1]
        rows = [estimate(setting, k, truths.truth(setting), 0.01, np.ones(5)) for k in range(2)]
        found = certainty.qualities(store(tmp_path, rows).find("EXTRAPOLATED", setting))
        assert [one.name for one in found] == ["X1", "X7", "X8", "X9", "X10", "ceiling"]

    def test_only_factors_that_add_nothing_count_as_false_alarms(self, tmp_path: Path) -> None:
        setting = NULL_FACTORS[0]
        p_values = [[0, 0, 0, 0.04, 0.06], [0, 0, 0, 0.01, 0.02], [0, 0, 0, 0.5, 0.9]]
        rows = [estimate(setting, k, np.zeros(5), 0.1, np.array(one)) for k, one in enumerate(p_values)]
        share = certainty.small_p_values(store(tmp_path, rows).find("EXTRAPOLATED", setting))
        assert share.value == pytest.approx(0.5)
        assert share.standard_error == pytest.approx(0.5 / math.sqrt(3))

    def test_no_false_alarm_is_not_taken_for_certainty(self, tmp_path: Path) -> None:
        setting = NULL_FACTORS[0]
        rows = [estimate(setting, k, np.zeros(5), 0.1, np.ones(5)) for k in range(100)]
        share = certainty.small_p_values(store(tmp_path, rows).find("EXTRAPOLATED", setting))
        assert share.value == 0 and 0.01 < share.standard_error < 0.02

    def test_optimism_counts_tables_where_all_true_factors_were_found(self, tmp_path: Path) -> None:
        setting = Setting("ishigami", 300, 6)
        true = truths.truth(setting)
        without_x3 = np.where(np.arange(6) == 2, 0.0, true)
        found = [without_x3 + np.array([0.1, 0.3, 0, 0, 0, 0]), true + np.array([0.1, 0, 0, 0.04, 0.02, 0])]
        ceilings = [truths.true_ceiling(setting) - 0.1, truths.true_ceiling(setting)]
        rows = [selection(setting, "FIRST", k, *one) for k, one in enumerate(zip(found, ceilings, strict=True))]
        cell = store(tmp_path, rows).find("FIRST", setting)
        assert certainty.all_found(cell).tolist() == [False, True]
        assert certainty.overestimation(cell).value == pytest.approx(0.1 / 3, rel=1e-5)
        assert certainty.given_to_others(cell).value == pytest.approx(0.03)
        assert certainty.ceiling_error(cell).value == pytest.approx(-0.05)

    def test_differences_are_between_answers_on_the_same_table(self, tmp_path: Path) -> None:
        setting = at("ishigami", 0.0)
        true = truths.truth(setting)
        right, wrong = true, np.eye(6)[0]
        ours = [selection(setting, "CALIBRATED", k, one) for k, one in ((1, right), (2, right), (3, wrong))]
        theirs = [selection(setting, "FIRST", k, one) for k, one in ((2, wrong), (3, wrong), (4, right))]
        results = store(tmp_path, [*ours, *theirs])
        difference = certainty.paired_difference(
            results.find("CALIBRATED", setting), results.find("FIRST", setting), "exact"
        )
        assert difference.value == 0.5 and difference.n == 2
        assert difference.deviation == pytest.approx(np.std([1, 0, 1, -1], ddof=1))

    def test_no_difference_is_not_taken_for_certainty(self, tmp_path: Path) -> None:
        setting = at("ishigami", 0.0)
        rows = [
            selection(setting, name, k, truths.truth(setting)) for name in ("CALIBRATED", "FIRST") for k in range(100)
        ]
        results = store(tmp_path, rows)
        cells = [results.find(name, setting) for name in ("CALIBRATED", "FIRST")]
        assert 0.005 < certainty.paired_difference(*cells, "exact").standard_error < 0.02


class TestRequirements:
    @pytest.mark.parametrize(("n_alarms", "verdict"), [(28, Verdict.REACHED), (29, Verdict.MISSED)])
    def test_alarms_from_noise_may_exceed_alpha_by_two_standard_errors(
        self, tmp_path: Path, n_alarms: int, verdict: Verdict
    ) -> None:
        rows = [
            selection(PURE_NOISE[1], "CALIBRATED", k, np.eye(10)[0] if k < n_alarms else np.zeros(10))
            for k in range(200)
        ]
        assert judged(store(tmp_path, rows), "Noise, N = 1,000, p = 10: ").verdict == verdict

    @pytest.mark.parametrize(("n_exact", "verdict"), [(85, Verdict.REACHED), (84, Verdict.MISSED)])
    def test_a_required_share_must_be_reached_as_it_is(self, tmp_path: Path, n_exact: int, verdict: Verdict) -> None:
        setting = at("friedman", 0.9)
        right, wrong = truths.truth(setting), np.eye(10)[0]
        rows = [
            selection(setting, name, k, right if k < n_exact else wrong)
            for name in ("CALIBRATED", "FIRST")
            for k in range(100)
        ]
        found = judged(store(tmp_path, rows), "Friedman, p = 10, ρ = 0.9: exact selection")
        assert found.verdict == verdict and f"{n_exact / 100:.2f} ± 0.04" in found.measured

    @pytest.mark.parametrize(("n_worse", "verdict"), [(5, Verdict.REACHED), (20, Verdict.MISSED)])
    def test_two_classes_must_not_be_clearly_below_the_paper(
        self, tmp_path: Path, n_worse: int, verdict: Verdict
    ) -> None:
        setting = at("friedman", 0.5, classes=True)
        right, wrong = truths.truth(setting), np.eye(10)[0]
        rows = [selection(setting, "FIRST", k, right) for k in range(100)]
        rows += [selection(setting, "CALIBRATED", k, wrong if k < n_worse else right) for k in range(100)]
        found = judged(store(tmp_path, rows), "Friedman, p = 10, ρ = 0.5, two classes: as often exact")
        assert found.verdict == verdict and f"−{n_worse / 100:.2f}" in found.measured

    @pytest.mark.parametrize(
        ("n_outside", "verdict"), [(0, Verdict.MISSED), (10, Verdict.REACHED), (40, Verdict.MISSED)]
    )
    def test_intervals_must_hold_the_truth_neither_too_seldom_nor_too_often(
        self, tmp_path: Path, n_outside: int, verdict: Verdict
    ) -> None:
        true = truths.truth(ISHIGAMI)
        rows = [estimate(ISHIGAMI, k, true + (0.03 if k < n_outside else 0.0), 0.01, np.ones(3)) for k in range(200)]
        results = store(tmp_path, rows)
        assert judged(results, f"{label(ISHIGAMI)}: intervals of indices").verdict == verdict
        of_ceiling = judged(results, f"{label(ISHIGAMI)}: intervals of the R² ceiling")
        assert of_ceiling.verdict == Verdict.MISSED and "bias +0.0250" in of_ceiling.measured

    @pytest.mark.parametrize(("n_small", "verdict"), [(16, Verdict.REACHED), (26, Verdict.MISSED)])
    def test_small_p_values_of_one_estimator_are_enough_to_miss(
        self, tmp_path: Path, n_small: int, verdict: Verdict
    ) -> None:
        setting = NULL_FACTORS[0]
        rows = [
            estimate(setting, k, np.zeros(5), 0.1, np.full(5, 0.01 if k < count else 0.5), method)
            for method, count in (("NEAREST", 0), ("EXTRAPOLATED", n_small))
            for k in range(200)
        ]
        assert judged(store(tmp_path, rows), f"{label(setting)}: p-values").verdict == verdict


class TestLabels:
    @pytest.mark.parametrize(
        ("setting", "text"),
        [
            (at("friedman", 0.9, 100), "Friedman, p = 100, ρ = 0.9"),
            (Setting("friedman", 10_000, 5, 0.8, part="model"), "Friedman, N = 10,000, p = 5, ρ = 0.8"),
            (Setting("ishigami", 1000, 5, 0.0, True, "model"), "Ishigami, p = 3 + 2, ρ = 0.0, two classes"),
            (Setting("noise", 200, 10), "Noise, N = 200, p = 10"),
            (Setting("mixed", 1000, 6), "Mixed factors, p = 3 + 3"),
        ],
    )
    def test_a_label_says_what_is_not_the_same_everywhere(self, setting: Setting, text: str) -> None:
        assert label(setting) == text

    def test_estimates_can_show_their_sign_and_more_digits(self) -> None:
        assert Estimate(-0.01234, 0.1, 100).text(3, sign=True) == "−0.012 ± 0.010"
        assert Estimate(0.01234, 0.1, 100).text(4, sign=True) == "+0.0123 ± 0.0100"


class TestPage:
    def test_the_page_lists_what_is_not_reached_with_what_was_measured(self, tmp_path: Path) -> None:
        rows = [selection(PURE_NOISE[1], "CALIBRATED", k, np.eye(10)[0], 0.1) for k in range(200)]
        store(tmp_path, rows)
        write_certainty_page(tmp_path / "certainty.md", tmp_path)
        text = (tmp_path / "certainty.md").read_text()
        assert re.search(r"^- Noise, N = 1,000, p = 10: .* Measured: 1.000 ± 0.007\.$", text, re.M)
        assert re.search(r"^\| \*\*all\*\* \| \*\*0\*\* \| \*\*1\*\* \|", text, re.M)
        assert "**not reached**" in text and "The paper says" not in text

    @pytest.mark.skipif(not CERTAINTY_PAGE.exists() or not RESULTS.exists(), reason="the page has not been made yet")
    def test_the_page_in_the_repository_is_what_the_stored_rows_give(self) -> None:
        results = Results.load()
        assert CERTAINTY_PAGE.read_text() == make_certainty_page([make_section(one.name, results) for one in CERTAINTY])
