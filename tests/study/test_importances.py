"""Importances beside the efficiency bound: truths, peers, verdicts and docs/results/importances.md."""

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr
from scipy.stats import uniform

from firstfactor.problems import CopulaInputs, monte_carlo_total_indices
from study.data.additive import EFFECTS, MODELS
from study.data.arrays import Floats
from study.data.everyday import REMOVALS
from study.data.importances import ADDITIVE, CLASSES, HARDER, LEVELS, MISSING, SIZES
from study.data.labels import label
from study.data.setting import PROBLEMS, Setting
from study.methods.competitors.dropped import spline_blocks
from study.methods.outcome import Certainty
from study.methods.registry import method
from study.pages.importances_page import IMPORTANCES_PAGE, make_importances_page, write_importances_page
from study.pages.sections import make_section
from study.paper import claims
from study.paper.verdicts import Verdict
from study.runs.experiments import BY_NAME, IMPORTANCES
from study.runs.importances_real import read_importances_real
from study.runs.runner import perform
from study.runs.store import RESULTS, Row, Task
from study.scores.importances import best_r2, bound_error, bounds, error_ratio, share_error, true_importances
from study.scores.results import Results
from tests.study.rows import results_of, row, store

LINES, CURVES = Setting("lines-50", 1000, 6, 0.5), Setting("curves-50", 1000, 6, 0.5)


def judged(results: Results, says: str) -> claims.Judged:
    (claim,) = [one for one in claims.ALL if says in one.says]
    return claims.judge(claim, results)


def off(setting: Setting, name: str, repetition: int, times: float, outside: bool = False) -> Row:
    """A row whose shares miss the truth by some multiple of the bound, and whose intervals hold it or not."""
    p, away = setting.n_factors, times * (bound_error(setting) if setting in ADDITIVE else 0.02)
    values = true_importances(setting) + away
    lower = values - 2 * away * (not outside) - 1e-5
    sure = Certainty([away] * p, [0.5] * p, 0.01, 0.05, lower.tolist(), (values + 1e-5).tolist(), [0.0, 1.0])
    one = row(Task(setting, name, repetition), values, selects=False)
    return dataclasses.replace(one, certainty=sure, ceiling=best_r2(setting))


class TestTruths:
    def test_shares_and_bounds_of_lines_have_a_closed_form(self) -> None:
        rho, n = 0.5, 6
        squares = np.square(EFFECTS[:n])
        correlations = rho ** np.abs(np.subtract.outer(range(n), range(n)))
        variance = np.array(EFFECTS[:n]) @ correlations @ EFFECTS[:n]
        totals = squares / np.diag(np.linalg.inv(correlations))
        share = totals / variance
        np.testing.assert_allclose(true_importances(LINES), share, atol=1e-10)
        noise = variance  # R² is ½
        squared = 4 * totals * (1 - share) * (noise + totals) / variance**2
        np.testing.assert_allclose(bounds(LINES), np.sqrt(squared / 1000), rtol=0.02)

    @pytest.mark.parametrize("setting", [LINES, CURVES, Setting("curves-90", 1000, 10, 0.8)], ids=label)
    def test_tables_have_the_variance_and_the_ceiling_of_their_model(self, setting: Setting) -> None:
        model, rho = MODELS[setting.source], setting.correlation
        X, y = dataclasses.replace(setting, n_rows=100_000).draw(0)
        f = model.terms(X).sum(axis=1)
        variance, totals = model.truth(setting.n_factors, rho)
        assert f.var() == pytest.approx(variance, rel=0.03) and abs(f.mean()) < 0.02
        assert f.var() / y.var() == pytest.approx(best_r2(setting), rel=0.02)
        np.testing.assert_allclose((model.left_without(X, rho) ** 2).mean(axis=0), totals, rtol=0.04, atol=1e-9)

    def test_what_is_left_of_a_factor_cannot_be_told_from_the_others(self) -> None:
        X, _ = dataclasses.replace(CURVES, n_rows=50_000).draw(1)
        left = MODELS[CURVES.source].left_without(X, CURVES.correlation)
        assert abs(np.mean(left[:, 0] * X[:, 1])) < 0.02 and abs(np.mean(left[:, 1] * X[:, 0] ** 2)) < 0.02

    def test_levels_have_the_shares_that_a_large_table_shows(self) -> None:
        X, y = dataclasses.replace(LEVELS[0], n_rows=5000).draw(0)
        found = method("PRODUCTS-DROP")(X, y, 0)
        np.testing.assert_allclose(found.importances, true_importances(LEVELS[0]), atol=0.05)
        assert found.ceiling == pytest.approx(best_r2(LEVELS[0]), abs=0.05)

    @pytest.mark.parametrize("setting", MISSING[::2], ids=label)
    def test_missing_values_have_the_shares_of_what_is_known(self, setting: Setting) -> None:
        removal, rng, n = REMOVALS[setting.part], np.random.default_rng(0), 200_000
        function, factor = PROBLEMS["friedman"].function, 8

        def filled(known: Floats) -> Floats:
            """Values in place of missing ones, drawn from those that are missing."""
            drawn = rng.uniform(size=known.shape)
            return np.where(np.isnan(known), np.sqrt(drawn) if removal.by_value else drawn, known)

        known = removal(rng.uniform(size=(n, 10)), rng)
        anew = known.copy()
        anew[:, factor] = removal(rng.uniform(size=n), rng)
        changes = [function(filled(known)) - function(filled(anew)) for _ in range(2)]
        responses = [function(filled(known)) for _ in range(2)]
        share = (changes[0] * changes[1]).mean() / 2 / np.cov(*responses)[0, 1]
        assert share == pytest.approx(true_importances(setting)[factor], abs=0.01)

    @pytest.mark.parametrize("setting", CLASSES[::2], ids=label)
    def test_the_truth_about_two_classes_is_that_about_their_probability(self, setting: Setting) -> None:
        problem = PROBLEMS[setting.source]
        X, y = dataclasses.replace(setting, n_rows=100_000).draw(0)
        assert 1 - ((y - ndtr(problem.function(X))) ** 2).mean() / y.var() == pytest.approx(best_r2(setting), abs=0.01)
        inputs = CopulaInputs(uniform(), np.eye(setting.n_factors))
        known = monte_carlo_total_indices(lambda x: ndtr(problem.function(x)), inputs, seed=1).values
        np.testing.assert_allclose(true_importances(setting), known, atol=0.01)

    def test_every_factor_of_every_table_has_a_truth(self) -> None:
        for setting in (*ADDITIVE, *HARDER):
            true = true_importances(setting)
            assert true.shape == (setting.n_factors,) and (true >= 0).all() and 0 < best_r2(setting) < 1


