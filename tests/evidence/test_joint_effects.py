"""Pairs and threes that do nothing alone."""

from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
import pytest

from firstfactor._utils.threads import Workers
from firstfactor.evidence import candidates as joint
from firstfactor.evidence.scores import bonferroni, deviate, p_value, reweigh, standardise
from tests.evidence.parts import WORKERS, functions_of, least_squares, residuals_of

ROWS = 200
WEIGHTS = np.random.default_rng(5).uniform(0.2, 3.0, size=ROWS)


def numbers(factors=6, rows=ROWS):
    return np.random.default_rng(0).normal(size=(rows, factors))


def noise(rows=ROWS):
    return np.random.default_rng(1).normal(size=rows)


def together(X, y, candidates=None, base=(), workers=WORKERS, most=3, **options):
    functions = functions_of(X)
    residuals = residuals_of(functions, y, base, whole=True, **options)
    return joint.joint_test(functions, residuals, candidates or range(X.shape[1]), workers, most)


def naive_sets(X, y, candidates, base=(), weights=None):
    """The largest deviate of every pair and three, in y and in the draws, in units of its own draws and of its share.

    Of the error, 0.4 is for all products of two lines, 0.1 for lines and parabolas of two, and 0.5 for three lines; in
    units of what one pair has.
    """
    functions = functions_of(X)
    residuals = residuals_of(functions, y, base, weights, whole=True)
    roots = np.ones(ROWS) if weights is None else np.sqrt(weights)
    lines = {}
    for i in candidates:
        first = functions.multiplied(i).astype(float)
        lines[i] = residuals.regression.residuals(first) / roots
    found = {}
    for i, j in combinations(candidates, 2):
        both = np.array([a * b * roots for a in lines[i] for b in lines[j]], np.float32)
        squares = residuals.squares_and_draws(both)
        both = deviate(squares[0], residuals.n_outputs), deviate(squares.sum(axis=0), 4 * residuals.n_outputs)
        lines_of_two, curves_of_two = standardise(np.array(both))
        found[i, j] = np.maximum(reweigh(lines_of_two, 0.4), reweigh(curves_of_two, 0.1))
    share = 0.5 * comb(len(candidates), 2) / comb(len(candidates), 3)
    for i, j, k in combinations(candidates, 3):
        three = np.array([lines[i][0] * lines[j][0] * lines[k][0] * roots], np.float32)
        found[i, j, k] = reweigh(standardise(deviate(residuals.squares_and_draws(three), residuals.n_outputs)), share)[
            0
        ]
    return found


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize(("candidates", "base"), [((0, 1, 2, 3, 4, 5), ()), ((0, 2, 3, 5), (1,))])
@pytest.mark.parametrize("outputs", [1, 2])
def test_pairs_and_threes_are_those_of_plain_loops(candidates, base, weights, outputs):
    X = numbers()
    y = np.random.default_rng(1).normal(size=(outputs, ROWS)).T + 0.25 * (X[:, 2] * X[:, 5])[:, None]
    expected = naive_sets(X, y, candidates, base, weights)
    found = together(X, y, candidates, base, weights=weights)
    assert found.factors == max(expected, key=lambda u: expected[u][0])
    drawn = np.max(list(expected.values()), axis=0)
    assert found.p_value == pytest.approx(p_value(drawn, ROWS), rel=0.01)


def test_rows_without_weight_say_nothing():
    X, weights = numbers(), np.where(np.arange(ROWS) < 60, 1e-6, 1.0)
    y = np.where(weights < 1, 5 * X[:, 0] * X[:, 1], X[:, 3] * X[:, 4]) + 0.1 * noise()
    assert together(X, y, weights=weights).factors == (3, 4)


@pytest.mark.parametrize("base", [(), (0,)])
def test_a_pair_without_effects_of_its_own_is_found(base):
    X = numbers()
    found = together(X, X[:, 2] * X[:, 4] + noise(), (1, 2, 3, 4, 5), base)
    assert found.factors == (2, 4)
    assert found.p_value < 1e-5


def test_three_without_effects_of_any_two_are_found():
    X = numbers(rows=400)
    found = together(X, X[:, 1] * X[:, 2] * X[:, 4] + noise(400))
    assert found.factors == (1, 2, 4)
    assert found.p_value < 1e-6


def test_where_two_are_the_most_no_three_are_tried():
    X = numbers(rows=400)
    y = 2 * X[:, 1] * X[:, 2] * X[:, 4] + X[:, 0] * X[:, 3] + noise(400)
    assert together(X, y).factors == (1, 2, 4)
    assert together(X, y, most=2).factors == (0, 3)


