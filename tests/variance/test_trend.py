"""The trend: that of plain loops, never with the row that it predicts, and of no use in noise."""

import naive
import numpy as np
import pandas as pd
import pytest
from sample_tables import as_lists, friedman, mixed

from firstfactor import total_indices
from firstfactor.settings import Options
from firstfactor.variance import trend as trends
from firstfactor.variance.conditional import open_variances
from firstfactor.variance.local_linear import LocalLinear
from firstfactor.variance.trend import TrendFitter


def fit(X, y, factors, groups=None, bands=(9, 20)):
    """The trend, and the errors of fits around it."""
    with open_variances(X, y, Options(task="regression"), groups=groups) as variances:
        search = variances.search
        trend = TrendFitter(search).fit(factors)
        return trend, LocalLinear(search, factors, bands).errors(search.y, np.arange(len(y)), trend)


@pytest.mark.parametrize(("make", "factors"), [(friedman, [0, 6, 7]), (mixed, [0, 1, 2, 3])])
def test_errors_around_the_trend_equal_those_in_plain_loops(make, factors):
    X, y = make(rows=60)
    X = pd.DataFrame(X)
    columns, y = naive.standardise(as_lists(X)), y + np.asarray(X.iloc[:, factors[0]], float) ** 2
    trend, errors = fit(X, y, factors)
    terms = naive.best_trend(columns, y.tolist(), factors, 30)
    assert trend is not None and len(terms) == trend.terms.shape[1]
    for band, ours in zip((9, 20), errors.values[:, :, 0], strict=True):
        expected = [naive.error_around_trend(columns, y.tolist(), factors, terms, m, band) for m in range(60)]
        np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-8 * y.std())
    np.testing.assert_allclose(errors.fits[0, :, 0] + ours_raw(errors), y - y.mean(), atol=1e-9 * np.abs(y).max())


def ours_raw(errors):
    """Errors of the narrower fit that are not divided by anything."""
    return errors.values[0, :, 0] * np.sqrt(1 + errors.squared_weights[0])


def test_a_group_is_not_in_the_trend_that_predicts_it():
    X, y = friedman(rows=90)
    groups = np.r_[np.repeat(np.arange(20), 4), np.arange(20, 30)]  # of two sizes
    y = y + np.random.default_rng(0).normal(size=30)[groups]
    columns = naive.standardise(as_lists(pd.DataFrame(X)))
    trend, _ = fit(X, y, [0, 6], groups)
    terms, centred = naive.best_trend(columns, y.tolist(), [0, 6], 15, groups.tolist()), y - y.mean()
    assert len(terms) == trend.terms.shape[1] > 1
    for m in (0, 5, 83):
        weights = naive.weights_around_trend(terms, m, {}, groups.tolist())
        expected = centred[m] - sum(w * centred[n] for n, w in weights.items())
        assert trend.left_out[m, 0] == pytest.approx(expected)
        change = trend.change(np.array([m]))[0, :, 0]
        assert trend.residuals[m, 0] + trend.terms[m] @ change == pytest.approx(expected)


def test_what_is_a_polynomial_is_foretold_exactly():
    X = np.random.default_rng(0).uniform(size=(200, 3))
    _, errors = fit(X, X[:, 0] * X[:, 1] + X[:, 2] ** 3, [0, 1, 2])
    assert np.abs(errors.values).max() < 1e-9


def test_linear_in_directions_that_hardly_vary():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    X = np.column_stack([x, x + 1e-3 * rng.normal(size=200)])
    y = 1e3 * (X[:, 0] - X[:, 1]) + 0.1 * rng.normal(size=200)
    assert total_indices(X, y, variance_estimator="extrapolated").r2_ceiling > 0.95


def test_a_trend_sees_nothing_in_noise(monkeypatch):
    """Not even if all of its terms are taken: a row is not among those that predict it."""
    monkeypatch.setattr(trends, "LEAST_GAIN", -10.0)  # the last is the best
    ratios = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.uniform(size=(100, 2)), rng.normal(size=100)
        trend, errors = fit(X, y, [0, 1])
        assert trend.terms.shape[1] == 23
        ratios.append(np.mean(errors.values**2) / y.var(ddof=1))
    assert np.mean(ratios) == pytest.approx(1, abs=3 * np.std(ratios) / np.sqrt(60))


def test_no_trend_where_it_does_not_help():
    rng = np.random.default_rng(0)
    assert fit(rng.uniform(size=(100, 2)), rng.normal(size=100), [0, 1])[0] is None
    X, y = mixed(rows=60)
    categories = [i for i, kind in enumerate(total_indices(X, y).kinds) if kind == "category"]
    assert categories and fit(X, y, categories)[0] is None


def test_rows_that_alone_tell_a_term_are_in_no_trend():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=100), np.arange(100) == 50]).astype(float)
    y = X[:, 0] + 5 * X[:, 1] + 0.1 * rng.normal(size=100)
    trend, errors = fit(X, y, [0, 1])
    assert trend is None  # no more than a constant can be had without row 50
    assert np.isfinite(errors.values).all()


def test_values_far_away_count_as_less_far():
    X = np.random.default_rng(0).uniform(size=(200, 1))
    y = np.sin(6 * X[:, 0])
    X[7] = 1e6
    trend, _ = fit(X, y, [0])
    assert np.delete(trend.residuals, 7).std() < 0.1 * y.std()


def test_a_trend_of_some_rows_serves_all(monkeypatch):
    X, y = friedman(rows=600)
    whole = total_indices(X[:, [0, 6]], y, variance_estimator="extrapolated").noise_variance
    monkeypatch.setattr(trends, "MAX_TREND_ROWS", 200)
    trend, _ = fit(X, y, [0, 6])
    assert (trend.leverage > 0).sum() == 200 == (trend.left_out != 0).sum()
    assert total_indices(X[:, [0, 6]], y, variance_estimator="extrapolated").noise_variance == pytest.approx(
        whole, rel=0.03
    )


@pytest.mark.parametrize(("limit", "value"), [("MAX_TERMS", 9), ("MAX_TERMS_PER_ROW", 0.09), ("MAX_CELLS", 900)])
def test_terms_are_limited(monkeypatch, limit, value):
    monkeypatch.setattr(trends, limit, value)
    X, y = friedman(rows=100)
    assert fit(X, y + 100 * X[:, 0] ** 3, [0, 6])[0].terms.shape[1] == 8 - 1
