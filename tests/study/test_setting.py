"""Data are drawn anew for every setting and repetition, and are what the setting says."""

import numpy as np
import pytest

from firstfactor import problems
from study.data.setting import Setting, subset


def test_the_subsets_of_a_table_are_numbered_in_binary():
    assert [subset(number) for number in (1, 2, 5)] == [[0], [1], [0, 2]]


def test_every_repetition_and_setting_has_data_of_its_own():
    drawn = [Setting("friedman", 20, 10, rho).draw(k)[0] for rho in (0.0, 0.5) for k in (0, 1)]
    assert len({X.tobytes() for X in drawn}) == 4
    assert np.array_equal(drawn[0], Setting("friedman", 20, 10, 0.0).draw(0)[0])


@pytest.mark.parametrize(("n_factors", "columns"), [(5, [0, 6, 7, 8, 9]), (7, [0, 6, 7, 8, 9, 1, 2])])
def test_the_factors_of_a_model_come_first_and_others_after_them(n_factors, columns):
    setting = Setting("friedman", 20, n_factors, 0.8, part="model")
    X, y = setting.draw(3)
    whole, same_y = problems.friedman.sample(20, 10, 0.8, seed=setting.rng(3))
    assert np.array_equal(X, whole[:, columns]) and np.array_equal(y, same_y)
    assert setting.true_factors == (0, 1, 2, 3, 4)
