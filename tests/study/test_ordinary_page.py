"""What is required on ordinary tables is reached or not, and docs/results/ordinary.md shows it."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from study.data import ordinary_settings
from study.data.labels import label
from study.data.setting import Setting
from study.pages.ordinary_page import ORDINARY_PAGE, make_ordinary_page, write_ordinary_page
from study.pages.sections import make_section
from study.paper import claims
from study.paper.claims.ordinary import CURVES_BEFORE, FDR, GLM, MANY_COLUMNS, OURS, TOGETHER_BEFORE, of_size
from study.paper.verdicts import Verdict
from study.runs.experiments import ORDINARY
from study.runs.ordinary_real import read_ordinary_real
from study.runs.store import RESULTS, Row, Task
from study.scores.results import Results
from tests.study.rows import results_of, row, store


def judged(results: Results, says: str) -> claims.Judged:
    (claim,) = [one for one in claims.ALL if says in one.says]
    return claims.judge(claim, results)


def answers(setting: Setting, method: str, n: int, right: int, with_false: int = 0) -> list[Row]:
    """Rows of which so many find all true factors and the others none, and so many select a false one."""
    rows = []
    for k in range(n):
        true = np.isin(np.arange(setting.n_factors), setting.true_in(k))
        importances = (true & (k < right)).astype(float)
        importances[np.flatnonzero(~true)[0]] = float(n - k <= with_false)
        rows.append(row(Task(setting, method, k), importances))
    return rows


class TestRequirements:
    @pytest.mark.parametrize(("right", "verdict"), [(46, Verdict.REACHED), (45, Verdict.MISSED)])
    def test_lines_are_found_nearly_as_often_as_by_least_squares(self, right: int, verdict: Verdict) -> None:
        rows = []
        for setting in of_size(ordinary_settings.LINES, 200):
            rows += [*answers(setting, OURS, 100, right), *answers(setting, "OLS-HOLM", 100, 50)]
        found = judged(results_of(rows), "Lines, N = 200: nearly as much")
        assert found.verdict == verdict
        assert f"0.{right} ± 0.02 against 0.50 ± 0.02" in found.measured

    @pytest.mark.parametrize(
        ("n_false", "verdict"),
        [
            ([12] * 9, Verdict.REACHED),
            ([18] + [5] * 8, Verdict.REACHED),
            ([19] + [5] * 8, Verdict.MISSED),
            ([13] * 9, Verdict.MISSED),
        ],
    )
    def test_false_factors_are_few_in_each_cell_and_together(self, n_false: list[int], verdict: Verdict) -> None:
        settings = of_size(ordinary_settings.LINES, 400)
        rows = [
            one
            for setting, count in zip(settings, n_false, strict=True)
            for one in answers(setting, OURS, 100, 50, count)
        ]
        assert judged(results_of(rows), "Lines, N = 400: few tables").verdict == verdict

    @pytest.mark.slow
    @pytest.mark.parametrize("n_rows", ordinary_settings.SIZES)
    def test_curves_are_found_as_by_the_better_of_splines_and_the_older_rule(self, n_rows: int) -> None:
        before = CURVES_BEFORE[n_rows]
        for theirs in (0.0, min(before + 0.05, 1.0)):
            least = max(theirs, before) - 0.02
            for ours, verdict in ((least + 0.01, Verdict.REACHED), (least - 0.01, Verdict.MISSED)):
                rows = []
                for setting in of_size(ordinary_settings.CURVES, n_rows):
                    rows += answers(setting, OURS, 200, round(200 * ours))
                    rows += answers(setting, "SPLINE-HOLM", 200, round(200 * theirs))
                assert judged(results_of(rows), f"Curves, N = {n_rows:,}:").verdict == verdict

    @pytest.mark.parametrize(
        ("setting", "most"), [(ordinary_settings.MANY_CORRELATED, 14), (ordinary_settings.NESTED, 12)]
    )
    def test_look_alikes_are_seldom_selected(self, setting: Setting, most: int) -> None:
        for count, verdict in ((most, Verdict.REACHED), (most + 1, Verdict.MISSED)):
            rows = [*answers(setting, OURS, 100, 50, count), *answers(setting, "OLS-HOLM", 100, 50)]
            assert judged(results_of(rows), f"{label(setting)}: few tables").verdict == verdict

    @pytest.mark.parametrize("setting", ordinary_settings.NEAR_COPIES, ids=label)
    def test_near_copies_are_told_apart(self, setting: Setting) -> None:
        for right, verdict in ((75, Verdict.REACHED), (74, Verdict.MISSED)):
            results = results_of(answers(setting, OURS, 100, right))
            assert judged(results, f"{label(setting)}: exact").verdict == verdict

    @pytest.mark.parametrize("setting", ordinary_settings.RESPONSES, ids=label)
    def test_responses_are_explained_nearly_as_well_as_by_their_model(self, setting: Setting) -> None:
        (claim,) = [
            one
            for one in claims.ALL
            if one.experiment == "responses" and one.says.startswith(f"{label(setting).split(', p =')[0]}:")
        ]
        for right, verdict in ((75, Verdict.REACHED), (73, Verdict.MISSED)):
            rows = [*answers(setting, OURS, 100, right), *answers(setting, GLM[setting], 100, 80)]
            assert claims.judge(claim, results_of(rows)).verdict == verdict

    @pytest.mark.parametrize("setting", ordinary_settings.TOGETHER, ids=label)
    def test_what_matters_only_together_is_found_as_before(self, setting: Setting) -> None:
        least = TOGETHER_BEFORE[setting]
        for share, verdict in ((least + 0.01, Verdict.REACHED), (least - 0.01, Verdict.MISSED)):
            results = results_of(answers(setting, OURS, 200, round(200 * share)))
            assert judged(results, f"{label(setting)}: as much").verdict == verdict

    @pytest.mark.parametrize("setting", ordinary_settings.MANY_COLUMNS, ids=label)
    def test_lines_are_found_among_many_columns(self, setting: Setting) -> None:
        method, least = MANY_COLUMNS[setting]
        assert (method == FDR) == setting.source.startswith("twenty")
        for right, verdict in ((round(20 * least), Verdict.REACHED), (round(20 * least) - 1, Verdict.MISSED)):
            results = results_of(answers(setting, method, 20, right))
            assert judged(results, f"{label(setting)}: what is there").verdict == verdict

    @pytest.mark.parametrize(("seconds", "verdict"), [(59.0, Verdict.REACHED), (61.0, Verdict.MISSED)])
    def test_a_minute_must_do(self, seconds: float, verdict: Verdict) -> None:
        rows = answers(ordinary_settings.FIVE_OF_20000, OURS, 10, 10)
        rows[3] = dataclasses.replace(rows[3], seconds=seconds)
        assert judged(results_of(rows), "selected in a minute").verdict == verdict


class TestTables:
    def test_tables_stand_by_size_with_all_methods(self) -> None:
        rows = []
        for setting in of_size(ordinary_settings.LINES, 100):
            rows += [*answers(setting, OURS, 10, 5, 2), *answers(setting, "OLS-HOLM", 10, 10)]
        found, false, exact, cells = make_section("lines", results_of(rows)).tables
        assert found.header == ("", "calibrated", "OLS + Holm", "splines + Holm", "lasso", "tables")
        assert found.rows[0] == ["N = 100", "0.50 ± 0.05", "1.00 ± 0.00", "–", "–", "90"]
        assert false.rows[0][1] == "0.20 ± 0.04" and exact.rows[0][1] == "0.50 ± 0.05"
        assert cells.rows[0] == ["N = 100, p = 5", *["0.20 ± 0.12"] * 3, "10"] and len(cells.rows) == 12

    def test_models_of_all_responses_share_a_column(self) -> None:
        rows = [one for setting, name in GLM.items() for one in answers(setting, name, 10, 10)]
        found = make_section("responses", results_of(rows)).tables[0]
        assert found.header == ("", "calibrated", "OLS + Holm", "GLM + Holm", "lasso", "tables")
        assert {cells[3] for cells in found.rows} == {"1.00 ± 0.00"} and len(found.rows) == 15

    def test_many_columns_have_false_discoveries_and_times(self) -> None:
        rows = answers(ordinary_settings.TWENTY_LINES, FDR, 10, 10, 10)
        _, _, discoveries, seconds = make_section("many-columns", results_of(rows)).tables
        assert discoveries.rows[1][2] == "0.05 ± 0.00" and seconds.rows[1][2] == "0.10"


class TestPage:
    def test_the_page_lists_what_is_not_reached_and_links_to_headings(self, tmp_path: Path) -> None:
        store(tmp_path, answers(ordinary_settings.NEAR_COPIES[0], OURS, 20, 5))
        write_ordinary_page(tmp_path / "ordinary.md", tmp_path)
        text = (tmp_path / "ordinary.md").read_text()
        assert re.search(r"^- Near-copies, N = 300, p = 8: exact selection\. Measured: 0\.250 ± 0\.093 in", text, re.M)
        headings = re.findall(r"^## (.*)$", text, re.M)
        anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= anchors
        assert "`python -m study.runs.ordinary_real`" in text and "nan" not in text

    @pytest.mark.slow
    @pytest.mark.skipif(not ORDINARY_PAGE.exists() or not RESULTS.exists(), reason="the page or its rows are not here")
    def test_the_page_in_the_repository_is_what_is_stored(self) -> None:
        results = Results.load()
        sections = [make_section(one.name, results) for one in ORDINARY]
        assert ORDINARY_PAGE.read_text() == make_ordinary_page(sections, read_ordinary_real())