class TestMethods:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", BY_NAME["harder-importances"].methods)
    def test_a_row_comes_out_again_from_its_seed(self, name: str) -> None:
        task = Task(Setting("product-10", 100, 4), name, 3)
        once, again = (dataclasses.replace(perform(task), seconds=0.0) for _ in range(2))
        assert once == again

    def test_missing_values_and_levels_have_columns_of_their_own(self) -> None:
        table = pd.DataFrame({"a": [1.0, np.nan, *range(8)], "b": pd.Categorical(list("xyzxyzxyzx"))})
        (_, number), (_, levels) = spline_blocks(table)
        assert number[:, -1].tolist() == [0, 1] + [0] * 8 and levels.shape == (10, 3)

    def test_nothing_is_shared_out_where_nothing_is_explained(self) -> None:
        rng = np.random.default_rng(0)
        found = method("SPLINE-DROP")(rng.normal(size=(60, 3)), rng.normal(size=60), 0)
        assert found.ceiling == 0 and not found.importances.any()


class TestRequirements:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("ours", "peers", "verdict"),
        [(1.2, 1.5, Verdict.REACHED), (1.2, 0.9, Verdict.MISSED), (1.3, 2, Verdict.MISSED)],
    )
    def test_errors_are_held_against_the_better_of_bound_and_peer(
        self, ours: float, peers: float, verdict: Verdict
    ) -> None:
        settings = [one for one in ADDITIVE if one.source.startswith("lines")]
        results = results_of(
            [
                off(one, name, k, times)
                for one in settings
                for name, times in (("ADAPTIVE", ours), ("SPLINE-DROP", peers))
                for k in range(10)
            ]
        )
        assert judged(results, "Lines are nearly as precise as can be, nearly").verdict == verdict
        assert judged(results, "Lines are nearly as precise as can be, everywhere").verdict == Verdict.REACHED

    @pytest.mark.slow
    @pytest.mark.parametrize(("n_outside", "verdict"), [(0, Verdict.MISSED), (1, Verdict.REACHED), (3, Verdict.MISSED)])
    def test_intervals_of_groups_are_judged_as_they_are(self, n_outside: int, verdict: Verdict) -> None:
        rows = [off(one, "ADAPTIVE", k, 1.0, k < n_outside) for one in ADDITIVE for k in range(20)]
        assert judged(results_of(rows), "Lines and curves by N and ρ").verdict == verdict

    @pytest.mark.slow
    @pytest.mark.parametrize(("times", "verdict"), [(1.05, Verdict.REACHED), (1.15, Verdict.MISSED)])
    def test_errors_on_harder_tables_are_held_against_the_best(self, times: float, verdict: Verdict) -> None:
        methods = BY_NAME["harder-importances"].methods
        rows = [
            off(one, name, k, times if name == "ADAPTIVE" else 1.0)
            for one in HARDER
            for name in methods
            for k in range(10)
        ]
        assert judged(results_of(rows), "Harder tables: nearly as precise").verdict == verdict

    def test_errors_are_compared_on_the_same_tables(self) -> None:
        rows = [off(LINES, "ADAPTIVE", k, 1.0 if k < 10 else 9.0) for k in range(20)]
        rows += [off(LINES, "SPLINE-DROP", k, 2.0) for k in range(10)]
        ours, peer = (results_of(rows).find(name, LINES) for name in ("ADAPTIVE", "SPLINE-DROP"))
        assert error_ratio(ours, peer) == pytest.approx(0.5, rel=1e-3)
        assert share_error(peer) == pytest.approx(2 * bound_error(LINES), rel=1e-3)


class TestPage:
    @pytest.mark.slow
    def test_the_page_has_every_cell(self, tmp_path: Path) -> None:
        store(tmp_path, [off(one, "ADAPTIVE", k, 1.0) for one in (*ADDITIVE, *HARDER) for k in range(2)])
        write_importances_page(tmp_path / "importances.md", tmp_path)
        text = (tmp_path / "importances.md").read_text()
        assert all(f"| Lines, N = {n:,} | 1.00 (1.00) | – |" in text for n in SIZES)
        assert text.count("| XOR, 50 % noise, 300 |") == 2 and "nan" not in text

    @pytest.mark.slow
    @pytest.mark.skipif(not IMPORTANCES_PAGE.exists() or not RESULTS.exists(), reason="the page is not here")
    def test_the_page_in_the_repository_is_what_is_stored(self) -> None:
        results = Results.load()
        sections = [make_section(one.name, results) for one in IMPORTANCES]
        assert IMPORTANCES_PAGE.read_text() == make_importances_page(sections, read_importances_real())
