"""Fair shares: they add up to one, agree with closed forms, and from some orders nearly as from all sets."""

import numpy as np
import pytest
from tables import friedman

from firstfactor import FIRST, shapley_effects, total_indices
from firstfactor.dependence import shapley
from firstfactor.dependence.shapley import exact_target, fair_shares
from firstfactor.parameters import Options
from firstfactor.problems import ishigami
from firstfactor.variance.conditional import open_variances

estimators = pytest.mark.parametrize("estimator", ["nearest", "extrapolated"])


def test_nothing_to_share_is_shared_by_nobody():
    y = np.random.default_rng(0).normal(size=20)
    assert shapley_effects(np.ones((20, 2)), y).values.tolist() == [0, 0]
    assert FIRST(importance="shapley").fit(np.ones((20, 2)), y).importances_.tolist() == [0, 0]
