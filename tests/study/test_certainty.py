"""How good standard errors, intervals and p-values are, from stored rows."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import norm

from study.data.setting import Setting
from study.runs.experiments import COVERAGE, NULL_FACTORS
from study.runs.store import Task
from study.scores import certainty, truths
from study.scores.results import Cell, at
from tests.study.rows import estimate, results_of, selection

ISHIGAMI = COVERAGE[0]


class TestMeasures:
    def off_by(self, deviations: list[float]) -> Cell:
        """Estimates of the Ishigami indices that are so many standard errors of 0.01 off."""
        true = truths.truth(ISHIGAMI)
        rows = [
            estimate(ISHIGAMI, k, true + 0.01 * deviation, 0.01, np.ones(3)) for k, deviation in enumerate(deviations)
        ]
        return results_of(rows).find("EXTRAPOLATED", ISHIGAMI)

    def test_bias_deviation_and_coverage_are_those_of_the_estimates(self) -> None:
        deviations = [-2.1, -1.9, 0.0, 1.0]
        *indices, ceiling = certainty.qualities(self.off_by(deviations))
        assert [one.name for one in indices] == ["X1", "X2", "X3"] and ceiling.name == "ceiling"
        for one in indices:
            assert one.bias.value == pytest.approx(0.01 * np.mean(deviations), abs=1e-6)
            assert one.deviation == pytest.approx(0.01 * np.std(deviations, ddof=1), abs=1e-6)
            assert one.mean_error == pytest.approx(0.01, abs=1e-6)
            assert one.covered.value == 0.75  # 2.1 standard errors are too many
        assert ceiling.covered.value == 0 and ceiling.bias.value == pytest.approx(0.025, abs=1e-6)

    def test_stored_intervals_count_instead_of_standard_errors(self) -> None:
        true, ceiling = truths.truth(ISHIGAMI), truths.true_ceiling(ISHIGAMI)
        before = estimate(ISHIGAMI, 0, true + 0.03, 0.01, np.ones(3))
        ends = (list(true - 0.01), list(true + 0.05), [ceiling - 0.01, ceiling + 0.03])
        sure = dataclasses.replace(before.certainty, lower=ends[0], upper=ends[1], ceiling_interval=ends[2])
        after = dataclasses.replace(before, task=Task(ISHIGAMI, "EXTRAPOLATED", 1), certainty=sure)
        *indices, of_ceiling = certainty.qualities(results_of([before, after]).find("EXTRAPOLATED", ISHIGAMI))
        assert all(one.covered.value == 0.5 for one in (*indices, of_ceiling))
        width = 2 * norm.ppf(0.975) * 0.01
        assert [one.mean_width for one in indices] == pytest.approx([(0.06 + width) / 2] * 3, abs=1e-6)
        assert of_ceiling.mean_width == pytest.approx((0.04 + width) / 2, abs=1e-6)

    def test_names_of_factors_are_those_of_the_paper(self) -> None:
        setting = COVERAGE[1]
        rows = [estimate(setting, k, truths.truth(setting), 0.01, np.ones(5)) for k in range(2)]
        found = certainty.qualities(results_of(rows).find("EXTRAPOLATED", setting))
        assert [one.name for one in found] == ["X1", "X7", "X8", "X9", "X10", "ceiling"]

    def test_only_factors_that_add_nothing_count_as_false_alarms(self) -> None:
        setting = NULL_FACTORS[0]
        p_values = [[0, 0, 0, 0.04, 0.06], [0, 0, 0, 0.01, 0.02], [0, 0, 0, 0.5, 0.9]]
        rows = [estimate(setting, k, np.zeros(5), 0.1, np.array(one)) for k, one in enumerate(p_values)]
        share = certainty.small_p_values(results_of(rows).find("EXTRAPOLATED", setting))
        assert share.value == pytest.approx(0.5)
        assert share.standard_error == pytest.approx(0.5 / math.sqrt(3))

    def test_no_false_alarm_is_not_taken_for_certainty(self) -> None:
        setting = NULL_FACTORS[0]
        rows = [estimate(setting, k, np.zeros(5), 0.1, np.ones(5)) for k in range(100)]
        share = certainty.small_p_values(results_of(rows).find("EXTRAPOLATED", setting))
        assert share.value == 0 and 0.01 < share.standard_error < 0.02

    def test_optimism_counts_tables_where_all_true_factors_were_found(self) -> None:
        setting = Setting("ishigami", 300, 6)
        true = truths.truth(setting)
        without_x3 = np.where(np.arange(6) == 2, 0.0, true)
        found = [without_x3 + np.array([0.1, 0.3, 0, 0, 0, 0]), true + np.array([0.1, 0, 0, 0.04, 0.02, 0])]
        ceilings = [truths.true_ceiling(setting) - 0.1, truths.true_ceiling(setting)]
        rows = [selection(setting, "FIRST", k, *one) for k, one in enumerate(zip(found, ceilings, strict=True))]
        cell = results_of(rows).find("FIRST", setting)
        assert certainty.all_found(cell).tolist() == [False, True]
        assert certainty.overestimation(cell).value == pytest.approx(0.1 / 3, rel=1e-5)
        assert certainty.given_to_others(cell).value == pytest.approx(0.03)
        assert certainty.ceiling_error(cell).value == pytest.approx(-0.05)

    def test_differences_are_between_answers_on_the_same_table(self) -> None:
        setting = at("ishigami", 0.0)
        true = truths.truth(setting)
        right, wrong = true, np.eye(6)[0]
        ours = [selection(setting, "CALIBRATED", k, one) for k, one in ((1, right), (2, right), (3, wrong))]
        theirs = [selection(setting, "FIRST", k, one) for k, one in ((2, wrong), (3, wrong), (4, right))]
        results = results_of([*ours, *theirs])
        difference = certainty.paired_difference(
            results.find("CALIBRATED", setting), results.find("FIRST", setting), "exact"
        )
        assert difference.value == 0.5 and difference.n == 2
        assert difference.deviation == pytest.approx(np.std([1, 0, 1, -1], ddof=1))

    def test_importances_are_compared_on_the_same_table(self) -> None:
        setting, change = at("ishigami", 0.0), np.array([0.3, 0, 0, 0.06, 0, 0])
        true = truths.truth(setting)
        ours = [selection(setting, "CALIBRATED", k, one) for k, one in ((1, true), (2, true + change), (3, true))]
        theirs = [selection(setting, "FIRST", k, true) for k in (2, 3)]
        results = results_of([*ours, *theirs])
        cells = [results.find(name, setting) for name in ("CALIBRATED", "FIRST")]
        difference = certainty.importance_difference(*cells)
        assert difference.value == pytest.approx(0.03, rel=1e-5) and difference.n == 2

    def test_a_mean_ceiling_is_over_repetitions_that_have_one(self) -> None:
        setting = at("ishigami", 0.0)
        rows = [selection(setting, "FIRST", k, np.zeros(6), one) for k, one in enumerate((0.2, 0.4, None))]
        mean = certainty.mean_ceiling(results_of(rows).find("FIRST", setting))
        assert mean is not None and mean.value == pytest.approx(0.3) and mean.n == 2
        assert certainty.mean_ceiling(results_of(rows[2:]).find("FIRST", setting)) is None

    def test_no_difference_is_not_taken_for_certainty(self) -> None:
        setting = at("ishigami", 0.0)
        rows = [
            selection(setting, name, k, truths.truth(setting)) for name in ("CALIBRATED", "FIRST") for k in range(100)
        ]
        results = results_of(rows)
        cells = [results.find(name, setting) for name in ("CALIBRATED", "FIRST")]
        assert 0.005 < certainty.paired_difference(*cells, "exact").standard_error < 0.02
