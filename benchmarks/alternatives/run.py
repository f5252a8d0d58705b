"""Run all methods on all tables, one thread each: seconds, what they select, and how important factors are to them."""

import contextlib
import io
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from multiprocessing import get_context

import numpy as np
from threadpoolctl import threadpool_limits

from firstfactor.problems import friedman

from .methods import METHODS, saltelli
from .scores import is_on_top
from .tables import PROBLEMS, TABLES

DISTRIBUTIONS = ("pyfirst", "scikit-learn", "shap", "Boruta", "knockpy", "SALib", "numpy")
BASES = (64, 1024)
"""Sizes of Saltelli's design: the function is called for each of its rows, and once more for each factor and row."""
CALL_REPETITIONS = 10


def measure(stored, store, jobs=2):
    """Run what is not stored yet, and store all after every draw, so that it can be stopped and goes on later.

    Draws are stored and run anew as a whole, so that seconds of a draw can be compared.
    """
    truth = {table.name: table.true_indices().tolist() for table in PROBLEMS}
    stored = {"versions": _versions(), "truth": truth, "calls": call_functions(), "records": stored.get("records", [])}
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_warm_up) as pool:
        for done in as_completed([pool.submit(run, *draw) for draw in missing(stored["records"])]):
            new = done.result()
            stored["records"] = in_order([each for each in stored["records"] if _draw(each) != _draw(new[0])] + new)
            store(stored)
            taken = sum(record.get("seconds", 0.0) for record in new)
            print(f"{new[0]['table']}, {new[0]['repetition']}: {taken:.1f} s", flush=True)


def missing(records):
    """Names of tables and numbers of draws that are not stored, or not with all methods that run on them."""
    have = {(each["table"], each["repetition"], each["method"]) for each in records}
    draws = product(range(max(method.repetitions for method in METHODS)), TABLES)
    return [(name, k) for k, name in draws if any((name, k, each.name) not in have for each in due(TABLES[name], k))]


def in_order(records):
    """Records by table, method and draw, in the order of the page."""
    methods = [method.name for method in METHODS]
    tables = list(TABLES)
    return sorted(records, key=lambda r: (tables.index(r["table"]), methods.index(r["method"]), r["repetition"]))


def _draw(record):
    return record["table"], record["repetition"]


def due(table, repetition):
    """The methods that run on a draw of a table."""
    return [
        each
        for each in METHODS
        if each.is_installed and each.runs_on(table.n_factors) and repetition < repetitions(each, table)
    ]


def repetitions(method, table):
    """On how many draws of a table a method runs."""
    return max(1, int(method.repetitions * table.part))


def _warm_up():
    """Load what is needed, compile, and use one thread in this process from then on."""
    X, y = friedman.sample(1000, correlation=0.8, seed=0)
    for method in METHODS:
        if method.is_installed and method.name != "Boruta":  # which compiles nothing
            answer(method, X, y, 0)
    threadpool_limits(1)  # of what is loaded by now


def run(name, repetition):
    """Records of one draw of a table, on which all methods run one after the other."""
    table = TABLES[name]
    X, y = table.draw(table.n_rows, repetition)
    return [run_one(method, table, X, y, repetition) for method in due(table, repetition)]


def run_one(method, table, X, y, repetition):
    """The record of one method on one table."""
    record = {"table": table.name, "method": method.name, "repetition": repetition}
    start = time.process_time()  # of one thread; other work on the machine changes it less than the time of a clock
    try:
        found = answer(method, X, y, repetition)
    except Exception as error:  # what a package cannot do is a result, too
        return record | {"error": f"{type(error).__name__}: {error}"}
    record["seconds"] = time.process_time() - start
    if found.selected is not None:
        record["selected"] = list(found.selected)
    if found.importances is not None and table.true_factors:
        record["on_top"] = is_on_top(found.importances, table.true_factors)
        if table.true_indices:
            record["importances"] = np.asarray(found.importances, dtype=float).tolist()
    return record


def answer(method, X, y, seed):
    """What a method says, without what it prints and warns of."""
    unseen = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stderr(unseen), contextlib.redirect_stdout(unseen):
        warnings.simplefilter("ignore")
        return method.answer(X, y, seed)


def call_functions():
    """Total indices of the functions themselves, without noise, by Saltelli's design."""
    records = []
    functions = (table for table in PROBLEMS if table.function)
    for table, n_base, k in product(functions, BASES, range(CALL_REPETITIONS)):
        found, calls = saltelli(table.function, table.n_factors, n_base, k)
        records.append({"table": table.name, "n_base": n_base, "calls": calls, "importances": found.tolist()})
    return records


def _versions():
    found = {}
    for name in DISTRIBUTIONS:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
