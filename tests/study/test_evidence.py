"""What is required on harder tables is reached or not, and tables show it."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from study.data import evidence
from study.data.labels import label
from study.data.setting import Setting
from study.pages.evidence_page import EVIDENCE_PAGE, make_evidence_page, write_evidence_page
from study.pages.layout import NOTHING
from study.pages.sections import make_section
from study.pages.tables.false_factors import tabulate_false_factors
from study.pages.tables.next_step import tabulate_next_step
from study.pages.tables.ten_tables import tabulate_ten_tables
from study.pages.tables.time_order import tabulate_time_order
from study.paper import claims
from study.paper.claims.evidence import FOUND, WIDTHS
from study.paper.verdicts import Verdict
from study.runs.experiments import EVIDENCE
from study.runs.store import RESULTS, Row, Task
from study.scores import truths
from study.scores.results import Results
from tests.study.rows import estimate, results_of, selection, store


def judged(results: Results, says: str) -> claims.Judged:
    (claim,) = [one for one in claims.ALL if says in one.says]
    return claims.judge(claim, results)


def cells(table):
    return {name: list(rest) for name, *rest in table.rows}


def flags(setting: Setting, factors: tuple[int, ...]) -> np.ndarray:
    return np.isin(np.arange(setting.n_factors), factors).astype(float)


def some(setting: Setting, right: int, n: int, others: tuple[int, ...] = ()) -> list[Row]:
    """Rows of which so many are right; the others have only some factors."""
    return [
        selection(setting, "CALIBRATED", k, flags(setting, setting.true_factors if k < right else others))
        for k in range(n)
    ]


class TestMetrics:
    def test_only_factors_that_can_be_found_are_needed_and_none_of_the_model_is_false(self) -> None:
        setting = evidence.BOREHOLE
        found = [(0, 3, 5, 6, 7), (0, 1, 3, 5, 6, 7), (0, 3, 5, 6), (0, 3, 5, 6, 7, 8)]
        rows = [selection(setting, "CALIBRATED", k, flags(setting, one)) for k, one in enumerate(found)]
        cell = results_of(rows).find("CALIBRATED", setting)
        assert cell.values("exact").tolist() == [1, 1, 0, 0]
        assert cell.values("found").tolist() == [1, 1, 0.8, 1]
        assert cell.values("any false").tolist() == [0, 0, 0, 1]

    def test_of_a_small_effect_only_its_factor_is_sought(self) -> None:
        setting = evidence.SMALL_EFFECTS[0]
        rows = [selection(setting, "CALIBRATED", k, flags(setting, one)) for k, one in enumerate([(0, 2), (0, 6)])]
        assert results_of(rows).find("CALIBRATED", setting).values("found").tolist() == [1, 0]


class TestRequirements:
    @pytest.mark.parametrize("setting", evidence.HARD_NOISE, ids=label)
    def test_hard_noise_is_held_to_the_same_level(self, setting: Setting) -> None:
        for n_alarms, verdict in ((28, Verdict.REACHED), (29, Verdict.MISSED)):
            found = [flags(setting, (0,) if k < n_alarms else ()) for k in range(200)]
            rows = [selection(setting, "CALIBRATED", k, one) for k, one in enumerate(found)]
            assert judged(results_of(rows), f"{label(setting)}: something").verdict == verdict

    @pytest.mark.parametrize("experiment", FOUND)
    def test_what_is_sought_must_be_found_as_often_as_said(self, experiment: str) -> None:
        for setting, (metric, least) in FOUND[experiment].items():
            says = "exact selection" if metric == "exact" else "what is sought"
            requirements = [
                one
                for one in claims.ALL
                if one.experiment == experiment and one.says.startswith(f"{label(setting)}: {says}")
            ]
            (requirement,) = requirements
            enough = round(100 * least)
            for right, verdict in ((enough, Verdict.REACHED), (enough - 1, Verdict.MISSED)):
                assert claims.judge(requirement, results_of(some(setting, right, 100))).verdict == verdict

    @pytest.mark.parametrize(
        ("n_false", "in_each", "overall"),
        [
            ([5] * 9, Verdict.REACHED, Verdict.REACHED),
            ([11] + [0] * 8, Verdict.MISSED, Verdict.REACHED),
            ([10] * 9, Verdict.REACHED, Verdict.MISSED),
        ],
    )
    def test_false_factors_are_limited_in_each_setting_and_overall(
        self, n_false: list[int], in_each: Verdict, overall: Verdict
    ) -> None:
        rows = []
        for source in evidence.WITH_TRUE_FACTORS:
            of_source = [setting for setting in evidence.FALSE_FACTORS if setting.source == source]
            for setting, count in zip(of_source, n_false, strict=True):
                rows += some(setting, 50 - count, 50, (*setting.true_factors, 15))
        results = results_of(rows)
        assert judged(results, "Five sines: few runs with a false factor").verdict == in_each
        assert judged(results, "All functions together").verdict == overall

    @pytest.mark.parametrize(
        ("n_small", "verdict"), [(7, Verdict.MISSED), (8, Verdict.REACHED), (28, Verdict.REACHED), (29, Verdict.MISSED)]
    )
    def test_the_next_step_must_neither_be_open_nor_shut(self, n_small: int, verdict: Verdict) -> None:
        setting = evidence.NEXT_STEP[1]
        rows = [
            dataclasses.replace(selection(setting, "CALIBRATED-NEXT", k, np.zeros(20)), p_value=p_value)
            for k, p_value in enumerate([0.1] * n_small + [0.11] * (200 - n_small))
        ]
        found = judged(results_of(rows), f"{label(setting)}: beyond all true factors")
        assert found.verdict == verdict and f"{n_small / 200:.3f} ±" in found.measured

    def intervals(self, setting: Setting, n_outside: int, wider: float) -> Results:
        """Intervals that are so much wider than those of chance alone, some of which lie above the truth."""
        true, widths = truths.truth(setting), wider * np.array(WIDTHS[setting])
        ceiling, rows = truths.true_ceiling(setting), []
        for k in range(100):
            away = 0.6 if k < n_outside else 0.0
            low = np.append(true, ceiling) + (away - 0.5) * widths
            one = estimate(setting, k, true, 0.01, np.ones(len(true)))
            sure = dataclasses.replace(
                one.certainty,
                lower=low[:-1].tolist(),
                upper=(low + widths)[:-1].tolist(),
                ceiling_interval=[low[-1], low[-1] + widths[-1]],
            )
            rows.append(dataclasses.replace(one, certainty=sure))
        return results_of(rows)

    @pytest.mark.parametrize("setting", evidence.INTERVALS, ids=label)
    def test_intervals_must_hold_the_truth_without_being_too_wide(self, setting: Setting) -> None:
        for n_outside, wider, covered, width in (
            (8, 1.99, Verdict.REACHED, Verdict.REACHED),
            (9, 2.01, Verdict.MISSED, Verdict.MISSED),
        ):
            results = self.intervals(setting, n_outside, wider)
            assert judged(results, f"{label(setting)}: 95 % intervals hold").verdict == covered
            assert judged(results, f"{label(setting)}: 95 % intervals are not").verdict == width

    def test_the_interval_of_a_very_small_index_is_not_judged(self) -> None:
        setting = evidence.INTERVALS[0]
        rows = []
        for k in range(20):
            one = estimate(setting, k, truths.truth(setting) + np.array([0, 0, 0, 0.5]), 0.01, np.ones(4))
            rows.append(dataclasses.replace(one, ceiling=0.93))
        assert judged(results_of(rows), f"{label(setting)}: 95 % intervals hold").verdict == Verdict.REACHED

    def folds(self, losses: list[float]) -> Results:
        rows = []
        for setting, loss in zip(evidence.FOLDS, losses, strict=True):
            one = selection(setting, "CALIBRATED", 0, flags(setting, (0,)))
            at = [dataclasses.replace(one, task=Task(setting, "CALIBRATED", k)) for k in range(10)]
            rows += [dataclasses.replace(each, error=0.2 + loss, error_of_all=0.2) for each in at]
        return results_of(rows)

    @pytest.mark.parametrize(
        ("losses", "mean", "worst"),
        [
            ([0.009] * 10, Verdict.REACHED, Verdict.REACHED),
            ([0.06] + [-0.01] * 9, Verdict.REACHED, Verdict.MISSED),
            ([0.011] * 10, Verdict.MISSED, Verdict.REACHED),
        ],
    )
    def test_forests_may_lose_little(self, losses: list[float], mean: Verdict, worst: Verdict) -> None:
        results = self.folds(losses)
        assert judged(results, "on average nearly as good").verdict == mean
        assert judged(results, "much worse on no table").verdict == worst

    @pytest.mark.parametrize(("n_alarms", "verdict"), [(2, Verdict.REACHED), (3, Verdict.MISSED)])
    def test_shuffled_targets_have_alarms_in_common(self, n_alarms: int, verdict: Verdict) -> None:
        rows = [
            selection(setting, "CALIBRATED", k, flags(setting, (0,) if k < n_alarms else ()))
            for setting in evidence.SHUFFLED
            for k in range(20)
        ]
        assert judged(results_of(rows), "Shuffled targets").verdict == verdict


class TestTables:
    def test_false_factors_stand_by_function_correlation_and_size(self) -> None:
        rows = [one for setting in evidence.FALSE_FACTORS for one in some(setting, 19, 20, (*setting.true_factors, 15))]
        false, exact = tabulate_false_factors(results_of(rows))
        assert cells(false)["Friedman, ρ = 0.9"] == ["0.05 ± 0.07"] * 3 + ["20"]
        assert cells(exact)["Five sines, ρ = 0.0"] == ["0.95 ± 0.07"] * 3 + ["20"]
        assert cells(false)["all"] == ["0.05 ± 0.01"] * 3 + ["720"] and len(false.rows) == 13

    def test_p_values_of_the_next_step_have_their_quartiles(self) -> None:
        setting = evidence.NEXT_STEP[0]
        rows = [
            dataclasses.replace(selection(setting, "CALIBRATED-NEXT", k, np.zeros(20)), p_value=k / 20)
            for k in range(21)
        ]
        (table,) = tabulate_next_step(results_of(rows))
        assert cells(table)["Friedman, p = 20, ρ = 0.0"] == ["0.143 ± 0.080", "0.25", "0.50", "0.75", "21"]
        assert cells(table)["Heavy-tailed, p = 20, ρ = 0.5"] == [NOTHING] * 4 + ["0"]

    def test_forests_and_shuffled_targets_stand_side_by_side(self) -> None:
        rows = []
        for k in range(10):
            rows.append(selection(evidence.SHUFFLED[0], "CALIBRATED", k, flags(evidence.SHUFFLED[0], (1,) * (k < 1))))
            one = selection(evidence.FOLDS[0], "CALIBRATED", k, flags(evidence.FOLDS[0], (1, 2)))
            rows.append(dataclasses.replace(one, error=0.5, error_of_all=0.45))
        (table,) = tabulate_ten_tables(results_of(rows))
        assert cells(table)["Abalone"] == ["0.10 ± 0.11", "10", "2.0", "0.500", "0.550", "+0.050 ± 0.000", "10"]
        assert len(table.rows) == 10 and cells(table)["Titanic"] == [NOTHING, "0", *[NOTHING] * 4, "0"]

    def test_time_order_is_shown_with_and_without_groups(self) -> None:
        rows = [selection(evidence.IN_TIME, "CALIBRATED-UNGROUPED", k, np.eye(10)[0], 0.3) for k in range(10)]
        (table,) = tabulate_time_order(results_of(rows))
        assert cells(table)["no groups"] == ["1.000 ± 0.094", "1.0 ± 0.0", "0.300 ± 0.000", "10"]
        assert cells(table)["blocks of 50 rows as groups"] == [NOTHING] * 3 + ["0"]

    @pytest.mark.parametrize("experiment", FOUND)
    def test_what_is_required_stands_beside_what_is_found(self, experiment: str, everything: Results) -> None:
        ours, theirs = make_section(experiment, everything).tables
        required = {name: row[-1] for name, row in cells(ours).items()}
        assert {name for name, text in required.items() if text} == {label(setting) for setting in FOUND[experiment]}
        assert list(cells(theirs)) == list(required)


class TestPage:
    def test_the_page_lists_what_is_not_reached(self, tmp_path: Path) -> None:
        store(tmp_path, some(evidence.INTERACTIONS[0], 5, 50))
        write_evidence_page(tmp_path / "evidence.md", tmp_path)
        text = (tmp_path / "evidence.md").read_text()
        assert re.search(r"^- XOR, p = 20: exact selection\. Measured: 0\.10 ± 0\.05 in 50 runs\.$", text, re.M)

    @pytest.mark.skipif(not EVIDENCE_PAGE.exists() or not RESULTS.exists(), reason="the page or its rows are not here")
    def test_the_page_in_the_repository_is_what_the_stored_rows_give(self) -> None:
        results = Results.load()
        assert EVIDENCE_PAGE.read_text() == make_evidence_page([make_section(one.name, results) for one in EVIDENCE])
