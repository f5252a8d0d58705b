"""Run all methods on all tables, one thread each: seconds, what they select, and how important factors are to them."""

import contextlib
import io
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from multiprocessing import get_context

from threadpoolctl import threadpool_limits

from firstfactor.problems import friedman

from ..stamp import is_stale, stamp
from .methods import METHODS, saltelli
from .scores import distance, is_on_top
from .tables import PROBLEMS, TABLES

DISTRIBUTIONS = (
    "pyfirst",
    "scikit-learn",
    "statsmodels",
    "shap",
    "Boruta",
    "hidimstat",
    "knockpy",
    "SALib",
    "numpy",
)
SEED = 10_000
"""Of the first table of each kind; the study draws with smaller ones."""
BASES = (64, 1024)
"""Sizes of Saltelli's design: the function is called for each of its rows, and once more for each factor and row."""
CALL_REPETITIONS = 10


def measure(stored, store, jobs=1):
    """Run what is not stored yet, and store all after every draw, so that it can be stopped and goes on later.

    Draws are stored and run anew as a whole, so that seconds of a draw can be compared.
    """
    draws = {(each["table"], each["repetition"]): each for each in stored.get("draws", [])}
    todo, measured = missing(draws), stamp()
    stored = {"versions": _versions(), "calls": call_functions()}
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_warm_up) as pool:
        for done in as_completed([pool.submit(run, *draw, measured) for draw in todo]):
            new = done.result()
            draws[new["table"], new["repetition"]] = new
            store(stored | {"draws": [draws[key] for key in every_draw() if key in draws]})
            taken = sum(each.get("seconds", 0.0) for each in new["runs"])
            print(f"{new['table']}, {new['repetition']}: {taken:.1f} s", flush=True)


def every_draw():
    """Names of tables and numbers of draws, those first that have the lowest number."""
    most = max(repetitions(method, table) for method in METHODS for table in TABLES.values())
    return [(name, k) for k, name in product(range(most), TABLES) if due(TABLES[name], k)]


def missing(draws):
    """Those that are not stored, or not with all methods that run on them, or were run by code that has changed."""
    return [key for key in every_draw() if key not in draws or not _is_complete(draws[key])]


def _is_complete(draw):
    have = {each["method"] for each in draw["runs"]}
    wanted = {each.name for each in due(TABLES[draw["table"]], draw["repetition"])}
    return wanted <= have and not is_stale([draw["measured"]])


def due(table, repetition):
    """The methods that run on a draw of a table."""
    return [
        each for each in METHODS if each.is_installed and each.takes(table) and repetition < repetitions(each, table)
    ]


def repetitions(method, table):
    """On how many draws of a table a method runs."""
    return max(1, int(method.repetitions * table.part))


def _warm_up():
    """Load what is needed, compile, and use one thread in this process from then on."""
    X, y = friedman.sample(500, correlation=0.8, seed=0)
    for method in METHODS:
        if method.is_installed and method.name != "Boruta":  # which compiles nothing
            answer(method, X, y, 0)
            answer(method, X, (y > y.mean()).astype(float), 0)
    threadpool_limits(1)  # of what is loaded by now


def run(name, repetition, measured):
    """One draw of a table, on which all methods run one after the other."""
    table = TABLES[name]
    drawn = table.draw(table.n_rows, SEED + repetition)
    return {
        "table": name,
        "repetition": repetition,
        "true": None if drawn.true is None else list(drawn.true),
        "measured": measured,
        "runs": [run_one(method, drawn, repetition) for method in due(table, repetition)],
    }


def run_one(method, drawn, seed):
    """What one method says on one table, and what that is worth where the order or the importances are known."""
    record = {"method": method.name}
    start = time.process_time()  # of one thread; other work on the machine changes it less than the time of a clock
    try:
        found = answer(method, drawn.X, drawn.y, seed)
    except Exception as error:  # what a package cannot do is a result, too
        return record | {"error": f"{type(error).__name__}: {error}"}
    record["seconds"] = time.process_time() - start
    if found.selected is not None:
        record["selected"] = list(found.selected)
    if found.importances is not None and drawn.true:
        record["on_top"] = is_on_top(found.importances, drawn.true)
        if method.has_shares and drawn.indices is not None:
            record["distance"] = distance(found.importances, drawn.indices)
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
    functions = [table for table in PROBLEMS if table.function]
    truth = {table.name: table.draw(table.n_rows, SEED).indices for table in functions}
    for table, n_base, k in product(functions, BASES, range(CALL_REPETITIONS)):
        found, calls = saltelli(table.function, table.n_factors, n_base, k)
        records.append(
            {"table": table.name, "n_base": n_base, "calls": calls, "distance": distance(found, truth[table.name])}
        )
    return records


def _versions():
    found = {}
    for name in DISTRIBUTIONS:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
