"""VIMP: what a factor adds to the best possible prediction."""

import numpy as np
import pytest

from study.methods.competitors import vimp


def test_r_squared_and_its_variance_follow_their_formulas():
    rng = np.random.default_rng(0)
    y = rng.normal(size=20_000)
    fitted, fold = y + 0.5 * rng.normal(size=20_000), np.arange(20_000) % 5
    measure, variance = vimp._r_squared(y, fitted, fold, 0.0)
    assert measure == pytest.approx(0.75, abs=0.01)
    # Ratio of two independent means of squares: relative variance 2/n each.
    assert variance == pytest.approx(0.25**2 * 4 / 20_000, rel=0.1)


def test_accuracy_and_its_variance_follow_their_formulas():
    y = np.tile([0.0, 1.0], 500)
    fitted = np.where(np.arange(1000) < 800, y, 1 - y)
    measure, variance = vimp._accuracy(y, fitted, np.arange(1000) % 5)
    assert (measure, variance) == pytest.approx((0.8, 0.16 / 1000))


@pytest.mark.slow
def test_vimp_estimates_what_a_factor_adds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 3))
    y = 2 * X[:, 0] + X[:, 1] + 0.2 * rng.normal(size=800)
    outcome = vimp.vimp_r2(X, y, 0)
    assert {0, 1} <= set(outcome.selected)
    np.testing.assert_allclose(outcome.importances, [0.8, 0.2, 0.0], atol=0.15)
    classes = vimp.vimp_accuracy(X[:, 1:], X[:, 1] > 0, 0)
    assert classes.selected == (0,)
    np.testing.assert_allclose(classes.importances, [0.5, 0.0], atol=0.1)
