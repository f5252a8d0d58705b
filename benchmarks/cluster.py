"""How long a fit takes on a local cluster against the same fit in memory, and how many bytes move in each step.

    python -m benchmarks.cluster [--rows 200000] [--factors 200]

The cluster has two workers, processes with one thread each; in memory, the fit has two threads. Both take turns.
Bytes are those that workers sent to each other and to the client, and those that the client sent to them.
"""

import argparse
import pickle
import tempfile
import warnings
from statistics import median

import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd

from benchmarks import data
from benchmarks.measure import THREADS, seconds
from firstfactor import FIRST
from firstfactor.cluster.client import Cluster
from tests.cluster.processes import Processes

warnings.simplefilter("ignore")

# So many times as long as in memory, at most.
LIMIT = 1.3


def main():
    """Print times and bytes, and whether the results are the same."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--factors", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        processes = Processes(folder, n_workers=THREADS)
        try:
            with distributed.Client(processes.address) as client:
                client.wait_for_workers(THREADS)
                compare(arguments, client)
        finally:
            processes.close()


def compare(arguments, client):
    """Fit here and there in turn, with each rule."""
    fit_both(data.friedman(3000, 130), "paper", 1)  # loads all kernels, here and there
    fit_both(data.friedman(3000, 130), "calibrated", 1)
    table = data.friedman(arguments.rows, arguments.factors)
    column = 8 * arguments.rows
    print(f"N = {arguments.rows:,}, p = {arguments.factors}; a column has {column / 1e6:.1f} MB")
    for rule in ("paper", "calibrated"):
        moved = Moved(client)
        here, there, same, steps = fit_both(table, rule, arguments.rounds, moved)
        verdict = "yes" if there <= LIMIT * here else "NO"
        print(
            f"{rule} rule: {here:.1f} s in memory, {there:.1f} s on the cluster, {there / here:.2f} × "
            f"(at most {LIMIT}: {verdict}); {'the same bits' if same else 'OTHER BITS'}"
        )
        for name, size in steps:
            print(f"  {name}: {size / 1e6:.1f} MB moved, {size / (column * THREADS):.1f} × N × workers")


class Moved:
    """Bytes that move, by what is being done."""

    def __init__(self, client):
        self._client = client

    def total(self):
        """Bytes sent by all workers so far."""
        return sum(self._client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())

    def by_step(self, fit):
        """The result of a fit, and the bytes that moved in each of its parts, in order."""
        parts, shared, before = {}, [], [self.total()]
        compute, share = Cluster.compute, Cluster.share

        def counting(cluster, submit):
            names = []

            def submit_and_name():
                futures = submit()
                first = next(iter(_flat(futures)), None)
                names.append("nothing" if first is None else first.key.split("-")[0])
                return futures

            found = compute(cluster, submit_and_name)
            now, sent = self.total(), sum(shared)
            shared.clear()
            name = _part(names[0])
            parts[name] = parts.get(name, 0) + now - before[0] + sent
            before[0] = now
            return found

        def counting_share(cluster, value, *more):
            shared.append(len(pickle.dumps(value, protocol=5)))
            return share(cluster, value, *more)

        Cluster.compute, Cluster.share = counting, counting_share
        try:
            return fit(), list(parts.items())
        finally:
            Cluster.compute, Cluster.share = compute, share


def _flat(futures):
    for each in futures if isinstance(futures, list) else [futures]:
        yield from _flat(each) if isinstance(each, list) else [each]


def _part(name):
    """What a task belongs to, without the number of its block."""
    words = name.split()
    if words[0] == "step":
        return " ".join(words[:2])
    return {"describe": "layout", "count": "layout", "sort": "columns by themselves"}.get(words[0], "estimates")


def fit_both(table, rule, rounds, moved=None):
    """Median seconds here and there, whether results are the same, and bytes by step."""
    X, y = table
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    names = list(frame.columns)
    lazy = dd.from_pandas(frame.assign(y=y), npartitions=8).persist()
    distributed.wait(lazy)
    selector, times, steps = FIRST(rule=rule, n_jobs=THREADS, random_state=0), ([], []), []
    for _ in range(rounds):
        times[0].append(seconds(lambda: selector.fit(frame, y), repeats=1)[0])
        here = selector.indices_
        times[1].append(seconds(lambda: selector.fit(lazy[names], lazy["y"]), repeats=1)[0])
        there = selector.indices_
    if moved is not None:
        _, steps = moved.by_step(lambda: selector.fit(lazy[names], lazy["y"]))
    same = here.kept == there.kept and np.array_equal(here.values, there.values)
    same = same and all(
        np.array_equal(a.explained, b.explained) for a, b in zip(here.path.steps, there.path.steps, strict=True)
    )
    return median(times[0]), median(times[1]), same, steps


if __name__ == "__main__":
    main()
