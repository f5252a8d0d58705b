"""Monte Carlo indices against closed forms, scipy, plain loops and their own standard errors."""

import inspect
import re
import tracemalloc

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import expon, lognorm, norm, poisson, sobol_indices, spearmanr, uniform

from firstfactor.problems import CopulaInputs, ishigami, monte_carlo_total_indices

MAIN, WAVE, BOTH = 0.5 * (1 + 0.1 * np.pi**4 / 5) ** 2, 7**2 / 8, 8 * 0.1**2 * np.pi**8 / 225
"""Parts of the variance of the Ishigami function, by hand: z₁ alone, z₂ alone, z₁ and z₃ together."""
ISHIGAMI = np.array([MAIN + BOTH, WAVE, BOTH]) / (MAIN + WAVE + BOTH)
UNIFORM = CopulaInputs([uniform()] * 3)
CHAIN = CopulaInputs(norm(), [[1, 0, 0], [0, 1, 0.9], [0, 0.9, 1]])


def add_first_two(x):
    return x[:, 0] + x[:, 1]


def within(result, expected, errors=3):
    return (np.abs(result.values - expected) <= errors * result.standard_errors).all()


def test_the_closed_form_has_the_known_figures():
    assert ISHIGAMI.round(3).tolist() == [0.558, 0.442, 0.244]


@pytest.mark.parametrize("options", [{}, {"n_inner": 3}, {"n_inner": 6}, {"method": "pick-freeze"}], ids=str)
def test_ishigami_has_its_closed_form(options):
    found = monte_carlo_total_indices(ishigami.function, UNIFORM, seed=1, **options)
    assert found.values == pytest.approx(ISHIGAMI, abs=0.01)
    assert within(found, ISHIGAMI)
    assert found.variance == pytest.approx(MAIN + WAVE + BOTH, rel=0.02)


def test_linear_gaussian_example_relative_to_all_three_factors():
    found = monte_carlo_total_indices(add_first_two, CHAIN, seed=1)
    assert found.values == pytest.approx([0.5, 0.095, 0.0], abs=0.01)
    assert within(found, [0.5, 0.095, 0.0])


def test_linear_gaussian_example_relative_to_the_two_in_the_model():
    found = monte_carlo_total_indices(add_first_two, CopulaInputs([norm()] * 2), seed=1)
    assert found.values == pytest.approx([0.5, 0.5], abs=0.01)
    assert within(found, [0.5, 0.5])


def test_sets_have_the_joint_index_of_the_linear_example():
    """Given x₁ alone, x₂ keeps its variance; given nothing, all of it is left."""
    for subset, expected in [(["x2", "x3"], 0.5), ([0, 1], 0.595), (["x1", 1, 2], 1.0), (range(3), 1.0)]:
        found = monte_carlo_total_indices(add_first_two, CHAIN, n_inner=3, subset=subset, seed=2)
        assert found.values == pytest.approx([expected], abs=0.015) and within(found, [expected])
    assert found.names == ("x1 + x2 + x3",)


def test_other_marginals_have_the_answer_of_the_normal_scores():
    """log x is linear in the scores, so with correlation r given the other each keeps its share 1 − r²."""
    r, a, b = 0.6, 0.5, 1.5
    inputs = CopulaInputs([lognorm(a), lognorm(b)], [[1, r], [r, 1]])
    variance = a**2 + b**2 + 2 * r * a * b
    found = monte_carlo_total_indices(lambda x: np.log(x).sum(axis=1), inputs, seed=3)
    expected = np.array([a**2, b**2]) * (1 - r**2) / variance
    assert found.values == pytest.approx(expected, abs=0.01) and within(found, expected)


