"""How good the answers are: one value per stored row of a setting."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..data.arrays import Floats
from ..data.setting import Setting
from .truths import truth

Flags = NDArray[np.bool_]


def importances(setting: Setting, rows: pl.DataFrame, length: int | None = None) -> Floats:
    """Return the importance of every factor in every row, 0 included; or so many values, where a method gives more."""
    dense = np.zeros((len(rows), setting.n_factors if length is None else length))
    dense[_positions(rows, "factors")] = _flat(rows, "importances")
    return dense


def selected(setting: Setting, rows: pl.DataFrame) -> Flags:
    """Return which factors were selected in every row."""
    flags = np.zeros((len(rows), setting.n_factors), dtype=bool)
    flags[_positions(rows, "selected")] = True
    return flags


def normalised_importances(setting: Setting, rows: pl.DataFrame) -> Floats:
    """Return importances with a sum of one in every row; all zero where none is positive."""
    dense = importances(setting, rows)
    sums = dense.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(dense, sums, out=np.zeros_like(dense), where=sums > 0)
    return shares


def normalised_truth(setting: Setting) -> Floats:
    """Return the true indices with a sum of one."""
    true = truth(setting)
    shares: Floats = true / true.sum()
    return shares


def distance(setting: Setting, rows: pl.DataFrame) -> Floats:
    """Return how far normalised importances are from the truth: half the sum of absolute differences, from 0 to 1."""
    distances: Floats = np.abs(normalised_importances(setting, rows) - normalised_truth(setting)).sum(axis=1) / 2
    return distances


def rank_agreement(setting: Setting, rows: pl.DataFrame) -> Floats:
    """Return Kendall's τ with the truth."""
    true = truth(setting)
    return kendall_tau(true, importances(setting, rows))


def kendall_tau(true: Floats, estimates: Floats) -> Floats:
    """Return τ-b between the truth and each row of estimates; 0 for a row that ranks nothing.

    With the paper's formula, no ranking could reach 1 where most factors tie at 0. Pairs that tie in the truth add
    nothing to the numerator, so that pairs with a factor of the model are all that is looked at.
    """
    influential = true != 0
    weights = np.where(influential, 0.5, 1.0)  # pairs of two such factors are met twice
    agreements = np.zeros(len(estimates))
    for j in np.flatnonzero(influential):
        agreements += np.sign(estimates[:, [j]] - estimates) @ (weights * np.sign(true[j] - true))
    scales = _untied_pairs(true) * np.array([_untied_pairs(row) for row in estimates], dtype=float)
    taus: Floats = np.divide(agreements, np.sqrt(scales), out=np.zeros(len(estimates)), where=scales > 0)
    return taus


def _untied_pairs(values: Floats) -> float:
    counts = np.unique(values, return_counts=True)[1]
    return (len(values) ** 2 - float(counts @ counts)) / 2


def exact(setting: Setting, rows: pl.DataFrame) -> Floats:
    """Return 1 where the factors of the model were selected, as far as they can be found, and no other; else 0."""
    all_found = (selected(setting, rows) | ~_sought(setting, rows)).all(axis=1)
    return np.where(all_found, 1 - any_false(setting, rows), 0.0)


def found(setting: Setting, rows: pl.DataFrame) -> Floats:
    """Return the share of the factors of the model that was selected, of those that can be found."""
    sought = _sought(setting, rows)
    return _share(selected(setting, rows) & sought, sought)


def any_false(setting: Setting, rows: pl.DataFrame) -> Floats:
    """Return 1 where a factor was selected that is not in the model, else 0."""
    return (n_false(setting, rows) > 0).astype(float)


def true_positives(setting: Setting, rows: pl.DataFrame) -> Floats:
    """Return the share of the factors of the model that was selected."""
    true = _in_model(setting, rows)
    return _share(selected(setting, rows) & true, true)


def false_positives(setting: Setting, rows: pl.DataFrame) -> Floats:
    """Return the share of the other factors that was selected."""
    false = ~_in_model(setting, rows)
    return _share(selected(setting, rows) & false, false)


def n_true(setting: Setting, rows: pl.DataFrame) -> Floats:
    """Return how many factors of the model were selected."""
    counts: Floats = (selected(setting, rows) & _in_model(setting, rows)).sum(axis=1, dtype=float)
    return counts


