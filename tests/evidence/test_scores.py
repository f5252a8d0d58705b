"""Scores of functions, draws of them and the chances that they give."""

import numpy as np
import pytest
from scipy.stats import chi2, gamma, norm

from firstfactor.evidence import scores
from firstfactor.evidence.scores import (
    Draws,
    bonferroni,
    chance_above,
    deviate,
    is_sure,
    p_value,
    reweigh,
    standardise,
)
from tests.evidence.parts import functions_of, least_squares, outputs_of, regression_on, residuals_of

ROWS = 120
WEIGHTS = np.random.default_rng(5).uniform(0.2, 3.0, size=ROWS)
GROUPS = np.random.default_rng(6).integers(0, 25, size=ROWS)


def table():
    return functions_of(np.random.default_rng(0).normal(size=(ROWS, 4)))


def response(outputs=1):
    return np.random.default_rng(1).standard_t(4, size=(ROWS, outputs)).cumsum(axis=1)


def left_of(residuals, functions):
    """What the base leaves of the functions of the last factor."""
    regression = residuals.regression
    return regression.remains(regression.weigh(functions.of(3)))


def uncorrelated(outputs):
    """Principal components of some outputs with mean square 1."""
    _, directions = np.linalg.eigh(outputs @ outputs.T)
    turned = directions.T @ outputs
    return turned / np.sqrt(np.mean(turned**2, axis=1, keepdims=True))


def leverage_of(regression, groups):
    """How much each row, or its group, fits itself, at most 0.9."""
    own = np.arange(ROWS) if groups is None else groups
    return np.minimum([sum(regression.leverage[own == group]) for group in own], 0.9)


def naive_square(function, errors, leverage, groups):
    """The sum over outputs of (Σ e r)² / Σ (Σ ê r)², the inner sum over the rows of a group."""
    total = 0.0
    for error in errors:
        score = sum(e * r for e, r in zip(error, function, strict=True))
        of_group = {}
        for group, e, h, r in zip(groups, error, leverage, function, strict=True):
            of_group[group] = of_group.get(group, 0.0) + e / np.sqrt(1 - h) * r
        total += score**2 / sum(value**2 for value in of_group.values())
    return total


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("base", [(), (0, 1)])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
def test_squares_equal_those_in_plain_loops(outputs, base, weights, groups):
    functions = table()
    residuals = residuals_of(functions, response(outputs), base, weights, groups)
    left = left_of(residuals, functions)
    errors = uncorrelated(residuals.left)
    own = np.arange(ROWS) if groups is None else groups
    expected = [naive_square(one, errors, leverage_of(residuals.regression, groups), own) for one in left]
    np.testing.assert_allclose(residuals.squares(left)[:, 0], expected, rtol=1e-4)
    np.testing.assert_array_equal(residuals.squares_and_draws(left)[:, 0], residuals.squares(left)[:, 0])


def test_a_common_unit_and_the_signs_of_outputs_mean_nothing():
    functions = table()
    plain, turned = (
        residuals_of(functions, y).squares(functions.of(0)) for y in (response(2), response(2) @ np.diag([7.0, -7.0]))
    )
    np.testing.assert_allclose(turned, plain, rtol=1e-4)


def test_an_output_known_from_others_counts_once():
    functions, y = table(), response(2)
    assert residuals_of(functions, np.column_stack([y, y.sum(axis=1)])).n_outputs == 2
    assert residuals_of(functions, np.random.default_rng(0).normal(size=(ROWS, 40))).n_outputs == 30


def test_rows_may_have_errors_of_any_size():
    """The scale is that of a function's own rows: squares have a mean of 1 although one half of the rows is noisy."""
    functions = functions_of(np.arange(400)[:, None])
    rng = np.random.default_rng(0)
    noisy = [rng.normal(size=400) * np.r_[np.full(200, 0.1), np.full(200, 5.0)] for _ in range(300)]
    found = [residuals_of(functions, y).squares(functions.of(0)[:4])[:, 0] for y in noisy]
    np.testing.assert_allclose(np.mean(found, axis=0), 1, atol=0.25)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_variance_is_corrected_for_the_number_of_coefficients(weights):
    residuals = residuals_of(table(), response(2), (0,), weights)
    degrees = ROWS - residuals.regression.n_coefficients
    assert residuals.variance == pytest.approx((residuals.left**2).sum() / degrees)
    if weights is None:
        assert residuals_of(table(), response(2)).variance == pytest.approx(response(2).var(axis=0, ddof=1).sum())


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("base", [(), (0,)])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_gains_are_those_of_least_squares_with_the_functions_added(outputs, base, weights):
    functions, y = table(), response(outputs)
    residuals = residuals_of(functions, y, base, weights, whole=True)
    regression = residuals.regression
    both = np.concatenate([functions.of(2)[:4], functions.of(3)[:4]])
    gains = residuals.gains(regression.remains(regression.weigh(both)), 4)
    known = np.concatenate([np.ones((1, ROWS)), *(functions.of(i) for i in base)])
    without = least_squares(known, y.T, weights)
    for gain, i in zip(gains, (2, 3), strict=True):
        left = least_squares(np.concatenate([known, functions.of(i)[:4]]), y.T, weights)
        explained = (without**2).sum() - (left**2).sum()
        assert gain == pytest.approx((explained - 4 * residuals.variance) / ROWS, abs=1e-5)


