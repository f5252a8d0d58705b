"""What is said of real tables whose factors share information, by firstfactor and by a random forest, and the facts.

``python -m study.runs.shared_tables`` writes the file anew, in some ten minutes; names of tables after it only these.
"""

import json
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GroupKFold

from firstfactor import Indices, rank
from firstfactor.results.drivers import say_drivers
from firstfactor.results.ranking_line import RankingLine

from ..data.arrays import Floats
from ..data.real_tables import N_FOLDS
from ..data.shared_tables import SHARED_TABLES, SharedTable
from .store import RESULTS

STORED = RESULTS / "shared_tables.json"
MAX_ROWS = 10_000
"""Of a forest: more are drawn at random."""
MAX_EXPLAINED = 200
"""Rows that SHAP explains."""
TREES, LEAF, REPEATS, SEED, SHOWN = 200, 3, 5, 0, 10
EARLIER = 0.8
"""Share of the rows that predict the later ones."""


def look_at(name: str) -> dict[str, Any]:
    """Return all there is to say of a table."""
    table = SHARED_TABLES[name]
    frame = table.load()
    plain, compact = (rank(frame, table.target, compact=small, jobs=1).indices for small in (False, True))
    X, y = _for_forests(frame, table.target)
    permuted, explained = _forest_importances(X, y)
    return {
        "n_rows": len(frame),
        "n_factors": frame.shape[1] - 1,
        "plain": _answer(plain, table.target),
        "compact": _answer(compact, table.target),
        "permutation": dict(list(permuted.items())[:SHOWN]),
        "shap": dict(list(explained.items())[:SHOWN]),
        **_facts(X, y, _sets(list(X.columns), plain, compact, permuted, explained), table),
    }


def _answer(indices: Indices, target: str) -> dict[str, Any]:
    """Return the headline, the ceiling and the drivers, each with what its factors explain alone."""
    assert indices.sharing is not None
    alone = indices.sharing.alone.values

    def describe(driver: RankingLine) -> dict[str, Any]:
        return {
            "factors": [indices.names[i] for i in driver.factors],
            "any will do": driver.cluster is None or driver.cluster.interchangeable,
            "lost": round(driver.importance, 4),
            "alone": [round(float(alone[i]), 4) for i in driver.factors],
            "each": [round(float(indices.shares[i]), 4) for i in driver.factors],
        }

    return {
        "says": say_drivers(indices, target),
        "ceiling": round(indices.r2_ceiling, 4),
        "drivers": [describe(driver) for driver in indices.drivers],
    }


def _for_forests(frame: pd.DataFrame, target: str) -> tuple[pd.DataFrame, Floats]:
    """Return factors as numbers and the response as columns of numbers, one for each class but the first."""
    rows = frame.sample(MAX_ROWS, random_state=SEED) if len(frame) > MAX_ROWS else frame
    X = rows.drop(columns=target).reset_index(drop=True)
    for column in X:
        if not pd.api.types.is_numeric_dtype(X[column]):
            X[column] = X[column].astype("category").cat.codes
    if pd.api.types.is_numeric_dtype(rows[target]):
        return X.astype(float), rows[target].to_numpy(dtype=float)
    classes = pd.get_dummies(rows[target]).to_numpy(dtype=float)
    return X.astype(float), classes[:, 1] if classes.shape[1] == 2 else classes


def _forest(X: pd.DataFrame, y: Floats) -> RandomForestRegressor:
    forest = RandomForestRegressor(TREES, min_samples_leaf=LEAF, oob_score=True, random_state=SEED, n_jobs=1)
    return forest.fit(X, y)


