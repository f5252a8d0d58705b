"""Ordinary tables: weak lines and curves, classes and counts, look-alikes, products, and more columns than rows.

The true factors, the kind of noise and the kinds of factors are drawn anew for each table.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .arrays import Floats

Truth = Callable[[int, np.random.Generator], tuple[int, ...]]
Make = Callable[[int, int, float, tuple[int, ...], np.random.Generator], tuple[Any, Floats]]

SHARES = (0.02, 0.10)
"""Share of Var(y) of each effect by itself, where factors are independent."""
N_EFFECTS = (3, 6)
MIXED = 1 / 3
"""Share of the tables that have factors of several kinds."""
HETEROSCEDASTIC = 0.6
"""By how much the logarithm of the scale of the noise grows with a true factor of variance 1."""
ORDINAL_CUTS = (-1.0, -0.3, 0.3, 1.0)
CATEGORY_CUTS = (-0.7, 0.0, 0.7)
BINARY_CUTS = (-0.8, 0.8)
"""Between which a binary factor is cut."""
LEVELS_OF_Y = (0.1, 0.3, 0.6, 0.85)
"""Share of the rows below each step of an ordinal response."""
MEAN_COUNT = 1.5
N_COUNTRIES, N_CONTINENTS, COUNTRY_SHARE = 40, 6, 0.3
COPY_EFFECTS, COPY_CORRELATION, N_COPIES = (0.5, 0.4, 0.3), 0.95, 2
SUPPRESSED = (0.45, -0.45, 0.4)


@dataclass(frozen=True)
class DrawnTruth:
    """A source whose true factors are drawn before the table, from the same random numbers."""

    draw_true: Truth
    make: Make
    true_factors: tuple[int, ...] = ()
    """None that all tables share: `draw_true` tells those of one table."""

    def sample(
        self, n_rows: int, n_factors: int, correlation: float, *, seed: np.random.Generator, classes: bool
    ) -> tuple[Any, Any]:
        """Draw a table, as problems do; two classes are whether the response is above 0."""
        X, y = self.make(n_rows, n_factors, correlation, self.draw_true(n_factors, seed), seed)
        return X, y > 0 if classes else y


@dataclass(frozen=True)
class Columns:
    """Factors as a table, and what stands behind them."""

    table: Any
    latent: Floats
    """Normal columns of variance 1 that the factors are made of."""
    values: Floats
    """What a line in each factor is: a number, or the effect of a category; mean 0 and variance 1."""
    is_number: tuple[bool, ...]


def some_factors(n_factors: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Draw three to six true factors, and always leave a false one."""
    low, high = N_EFFECTS
    count = int(rng.integers(low, min(high, n_factors - 1) + 1))
    return places(count)(n_factors, rng)


def places(count: int) -> Truth:
    """Return what draws the positions of so many factors, in random order."""
    return lambda n_factors, rng: tuple(rng.choice(n_factors, count, replace=False).tolist())


def correlated(n_rows: int, n_factors: int, correlation: float, in_sequence: bool, rng: np.random.Generator) -> Floats:
    """Draw normal factors whose correlations are equal, or fall with the distance of columns: Σᵢⱼ = ρ^|i−j|."""
    own = rng.normal(size=(n_rows, n_factors))
    if not in_sequence:
        return np.asarray(np.sqrt(correlation) * rng.normal(size=(n_rows, 1)) + np.sqrt(1 - correlation) * own)
    for j in range(1, n_factors):
        own[:, j] = correlation * own[:, j - 1] + np.sqrt(1 - correlation**2) * own[:, j]
    return own


def columns(n_rows: int, n_factors: int, correlation: float, rng: np.random.Generator) -> Columns:
    """Draw factors: numbers, or in a third of the tables also binary, ordinal and categorical ones."""
    latent = correlated(n_rows, n_factors, correlation, rng.uniform() < 0.5, rng)
    if rng.uniform() >= MIXED:
        return Columns(latent, latent, standardised(latent), (True,) * n_factors)
    kinds = rng.choice(["number", "binary", "ordinal", "category"], n_factors).tolist()
    made = [_column(kind, z, rng) for kind, z in zip(kinds, latent.T, strict=True)]
    table = pd.DataFrame({f"x{j + 1}": column for j, (column, _) in enumerate(made)})
    values = standardised(np.column_stack([value for _, value in made]))
    return Columns(table, latent, values, tuple(kind == "number" for kind in kinds))


