"""Ties go to the first factor, and rounding decides nothing."""

import numpy as np
import pytest
from sample_tables import discrete_and_continuous

from firstfactor import FIRST, total_indices
from firstfactor.selection.algorithms import eliminate
from firstfactor.selection.fitting import estimate_selected
from firstfactor.selection.selection import Selection
from firstfactor.settings import Options
from firstfactor.variance.conditional import open_variances


def twice(seed, rows=60):
    """A factor, the same in other units, in the other direction, and one that does nothing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    X = np.column_stack([x, 7 * x - 2, 5 - 3 * x, rng.normal(size=rows)])
    return X, np.sin(2 * x) + 0.1 * rng.normal(size=rows)


@pytest.mark.parametrize("order", [[0, 1], [1, 0], [0, 2], [2, 0], [1, 2, 0]])
def test_the_first_of_two_factors_that_say_the_same_wins(order):
    for seed in range(20):
        X, y = twice(seed)
        selector = FIRST().fit(X[:, order], y)
        assert selector.support_.tolist() == [True, *[False] * (len(order) - 1)]


def test_a_factor_that_loses_by_rounding_only_stays_a_candidate_of_the_fast_way():
    gains = []
    for seed in range(40):
        X, y = twice(seed)
        steps = FIRST(forward="fast").fit(X[:, [0, 2]], y + 0.3 * X[:, 3]).path_.steps
        assert [step.chosen for step in steps[:2]] == [(0,), (1,)]
        gains.append(steps[1].explained[0] - steps[1].base_explained)
    assert min(gains) < 0 < max(gains)  # the seeds show both


def test_another_pass_looks_again_at_what_did_not_help_before():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(200, 3))
    y = X[:, 0] * (2 + 1.5 * np.sign(X[:, 1]))  # the second factor alone says nothing
    once, twice, full = (FIRST(forward=forward).fit(X, y).selected_.tolist() for forward in (1, 2, "full"))
    assert once == [0]
    assert twice == full == [0, 1]


def test_of_equally_useless_factors_the_first_in_the_table_is_eliminated_first():
    X, y = twice(0)
    with open_variances(X[:, [0, 2]], y, Options()) as variances:
        selection = eliminate(variances, (1, 0), "single")
    assert selection.steps[0].candidates == (0, 1)
    assert selection.steps[0].chosen == (0,)
    assert selection.kept == (1,)


def test_the_most_important_of_the_selected_factors_are_those_supported():
    X, y = discrete_and_continuous()
    with open_variances(X, y, Options()) as variances:
        everything = Selection(tuple(range(10)), (), variances.response.variance, len(y))
        found = estimate_selected(variances, everything, "FIRST", uncertainty=False)
    assert found.sample_size == total_indices(X, y).sample_size
