"""Effects with others held fixed, against what is known in closed form."""

import numpy as np
import pandas as pd
import pytest

from firstfactor.settings import Options
from firstfactor.variance import partial_effects
from firstfactor.variance.conditional import open_variances
from firstfactor.variance.partial_effects import partial_levels, plain_levels


def levels_of(X, y, others, bins, positions=None, sample_weight=None, groups=None, values=None):
    """The levels of y in bins of a factor, others held fixed."""
    values = np.asarray(y, float) if values is None else values
    with open_variances(X, y, Options(task="regression"), sample_weight, groups) as variances:
        return partial_levels(variances.search, others, bins, values.reshape(len(values), -1), positions)


def in_quantiles(x, count=10):
    return np.searchsorted(np.quantile(x, np.linspace(0, 1, count + 1)[1:-1]), x, side="right")


def bin_means(bins, values, weights=None):
    weights = np.ones(len(bins)) if weights is None else weights
    return np.array([np.average(values[bins == b], weights=weights[bins == b]) for b in range(bins.max() + 1)])


def correlated(rows=2000, seed=0, correlation=0.8):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3))
    x[:, 1] = correlation * x[:, 0] + np.sqrt(1 - correlation**2) * x[:, 1]
    return x, rng.normal(size=rows)


def assert_within(levels, truth, errors=4.0):
    """Levels are as far from the truth as their standard errors allow, and these are not too large to tell."""
    assert (np.abs(levels.means - truth) < errors * levels.standard_errors).all()


@pytest.mark.parametrize("rows", [300, 2000, 8000])
def test_a_factor_that_goes_along_with_another_has_its_own_slope(rows):
    X, noise = correlated(rows)
    y, x = X[:, 0] - X[:, 1] + 0.5 * noise, X[:, 1]
    bins = in_quantiles(x)
    middle = bin_means(bins, x)
    plain, fixed = plain_levels(bins, y[:, None]), levels_of(X, y, [0, 2], bins, x)
    assert np.polyfit(middle, plain.means[:, 0], 1)[0] == pytest.approx(-0.2, abs=0.15)
    assert np.polyfit(middle, fixed.means[:, 0], 1)[0] == pytest.approx(-1, abs=3 / np.sqrt(rows))
    assert_within(fixed, (y.mean() - (middle - x.mean()))[:, None])
    assert fixed.standard_errors.max() < 5 / np.sqrt(rows)


def test_bins_alone_leave_more_of_what_goes_along():
    X, noise = correlated()
    y, x = X[:, 0] - X[:, 1] + 0.5 * noise, X[:, 1]
    bins = in_quantiles(x)
    truth = y.mean() - (bin_means(bins, x) - x.mean())
    jumping, straight = levels_of(X, y, [0], bins), levels_of(X, y, [0], bins, x)
    first, last = [0, -1], slice(3, 7)
    assert (np.abs(jumping.means[first, 0] - truth[first]) > 2 * np.abs(straight.means[first, 0] - truth[first])).all()
    np.testing.assert_allclose(jumping.means[last, 0], truth[last], atol=0.1)


@pytest.mark.parametrize("curve", [np.abs, np.square, lambda x: np.sin(2 * x)])
def test_effects_that_bend(curve):
    X, noise = correlated(3000)
    x = X[:, 1]
    y = X[:, 0] ** 2 + curve(x) + 0.2 * noise
    bins = in_quantiles(x, 12)
    truth = bin_means(bins, curve(x)) - curve(x).mean() + y.mean()
    fixed = levels_of(X, y, [0], bins, x)
    np.testing.assert_allclose(fixed.means[1:-1, 0], truth[1:-1], atol=0.15)
    assert np.abs(bin_means(bins, y) - truth)[1:-1].max() > 0.3


def test_mean_effects_where_factors_work_together():
    X, noise = correlated(3000, correlation=0.0)
    bins = in_quantiles(X[:, 0])
    product = levels_of(X, X[:, 0] * X[:, 1] + 0.1 * noise, [1], bins, X[:, 0])
    np.testing.assert_allclose(product.means, 0, atol=0.15)  # up for one half of the rows, down for the other
    y = X[:, 0] * (2 + X[:, 1]) + 0.1 * noise
    slope = np.polyfit(bin_means(bins, X[:, 0]), levels_of(X, y, [1], bins, X[:, 0]).means[:, 0], 1)[0]
    assert slope == pytest.approx(2, abs=0.15)


