"""Importances in real tables: intervals of two estimators beside the spread of half-sample fits.

``python -m study.runs.importances_real`` writes the file anew, in some five minutes; ``--results FOLDER`` puts it
elsewhere. Tables that are not there are passed over.
"""

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from firstfactor import FIRST, total_indices
from firstfactor.settings import VarianceEstimator

from ..data import real_tables
from ..data.ordinary_tables import WAGE1, OrdinaryTable
from ..data.shared_tables import SHARED_TABLES
from ..methods.ours import ALPHA
from .store import RESULTS

FILE = "importances_real.json"
N_HALVES, SEED = 200, 0
ESTIMATORS: tuple[VarianceEstimator, ...] = ("extrapolated", "adaptive")


def _shared(name: str) -> Callable[[], tuple[Any, Any]]:
    def load() -> tuple[Any, Any]:
        table = SHARED_TABLES[name]
        frame = table.load()
        return frame.drop(columns=table.target), frame[table.target].to_numpy()

    return load


TABLES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "wage1": WAGE1.load,
    "diabetes": OrdinaryTable("sklearn", "diabetes", "progression").load,
    "concrete": _shared("concrete"),
    "diamonds": _shared("diamonds"),
    "abalone": _shared("abalone"),
    "Pima": lambda: real_tables.load("pima_diabetes"),
}


def look_at(load: Callable[[], tuple[Any, Any]]) -> dict[str, Any]:
    """Return shares of the selected factors with their intervals, and how much shares of halves differ from these.

    The variance of a share from half of the rows around that from all is about that of the share from all.
    """
    X, y = load()
    y = np.asarray(y)
    chosen = FIRST(rule="calibrated", alpha=ALPHA, random_state=SEED).choose(X, y)
    X = X.iloc[:, np.flatnonzero(chosen)]
    found = {name: total_indices(X, y, variance_estimator=name, uncertainty=True) for name in ESTIMATORS}
    rng, shares = np.random.default_rng(SEED), []
    for _ in range(N_HALVES):
        rows = np.sort(rng.choice(len(y), len(y) // 2, replace=False))
        half = total_indices(X.iloc[rows].reset_index(drop=True), y[rows], variance_estimator="adaptive")
        shares.append([*half.values, half.r2_ceiling])
    whole = [*found["adaptive"].values, found["adaptive"].r2_ceiling]
    spread = np.sqrt(np.mean((np.array(shares) - whole) ** 2, axis=0))
    factors = {
        name: {
            "spread": round(float(spread[k]), 4),
            **{each: _numbers(one.values[k], one.interval()[k]) for each, one in found.items()},
        }
        for k, name in enumerate(X.columns)
    }
    ceiling = {each: _numbers(one.r2_ceiling, one.r2_interval()) for each, one in found.items()}
    return {"n_rows": len(y), "factors": factors, "ceiling": {"spread": round(float(spread[-1]), 4), **ceiling}}


def _numbers(value: float, interval: Any) -> list[float]:
    return [round(float(each), 4) for each in (value, *interval)]


def read_importances_real(folder: Path = RESULTS) -> dict[str, Any]:
    """Return what is stored of each table."""
    path = folder / FILE
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return stored


def write_importances_real(folder: Path = RESULTS) -> None:
    """Look at all tables anew, and store what comes of it."""
    stored = read_importances_real(folder)
    for name, load in TABLES.items():
        try:
            with warnings.catch_warnings(), threadpool_limits(1):
                warnings.simplefilter("ignore")
                stored[name] = look_at(load)
        except (FileNotFoundError, ModuleNotFoundError, OSError) as error:
            print(f"{name} is passed over: {error}", flush=True)
            continue
        (folder / FILE).write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(name, "is done", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--results", type=Path, default=RESULTS, help="Folder of the file.")
    write_importances_real(parser.parse_args().results)
