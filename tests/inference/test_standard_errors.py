"""How sure: standard errors, intervals, p-values; two estimators; halves; too few rows."""

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sample_tables import as_lists, friedman, mixed, tables
from scipy.stats import norm

from firstfactor import FIRST, TooFewRowsWarning, backward_elimination, total_indices
from firstfactor.inference import standard_errors as uncertainty
from firstfactor.inference.standard_errors import Average, Linear
from firstfactor.problems import ishigami
from firstfactor.settings import Options
from firstfactor.variance.conditional import open_variances

estimators = pytest.mark.parametrize("estimator", ["nearest", "extrapolated"])


def additive(rows=300, seed=0):
    """Two factors that matter and one that does not."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(rows, 3))
    return X, 3 * X[:, 0] + X[:, 1] + rng.normal(size=rows) / 2


# --- against plain loops -------------------------------------------------------------------------------


@given(tables(), st.sampled_from([2, 3]))
def test_standard_errors_equal_those_in_plain_loops(table, k):
    X, y = table
    columns = naive.standardise(as_lists(X))
    factors = naive.varying(columns)
    assume(factors)
    explained = naive.explained_variance(columns, y.tolist(), factors, k)
    assume(explained > 1e-6 * y.var())
    ours = total_indices(X, y, n_neighbors=k, uncertainty=True, task="regression").standard_errors
    expected = np.square([naive.standard_error(columns, y.tolist(), factors, i, k) for i in factors])
    np.testing.assert_allclose(ours[factors] ** 2, expected, rtol=1e-6, atol=1e-10 * max(1.0, expected.max()))


def test_the_error_of_the_ceiling_equals_that_in_plain_loops():
    X, y = additive(rows=60)
    columns = naive.standardise(X.T.tolist())
    left = naive.conditional_variance(columns, y.tolist(), [0, 1, 2], 2) / y.var(ddof=1)
    whole, overlap, shared = naive.contributions(columns, y.tolist(), [0, 1, 2], 2)
    total = naive.contributions(columns, y.tolist(), [], 2)[0]
    variance = np.var(np.array(whole) - left * np.array(total), ddof=1)
    expected = np.sqrt((variance + overlap - 2 * left * shared) / 60)
    assert total_indices(X, y, uncertainty=True).uncertainty.r2 == pytest.approx(expected)


def extrapolate(reach, least=1.5):
    """What the squared errors of a narrower and of a wider fit count, for the squared distances that they reach."""
    ratio = max(np.mean(reach[1]) / np.mean(reach[0]), least)
    return np.array([ratio, -1]) / (ratio - 1)


@pytest.fixture(scope="module")
def fits_in_plain_loops():
    """A table of two factors, squared errors of both fits, and the squared distances of their last neighbours."""
    X, y = friedman(rows=80)
    X = X[:, [0, 6]]
    columns = naive.standardise(as_lists(pd.DataFrame(X)))
    terms = naive.best_trend(columns, y.tolist(), [0, 1], 40)
    squares, reach = [], []
    for band in (12, 36):
        errors = [naive.error_around_trend(columns, y.tolist(), [0, 1], terms, m, band) for m in range(80)]
        distances = [sorted(naive.distance(columns, [0, 1], m, n) for n in range(80) if n != m) for m in range(80)]
        squares.append(np.square(errors))
        reach.append([each[band - 1] ** 2 for each in distances])
    return X, y, np.array(squares), np.array(reach)


def test_the_extrapolated_variance_is_that_of_two_fits_in_plain_loops(fits_in_plain_loops):
    X, y, squares, reach = fits_in_plain_loops
    expected = extrapolate(reach) @ squares.mean(axis=1)
    np.testing.assert_allclose(
        total_indices(X, y, variance_estimator="extrapolated").noise_variance, expected, rtol=1e-9
    )


def test_what_is_taken_off_for_bias_is_allowed_for(fits_in_plain_loops):
    X, y, squares, reach = fits_in_plain_loops
    near, wide = squares.mean(axis=1)
    assert wide > near
    found = total_indices(X, y, variance_estimator="extrapolated", uncertainty=True)
    sure, taken_off = found.uncertainty, near - extrapolate(reach) @ squares.mean(axis=1)
    assert sure.r2_bias == pytest.approx(taken_off / y.var(ddof=1), rel=1e-8)
    margin = norm.ppf(0.975) * np.hypot(sure.r2, sure.r2_bias)
    assert found.r2_interval() == pytest.approx((found.r2_ceiling - margin, min(found.r2_ceiling + margin, 1)))


@estimators
def test_p_values_are_on_the_safe_side_of_intervals(estimator, monkeypatch):
    X, y = friedman(300)
    found = total_indices(X, y, uncertainty=True, variance_estimator=estimator)
    monkeypatch.setattr(uncertainty, "COMMON_AT_LEAST", uncertainty.COMMON)
    bold = total_indices(X, y, uncertainty=True, variance_estimator=estimator)
    np.testing.assert_array_equal(found.standard_errors, bold.standard_errors)
    positive = found.values > 0
    assert (found.p_values[positive] >= bold.p_values[positive]).all()
    assert (found.p_values != bold.p_values).any()


# --- against the truth ---------------------------------------------------------------------------------


@pytest.mark.slow
@estimators
def test_standard_errors_are_about_the_spread_over_many_tables(estimator):
    results = [total_indices(*additive(seed=s), uncertainty=True, variance_estimator=estimator) for s in range(80)]
    for spread, errors in [
        (np.std([r.values[0] for r in results], ddof=1), [r.standard_errors[0] for r in results]),
        (np.std([r.noise_variance for r in results], ddof=1), [r.uncertainty.noise for r in results]),
        (np.std([r.r2_ceiling for r in results], ddof=1), [r.uncertainty.r2 for r in results]),
    ]:
        assert 0.75 < np.mean(errors) / spread < 1.35


@pytest.mark.slow
@estimators
def test_p_values_of_what_adds_nothing_are_not_small(estimator):
    results = [total_indices(*additive(seed=s), uncertainty=True, variance_estimator=estimator) for s in range(80)]
    assert np.mean([r.p_values[2] <= 0.05 for r in results]) <= 0.1
    assert np.mean([r.p_values[0] <= 0.001 for r in results]) == 1


def test_extrapolation_takes_most_of_the_distance_bias_away():
    X, y = ishigami.sample(1000, 3, seed=0)
    nearest, extrapolated = (
        total_indices(X, y, variance_estimator=e).noise_variance for e in ("nearest", "extrapolated")
    )
    assert nearest > 1.7
    assert 0.8 < extrapolated < 1.35


@pytest.mark.slow
def test_intervals_hold_the_truth_about_as_often_as_they_say():
    truth = ishigami.total_indices(3)
    held, ceiling_held = [], []
    for seed in range(50):
        X, y = ishigami.sample(1000, 3, seed=seed)
        found = total_indices(X, y, uncertainty=True, variance_estimator="extrapolated")
        low, high = found.interval().T
        held.append((low <= truth) & (truth <= high))
        ceiling_held.append(found.r2_interval()[0] <= 0.9326 <= found.r2_interval()[1])
        assert found.r2_interval()[1] - found.r2_interval()[0] < 0.05
    assert np.mean(held) >= 0.9
    assert np.mean(ceiling_held) >= 0.9


def test_where_neighbours_are_far_the_ceiling_may_be_much_higher():
    X, y = friedman(rows=300, factors=20)
    with pytest.warns(TooFewRowsWarning):
        found = total_indices(X, y, uncertainty=True, variance_estimator="extrapolated")
    left, beyond = found.noise_variance / found.response_variance, 2 * (found.sample_size.distance_share - 0.1)
    assert 0.2 < beyond < 1
    assert found.uncertainty.r2_bias >= left * beyond
    assert found.r2_interval()[1] > 0.95


def test_the_bias_of_nearest_neighbours_is_allowed_for():
    found = total_indices(*additive(), uncertainty=True)
    sure = found.uncertainty
    assert sure.r2_bias == found.sample_size.distance_bias > 0
    explained = found.r2_ceiling
    np.testing.assert_allclose(sure.bias, (1 - found.values) * sure.r2_bias / explained, atol=0.02)


def test_subsamples_agree_with_the_plug_in():
    X, y = additive(rows=400)
    plain = total_indices(X, y, uncertainty=True)
    again = total_indices(X, y, uncertainty=True, method="subsample", random_state=0)
    np.testing.assert_array_equal(plain.values, again.values)
    ratio = (again.standard_errors / plain.standard_errors)[:2]
    assert (ratio > 0.6).all()
    assert (ratio < 1.6).all()
    assert 0.6 < again.uncertainty.r2 / plain.uncertainty.r2 < 1.6
    assert 0.6 < again.uncertainty.noise / plain.uncertainty.noise < 1.6


def test_errors_from_halves_are_about_the_spread_over_many_tables():
    spread = np.std([total_indices(*additive(200, s), n_neighbors=20).noise_variance for s in range(150)], ddof=1)
    options = {"n_neighbors": 20, "uncertainty": True, "method": "subsample", "random_state": 0}
    errors = [total_indices(*additive(200, s), **options).uncertainty.noise for s in range(8)]
    assert np.mean(errors) / spread == pytest.approx(1, abs=0.25)


def test_errors_from_halves_are_about_those_of_the_plug_in():
    halves, plain = (
        [
            total_indices(*additive(seed=s), uncertainty=True, method=method, random_state=s).uncertainty.noise
            for s in range(8)
        ]
        for method in ("subsample", "plug-in")
    )
    assert 0.92 < np.mean(halves) / np.mean(plain) < 1.35


@estimators
def test_errors_from_some_rows_are_those_of_the_mean_over_all(estimator, monkeypatch):
    X, y = additive(rows=2500)
    some = total_indices(X, y, uncertainty=True, variance_estimator=estimator)
    monkeypatch.setattr(uncertainty, "MAX_ERROR_ROWS", 10_000)
    everyone = total_indices(X, y, uncertainty=True, variance_estimator=estimator)
    np.testing.assert_allclose(some.standard_errors, everyone.standard_errors, rtol=0.15)
    np.testing.assert_allclose(some.uncertainty.noise, everyone.uncertainty.noise, rtol=0.15)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_errors_of_weighted_and_grouped_means_equal_those_in_plain_algebra(weighted, grouped):
    rng = np.random.default_rng(0)
    X, y = additive(rows=60)
    weights, groups = rng.uniform(0.2, 3, size=60), rng.integers(0, 9, size=60)
    given = {"sample_weight": weights if weighted else None, "groups": groups if grouped else None}
    with open_variances(X, y, Options(), **given) as variances:
        average = Average(variances, 1)
    rows, overlap = rng.normal(size=60) + groups, 0.7
    w = weights / weights.mean() if weighted else np.ones(60)

    def of_rows(values):
        return np.sum((w * (values - w @ values / 60)) ** 2) / 59

    def of_groups(values):
        parts = w * (values - w @ values / 60)
        return np.sum([parts[groups == g].sum() ** 2 for g in range(9)]) / 60 * 9 / 8

    variance = of_rows(rows) + of_groups(2 * rows) - of_rows(2 * rows) if grouped else of_rows(rows)
    assert average.error(Linear(rows, 2 * rows, overlap)) == pytest.approx(
        np.sqrt((variance + overlap * np.mean(w**2)) / 60)
    )


def test_outer_rows_and_all_rows_have_the_outer_ones_in_common():
    """The variance of a mean of some rows minus another of all rows, against draws."""
    rng = np.random.default_rng(0)
    X, y = additive(rows=400)
    with open_variances(X, y, Options(n_outer=100, random_state=0)) as variances:
        average = Average(variances, 1)
        total = variances.search.squared_deviations(variances.outer).rows
    a, t = 0.8 * total + rng.normal(size=100), total
    drawn = rng.integers(0, 100, size=(20_000, 400))
    spread = np.std(a[drawn[:, :100]].mean(axis=1) - t[drawn].mean(axis=1))
    assert average.error(Linear(a, a, 0.0, -1.0)) == pytest.approx(spread, rel=0.05)


@pytest.mark.parametrize("n_neighbors", [2, 3, 5, 10])
def test_errors_of_noise_and_ceiling_are_right_for_any_number_of_neighbours(n_neighbors):
    found = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        X, y = rng.uniform(size=(400, 2)), rng.normal(size=400)
        found.append(total_indices(X, y, n_neighbors=n_neighbors, uncertainty=True))
    ceilings = [1 - one.noise_variance / one.response_variance for one in found]
    for values, errors in [
        ([one.noise_variance for one in found], [one.uncertainty.noise for one in found]),
        (ceilings, [one.uncertainty.r2 for one in found]),
    ]:
        assert 0.7 < np.mean(errors) / np.std(values, ddof=1) < 1.25


@estimators
def test_what_rows_of_a_group_have_in_common_is_in_their_neighbours_too(estimator):
    found = []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        person = np.repeat(np.arange(40), 10)
        y = 2 * rng.normal(size=40)[person] + rng.normal(size=400)
        found.append(
            total_indices(rng.uniform(size=(400, 2)), y, groups=person, uncertainty=True, variance_estimator=estimator)
        )
    spread = np.std([one.noise_variance for one in found], ddof=1)
    assert 0.85 < np.mean([one.uncertainty.noise for one in found]) / spread < 1.3


def test_all_rows_of_groups_are_looked_at(monkeypatch):
    X, y = additive(rows=400)
    everyone = total_indices(X, y, uncertainty=True, groups=np.arange(400) // 8)
    monkeypatch.setattr(uncertainty, "MAX_ERROR_ROWS", 100)
    some = total_indices(X, y, uncertainty=True, groups=np.arange(400) // 8)
    np.testing.assert_array_equal(some.standard_errors, everyone.standard_errors)


# --- what must not change anything ---------------------------------------------------------------------


@estimators
def test_units_of_the_response_change_no_standard_error(estimator):
    X, y = friedman(rows=200)
    X = X[:, [0, 6, 7]]
    plain, other = (
        total_indices(X, values, uncertainty=True, variance_estimator=estimator) for values in (y, 1e6 - 1e3 * y)
    )
    np.testing.assert_allclose(other.standard_errors, plain.standard_errors, rtol=1e-7)
    np.testing.assert_allclose(other.p_values, plain.p_values, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(other.uncertainty.noise, 1e6 * plain.uncertainty.noise, rtol=1e-7)


@estimators
def test_order_of_rows_and_columns_changes_no_standard_error(estimator):
    X, y = mixed()
    rows = np.random.default_rng(1).permutation(len(y))
    plain = total_indices(X, y, uncertainty=True, variance_estimator=estimator)
    other = total_indices(X[X.columns[::-1]].iloc[rows], y[rows], uncertainty=True, variance_estimator=estimator)
    np.testing.assert_allclose(other.standard_errors[::-1], plain.standard_errors, rtol=0.02)


@estimators
def test_the_same_bits_for_any_number_of_threads(estimator):
    X, y = friedman(rows=700)
    one, two = (FIRST(variance_estimator=estimator, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.importances_, two.importances_)
    np.testing.assert_array_equal(one.standard_errors_, two.standard_errors_)
    np.testing.assert_array_equal(one.p_values_, two.p_values_)


# --- what users see ------------------------------------------------------------------------------------


def test_every_fitted_selector_says_how_sure_it_is():
    selector = FIRST().fit(*friedman(rows=500))
    known = np.isfinite(selector.standard_errors_)
    np.testing.assert_array_equal(known, selector.support_)
    low, high = selector.interval(0.9)[selector.support_].T
    assert (low < selector.importances_[selector.support_]).all()
    assert (high > selector.importances_[selector.support_]).all()
    assert (selector.interval(0.99)[:, 1] >= selector.interval(0.5)[:, 1])[selector.support_].all()
    bottom, top = selector.indices_.r2_interval()
    assert bottom < selector.r2_ceiling_ < top


def test_rows_that_selected_by_the_paper_s_rule_give_no_p_values():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(100, 8)), rng.normal(size=100)
    for selector in (FIRST(), FIRST(forward="fast")):
        indices = selector.fit(X, y).indices_
        assert indices.selected.size and np.isnan(selector.p_values_).all() and not indices.has_p_values
        assert "p_value" not in indices.to_frame() and " p\n" not in str(indices)
    X, y = friedman(rows=300)
    halved, calibrated = FIRST(split=True, random_state=0).fit(X, y), FIRST(rule="calibrated", random_state=0).fit(X, y)
    assert np.isfinite(halved.p_values_).tolist() == halved.support_.tolist()
    assert np.isfinite(calibrated.p_values_).all() and np.isfinite(calibrated.q_values_).all()
    assert (calibrated.p_values_[~calibrated.support_] > calibrated.alpha).all()
    assert "p_value" in halved.indices_.to_frame() and "q_value" in calibrated.indices_.to_frame()
    for found in (total_indices(X, y, uncertainty=True), backward_elimination(X, y, uncertainty=True)):
        assert np.isfinite(found.p_values[found.support]).all()


def test_weak_factors_are_those_with_a_large_p_value():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 8))
    found = total_indices(X, X[:, 0] + 0.8 * X[:, 1] + 0.8 * rng.normal(size=150), uncertainty=True)
    assert 0 < found.weak.sum() < found.selected.size
    np.testing.assert_array_equal(found.weak, found.support & (found.p_values > 0.05))


def test_without_p_values_those_are_weak_whose_interval_reaches_0():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 8))
    found = FIRST().fit(X, X[:, 0] + 0.8 * X[:, 1] + 0.8 * rng.normal(size=150)).indices_
    assert 0 < found.weak.sum() < found.selected.size
    np.testing.assert_array_equal(found.weak, found.support & (found.interval()[:, 0] == 0))


def test_a_share_of_next_to_nothing_is_not_known():
    rng = np.random.default_rng(3)
    found = [total_indices(rng.uniform(size=(100, 3)), rng.normal(size=100), uncertainty=True) for _ in range(20)]
    errors = np.concatenate([result.standard_errors for result in found])
    assert errors.max() == 0.5
    assert (errors > 0.1).all()


@pytest.mark.parametrize("method", ["plug-in", "subsample"])
def test_where_nothing_is_explained_nothing_is_known(method):
    rng = np.random.default_rng(0)
    tables = [(rng.uniform(size=(50, 3)), rng.normal(size=50)) for _ in range(10)]
    found = [total_indices(X, y, uncertainty=True, method=method, random_state=0) for X, y in tables]
    none_explained = [one.standard_errors for one in found if one.r2_ceiling == 0]
    assert len(none_explained) > 2
    np.testing.assert_array_equal(none_explained, 0.5)


def test_one_row_says_nothing_of_how_sure():
    found = total_indices(*additive(), uncertainty=True, n_outer=1, random_state=0)
    assert np.isnan(found.standard_errors).all()
    assert np.isnan(found.uncertainty.noise)


def test_frames_tell_how_sure():
    columns = ["factor", "importance", "standard_error", "p_value"]
    assert list(total_indices(*additive(), uncertainty=True).to_frame().columns) == columns
    assert list(total_indices(*additive()).to_frame().columns) == columns[:2]


def test_sets_and_eliminated_factors_have_standard_errors():
    X, y = additive()
    joint = total_indices(X, y, subset=[0, 1], uncertainty=True)
    assert joint.standard_errors.shape == (1,)
    assert joint.p_values[0] < 1e-6
    kept = backward_elimination(X, y, uncertainty=True)
    np.testing.assert_array_equal(np.isfinite(kept.standard_errors), kept.support)
    assert backward_elimination(X, y).uncertainty is None


def test_nothing_is_said_of_constant_factors():
    X, y = additive()
    found = total_indices(np.column_stack([X, np.ones(len(y))]), y, uncertainty=True)
    np.testing.assert_array_equal(np.isnan(found.standard_errors), [False, False, False, True])


def test_a_response_without_noise_has_an_exact_ceiling():
    found = total_indices(*additive(), noise=False, uncertainty=True)
    assert found.uncertainty.noise == 0
    assert found.uncertainty.r2 == 0
    assert (found.standard_errors > 0).all()


@pytest.mark.parametrize("scale", [1e100, 1e-100])
def test_huge_and_tiny_units_are_no_matter(scale):
    X, y = additive()
    plain, other = (
        total_indices(X, values, uncertainty=True, variance_estimator="extrapolated") for values in (y, scale * y)
    )
    np.testing.assert_allclose(other.standard_errors, plain.standard_errors, rtol=1e-6)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"variance_estimator": "best"},
            "variance_estimator must be one of 'nearest', 'extrapolated', 'adaptive'; got 'best'",
        ),
        ({"rule": "strict"}, "rule must be one of 'paper', 'calibrated'; got 'strict'"),
        ({"rule": "calibrated", "alpha": 0}, "alpha must be a number from 0.001 to 1; got 0"),
        ({"rule": "calibrated", "alpha": "low"}, "alpha must be a number from 0.001 to 1; got 'low'"),
        ({"rule": "calibrated", "alpha": 1.0}, "alpha must be a number below 1; got 1.0"),
        ({"rule": "calibrated", "forward": "fast"}, "forward must be 'full' and elimination 'batch'"),
        ({"split": 0.3}, "split must be True or False; got 0.3"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        FIRST(**parameters).fit(*additive())


def test_wrong_methods_and_levels_are_named():
    with pytest.raises(ValueError, match="method must be one of 'plug-in', 'subsample'; got 'bootstrap'"):
        total_indices(*additive(), uncertainty=True, method="bootstrap")
    with pytest.raises(ValueError, match="level must be a number from 0 to 1; got 95"):
        total_indices(*additive(), uncertainty=True).interval(95)
    with pytest.raises(ValueError, match="no standard errors were computed; use uncertainty=True"):
        total_indices(*additive()).interval()


# --- halves --------------------------------------------------------------------------------------------


def test_split_chooses_on_one_half_and_estimates_on_the_other():
    X, y = friedman(rows=600)
    selector = FIRST(split=True, random_state=0).fit(X, y)
    assert selector.indices_.n_rows == 300
    assert {0, 6} <= set(selector.selected_.tolist())
    assert not np.array_equal(selector.importances_, FIRST(split=True, random_state=1).fit(X, y).importances_)


def test_p_values_of_a_split_are_those_of_the_rows_that_did_not_choose():
    X, y = friedman(rows=300)
    selector = FIRST(rule="calibrated", split=True, random_state=0).fit(X, y)
    rng = np.random.default_rng(0)
    others = np.sort(rng.permutation(300)[1::2])
    chosen = selector.support_
    given = total_indices(X[others][:, chosen], y[others], variance_estimator="adaptive", uncertainty=True)
    np.testing.assert_allclose(np.log(selector.p_values_[chosen]), np.log(given.p_values), atol=0.5)


def test_halves_are_averaged_over_their_outer_rows():
    X, y = friedman(rows=600)
    few, all_rows = (FIRST(split=True, random_state=0, n_outer=n).fit(X, y) for n in (60, None))
    assert np.nanmean(few.standard_errors_) > 2 * np.nanmean(all_rows.standard_errors_)


def test_noise_explains_nothing_on_rows_that_did_not_choose():
    claimed, honest = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.uniform(size=(200, 10)), rng.normal(size=200)
        claimed.append(FIRST().fit(X, y).r2_ceiling_)
        honest.append(FIRST(split=True, random_state=0).fit(X, y).r2_ceiling_)
    assert np.mean(claimed) > 0.1
    assert abs(np.mean(honest)) < 0.1


def test_halves_of_two_classes_both_hold_both():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(200, 2)), np.arange(200) < 4
    for seed in range(5):
        FIRST(split=True, random_state=seed).fit(X, y)


def test_halves_without_variation_are_refused():
    with pytest.raises(ValueError, match="y does not vary in 50 rows drawn from 100"):
        FIRST(split=True, random_state=0).fit(np.random.default_rng(0).uniform(size=(100, 2)), np.arange(100) == 7)


# --- too few rows --------------------------------------------------------------------------------------


def test_too_few_rows_for_so_many_factors_are_told_with_what_they_can_support():
    X, y = friedman(rows=200, factors=20)
    with pytest.warns(TooFewRowsWarning, match="200 rows are too few for 20 factors") as warned:
        found = total_indices(X, y)
    assert warned[0].filename == __file__
    assert 3 <= found.sample_size.supported <= 8
    assert found.sample_size.distance_share > 0.3


def test_enough_rows_are_no_matter():
    X, y = friedman(rows=1000)
    sample_size = total_indices(X[:, [0, 6, 7]], y).sample_size
    assert sample_size.supported is None
    assert 0 < sample_size.distance_share < 0.02


def test_the_distance_bias_of_a_linear_response_is_found():
    X = np.random.default_rng(0).normal(size=(500, 5))
    found = total_indices(X, X.sum(axis=1))
    np.testing.assert_allclose(found.sample_size.distance_bias, 1 - found.r2_ceiling, rtol=0.15)


def test_categories_count_in_the_distance_of_any_two_rows():
    X, y = mixed(rows=100)  # fewer than are looked at
    columns = naive.standardise(as_lists(X))
    squares = [[naive.distance(columns, range(5), m, n) ** 2 for n in range(100) if n != m] for m in range(100)]
    share = total_indices(X, y).sample_size.distance_share
    np.testing.assert_allclose(share, np.mean([min(row) for row in squares]) / np.mean(squares), rtol=1e-9)


def test_factors_that_do_not_vary_on_the_other_half_are_no_matter():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(60) == 30, rng.normal(size=60)]).astype(float)
    y = 100 * X[:, 0] + 0.01 * rng.normal(size=60)
    for seed in range(10):
        assert np.isfinite(FIRST(split=True, random_state=seed).fit(X, y).importances_).all()