def test_a_product_of_exponential_factors_has_its_closed_form():
    """E x = 1 and E x² = 2: Var(x₁x₂) = 4 − 1, and E[Var(x₁x₂ | x₂)] = 2 · 1."""
    for options in ({}, {"method": "pick-freeze"}):
        product = monte_carlo_total_indices(
            lambda x: x[:, 0] * x[:, 1], CopulaInputs([expon(), expon()]), n_outer=400_000, seed=4, **options
        )
        assert product.values == pytest.approx([2 / 3, 2 / 3], abs=0.02) and within(product, [2 / 3, 2 / 3])


def test_a_marginal_of_ones_own_needs_only_quantiles():
    class Triangle:
        def ppf(self, q):
            return np.sqrt(q)

    # x is the root of a uniform number, so x² + x² of two is like u + u.
    found = monte_carlo_total_indices(lambda x: (x**2).sum(axis=1), CopulaInputs([Triangle()] * 2), seed=0)
    assert within(found, [0.5, 0.5]) and found.variance == pytest.approx(1 / 6, rel=0.02)


def test_discrete_factors_can_be_independent():
    found = monte_carlo_total_indices(add_first_two, CopulaInputs([poisson(3), norm()]), seed=5)
    assert within(found, [0.75, 0.25])


def test_conditional_draws_have_the_joint_distribution_of_whole_rows():
    """Redrawing a group given the others leaves the distribution as it is, also between all pairs."""
    correlation = 0.7 ** np.abs(np.subtract.outer(range(4), range(4)))
    inputs = CopulaInputs(norm(), correlation)
    rng = np.random.default_rng(0)
    scores = inputs.draw_scores(100_000, rng)
    assert np.cov(scores.T) == pytest.approx(correlation, abs=0.02)
    for group in ((0,), (1, 3), (0, 1, 2, 3)):
        fresh = scores.copy()
        fresh[:, group] = inputs.conditional(group).draw(scores, rng)
        assert np.cov(fresh.T) == pytest.approx(correlation, abs=0.02)


def test_samples_have_the_given_distributions_and_correlation():
    inputs = CopulaInputs([norm(5, 2), uniform()], [[1, 0.6], [0.6, 1]])
    X = inputs.sample(20_000, seed=1)
    assert X.mean(axis=0) == pytest.approx([5, 0.5], abs=0.05)
    assert X.std(axis=0) == pytest.approx([2, 12**-0.5], abs=0.03)
    assert spearmanr(*X.T).statistic == pytest.approx(6 / np.pi * np.arcsin(0.3), abs=0.02)
    np.testing.assert_array_equal(X, inputs.sample(20_000, seed=1))
    with pytest.raises(ValueError, match="n_rows must be a whole number of at least 1; got 0"):
        inputs.sample(0)


def test_one_factor_given_the_others_follows_the_precision_matrix():
    correlation = np.array([[1, 0.5, -0.2], [0.5, 1, 0.3], [-0.2, 0.3, 1]])
    precision = np.linalg.inv(correlation)
    conditional = CopulaInputs(norm(), correlation).conditional((1,))
    assert conditional.weights[:, 0] == pytest.approx(-precision[[0, 2], 1] / precision[1, 1])
    assert conditional.spread[0, 0] == pytest.approx(precision[1, 1] ** -0.5)


def test_factors_that_determine_each_other_have_no_index_of_their_own():
    for correlation in (np.ones((3, 3)), [[1, -1, 0], [-1, 1, 0], [0, 0, 1]]):
        inputs = CopulaInputs(norm(), correlation)
        found = monte_carlo_total_indices(lambda x: x[:, 0] + 2 * x[:, 1], inputs, n_outer=2000, seed=0)
        assert found.values == pytest.approx([0, 0, 0], abs=1e-12)
    pair = monte_carlo_total_indices(lambda x: x[:, 0] + x[:, 2], inputs, n_outer=20_000, subset=[0, 1], seed=0)
    assert within(pair, [0.5]) and pair.values == pytest.approx([0.5], abs=0.03)


