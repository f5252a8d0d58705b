"""Demo tables: problems with a known answer, and data that come with scikit-learn."""

from collections.abc import Callable
from typing import NamedTuple

import polars as pl

from .problem import Problem, friedman, heavy_tailed, ishigami

SEED = 0


class DemoTable(NamedTuple):
    """Table of the demo."""

    frame: pl.DataFrame
    target: str
    categorical: tuple[str, ...] = ()
    true_factors: tuple[str, ...] = ()


class DemoKind(NamedTuple):
    """Demo table that is yet to be made."""

    title: str
    """What the table is about, in a few words."""
    python: str
    """Code that makes the table, named ``table``."""
    make: Callable[[], DemoTable]


def load_demo(name: str) -> DemoTable:
    """Return the demo table of this name."""
    if name not in DEMOS:
        raise ValueError(f"there is no demo {name!r}. The demos are: {', '.join(DEMOS)}.")
    return DEMOS[name].make()


def _sample(problem: Problem, n_rows: int) -> DemoTable:
    X, y = problem.sample(n_rows, seed=SEED, frame="polars")
    return DemoTable(X.with_columns(y), y.name, true_factors=tuple(X.columns[j] for j in problem.true_factors))


def _diabetes() -> DemoTable:
    from sklearn.datasets import load_diabetes

    data = load_diabetes(scaled=False)
    frame = pl.DataFrame(data.data, schema=list(data.feature_names))
    return DemoTable(frame.with_columns(progression=data.target), "progression", categorical=("sex",))


def _breast_cancer() -> DemoTable:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    frame = pl.DataFrame(data.data, schema=[str(name) for name in data.feature_names])
    return DemoTable(frame.with_columns(diagnosis=data.target_names[data.target]), "diagnosis")


def _python_of(problem: str, n_rows: int) -> str:
    return (
        f"from firstfactor.problems import {problem}\n"
        f'X, y = {problem}.sample({n_rows}, seed={SEED}, frame="polars")\n'
        "table = X.with_columns(y)"
    )


_DIABETES = """import polars as pl
from sklearn.datasets import load_diabetes
data = load_diabetes(scaled=False)
table = pl.DataFrame(data.data, schema=list(data.feature_names)).with_columns(progression=data.target)"""

_BREAST_CANCER = """import polars as pl
from sklearn.datasets import load_breast_cancer
data = load_breast_cancer()
table = pl.DataFrame(data.data, schema=[str(name) for name in data.feature_names])
table = table.with_columns(diagnosis=data.target_names[data.target])"""

DEMOS = {
    "friedman": DemoKind(
        "A function of 10 factors, of which 5 matter (Friedman)",
        _python_of("friedman", 1000),
        lambda: _sample(friedman, 1000),
    ),
    "ishigami": DemoKind(
        "A function with waves, and a factor that matters only beside another (Ishigami)",
        _python_of("ishigami", 1000),
        lambda: _sample(ishigami, 1000),
    ),
    "heavy-tailed": DemoKind(
        "A function with few very large values (heavy tails)",
        _python_of("heavy_tailed", 5000),
        lambda: _sample(heavy_tailed, 5000),
    ),
    "diabetes": DemoKind("442 patients: how diabetes progresses within a year", _DIABETES, _diabetes),
    "breast-cancer": DemoKind("569 tumours: benign or malignant, by 30 measurements", _BREAST_CANCER, _breast_cancer),
}
