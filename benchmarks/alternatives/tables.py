"""The tables: drawn at random with a known answer, or real ones of scikit-learn without."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets

from firstfactor.problems import friedman, heavy_tailed, ishigami
from study.data.additive import MODELS
from study.data.ordinary import correlated
from study.data.setting import Setting

N_ROWS = 1000
WIDE_ROWS, WIDE_FACTORS, WIDE_TRUE = 200, 300, 20
COPY_CORRELATION = 0.9
LINES = MODELS["lines-50"]
"""Six lines among ten factors, and as much noise."""
CLASS_SHARE = 0.3
CORRELATION = 0.5
"""Of neighbouring factors in ordinary tables."""


class Drawn(NamedTuple):
    """One table."""

    X: Any
    y: Any
    true: tuple[int, ...] | None
    """Positions of the factors that the response depends on; None where nobody knows."""
    indices: Any = None
    """The true total indices, relative to the true factors, where importances are compared with them."""


@dataclass(frozen=True)
class Table:
    """Tables of one kind."""

    name: str
    draw: Callable
    """From a number of rows and a seed to a `Drawn`."""
    n_rows: int = N_ROWS
    n_factors: int = 10
    function: Callable | None = None
    """The response without noise, if its factors are independent and uniform on [0, 1]: what a simulator would be."""
    part: float = 1.0
    """The part of the repetitions that is run, where a run takes longer or shorter than elsewhere; at least one."""


def _with_truth(draw, true, indices=lambda: None):
    """Return what draws tables that all have the same truth."""
    known = cache(indices)
    return lambda n_rows, seed: Drawn(*draw(n_rows, seed), true, known())


def _problem(problem, correlation):
    return Table(
        f"{problem.name.capitalize()}, ρ = {correlation:g}",
        _with_truth(
            lambda n, seed: problem.sample(n, correlation=correlation, seed=seed),
            problem.true_factors,
            lambda: problem.total_indices(correlation=correlation),
        ),
        n_factors=problem.n_factors,
        function=problem.function if correlation == 0 else None,
    )


def _of_study(name, setting, indices=lambda _setting, _true: None, part=1.0):
    """Return tables of the study."""

    def draw(n_rows, seed):
        sized = replace(setting, n_rows=n_rows)
        true = tuple(sorted(sized.true_in(seed)))
        return Drawn(*sized.draw(seed), true, indices(sized, true))

    return Table(name, draw, setting.n_rows, setting.n_factors, part=part)


def _of_terms(setting, _true):
    """What is left of the variance without each term of a sum."""
    return MODELS[setting.source].truth(setting.n_factors, setting.correlation).totals


def _equal(setting, true):
    """The same for all true factors."""
    return np.isin(np.arange(setting.n_factors), true) / len(true)


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


def _draw_classes(n_rows, seed):
    """The same lines with logistic noise, as large, cut so that 30 % of the rows are in the second class."""
    rng = np.random.default_rng(seed)
    X = correlated(n_rows, 10, CORRELATION, True, rng)
    scale = LINES.noise(10, CORRELATION) * np.sqrt(3) / np.pi
    latent = LINES.terms(X).sum(axis=1) + scale * rng.logistic(size=n_rows)
    return X, (latent > np.quantile(latent, 1 - CLASS_SHARE)).astype(float)


def _real(name, load, n_rows, n_factors, response=lambda y: y):
    def take(_n_rows, _seed):
        X, y = load(return_X_y=True)
        varies = X.std(axis=0) > 0  # corners of pictures that are always empty
        return Drawn(X[:, varies], np.asarray(response(y), dtype=float), None)

    return Table(name, take, n_rows, n_factors, part=0.1)


NOISE = Table("pure noise", _with_truth(_draw_noise, ()))
PROBLEMS = (
    *(_problem(problem, rho) for problem in (friedman, ishigami, heavy_tailed) for rho in (0.0, 0.8)),
    Table("XOR", _with_truth(_draw_exclusive_or, (0, 1), lambda: 2 * _halves(10)), function=exclusive_or),
    Table("copies", _with_truth(_draw_copies, (0, 1), lambda: _halves(8)), n_factors=8),
)
OFTEN, SELDOM = 2.5, 0.5
"""Small tables take little time, and wide ones much."""
ADDITIVE = (
    _of_study("lines, N = 200", Setting("lines-50", 200, 10, CORRELATION), _of_terms, OFTEN),
    _of_study("lines, N = 400", Setting("lines-50", 400, 10, CORRELATION), _of_terms, OFTEN),
    _of_study("curves, N = 400", Setting("curves-50", 400, 10, CORRELATION), _of_terms, OFTEN),
)
CLASSES = Table("two classes, N = 500", _with_truth(_draw_classes, LINES.draw_true(10, None)), 500, part=OFTEN)
PRODUCT = _of_study("product, N = 200", Setting("weak-product", 200, 8), _equal, OFTEN)
ORDINARY = (*ADDITIVE, CLASSES, PRODUCT)
FIVE = _of_study("5 lines of 70 %, 100 × 300", Setting("five-lines", 100, WIDE_FACTORS), part=SELDOM)
TWENTY = Table(
    "20 lines of 95 %, 200 × 300",
    _with_truth(_draw_wide, tuple(range(WIDE_TRUE))),
    WIDE_ROWS,
    WIDE_FACTORS,
    part=SELDOM,
)
WIDE = (FIVE, TWENTY)
REAL = (
    _real("diabetes", datasets.load_diabetes, 442, 10),
    _real("breast cancer", datasets.load_breast_cancer, 569, 30),
    _real("digits: is it an 8?", datasets.load_digits, 1797, 61, lambda y: y == 8),
)
TABLES = {each.name: each for each in (*ORDINARY, *WIDE, *PROBLEMS, NOISE, *REAL)}
