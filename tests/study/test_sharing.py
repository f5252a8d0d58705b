"""What factors share: truths in closed form, verdicts, tables, real tables and the page."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from firstfactor import closed_indices, interactions, shapley_effects, total_indices
from study.data.labels import label
from study.data.setting import Setting
from study.data.shared_tables import SHARED_TABLES
from study.data.sharing import MODELS
from study.methods.registry import method
from study.methods.sharing import KINDS, layout
from study.pages.layout import NOTHING
from study.pages.sections import make_section
from study.pages.shared_tables import RIGHT, WORDS, describe_tables
from study.pages.sharing_page import SHARING_PAGE, make_sharing_page, write_sharing_page
from study.pages.tables.cumulative import tabulate_cumulative
from study.pages.tables.sharing import tabulate_sharing
from study.paper import claims
from study.paper.claims.sharing import WORDS as KIND_WORDS
from study.paper.verdicts import Verdict
from study.runs import shared_tables
from study.runs.experiments import IN_ORDER, LINEAR, SHARING, SHARING_ISHIGAMI
from study.runs.shared_tables import STORED, look_at, read_shared_tables
from study.runs.store import RESULTS, Row
from study.scores.results import Results
from study.scores.sharing import qualities_by_kind, true_cumulative_shares, true_shares
from tests.study.rows import in_order, results_of, shares, store

PAPER = LINEAR[0]


def judged(results: Results, says: str) -> claims.Judged:
    (claim,) = [one for one in claims.ALL if says in one.says]
    return claims.judge(claim, results)


class TestTruths:
    def test_the_paper_s_example_has_its_shares(self) -> None:
        true = true_shares(PAPER)
        assert true["alone"] == pytest.approx([0.5, 0.5, 0.405])
        assert true["total"] == pytest.approx([0.5, 0.095, 0])
        assert true["joint"] == pytest.approx([0.595, 0.5, 0.5])  # of X1 and X2, X1 and X3, X2 and X3
        assert true["pair"] == pytest.approx([0, 0, 0.405])
        assert true["fair share"] == pytest.approx([0.5, 0.2975, 0.2025])

    def test_ishigami_has_its_known_shares(self) -> None:
        true = true_shares(SHARING_ISHIGAMI)
        assert true["alone"] == pytest.approx([0.3139, 0.4424, 0], abs=5e-5)
        assert true["total"] == pytest.approx([0.5576, 0.4424, 0.2437], abs=5e-5)
        assert true["pair"] == pytest.approx([0, -0.2437, 0], abs=5e-5)
        assert true["fair share"] == pytest.approx([0.4357, 0.4424, 0.1218], abs=5e-5)

    @pytest.mark.parametrize("setting", [*LINEAR, SHARING_ISHIGAMI], ids=label)
    def test_fair_shares_add_up_to_one(self, setting: Setting) -> None:
        assert sum(true_shares(setting)["fair share"]) == pytest.approx(1)

    @pytest.mark.parametrize("name", MODELS)
    def test_tables_have_the_correlations_and_the_explained_variance_of_their_model(self, name: str) -> None:
        model = MODELS[name]
        p = len(model.coefficients)
        X, y = Setting(name, 100_000, p).draw(0)
        np.testing.assert_allclose(np.corrcoef(X.T), model.correlations, atol=0.02)
        fit = X @ np.linalg.lstsq(X, y, rcond=None)[0]
        assert fit.var() == pytest.approx(model.explained(range(p)), rel=0.03)
        one = X[:, :1] @ np.linalg.lstsq(X[:, :1], y, rcond=None)[0]
        assert one.var() == pytest.approx(model.explained([0]), rel=0.03)
        assert (y - fit).var() == pytest.approx(model.noise**2, rel=0.03)
        assert model.explained(()) == 0

    def test_cumulative_shares_are_those_of_the_squares(self) -> None:
        for setting in IN_ORDER:
            assert true_cumulative_shares(setting) == pytest.approx([9 / 14, 13 / 14, 1])


class TestMethod:
    @pytest.mark.parametrize(("name", "estimator"), [("SHARING", "extrapolated"), ("SHARING-ADAPTIVE", "adaptive")])
    def test_all_kinds_stand_in_a_row_and_are_what_the_public_functions_give(self, name: str, estimator: str) -> None:
        X, y = Setting("stand-in", 300, 3).draw(0)
        outcome, sets = method(name)(X, y, 0), layout(3)
        assert tuple(sets) == KINDS and len(outcome.importances) == 15
        alone, total, joint, pair, fair = np.split(outcome.importances, [3, 6, 9, 12])
        options = {"variance_estimator": estimator, "random_state": 0}
        np.testing.assert_allclose(np.maximum(alone, 0), closed_indices(X, y, **options).values)
        np.testing.assert_allclose(np.maximum(total, 0), total_indices(X, y, **options).values)
        np.testing.assert_allclose(pair, interactions(X, y, **options).values)
        np.testing.assert_allclose(fair, shapley_effects(X, y, **options).values)
        assert joint[2] == pytest.approx(total_indices(X, y, subset=[1, 2], **options).values[0])
        assert outcome.certainty is not None
        assert all(len(getattr(outcome.certainty, name)) == 15 for name in ("standard_errors", "lower", "upper"))

    def test_estimates_are_near_the_truth(self) -> None:
        X, y = PAPER.draw(0)
        true = np.concatenate(list(true_shares(PAPER).values()))
        np.testing.assert_allclose(method("SHARING")(X, y, 0).importances, true, atol=0.08)


class TestRequirements:
    @pytest.mark.parametrize(
        ("n_outside", "verdict"),
        [(1, Verdict.MISSED), (2, Verdict.REACHED), (10, Verdict.REACHED), (11, Verdict.MISSED)],
    )
    def test_intervals_must_hold_the_truth_neither_too_seldom_nor_too_often(
        self, n_outside: int, verdict: Verdict
    ) -> None:
        results = results_of([shares(PAPER, k, 3.0 if k < n_outside else 0.0) for k in range(100)])
        for kind in ("alone", "total", "joint", "pair"):
            found = judged(results, f"{label(PAPER)}: intervals of {KIND_WORDS[kind]}")
            assert found.verdict == verdict and f"mean {1 - n_outside / 100:.3f}; lowest X" in found.measured

    def test_fair_shares_must_add_up_to_one(self) -> None:
        rows = [shares(PAPER, k) for k in range(10)]
        assert judged(results_of(rows), f"{label(PAPER)}: fair shares").verdict == Verdict.REACHED
        values = [*rows[0].importances[:-1], rows[0].importances[-1] + 0.001]
        wrong = [dataclasses.replace(rows[0], importances=values), *rows[1:]]
        assert judged(results_of(wrong), f"{label(PAPER)}: fair shares").verdict == Verdict.MISSED

    @pytest.mark.parametrize(("n_wrong", "verdict"), [(1, Verdict.REACHED), (2, Verdict.MISSED)])
    def test_the_order_must_nearly_always_be_right(self, n_wrong: int, verdict: Verdict) -> None:
        orders = [(0, 2, 1) if k < n_wrong else (0, 1, 2) for k in range(20)]
        results = results_of([in_order(IN_ORDER[0], "CUMULATIVE", k, order) for k, order in enumerate(orders)])
        assert judged(results, f"{label(IN_ORDER[0])}: the order").verdict == verdict

    @pytest.mark.parametrize(("away", "verdict"), [(0.019, Verdict.REACHED), (0.021, Verdict.MISSED)])
    def test_cumulative_shares_must_be_close(self, away: float, verdict: Verdict) -> None:
        def moved(row: Row) -> Row:
            return dataclasses.replace(row, importances=[row.importances[0] + away, *row.importances[1:]])

        results = results_of([moved(in_order(IN_ORDER[1], "CUMULATIVE", k)) for k in range(20)])
        assert judged(results, f"{label(IN_ORDER[1])}: cumulative shares").verdict == verdict


class TestTables:
    def test_bias_spread_and_coverage_stand_beside_the_truth(self) -> None:
        results = results_of([shares(PAPER, k, 3.0 if k < 5 else 0.0) for k in range(20)])
        coverage, first, *_ = tabulate_sharing(results)
        cells = {name: list(rest) for name, *rest in coverage.rows}
        assert cells["The paper's example, N = 1,000"] == ["0.750"] * 4 + ["1.000", "20"]
        assert cells["Ishigami, N = 1,000"] == [NOTHING] * 5 + ["0"]
        values = {name: list(rest) for name, *rest in first.rows}
        assert values["1,000: pair of X2, X3"][:2] == ["0.4050", "+0.0075 ± 0.0030"]
        assert values["1,000: pair of X2, X3"][3:] == ["0.0100", "0.75 ± 0.09", "20"]
        assert values["10,000"] == [NOTHING] * 5 + ["0"]

    def test_intervals_that_are_stored_count(self) -> None:
        rows = [shares(PAPER, k) for k in range(10)]
        sure = dataclasses.replace(rows[0].certainty, lower=[0.9] * 15, upper=[1.0] * 15)
        found = qualities_by_kind(
            results_of([dataclasses.replace(one, certainty=sure) for one in rows]).find("SHARING", PAPER)
        )
        assert {one.covered.value for some in found.values() for one in some} == {0.0}

    def test_the_order_stands_beside_that_of_pyfirst(self) -> None:
        rows = [in_order(IN_ORDER[0], "CUMULATIVE", k) for k in range(10)]
        rows += [in_order(IN_ORDER[0], "PYFIRST-RANK", k, (2, 1, 0)) for k in range(10)]
        (table,) = tabulate_cumulative(results_of(rows))
        truth, ours, theirs = (list(row) for row in table.rows[:3])
        assert truth[2:5] == ["0.643", "0.929", "1.000"]
        assert ours[:2] == ["cumulative_ranking", "1.00 ± 0.09"] and theirs[:2] == ["pyfirst.FIRSTRank", "0.00 ± 0.09"]
        assert table.rows[4] == ("cumulative_ranking", *[NOTHING] * 4, "0")


class TestRealTables:
    @pytest.mark.slow
    def test_what_is_said_of_a_table_has_answers_and_facts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng(0)
        size = rng.normal(size=200)
        frame = pd.DataFrame({"a": size, "b": size + 0.01 * rng.normal(size=200), "c": rng.choice(["u", "v"], 200)})
        frame["y"] = size + 0.3 * rng.normal(size=200)
        table = dataclasses.replace(SHARED_TABLES["macrodata"], target="y", load=lambda: frame)
        monkeypatch.setitem(SHARED_TABLES, "macrodata", table)
        monkeypatch.setattr(shared_tables, "TREES", 60)
        found = look_at("macrodata")
        (driver,) = found["compact"]["drivers"]
        assert sorted(driver["factors"]) == ["a", "b"] and driver["lost"] > 0.9
        assert set(list(found["permutation"])[:2]) == {"a", "b"} and sum(found["shap"].values()) == pytest.approx(
            1, abs=1e-3
        )
        scores = found["scores"]
        assert scores["compact"] > 0.6 and scores["compact, swapped"] > 0.6
        assert found["new"]["all"] > 0.6 and found["new"]["without the cluster"] < 0.1
        assert scores["without the best of the cluster"] > 0.6 and scores["without the cluster"] < 0.1
        text = describe_tables({"macrodata": found})
        assert "That is: a or b" in text or "That is: b or a" in text
        assert found["plain"]["says"] in text
        assert all(WORDS[which] in text for which in scores)

    @pytest.mark.skipif(not STORED.exists(), reason="real tables have not been looked at yet")
    def test_every_table_is_stored_and_someone_is_right(self) -> None:
        assert set(read_shared_tables()) == set(SHARED_TABLES) == set(RIGHT)


class TestPage:
    def test_it_is_written_anew(self, tmp_path: Path) -> None:
        page = tmp_path / "sharing.md"
        page.write_text("old")
        store(tmp_path, [shares(PAPER, k, 3.0) for k in range(20)])
        write_sharing_page(page, tmp_path)
        text = page.read_text()
        assert text.startswith("# Shares where they are known\n\n")
        assert re.search(
            r"^- The paper's example, p = 3: intervals of what each .* Measured: mean 0\.000; ", text, re.M
        )
        write_sharing_page(page, tmp_path)
        assert page.read_text() == text

    @pytest.mark.slow
    @pytest.mark.skipif(not SHARING_PAGE.exists() or not RESULTS.exists(), reason="the page or its rows are not here")
    def test_the_page_in_the_repository_is_what_the_stored_rows_give(self) -> None:
        results = Results.load()
        text = make_sharing_page([make_section(one.name, results) for one in SHARING], read_shared_tables())
        assert SHARING_PAGE.read_text(encoding="utf-8") == text
