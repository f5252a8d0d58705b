"""Tables of everyday work, and what methods make of their rows."""

import numpy as np
import pytest

from study.data.everyday import REMOVALS, Described, parts
from study.data.setting import Setting
from study.methods import ours
from study.methods.ours import OURS
from study.methods.outcome import Outcome
from study.runs.experiments import EVERYDAY_NOISE, MISSING, PANEL
from study.scores.truths import PROBLEMS, known_ceiling, true_ceiling, truth

COMPLETE = Setting("friedman", 1000, 10)


def test_a_table_with_holes_is_the_complete_one_but_for_what_is_missing():
    for setting in MISSING:
        (X, y), (complete, same_y) = setting.draw(3), COMPLETE.draw(3)
        known = ~np.isnan(X)
        assert np.array_equal(y, same_y) and np.array_equal(X[known], complete[known])


@pytest.mark.parametrize("setting", MISSING, ids=lambda setting: setting.part)
def test_the_share_of_missing_values_is_the_one_asked_for(setting):
    holes = np.array([np.isnan(setting.draw(k)[0]) for k in range(20)])
    share = REMOVALS[setting.part].share
    assert holes.mean() == pytest.approx(share, abs=0.005)
    assert (~holes.any(axis=2)).mean() == pytest.approx((1 - share) ** 10, abs=0.01)  # rows that are left


def test_large_values_are_missing_more_often_only_if_asked_for():
    complete, _ = COMPLETE.draw(0)
    for setting in MISSING:
        holes, removal = np.isnan(setting.draw(0)[0]), REMOVALS[setting.part]
        upper = holes[complete > 0.5].mean() / holes.mean()
        assert upper == pytest.approx(1.5 if removal.by_value else 1.0, abs=0.12)


def test_weights_belong_to_the_table_that_is_drawn_without_them():
    (X, y), (plain, same_y) = (Setting("noise", 1000, 10, part=part).draw(1) for part in ("weighted", "drawn"))
    factors, rows = parts(X)
    assert np.array_equal(factors, plain) and np.array_equal(y, same_y)
    assert list(rows) == ["sample_weight"] and rows["sample_weight"].min() > 0
    assert rows["sample_weight"].mean() == pytest.approx(2, abs=0.2)
    assert parts(plain) == (plain, {})


def test_classes_are_equally_likely_and_two_of_three_outputs_correlated():
    for n_classes in (3, 10):
        _, y = Setting(f"noise-{n_classes}-classes", 1000, 10).draw(0)
        counts = np.unique(y, return_counts=True)[1]
        assert len(counts) == n_classes and counts.min() > 0.6 * 1000 / n_classes
    correlations = np.corrcoef(Setting("noise-3-outputs", 1000, 10).draw(0)[1].T)
    np.testing.assert_allclose(correlations[[0, 0, 1], [1, 2, 2]], [0.7, 0, 0], atol=0.1)


def test_half_of_the_factors_of_a_panel_are_the_same_in_all_rows_of_a_person():
    X, y = Setting("noise-panel", 600, 10).draw(0)
    factors, rows = parts(X)
    persons = factors.reshape(30, 20, 10)
    assert np.array_equal(rows["groups"], np.repeat(np.arange(30), 20))
    assert (np.ptp(persons[:, :, 5:], axis=1) == 0).all() and (np.ptp(persons[:, :, :5], axis=1) > 0).all()
    within = np.mean([Setting("noise-panel", 600, 10).draw(k)[1].reshape(30, 20).var(axis=1, ddof=1) for k in range(5)])
    between = np.mean(
        [Setting("noise-panel", 600, 10).draw(k)[1].reshape(30, 20).mean(axis=1).var() for k in range(20)]
    )
    assert within == pytest.approx(0.5, abs=0.05) and between == pytest.approx(0.5, abs=0.1)
    assert y.shape == (600,)


