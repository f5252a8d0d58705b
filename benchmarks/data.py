"""Tables to measure on, all seeded."""

import numpy as np
import pandas as pd

from firstfactor import problems


def friedman(rows, factors, correlation=0.0, seed=1):
    """The paper's Friedman function with noise of variance 1; factors 0, 6, 7, 8 and 9 matter."""
    return problems.friedman.sample(rows, factors, correlation, seed=seed)


def two_classes(rows, factors, seed=1):
    """Classes drawn with probability Φ of the Friedman function."""
    X, y = problems.friedman.sample(rows, factors, seed=seed, classes=True)
    return X, y.astype(float)


def mixed(rows, categories=6, integers=5, numbers=5, seed=1):
    """Categories of 2 to 6 levels, integers 0 to 9 and continuous factors."""
    rng = np.random.default_rng(seed)
    X = pd.concat([_categories(rows, categories, rng), _integers(rows, integers, rng)], axis=1)
    X = X.join(pd.DataFrame(rng.normal(size=(rows, numbers)), columns=[f"z{j}" for j in range(numbers)]))
    y = 2 * (X["c1"] == "a") + (X["c3"] == "b") * X["z0"] + 0.3 * X["i0"] + np.sin(2 * X["z1"])
    return X, (y + 0.5 * rng.normal(size=rows)).to_numpy()


def discrete(rows, seed=1):
    """7 categories of 2 to 6 levels and 5 integers 0 to 9."""
    rng = np.random.default_rng(seed)
    X = pd.concat([_categories(rows, 7, rng), _integers(rows, 5, rng)], axis=1)
    y = 2 * (X["c1"] == "a") + 0.3 * (X["c3"] == "b") * X["i1"] + 0.3 * X["i0"]
    return X, (y + 0.5 * rng.normal(size=rows)).to_numpy()


def _categories(rows, count, rng):
    letters = np.array(list("abcdef"))
    return pd.DataFrame({f"c{j}": letters[rng.integers(0, 2 + j % 5, size=rows)] for j in range(count)})


def _integers(rows, count, rng):
    return pd.DataFrame({f"i{j}": rng.integers(0, 10, size=rows) for j in range(count)})
