"""Tables of everyday work: several classes or outputs, missing values, weights, several rows of one person."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from firstfactor.problems import uniform_factors

from .arrays import Floats
from .noise import Response, Source

ROWS_PER_PERSON = 20
WEIGHT_SHAPE = 2.0
OUTPUT_CORRELATION = 0.7
SHARES = (0.05, 0.2, 0.4)
PANELS = frozenset({"noise-panel", "panel"})


@dataclass(frozen=True)
class Described:
    """Factors, and what else is known of them and of their rows."""

    factors: Floats
    rows: dict[str, Any]
    """Weights and groups by the names that they have in `FIRST.fit`."""
    given: tuple[int, ...] = ()
    """Positions of factors that are known to matter."""

    def __len__(self) -> int:
        return len(self.factors)


def parts(X: Any) -> tuple[Any, dict[str, Any]]:
    """Return the factors of a table and what else is known of its rows, which of most tables is nothing."""
    return (X.factors, X.rows) if isinstance(X, Described) else (X, {})


def given_of(X: Any) -> tuple[int, ...]:
    """Return the factors of a table that are known to matter: of most tables, none."""
    return X.given if isinstance(X, Described) else ()


@dataclass(frozen=True)
class Removal:
    """A way in which values of every factor get lost, each independently of all others."""

    share: float
    by_value: bool
    """Whether larger values are missing more often, or all equally."""

    @property
    def name(self) -> str:
        """The part of a setting that this makes."""
        return f"{100 * self.share:.0f} % missing {'by value' if self.by_value else 'at random'}"

    def chance(self, values: Floats) -> Floats:
        """Return how likely each value of a factor that is uniform on [0, 1] is missing; up to a share of one half."""
        return 2 * self.share * values if self.by_value else np.full_like(values, self.share)

    def __call__(self, X: Floats, rng: np.random.Generator) -> Floats:
        """Return the table with holes."""
        return np.where(rng.uniform(size=X.shape) < self.chance(X), np.nan, X)


def weigh(X: Floats, rng: np.random.Generator) -> Described:
    """Return the table with weights of a gamma distribution."""
    return Described(X, {"sample_weight": rng.gamma(WEIGHT_SHAPE, size=len(X))})


def panel_factors(n_rows: int, n_factors: int, correlation: float, rng: np.random.Generator) -> Described:
    """Draw rows of several persons; the second half of the factors is the same in all rows of a person."""
    person = np.arange(n_rows) // ROWS_PER_PERSON
    own = n_factors // 2
    of_rows = uniform_factors(n_rows, n_factors - own, correlation, rng)
    of_persons = uniform_factors(person[-1] + 1, own, correlation, rng)
    return Described(np.column_stack([of_rows, of_persons[person]]), {"groups": person})


def _among(n_classes: int) -> Response:
    """Return a response of so many equally likely classes."""
    labels = list("abcdefghij"[:n_classes])
    return lambda X, rng: rng.choice(labels, size=len(X))


def _outputs(X: Any, rng: np.random.Generator) -> Floats:
    """Return three outputs, of which the first two are correlated."""
    first, second, third = rng.normal(size=(3, len(X)))
    related = OUTPUT_CORRELATION * first + np.sqrt(1 - OUTPUT_CORRELATION**2) * second
    return np.column_stack([first, related, third])


def _of_person(X: Described, rng: np.random.Generator) -> Floats:
    """Return an effect of each person and noise, of variance ½ each."""
    person = X.rows["groups"]
    unexplained: Floats = np.sqrt(0.5) * (rng.normal(size=person[-1] + 1)[person] + rng.normal(size=len(X)))
    return unexplained


def _of_factors_and_person(X: Described, rng: np.random.Generator) -> Floats:
    """Return sin 2πx₁ + √6 x₂ + √6 x₃, of variance ½ each, and what belongs to the person and to the row."""
    x1, x2, x3 = X.factors.T[:3]
    explained: Floats = np.sin(2 * np.pi * x1) + np.sqrt(6) * (x2 + x3)
    return explained + _of_person(X, rng)


SOURCES = {
    "noise-3-classes": Source(uniform_factors, _among(3)),
    "noise-10-classes": Source(uniform_factors, _among(10)),
    "noise-3-outputs": Source(uniform_factors, _outputs),
    "noise-panel": Source(panel_factors, _of_person),
    "panel": Source(panel_factors, _of_factors_and_person, (0, 1, 2)),
}
AT_RANDOM, BY_VALUE = (tuple(Removal(share, by_value) for share in SHARES) for by_value in (False, True))
REMOVALS = {removal.name: removal for removal in (*AT_RANDOM, *BY_VALUE)}
CHANGES: dict[str, Callable[[Floats, np.random.Generator], Any]] = {"weighted": weigh, **REMOVALS}
"""What can be done with a drawn table, by the part of the setting."""