def test_pick_freeze_equals_scipy_on_the_same_evaluations():
    """f is called with A, B, then A with one column of B after the other: these go to scipy as they are."""
    seen = []

    def spy(x):
        seen.append(x)
        return ishigami.function(x)

    found = monte_carlo_total_indices(spy, UNIFORM, n_outer=1024, method="pick-freeze", seed=6)
    A, B, *mixed = seen
    for i, AB in enumerate(mixed):
        assert np.array_equal(AB[:, i], B[:, i]) and np.array_equal(np.delete(AB, i, 1), np.delete(A, i, 1))
    f_A, f_B, *f_AB = (ishigami.function(x)[np.newaxis] for x in seen)
    theirs = sobol_indices(func={"f_A": f_A, "f_B": f_B, "f_AB": np.array(f_AB)}, n=1024)
    assert found.values == pytest.approx(theirs.total_order, rel=1e-12)


@pytest.mark.parametrize("method", ["double", "pick-freeze"])
def test_scipy_finds_the_same_indices_with_its_own_points(method):
    marginals = [norm(1, 2), expon(), uniform(-1, 2)]

    def interaction(x):
        return x[:, 0] * x[:, 1] + np.exp(x[:, 2])

    found = monte_carlo_total_indices(interaction, CopulaInputs(marginals), method=method, seed=7)
    seed = "rng" if "rng" in inspect.signature(sobol_indices).parameters else "random_state"  # renamed in 1.15
    theirs = sobol_indices(func=lambda x: interaction(x.T), n=2**16, dists=marginals, **{seed: 0})
    assert found.values == pytest.approx(theirs.total_order, abs=0.02) and within(found, theirs.total_order, 4)


def test_more_inner_points_are_the_formula_in_plain_loops():
    """The estimator as the paper writes it, on the very points that f was given."""
    seen = []

    def spy(x):
        seen.append(x)
        return x[:, 0] * x[:, 1] + x[:, 2]

    found = monte_carlo_total_indices(spy, CHAIN, n_inner=4, n_outer=50, seed=8)
    outer = spy(seen[0])
    for i in range(3):
        total = 0.0
        for m in range(50):
            inner = [spy(x[[m]])[0] for x in (seen[0], *seen[1 + 3 * i : 4 + 3 * i])]
            total += sum((value - sum(inner) / 4) ** 2 for value in inner) / 3
        assert found.values[i] == pytest.approx(total / 50 / np.var(outer), rel=1e-10)


@pytest.mark.parametrize("options", [{}, {"n_inner": 4}, {"method": "pick-freeze"}, {"subset": [0, 2]}], ids=str)
def test_standard_errors_are_the_spread_over_seeds(options):
    runs = [
        monte_carlo_total_indices(ishigami.function, UNIFORM, n_outer=2000, seed=seed, **options) for seed in range(60)
    ]
    spread = np.std([run.values for run in runs], axis=0, ddof=1)
    told = np.mean([run.standard_errors for run in runs], axis=0)
    assert (spread / told > 0.7).all() and (spread / told < 1.4).all()


def test_standard_errors_are_honest_for_correlated_factors():
    runs = [monte_carlo_total_indices(add_first_two, CHAIN, n_outer=2000, seed=seed) for seed in range(60)]
    spread = np.std([run.values for run in runs], axis=0, ddof=1)
    told = np.mean([run.standard_errors for run in runs], axis=0)
    assert told[2] == spread[2] == 0
    assert (spread[:2] / told[:2] > 0.7).all() and (spread[:2] / told[:2] < 1.4).all()


def test_a_large_mean_costs_no_digits():
    plain, lifted = (
        monte_carlo_total_indices(lambda x, lift=lift: x.sum(axis=1) + lift, UNIFORM, n_outer=3000, seed=0)
        for lift in (0.0, 1e6)
    )
    assert lifted.values == pytest.approx(plain.values, rel=1e-8)
    assert lifted.standard_errors == pytest.approx(plain.standard_errors, rel=1e-6)


