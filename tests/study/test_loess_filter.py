"""FILTER on a parabola, and against the original R package."""

import numpy as np
import pytest

from study.methods.competitors.loess_filter import loess_filter
from tests.study.r_packages import PROBLEMS, reference, with_reference


def test_a_parabola_is_explained_and_noise_is_not():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 2))
    outcome = loess_filter(X, X[:, 0] ** 2, seed=0)
    assert outcome.selected is None
    assert outcome.importances[0] == pytest.approx(1, abs=1e-3) and 0 <= outcome.importances[1] < 0.05


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("number", range(1, 6))
@with_reference
def test_filter_equals_caret(problem, number):
    X, y, expected = reference("FILTER", problem, number)
    assert loess_filter(X, y, seed=0).importances == pytest.approx(expected, abs=1e-12)
