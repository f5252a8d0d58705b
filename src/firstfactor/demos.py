"""Tables to try the command on: problems with a known answer, and data that come with scikit-learn."""

import polars as pl

from .problems import Problem, friedman, heavy_tailed, ishigami
from .tables import Table

SEED = 0


def load_demo(name: str) -> Table:
    """Return the table that a name of the command ``demo`` stands for."""
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


def _sample(problem: Problem, n_rows: int) -> Table:
    X, y = problem.sample(n_rows, seed=SEED, frame="polars")
    true = tuple(X.columns[j] for j in problem.true_factors)
    return Table(problem.name, X, y, n_read=n_rows, true_factors=true)


def _diabetes() -> Table:
    from sklearn.datasets import load_diabetes

    data = load_diabetes(scaled=False)
    X = pl.DataFrame(data.data, schema=list(data.feature_names))
    return Table("diabetes", X, pl.Series("progression", data.target), categorical=("sex",), n_read=len(X))


def _breast_cancer() -> Table:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    X = pl.DataFrame(data.data, schema=[str(name) for name in data.feature_names])
    return Table("breast-cancer", X, pl.Series("diagnosis", data.target_names[data.target]), n_read=len(X))
