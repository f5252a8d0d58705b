"""Tables that the paper does not look at: a response that is nothing but noise, and factors of several kinds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from firstfactor.problems import uniform_factors

from .arrays import Floats

Factors = Callable[[int, int, float, np.random.Generator], Any]
Response = Callable[[Any, np.random.Generator], Floats]

N_INTEGERS = 10
LEVELS = (2, 3, 4, 5, 6)


@dataclass(frozen=True)
class Source:
    """A distribution of factors and of a response."""

    factors: Factors
    response: Response
    true_factors: tuple[int, ...] = ()
    """Positions of the factors that the response depends on."""
    sought: tuple[int, ...] = ()
    """Those of them that can be found, if not all."""

    def sample(
        self, n_rows: int, n_factors: int, correlation: float, *, seed: np.random.Generator, classes: bool
    ) -> tuple[Any, Any]:
        """Draw a table, as problems do; two classes are whether the response is above 0."""
        X = self.factors(n_rows, n_factors, correlation, seed)
        y = self.response(X, seed)
        return X, y > 0 if classes else y


def mixed_factors(n_rows: int, n_factors: int, correlation: float, rng: np.random.Generator) -> pd.DataFrame:
    """Draw factors of which one half is numbers, a quarter whole numbers from 0 to 9, the rest categories."""
    n_numbers, n_integers = n_factors // 2, n_factors // 4
    columns: list[Any] = list(uniform_factors(n_rows, n_numbers, correlation, rng).T)
    columns += [rng.integers(N_INTEGERS, size=n_rows) for _ in range(n_integers)]
    for k in range(n_factors - len(columns)):
        columns.append(pd.Categorical.from_codes(rng.integers(LEVELS[k % 5], size=n_rows), list("abcdef")))
    return pd.DataFrame({f"x{j + 1}": column for j, column in enumerate(columns)})


def _normal(X: Any, rng: np.random.Generator) -> Floats:
    return rng.normal(size=len(X))


def _cauchy(X: Any, rng: np.random.Generator) -> Floats:
    return rng.standard_cauchy(size=len(X))


def _of_three_kinds(X: pd.DataFrame, rng: np.random.Generator) -> Floats:
    """Return 3 x₁ + 0.3 x₄ + 1.5 [x₅ = a] + noise: a number, a whole number and a category."""
    response: Floats = 3 * X["x1"] + 0.3 * X["x4"] + 1.5 * (X["x5"] == "a") + _normal(X, rng)
    return np.asarray(response)


SOURCES = {
    "noise": Source(uniform_factors, _normal),
    "noise-cauchy": Source(uniform_factors, _cauchy),
    "noise-mixed": Source(mixed_factors, _normal),
    "mixed": Source(mixed_factors, _of_three_kinds, (0, 3, 4)),
}
