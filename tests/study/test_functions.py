"""Functions of other studies are what they are said to be."""

import numpy as np
import pytest

from study.data.functions import BESIDE, BOREHOLE, BOREHOLE_FACTORS, FRIEDMAN_VARIANCE, FUNCTIONS, G_CONSTANTS
from study.data.setting import SOURCES, Setting
from study.scores import truths


@pytest.fixture(scope="module")
def table():
    return np.random.default_rng(0).uniform(size=(200_000, 12))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_variance_is_the_one_that_noise_is_measured_against(name, table):
    function = FUNCTIONS[name]
    values = function.function(table)
    assert values.var() == pytest.approx(function.variance, rel=0.02)
    y = function(table, np.random.default_rng(1))
    assert (y - values).var() / y.var() == pytest.approx(function.noise_share, rel=0.03)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_only_true_factors_matter(name, table):
    function, rows = FUNCTIONS[name], table[:200]
    values = function.function(rows)
    changed = []
    for j in range(rows.shape[1]):
        other = rows.copy()
        other[:, j] = 1 - other[:, j] ** 2
        changed.append(not np.array_equal(function.function(other), values))
    assert tuple(np.flatnonzero(changed)) == function.true_factors == SOURCES[name].true_factors


def test_the_small_effect_has_its_share_of_the_variance():
    for name, share in (("small-effect", 0.003), ("small-effect-in-noise", 0.01)):
        function = FUNCTIONS[name]
        slope = function.function(np.eye(12)[[BESIDE]]) - function.function(np.zeros((1, 12)))
        assert slope**2 / 12 == pytest.approx(share * (function.variance + function.noise**2), rel=1e-6)
        assert Setting(name, 5000, 20).sought == (BESIDE,)
    assert FUNCTIONS["small-effect"].noise == pytest.approx(1)
    friedman = truths.true_ceiling(Setting("friedman", 1000, 10))
    assert friedman / (1 - friedman) == pytest.approx(FRIEDMAN_VARIANCE, rel=1e-3)


def test_the_borehole_function_is_the_one_of_the_usual_units():
    """At r_w = 0.1, r = 500, Tᵤ = 80,000, Hᵤ = 1,050, Tₗ = 90, Hₗ = 760, L = 1,400 and K = 11,000."""
    point = np.array([0.1, 500, 80_000, 1050, 90, 760, 1400, 11_000])
    low, high = BOREHOLE.T
    log = np.log(5000)
    ref = 2 * np.pi * 80_000 * 290 / (log * (1 + 2 * 1400 * 80_000 / (log * 0.01 * 11_000) + 80_000 / 90))
    assert FUNCTIONS["borehole"].function((point - low)[None] / (high - low)) == pytest.approx(ref)


def test_factors_of_the_borehole_that_are_not_sought_have_next_to_no_effect(table):
    function, rng = FUNCTIONS["borehole"], np.random.default_rng(2)
    values = function.function(table)
    for j in range(8):
        other = table.copy()
        other[:, j] = rng.uniform(size=len(table))
        total = ((function.function(other) - values) ** 2).mean() / 2 / values.var()
        assert (total > 1e-3) == (j in BOREHOLE_FACTORS) and (total < 2e-5) == (j not in BOREHOLE_FACTORS)


def test_the_function_of_morris_at_corners():
    """All w are 1 at the upper corner, and −1 at the lower one, where x / (x + 0.1) is 0."""
    top = 20 * 10 - 15 * 15 - 10 * 10 + 5 * 1
    bottom = -20 * 10 - 15 * 15 + 10 * 10 + 5 * 1
    assert FUNCTIONS["morris"].function(np.array([np.ones(10), np.zeros(10)])) == pytest.approx([top, bottom])


def test_factors_of_interactions_do_nothing_alone(table):
    for name in ("xor", "product", "product-of-three", "parity"):
        values = FUNCTIONS[name].function(table)
        for j in FUNCTIONS[name].true_factors:
            halves = [values[part].mean() for part in (table[:, j] > 0.5, table[:, j] <= 0.5)]
            assert halves == pytest.approx([0, 0], abs=0.01)


def test_the_truth_about_the_g_function_is_the_one_of_monte_carlo(table):
    setting, function = Setting("g-function", 1000, 4), FUNCTIONS["g-function"].function
    values, rng = function(table), np.random.default_rng(3)
    totals = []
    for j in range(4):
        other = table.copy()
        other[:, j] = rng.uniform(size=len(table))
        totals.append(((function(other) - values) ** 2).mean() / 2 / values.var())
    assert truths.truth(setting) == pytest.approx(totals, rel=0.02)
    assert truths.true_ceiling(setting) == pytest.approx(0.93) and len(G_CONSTANTS) == 4
