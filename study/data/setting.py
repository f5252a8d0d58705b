"""Where data come from: a simulated table or a real one, drawn anew for each repetition."""

import zlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from firstfactor import problems

from . import additive, difficult, everyday, functions, levels, noise, ordinary, originals, sharing
from .real_tables import N_FOLDS, as_numbers, fold, load, split

PROBLEMS = {problem.name: problem for problem in (problems.ishigami, problems.heavy_tailed, problems.friedman)}
SOURCES: dict[str, Any] = {
    **PROBLEMS,
    **noise.SOURCES,
    **everyday.SOURCES,
    **functions.SOURCES,
    **difficult.SOURCES,
    **sharing.SOURCES,
    **ordinary.SOURCES,
    **additive.SOURCES,
    **levels.SOURCES,
}
REAL_ROWS = frozenset({"train", "fold"})
"""Parts of a real table to select factors on; a forest with them predicts its other rows."""


@dataclass(frozen=True, order=True)
class Setting:
    """One table of the study, up to the repetition."""

    source: str
    """Name of a problem, of a function, of a source of noise or of a real table."""
    n_rows: int
    n_factors: int
    correlation: float = 0.0
    classes: bool = False
    part: str = "drawn"
    """``drawn`` from a problem or a source of noise; the same table with a change, such as missing values, that
    `everyday.CHANGES` names, or with its true factors ``given``; of a problem's factors those of the ``model``, and as
    many others after them as make ``n_factors``; the ``original`` table on which the R packages ran; of a real table
    the ``whole``, the same with a ``shuffled`` target, 80 % of its rows to ``train`` on, all but one ``fold`` of five,
    or a ``subset`` of its factors, which the repetition numbers in binary."""

    @property
    def true_factors(self) -> tuple[int, ...]:
        """Positions of the factors that the response depends on in all repetitions, which no real table knows."""
        true: tuple[int, ...] = SOURCES[self.source].true_factors
        return tuple(range(len(true))) if self.part == "model" else true

    def true_in(self, repetition: int) -> tuple[int, ...]:
        """Return the positions of the factors that the response depends on in one repetition."""
        draw_true = getattr(SOURCES[self.source], "draw_true", None)
        return draw_true(self.n_factors, self.rng(repetition)) if draw_true else self.true_factors

    def sought_in(self, repetition: int) -> tuple[int, ...]:
        """Return those of them that can be found."""
        return self.sought or self.true_in(repetition)

    @property
    def sought(self) -> tuple[int, ...]:
        """Positions of the true factors that can be found."""
        return getattr(SOURCES[self.source], "sought", ()) or self.true_factors

    def draw(self, repetition: int) -> tuple[Any, Any]:
        """Return factors and response; every method sees the same ones in the same repetition."""
        if self.part == "drawn":
            return self._sample(self.n_factors, repetition)
        if self.part in everyday.CHANGES:
            X, y = replace(self, part="drawn").draw(repetition)
            return everyday.CHANGES[self.part](X, self.rng(repetition)), y
        if self.part == "given":
            X, y = replace(self, part="drawn").draw(repetition)
            return everyday.Described(X, {}, self.true_factors), y
        if self.part == "model":
            true, n_factors = PROBLEMS[self.source].true_factors, PROBLEMS[self.source].n_factors
            X, y = self._sample(n_factors, repetition)
            others = [j for j in range(n_factors) if j not in true]
            return X[:, [*true, *others][: self.n_factors]], y
        if self.part == "original":
            return originals.table(self.source)
        return self._real(repetition)

    def _real(self, repetition: int) -> tuple[Any, Any]:
        """Return a real table, or a part of it."""
        X, y = load(self.source)
        if self.part == "subset":
            return as_numbers(X)[:, subset(repetition)], y
        if self.part == "shuffled":
            return X, self.rng(repetition).permutation(y)
        if self.part in REAL_ROWS:
            train, _ = self.rows(repetition)
            return X.iloc[train].reset_index(drop=True), y[train]
        return X, y

    def _sample(self, n_factors: int, repetition: int) -> tuple[Any, Any]:
        table: tuple[Any, Any] = SOURCES[self.source].sample(
            self.n_rows, n_factors, self.correlation, seed=self.rng(repetition), classes=self.classes
        )
        return table

    def rows(self, repetition: int) -> tuple[Any, Any]:
        """Return which rows of a real table are for training, and which for testing."""
        if self.part == "fold":
            division, number = divmod(repetition, N_FOLDS)
            return fold(self.n_rows, number, self.rng(division))
        return split(self.n_rows, self.rng(repetition))

    def rng(self, repetition: int) -> np.random.Generator:
        """Return random numbers of this setting and repetition alone."""
        return np.random.default_rng([zlib.crc32(repr(self).encode()), repetition])


def subset(number: int) -> list[int]:
    """Return the positions of the ones in a number written in binary."""
    return [j for j in range(number.bit_length()) if number >> j & 1]
