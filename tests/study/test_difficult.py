"""Difficult tables are what they are said to be."""

import numpy as np
import pytest

from study.data.difficult import AMOUNT, BLOCK, MEMORY
from study.data.everyday import parts
from study.data.evidence import HARD_NOISE, NEXT_STEP
from study.data.setting import Setting
from study.methods.ours import OURS


def responses(setting, n=20):
    return np.array([setting.draw(k)[1] for k in range(n)])


@pytest.mark.parametrize("source", ["noise-rare-class", "rare-class"])
def test_a_rare_class_has_three_percent_of_the_rows(source):
    y = responses(Setting(source, 1000, 10), 50)
    assert y.dtype == bool and y.mean() == pytest.approx(0.03, abs=0.003)


def test_zeros_are_as_many_as_said_and_depend_on_nothing():
    assert (responses(Setting("noise-zeros", 1000, 10)) == 0).mean() == pytest.approx(0.95, abs=0.005)
    X, y = Setting("amounts", 20_000, 20).draw(0)
    amounts = y > 0
    assert amounts.mean() == pytest.approx(0.3, abs=0.01)
    assert np.abs(np.corrcoef(np.column_stack([X, amounts]).T)[-1, :-1]).max() < 0.03
    assert np.polyfit(X[amounts, 0], np.log(y[amounts]), 1)[0] == pytest.approx(AMOUNT, abs=0.1)


def test_counts_have_a_mean_and_a_variance_of_one():
    y = responses(Setting("noise-counts", 1000, 10))
    assert y.dtype == float and (y % 1 == 0).all()
    assert (y.mean(), y.var()) == pytest.approx((1, 1), abs=0.05)


def test_half_of_the_factors_have_a_hundred_levels():
    X, _ = Setting("noise-100-levels", 1000, 10).draw(0)
    assert [str(kind) for kind in X.dtypes] == ["float64"] * 5 + ["category"] * 5
    assert all(X.iloc[:, j].nunique() == 100 for j in range(5, 10))


def test_skewed_noise_has_another_scale_and_no_other_mean_for_each_value():
    X, y = Setting("noise-skewed", 100_000, 10).draw(0)
    low, high = (y[part] for part in (X[:, 0] < 0.1, X[:, 0] > 0.9))
    assert abs(low.mean()) < 0.05 and abs(high.mean()) < 0.2
    assert high.std() / low.std() == pytest.approx(np.exp(1.5 * 0.9), rel=0.1)


def test_rows_in_time_order_follow_each_other_and_blocks_are_groups():
    X, y = Setting("noise-in-time", 1000, 10).draw(0)
    factors, rows = parts(X)
    assert np.array_equal(rows["groups"], np.repeat(np.arange(20), BLOCK))
    series = np.column_stack([factors, y])
    lagged = [np.corrcoef(column[1:], column[:-1])[0, 1] for column in series.T]
    assert np.mean(lagged) == pytest.approx(MEMORY, abs=0.02)


def test_no_hard_noise_has_true_factors():
    assert all(setting.true_factors == () for setting in HARD_NOISE)


class TestGivenFactors:
    def test_true_factors_come_with_the_table_that_is_drawn_without_them(self):
        setting = NEXT_STEP[0]
        (X, y), (plain, same_y) = (Setting("friedman", 1000, 20, 0.0, part=part).draw(1) for part in ("given", "drawn"))
        assert setting.part == "given" and X.given == setting.true_factors == (0, 6, 7, 8, 9)
        assert np.array_equal(parts(X)[0], plain) and np.array_equal(y, same_y)

    def test_the_next_step_is_judged_beyond_them(self):
        X, y = Setting("friedman", 200, 12, part="given").draw(0)
        outcome = OURS["CALIBRATED-NEXT"](X, y, 0)
        assert set(outcome.selected) >= set(X.given) and 0.01 < outcome.p_value <= 1
        assert OURS["CALIBRATED-NEXT"](parts(X)[0], y, 0).p_value < 0.01