@pytest.mark.parametrize("method", ["double", "pick-freeze"])
def test_blocks_do_not_change_what_is_estimated(method, monkeypatch):
    monkeypatch.setattr("firstfactor.problems.monte_carlo.BLOCK_VALUES", 300)
    sizes = []

    def spy(x):
        sizes.append(len(x))
        return ishigami.function(x)

    found = monte_carlo_total_indices(spy, UNIFORM, n_outer=20_050, method=method, seed=9)
    assert max(sizes) == 100 and min(sizes) == 50 and sum(sizes) == found.n_evaluations
    assert within(found, ISHIGAMI)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_points():
    def peak(n_outer, n_inner=2):
        tracemalloc.start()
        monte_carlo_total_indices(add_first_two, UNIFORM, n_inner, n_outer, seed=0)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    few, many = 200_000, 1_000_000  # at least two blocks, since one is made while the last is still held
    assert peak(many) < 1.1 * peak(few)
    assert peak(10_000, n_inner=100) < 1.1 * peak(few)


def test_the_same_seed_gives_the_same_bits():
    first, second, third = (
        monte_carlo_total_indices(add_first_two, CHAIN, n_outer=5000, seed=seed)
        for seed in (3, np.random.default_rng(3), 4)
    )
    assert np.array_equal(first.values, second.values)
    assert np.array_equal(first.standard_errors, second.standard_errors)
    assert not np.array_equal(first.values, third.values)


def test_a_function_may_write_into_its_argument():
    def careless(x):
        x *= 2
        return x[:, 0] + x[:, 1]

    twice = monte_carlo_total_indices(careless, CHAIN, n_outer=500, seed=0)
    once = monte_carlo_total_indices(add_first_two, CHAIN, n_outer=500, seed=0)
    assert twice.values == pytest.approx(once.values, rel=1e-12)


