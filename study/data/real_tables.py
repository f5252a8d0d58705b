"""The real tables of the paper: where they come from, and whether what came is the table meant."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml

from .arrays import Floats

FOLDER_VARIABLE = "FIRSTFACTOR_DATA"
TARGET = "target"
SHARE_TO_TRAIN = 0.8
N_FOLDS = 5
SAME_MEAN = 1e-3  # copies of a table differ in their last digits

Target = Floats | NDArray[np.bool_]
Positions = NDArray[np.intp]


@dataclass(frozen=True)
class OpenML:
    """How to get a table from openml.org."""

    data_id: int
    categories: tuple[str, ...] = ()
    """Factors that are categories; all others are numbers, even where OpenML lists their values."""
    true_class: str | None = None
    """What OpenML calls the class that counts as True."""
    rows_and_columns: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame
    """Brings the factors, with the target as last column, to what the paper has; rows with missing cells are out."""


@dataclass(frozen=True)
class Table:
    """A table of the paper, and what it must look like."""

    name: str
    title: str
    """As in the paper."""
    n_rows: int
    """As printed in the paper, like the number of factors."""
    n_factors: int
    mean: float | None = None
    """Of the target, for regression."""
    true_class: str | None = None
    """Which of two classes counts as True, for classification."""
    n_true: int | None = None
    openml: OpenML | None = None
    """None where no table there is surely the same."""


def load(name: str, folder: str | Path | None = None) -> tuple[pd.DataFrame, Target]:
    """Return factors and target of a table of the paper.

    Parameters
    ----------
    name : str
        One of `TABLES`.
    folder : path, optional
        Where to look for `<name>.csv`: a header, text for categories, the target as last column, named so. Default:
        the environment variable FIRSTFACTOR_DATA. Without the file, the table is fetched from openml.org, and kept
        by scikit-learn for the next time.

    Returns
    -------
    X : DataFrame
        Floats and categories.
    y : array
        Floats, or booleans for two classes.
    """
    if name not in TABLES:
        raise ValueError(f"name must be one of {', '.join(TABLES)}; got {name!r}.")
    table = TABLES[name]
    folder = folder or os.environ.get(FOLDER_VARIABLE)
    path = Path(folder, f"{name}.csv") if folder else None
    if path and not path.parent.is_dir():
        raise FileNotFoundError(f"folder must be a directory with the tables of the study; got {str(folder)!r}.")
    X, y = _from_file(table, path) if path and path.is_file() else _from_openml(table)
    _refuse_another_table(table, X, y)
    return X, y


def split(n_rows: int, rng: np.random.Generator) -> tuple[Positions, Positions]:
    """Return the positions of rows to train on, four out of five by chance, and of those to test on."""
    train, test = np.split(rng.permutation(n_rows), [round(SHARE_TO_TRAIN * n_rows)])
    return np.sort(train), np.sort(test)


def fold(n_rows: int, number: int, rng: np.random.Generator) -> tuple[Positions, Positions]:
    """Return the positions of rows to train on, and of those to test on: one of five folds, which chance divides."""
    folds = np.array_split(rng.permutation(n_rows), N_FOLDS)
    test = folds.pop(number)
    return np.sort(np.concatenate(folds)), np.sort(test)


def as_numbers(X: pd.DataFrame) -> Floats:
    """Return factors as numbers, categories by their place in the alphabet, as forests take them."""
    codes = {name: X[name].cat.codes for name in X.select_dtypes("category")}
    numbers: Floats = X.assign(**codes).to_numpy(dtype=np.float64)
    return numbers


def _from_file(table: Table, path: Path) -> tuple[pd.DataFrame, Target]:
    """Return factors and target of a CSV file."""
    frame = pd.read_csv(path)
    if frame.columns[-1] != TARGET:
        raise ValueError(f"The last column of {path.name} must be named {TARGET!r}; got {frame.columns[-1]!r}.")
    text = frame.columns[:-1][[not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes.iloc[:-1]]]
    return _typed(frame.dropna(), tuple(text), table.true_class)


def _from_openml(table: Table) -> tuple[pd.DataFrame, Target]:
    """Return factors and target of a table on openml.org, prepared as in the paper."""
    way_out = (
        f"Give a folder with {table.name}.csv, by --data or {FOLDER_VARIABLE}; `study.data.real_tables.load` says how."
    )
    recipe = table.openml
    if recipe is None:
        raise FileNotFoundError(f"{table.title} is not on openml.org as the paper has it. {way_out}")
    try:
        found = fetch_openml(data_id=recipe.data_id, as_frame=True)
    except (OSError, ValueError) as error:
        raise FileNotFoundError(f"{table.title} could not be fetched from openml.org ({error}). {way_out}") from error
    frame = recipe.rows_and_columns(found.data.assign(**{TARGET: found.target}).dropna())
    return _typed(frame, recipe.categories, recipe.true_class)


def _typed(frame: pd.DataFrame, categories: tuple[str, ...], true_class: str | None) -> tuple[pd.DataFrame, Target]:
    """Return factors as floats and categories, and the target as floats or, where a class counts as True, booleans."""
    text = frame.astype(str).reset_index(drop=True)
    target = text.pop(TARGET)
    types = dict.fromkeys(text, "float64") | dict.fromkeys(categories, "category")
    return text.astype(types), (target.astype("float64") if true_class is None else target == true_class).to_numpy()


def _refuse_another_table(table: Table, X: pd.DataFrame, y: Target) -> None:
    """Raise where rows, factors or target are not those of the paper's table."""
    differences = []
    if len(X) != table.n_rows:
        differences.append(f"{len(X)} complete rows instead of {table.n_rows}")
    if X.shape[1] != table.n_factors:
        differences.append(f"{X.shape[1]} factors instead of {table.n_factors}")
    if table.mean is not None and not abs(y.mean() - table.mean) < SAME_MEAN:
        differences.append(f"a target with mean {y.mean():.4f} instead of {table.mean:.4f}")
    if table.n_true is not None and y.sum() != table.n_true:
        differences.append(f"{y.sum()} rows of the class that counts as True instead of {table.n_true}")
    if differences:
        raise ValueError(f"This is not the table {table.name} of the paper: it has {', '.join(differences)}.")