def _forest_importances(X: pd.DataFrame, y: Floats) -> tuple[dict[str, float], dict[str, float]]:
    """Return the permutation importance of each factor on a half that was held out, and the mean of |SHAP| there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what shap itself imports
        import shap

    order = np.random.default_rng(SEED).permutation(len(X))
    fitted, held_out = np.array_split(order, 2)
    forest = _forest(X.iloc[fitted], y[fitted])
    permuted = permutation_importance(forest, X.iloc[held_out], y[held_out], n_repeats=REPEATS, random_state=SEED)
    some = X.iloc[held_out[:MAX_EXPLAINED]]
    values = np.abs(shap.TreeExplainer(forest).shap_values(some, check_additivity=False))
    per_factor = values.reshape(len(some), X.shape[1], -1).mean(axis=(0, 2))
    return _by_name(X, permuted.importances_mean), _by_name(X, per_factor / per_factor.sum())


def _by_name(X: pd.DataFrame, values: Floats) -> dict[str, float]:
    """Return values of factors, the largest first."""
    return {X.columns[i]: round(float(values[i]), 4) for i in np.argsort(-values, kind="stable").tolist()}


def _sets(
    everything: list[str], plain: Indices, compact: Indices, permuted: dict[str, float], explained: dict[str, float]
) -> dict[str, list[str]]:
    """Return the sets of factors that forests are to have: what is said to matter, and all but what is missed."""
    small = [compact.names[i] for i in compact.selected.tolist()]
    sets = {
        "all": everything,
        "compact": small,
        "permutation": list(permuted)[: len(small)],
        "shap": list(explained)[: len(small)],
    }
    clusters = [one for indices in (plain, compact) if indices.sharing for one in indices.sharing.clusters]
    if clusters:
        sets["without the best of the cluster"] = [one for one in everything if one != clusters[0].representative]
        sets["without the cluster"] = [one for one in everything if one not in clusters[0].factors]
    else:
        first = plain.names[plain.drivers[0].factors[0]]
        sets["without the first"] = [one for one in everything if one != first]
    swaps = {
        one: cluster.factors[-1]
        for cluster in (compact.sharing.clusters if compact.sharing else ())
        for one in small
        if one in cluster.factors and cluster.interchangeable
    }
    if swaps:
        sets["compact, swapped"] = list(dict.fromkeys(swaps.get(one, one) for one in small))
    return sets


def _facts(X: pd.DataFrame, y: Floats, sets: dict[str, list[str]], table: SharedTable) -> dict[str, Any]:
    """Return the R² of forests that have some factors: out of bag, and in rows unlike those they were fitted on."""
    facts: dict[str, Any] = {"scores": {which: round(_score(X[some], y), 4) for which, some in sets.items()}}
    if table.new_rows:
        folds = _later(X) if table.in_time else _by_unit(X, table.units)
        facts["new"] = {which: round(_score_new(X[some], y, folds), 4) for which, some in sets.items()}
    few = ("compact", "permutation", "shap", "compact, swapped")
    return {**facts, "sets": {which: some for which, some in sets.items() if which in few}}


def _later(X: pd.DataFrame) -> list[tuple[Any, Any]]:
    """Return the earlier rows and the later ones."""
    earlier, later = np.split(np.arange(len(X)), [round(EARLIER * len(X))])
    return [(earlier, later)]


def _by_unit(X: pd.DataFrame, units: Sequence[str]) -> list[tuple[Any, Any]]:
    """Return rows to fit and rows to predict, several times, so that no unit is in both."""
    return list(GroupKFold(N_FOLDS).split(X, groups=X.groupby(list(units)).ngroup()))


def _score_new(X: pd.DataFrame, y: Floats, folds: list[tuple[Any, Any]]) -> float:
    """Return the R² of forests for rows that they were not fitted on."""
    left = np.concatenate([y[new] - _forest(X.iloc[old], y[old]).predict(X.iloc[new]) for old, new in folds])
    seen = np.concatenate([y[new] for _, new in folds])
    return float(1 - (left**2).sum() / ((seen - seen.mean(axis=0)) ** 2).sum())


def _score(X: pd.DataFrame, y: Floats) -> float:
    """Return the R² of a forest for rows that each of its trees has not seen."""
    left = y - _forest(X, y).oob_prediction_
    return float(1 - (left**2).sum() / ((y - y.mean(axis=0)) ** 2).sum())


def read_shared_tables() -> dict[str, dict[str, Any]]:
    """Return what is stored."""
    stored: dict[str, dict[str, Any]] = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    return stored


def write_shared_tables(names: Sequence[str] = tuple(SHARED_TABLES)) -> None:
    """Look at tables anew and store what comes of it."""
    stored = read_shared_tables()
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stored[name] = look_at(name)
        STORED.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(name, "is done", flush=True)


if __name__ == "__main__":
    write_shared_tables(sys.argv[1:] or tuple(SHARED_TABLES))
