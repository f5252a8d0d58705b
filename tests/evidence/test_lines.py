"""Lines of factors beside the lines of all others: the t-test of a linear model."""

import numpy as np
import pandas as pd
import pytest

from firstfactor.evidence import lines as lines_module
from firstfactor.evidence.lines import Lines
from tests.evidence.parts import functions_of, least_squares, outputs_of, regression_on, residuals_of

ROWS = 150
WEIGHTS = np.random.default_rng(5).uniform(0.2, 3.0, size=ROWS)


def table():
    """Three numbers that go together, a category with 3 levels, one with 12, and a number with gaps."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=ROWS)
    return pd.DataFrame(
        {
            "a": common + rng.normal(size=ROWS),
            "b": common + rng.normal(size=ROWS),
            "c": common + rng.normal(size=ROWS),
            "three": np.array(list("xyz"))[rng.integers(0, 3, size=ROWS)],
            "many": np.array(list("abcdefghijkl"))[rng.integers(0, 12, size=ROWS)],
            "gaps": np.where(rng.uniform(size=ROWS) < 0.2, np.nan, common),
        }
    )


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize(("base", "n_functions"), [((), 1), ((2,), 1), ((2,), 4)])
def test_lines_are_what_a_base_leaves_of_the_first_functions(base, n_functions, weights):
    functions = functions_of(table())
    regression = regression_on(functions, base, weights)
    factors = (5, 0, 3, 4, 1)
    found = Lines.of(functions, regression, factors, n_functions)
    sizes = {5: 2, 0: 1, 3: 2, 4: 8, 1: 1}  # of many levels, eight
    sizes = {i: max(size, min(n_functions, len(functions.of(i)))) for i, size in sizes.items()}
    assert found.owner.tolist() == [i for i in factors for _ in range(sizes[i])]
    first = np.concatenate([functions.of(i)[: sizes[i]] for i in factors]).astype(float)
    np.testing.assert_allclose(found.left, regression.residuals(first), atol=1e-5)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("n_functions", [1, 4])
def test_beside_each_other_is_what_least_squares_on_the_lines_of_all_other_factors_leave(weights, n_functions):
    functions = functions_of(table())
    found = Lines.of(functions, regression_on(functions, (2,), weights), (0, 1, 3, 4, 5), n_functions)
    ours = found.beside_each_other()
    for factor in (0, 1, 3, 4, 5):
        own = found.owner == factor
        np.testing.assert_allclose(ours[own], least_squares(found.left[~own], found.left[own]), atol=1e-4)


def test_scores_of_lines_beside_each_other_are_t_values_of_least_squares():
    """With the same variance in all rows, a squared score is about the square of a t-value."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(3000, 4))
    X[:, 1] += 1.5 * X[:, 0]
    y = 0.2 * X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=3000)
    A = np.column_stack([np.ones(3000), X])
    slopes = np.linalg.lstsq(A, y, rcond=None)[0]
    variance = np.sum((y - A @ slopes) ** 2) / (3000 - 5)
    t = slopes / np.sqrt(variance * np.diag(np.linalg.inv(A.T @ A)))
    functions = functions_of(X)
    residuals = residuals_of(functions, y)
    lines = Lines.of(functions, residuals.regression, range(4))
    given = residuals.given(outputs_of(y), residuals.regression.extend(lines.left))
    found = given.squares(lines.beside_each_other())[:, 0]
    np.testing.assert_allclose(np.sqrt(found), np.abs(t[1:]), rtol=0.06, atol=0.05)
    assert np.abs(t[1:]).max() > 3


def test_exact_copies_leave_little_of_each_other_but_no_crash():
    X = np.random.default_rng(0).normal(size=(ROWS, 3))
    functions = functions_of(np.column_stack([X, X[:, 0]]))
    found = Lines.of(functions, regression_on(functions), range(4)).beside_each_other()
    size = (found**2).sum(axis=1) / ROWS
    assert (size[[0, 3]] < 1e-4).all() and (size[[1, 2]] > 0.9).all()
    assert np.isfinite(found).all()


def test_lines_that_the_base_knows_are_left_aside():
    X = np.random.default_rng(0).normal(size=(ROWS, 3))
    X[:, 2] = X[:, 0] + 0.01 * X[:, 1]
    functions = functions_of(X)
    assert Lines.of(functions, regression_on(functions, (0,)), (1, 2)).owner.tolist() == [1]
    assert Lines.of(functions, regression_on(functions, (1,)), (0, 2)).owner.tolist() == [0, 2]


def test_factors_whose_lines_are_like_others():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 4000))
    noise -= np.mean(noise * x) / np.mean(x**2) * x
    turned = [r * x / x.std() + np.sqrt(1 - r**2) * noise / noise.std() for r in (0.9, -0.9, 0.8, 0.5, 0.0)]
    levels = np.where(x + 0.1 * noise > 0, "up", "down")
    functions = functions_of(pd.DataFrame(np.column_stack([x, *turned])).assign(levels=levels))
    lines = Lines.of(functions, regression_on(functions), range(1, 7))
    own = functions.plain(0).astype(float)
    assert lines.like(own, 0.85) == (1, 2)
    assert lines.like(own, 0.7) == (1, 2, 3, 6)
    assert lines.like(np.zeros((1, 4000)), 0.1) == ()
    assert lines.without((1, 2)).owner.tolist() == [3, 4, 5, 6]
    assert lines.without((1, 2)).like(own, 0.85) == ()
    assert lines.without(range(7)).like(own, 0.1) == ()


def test_lines_need_two_rows_each_beside_the_base():
    functions = functions_of(np.random.default_rng(0).normal(size=(ROWS, 9)))
    regression = regression_on(functions, (0,))
    lines = Lines.of(functions, regression, range(1, 9))
    needed = 2 * (regression.n_coefficients + 8)
    assert lines.fit(regression, needed) and not lines.fit(regression, needed - 1)
    assert not lines.without(range(9)).fit(regression, needed)


def test_of_too_many_or_of_no_factors_there_are_no_lines(monkeypatch):
    functions = functions_of(np.random.default_rng(0).normal(size=(ROWS, 9)))
    regression = regression_on(functions)
    monkeypatch.setattr(lines_module, "MOST_LINES_BESIDE", 8)
    assert Lines.of_few(functions, regression, ()) is None
    assert Lines.of_few(functions, regression, range(9)) is None
    assert Lines.of_few(functions, regression, range(3), 4) is None
    assert len(Lines.of_few(functions, regression, range(8)).left) == 8
    assert len(Lines.of_few(functions, regression, range(2), 4).left) == 8
    assert not Lines.of(functions, regression, range(9)).fit(regression, 1000)