def test_products_of_parabolas_and_of_categories_are_found():
    X = numbers(rows=600)
    assert together(X, (X[:, 0] ** 2 - 1) * (X[:, 3] ** 2 - 1) + noise(600)).factors == (0, 3)
    rng = np.random.default_rng(3)
    levels = pd.DataFrame(np.array(list("ab"))[rng.integers(0, 2, size=(ROWS, 5))])
    xor = (levels[1] == "a") ^ (levels[3] == "a")
    assert together(levels, xor.to_numpy() + 0.3 * noise()).factors == (1, 3)


def test_nothing_is_sure_in_noise():
    chances = [together(numbers(5), np.random.default_rng([9, seed]).normal(size=ROWS)).p_value for seed in range(60)]
    assert np.sum(np.array(chances) < 0.1) <= 13  # of 60; 14 or more have a chance of 0.002
    assert np.median(chances) > 0.3


def test_less_than_nothing_needs_no_draws():
    functions = functions_of(numbers(4))
    of = [functions.multiplied(i) for i in range(4)]
    pairs = [a * b for one, other in combinations(of, 2) for a in one for b in other]
    threes = [a[0] * b[0] * c[0] for a, b, c in combinations(of, 3)]
    y = least_squares(np.array([np.ones(ROWS), *pairs, *threes], float), noise()[None])[0]
    residuals = residuals_of(functions, y)
    residuals.squares_and_draws = None
    assert joint.joint_test(functions, residuals, range(4), WORKERS, 3).p_value == 1


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_many_factors_show_the_same_pair_as_few(monkeypatch, weights):
    X = numbers(30)
    y = X[:, 7] * X[:, 21] + noise()
    few = together(X, y, weights=weights)
    monkeypatch.setattr(joint, "MOST_PAIRS", 100)
    monkeypatch.setattr(joint, "MOST_THREES", 100)
    many = together(X, y, weights=weights)
    assert many.factors == few.factors == (7, 21)
    assert few.p_value < many.p_value < 0.01


def test_of_many_pairs_the_chance_is_that_of_all(monkeypatch):
    X, y = numbers(30), noise() + 0.35 * numbers(30)[:, 7] * numbers(30)[:, 21]
    monkeypatch.setattr(joint, "MOST_PAIRS", 100)
    monkeypatch.setattr(joint, "MOST_THREES", 100)
    functions = functions_of(X)
    residuals = residuals_of(functions, y)
    lines = {i: functions.multiplied(i) for i in range(30)}
    squares = residuals.squares(np.array([a * b for a in lines[7] for b in lines[21]]))[:, 0]
    largest = max(reweigh(deviate(squares[0], 1), 0.4), reweigh(deviate(squares.sum(), 4), 0.1))
    found = together(X, y)
    assert found.factors == (7, 21)
    assert found.p_value == pytest.approx(bonferroni(largest, 0.5 * 435), rel=1e-3)


@pytest.mark.parametrize("size", [1, 7, 2**21])
def test_promising_pairs_are_those_with_the_largest_scores(monkeypatch, size):
    X = numbers(12)
    functions = functions_of(X)
    y = np.column_stack([noise() + X[:, 3] ** 2, noise()[::-1]])  # a factor is no pair with itself
    residuals = residuals_of(functions, y, weights=WEIGHTS)
    lines = joint._first_functions(functions, residuals, range(12))
    scores = {}
    for i, j in combinations(range(12), 2):
        product = lines[i, 0].astype(float) * lines[j, 0] * np.sqrt(WEIGHTS)
        scores[i, j] = sum((product @ output) ** 2 for output in residuals.left)
    monkeypatch.setattr(joint, "BEST_PAIRS", 5)
    monkeypatch.setattr(joint, "BLOCK", size * ROWS)
    found = joint._promising_pairs(lines, residuals, WORKERS)
    assert found == sorted(scores, key=lambda pair: -scores[pair])[:5]


@pytest.mark.parametrize("most", [20_000, 10])
def test_the_same_bits_for_any_number_of_threads_and_any_blocks(monkeypatch, most):
    monkeypatch.setattr(joint, "MOST_PAIRS", most)
    X, y = numbers(8), noise() + 0.2 * numbers(8)[:, 1] * numbers(8)[:, 5]
    monkeypatch.setattr(joint, "BLOCK", 4 * ROWS * 3)
    with Workers(2) as two:
        assert together(X, y, workers=two) == together(X, y)


def test_factors_with_one_function_have_no_second():
    flags = numbers(4) > 0
    lines = joint._first_functions(functions_of(flags), residuals_of(functions_of(flags), noise()), range(4))
    assert lines.shape == (4, 2, ROWS)
    assert (lines[:, 1] == 0).all() and (lines[:, 0] != 0).any()
