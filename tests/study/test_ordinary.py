"""Ordinary tables: their true factors, shares and dependencies."""

import numpy as np
import pandas as pd
import pytest

from study.data import ordinary, ordinary_settings
from study.data.setting import Setting
from study.runs.experiments import ORDINARY
from study.runs.store import Task
from tests.study.rows import results_of, row

ALL = tuple(dict.fromkeys(setting for one in ORDINARY for plan in one.plans for setting in plan.settings))
SMALL = [setting for setting in ALL if setting.n_factors <= 300 and setting.n_rows <= 200]


class TestTruths:
    @pytest.mark.parametrize("setting", SMALL, ids=str)
    def test_true_factors_change_from_table_to_table_and_come_out_again(self, setting: Setting) -> None:
        truths = [setting.true_in(k) for k in range(20)]
        assert truths == [setting.true_in(k) for k in range(20)] and len(set(truths)) > 1
        assert all(len(set(true)) == len(true) and max(true) < setting.n_factors for true in truths)
        assert setting.true_factors == ()

    def test_there_are_three_to_six_and_a_false_one(self) -> None:
        rng = np.random.default_rng(1)
        for n_factors, most in ((5, 4), (10, 6)):
            counts = {len(ordinary.some_factors(n_factors, rng)) for _ in range(200)}
            assert counts == set(range(3, most + 1))

    def test_tables_are_those_of_the_truth_that_is_told(self) -> None:
        setting = Setting("five-lines", 2000, 20)
        for k in range(3):
            X, y = setting.draw(k)
            slopes = np.linalg.lstsq(X, y, rcond=None)[0]
            assert set(np.flatnonzero(np.abs(slopes) > 0.2)) == set(setting.true_in(k))

    def test_metrics_hold_each_row_against_its_own_truth(self) -> None:
        setting = ordinary_settings.LINES[4]
        exact = [np.isin(np.arange(10), setting.true_in(k)).astype(float) for k in range(6)]
        cell = results_of([row(Task(setting, "OLS-HOLM", k), one) for k, one in enumerate(exact)]).find(
            "OLS-HOLM", setting
        )
        assert cell.values("exact").tolist() == [1] * 6 and cell.values("found").tolist() == [1] * 6
        assert cell.values("any false").tolist() == [0] * 6

        everything = [row(Task(setting, "OLS-HOLM", k), np.ones(10)) for k in range(6)]
        cell = results_of(everything).find("OLS-HOLM", setting)
        n_true = np.array([len(setting.true_in(k)) for k in range(6)])
        assert cell.values("found").tolist() == [1] * 6 and cell.values("any false").tolist() == [1] * 6
        np.testing.assert_allclose(cell.values("false discoveries"), 1 - n_true / 10)
        assert cell.values("n true").tolist() == n_true.tolist()

    def test_nothing_selected_is_no_false_discovery(self) -> None:
        setting = ordinary_settings.FIVE_LINES
        cell = results_of([row(Task(setting, "LASSO-SET", 0), np.zeros(300))]).find("LASSO-SET", setting)
        assert cell.values("false discoveries").tolist() == [0] and cell.values("found").tolist() == [0]


class TestLines:
    @pytest.mark.parametrize("curved", [False, True])
    def test_effects_are_a_few_percent_each_and_noise_is_the_rest(self, curved: bool) -> None:
        rng = np.random.default_rng(2)
        drawn = ordinary.columns(20_000, 10, 0.0, rng)
        total, left = ordinary.signal(drawn, (1, 4, 7), curved, rng)
        assert 0.7 <= left <= 0.94
        assert total.var() + left == pytest.approx(1, abs=0.03)

    def test_a_third_of_the_tables_is_mixed_with_all_kinds(self) -> None:
        setting = ordinary_settings.LINES[8]
        tables = [setting.draw(k)[0] for k in range(90)]
        mixed = [table for table in tables if isinstance(table, pd.DataFrame)]
        assert 18 <= len(mixed) <= 43
        columns = [table[name] for table in mixed for name in table]
        kinds = {"category" if isinstance(one.dtype, pd.CategoricalDtype) else one.nunique() for one in columns}
        assert "category" in kinds and 2 in kinds and 5 in kinds and 100 in kinds

    @pytest.mark.parametrize("in_sequence", [False, True])
    def test_factors_have_the_correlation_asked_for(self, in_sequence: bool) -> None:
        X = ordinary.correlated(20_000, 3, 0.8, in_sequence, np.random.default_rng(3))
        found = np.corrcoef(X.T)
        assert found[0, 1] == pytest.approx(0.8, abs=0.02)
        assert found[0, 2] == pytest.approx(0.64 if in_sequence else 0.8, abs=0.02)
        np.testing.assert_allclose(X.std(axis=0), 1, atol=0.03)

    def test_noise_of_every_kind_has_variance_one(self) -> None:
        rng = np.random.default_rng(4)
        noise = [ordinary.draw_noise(rng.normal(size=5000), rng) for _ in range(40)]
        assert all(abs(one.mean()) < 0.1 for one in noise)
        assert np.median([one.var() for one in noise]) == pytest.approx(1, abs=0.1)
        tails = [float((one**4).mean() / one.var() ** 2) for one in noise]
        assert min(tails) < 3.2 and max(tails) > 20


