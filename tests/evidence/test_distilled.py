"""Lines of many factors beside all others, told by a lasso on rows that it was not fitted on."""

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.linear_model import Lasso, LassoCV

from firstfactor._utils.threads import Workers
from firstfactor.evidence import distilled
from firstfactor.evidence.distilled import benjamini_hochberg, distil, draw_folds, holm
from firstfactor.evidence.lines import Lines
from tests.evidence.parts import functions_of, outputs_of, residuals_of

ROWS, FACTORS = 60, 40
GROUPS = np.random.default_rng(6).integers(0, 20, size=ROWS)


def table(rho=0.0, rows=ROWS, factors=FACTORS):
    """Factors each of which goes with the next."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, factors))
    for j in range(1, factors):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


def lines_of(X, y, groups=None):
    functions = functions_of(X)
    residuals = residuals_of(functions, y, groups=groups)
    return Lines.of(functions, residuals.regression, range(functions.design.n_factors)), outputs_of(y)


def lasso(X, y, penalty):
    if X.shape[1] == 0:
        return np.zeros(0)
    return Lasso(penalty, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(X, y).coef_


def naive_p_values(X, y, folds, groups):
    """The p-value of each column, one row and one column after the other."""
    n_rows, n_lines = X.shape
    penalties = np.geomspace(1, 0.02, 30) * np.abs(X.T @ y).max() / n_rows
    rows = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(10)]
    penalty = LassoCV(alphas=penalties, cv=rows, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(X, y).alpha_
    terms = np.zeros((n_lines, n_rows))
    for inside, outside in rows:
        slopes = lasso(X[inside], y[inside], penalty)
        taken = np.flatnonzero(slopes)
        for line in range(n_lines):
            others = [k for k in taken if k != line]
            of_others = slopes[others]
            related = []
            for k in others:
                a, b = X[inside, k], X[inside, line]
                if abs(a @ b) / np.sqrt((a @ a) * (b @ b)) > 4 / np.sqrt(len(inside)):
                    related.append(k)
            slope = np.linalg.lstsq(X[inside][:, related], X[inside, line], rcond=None)[0]
            for row in outside:
                left_of_y = y[row] - X[row, others] @ of_others
                left_of_line = X[row, line] - X[row, related] @ slope
                terms[line, row] = left_of_y * left_of_line
    units = np.unique(groups)
    summed = np.array([[terms[line, groups == unit].sum() for unit in units] for line in range(n_lines)])
    scores = np.abs(summed.sum(axis=1)) / np.sqrt((summed**2).sum(axis=1))
    spread = max(np.median(scores) / norm.isf(0.25), 1)
    return 2 * student.sf(scores / spread, len(units) - 2)


@pytest.mark.parametrize("rho", [0.0, 0.8])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
def test_p_values_are_those_of_plain_loops(monkeypatch, rho, groups):
    monkeypatch.setattr(distilled, "TOLERANCE", 1e-10)
    monkeypatch.setattr(distilled, "MOST_PASSES", 100_000)
    X = table(rho)
    y = X[:, :3].sum(axis=1) + 0.5 * np.random.default_rng(1).normal(size=ROWS)
    lines, outputs = lines_of(X, y, groups)
    folds = draw_folds(np.random.default_rng(2), ROWS, groups)
    found = distil(lines, outputs, folds, groups, Workers(1))
    expected = naive_p_values(lines.left.T, outputs[0], folds, np.arange(ROWS) if groups is None else groups)
    assert list(found) == list(range(FACTORS))
    np.testing.assert_allclose(list(found.values()), expected, rtol=1e-3)
    if rho == 0:
        assert set(sorted(found, key=found.get)[:2]) <= {0, 1, 2}


def test_of_several_outputs_and_lines_the_smallest_counts_times_their_number():
    X = table()
    rng = np.random.default_rng(1)
    y = np.column_stack([X[:, 0] + rng.normal(size=ROWS), rng.normal(size=ROWS)])
    lines, outputs = lines_of(X, y)
    folds = draw_folds(rng, ROWS, None)
    each = [distil(lines, output[None], folds, None, Workers(1)) for output in outputs]
    both = distil(lines, outputs, folds, None, Workers(1))
    assert both == {i: min(2 * min(each[0][i], each[1][i]), 1.0) for i in range(FACTORS)}
    shared = Lines(lines.left, np.repeat(np.arange(FACTORS // 2), 2))
    found = distil(shared, outputs[:1], folds, None, Workers(1))
    assert found == {i: min(2 * min(each[0][2 * i], each[0][2 * i + 1]), 1.0) for i in range(FACTORS // 2)}


def test_scores_that_spread_more_than_chance_are_measured_by_their_spread():
    """Where rows of hidden groups go together, all scores are too large alike."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 10)
    X, y = rng.normal(size=(12, 60))[groups], rng.normal(size=12)[groups] + 0.1 * rng.normal(size=120)
    X = X + 0.1 * rng.normal(size=X.shape)
    lines, outputs = lines_of(X, y)
    found = np.array(list(distil(lines, outputs, draw_folds(rng, 120, groups), None, Workers(1)).values()))
    assert np.median(found) == pytest.approx(0.5, abs=0.02)
    assert holm(dict(enumerate(found)))[int(np.argmin(found))] > 0.1