def test_levels_of_a_category():
    rng = np.random.default_rng(1)
    size = rng.normal(size=3000)
    grade = np.clip(np.round(1.5 - size + rng.normal(size=3000)), 0, 3).astype(int)  # large ones are worse
    worth = np.array([0.0, 1.0, 1.5, 3.0])
    X = pd.DataFrame({"size": size, "grade": np.array(list("abcd"))[grade]})
    y = 3 * size + worth[grade] + 0.5 * rng.normal(size=3000)
    fixed = levels_of(X, y, [0], grade)
    assert_within(fixed, (worth - worth[grade].mean() + y.mean())[:, None])
    assert np.bincount(grade) @ fixed.means[:, 0] == pytest.approx(y.sum())
    assert (np.diff(plain_levels(grade, y[:, None]).means[:, 0]) < 0).all()  # as it looks, better ones are cheaper


def test_a_number_with_another_category_held_fixed():
    rng = np.random.default_rng(2)
    make = rng.integers(0, 3, size=2000)
    x = make + rng.normal(size=2000)
    X = pd.DataFrame({"make": np.array(list("abc"))[make], "x": x})
    y = -4.0 * make + x + 0.3 * rng.normal(size=2000)
    bins = in_quantiles(x)
    fixed = levels_of(X, y, [0], bins, x)
    assert np.polyfit(bin_means(bins, x), fixed.means[:, 0], 1)[0] == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("others", [[], [2]])  # a constant separates no rows
def test_without_others_levels_are_plain_means(others):
    X, noise = correlated(500)
    X[:, 2] = 7.0
    y, bins = X[:, 0] + noise, in_quantiles(X[:, 0])
    fixed = levels_of(X, y, others, bins, X[:, 0])
    np.testing.assert_allclose(fixed.means[:, 0], bin_means(bins, y))
    of_means = [y[bins == b].std(ddof=1) / np.sqrt((bins == b).sum()) for b in range(10)]
    np.testing.assert_allclose(fixed.standard_errors[:, 0], of_means)


def test_rows_that_count_more():
    X, noise = correlated(1000)
    bins, weights = in_quantiles(X[:, 0]), 1.0 + np.arange(1000) % 3
    y = X[:, 0] - X[:, 1] + 0.5 * noise
    plain = levels_of(X, y, [], bins, sample_weight=weights)
    np.testing.assert_allclose(plain.means[:, 0], bin_means(bins, y, weights))
    # Where a third of the rows has another effect, its weight decides how much of that is seen.
    y = np.where(np.arange(1000) % 3 == 2, 2.0, -1.0) * X[:, 1] + X[:, 0] + 0.1 * noise
    bins = in_quantiles(X[:, 1])
    for heavy, slope in ((1.0, 0.0), (4.0, 1.0)):
        weights = np.where(np.arange(1000) % 3 == 2, heavy, 1.0)
        levels = levels_of(X, y, [0], bins, X[:, 1], sample_weight=weights)
        assert np.polyfit(bin_means(bins, X[:, 1]), levels.means[:, 0], 1)[0] == pytest.approx(slope, abs=0.2)
        shares = np.bincount(bins, weights) / weights.sum()
        assert shares @ levels.means[:, 0] == pytest.approx(np.average(y, weights=weights))


def test_rows_of_a_group_share_noise():
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(100), 10)
    X = rng.normal(size=(1000, 2))
    treated = np.repeat(rng.integers(0, 2, size=100), 10)  # all rows of a group
    y = X[:, 0] + treated + np.repeat(rng.normal(size=100), 10) + 0.1 * rng.normal(size=1000)
    X[:, 1] = treated + rng.normal(size=1000) / 10
    for others in ([], [0]):
        alone, together = levels_of(X, y, others, treated), levels_of(X, y, others, treated, groups=groups)
        assert (together.standard_errors > 2 * alone.standard_errors).all()
        assert together.standard_errors.max() == pytest.approx(1 / np.sqrt(50), rel=0.35)
        assert np.diff(together.means[:, 0])[0] == pytest.approx(1, abs=0.6)


def test_intervals_hold_the_truth():
    held = []
    for seed in range(40):
        X, noise = correlated(400, seed)
        x = X[:, 1]
        y = X[:, 0] ** 2 - x + (0.2 + 0.3 * np.abs(x)) * noise
        bins = in_quantiles(x, 8)
        fixed = levels_of(X, y, [0, 2], bins, x)
        truth = y.mean() - (bin_means(bins, x) - x.mean())
        held.append(np.abs(fixed.means[:, 0] - truth) < 1.96 * fixed.standard_errors[:, 0])
    assert 0.9 < np.mean(held) < 0.99