def test_results_carry_names_and_print_as_a_table():
    inputs = CopulaInputs([norm(), norm()], names=["load", "speed"])
    found = monte_carlo_total_indices(add_first_two, inputs, n_outer=1000, seed=0)
    assert found.names == ("load", "speed") and found.n_evaluations == 3000
    lines = repr(found).splitlines()
    assert lines[0].endswith("from 3,000 evaluations")
    assert re.fullmatch(r"factor +total index +standard error", lines[1])
    assert re.fullmatch(r"load +0\.\d{4} +0\.\d{4}", lines[2])


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: x, r"f must return one number per row, shape \(10,\); got shape \(10, 3\)"),
        (lambda x: x[:, :1], r"got shape \(10, 1\)"),
        (lambda x: x.sum(), r"got shape \(\)"),
        (lambda x: x[:, 0].astype(str), "f must return real numbers; got an array of type <U"),
        (lambda x: x[:, 0] + 1j, "f must return real numbers; got an array of type complex128"),
        (lambda x: np.where(x[:, 0] < 0.9, x[:, 0], np.nan), r"f must be finite wherever .* got nan at \[0\.9"),
        (lambda x: np.where(x[:, 0] < 0.9, x[:, 0], -np.inf), r"got -inf at \[0\.9"),
        (lambda x: np.full(len(x), 0.1), r"f must vary, .* it is 0\.1 at all 10 points"),
        (lambda x: 0.3 + x[:, 0] / 1e18, r"f must vary"),
    ],
)
def test_functions_that_cannot_be_analysed_are_refused(f, message):
    with pytest.raises(ValueError, match=message):
        monte_carlo_total_indices(f, UNIFORM, n_outer=10, seed=0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_inner": 1}, "n_inner must be a whole number of at least 2 (a variance needs two values); got 1."),
        ({"n_outer": 0}, "n_outer must be a whole number of at least 2 (a variance needs two values); got 0."),
        ({"n_outer": 1e5}, "n_outer must be a whole number of at least 2 (a variance needs two values); got 100000.0."),
        ({"method": "jansen"}, "method must be one of 'double', 'pick-freeze'; got 'jansen'."),
        ({"method": "pick-freeze"}, "method must be 'double' for correlated inputs; got 'pick-freeze'."),
        ({"seed": "a"}, "seed must be None, a non-negative integer or a numpy Generator; got 'a'."),
        ({"subset": []}, "subset must be a list of at least one factor; got []."),
        ({"subset": "x1"}, "subset must be a list of at least one factor; got 'x1'."),
        ({"subset": ["x9"]}, "subset must hold names or positions of factors (x1, x2, x3, or 0 to 2); got 'x9'."),
        ({"subset": [3]}, "subset must hold names or positions of factors (x1, x2, x3, or 0 to 2); got 3."),
    ],
)
def test_wrong_parameters_are_refused(given, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        monte_carlo_total_indices(add_first_two, CHAIN, **given)


def test_pick_freeze_takes_two_inner_points_only():
    with pytest.raises(ValueError, match=r"n_inner must be 2 with method='pick-freeze'; got 3"):
        monte_carlo_total_indices(add_first_two, UNIFORM, n_inner=3, method="pick-freeze")


def test_what_is_no_function_and_what_are_no_inputs_is_refused():
    with pytest.raises(TypeError, match="f must be a function of an array"):
        monte_carlo_total_indices(3, UNIFORM)
    with pytest.raises(TypeError, match="inputs must be CopulaInputs, such as"):
        monte_carlo_total_indices(add_first_two, [uniform()])


@pytest.mark.parametrize(
    ("correlation", "message"),
    [
        ("strong", "correlation must be a matrix of numbers or None; got 'strong'"),
        (0.5, r"correlation must be a square matrix or None; got shape \(\)"),
        (np.ones((2, 3)), r"correlation must be a square matrix or None; got shape \(2, 3\)"),
        (np.eye(3), r"correlation must have a row for each of 2 marginals; got shape \(3, 3\)"),
        ([[1, np.nan], [np.nan, 1]], "correlation must be finite"),
        ([[1, 0.5], [0.5, 2]], r"correlation must have ones on its diagonal; got 2\.0 for factor 1"),
        ([[1, 0.5], [0.4, 1]], r"correlation must be symmetric; got 0\.5 at \(0, 1\) and 0\.4 at \(1, 0\)"),
        ([[1, 1.5], [1.5, 1]], r"correlation must be positive semi-definite; its smallest eigenvalue is -0\.5"),
    ],
)
def test_what_is_no_correlation_matrix_is_refused(correlation, message):
    with pytest.raises(ValueError, match=message):
        CopulaInputs([norm(), norm()], correlation)


def test_wrong_marginals_and_names_are_refused():
    with pytest.raises(ValueError, match=r"marginals must be a sequence where correlation is None"):
        CopulaInputs(norm())
    with pytest.raises(ValueError, match="marginals must hold at least one distribution; got none"):
        CopulaInputs([])
    with pytest.raises(TypeError, match=r"marginals must have a method ppf, .* got 'norm' for factor 1"):
        CopulaInputs([norm(), "norm"])
    with pytest.raises(ValueError, match=r"marginals must be continuous for correlated factors; .* factor 1"):
        CopulaInputs([norm(), poisson(2)], [[1, 0.5], [0.5, 1]])
    with pytest.raises(ValueError, match=r"names must be 2 different names, one per factor; got \['a', 'a'\]"):
        CopulaInputs([norm(), norm()], names=["a", "a"])


def test_inputs_keep_a_matrix_of_their_own():
    correlation = np.eye(2)
    inputs = CopulaInputs(norm(), correlation)
    correlation[0, 1] = 7
    assert inputs.independent and not inputs.correlation.flags.writeable


def test_scores_and_values_are_those_of_the_marginals():
    scores = np.array([[0.0, 1.0], [-1.0, 2.0]])
    values = CopulaInputs([uniform(), norm(3, 2)]).values(scores, [0, 1])
    assert values[:, 0] == pytest.approx(ndtr(scores[:, 0]))
    assert ndtri(norm(3, 2).cdf(values[:, 1])) == pytest.approx(scores[:, 1])