def test_no_everyday_noise_has_true_factors():
    assert all(setting.true_factors == () for setting in EVERYDAY_NOISE)


def test_the_truth_about_the_panel_is_that_of_its_response():
    assert true_ceiling(PANEL) == pytest.approx(0.6) and truth(PANEL) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    tables = [PANEL.draw(k) for k in range(30)]
    terms = np.vstack([explained(X.factors) for X, _ in tables])
    unexplained = np.concatenate([y for _, y in tables]) - terms.sum(axis=1)
    np.testing.assert_allclose(terms.var(axis=0), 0.5, atol=0.04)
    assert unexplained.var() == pytest.approx(1, abs=0.1)


def explained(factors):
    x1, x2, x3, _ = factors.T
    return np.column_stack([np.sin(2 * np.pi * x1), np.sqrt(6) * x2, np.sqrt(6) * x3])


@pytest.mark.slow
@pytest.mark.parametrize("setting", MISSING, ids=lambda setting: setting.part)
def test_the_best_ceiling_with_missing_values_is_the_one_of_monte_carlo(setting):
    """A second draw of what is missing has the covariance that the mean given what is known has as its variance."""
    rng, removal, problem = np.random.default_rng(0), REMOVALS[setting.part], PROBLEMS["friedman"]
    X = rng.uniform(size=(400_000, 10))
    again = rng.uniform(size=X.shape)
    missing = rng.uniform(size=X.shape) < removal.chance(X)
    other = np.where(missing, np.sqrt(again) if removal.by_value else again, X)
    first, second = problem.function(X), problem.function(other)
    assert known_ceiling(setting) == pytest.approx(np.cov(first, second)[0, 1] / (first.var() + 1), abs=0.006)


class TestMethods:
    def seen(self, monkeypatch: pytest.MonkeyPatch, name: str, X: object) -> list[object]:
        """What reaches FIRST or `total_indices` when a method gets a table."""
        tables: list[object] = []

        def note(_: object, X: object, __: object) -> Outcome:
            tables.append(X)
            return Outcome(np.zeros(2), ())

        monkeypatch.setattr(ours, "_fit", note)
        OURS[name](X, np.zeros(3), 0)
        return tables

    def test_without_groups_weights_are_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        table = Described(np.eye(3), {"groups": np.arange(3), "sample_weight": np.ones(3)})
        (seen,) = self.seen(monkeypatch, "CALIBRATED-UNGROUPED", table)
        assert isinstance(seen, Described) and list(seen.rows) == ["sample_weight"]

    @pytest.mark.parametrize("name", ["FIRST-IMPUTED", "CALIBRATED-IMPUTED"])
    def test_the_mean_stands_for_what_is_missing(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        (seen,) = self.seen(monkeypatch, name, np.array([[1.0, 4.0], [3.0, np.nan], [np.nan, 6.0]]))
        assert np.array_equal(seen, [[1, 4], [3, 5], [2, 6]])

    @pytest.mark.parametrize("name", ["FIRST-COMPLETE", "CALIBRATED-COMPLETE"])
    def test_with_too_few_complete_rows_nothing_is_found(self, name: str) -> None:
        X, y = COMPLETE.draw(0)
        X[1:, 0] = np.nan
        outcome = OURS[name](X, y, 0)
        assert outcome.selected == () and outcome.ceiling is None and not outcome.importances.any()

    @pytest.mark.parametrize("name", ["FIRST-COMPLETE", "CALIBRATED-COMPLETE"])
    def test_only_complete_rows_count(self, name: str) -> None:
        X, y = COMPLETE.draw(0)
        holes = X.copy()
        holes[300:, 0] = np.nan
        dropped, fewer = OURS[name](holes, y, 0), OURS[name.removesuffix("-COMPLETE")](X[:300], y[:300], 0)
        assert dropped.importances == pytest.approx(fewer.importances)
        assert dropped.ceiling == pytest.approx(fewer.ceiling)