def _column(kind: str, z: Floats, rng: np.random.Generator) -> tuple[Any, Floats]:
    """Return a factor and what it adds to a line."""
    if kind == "number":
        return z, z
    if kind == "category":
        codes = np.digitize(z, CATEGORY_CUTS)
        return pd.Categorical.from_codes(codes, list("abcd")), rng.normal(size=4)[codes]
    cuts = [rng.uniform(*BINARY_CUTS)] if kind == "binary" else ORDINAL_CUTS
    codes = np.digitize(z, cuts)
    return codes, codes.astype(float)


def standardised(values: Floats) -> Floats:
    """Return columns of mean 0 and variance 1; constant ones stay 0."""
    centred = values - values.mean(axis=0)
    scale = centred.std(axis=0)
    return np.asarray(centred / np.where(scale > 0, scale, 1.0))


CURVES: tuple[Callable[[Floats], Floats], ...] = (
    np.square,
    np.abs,
    lambda x: np.sin(2 * x),
    lambda x: (x > 0.5).astype(float),
    np.exp,
)


def signal(drawn: Columns, true: tuple[int, ...], curved: bool, rng: np.random.Generator) -> tuple[Floats, float]:
    """Return the sum of all effects, and the share of Var(y) that they leave to noise."""
    shares = rng.uniform(*SHARES, size=len(true))
    signs = rng.choice([-1.0, 1.0], len(true))
    total = np.zeros(len(drawn.latent))
    for j, share, sign in zip(true, shares, signs, strict=True):
        column = drawn.values[:, j]
        if curved and drawn.is_number[j]:
            column = standardised(CURVES[rng.integers(len(CURVES))](column))
        total += sign * np.sqrt(share) * column
    return total, 1 - float(shares.sum())


def draw_noise(driver: Floats, rng: np.random.Generator) -> Floats:
    """Draw noise of variance 1: normal, t₃, lognormal, or normal with a scale that depends on a factor."""
    n_rows = len(driver)
    kind = rng.integers(4)
    if kind == 0:
        return rng.normal(size=n_rows)
    if kind == 1:
        return np.asarray(rng.standard_t(3, size=n_rows) / np.sqrt(3))
    if kind == 2:
        return np.asarray((rng.lognormal(size=n_rows) - np.exp(0.5)) / np.sqrt(np.e * (np.e - 1)))
    scale = np.exp(HETEROSCEDASTIC * driver - HETEROSCEDASTIC**2)  # E[scale²] = 1
    return scale * rng.normal(size=n_rows)


def _sum_and_noise(curved: bool) -> Make:
    """Return what makes tables of lines or curves in noise of any kind."""

    def make(
        n_rows: int, n_factors: int, correlation: float, true: tuple[int, ...], rng: np.random.Generator
    ) -> tuple[Any, Floats]:
        drawn = columns(n_rows, n_factors, correlation, rng)
        total, left = signal(drawn, true, curved, rng)
        return drawn.table, total + np.sqrt(left) * draw_noise(drawn.latent[:, true[0]], rng)

    return make


def _of_lines(respond: Callable[[Floats, float, np.random.Generator], Any]) -> Make:
    """Return what makes tables whose response depends on the same sums of lines in another way."""

    def make(
        n_rows: int, n_factors: int, correlation: float, true: tuple[int, ...], rng: np.random.Generator
    ) -> tuple[Any, Any]:
        drawn = columns(n_rows, n_factors, correlation, rng)
        return drawn.table, respond(*signal(drawn, true, curved=False, rng=rng), rng)

    return make


def _latent(total: Floats, left: float, rng: np.random.Generator) -> Floats:
    """Return the sum with logistic noise, so that what is cut from it has proportional odds."""
    return np.asarray(total + np.sqrt(3 * left) / np.pi * rng.logistic(size=len(total)))


def _class_of(share: float) -> Make:
    """Return what makes two classes, the second of which is that share of the rows."""

    def respond(total: Floats, left: float, rng: np.random.Generator) -> Any:
        latent = _latent(total, left, rng)
        return latent > np.quantile(latent, 1 - share)

    return _of_lines(respond)


def _ordinal(total: Floats, left: float, rng: np.random.Generator) -> Floats:
    latent = _latent(total, left, rng)
    return np.asarray(1 + np.digitize(latent, np.quantile(latent, LEVELS_OF_Y)), dtype=np.float64)


def _counts(total: Floats, left: float, rng: np.random.Generator) -> Floats:
    """Return counts whose logarithmic mean is the sum; what it leaves is the noise that counts have."""
    del left
    return np.asarray(rng.poisson(MEAN_COUNT * np.exp(total - total.var() / 2)), dtype=np.float64)


