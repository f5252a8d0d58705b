"""Least squares on the functions of a base: what it leaves of y and of other functions."""

import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from firstfactor.evidence import regression
from firstfactor.evidence.regression import regress
from tests.evidence.parts import functions_of, least_squares, regression_on

WEIGHTS = {"plain": None, "weighted": np.random.default_rng(5).uniform(0.2, 3.0, size=400)}


def table(rows=400):
    rng = np.random.default_rng(0)
    levels = np.array(list("abcd"))[rng.integers(0, 4, size=rows)]
    return pd.DataFrame(
        {"a": rng.normal(size=rows), "b": rng.uniform(size=rows), "c": levels, "d": rng.poisson(2, rows)}
    )


def response(rows=400):
    return np.random.default_rng(1).normal(size=(2, rows)) + table(rows)["a"].to_numpy() ** 2


def naive_terms(functions, base, most):
    """The plain terms, and the others: curves, products of two and of three, each kind whole or not at all."""
    plain = [np.ones(functions.n_rows)]
    for i in base:
        plain += list(functions.of(i)[: functions.n_plain(i)])
    curves = {i: functions.of(i)[functions.n_plain(i) :] for i in base}
    ranks = {i: functions.multiplied(i) for i in base}
    pairs = list(combinations(base, 2))
    mixed = []
    for a, b in pairs:
        for k, m in ((0, 1), (1, 0), (1, 1)):
            if k < len(ranks[a]) and m < len(ranks[b]):
                mixed.append(ranks[a][k] * ranks[b][m])
    kinds = [
        [curve for i in base for curve in curves[i][:1]],
        [ranks[a][0] * ranks[b][0] for a, b in pairs],
        [curve for i in base for curve in curves[i][1:3]],
        mixed,
        [ranks[a][0] * ranks[b][0] * ranks[c][0] for a, b, c in combinations(base, 3)],
        [curve for i in base for curve in curves[i][3:]],
    ]
    others = []
    for kind in kinds:
        if len(plain) + len(others) + len(kind) <= most:
            others += kind
    shape = (-1, functions.n_rows)
    return np.reshape(plain, shape).astype(float), np.reshape(others, shape).astype(float)


def naive_directions(terms, plain):
    """Each term without those before it, of length 1; none of what is nearly known."""
    directions = list(plain)
    for term in terms:
        left = term / np.sqrt(term @ term)
        for _ in range(3):
            for other in directions:
                left = left - (left @ other) * other
        if left @ left > 1e-9:
            directions.append(left / np.sqrt(left @ left))
    return np.array(directions[len(plain) :]).reshape(-1, terms.shape[1])


def naive_regression(functions, base, weights, n_units, y, candidates):
    """The terms of the base that are asked for as directions: the plain ones, and which others."""
    roots = np.ones(functions.n_rows) if weights is None else np.sqrt(weights)
    first, others = (terms * roots for terms in naive_terms(functions, base, n_units / 3))
    plain = naive_directions(first, [])
    optional = naive_directions(others, plain)
    n_rows, wanted = functions.n_rows, []
    left = [output * roots for output in y]
    left = [output - sum((output @ d) * d for d in plain) for output in left]
    for direction in optional:
        gain = 0.0
        for output in left:
            noise = output @ output - sum((output @ d) ** 2 for d in optional)
            gain += (output @ direction) ** 2 / (noise / (n_rows - len(plain) - len(optional)))
        asked = gain > 0.7 * np.log(n_units) * len(y)
        for i in candidates:
            for line in functions.of(i)[: functions.n_plain(i)][:4]:
                rest = line * roots
                rest = rest - sum((rest @ d) * d for d in plain)
                score = (rest @ direction) ** 2 * n_rows / (rest @ rest)
                asked = asked or score > 5 + 2 * np.log(len(candidates))
        wanted.append(asked)
    return plain, optional, np.array(wanted, bool)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("base", [(), (0,), (2,), (0, 3), (0, 1, 2)])
def test_the_whole_regression_is_that_of_least_squares(base, weights):
    functions, y = functions_of(table()), response()
    expected = least_squares(np.concatenate(naive_terms(functions, base, 400 / 3)), y, weights)
    np.testing.assert_allclose(regression_on(functions, base, weights).residuals(y), expected, atol=1e-5)


