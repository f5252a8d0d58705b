"""RF-VS: variable selection with random forests."""

import numpy as np
import pytest

from firstfactor.problems import ishigami
from study.methods.competitors import rfvs


def test_the_lowest_stair_is_the_mean_of_the_lowest_level():
    rng = np.random.default_rng(0)
    curve = np.repeat([5.0, 2.0, 0.5], [4, 6, 30]) + rng.normal(scale=0.02, size=40)
    assert rfvs._lowest_stair(curve, rng) == pytest.approx(0.5, abs=0.06)
    assert rfvs._lowest_stair(np.full(5, 3.0), rng) == 3.0
    assert rfvs._lowest_stair(np.array([2.0]), rng) == 2.0


@pytest.mark.slow
def test_rfvs_selects_the_true_factors_of_independent_ones(monkeypatch):
    monkeypatch.setattr(rfvs, "THRESHOLD_FORESTS", 5)
    monkeypatch.setattr(rfvs, "THRESHOLD_TREES", 100)
    X, y = ishigami.sample(600, n_factors=6, noise=0.5, seed=0)
    for response in (y, y > np.median(y)):
        outcome = rfvs.rfvs(X, response, 0)
        assert outcome.selected == (0, 1, 2)
        np.testing.assert_array_equal(outcome.importances > 0, [True] * 3 + [False] * 3)