def test_threads_change_no_bit():
    X = table(0.8)
    lines, outputs = lines_of(X, X[:, :3].sum(axis=1) + np.random.default_rng(1).normal(size=ROWS))
    folds = draw_folds(np.random.default_rng(2), ROWS, None)
    with Workers(2) as workers:
        assert distil(lines, outputs, folds, None, workers) == distil(lines, outputs, folds, None, Workers(1))


def test_no_lines_have_no_p_values():
    assert (
        distil(Lines(np.zeros((0, ROWS)), np.zeros(0, int)), np.ones((1, ROWS)), np.arange(ROWS) % 5, None, Workers(1))
        == {}
    )


@pytest.mark.filterwarnings("error")
def test_a_response_that_goes_with_no_line_is_no_crash():
    lines, _ = lines_of(table(), table()[:, 0])
    y = np.zeros((1, ROWS))
    assert all(p > 0.5 for p in distil(lines, y, np.arange(ROWS) % 5, None, Workers(1)).values())


def screened(X, y):
    return distilled._samples(X.T, y[None], np.zeros(ROWS, int))[0].screen(distilled.NO_ROWS)


def test_only_the_lines_that_go_most_with_y_are_chosen_from(monkeypatch):
    X = table()
    y = X[:, 7] + 0.5 * X[:, 11]
    monkeypatch.setattr(distilled, "FEWEST_LINES_OF_LASSO", 2)
    monkeypatch.setattr(distilled, "MOST_VALUES_OF_LINES", 2 * ROWS)
    assert screened(X, y).tolist() == [7, 11]
    monkeypatch.setattr(distilled, "MOST_VALUES_OF_LINES", 10**9)
    monkeypatch.setattr(distilled, "MOST_LINES_OF_LASSO", 30)
    assert screened(X, y).size == 30


def test_folds_are_even_and_keep_groups_together():
    folds = draw_folds(np.random.default_rng(0), 103, None)
    assert sorted(np.bincount(folds)) == [10] * 7 + [11] * 3
    assert not (folds == draw_folds(np.random.default_rng(1), 103, None)).all()
    folds = draw_folds(np.random.default_rng(0), ROWS, GROUPS)
    assert all(np.unique(folds[group == GROUPS]).size == 1 for group in range(20))
    assert np.unique(folds[np.unique(GROUPS, return_index=True)[1]], return_counts=True)[1].tolist() == [2] * 10


# --- many at once ---------------------------------------------------------------------------------------

LISTS = [
    {3: 0.01, 1: 0.04, 2: 0.03, 0: 0.005},
    {0: 0.2, 1: 0.2, 2: 0.001},
    {5: 0.9, 6: 0.95},
    {0: 0.03},
    dict(enumerate(np.random.default_rng(0).uniform(size=30) ** 3)),
]


@pytest.mark.parametrize("p_values", LISTS)
def test_holm_is_that_of_the_textbook(p_values):
    found = holm(p_values)
    assert list(found) == sorted(p_values, key=lambda i: (p_values[i], i))
    for i, p in p_values.items():
        smaller = [q for q in p_values.values() if q <= p]
        steps = [q * sum(other >= q for other in p_values.values()) for q in smaller]
        assert found[i] == pytest.approx(min(max(steps), 1.0))


@pytest.mark.parametrize("p_values", LISTS)
@pytest.mark.parametrize("level", [0.05, 0.1, 0.5])
def test_benjamini_hochberg_is_that_of_the_textbook(p_values, level):
    """The k smallest are found, where k is the largest number for which the k-th is at most k / n of the level."""
    ascending = sorted(p_values.values())
    n = len(ascending)
    most = max([k for k in range(1, n + 1) if ascending[k - 1] <= k / n * level], default=0)
    found = [p for p in benjamini_hochberg(p_values).values() if p <= level]
    assert len(found) == most


def test_adjusted_p_values_of_a_small_list():
    assert holm({0: 0.01, 1: 0.04, 2: 0.03}) == pytest.approx({0: 0.03, 2: 0.06, 1: 0.06})
    assert benjamini_hochberg({0: 0.01, 1: 0.04, 2: 0.03}) == pytest.approx({0: 0.03, 1: 0.04, 2: 0.04})
    assert holm({}) == benjamini_hochberg({}) == {}
