"""Tests of candidates: plain functions, curves, products with the base, beside all others, and the best of all."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from firstfactor.evidence import functions as functions_module
from firstfactor.evidence.candidates import Candidates, CandidateTest, beside_others
from firstfactor.evidence.scores import bonferroni, deviate, p_value, reweigh, standardise
from tests.evidence.parts import WORKERS, functions_of, least_squares, outputs_of, residuals_of, weighed_left

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


def candidates_of(functions, y, base=(), weights=None, beside=()):
    """Tests of candidates given a base; also of the lines and curves of some beside each other."""
    others = tuple(i for i in range(functions.design.n_factors) if i not in base)
    residuals = residuals_of(functions, y, base, weights, candidates=others)

    def find_beside():
        return beside_others(functions, residuals, outputs_of(y, weights), beside, ROWS)

    of_base = [functions.multiplied(i) for i in base]
    return Candidates(functions, residuals, of_base, WORKERS, find_beside), residuals


def measure(deviates, share):
    """Deviates in y and in draws, in units of their draws and of their share of the error."""
    return reweigh(standardise(np.atleast_2d(deviates)), share)[0]


def naive_of_functions(functions, residuals, i):
    """The deviates of a candidate by its plain functions, and by the first 1, 2, 4 and all: (tests, 1 + draws)."""
    squares = residuals.squares_and_draws(weighed_left(residuals, functions.of(i)))
    n_plain, n_all = functions.n_plain(i), len(squares)
    curves = sorted({1, 2, min(4, n_all), n_all} - {n_plain} - set(range(n_all + 1, 5)))
    # the shares of plain functions and curves are 0.50 together, of which curves have 0.15 if there are any
    of_curves = 0.15 if n_all > n_plain else 0.15 * len(curves) / (len(curves) + 1)
    shares = {n_plain: 0.50 - of_curves} | {number: of_curves / len(curves) for number in curves}
    n_outputs = residuals.n_outputs
    return [measure(deviate(squares[:n].sum(axis=0), n * n_outputs), share) for n, share in shares.items()]


def naive_of_products(functions, residuals, base, i, threes=False):
    """The deviates of a candidate by products of ranks with each factor of a base, and with each two."""
    own, n_outputs = weighed_left(residuals, functions.multiplied(i)), residuals.n_outputs
    pairs = list(combinations(base, 2)) if threes else []
    share = 0.10 / max(len(base) + len(pairs), 1)
    found = []
    for b in base:
        products = [a * other for a in own for other in functions.multiplied(b)]
        squares = residuals.squares_and_draws(residuals.regression.remains(np.array(products)))
        n_products = 2 * len(functions.multiplied(b))  # a missing second function counts as nothing
        both = deviate(squares.sum(axis=0), n_products * n_outputs), deviate(squares[0], n_outputs)
        found.append(measure(np.maximum(*both), share))
    for b, c in pairs:
        product = own[:1] * (functions.multiplied(b)[:1] * functions.multiplied(c)[:1])
        squares = residuals.squares_and_draws(residuals.regression.remains(product))
        found.append(measure(deviate(squares[0], n_outputs), share))
    return found


def naive_beside(functions, residuals, y, others, i):
    """The deviates of a candidate by its first functions beside those of all others, by least squares."""
    found = []
    for number, share in ((1, 0.30), (4, 0.10)):
        first = {}
        for k in others:
            first[k] = weighed_left(residuals, functions.of(k)[: max(functions.n_plain(k), number)]).astype(float)
        beside = least_squares(np.concatenate([first[k] for k in others if k != i]), first[i])
        larger = residuals.regression.extend(np.concatenate([first[k] for k in others]))
        squares = residuals.given(y, larger).squares_and_draws(beside.astype(np.float32))
        found.append(measure(deviate(squares.sum(axis=0), len(beside) * residuals.n_outputs), share))
    return found


def naive_deviates(functions, residuals, base, i, threes=False):
    """All deviates of a candidate but for those beside others, in y and in the draws: (tests, 1 + draws)."""
    of_products = naive_of_products(functions, residuals, base, i, threes)
    return np.array(naive_of_functions(functions, residuals, i) + of_products)


CASES = [((), None, 1), ((0,), None, 1), ((0, 2), None, 2), ((1,), WEIGHTS, 1)]


@pytest.mark.parametrize(("base", "weights", "outputs"), CASES)
@pytest.mark.parametrize("is_beside", [False, True], ids=["alone", "beside others"])
def test_each_candidate_has_its_largest_deviate_and_the_best_is_compared_with_the_best(
    base, weights, outputs, is_beside
):
    functions, y = functions_of(table()), response(outputs)
    others = tuple(i for i in range(6) if i not in base)
    tests, residuals = candidates_of(functions, y, base, weights, others if is_beside else ())
    found = tests.test_each(others)
    expected = [naive_deviates(functions, residuals, base, i) for i in others]
    if is_beside:
        beside = [naive_beside(functions, residuals, outputs_of(y, weights), others, i) for i in others]
        expected = [np.concatenate(each) for each in zip(expected, beside, strict=True)]
    expected = [each.max(axis=0) for each in expected]
    np.testing.assert_allclose(found.deviates, [each[0] for each in expected], rtol=2e-3, atol=2e-3)
    best = np.max(expected, axis=0)
    np.testing.assert_allclose(found.draws, best[1:], rtol=5e-3, atol=5e-3)
    assert found.p_value == pytest.approx(p_value(best, ROWS), rel=1e-2)
    for each, single, p, of_factor in zip(found.deviates, found.single_p_values, found.p_values, expected, strict=True):
        assert single == pytest.approx(norm.sf(of_factor[0]), rel=2e-2)
        assert p == p_value(np.r_[each, found.draws], ROWS) >= found.p_value


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


def test_p_values_without_draws_are_those_of_bonferroni():
    found = CandidateTest(ROWS, np.array([6.0, 1.0, 2.5]), np.zeros(3), np.zeros(0))
    np.testing.assert_allclose(found.p_values, [3 * norm.sf(6), 3 * norm.sf(1), 3 * norm.sf(2.5)])
    np.testing.assert_allclose(found.single_p_values, norm.sf([6, 1, 2.5]))
    assert found.p_value == found.p_values[0]


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
    (square,) = residuals.squares(weighed_left(residuals, functions.of(3)[:1]))[0]
    assert found.deviates[3] == pytest.approx(reweigh(deviate(square, 1), 0.35), rel=1e-4)
    assert found.draws.size == 0
    assert found.p_value == bonferroni(found.deviates.max(), 4) < 1e-9
    assert tests.test_member(3) == bonferroni(found.deviates.max(), 1)


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
    tests, residuals = candidates_of(functions, response() + 0.3 * (X[:, 7] * X[:, 2])[:, None], (7,))
    found = tests.test_each(range(7))
    for i in range(7):
        product = weighed_left(residuals, functions.multiplied(i)[:1]) * functions.multiplied(7)[:1]
        line = measure(deviate(residuals.squares_and_draws(product)[0], 1), 0.10)
        expected = max(each[0] for each in [*naive_of_functions(functions, residuals, i), line])
        assert found.deviates[i] == pytest.approx(expected, rel=1e-3)
    assert np.argmax(found.deviates) == 2


@pytest.mark.parametrize("is_beside", [False, True], ids=["alone", "beside others"])
def test_a_member_is_tested_alone_in_products_with_one_and_with_two_of_the_others_and_beside_those_left_out(is_beside):
    functions, y = functions_of(table()), response()
    for base in ((), (0,), (0, 1, 3)):
        others = tuple(i for i in range(6) if i not in base) if is_beside else ()
        tests, residuals = candidates_of(functions, y, base, beside=others)
        found = naive_deviates(functions, residuals, base, 5, threes=True)
        if is_beside:
            found = np.concatenate([found, naive_beside(functions, residuals, outputs_of(y), others, 5)])
        assert tests.test_member(5) == pytest.approx(p_value(found.max(axis=0), ROWS), rel=2e-2)


def test_one_that_others_mask_shows_beside_them():
    """Two factors that go together and have opposite effects do little alone."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=ROWS)
    X = np.column_stack([common, common, rng.normal(size=(2, ROWS)).T]) + 0.5 * rng.normal(size=(ROWS, 4))
    y = X[:, 0] - X[:, 1] + 2 * rng.normal(size=ROWS)
    functions = functions_of(X)
    alone, beside = (candidates_of(functions, y, beside=others)[0].test_each(range(4)) for others in ((), range(4)))
    assert (beside.p_values[:2] < 0.5 * alone.p_values[:2]).all()
    assert beside.p_value < 0.02


