"""Real tables whose factors share information: from the folder of the study, scikit-learn and statsmodels."""

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn import datasets

from .real_tables import FOLDER_VARIABLE, TARGET


@dataclass(frozen=True)
class SharedTable:
    """A real table, and what is to be explained."""

    title: str
    response: str
    """What the target is, in words."""
    target: str
    load: Callable[[], pd.DataFrame]
    """All factors and the target; text is a category."""
    units: tuple[str, ...] = ()
    """Factors that tell which rows belong together, such as those of one mixture: the same values in all of them."""
    in_time: bool = False
    """Whether rows are in time order."""

    @property
    def new_rows(self) -> str:
        """What rows are called that are not like those a model was fitted on; nothing where all are alike."""
        return "later rows" if self.in_time else "new mixtures" if self.units else ""


def _from_file(name: str) -> Callable[[], pd.DataFrame]:
    def load() -> pd.DataFrame:
        folder = os.environ.get(FOLDER_VARIABLE)
        if not folder:
            raise FileNotFoundError(f"Give a folder with {name}.csv by {FOLDER_VARIABLE}.")
        return pd.read_csv(Path(folder, f"{name}.csv"))

    return load


def _from_sklearn(load: Callable[..., Any]) -> Callable[[], pd.DataFrame]:
    def as_frame() -> pd.DataFrame:
        found = load(as_frame=True)
        classes = getattr(found, "target_names", None)
        target = found.target if classes is None else found.target.map(dict(enumerate(map(str, classes))))
        return found.data.assign(**{TARGET: target})

    return as_frame


def _macroeconomic() -> pd.DataFrame:
    """Return quarters of the United States without their dates."""
    data = importlib.import_module("statsmodels.datasets.macrodata")
    return data.load_pandas().data.drop(columns=["year", "quarter"])


INGREDIENTS = (
    "cement",
    "blast_furnace_slag",
    "fly_ash",
    "water",
    "superplasticizer",
    "coarse_aggregate",
    "fine_aggregate",
)
SHARED_TABLES = {
    "diamonds": SharedTable("Diamonds", "price", "price", _from_file("diamonds")),
    "abalone": SharedTable("Abalone", "rings, which tell the age", TARGET, _from_file("abalone")),
    "concrete": SharedTable("Concrete", "compressive strength", TARGET, _from_file("concrete"), units=INGREDIENTS),
    "boston_housing": SharedTable("Boston housing", "median price of a home", TARGET, _from_file("boston_housing")),
    "tecator": SharedTable("Meat spectra", "fat", TARGET, _from_file("tecator")),
    "titanic": SharedTable("Titanic", "survival", TARGET, _from_file("titanic")),
    "wine": SharedTable("Wine", "three growers", TARGET, _from_sklearn(datasets.load_wine)),
    "breast_cancer": SharedTable(
        "Breast cancer", "benign or malignant", TARGET, _from_sklearn(datasets.load_breast_cancer)
    ),
    "diabetes": SharedTable("Diabetes", "progression after a year", TARGET, _from_sklearn(datasets.load_diabetes)),
    "macrodata": SharedTable("Macroeconomics", "rate of unemployment", "unemp", _macroeconomic, in_time=True),
}