class TestResponses:
    @pytest.mark.parametrize("share", [10, 30, 50])
    def test_a_class_has_its_share(self, share: int) -> None:
        y = Setting(f"class-{share}", 1000, 10, 0.5).draw(0)[1]
        assert y.dtype == bool and y.mean() == pytest.approx(share / 100, abs=0.002)

    def test_counts_are_whole_and_have_their_mean(self) -> None:
        y = Setting("poisson", 20_000, 10).draw(0)[1]
        assert (y % 1 == 0).all() and y.mean() == pytest.approx(ordinary.MEAN_COUNT, abs=0.1)

    def test_there_are_five_ordered_levels(self) -> None:
        levels, counts = np.unique(Setting("ordinal", 1000, 10).draw(0)[1], return_counts=True)
        assert levels.tolist() == [1, 2, 3, 4, 5] and counts.tolist() == [100, 200, 300, 250, 150]


class TestLookAlikes:
    def test_the_continent_is_a_function_of_the_country(self) -> None:
        setting = ordinary_settings.NESTED
        for k in range(3):
            X, y = setting.draw(k)
            (country,) = (X.iloc[:, j] for j in setting.true_in(k))
            (continent,) = [
                X[name] for name in X if isinstance(X[name].dtype, pd.CategoricalDtype) and name != country.name
            ]
            assert country.nunique() == 40 and 2 <= continent.nunique() <= 6
            assert (continent.groupby(country, observed=True).nunique() == 1).all()
            means = pd.Series(y).groupby(country, observed=True).transform("mean")
            assert 0.2 < means.var() / y.var() < 0.5
            assert X.shape == (500, 10)

    def test_two_factors_have_near_copies(self) -> None:
        setting = Setting("near-copies", 20_000, 8)
        X, y = setting.draw(0)
        found = np.corrcoef(X.T) - np.eye(8)
        assert (found > 0.9).sum() == 4
        true = list(setting.true_in(0))
        assert (found[true] > 0.9).sum(axis=1).tolist() == [1, 1, 0]
        np.testing.assert_allclose(np.linalg.lstsq(X[:, true], y, rcond=None)[0], [0.5, 0.4, 0.3], atol=0.03)

    def test_suppressors_hide_each_other(self) -> None:
        setting = Setting("suppressors", 20_000, 8, 0.75)
        X, y = setting.draw(0)
        first, second, _ = setting.true_in(0)
        assert np.corrcoef(X[:, first], X[:, second])[0, 1] == pytest.approx(0.75, abs=0.02)
        alone = np.cov(X[:, first], y)[0, 1]
        together = np.linalg.lstsq(X, y, rcond=None)[0][first]
        assert together == pytest.approx(0.45, abs=0.04) and alone < together


class TestTogether:
    @pytest.mark.parametrize(
        ("source", "share"), [("weak-product", 0.10), ("weak-product-of-three", 0.25), ("weak-xor", 0.06)]
    )
    def test_only_the_product_explains_and_as_much_as_said(self, source: str, share: float) -> None:
        setting = Setting(source, 50_000, 8)
        X, y = setting.draw(0)
        product = X[:, list(setting.true_in(0))].prod(axis=1)
        driver = np.sign(product) if source == "weak-xor" else product
        assert np.corrcoef(driver, y)[0, 1] ** 2 == pytest.approx(share, abs=0.02)
        lines = [np.corrcoef(X[:, j], y)[0, 1] ** 2 for j in range(8)]
        assert max(lines) < 0.001


class TestManyColumns:
    @pytest.mark.parametrize(
        ("setting", "share"),
        [(Setting("five-lines", 20_000, 30), 0.7), (Setting("twenty-lines", 20_000, 30), 0.95)],
    )
    def test_lines_are_a_share_of_the_variance(self, setting: Setting, share: float) -> None:
        X, y = setting.draw(0)
        true = list(setting.true_in(0))
        left = y - X[:, true] @ np.linalg.lstsq(X[:, true], y, rcond=None)[0]
        assert 1 - left.var() / y.var() == pytest.approx(share, abs=0.02)
