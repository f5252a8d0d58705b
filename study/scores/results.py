"""What is stored, by method and setting: the cells that tables, figures and statements are made of."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from ..data.arrays import Floats
from ..data.setting import Setting
from ..methods.registry import NAMES
from ..runs.experiments import FACTORS, FEW
from ..runs.store import RESULTS, SCHEMA, read_results
from . import metrics
from .estimates import Estimate, estimate


class NotRunError(Exception):
    """Rows that a statement is about are not stored."""


def at(source: str, correlation: float, n_factors: int | None = None, classes: bool = False) -> Setting:
    """Return a simulated setting of the paper; few factors unless told."""
    return Setting(source, 1000, FACTORS[source] if n_factors is None else n_factors, correlation, classes)


@dataclass
class Cell:
    """All repetitions of one method in one setting."""

    setting: Setting
    rows: pl.DataFrame

    def __post_init__(self) -> None:
        self._values: dict[str, Floats] = {}

    @property
    def n(self) -> int:
        """How many repetitions there are."""
        return len(self.rows)

    def values(self, metric: str) -> Floats:
        """Return one value per repetition."""
        if metric not in self._values:
            self._values[metric] = metrics.METRICS[metric](self.setting, self.rows)
        return self._values[metric]

    def mean(self, metric: str) -> Estimate:
        """Return the mean over repetitions."""
        return estimate(self.values(metric), share=metric in metrics.SHARES)

    @cached_property
    def importances(self) -> Floats:
        """The importance of each factor, one row per repetition."""
        return metrics.importances(self.setting, self.rows)

    @cached_property
    def selected(self) -> metrics.Flags:
        """Whether each factor was selected, one row per repetition."""
        return metrics.selected(self.setting, self.rows)

    @cached_property
    def normalised(self) -> Floats:
        """The same with a sum of one in each repetition."""
        return metrics.normalised_importances(self.setting, self.rows)


class Results:
    """All cells."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self._empty = pl.DataFrame(schema=pl.from_arrow(SCHEMA.empty_table()).schema)  # type: ignore[union-attr]
        keys = [*(field.name for field in fields(Setting)), "method"]
        once = rows.rechunk().unique([*keys, "repetition"], keep="first", maintain_order=True)  # however often stored
        ordered = once.sort("repetition")
        self._rows = ordered.partition_by(keys, as_dict=True)
        self._cells: dict[tuple[str, Setting], Cell] = {}

    @classmethod
    def load(cls, folder: Path = RESULTS) -> "Results":
        """Return all that is stored in a folder."""
        return cls(read_results(list(NAMES), folder))

    def find(self, method: str, setting: Setting) -> Cell:
        """Return what is stored, which may be nothing."""
        key = (method, setting)
        if key not in self._cells:
            values = (*(getattr(setting, field.name) for field in fields(Setting)), method)
            self._cells[key] = Cell(setting, self._rows.get(values, self._empty))
        return self._cells[key]

    def need(self, method: str, setting: Setting, at_least: int = FEW) -> Cell:
        """Return what is stored if it is enough to judge by."""
        cell = self.find(method, setting)
        if cell.n < at_least:
            raise NotRunError
        return cell

    def mean(self, method: str, setting: Setting, metric: str) -> Estimate:
        """Return the mean over enough repetitions."""
        return self.need(method, setting).mean(metric)

    def average(self, method: str, settings: Iterable[Setting], metric: str) -> float:
        """Return the mean of the means in several settings."""
        return float(np.mean([self.mean(method, setting, metric).value for setting in settings]))

    def median_seconds(self, method: str, settings: Iterable[Setting]) -> float:
        """Return the median time over all repetitions in several settings."""
        times = [self.need(method, setting).values("seconds") for setting in settings]
        return float(np.median(np.concatenate(times)))
