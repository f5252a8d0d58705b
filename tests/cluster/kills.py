"""Workers killed at random moments, many times: `python -m tests.cluster.kills --times 20`."""

import argparse
import random
import sys
import tempfile
import threading
import time
import warnings

import dask.dataframe as dd
import distributed
import joblib
import numpy as np
import pandas as pd

from firstfactor import FIRST

from .processes import Processes

# A run with a lost worker may take so many times as long as one without, and a worker to start.
LONGEST, SECONDS_TO_START = 4, 20


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.kills", description=__doc__)
    parser.add_argument("--times", type=int, default=20, help="for each way to use a cluster, and each rule")
    parser.add_argument("--rows", type=int, default=8000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        processes = Processes(folder)
        try:
            with distributed.Client(processes.address) as client:
                return run(arguments, processes, client)
        finally:
            processes.close()


def run(arguments, processes, client):
    """Kill workers during fits of all kinds; the number of fits that went wrong."""
    draw, failures = random.Random(arguments.seed), 0
    table = make_table(arguments.rows)
    for rule in ("paper", "calibrated"):
        selector = FIRST(rule=rule, random_state=0)
        reference = fingerprint(selector.fit(table.drop(columns="y"), table.y).indices_)
        for name, fit in (("a Dask collection", fit_collection), ("a table in memory", fit_in_memory)):
            client.wait_for_workers(2, timeout=60)
            start = time.perf_counter()
            fit(selector, table)
            usual = time.perf_counter() - start
            times = []
            for _ in range(arguments.times):
                client.wait_for_workers(2, timeout=60)
                killer = threading.Timer(draw.uniform(0, usual), processes.kill_worker, [draw.randrange(2)])
                killer.start()
                start = time.perf_counter()
                same = fingerprint(fit(selector, table).indices_) == reference
                times.append(time.perf_counter() - start)
                killer.join()
                failures += not same or times[-1] > LONGEST * usual + SECONDS_TO_START
            print(
                f"{rule} rule, {name}: {len(times)} times a worker was killed; {usual:.1f} s without, "
                f"{np.median(times):.1f} s (median) and {max(times):.1f} s (most) with; {failures} failures so far",
                flush=True,
            )
    return failures


def make_table(n_rows):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(n_rows, 150)), columns=[f"x{j}" for j in range(150)])
    y = 10 * np.sin(np.pi * X.x0 * X.x1) + 20 * (X.x2 - 0.5) ** 2 + 10 * X.x3 + 5 * X.x140
    X["x5"], X["x6"] = rng.choice(list("abc"), n_rows), rng.integers(0, 5, n_rows)
    return X.assign(y=y + rng.normal(size=n_rows))


def fit_collection(selector, table):
    frame = dd.from_pandas(table, npartitions=3)
    return selector.fit(frame[[name for name in table.columns if name != "y"]], frame["y"])


def fit_in_memory(selector, table):
    with joblib.parallel_config(backend="dask"):
        return selector.fit(table.drop(columns="y"), table.y)


def fingerprint(indices):
    """All bits of a result."""
    steps = [step.explained.tobytes() for step in indices.path.steps]
    return indices.kept, indices.values.tobytes(), indices.standard_errors.tobytes(), indices.p_values.tobytes(), steps


if __name__ == "__main__":
    sys.exit(main())
