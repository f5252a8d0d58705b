"""What is said of real tables, what models lose, and what is required of both."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from study.data import ordinary_tables
from study.data.ordinary_tables import CLASSIC, CLEANED, OrdinaryTable
from study.pages import ordinary_real as page
from study.paper.claims.ordinary_real import differences, is_large, judge_classic, judge_cleaned
from study.paper.verdicts import Verdict
from study.runs import ordinary_real
from study.scores.estimates import Estimate
from study.scores.ordinary import loss

OURS, PREDICT = "CALIBRATED-CHOICE", "CALIBRATED-PREDICT"
HERE = [table for table in (*CLASSIC, *CLEANED) if table.is_there()]


def stored(of_all: float, boosting: float, linear: float, spread: float = 0.0) -> dict[str, Any]:
    """Scores of ten folds: boosting is the better model of all factors."""
    noise = spread * np.array([-1, 1] * 5)
    others = ("all", PREDICT, "LASSO-SET", "HOLM")
    scores = {
        "boosting": dict.fromkeys(others, [of_all] * 10) | {OURS: (boosting + noise).tolist()},
        "linear": dict.fromkeys(others, [of_all - 0.1] * 10) | {OURS: [linear] * 10},
    }
    sizes = {OURS: [2] * 10, PREDICT: [4] * 10, "LASSO-SET": [5] * 10, "HOLM": [3] * 10}
    return {"n_rows": 500, "n_factors": 8, "classes": False, "sizes": sizes, "scores": scores}


def factor(linear: float, splines: float, ours: float | None, selected: bool) -> dict[str, Any]:
    return {"linear": linear, "splines": splines, "calibrated": ours, "selected": selected}


def said(**factors: dict[str, Any]) -> dict[str, Any]:
    return {"n_rows": 442, "n_factors": 10, "model": "OLS", "factors": factors}


class TestTables:
    @pytest.mark.parametrize("table", HERE, ids=lambda table: table.title)
    def test_a_table_is_clean(self, table: OrdinaryTable) -> None:
        X, y = table.load()
        assert len(X) == len(y) >= 20 and X.notna().all(axis=None) and (X.nunique() > 1).all()
        assert table.target not in X and not set(table.without.split()) & set(X)
        numbers = X.select_dtypes("number")
        assert not numbers.T.duplicated().any()
        related = np.abs(np.corrcoef(numbers.assign(y=np.asarray(y, dtype=float)).T)) - np.eye(numbers.shape[1] + 1)
        assert related[-1].max() < 0.97, "a factor is all but the target"

    def test_titles_are_unique(self) -> None:
        for tables in (CLASSIC, CLEANED):
            assert len({table.title for table in tables}) == len(tables)

    def test_a_response_of_two_values_is_true_or_false(self, monkeypatch: pytest.MonkeyPatch) -> None:
        frame = pd.DataFrame({"y": ["no", "yes", "no", None], "a": [1, 2, 3, 4], "b": list("uvuv"), "c": [1] * 4})
        monkeypatch.setattr(ordinary_tables, "_read", lambda *_: frame)
        X, y = OrdinaryTable("R", "some/table", "y", categories="a").load()
        assert y.tolist() == [False, True, False] and list(X) == ["a", "b"]
        assert all(isinstance(X[name].dtype, pd.CategoricalDtype) for name in X)


class TestRuns:
    def test_diabetes_is_compared_factor_by_factor(self) -> None:
        found = ordinary_real.compare(CLASSIC[0])
        assert found["n_rows"] == 442 and found["model"] == "OLS" and len(found["factors"]) == 10
        bmi, age = found["factors"]["bmi"], found["factors"]["age"]
        assert bmi["linear"] < 1e-10 and bmi["selected"] and bmi["calibrated"] < 0.01
        assert age["linear"] == 1 and not age["selected"]

    @pytest.mark.slow
    @pytest.mark.parametrize("classes", [False, True])
    def test_models_see_only_what_is_selected(self, classes: bool) -> None:
        rng = np.random.default_rng(3)
        X = pd.DataFrame({"x": rng.normal(size=200), "c": pd.Categorical(rng.choice(list("ab"), 200))})
        noisy = X["x"].to_numpy() + 0.1 * rng.normal(size=200)
        y = noisy > 0 if classes else noisy
        train, test = np.arange(150), np.arange(150, 200)
        for model in ordinary_real.MODELS:
            assert ordinary_real.score(model, X, y, train, test) > 0.85
            assert ordinary_real.score(model, X[["c"]], y, train, test) < (0.7 if classes else 0.1)
            nothing = ordinary_real.score(model, X[[]], y, train, test)
            assert nothing == 0.5 if classes else nothing <= 0

    def test_what_is_named_is_stored(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ordinary_real, "compare", lambda _: said())
        monkeypatch.setattr(ordinary_real, "predict", lambda _: stored(0.5, 0.5, 0.5))
        monkeypatch.setattr(OrdinaryTable, "is_there", lambda table: table.name != "gpa1")
        ordinary_real.write_ordinary_real(["wage1", "swiss", "gpa1"], tmp_path)
        found = json.loads((tmp_path / ordinary_real.FILE).read_text())
        assert list(found["classic"]) == ["wage1: wage", "swiss: Fertility"] and list(found["cleaned"]) == [
            "wage1: wage"
        ]
        assert found == ordinary_real.read_ordinary_real(tmp_path)

    def test_nothing_stored_is_empty(self, tmp_path: Path) -> None:
        assert ordinary_real.read_ordinary_real(tmp_path) == {"classic": {}, "cleaned": {}}

    def test_every_row_is_predicted_once_in_each_division(self) -> None:
        for y in (np.arange(53.0), np.arange(53) < 20):
            tested = np.concatenate([test for _, test in ordinary_real.folds(y)])
            assert (np.bincount(tested) == ordinary_real.N_DIVISIONS).all()


class TestRequirements:
    def test_a_loss_is_that_of_a_model_or_of_the_best_ones(self) -> None:
        table = stored(0.8, 0.75, 0.78)
        assert loss(table, OURS, "boosting").value == pytest.approx(0.05)
        assert loss(table, OURS, "linear").value == pytest.approx(-0.08)
        assert loss(table, OURS).value == pytest.approx(0.02)
        assert loss(table, "LASSO-SET").value == 0

    def test_a_large_loss_is_beyond_the_noise_of_folds(self) -> None:
        assert is_large(Estimate(0.021, 0.03, 10)) and not is_large(Estimate(0.02, 0.0, 10))
        assert not is_large(Estimate(0.03, 0.05, 10))

    @pytest.mark.parametrize(
        ("losses", "mean", "few"),
        [
            ([0.01] * 40, Verdict.REACHED, Verdict.REACHED),
            ([0.011] * 40, Verdict.MISSED, Verdict.REACHED),
            ([0.05] * 4 + [0.0] * 36, Verdict.REACHED, Verdict.REACHED),
            ([0.05] * 5 + [0.0] * 35, Verdict.REACHED, Verdict.MISSED),
        ],
    )
    def test_models_may_lose_little(self, losses: list[float], mean: Verdict, few: Verdict) -> None:
        tables = {str(k): stored(0.8, 0.8 - one, 0.1) for k, one in enumerate(losses)}
        assert [one.verdict for one in judge_cleaned(tables)] == [mean, few, Verdict.REACHED, Verdict.REACHED]

    def test_every_difference_wants_a_reason(self) -> None:
        tables = {
            "t": said(a=factor(0.01, 0.2, None, False), b=factor(0.01, 0.02, 0.03, True), c=factor(1, 1, None, False))
        }
        assert differences(tables) == [("t", "a")]
        (open_,), (closed,) = judge_classic(tables, {}), judge_classic(tables, {("t", "a"): "a line, and weak"})
        assert open_.verdict == Verdict.MISSED and open_.measured == "0 of 1 differences"
        assert closed.verdict == Verdict.REACHED

    def test_nothing_stored_is_not_judged(self) -> None:
        assert {one.verdict for one in (*judge_classic({}, {}), *judge_cleaned({}))} == {Verdict.NOT_RUN}


class TestPage:
    def test_tables_show_who_selects_and_what_is_lost(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(page.EXPLAINED, ("t", "a"), "A weak line.")
        tables = {
            "classic": {"t": said(a=factor(0.01, 0.2, None, False), b=factor(1e-9, 0.02, 0.03, True))},
            "cleaned": {"w": stored(0.8, 0.75, 0.1), "v": stored(0.6, 0.6, 0.1)},
        }
        classic, cleaned = page.real_sections(tables)
        assert classic.tables[0].rows == [
            ["a", "**0.010**", "0.200", "–", "A weak line."],
            ["b", "**<0.001**", "**0.020**", "**0.030**", ""],
        ]
        rows = cleaned.tables[0].rows
        assert rows[0][:7] == ["w", "500 × 8", "0.800", "2.0", "+0.050", "+0.600", "+0.050 ± 0.000 !"]
        assert rows[0][7:] == ["4.0", "+0.000 ± 0.000", "5.0", "+0.000", "3.0", "+0.000 ± 0.000"]
        assert rows[-1][0] == "mean of 2" and rows[-1][6] == "+0.025"

    def test_nothing_stored_shows_nothing(self) -> None:
        assert [section.tables for section in page.real_sections({"classic": {}, "cleaned": {}})] == [[], []]