def test_only_as_many_lines_and_curves_as_rows_allow_are_beside_each_other():
    rng = np.random.default_rng(0)
    for n_factors, expected in ((1, []), (2, [2, 8]), (19, [19, 76]), (20, [20]), (79, [79]), (80, [])):
        functions = functions_of(rng.normal(size=(ROWS, n_factors)))
        y = rng.normal(size=ROWS)
        found = beside_others(functions, residuals_of(functions, y), outputs_of(y), range(n_factors), ROWS)
        assert [len(each.lines.left) for each in found] == expected
        assert [each.share for each in found] == [0.30, 0.10][: len(found)]


def test_a_member_that_shows_only_with_two_others_is_kept():
    X = np.random.default_rng(0).normal(size=(400, 3))
    y = X.prod(axis=1) + np.random.default_rng(1).normal(size=400)
    tests, _ = candidates_of(functions_of(X), y, (0, 1))
    assert tests.test_member(2) < 1e-4
    assert tests.test_each((2,)).p_value > 0.01


def test_what_the_base_knows_adds_nothing():
    X = table()
    functions = functions_of(X.assign(again=-3 * X["b"]))
    tests, _ = candidates_of(functions, 3 * X["b"].to_numpy() + response()[:, 0], (3,))
    found = tests.test_each((6,))
    assert found.p_value > 0.1
    assert found.gains[0] < 0
