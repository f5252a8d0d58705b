"""How well factors explain each other: numbers, categories, gaps, some rows of many."""

import numpy as np
import pandas as pd
import pytest

from firstfactor import FIRST
from firstfactor.dependence import tree
from firstfactor.dependence.tree import Dependence
from firstfactor.settings import Options
from firstfactor.variance.conditional import open_variances


def explained(X, y=None, sample_weight=None, groups=None, most_rows=tree.MAX_ROWS, **options):
    """How well each factor (rows) is explained by each (columns)."""
    y = np.random.default_rng(9).normal(size=len(X)) if y is None else y
    with open_variances(X, y, Options.parse(options), sample_weight, groups) as variances:
        everything = variances.design.varying
        return Dependence(variances, most_rows).explained_by_each(everything, everything)


def normal_pair(correlation, rows=2000, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, rows))
    return np.column_stack([a, correlation * a + np.sqrt(1 - correlation**2) * b])


def test_a_response_that_hardly_ever_varies_is_no_matter():
    X, y = np.random.default_rng(0).normal(size=(5000, 3)), np.zeros(5000)
    y[7] = 1.0
    assert FIRST(task="regression").fit(X, y).explanations_.names == ("x0", "x1", "x2")


def test_weights_say_which_rows_count():
    X = normal_pair(0.7)
    near = np.abs(X[:, 0]) < 0.3
    weighted = explained(X, sample_weight=np.where(near, 1.0, 1e-6))
    assert weighted[0, 1] < 0.15  # of all rows, 0.48
    np.testing.assert_allclose(weighted, explained(X[near]), atol=0.1)
    np.testing.assert_allclose(explained(X, sample_weight=np.full(len(X), 3.0)), explained(X), rtol=1e-12)


def test_outliers_count_no_more_than_other_rows():
    X = normal_pair(0.8)
    outlier = X.copy()
    outlier[0] = 1e6, 0.0
    np.testing.assert_allclose(explained(outlier), explained(X), atol=0.05)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9, 0.99])
def test_normal_numbers_explain_the_square_of_the_correlation_of_their_ranks(correlation):
    of_ranks = 6 / np.pi * np.arcsin(correlation / 2)
    found = explained(normal_pair(correlation))
    np.testing.assert_allclose([found[0, 1], found[1, 0]], of_ranks**2, atol=0.05)
    np.testing.assert_allclose(np.diag(found), 1, atol=0.01)


def test_categories_and_numbers_explain_each_other():
    """A quarter that is right four times of five leaves 1 − (0.8 − 0.2/3)² of itself unknown."""
    rng = np.random.default_rng(0)
    number = rng.uniform(size=2000)
    level = np.floor(4 * number).astype(int)
    wrong = np.where(rng.uniform(size=2000) < 0.8, level, (level + rng.integers(1, 4, size=2000)) % 4)
    letters = np.array(list("abcd"))
    X = pd.DataFrame(
        {"number": number, "level": letters[level], "wrong": letters[wrong], "other": rng.normal(size=2000)}
    )
    found = explained(X)
    assert found[1, 0] > 0.95  # the number tells its quarter
    assert found[0, 1] == pytest.approx(15 / 16, abs=0.02)  # the quarter leaves a sixteenth of the number
    assert found[2, 1] == pytest.approx(found[2, 0], abs=0.05)
    assert found[2, 1] == pytest.approx((0.8 - 0.2 / 3) ** 2, abs=0.04)
    np.testing.assert_allclose(found[3, :3], 0, atol=0.03)
    np.testing.assert_allclose(found[:3, 3], 0, atol=0.03)


def test_names_of_levels_mean_nothing():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.choice(list("uvw"), 300), "b": rng.normal(size=300)})
    renamed = X.replace({"u": "zebra", "v": "apple", "w": "u"})
    np.testing.assert_allclose(explained(renamed), explained(X), rtol=1e-9, atol=1e-9)


def test_that_a_value_is_missing_is_information():
    rng = np.random.default_rng(0)
    missing = rng.uniform(size=1000) < 0.5
    X = pd.DataFrame({"a": np.where(missing, np.nan, rng.normal(size=1000)), "lacks": np.where(missing, "yes", "no")})
    found = explained(X)
    assert found[1, 0] > 0.99
    assert 0.4 < found[0, 1] < 0.9


def test_rare_levels_share_a_column_and_are_still_explained():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 60, size=1500)
    X = pd.DataFrame({"level": np.array([f"level {c}" for c in code]), "code": code + 0.0})
    assert tree.MAX_LEVELS < 60
    found = explained(X)
    assert found[0, 1] > 0.9 and found[1, 0] > 0.9


def test_some_rows_of_many_tell_nearly_the_same():
    X = np.column_stack([normal_pair(0.8), np.random.default_rng(1).normal(size=2000)])
    every = explained(X)
    some = explained(X, most_rows=500)
    assert not np.array_equal(some, every)
    np.testing.assert_allclose(some, every, atol=0.1)
    np.testing.assert_array_equal(explained(X, most_rows=500), some)  # the same rows each time


def test_rows_of_a_group_do_not_explain_each_other():
    """Both factors are names of people: within a person everything is known, beyond nothing is."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(40), 10)
    X = rng.normal(size=(40, 2))[person] + 1e-3 * rng.normal(size=(400, 2))
    assert explained(X)[0, 1] > 0.9
    assert explained(X, groups=person)[0, 1] < 0.3


def test_the_same_bits_for_any_number_of_threads():
    X = np.column_stack([normal_pair(0.6, rows=900), np.random.default_rng(1).normal(size=(900, 3))])
    one, two = (explained(X, n_jobs=n, variance_estimator="extrapolated") for n in (1, 2))
    assert one.tobytes() == two.tobytes()


def test_nothing_to_explain_or_to_explain_with():
    with open_variances(normal_pair(0.5, rows=50), np.arange(50.0), Options()) as variances:
        dependence = Dependence(variances)
        assert dependence.explained_by_each([], [0]).shape == (0, 1)
        assert dependence.explained_by_each([0, 1], []).shape == (2, 0)


def test_few_factors_at_a_time_are_all(monkeypatch):
    X = np.column_stack([normal_pair(0.6, rows=300), np.random.default_rng(1).normal(size=(300, 3))])
    every = explained(X)
    monkeypatch.setattr(tree, "FACTORS_AT_A_TIME", 2)
    np.testing.assert_allclose(explained(X), every, rtol=1e-12)