def related_table(rows=400):
    """A candidate that goes with a curve of the first factor, one with a product, and one with neither."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(rows, 3))
    of_curve, of_product = X[:, 0] ** 2, X[:, 0] * X[:, 1]
    others = np.column_stack([of_curve, of_product, np.zeros(rows)]) + 1.5 * rng.normal(size=(rows, 3))
    return np.column_stack([X, others])


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("candidates", [(), (3,), (4, 5), (3, 4, 5)])
@pytest.mark.parametrize("outputs", [1, 2])
def test_a_regression_has_what_y_or_a_line_asks_for(candidates, weights, outputs):
    X = related_table()
    functions = functions_of(X)
    noise = np.random.default_rng(3).normal(size=(outputs, 400))
    y = noise + 0.5 * X[:, 1] ** 2 + 0.3 * X[:, 0] * X[:, 2]
    roots = None if weights is None else np.sqrt(weights)
    found = regress(functions, (0, 1, 2), roots, 400, y, candidates)
    plain, optional, wanted = naive_regression(functions, (0, 1, 2), weights, 400, y, candidates)
    assert 0 < wanted.sum() < len(wanted)
    assert found.n_coefficients == len(plain) + wanted.sum()
    directions = np.concatenate([plain, optional[wanted]])
    weighed = y if weights is None else y * roots
    np.testing.assert_allclose(found.residuals(y), weighed - weighed @ directions.T @ directions, atol=1e-5)


def test_curves_that_only_a_candidate_goes_with_are_in_for_its_sake():
    functions = functions_of(related_table())
    y = np.random.default_rng(4).normal(size=400)
    alone, beside = (regression_on(functions, (0, 1, 2), y=y, candidates=some) for some in ((5,), (3, 4, 5)))
    assert 4 <= alone.n_coefficients < beside.n_coefficients
    for asked in (functions.of(0)[1:2], functions.multiplied(0)[:1] * functions.multiplied(1)[:1]):
        left = [np.sum(each.remains(asked.copy()) ** 2) / np.sum(asked**2) for each in (alone, beside)]
        assert left[1] < 0.1 < 0.9 < left[0]


def test_levels_of_a_candidate_may_ask():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    level = np.digitize(x**2 + 0.3 * rng.normal(size=400), [0.3, 1.5])
    functions = functions_of(pd.DataFrame({"x": x, "level": np.array(list("abc"))[level]}))
    y = rng.normal(size=400)
    assert regression_on(functions, (0,), y=y).n_coefficients == 2
    assert regression_on(functions, (0,), y=y, candidates=(1,)).n_coefficients > 2


@pytest.mark.parametrize("n_units", [412, 400, 350, 120, 60, 45, 33, 27, 20, 12])
def test_the_fewer_rows_or_groups_the_fewer_terms(n_units):
    functions, y = functions_of(np.random.default_rng(0).normal(size=(400, 3))), response()
    plain, others = naive_terms(functions, (0, 1, 2), n_units / 3)
    ours = regress(functions, (0, 1, 2), None, n_units, y, whole=True)
    assert ours.n_coefficients == len(plain) + len(others)
    np.testing.assert_allclose(ours.residuals(y), least_squares(np.concatenate([plain, others]), y), atol=1e-5)


def test_more_rows_allow_kinds_one_by_one():
    functions, y = functions_of(np.random.default_rng(0).normal(size=(400, 3))), response()
    sizes = [regress(functions, (0, 1, 2), None, n, y, whole=True).n_coefficients for n in range(12, 150, 3)]
    # the constant and lines; parabolas; products of lines; more curves; threes or products of curves; all of both
    assert sorted(set(sizes)) == [4, 5, 7, 8, 10, 11, 16, 17, 25, 26, 44]


def test_time_limits_the_number_of_terms(monkeypatch):
    functions = functions_of(np.random.default_rng(0).normal(size=(400, 3)))
    monkeypatch.setattr(regression, "MOST_COEFFICIENTS", 12.5)
    few, many = (regress(functions, (0, 1, 2), None, n, response(), whole=True).n_coefficients for n in (100, 400))
    assert few == many == 11


@pytest.mark.filterwarnings("error")
def test_a_base_may_have_as_many_functions_as_rows():
    number = np.arange(60)
    X = pd.DataFrame({"a": [f"a{i % 40}" for i in number], "b": [f"b{i % 37}" for i in number], "x": number**2.0})
    functions, y = functions_of(X), np.random.default_rng(0).normal(size=60)
    found = regression_on(functions, (0, 1), y=y, candidates=(2,))
    assert found.n_coefficients == 60
    np.testing.assert_allclose(found.residuals(y[None]), 0, atol=1e-6)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_a_regression_on_more_functions_is_that_of_all_terms(weights):
    functions, y = functions_of(table()), response()
    base = regression_on(functions, (0, 2), weights)
    more = np.concatenate([functions.of(1)[:3], functions.of(0)[:1], functions.of(1)[:1] + functions.of(1)[1:2]])
    found = base.extend(base.remains(base.weigh(more)).astype(float))
    terms = np.concatenate([*naive_terms(functions, (0, 2), 400 / 3), functions.of(1)[:3]])
    assert found.n_coefficients == base.n_coefficients + 3  # the others are known
    np.testing.assert_allclose(found.residuals(y), least_squares(terms, y, weights), atol=1e-4)
    assert found.leverage.sum() == pytest.approx(found.n_coefficients)


def test_other_processes_get_what_tells_of_functions():
    functions = functions_of(table())
    base = regression_on(functions, (0, 2), WEIGHTS["weighted"])
    there = pickle.loads(pickle.dumps(base))
    np.testing.assert_array_equal(there.remains(functions.of(1)), base.remains(functions.of(1)))
    np.testing.assert_array_equal(there.leverage, base.leverage)
    assert not hasattr(there, "_basis")


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_what_is_known_twice_counts_once(weights):
    X = table()
    twice = functions_of(X.assign(again=X["c"].str.upper()))
    base, y = regression_on(twice, (2, 4), weights), response()
    means_of_levels = np.array([(X["c"] == level) for level in "abcd"]).astype(float)
    np.testing.assert_allclose(base.residuals(y), least_squares(means_of_levels, y, weights), atol=1e-5)
    assert base.n_coefficients == 4


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_nothing_remains_of_what_the_base_knows(weights):
    functions = functions_of(table())
    base = regression_on(functions, (0, 2), weights)
    known = np.concatenate([functions.of(0), functions.of(2), functions.multiplied(0)[:1] * functions.of(2)[1:2]])
    assert (base.remains(base.weigh(known)) == 0).all()


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_what_remains_of_functions_are_their_residuals(weights):
    functions = functions_of(table())
    base = regression_on(functions, (0, 2), weights)
    others = functions.of(1)
    expected = base.residuals(others.astype(float))
    np.testing.assert_allclose(base.remains(base.weigh(others)), expected, atol=1e-5)
    assert np.abs(expected).max() > 1


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_leverages_sum_to_the_number_of_coefficients(weights):
    base = regression_on(functions_of(table()), (0, 1, 2), weights)
    assert base.leverage.sum() == pytest.approx(base.n_coefficients)


def test_leverage_is_how_much_a_row_fits_itself():
    functions = functions_of(table())
    base = regression_on(functions, (0, 2))
    unit = np.zeros((1, 400))
    unit[0, 17] = 1
    assert base.leverage[17] == pytest.approx(1 - base.residuals(unit)[0, 17])


def test_no_row_fits_itself_entirely():
    X = pd.DataFrame({"level": ["a"] + ["b"] * 30 + ["c"] * 33})
    base = regression_on(functions_of(X), (0,))
    np.testing.assert_allclose(base.leverage, [0.9] + [1 / 30] * 30 + [1 / 33] * 33)


@pytest.mark.filterwarnings("error")
def test_weights_may_be_too_small_for_single_precision():
    weights = np.where(np.arange(400) < 100, 1e-200, 1.0)
    base = regression_on(functions_of(table()), (), weights)
    values = response().astype(np.float32)
    expected = np.where(weights < 1, 0.0, values)
    np.testing.assert_allclose(base.unweigh(base.weigh(values)), expected, rtol=1e-6)


def test_weighing_is_by_roots_and_can_be_undone():
    weights = WEIGHTS["weighted"]
    base = regression_on(functions_of(table()), (), weights)
    values = response()
    np.testing.assert_allclose(base.weigh(values), values * np.sqrt(weights))
    np.testing.assert_allclose(base.unweigh(base.weigh(values)), values)
    plain = regression_on(functions_of(table()), ())
    assert plain.weigh(values) is values and plain.unweigh(values) is values
    assert base.weigh(values.astype(np.float32)).dtype == np.float32
