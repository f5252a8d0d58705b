"""Extrapolation: when it stops, what it never returns, and how sure it is."""

import numpy as np
import pytest
from sample_tables import friedman

from firstfactor import total_indices
from firstfactor.settings import Options
from firstfactor.variance import extrapolated
from firstfactor.variance.conditional import open_variances
from firstfactor.variance.extrapolated import ExtrapolatedSearch, numbers_of_neighbors
from firstfactor.variance.local_linear import LocalLinear


def test_fits_have_enough_neighbours_to_tell_their_slopes():
    assert [numbers_of_neighbors(slopes) for slopes in (0, 5, 8, 30)] == [(12, 36), (12, 36), (18, 54), (24, 72)]


def test_with_many_factors_the_difference_is_taken_off_twice_at_most():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(200, 30)), rng.normal(size=200)
    with open_variances(X, y, Options(variance_estimator="extrapolated")) as variances:
        found = variances.contributions(range(30), 1)
        errors = LocalLinear(variances.search, range(30), (24, 72)).errors(variances.response.values, np.arange(200))
    near, far = errors.reach.mean(axis=1)
    assert 1.1 < far / near < 1.3
    narrow, wide = np.mean(errors.values**2, axis=1)
    variance = variances.response.variance
    assert found.rows.mean() * variance == pytest.approx(narrow + 2 * (narrow - wide))
    assert wide > narrow
    assert found.bias * variance == pytest.approx((wide - narrow) / (far / near - 1))  # it may be all of that


def test_bias_is_allowed_for_where_the_wider_fit_is_worse():
    def allowed(make_response, seed):
        X = np.random.default_rng(seed).normal(size=(300, 3))
        with open_variances(X, make_response(X), Options(variance_estimator="extrapolated")) as variances:
            return variances.contributions((0, 1), 1).bias

    noise = np.random.default_rng(1).normal(size=300)
    assert 0.3 < np.mean([allowed(lambda X: X[:, 0] + noise, seed) > 0 for seed in range(60)]) < 0.7
    assert all(allowed(lambda X: np.sin(6 * X[:, 0]) * X[:, 1], seed) > 0.02 for seed in range(20))


def test_of_many_rows_some_are_averaged_over_and_counted(monkeypatch):
    X, y = friedman(600)
    options = {"variance_estimator": "extrapolated", "uncertainty": True}
    everyone = total_indices(X[:, [0, 6]], y, **options)
    monkeypatch.setattr(extrapolated, "MAX_OUTER", 150)
    threads = [total_indices(X[:, [0, 6]], y, **options, n_jobs=n_jobs) for n_jobs in (1, 2)]
    with open_variances(X, y, Options(variance_estimator="extrapolated")) as variances:
        assert variances.outer.size == 150 < variances.search.outer.size
    with open_variances(X, y, Options(variance_estimator="extrapolated", n_outer=300, random_state=0)) as variances:
        assert variances.outer.size == 300
    np.testing.assert_array_equal(threads[0].values, threads[1].values)
    assert 1.4 < threads[0].uncertainty.noise / everyone.uncertainty.noise < 2.2


def test_a_variance_is_never_below_0():
    raw = []
    for seed in range(10):
        X = np.random.default_rng(seed).uniform(size=(60 + 20 * seed, 1))
        with open_variances(X, np.sin(25 * X[:, 0]), Options(variance_estimator="extrapolated")) as variances:
            raw.append(ExtrapolatedSearch(variances.search).contributions([0], 1).rows.mean())
            assert variances.of([0]) == pytest.approx(max(raw[-1], 0) * variances.response.variance)
    assert min(raw) < 0 < max(raw)


def test_some_of_the_outer_rows_contribute_what_they_do_among_all():
    X, y = friedman(100)
    with open_variances(X, y, Options()) as variances:
        fresh, search = ExtrapolatedSearch(variances.search), ExtrapolatedSearch(variances.search)
        search.contributions([0, 6], 1)  # remembered
        some = search.contributions([0, 6], 3)
        np.testing.assert_array_equal(some.rows, fresh.contributions([0, 6], 3).rows)
    assert some.rows.shape == (34,)


def test_few_outer_rows_are_seldom_neighbours_of_each_other():
    X, y = friedman(400)
    overlaps = []
    for n_outer in (400, 100):
        with open_variances(X, y, Options(n_outer=n_outer, random_state=0)) as variances:
            overlaps.append(ExtrapolatedSearch(variances.search).contributions([0, 6], 1).overlap)
    assert overlaps[1] / overlaps[0] == pytest.approx(0.25, rel=0.4)


@pytest.mark.slow
@pytest.mark.parametrize("factors", [2, 5])
def test_the_noise_is_as_sure_as_it_is_said_to_be(factors):
    found = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        X, y = rng.uniform(size=(150, factors)), rng.normal(size=150)
        found.append(total_indices(X, y, variance_estimator="extrapolated", uncertainty=True))
    spread = np.std([one.noise_variance for one in found], ddof=1)
    assert np.mean([one.uncertainty.noise for one in found]) / spread == pytest.approx(1, abs=0.15)


def test_a_set_has_one_order_whatever_order_it_is_given_in():
    X, y = friedman(rows=150)
    with (
        open_variances(X, y, Options(variance_estimator="extrapolated")) as one,
        open_variances(X, y, Options()) as other,
    ):
        search = ExtrapolatedSearch(one.search)
        again = ExtrapolatedSearch(other.search)
        first, second = search.contributions((6, 0, 9, 7), 1), again.contributions((0, 6, 7, 9), 1)
    np.testing.assert_array_equal(first.rows, second.rows)
    assert first.bias == second.bias
