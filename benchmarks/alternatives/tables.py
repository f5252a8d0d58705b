"""The tables: drawn at random with a known answer, or real ones of scikit-learn without."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn import datasets

from firstfactor.problems import friedman, heavy_tailed, ishigami

N_ROWS = 1000
WIDE_ROWS, WIDE_FACTORS, WIDE_TRUE = 200, 300, 20
COPY_CORRELATION = 0.9


@dataclass(frozen=True)
class Table:
    """Tables of one kind."""

    name: str
    draw: Callable
    """From a number of rows and a seed to factors and the response."""
    true_factors: tuple[int, ...] | None = ()
    """Positions of the factors that the response depends on; None where nobody knows."""
    true_indices: Callable | None = None
    """What gives the true total indices, relative to the true factors, where importances are compared with them."""
    n_rows: int | None = N_ROWS
    """How many rows are drawn; None for a real table, which has those it has."""
    n_factors: int = 10
    function: Callable | None = None
    """The response without noise, if its factors are independent and uniform on [0, 1]: what a simulator would be."""
    part: float = 1.0
    """The part of the repetitions that is run where a run takes longer than elsewhere; at least one."""


def _problem(problem, correlation):
    return Table(
        f"{problem.name.capitalize()}, ρ = {correlation:g}",
        lambda n, seed: problem.sample(n, correlation=correlation, seed=seed),
        problem.true_factors,
        lambda: problem.total_indices(correlation=correlation),
        n_factors=problem.n_factors,
        function=problem.function if correlation == 0 else None,
    )


def exclusive_or(X):
    """Return 1 if both of the first two factors are above ½ or both below, else −1."""
    return np.where(X[:, :2] > 0.5, 1.0, -1.0).prod(axis=1)


def _draw_exclusive_or(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_rows, 10))
    return X, exclusive_or(X) + 0.5 * rng.normal(size=n_rows)


def _draw_noise(n_rows, seed):
    rng = np.random.default_rng(seed)
    return rng.uniform(size=(n_rows, 10)), rng.normal(size=n_rows)


def _draw_copies(n_rows, seed):
    """A sum of two normal factors; two more are inexact copies of the second, and four have nothing to do with it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 8))
    rest = np.sqrt(1 - COPY_CORRELATION**2)
    X[:, 2:4] = COPY_CORRELATION * X[:, 1:2] + rest * X[:, 2:4]
    return X, X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n_rows)


def _draw_wide(n_rows, seed):
    """A line in 20 of 300 normal factors, all with coefficients 1 or −1, and noise of variance 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, WIDE_FACTORS))
    signs = rng.choice([-1.0, 1.0], size=WIDE_TRUE)
    return X, X[:, :WIDE_TRUE] @ signs + rng.normal(size=n_rows)


def _halves(n_factors):
    """Two factors with the same index, and others that have none."""
    return np.r_[[0.5, 0.5], np.zeros(n_factors - 2)]


def _real(name, load, n_factors, response=lambda y: y):
    def take(_n_rows, _seed):
        X, y = load(return_X_y=True)
        varies = X.std(axis=0) > 0  # corners of pictures that are always empty
        return X[:, varies], np.asarray(response(y), dtype=float)

    return Table(name, take, None, n_rows=None, n_factors=n_factors, part=0.15)


NOISE = Table("pure noise", _draw_noise)
WIDE = Table("wide", _draw_wide, tuple(range(WIDE_TRUE)), n_rows=WIDE_ROWS, n_factors=WIDE_FACTORS, part=0.5)
PROBLEMS = (
    *(_problem(problem, rho) for problem in (friedman, ishigami, heavy_tailed) for rho in (0.0, 0.8)),
    Table("XOR", _draw_exclusive_or, (0, 1), lambda: 2 * _halves(10), function=exclusive_or),
    Table("copies", _draw_copies, (0, 1), lambda: _halves(8), n_factors=8),
)
REAL = (
    _real("diabetes", datasets.load_diabetes, 10),
    _real("breast cancer", datasets.load_breast_cancer, 30),
    _real("digits: is it an 8?", datasets.load_digits, 61, lambda y: y == 8),
)
TABLES = {each.name: each for each in (*PROBLEMS, NOISE, WIDE, *REAL)}