def test_shares_of_classes_sum_to_one():
    X, noise = correlated(2000)
    label = np.digitize(X[:, 0] - X[:, 1] + 0.3 * noise, [-0.3, 0.3])
    bins, shares = in_quantiles(X[:, 1]), (label[:, None] == np.arange(3)).astype(float)
    fixed = levels_of(X, label, [0], bins, X[:, 1], values=shares)
    np.testing.assert_allclose(fixed.means.sum(axis=1), 1)
    assert (np.diff(fixed.means[:, 0]) > 0).mean() > 0.7 and (np.diff(fixed.means[:, 2]) < 0).mean() > 0.7
    two = levels_of(X, shares[:, 2], [0], bins, X[:, 1], values=shares[:, 2:])
    np.testing.assert_allclose(two.means[:, 0], fixed.means[:, 2])
    np.testing.assert_allclose(two.standard_errors[:, 0], fixed.standard_errors[:, 2])


def test_missing_values_are_a_bin_of_their_own():
    X, noise = correlated(2000)
    y = X[:, 0] - X[:, 1] + 0.3 * noise
    gaps = np.arange(2000) % 4 == 0
    y[gaps] += 2 + X[gaps, 1]
    x = np.where(gaps, np.nan, X[:, 1])
    X[:, 1] = x
    bins = np.full(2000, 10)
    bins[~gaps] = in_quantiles(x[~gaps])
    fixed = levels_of(X, y, [0], bins, x)
    middle = [x[bins == b].mean() for b in range(10)]
    slope, level = np.polyfit(middle, fixed.means[:10, 0], 1)
    assert slope == pytest.approx(-1, abs=0.1)
    assert fixed.means[10, 0] - level == pytest.approx(2, abs=0.1)


def test_what_others_decide_cannot_be_told_apart():
    rng = np.random.default_rng(0)
    town = rng.integers(0, 6, size=600)
    X = pd.DataFrame({"town": np.array(list("abcdef"))[town], "x": rng.normal(size=600)})
    levels = levels_of(X, town + rng.normal(size=600), [0], town // 3)  # a county is known with the town
    assert np.isnan(levels.means).all()


def test_a_bin_with_hardly_a_row_has_no_level():
    X, noise = correlated(400)
    bins = (X[:, 1] > 0).astype(int)
    bins[:2] = 2
    levels = levels_of(X, X[:, 0] + noise, [0], bins)
    assert np.isnan(levels.means[2]).all() and np.isnan(levels.standard_errors[2]).all()
    assert np.isfinite(levels.means[:2]).all() and np.isfinite(levels.standard_errors[:2]).all()
    alone = plain_levels(np.array([0, 0, 2]), np.array([[1.0], [3.0], [5.0]]))
    np.testing.assert_allclose(alone.means[:, 0], [2, np.nan, 5])
    np.testing.assert_allclose(alone.standard_errors[:, 0], [1, 0, np.nan])


def test_many_rows_are_thinned(monkeypatch):
    X, noise = correlated(6000)
    y, x = 1e9 + X[:, 0] - X[:, 1] + 0.3 * noise, X[:, 1]
    monkeypatch.setattr(partial_effects, "MAX_SEARCHED", 4000)
    monkeypatch.setattr(partial_effects, "MAX_FITTED", 500)
    bins = in_quantiles(x)
    levels = levels_of(X, y, [0], bins, x)
    assert_within(levels, (y.mean() - (bin_means(bins, x) - x.mean()))[:, None])
    assert np.bincount(bins) @ levels.means[:, 0] / 6000 == pytest.approx(y.mean(), abs=0.01)


def test_the_same_bits_for_any_number_of_threads():
    X, noise = correlated(3000)
    bins, y = in_quantiles(X[:, 1]), (X[:, 0] + noise)[:, None]
    found = []
    for n_jobs in (1, 2):
        with open_variances(X, y[:, 0], Options(n_jobs=n_jobs)) as variances:
            found.append(partial_levels(variances.search, [0, 2], bins, y, X[:, 1]))
    assert (found[0].means == found[1].means).all() and (found[0].standard_errors == found[1].standard_errors).all()


def test_a_bin_without_any_of_the_rows_gives_no_warning():
    products = np.array([[0.2, -0.2, 0.0], [-0.2, 0.2, 0.0], [0.0, 0.0, 0.0]])
    inverse, is_known = partial_effects._invert(products, np.array([0.45, 0.45, 0.0]))
    assert np.isfinite(inverse).all() and not is_known
