"""Running an experiment: what is missing is computed on several cores, and stored row by row as it comes."""

import contextlib
import functools
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import joblib
import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from threadpoolctl import threadpool_limits

from firstfactor.findings.finding import DataQualityWarning
from firstfactor.inference.sample_size import TooFewRowsWarning

from ..data.setting import REAL_ROWS
from ..methods.registry import method, warm_up
from .prediction_errors import test_errors
from .store import RESULTS, Row, Store, Task


def missing(tasks: list[Task], folder: Path = RESULTS) -> list[Task]:
    """Return the tasks that have no row yet."""
    done = set().union(*(Store(name, folder).done() for name in {task.method for task in tasks}))
    return [task for task in tasks if task not in done]


def run(tasks: list[Task], n_jobs: int, folder: Path = RESULTS) -> int:
    """Do what is missing, and return how many rows that gave."""
    todo = missing(tasks, folder)
    if not todo:
        return 0
    methods = sorted({task.method for task in todo})
    with contextlib.ExitStack() as stack:
        stores = {name: stack.enter_context(Store(name, folder).appending()) for name in methods}
        todo = missing(todo, folder)  # another run may have ended between the first look and the lock
        progress = stack.enter_context(_progress())
        bar = progress.add_task("", total=len(todo))
        for row in _rows(todo, n_jobs):
            stores[row.task.method].append(row)
            progress.update(bar, advance=1, description=row.task.method)
    return len(todo)


def perform(task: Task) -> Row:
    """Draw the data, run the method, and take the time of the latter."""
    _warm_up_once(task.method)
    X, y = task.setting.draw(task.repetition)
    with threadpool_limits(1), warnings.catch_warnings():  # as many tasks as cores run side by side
        for expected in (DataQualityWarning, TooFewRowsWarning):  # some settings are there to show what happens then
            warnings.simplefilter("ignore", expected)
        started = time.perf_counter()
        outcome = method(task.method)(X, y, task.repetition)
        seconds = time.perf_counter() - started
    error, error_of_all = outcome.error, None
    if task.setting.part in REAL_ROWS:
        error, error_of_all = test_errors(task.setting, task.repetition, outcome.selected or ())
    factors = np.flatnonzero(outcome.importances)
    return Row(
        task,
        factors=factors.tolist(),
        importances=outcome.importances[factors].tolist(),
        selected=None if outcome.selected is None else list(outcome.selected),
        error=error,
        error_of_all=error_of_all,
        seconds=seconds,
        ceiling=outcome.ceiling,
        certainty=outcome.certainty,
        p_value=outcome.p_value,
    )


_warm_up_once = functools.cache(warm_up)


def _rows(tasks: list[Task], n_jobs: int) -> Iterator[Row]:
    """Yield results as they come."""
    workers = joblib.Parallel(n_jobs, return_as="generator_unordered", batch_size=1)
    yield from workers(joblib.delayed(perform)(task) for task in tasks)


def _progress() -> Progress:
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    return Progress(*columns, TextColumn("{task.description}"), disable=not os.isatty(2))
