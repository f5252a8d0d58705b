"""How near neighbours are, against plain loops, and how many factors the rows are enough for."""

import naive
import numpy as np
import pytest

from firstfactor import total_indices
from firstfactor.inference.constants import MAX_DISTANCE_SHARE
from firstfactor.inference.sample_size import diagnose_sample_size
from firstfactor.settings import Options
from firstfactor.variance.conditional import open_variances


def share(X, factors):
    """The mean squared distance of nearest neighbours as a share of that of any two rows."""
    columns, rows = naive.standardise(X.T.tolist()), range(len(X))
    squared = [[naive.distance(columns, factors, m, n) ** 2 for n in rows if n != m] for m in rows]
    return np.mean(np.min(squared, axis=1)) / np.mean(squared)


def in_three_dimensions(noise, factors=9, rows=100):
    """Many factors that say almost the same as three do, the less so the more noise there is."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(rows, 3)) @ rng.normal(size=(3, factors)) + noise * rng.normal(size=(rows, factors))


@pytest.mark.parametrize(("noise", "least"), [(0.3, 6), (0.6, 4), (1.0, 3), (100.0, 2)])
def test_as_many_factors_are_supported_as_have_near_neighbours(noise, least):
    X = in_three_dimensions(noise)
    with open_variances(X, X[:, 0], Options()) as variances:
        supported = diagnose_sample_size(variances, range(9), 0.0).supported
    assert share(X, range(supported)) <= MAX_DISTANCE_SHARE < share(X, range(supported + 1))
    assert least <= supported < 9


def test_near_is_a_tenth_of_the_squared_distance_of_any_two_rows():
    X = in_three_dimensions(0.3, factors=3)
    with open_variances(X, X[:, 0], Options()) as variances:
        crowding = diagnose_sample_size(variances, range(3), 0.0)
    assert crowding.distance_share == pytest.approx(share(X, range(3)))
    assert (crowding.supported is None) == (crowding.distance_share <= 0.1)
    rng = np.random.default_rng(0)
    crowded = total_indices(rng.normal(size=(100, 5)), rng.normal(size=100)).sample_size
    assert 0.1 < crowded.distance_share < 0.2
    assert crowded.supported is not None


def test_all_that_is_explained_may_be_distance_but_no_more():
    X = np.random.default_rng(0).normal(size=(100, 40))
    with open_variances(X, X.sum(axis=1), Options()) as variances:
        crowding = diagnose_sample_size(variances, range(40), 0.2 * variances.response.variance)
    assert crowding.distance_share > 0.5
    assert crowding.distance_bias == pytest.approx(0.8)


def test_neighbours_are_no_farther_than_any_two_rows():
    rng = np.random.default_rng(0)
    X, y = np.r_[rng.normal(size=(20, 2)), [[50.0, 50.0]]], rng.normal(size=21)
    shares = [total_indices(X, y, n_outer=1, random_state=seed).sample_size.distance_share for seed in range(40)]
    assert max(shares) == 1.0  # where the one row looked at is far from all others


def test_distance_is_no_bias_of_extrapolations():
    X = np.random.default_rng(0).normal(size=(100, 5))
    nearest, extrapolated = (
        total_indices(X, X.sum(axis=1), variance_estimator=name).sample_size for name in ("nearest", "extrapolated")
    )
    assert nearest.distance_bias > 0.1
    assert extrapolated.distance_share == nearest.distance_share
    assert extrapolated.distance_bias == 0


def test_where_nothing_is_explained_nothing_is_lost():
    rng = np.random.default_rng(0)
    found = [total_indices(rng.normal(size=(60, 3)), rng.normal(size=60)) for _ in range(10)]
    none_explained = [one for one in found if one.noise_variance > one.response_variance]
    assert none_explained
    assert all(one.sample_size.distance_bias == 0 for one in none_explained)
