"""Where data come from: a simulated table or a real one, drawn anew for each repetition."""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from firstfactor import problems

from . import originals
from .tables import as_numbers, load, split

PROBLEMS = {problem.name: problem for problem in (problems.ishigami, problems.heavy_tailed, problems.friedman)}


@dataclass(frozen=True, order=True)
class Setting:
    """One table of the study, up to the repetition."""

    source: str
    """Name of a problem or of a real table."""
    n_rows: int
    n_factors: int
    correlation: float = 0.0
    classes: bool = False
    part: str = "drawn"
    """``drawn`` from a problem; the ``original`` table on which the R packages ran; of a real table the ``whole``, 80 %
    of its rows to ``train`` on, or a ``subset`` of its factors, which the repetition numbers in binary."""

    @property
    def true_factors(self) -> tuple[int, ...]:
        """Positions of the factors that the response depends on, which only problems know."""
        return PROBLEMS[self.source].true_factors

    def draw(self, repetition: int) -> tuple[Any, Any]:
        """Return factors and response; every method sees the same ones in the same repetition."""
        if self.part == "drawn":
            return PROBLEMS[self.source].sample(
                self.n_rows,
                self.n_factors,
                self.correlation,
                seed=self.rng(repetition),
                classes=self.classes,
            )
        if self.part == "original":
            return originals.table(self.source)
        X, y = load(self.source)
        if self.part == "subset":
            return as_numbers(X)[:, subset(repetition)], y
        if self.part == "train":
            train, _ = self.rows(repetition)
            return X.iloc[train].reset_index(drop=True), y[train]
        return X, y

    def rows(self, repetition: int) -> tuple[Any, Any]:
        """Return which rows of a real table are for training, and which for testing."""
        return split(self.n_rows, self.rng(repetition))

    def rng(self, repetition: int) -> np.random.Generator:
        """Return random numbers of this setting and repetition alone."""
        return np.random.default_rng([zlib.crc32(repr(self).encode()), repetition])


def subset(number: int) -> list[int]:
    """Return the positions of the ones in a number written in binary."""
    return [j for j in range(number.bit_length()) if number >> j & 1]
