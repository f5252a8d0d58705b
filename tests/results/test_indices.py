"""What indices say of themselves: shares, intervals, order; and what rounding must not decide."""

from dataclasses import replace

import narwhals as nw
import numpy as np
import pandas as pd
import pytest
from sample_tables import discrete_and_continuous, friedman
from scipy.stats import norm

from firstfactor import FIRST, DataQualityWarning, total_indices


@pytest.fixture(scope="module")
def noise():
    """Estimates from noise in which less than nothing is explained."""
    rng = np.random.default_rng(0)
    found = [total_indices(rng.normal(size=(60, 3)), rng.normal(size=60), uncertainty=True) for _ in range(10)]
    return [one for one in found if one.noise_variance > one.response_variance]


def made_up(values=(0.6, 0.3, 0.0), errors=(0.1, 0.1, np.nan), r2_error=0.1, bias=(0.0, 0.0, np.nan), r2_bias=0.0):
    """Indices of three factors that explain half of the variance."""
    found = total_indices(*friedman(60, factors=10), uncertainty=True)
    sure = replace(
        found.uncertainty, standard_errors=np.array(errors), r2=r2_error, bias=np.array(bias), r2_bias=r2_bias
    )
    return replace(
        found, values=np.array(values), uncertainty=sure, response_variance=2.0, noise_variance=1.0, kept=(0, 1)
    )


def test_less_than_nothing_explained_is_nothing(noise):
    assert noise
    for found in noise:
        assert found.explained_variance == found.r2_ceiling == 0
        assert not found.has_shares


def test_shares_are_at_most_one():
    np.testing.assert_array_equal(made_up(values=(1.3, 0.3, 0.0)).shares, [1.0, 0.3, 0.0])


def test_intervals_are_as_wide_as_their_level():
    found = made_up()
    for level in (0.5, 0.9):
        low, high = found.interval(level)[1]
        assert (low + high) / 2 == pytest.approx(0.3)
        assert norm.cdf(high, 0.3, 0.1) - norm.cdf(low, 0.3, 0.1) == pytest.approx(level)
    assert np.isnan(found.interval()[2]).all()


def test_bias_counts_as_one_more_standard_error():
    found = made_up(bias=(0.0, 0.2, np.nan), r2_bias=0.1)
    low, high = found.interval(0.5)[1]
    assert norm.cdf(high, 0.3, np.sqrt(0.05)) - norm.cdf(low, 0.3, np.sqrt(0.05)) == pytest.approx(0.5)
    low, high = found.r2_interval(0.5)
    assert norm.cdf(high, 0.5, np.sqrt(0.02)) - norm.cdf(low, 0.5, np.sqrt(0.02)) == pytest.approx(0.5)


def test_intervals_stay_between_0_and_1():
    low, high = made_up(values=(0.95, 0.01, 0.0)).interval()[:2].T
    assert high[0] == 1 and low[1] == 0


def test_nothing_is_known_at_a_level_at_which_the_ceiling_may_be_0():
    found = made_up(r2_error=0.2)  # the ceiling is 0.5
    assert found.r2_interval(0.95)[0] > 0 == found.r2_interval(0.999)[0]
    assert found.interval(0.95)[0, 0] > 0
    np.testing.assert_array_equal(found.interval(0.999)[:2], [[0, 1], [0, 1]])


def test_the_most_important_factors_are_those_supported():
    found = total_indices(*discrete_and_continuous())
    assert set(found.selected[:5].tolist()) == set(range(5, 10))
    assert 5 < found.sample_size.supported < 10  # in the order of the table, 4 would be too many


def test_what_another_factor_says_too_has_no_index_whatever_the_rounding():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x, z = rng.normal(size=(2, 60))
        np.testing.assert_array_equal(total_indices(np.column_stack([x, 2 - 7 * x]), np.sin(x) + z).values, 0)


def test_factors_left_out_come_in_the_order_in_which_they_came_close():
    X, y = friedman(100)
    X[:, 0] = 1.0
    found = FIRST().fit(X, y).indices_
    gains = [found.path.last_gains[i] for i in found.left_out[:-1].tolist()]
    assert gains == sorted(gains, reverse=True)
    assert len(set(gains)) > 2
    assert found.left_out[-1] == 0


def test_copies_of_rows_are_warned_of():
    X, y = friedman(50, factors=3 + 7)
    with pytest.warns(DataQualityWarning, match="50 of 100 rows are copies of others"):
        total_indices(np.tile(X, (2, 1)), np.tile(y, 2))


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_names_that_utf_8_has_not(backend):
    x = np.random.default_rng(0).normal(size=(30, 2))
    X = pd.DataFrame(x, columns=pd.Index(["a", "\ud800"], dtype=object))
    frame = nw.from_native(total_indices(X, x[:, 0]).to_frame(backend))
    assert frame["factor"].to_list() == ["a", "\\ud800"]