def _a_and_s(frame: pd.DataFrame) -> pd.DataFrame:
    """Return two letters of the alphabet."""
    return frame[frame[TARGET].isin(["A", "S"])]


def _measured(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the patients of whom everything was measured; a zero stands for what was not."""
    return frame[(frame[["plas", "pres", "skin", "insu", "mass"]] != 0).all(axis=1)]


def _spectra(frame: pd.DataFrame) -> pd.DataFrame:
    """Return spectra, not what was computed from them, of the samples that were not kept for extrapolation."""
    return frame[[column for column in frame if column.startswith("absorbance")] + [TARGET]].head(215)


_TECATOR = OpenML(505, rows_and_columns=_spectra)
_LETTER = OpenML(6, true_class="A", rows_and_columns=_a_and_s)
_AUSTRALIAN = OpenML(40981, ("A1", "A4", "A5", "A6", "A8", "A9", "A11", "A12"), true_class="1")
_BREAST = OpenML(15, true_class="malignant")
_PIMA = OpenML(37, true_class="tested_positive", rows_and_columns=_measured)
_ALL = (
    Table("abalone", "Abalone", 4177, 8, mean=9.93368, openml=OpenML(183, ("Sex",))),
    Table("auto_mpg", "Auto MPG", 392, 7, mean=23.44592, openml=OpenML(196, ("origin",))),
    Table("boston_housing", "Boston Housing", 506, 13, mean=22.53281, openml=OpenML(531)),
    Table("concrete", "Concrete Compressive Strength", 1030, 8, mean=35.81796, openml=OpenML(44959)),
    Table("tecator", "Meat Spectroscopy", 215, 100, mean=18.14233, openml=_TECATOR),
    Table("letter_a_vs_s", "A vs. S Letter Recognition", 1537, 16, true_class="A", n_true=789, openml=_LETTER),
    Table("australian_credit", "Australian Credit Approval", 690, 14, true_class="1", n_true=307, openml=_AUSTRALIAN),
    Table("breast_cancer_wisconsin", "Breast Cancer", 683, 9, true_class="malignant", n_true=239, openml=_BREAST),
    Table("pima_diabetes", "Pima Indians Diabetes", 392, 8, true_class="pos", n_true=130, openml=_PIMA),
    Table("titanic", "Titanic", 714, 7, true_class="1", n_true=290),
)
TABLES = {table.name: table for table in _ALL}
