"""One side of a comparison: a process that does a task each time it is asked, and answers with the time it took.

    PYTHONPATH=SOURCES python side.py TASK TABLE THREADS OPTIONS WARM_UP

`benchmarks.measure.Side` starts it. It imports nothing else from `benchmarks`, so that it can run any sources of
firstfactor, also those of an old release.
"""

import json
import pickle
import sys
import time
import warnings
from pathlib import Path

import numpy as np


def fit(table, threads, options):
    """Fit `FIRST`; return the importances."""
    return _fitted(table, threads, options).importances_


def fit_and_look(table, threads, options):
    """Fit `FIRST`, and ask for what is only computed when it is looked at."""
    selector = _fitted(table, threads, options)
    return selector.standard_errors_, selector.p_values_, selector.clusters_


def choose(table, threads, options):
    """Select factors without estimating their importance."""
    from firstfactor import FIRST

    FIRST(n_jobs=threads, random_state=0, **options).choose(table["X"], table["y"])


def rank(table, threads, options):
    """Rank a table, and word the answer as the command does."""
    from firstfactor import rank

    ranking = rank(table["frame"], table["target"], jobs=threads, **options)
    str(ranking), ranking.notes()


def totals(table, threads, options):
    """Estimate the total indices of all factors (NANNE)."""
    from firstfactor import total_indices

    return total_indices(table["X"], table["y"], n_jobs=threads, **options).values


def shares(table, threads, options):
    """Estimate fair shares, without standard errors."""
    from firstfactor import shapley_effects

    return shapley_effects(table["X"], table["y"], uncertainty=False, n_jobs=threads, **options).values


def pyfirst(table, threads, options):
    """Fit pyfirst's FIRST."""
    import pandas as pd
    from pyfirst.pyfirst import FIRST

    X = pd.DataFrame(table["X"])
    return FIRST(X, table["y"], n_jobs=threads, return_option="total", random_state=0, **options)


def pyfirst_totals(table, threads, options):
    """Estimate total indices with pyfirst."""
    from pyfirst.pyfirst import TotalSobolKNN

    return TotalSobolKNN(table["X"], table["y"], noise=True, n_jobs=threads, random_state=0, **options)


def pyfirst_shares(table, threads, options):
    """Estimate fair shares with pyfirst."""
    from pyfirst.pyfirst import ShapleySobolKNN

    return ShapleySobolKNN(table["X"], table["y"], noise=True, n_jobs=threads, random_state=0, **options)


def tree_search(table, threads, options):
    """Search the nearest row of each row once, with scipy's k-d tree."""
    from scipy.spatial import cKDTree

    points = np.ascontiguousarray(table["X"][:, options["factors"]])
    cKDTree(points).query(points, k=2, workers=threads)


TASKS = {
    each.__name__: each
    for each in (fit, fit_and_look, choose, rank, totals, shares, pyfirst, pyfirst_totals, pyfirst_shares, tree_search)
}
COMPILED = {"fit", "fit_and_look", "choose", "rank", "totals", "shares"}


def head(table, rows=300):
    """Return the first rows of a table."""
    return {
        name: head(each, rows) if isinstance(each, dict) else each if isinstance(each, str) else each[:rows]
        for name, each in table.items()
    }


def _fitted(table, threads, options):
    from firstfactor import FIRST

    return FIRST(n_jobs=threads, **options).fit(table["X"], table["y"], **table.get("rows", {}))


def _memory(field):
    """Return the memory of this process in bytes, now (VmRSS) or at most since it was last asked (VmHWM)."""
    status = Path("/proc/self/status").read_text().split()
    return 1024 * int(status[status.index(field) + 1])


def measure(task, *arguments):
    """Do a task; return its processor and wall time, the bytes it needed, and its answer if that is an array."""
    linux = Path("/proc/self/clear_refs")
    if linux.exists():
        linux.write_text("5")  # forget the peak so far
        before = _memory("VmRSS:")
    processor, wall = time.process_time(), time.perf_counter()
    answer = task(*arguments)
    found = {"processor": time.process_time() - processor, "wall": time.perf_counter() - wall}
    if linux.exists():
        found["memory"] = _memory("VmHWM:") - before
    if isinstance(answer, np.ndarray):
        found["answer"] = answer.tolist()
    return found


def main():
    """Say that all is ready; then answer each line of the input with one line of JSON."""
    name, path, threads, options, warm_up = sys.argv[1:]
    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever else is printed is no answer
    table, arguments = pickle.loads(Path(path).read_bytes()), (int(threads), json.loads(options))
    if name in COMPILED:
        TASKS[name](table if warm_up == "all" else head(table), *arguments)
    print(json.dumps("ready"), file=answers, flush=True)
    for _ in sys.stdin:
        print(json.dumps(measure(TASKS[name], table, *arguments)), file=answers, flush=True)


if __name__ == "__main__":
    main()
