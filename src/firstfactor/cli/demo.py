"""Demo tables: problems with a known answer, and data that come with scikit-learn."""

from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from ..problems.problem import Problem, friedman, heavy_tailed, ishigami
from ..ranking import Progress, Ranking, make_ranking

SEED = 0


class DemoTable(NamedTuple):
    """Table of the demo."""

    frame: pl.DataFrame
    target: str
    categorical: tuple[str, ...] = ()
    true_factors: tuple[str, ...] = ()


def rank_demo(name: str, show: Progress, options: dict[str, Any], for_report: bool) -> Ranking:
    """Rank the factors of the demo table of this name."""
    demo = _load(name)
    options = {"categorical": demo.categorical, **options}
    ranking = make_ranking(demo.frame, demo.target, show, options, for_report)
    return replace(ranking, dataset=replace(ranking.dataset, shown=name, true_factors=demo.true_factors))


def _load(name: str) -> DemoTable:
    match name:
        case "friedman":
            return _sample(friedman, 1000)
        case "ishigami":
            return _sample(ishigami, 1000)
        case "heavy-tailed":
            return _sample(heavy_tailed, 5000)
        case "diabetes":
            return _diabetes()
        case "breast-cancer":
            return _breast_cancer()
    raise ValueError(f"there is no demo {name!r}.")


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