def test_functions_of_which_nothing_is_left_gain_nothing():
    residuals = residuals_of(table(), response())
    assert residuals.gains(np.zeros((6, ROWS), np.float32), 3) == pytest.approx(-3 * residuals.variance / ROWS)
    assert (residuals.squares_and_draws(np.zeros((2, ROWS), np.float32)) == 0).all()


@pytest.mark.parametrize("base", [(), (0,)])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
def test_no_functions_have_no_squares(base, groups):
    residuals = residuals_of(table(), response(2), base, groups=groups)
    assert residuals.squares_and_draws(np.zeros((0, ROWS), np.float32)).shape == (0, 200)


# --- draws ----------------------------------------------------------------------------------------------


def drawn_with(groups=None, weighted=False, rows=ROWS):
    return Draws.make(np.random.default_rng(0), rows, groups, weighted)


def test_signs_are_plus_and_minus():
    signs = drawn_with().signs
    assert set(np.unique(signs)) == {-1, 1}
    assert signs.shape == (199, ROWS)
    assert abs(signs.mean()) < 0.02


def test_rows_of_a_group_have_the_same_sign():
    signs = drawn_with(GROUPS).signs
    assert len({column.tobytes() for column in signs.T}) == 25
    first = np.unique(GROUPS, return_index=True)[1]
    np.testing.assert_array_equal(signs, signs[:, first[GROUPS]])


def test_rows_change_places_only_where_all_are_alike():
    assert (np.sort(drawn_with().permuted, axis=1) == np.arange(ROWS)).all()
    assert drawn_with(GROUPS).permuted is None
    assert drawn_with(weighted=True).permuted is None


def test_of_many_rows_some_are_drawn_but_of_groups_all(monkeypatch):
    monkeypatch.setattr(scores, "DRAWN_ROWS", 50)
    draws = drawn_with()
    assert draws.rows.size == 50 and (np.diff(draws.rows) > 0).all()
    assert draws.signs.shape == draws.permuted.shape == (199, 50)
    assert drawn_with(GROUPS).rows.size == ROWS


def test_with_an_empty_base_draws_are_permutations_of_y():
    functions, y = table(), response()
    residuals = residuals_of(functions, y)
    permuted = drawn_with().permuted
    found = residuals.squares_and_draws(functions.of(3))[:, 1:]
    errors = y[:, 0] - y.mean()
    for draw in (0, 17, 198):
        expected = [naive_square(f, [errors[permuted[draw]]], np.zeros(ROWS), range(ROWS)) for f in functions.of(3)]
        np.testing.assert_allclose(found[:, draw], expected, rtol=1e-3)


