"""Tests of candidates: their functions more and more together, products with the base, and the best of all."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from firstfactor.evidence import functions as functions_module
from firstfactor.evidence.candidates import Candidates
from firstfactor.evidence.scores import bonferroni, deviate, p_value
from tests.evidence.parts import WORKERS, functions_of, least_squares, residuals_of

ROWS = 160
WEIGHTS = np.random.default_rng(5).uniform(0.2, 3.0, size=ROWS)


def table():
    """Factors with 10, 1, 3, 10, 1 and 11 functions."""
    rng = np.random.default_rng(0)
    number = rng.normal(size=ROWS)
    return pd.DataFrame(
        {
            "a": rng.normal(size=ROWS),
            "flag": rng.uniform(size=ROWS) < 0.3,
            "level": np.array(list("abcd"))[rng.integers(0, 4, size=ROWS)],
            "b": number,
            "other flag": rng.uniform(size=ROWS) < 0.5,
            "gaps": np.where(rng.uniform(size=ROWS) < 0.2, np.nan, rng.normal(size=ROWS)),
        }
    )


def response(outputs=1):
    return np.random.default_rng(1).normal(size=(ROWS, outputs)).cumsum(axis=1)


def candidates_of(functions, y, base=(), weights=None):
    residuals = residuals_of(functions, y, base, weights)
    return Candidates(functions, residuals, [functions.of(i) for i in base], WORKERS), residuals


def weighed_left(residuals, values):
    return residuals.regression.remains(residuals.regression.weigh(values))


def naive_deviates(functions, residuals, base, i, number=2):
    """All deviates of a candidate, in y and in the draws: (tests, 1 + draws)."""
    left, n_outputs = weighed_left(residuals, functions.of(i)), residuals.n_outputs
    squares = residuals.squares_and_draws(left)
    found = []
    for first in (1, 2, 4, len(left)):
        first = min(first, len(left))
        found.append(deviate(squares[:first].sum(axis=0), first * n_outputs))
    for b in base:
        products = [left[k] * other for k in range(min(number, len(left))) for other in functions.of(b)[:number]]
        squares = residuals.squares_and_draws(residuals.regression.remains(np.array(products)))
        found += [deviate(squares.sum(axis=0), len(products) * n_outputs), deviate(squares[0], n_outputs)]
    return np.array(found)


CASES = [((), None, 1), ((0,), None, 1), ((0, 2), None, 2), ((1,), WEIGHTS, 1)]


@pytest.mark.parametrize(("base", "weights", "outputs"), CASES)
def test_each_candidate_has_its_largest_deviate_and_the_best_is_compared_with_the_best(base, weights, outputs):
    functions = functions_of(table())
    tests, residuals = candidates_of(functions, response(outputs), base, weights)
    others = tuple(i for i in range(6) if i not in base)
    found = tests.test_each(others)
    expected = [naive_deviates(functions, residuals, base, i).max(axis=0) for i in others]
    np.testing.assert_allclose(found.deviates, [each[0] for each in expected], rtol=1e-4, atol=1e-4)
    assert found.p_value == pytest.approx(p_value(np.max(expected, axis=0), ROWS), rel=1e-3)


@pytest.mark.parametrize(("base", "weights", "outputs"), CASES)
def test_gains_are_those_of_least_squares_with_each_candidate_added(base, weights, outputs):
    functions, y = functions_of(table()), response(outputs)
    tests, residuals = candidates_of(functions, y, base, weights)
    others = tuple(i for i in range(6) if i not in base)
    for gain, i in zip(tests.test_each(others).gains, others, strict=True):
        left = weighed_left(residuals, functions.of(i)).astype(float)
        after = least_squares(left, residuals.left)
        explained = (residuals.left**2).sum() - (after**2).sum()
        assert gain == pytest.approx((explained - len(left) * residuals.variance) / ROWS, abs=1e-4)


@pytest.mark.parametrize("block", [1, 3 * ROWS, 2**21])
def test_blocks_keep_the_order_of_candidates(monkeypatch, block):
    functions = functions_of(table())
    tests, _ = candidates_of(functions, response())
    at_once = tests.test_each((0, 1, 2, 3, 4, 5))
    monkeypatch.setattr(functions_module, "BLOCK", block)
    for some in ((0, 1, 2, 3, 4, 5), (1, 2, 5), (3,)):
        found = tests.test_each(some)
        np.testing.assert_allclose(found.gains, at_once.gains[list(some)], rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(found.deviates, at_once.deviates[list(some)], rtol=1e-4, atol=1e-6)


def test_what_is_clear_needs_no_draws(monkeypatch):
    functions = functions_of(table())
    y = table()["b"].to_numpy() + 0.1 * response()[:, 0]
    tests, residuals = candidates_of(functions, y)
    monkeypatch.setattr(residuals, "squares_and_draws", None)
    found = tests.test_each((0, 1, 2, 3))
    assert np.argmax(found.deviates) == 3
    assert found.p_value == bonferroni(found.deviates.max(), 4 * 4) < 1e-10
    assert tests.test_member(3) == bonferroni(found.deviates.max(), 4)


def test_a_product_with_the_base_is_seen():
    functions, X = functions_of(table()), table()
    y = X["a"].to_numpy() * X["b"].to_numpy() + response()[:, 0]
    with_base, _ = candidates_of(functions, y, (0,))
    without, _ = candidates_of(functions, y)
    assert np.argmax(with_base.test_each((1, 2, 3, 4)).deviates) == 2
    assert with_base.test_each((1, 2, 3, 4)).p_value < 1e-4 < 0.05 < without.test_each((1, 2, 3, 4)).p_value


def test_of_many_factors_products_of_lines_are_seen_though_the_base_may_know_them():
    X = np.random.default_rng(0).normal(size=(ROWS, 101))
    functions = functions_of(X)
    tests, residuals = candidates_of(functions, response(), (7,))
    found = tests.test_each(range(7))
    for i in range(7):
        left = weighed_left(residuals, functions.of(i))
        nested = naive_deviates(functions, residuals, (), i)[:, 0]
        line = deviate(residuals.squares(left[:1] * functions.of(7)[:1])[0, 0], 1)
        assert found.deviates[i] == pytest.approx(max(*nested, line), rel=1e-3)


def test_a_member_is_tested_alone_and_in_products_with_one_and_with_two_of_the_others():
    functions = functions_of(table())
    for base in ((), (0,), (0, 1, 3)):
        tests, residuals = candidates_of(functions, response(), base)
        found = naive_deviates(functions, residuals, base, 5)
        left = weighed_left(residuals, functions.of(5))[:1]
        for b, c in combinations(base, 2):
            threes = residuals.regression.remains(left * functions.of(b)[:1] * functions.of(c)[:1])
            found = np.concatenate([found, deviate(residuals.squares_and_draws(threes), 1)])
        assert tests.test_member(5) == pytest.approx(p_value(found.max(axis=0), ROWS), rel=1e-3)


def test_a_member_that_shows_only_with_two_others_is_kept():
    X = np.random.default_rng(0).normal(size=(400, 3))
    y = X.prod(axis=1) + np.random.default_rng(1).normal(size=400)
    tests, _ = candidates_of(functions_of(X), y, (0, 1))
    assert tests.test_member(2) < 1e-4
    assert tests.test_each((2,)).p_value > 0.01


def test_what_the_base_knows_adds_nothing():
    X = table()
    functions = functions_of(X.assign(again=-3 * X["b"]))
    tests, _ = candidates_of(functions, X["b"].to_numpy() ** 2 + response()[:, 0], (3,))
    found = tests.test_each((6,))
    assert found.p_value > 0.1
    assert found.gains[0] < 0
