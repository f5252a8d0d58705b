"""Forward steps on real clusters of processes on this machine: seconds, bytes moved and memory."""

import tempfile
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np
from distributed import Client, get_task_stream

from firstfactor._utils.threads import Workers
from firstfactor.cluster.client import Cluster
from firstfactor.cluster.search import ClusterSearch
from firstfactor.cluster.table import spread
from firstfactor.data.design import read_design
from tests.cluster.processes import Processes

from .sizes import count_bytes
from .tables import NEIGHBORS, choose_outer, draw

# Workers, rows, factors and steps. With more workers than cores, only what is moved is worth looking at.
RUNS = [(w, n, p, 5) for w in (1, 2) for n, p in ((20_000, 64), (20_000, 256), (50_000, 128), (100_000, 128))]
RUNS += [(2, 50_000, 192, 5), (2, 200_000, 128, 3)]
CROWDED = [(4, 20_000, 256, 4), (8, 20_000, 512, 4)]

N_TASKS = 1000


def measure(say):
    """Records of all runs, and of what a task and a byte cost on this machine."""
    runs, costs = [], {}
    for n_workers in (1, 2, 4, 8):
        with tempfile.TemporaryDirectory() as folder:
            processes = Processes(folder, n_workers)
            try:
                with Client(processes.address, timeout=60) as client:
                    client.wait_for_workers(n_workers, timeout=60)
                    if n_workers <= 2:
                        _warm_up(client)
                    if n_workers == 2:
                        costs = measure_costs(client)
                        say(costs)
                    for case in [*RUNS, *CROWDED]:
                        if case[0] == n_workers:
                            runs.append(run(client, *case))
                            say(runs[-1])
            finally:
                processes.close()
    return {"runs": runs, "costs": costs}


def _warm_up(client):
    """Let every worker load the kernels."""
    for n_rows, n_factors, n_steps in ((2000, 16, 4), (100_000, 8, 2)):
        for _ in client.scheduler_info()["workers"]:
            run(client, 0, n_rows, n_factors * len(client.scheduler_info()["workers"]), n_steps)


def make_search(cluster, n_rows, n_factors, n_outer=None):
    """A search in a table that is sent to the cluster."""
    X, y = draw(n_rows, n_factors)
    design = spread(read_design(X), cluster)
    return ClusterSearch(design, y, choose_outer(n_rows, n_outer), NEIGHBORS, Workers(1))


def run(client, n_workers, n_rows, n_factors, n_steps):
    """One run: the wall seconds of each step, what its tasks took, what workers sent each other, and their memory."""
    cluster = Cluster(client)
    search = make_search(cluster, n_rows, n_factors)
    record = {"workers": n_workers, "N": n_rows, "p": n_factors}
    _moved(client)
    times, moved, busy = [time.perf_counter()], [], _busy(client)
    before = client.run(_forget_peak)
    with get_task_stream(client) as stream:
        for k in range(n_steps):
            search.plus_each(tuple(range(k)), tuple(range(k, n_factors)))
            times.append(time.perf_counter())
            moved.append(_moved(client))
    peaks = client.run(_read_memory, "VmHWM:")
    record["steps"] = [b - a for a, b in pairwise(times)]
    record["moved"] = moved
    record["processor"] = _busy(client) - busy
    record["tasks"] = _by_kind(stream.data)
    record["held"] = max(client.run(_held).values())
    record["believed"] = max(client.run(_believed).values())
    record["peak"] = max(peaks[worker] - before[worker] for worker in peaks)
    search.close()
    return record


def _busy(client):
    """The processor seconds that all workers have used."""
    return sum(client.run(time.process_time).values())


def _by_kind(stream):
    """For each kind of task how many there were, and the seconds of all together and of the longest."""
    found = defaultdict(list)
    for task in stream:
        for part in task["startstops"]:
            kind = kind_of(task["key"]) if part["action"] == "compute" else part["action"]
            found[kind].append(part["stop"] - part["start"])
    return {kind: [len(some), sum(some), max(some)] for kind, some in sorted(found.items())}


def kind_of(key):
    """What a task does, and in which step: the name of a task without its block."""
    words = key.split("-")[0].split()
    if words[0] == "step":
        return f"{words[2]} {int(words[1]) - 1}"
    return " ".join(words[:2]) if words[0] != "take" else "take factor"


def _moved(client):
    """The bytes on the wire that workers have sent since this was asked last: Dask itself does not count all."""
    return sum(client.run(_read_sent).values())


def _read_sent(dask_worker):
    sent = sum(each["compressed"] for each in dask_worker.transfer_outgoing_log)
    dask_worker.transfer_outgoing_log.clear()
    return sent


def _held(dask_worker):
    return count_bytes(dict(dask_worker.data))


def _believed(dask_worker):
    """The bytes that Dask thinks it holds."""
    return sum(task.get_nbytes() for task in dask_worker.state.tasks.values() if task.key in dask_worker.data)


def _forget_peak():
    """The bytes that a process uses now; the most that it used is forgotten."""
    Path("/proc/self/clear_refs").write_text("5")
    return _read_memory("VmRSS:")


def _read_memory(field):
    status = Path("/proc/self/status").read_text().split()
    return 1024 * int(status[status.index(field) + 1])


def measure_costs(client):
    """Seconds for a task that does nothing, and to send a column and a large array to two workers."""
    cluster = Cluster(client)
    start = time.perf_counter()
    cluster.compute(lambda: [cluster.submit("nothing", int) for _ in range(N_TASKS)])
    task = (time.perf_counter() - start) / N_TASKS
    return {"task": task} | {
        name: median(_broadcast(cluster, np.zeros(size // 8)) for _ in range(5))
        for name, size in (("column", 1_600_000), ("block", 102_400_000))
    }


def _broadcast(cluster, values):
    """Seconds to send values to all workers."""
    start = time.perf_counter()
    sent = cluster.share(values)
    cluster.compute(lambda: [cluster.submit("look", len, sent.future, worker=worker) for worker in cluster.workers])
    taken = time.perf_counter() - start
    cluster.release()
    return taken
