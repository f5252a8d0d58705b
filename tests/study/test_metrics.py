"""Metrics of stored rows, and the truth they are held against."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from study.data.setting import Setting
from study.paper.printed_numbers import ISHIGAMI
from study.runs.store import Task
from study.scores import truths
from study.scores.metrics import kendall_tau
from study.scores.results import at
from tests.study.rows import results_of, row, selections


class TestMetrics:
    def test_tau_is_that_of_scipy_with_ties_on_both_sides(self) -> None:
        rng = np.random.default_rng(1)
        true = np.array([0.5, 0.0, 0.3, 0.0, 0.3, 0.0, 0.1])
        estimates = rng.integers(0, 4, size=(50, 7)).astype(float)
        ref = [kendalltau(true, one).statistic for one in estimates]
        np.testing.assert_allclose(kendall_tau(true, estimates), ref, atol=1e-12)

    def test_a_row_that_ranks_nothing_has_a_tau_of_zero(self) -> None:
        assert kendall_tau(np.array([1.0, 2.0, 0.0]), np.zeros((1, 3))).tolist() == [0.0]

    def test_a_cell_measures_each_row(self) -> None:
        setting = at("ishigami", 0.0)
        x1, x1_to_x3, x1_and_x6 = np.eye(6)[0], truths.truth(setting), np.eye(6)[0] + np.eye(6)[5]
        found = [x1_to_x3, x1, x1_and_x6]
        cell = results_of([row(Task(setting, "FIRST", k), one) for k, one in enumerate(found)]).find("FIRST", setting)
        assert cell.values("exact").tolist() == [1, 0, 0]
        np.testing.assert_allclose(cell.values("true positives"), [1, 1 / 3, 1 / 3])
        np.testing.assert_allclose(cell.values("false positives"), [0, 0, 1 / 3])
        np.testing.assert_allclose(cell.values("tau"), [kendalltau(x1_to_x3, one).statistic for one in found])
        assert cell.values("n true").tolist() == [3, 1, 1] and cell.values("n false").tolist() == [0, 0, 1]
        share = x1_to_x3[0] / x1_to_x3.sum()
        np.testing.assert_allclose(cell.values("distance"), [0, 1 - share, 1 - min(share, 0.5)], atol=1e-6)

    def test_a_row_stored_twice_counts_once(self) -> None:
        setting = at("ishigami", 0.0)
        assert results_of(selections("FIRST", setting, 2, 2) * 2).find("FIRST", setting).n == 2

    def test_true_indices_in_the_file_are_those_that_are_computed(self) -> None:
        stored = truths.truth(at("heavy-tailed", 0.9))[[0, 1, 2, 5]]
        again = truths.compute("heavy-tailed", 0.9, n_outer=500_000)
        np.testing.assert_allclose(stored, again["indices"], rtol=0.02)
        variance = again["variance"]
        assert truths.true_ceiling(at("heavy-tailed", 0.9)) == pytest.approx(variance / (variance + 1), abs=0.001)

    def test_the_ceiling_of_ishigami_is_near_the_closed_form(self) -> None:
        variance = 7**2 / 8 + 0.1 * np.pi**4 / 5 + 0.1**2 * np.pi**8 / 18 + 1 / 2
        assert truths.true_ceiling(Setting("ishigami", 10, 3)) == pytest.approx(variance / (variance + 1), abs=1e-4)

    def test_true_indices_of_ishigami_are_near_the_closed_form(self) -> None:
        np.testing.assert_allclose(truths.truth(Setting("ishigami", 10, 3)), ISHIGAMI, atol=0.003)