def n_false(setting: Setting, rows: pl.DataFrame) -> Floats:
    """Return how many other factors were selected."""
    counts: Floats = (selected(setting, rows) & ~_in_model(setting, rows)).sum(axis=1, dtype=float)
    return counts


def false_discoveries(setting: Setting, rows: pl.DataFrame) -> Floats:
    """Return the share of the selected factors that is not in the model; 0 where nothing was selected."""
    proportions: Floats = n_false(setting, rows) / np.maximum(n_selected(setting, rows), 1)
    return proportions


def any_selected(_: Setting, rows: pl.DataFrame) -> Floats:
    """Return 1 where something was selected, else 0."""
    return (rows["selected"].list.len() > 0).to_numpy().astype(float)


def n_selected(_: Setting, rows: pl.DataFrame) -> Floats:
    """Return how many factors were selected."""
    return rows["selected"].list.len().to_numpy().astype(float)


def error_ratio(setting: Setting, rows: pl.DataFrame) -> Floats:
    """Return the error of a forest on the selected factors over that of one on all; of two classes, the accuracy."""
    errors, errors_of_all = rows["error"].to_numpy(), rows["error_of_all"].to_numpy()
    ratios: Floats = (1 - errors) / (1 - errors_of_all) if setting.classes else errors / errors_of_all
    return ratios


def score(_: Setting, rows: pl.DataFrame) -> Floats:
    """Return R² or the accuracy of a forest on the selected factors, on the rows of a fold."""
    return (1 - rows["error"]).to_numpy()


def score_of_all(_: Setting, rows: pl.DataFrame) -> Floats:
    """Return the same of a forest on all factors."""
    return (1 - rows["error_of_all"]).to_numpy()


def loss(_: Setting, rows: pl.DataFrame) -> Floats:
    """Return by how much the first of the two is lower."""
    return (rows["error"] - rows["error_of_all"]).to_numpy()


def seconds(_: Setting, rows: pl.DataFrame) -> Floats:
    """Return the time that the method took."""
    return rows["seconds"].to_numpy().astype(float)


SHARES = frozenset({"exact", "any selected", "any false"})
"""Metrics that are a yes or a no in each repetition."""

METRICS: dict[str, Callable[[Setting, pl.DataFrame], Floats]] = {
    "tau": rank_agreement,
    "distance": distance,
    "exact": exact,
    "found": found,
    "any false": any_false,
    "true positives": true_positives,
    "false positives": false_positives,
    "n true": n_true,
    "n false": n_false,
    "false discoveries": false_discoveries,
    "any selected": any_selected,
    "n selected": n_selected,
    "error ratio": error_ratio,
    "score": score,
    "score of all": score_of_all,
    "loss": loss,
    "seconds": seconds,
}


def _in_model(setting: Setting, rows: pl.DataFrame) -> Flags:
    """Return which factors the response depends on in every row."""
    return _flags(setting, rows, setting.true_in)


def _sought(setting: Setting, rows: pl.DataFrame) -> Flags:
    """Return which of them can be found."""
    return _flags(setting, rows, setting.sought_in)


def _flags(setting: Setting, rows: pl.DataFrame, factors_in: Callable[[int], tuple[int, ...]]) -> Flags:
    flags = np.zeros((len(rows), setting.n_factors), dtype=bool)
    for k, repetition in enumerate(rows["repetition"].to_list()):
        flags[k, list(factors_in(repetition))] = True
    return flags


def _share(some: Flags, of: Flags) -> Floats:
    """Return the share of true values in each row; NaN where there could be none."""
    with np.errstate(invalid="ignore"):
        shares: Floats = some.sum(axis=1) / of.sum(axis=1)
    return shares


def _positions(rows: pl.DataFrame, column: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return row and value of every item in a column of lists."""
    return np.repeat(np.arange(len(rows)), rows[column].list.len().to_numpy()), _flat(rows, column)


def _flat(rows: pl.DataFrame, column: str) -> NDArray[Any]:
    lists = rows[column]
    return lists.filter(lists.list.len() > 0).explode().to_numpy()