def _nested(
    n_rows: int, n_factors: int, correlation: float, true: tuple[int, ...], rng: np.random.Generator
) -> tuple[pd.DataFrame, Floats]:
    """Make a table with a country that matters, the continent it lies in, and numbers that do nothing."""
    (at,) = true
    codes = rng.integers(N_COUNTRIES, size=n_rows)
    country = pd.Categorical([f"country {code}" for code in codes])
    continent = pd.Categorical([f"continent {code}" for code in rng.integers(N_CONTINENTS, size=N_COUNTRIES)[codes]])
    others = list(correlated(n_rows, n_factors - 2, correlation, True, rng).T)
    left: list[Any] = [*others, continent]
    ordered = [left[j] for j in rng.permutation(len(left)).tolist()]
    ordered.insert(at, country)
    effect = standardised(rng.normal(size=N_COUNTRIES))[codes]
    y = np.sqrt(COUNTRY_SHARE) * effect + np.sqrt(1 - COUNTRY_SHARE) * rng.normal(size=n_rows)
    return pd.DataFrame({f"x{j + 1}": column for j, column in enumerate(ordered)}), y


def _near_copies(
    n_rows: int, n_factors: int, correlation: float, true: tuple[int, ...], rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Make lines of three factors, and two columns that are nearly the first two of them."""
    X = correlated(n_rows, n_factors, correlation, False, rng)
    others = rng.permutation([j for j in range(n_factors) if j not in true])
    for original, copy in zip(true[:N_COPIES], others.tolist(), strict=False):
        X[:, copy] = COPY_CORRELATION * X[:, original] + np.sqrt(1 - COPY_CORRELATION**2) * X[:, copy]
    return X, X[:, list(true)] @ np.array(COPY_EFFECTS) + rng.normal(size=n_rows)


def _suppressors(
    n_rows: int, n_factors: int, correlation: float, true: tuple[int, ...], rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Make lines of three factors with the same correlation, two of them with opposite signs."""
    X = correlated(n_rows, n_factors, correlation, False, rng)
    return X, X[:, list(true)] @ np.array(SUPPRESSED) + rng.normal(size=n_rows)


def _together(combine: Callable[[Floats], Floats], share: float) -> Make:
    """Return what makes tables of normal factors of which some matter only together; that is a share of Var(y)."""

    def make(
        n_rows: int, n_factors: int, correlation: float, true: tuple[int, ...], rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        X = correlated(n_rows, n_factors, correlation, True, rng)
        return X, np.sqrt(share) * combine(X[:, list(true)]) + np.sqrt(1 - share) * rng.normal(size=n_rows)

    return make


def _equal_lines(share: float) -> Make:
    """Return what makes lines of equal size, of random sign, that are together a share of Var(y)."""

    def make(
        n_rows: int, n_factors: int, correlation: float, true: tuple[int, ...], rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        X = correlated(n_rows, n_factors, correlation, True, rng)
        slopes = np.sqrt(share / len(true)) * rng.choice([-1.0, 1.0], len(true))
        return X, X[:, list(true)] @ slopes + np.sqrt(1 - share) * rng.normal(size=n_rows)

    return make


def _product(X: Floats) -> Floats:
    return np.asarray(X.prod(axis=1))


def _xor(X: Floats) -> Floats:
    return np.sign(_product(X))


SOURCES = {
    "linear": DrawnTruth(some_factors, _sum_and_noise(curved=False)),
    "curved": DrawnTruth(some_factors, _sum_and_noise(curved=True)),
    "class-10": DrawnTruth(some_factors, _class_of(0.1)),
    "class-30": DrawnTruth(some_factors, _class_of(0.3)),
    "class-50": DrawnTruth(some_factors, _class_of(0.5)),
    "poisson": DrawnTruth(some_factors, _of_lines(_counts)),
    "ordinal": DrawnTruth(some_factors, _of_lines(_ordinal)),
    "many-correlated": DrawnTruth(some_factors, _sum_and_noise(curved=False)),
    "nested": DrawnTruth(places(1), _nested),
    "near-copies": DrawnTruth(places(3), _near_copies),
    "suppressors": DrawnTruth(places(3), _suppressors),
    "weak-product": DrawnTruth(places(2), _together(_product, 0.10)),
    "weak-product-of-three": DrawnTruth(places(3), _together(_product, 0.25)),
    "weak-xor": DrawnTruth(places(2), _together(_xor, 0.06)),
    "five-lines": DrawnTruth(places(5), _equal_lines(0.7)),
    "twenty-lines": DrawnTruth(places(20), _equal_lines(0.95)),
    "twenty-noisy-lines": DrawnTruth(places(20), _equal_lines(0.7)),
}