@pytest.mark.parametrize(
    ("base", "weights", "groups"),
    [((0,), None, None), ((), WEIGHTS, None), ((), None, GROUPS), ((0,), WEIGHTS, GROUPS)],
    ids=["base", "weights", "groups", "all"],
)
def test_otherwise_draws_are_residuals_with_signs_which_all_outputs_of_a_row_share(base, weights, groups):
    functions = table()
    residuals = residuals_of(functions, response(2), base, weights, groups)
    left = left_of(residuals, functions)
    signs = drawn_with(groups, weights is not None).signs
    found = residuals.squares_and_draws(left)[:, 1:]
    errors = uncorrelated(residuals.left) / np.sqrt(1 - leverage_of(residuals.regression, groups))
    own = np.arange(ROWS) if groups is None else groups
    for draw in (0, 17, 198):
        expected = [naive_square(f, errors * signs[draw], np.zeros(ROWS), own) for f in left]
        np.testing.assert_allclose(found[:, draw], expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("base", [(), (0,)])
def test_draws_of_some_rows_are_made_from_these_alone(monkeypatch, base):
    monkeypatch.setattr(scores, "DRAWN_ROWS", 50)
    functions = table()
    residuals = residuals_of(functions, response(), base)
    left, draws = left_of(residuals, functions), drawn_with()
    found = residuals.squares_and_draws(left)
    np.testing.assert_array_equal(found[:, :1], residuals.squares(left))
    (error,) = residuals.left if not base else residuals.left / np.sqrt(1 - residuals.regression.leverage)
    some = left[:, draws.rows]
    drawn = error[draws.rows][draws.permuted[5]] if not base else error[draws.rows] * draws.signs[5]
    expected = [naive_square(f, [drawn], np.zeros(50), range(50)) for f in some]
    np.testing.assert_allclose(found[:, 6], expected, rtol=1e-3)


# --- variances from a larger regression -----------------------------------------------------------------


def naive_given(function, errors, noise, groups):
    """The sum over outputs of (Σ e r)² / Σ (Σ ê r)², where ê is what a larger regression leaves."""
    total = 0.0
    for error, rest in zip(errors, noise, strict=True):
        of_group = {}
        for group, e, r in zip(groups, rest, function, strict=True):
            of_group[group] = of_group.get(group, 0.0) + e * r
        total += (error @ function) ** 2 / sum(value**2 for value in of_group.values())
    return total


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize(
    ("base", "weights", "groups"),
    [((), None, None), ((0,), None, None), ((), WEIGHTS, None), ((1,), WEIGHTS, GROUPS)],
    ids=["permuted", "base", "weights", "groups"],
)
def test_variances_may_be_those_of_a_larger_regression(outputs, base, weights, groups):
    functions, y = table(), response(outputs) + 3 * table().of(2)[:1].T
    plain = residuals_of(functions, y, base, weights, groups)
    larger = plain.regression.extend(plain.regression.remains(plain.regression.weigh(functions.of(2)[:3])))
    centred = outputs_of(y, weights)
    given = plain.given(centred, larger)
    left = left_of(given, functions)
    own = np.arange(ROWS) if groups is None else groups

    variances, directions = np.linalg.eigh(plain.left @ plain.left.T / ROWS)
    combine = np.diag(variances**-0.5) @ directions.T
    errors, correction = combine @ plain.left, np.sqrt(1 - leverage_of(larger, groups))
    noise = combine @ larger.residuals(centred) / correction
    np.testing.assert_allclose(given.squares(left)[:, 0], [naive_given(f, errors, noise, own) for f in left], rtol=1e-3)
    assert (given.squares(functions.of(2)[:1]) > 1.5 * plain.squares(functions.of(2)[:1])).all()

    found, draws = given.squares_and_draws(left), drawn_with(groups, weights is not None)
    np.testing.assert_array_equal(found[:, :1], given.squares(left))
    for draw in (0, 198):
        if base or weights is not None:
            drawn, rest = noise * draws.signs[draw], noise * draws.signs[draw]
        else:
            drawn = errors[:, draws.permuted[draw]]
            rest = larger.residuals(drawn) / correction
        expected = [naive_given(f, drawn, rest, own) for f in left]
        np.testing.assert_allclose(found[:, 1 + draw], expected, rtol=1e-3, atol=1e-5)


def test_a_larger_regression_tells_of_less_noise():
    """What another factor explains is no noise of a score."""
    functions = table()
    y = response() + 3 * functions.of(2)[:1].T
    plain = residuals_of(functions, y)
    given = plain.given(outputs_of(y), regression_on(functions, (2,)))
    left = left_of(plain, functions)
    assert np.median(given.squares(left) / plain.squares(left)) > 2


# --- chances --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_scores", [1, 2, 4, 10, 60])
def test_deviates_have_the_chances_of_sums_of_squares(n_scores):
    chances = np.array([0.3, 0.1, 0.05, 0.01])
    found = norm.sf(deviate(chi2.isf(chances, n_scores), n_scores))
    np.testing.assert_allclose(found, chances, rtol=0.06)
    assert (np.diff(deviate(np.linspace(0, 50, 100), n_scores)) > 0).all()


@pytest.mark.parametrize("shape", [0.7, 5.0, 1e7])
def test_chances_beyond_the_draws_are_those_of_their_distribution(shape):
    draws = np.random.default_rng(0).gamma(shape, size=200_000)
    for value in gamma.isf([0.9, 0.3, 0.01], shape):
        assert chance_above(value, draws) == pytest.approx(gamma.sf(value, shape), rel=0.1)
    assert chance_above(-10 * shape, draws) == pytest.approx(1, abs=0.03)


def test_draws_skewed_to_the_left_are_taken_for_normal():
    draws = -np.random.default_rng(0).gamma(2.0, size=100_000)
    assert chance_above(0.0, draws) == pytest.approx(norm.sf(np.sqrt(2)), rel=0.02)


@pytest.mark.filterwarnings("error")
def test_draws_that_do_not_differ_say_nothing_but_above_or_not():
    assert chance_above(1.0, np.zeros(20)) == 0.0
    assert chance_above(0.0, np.zeros(20)) == 1.0


def test_chances_are_the_share_of_draws_that_are_as_large():
    draws = np.random.default_rng(0).normal(size=199)
    value = np.sort(draws)[-40]
    assert p_value(np.r_[value, draws], 1000) == 41 / 200
    assert p_value(np.r_[np.sort(draws)[-11], draws], 1000) == 12 / 200
    assert p_value(np.r_[np.nan, draws], 1000) == 1


def test_where_few_draws_are_as_large_chances_are_extrapolated():
    draws = np.random.default_rng(0).normal(size=199)
    best = np.r_[6.0, draws]
    assert p_value(best, 1000) == chance_above(6.0, draws) < 1e-4
    assert p_value(best, 20) < 1e-4
    assert p_value(best, 19) == 1 / 200
    assert p_value(np.r_[np.sort(draws)[-5], draws], 1000) <= 6 / 200


def test_chances_of_the_best_of_many():
    assert bonferroni(3.0, 10) == pytest.approx(10 * norm.sf(3))
    assert bonferroni(0.0, 10) == 1


def test_only_the_clearest_evidence_in_many_rows_needs_no_draws():
    clear = norm.isf(1e-6 / 10)
    assert is_sure(clear + 0.01, 10, 100)
    assert not is_sure(clear - 0.01, 10, 100)
    assert not is_sure(clear + 0.01, 20, 100)
    assert not is_sure(30.0, 10, 99)


def test_deviates_are_measured_by_themselves_and_their_own_draws():
    rng = np.random.default_rng(0)
    deviates = np.concatenate([[[4.0], [4.0]], rng.normal([[1.0], [-2.0]], [[2.0], [0.5]], size=(2, 199))], axis=1)
    found = standardise(deviates)
    for before, after in zip(deviates, found, strict=True):
        np.testing.assert_allclose(after, [(d - before.mean()) / before.std() for d in before])
    assert found[1, 0] > found[0, 0]
    turned = standardise(np.roll(deviates, 1, axis=1))  # y is one of them
    np.testing.assert_allclose(turned, np.roll(found, 1, axis=1))


@pytest.mark.filterwarnings("error")
def test_deviates_without_draws_or_with_equal_ones_are_not_stretched():
    alone = np.array([[3.0], [-1.0]])
    assert standardise(alone) is alone
    np.testing.assert_array_equal(standardise(np.array([[1.0, 1.0, 1.0]])), [[0.0, 0.0, 0.0]])
    same = deviate(np.zeros((1, 200)), 2)
    assert same[:, 1:].std() > 0  # by rounding
    np.testing.assert_allclose(standardise(same), 0, atol=1e-12)


@pytest.mark.parametrize("share", [0.05, 0.25, 1.0])
@pytest.mark.filterwarnings("error")
def test_a_share_of_the_error_asks_for_as_much_smaller_probabilities(share):
    deviates = np.array([-1.0, 0.5, 2.0, 4.0, 4.999, 5.001, 8.0])
    expected = -np.expm1(np.log1p(-norm.sf(deviates)) / share)
    np.testing.assert_allclose(norm.sf(reweigh(deviates, share)), expected, rtol=1e-5)
    assert norm.sf(reweigh(np.array([4.0]), share)) == pytest.approx(norm.sf(4.0) / share, rel=1e-3)
    assert reweigh(np.array([60.0]), share) == pytest.approx(60 + np.log(share) / 60, rel=1e-3)
    ascending = reweigh(np.linspace(-10, 50, 2000), share)
    assert (np.diff(ascending) > 0).all()  # none are the same, or draws of nothing would look alike
    assert reweigh(np.array([-np.inf]), share) == -np.inf
