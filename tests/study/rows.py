"""Rows as methods might have stored them, and results made of them."""

import dataclasses
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from study.data.arrays import Floats
from study.data.setting import PROBLEMS, REAL_ROWS, Setting
from study.methods.outcome import Certainty
from study.paper.printed_numbers import ABALONE
from study.runs.store import RESULTS, SCHEMA, Row, Task
from study.runs.stream import pack
from study.scores import truths
from study.scores.results import Results
from study.scores.sharing import true_cumulative_shares, true_shares

needs_stored_rows = pytest.mark.skipif(not RESULTS.exists(), reason="study/results is only in the repository")
KNOWN = (*PROBLEMS, "panel", "g-function")
SMALL = Setting("ishigami", 60, 3)


def row_of(repetition, method="FIRST"):
    return Row(Task(SMALL, method, repetition), [0, 2], [0.25, 0.5], [0, 2], None, None, 0.1)


def fill(store, repetitions):
    with store.appending() as appender:
        for repetition in repetitions:
            appender.append(row_of(repetition))


def row(task: Task, importances: Floats, error: float | None = None, seconds: float = 0.1, selects: bool = True) -> Row:
    factors = np.flatnonzero(importances).tolist()
    of_all = 1.0 if task.setting.part == "train" and not task.setting.classes else 0.1
    values = importances[factors].tolist()
    return Row(task, factors, values, factors if selects else None, error, of_all, seconds)


def selections(method: str, setting: Setting, n_exact: int, n: int) -> list[Row]:
    """Rows of which some are exact, while the others miss a factor."""
    exact = truths.truth(setting)
    missing = exact.copy()
    missing[setting.true_factors[-1]] = 0
    return [row(Task(setting, method, k), exact if k < n_exact else missing) for k in range(n)]


def selection(setting: Setting, method: str, repetition: int, importances: Floats, ceiling: float | None = 0.0) -> Row:
    factors = np.flatnonzero(importances).tolist()
    task = Task(setting, method, repetition)
    return Row(task, factors, importances[factors].tolist(), factors, None, None, 0.1, ceiling)


def estimate(
    setting: Setting, repetition: int, values: Floats, error: float, p_values: Floats, method: str = "EXTRAPOLATED"
) -> Row:
    """A row whose indices and ceiling have the same standard error."""
    certain = Certainty([error] * len(values), p_values.tolist(), error, 0.05)
    ceiling = truths.true_ceiling(setting) + 2.5 * error
    factors = np.flatnonzero(values).tolist()
    task = Task(setting, method, repetition)
    return Row(task, factors, values[factors].tolist(), None, None, None, 0.1, ceiling, certain)


def results_of(rows: list[Row]) -> Results:
    """What comes of rows, without a file."""
    return Results(pl.from_arrow(as_table(rows)))


def store(folder: Path, rows: list[Row]) -> None:
    """Write rows as a run leaves them that came to its end, only faster."""
    by_method: dict[str, list[Row]] = {}
    for one in rows:
        by_method.setdefault(one.task.method, []).append(one)
    for method, of_method in by_method.items():
        (folder / f"{method}.arrows").write_bytes(pack(as_table(of_method), pa.Codec("zstd")))


def as_table(rows: list[Row]) -> pa.Table:
    values = [{**vars(one), **vars(one.task), **vars(one.task.setting)} for one in rows]
    for one in values:
        one["certainty"] = one["certainty"] and vars(one["certainty"])
    return pa.Table.from_pylist(values, schema=SCHEMA)


def shares(setting: Setting, repetition: int, away: float = 0.0, error: float = 0.01) -> Row:
    """A row of what factors share: so many standard errors away from the truth, but for fair shares."""
    kinds = true_shares(setting)
    values = np.concatenate([np.array(some) + (kind != "fair share") * away * error for kind, some in kinds.items()])
    sure = Certainty([error] * len(values), [0.5] * len(values), np.nan, 0.05)
    return dataclasses.replace(row(Task(setting, "SHARING", repetition), values, selects=False), certainty=sure)


def in_order(setting: Setting, method: str, repetition: int, order: tuple[int, ...] = (0, 1, 2)) -> Row:
    """A row of all factors in some order, with the true cumulative shares."""
    one = row(Task(setting, method, repetition), np.array(true_cumulative_shares(setting)))
    return dataclasses.replace(one, selected=list(order))


def made_up(task: Task, rng: np.random.Generator) -> Row:
    """Some result that a method might give, worse if it is not ours."""
    if task.method.startswith("SHARING"):
        return dataclasses.replace(shares(task.setting, task.repetition, rng.normal()), task=task)
    if task.method in ("CUMULATIVE", "PYFIRST-RANK"):
        return in_order(task.setting, task.method, task.repetition)
    setting, spread = task.setting, 0.02 if task.method.startswith(("FIRST", "NANNE")) else 0.2
    error = None
    if setting.part in ("drawn", "model", "given"):
        exact = some_truth(setting)
        importances = np.maximum(exact + spread * rng.normal(size=exact.shape) * (exact > 0), 0.001 * (exact > 0))
        importances[-1] += spread * (rng.uniform() < spread)
    elif setting.part == "whole":
        importances = np.array([printed.value for printed, _ in ABALONE.values()])
    else:
        importances = rng.uniform(size=setting.n_factors) * (rng.uniform(size=setting.n_factors) < 0.5)
    if setting.part in REAL_ROWS:
        error = 0.1 * rng.uniform(0.9, 1.1) if setting.classes else rng.uniform(0.9, 1.1)
    elif setting.part == "subset":
        error = 4 + 1 / task.repetition.bit_count()
    certain = task.method.startswith(("NEAREST", "EXTRAPOLATED", "ADAPTIVE"))
    ranks_only = task.method in ("FILTER", "RF", "RF-SHAP") or certain
    one = row(task, importances, error, rng.uniform(1, 2) / spread, not ranks_only)
    sure = some_certainty(setting.n_factors, rng) if certain else None
    p_value = rng.uniform() if task.method == "CALIBRATED-NEXT" else None
    return dataclasses.replace(one, ceiling=rng.uniform(0.8, 0.9), certainty=sure, p_value=p_value)


def some_truth(setting: Setting) -> Floats:
    """The true indices, or ones where they are not known."""
    if setting.source in KNOWN:
        return truths.truth(setting)
    return np.isin(np.arange(setting.n_factors), setting.true_factors).astype(float)


def some_certainty(n_factors: int, rng: np.random.Generator) -> Certainty:
    return Certainty([0.02] * n_factors, rng.uniform(size=n_factors).tolist(), 0.01, 0.05)
