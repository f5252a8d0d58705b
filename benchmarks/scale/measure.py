"""Measure single tasks in this process, and forward steps on clusters of processes on this machine.

Tasks are measured on tables that are larger than a small cluster could hold. Of the searches only some parts are done:
what a row takes does not depend on how many are searched. Seconds are those of the processor, which other work on the
machine changes less. Of clusters, seconds, bytes moved and memory are measured.
"""

import tempfile
import time
import tracemalloc
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from types import MethodType

import numpy as np
from distributed import Client

from firstfactor._utils.threads import Workers
from firstfactor.cluster import tasks
from firstfactor.cluster.client import Cluster
from firstfactor.cluster.search import ClusterSearch
from firstfactor.cluster.table import spread
from firstfactor.cluster.tasks import Placed, Space
from firstfactor.data.design import build_design, join_designs
from firstfactor.data.encoding import encode_table
from firstfactor.neighbors.candidate_search import SortedColumnSearch
from firstfactor.neighbors.kernels.ball_variance import ball_variances
from firstfactor.neighbors.search import Columns
from tests.cluster.processes import Processes

NEIGHBORS = 3


def draw(n_rows, n_factors, seed=0):
    """Independent uniform factors, and y, which nothing depends on but the answer: (rows, factors), (rows, 1)."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_factors))
    return X, 10 * np.sin(np.pi * X[:, :1]) + rng.normal(size=(n_rows, 1))


def choose_outer(n_rows, n_outer):
    """The rows that are averaged over, increasing: all if ``n_outer`` is None."""
    if n_outer is None:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(1).choice(n_rows, n_outer, replace=False))


def place(n_rows, n_base, n_candidates, n_outer=None):
    """A block with candidates, base factors one by one, what a search needs to know, and what is known of columns."""
    X, y = draw(n_rows, n_base + n_candidates)
    design, p = build_design(encode_table(X)), n_base + n_candidates
    candidates = tuple(range(n_base, p))
    block = Placed(design.on_factors(candidates), candidates)
    base = [Placed(design.on_factors([i]), (i,)) for i in range(n_base)]
    space = Space(y, choose_outer(n_rows, n_outer), NEIGHBORS, None, None)
    known = Columns(np.ones(p), np.full(p, float(n_rows)), np.full(p, np.inf), {})
    return block, base, space, known


def count_bytes(value, seen=None):
    """The bytes of all arrays in a value, wherever in it they are, each once."""
    seen = set() if seen is None else seen
    while isinstance(value, np.ndarray) and isinstance(value.base, np.ndarray):
        value = value.base
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(count_bytes(each, seen) for each in _inside(value))


def _inside(value):
    """What a value is made of."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, partial):
        return [value.func, *value.args]
    if isinstance(value, MethodType):
        return [value.__self__]
    is_own = type(value).__module__.startswith("firstfactor")
    return list(vars(value).values()) if is_own and hasattr(value, "__dict__") else []


# --- single tasks --------------------------------------------------------------------------------------

FEW = 2000  # rows that are searched of a step, and outer rows where these are few

# Rows, factors in the base and candidates. What is held out is not used to fit the model.
BASES = (1, 2, 3, 4, 6, 9)
SIZES = ((20_000, 64), (50_000, 64), (200_000, 16), (200_000, 64), (1_000_000, 16), (1_000_000, 32))
STEPS = [(n, d, c) for d in BASES for n, c in SIZES]
STEPS_HELD_OUT = [(n, d, c) for n, c in ((100_000, 32), (2_000_000, 16)) for d in (1, 2, 4, 9)]
SETS = [(n, d) for n in (20_000, 50_000, 200_000, 1_000_000) for d in (2, 3, 5, 7, 10)]
SETS_HELD_OUT = [(n, d) for n in (100_000, 2_000_000) for d in (2, 5, 10)]
WEIGHTS, WEIGHTS_HELD_OUT = [(n, d) for n in (50_000, 100_000) for d in (2, 4, 6)], [(200_000, 3)]
COLUMNS, COLUMNS_HELD_OUT = [(n, 16) for n in (20_000, 100_000, 500_000)], [(200_000, 64), (2_000_000, 8)]


def measure_kernels(say):
    """Records of all tasks that were timed."""
    _load_kernels()
    records = []
    for is_held_out in (False, True):
        steps, sets, columns = (
            (STEPS_HELD_OUT, SETS_HELD_OUT, COLUMNS_HELD_OUT) if is_held_out else (STEPS, SETS, COLUMNS)
        )
        calls = [(time_step, (*case, n_outer)) for case in steps for n_outer in (None, FEW)]
        calls += [(time_set, case) for case in sets] + [(time_columns, case) for case in columns]
        calls += [(weigh_set, case) for case in (WEIGHTS_HELD_OUT if is_held_out else WEIGHTS)]
        for function, case in calls:
            records.append(function(*case) | {"held_out": is_held_out})
            say(records[-1])
    return records


def _load_kernels():
    """Load every kernel."""
    for case in ((1000, 1, 16, None), (4000, 1, 4, FEW), (100_000, 1, 16, None), (1000, 3, 16, None)):
        time_step(*case)
    time_columns(1000, 2)
    time_set(4000, 2)


def time_step(n_rows, n_base, n_candidates, n_outer):
    """The seconds to prepare a step, and for each row of the search."""
    block, base, space, known = place(n_rows, n_base, n_candidates, n_outer)
    prepared, taken = _time(tasks.prepare, block, base, space, known, block.factors)
    step = prepared.step
    record = {"kind": "step", "N": n_rows, "d": n_base, "c": n_candidates, "outer": n_outer, "prepare": taken}
    if step.shared is None:
        return record | {"way": "alone"}
    way = "sorted" if isinstance(step.shared, SortedColumnSearch) else "tree"
    n_tasks = len(step.shared.tasks())
    wanted = max(1, min(n_tasks, FEW * n_tasks // space.outer.size))
    searched = [_time(step.run, n_tasks // 2 + k, n_tasks)[1] for k in range(-(wanted // 2), wanted - wanted // 2)]
    rows = sum(step.shared.tasks()[n_tasks // 2 + k].size for k in range(-(wanted // 2), wanted - wanted // 2))
    return record | {
        "way": way,
        "row": sum(searched) / rows,
        "counted": float(step.shared.cost()),
        "bytes": count_bytes(prepared) - count_bytes((block, base, space, known)),
    }


def time_set(n_rows, n_factors):
    """The seconds to build the tree of a set, and for each row of the search where outer rows are all, or few.

    As `Search._find_balls` does it.
    """
    _, base, space, known = place(n_rows, n_factors, 1)
    search = space.search(join_designs([one.design for one in base]), known.of(range(n_factors)))
    permuted, building = _time(search.kd_tree, range(n_factors))
    points = search.unique_points(range(n_factors))
    about = [each[permuted.tree.order] for each in (points.count, points.mean, points.squares)]
    taken = {}
    for name, centres in (
        ("row", np.arange(n_rows // 2, n_rows // 2 + FEW)),
        ("row_few", np.arange(0, n_rows, n_rows // FEW)),
    ):
        arguments = (permuted.tree, permuted.caps, *about, None, centres, space.n_neighbors)
        taken[name] = _time(ball_variances, *arguments)[1] / centres.size
    return {"kind": "set", "N": n_rows, "d": n_factors, "build": building} | taken


def time_columns(n_rows, n_columns):
    """The seconds to sort some columns and search along each."""
    block, _, space, _ = place(n_rows, 0, n_columns)
    _, taken = _time(tasks.describe, block, space)
    return {"kind": "columns", "N": n_rows, "c": n_columns, "seconds": taken}


def weigh_set(n_rows, n_factors):
    """The most bytes that are taken to search a set by itself, besides what is given."""
    _, base, space, known = place(n_rows, n_factors, 1)
    tracemalloc.start()
    tasks.search_set(base, space, known)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"kind": "weight", "N": n_rows, "d": n_factors, "peak": peak}


def _time(function, *arguments):
    start = time.thread_time()
    result = function(*arguments)
    return result, time.thread_time() - start


# --- clusters ------------------------------------------------------------------------------------------

# Workers, rows, factors and steps. With more workers than cores, only what is moved is worth looking at.
RUNS = [(w, n, p, 5) for w in (1, 2) for n, p in ((20_000, 64), (20_000, 256), (50_000, 128), (100_000, 128))]
RUNS += [(2, 50_000, 192, 5), (2, 200_000, 128, 3)]
CROWDED = [(4, 20_000, 256, 4), (8, 20_000, 512, 4)]

N_TASKS = 1000


def measure_clusters(say):
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


def run(client, n_workers, n_rows, n_factors, n_steps):
    """One run: the wall seconds of each step, what workers sent each other, and their memory."""
    cluster = Cluster(client)
    X, y = draw(n_rows, n_factors)
    search = ClusterSearch(spread(build_design(encode_table(X)), cluster), y, np.arange(n_rows), NEIGHBORS, Workers(1))
    record = {"workers": n_workers, "N": n_rows, "p": n_factors}
    _moved(client)
    times, moved, busy = [time.perf_counter()], [], _busy(client)
    before = client.run(_forget_peak)
    for k in range(n_steps):
        search.plus_each(tuple(range(k)), tuple(range(k, n_factors)))
        times.append(time.perf_counter())
        moved.append(_moved(client))
    peaks = client.run(_read_memory, "VmHWM:")
    record["steps"] = [b - a for a, b in pairwise(times)]
    record["moved"] = moved
    record["processor"] = _busy(client) - busy
    record["held"] = max(client.run(_held).values())
    record["believed"] = max(client.run(_believed).values())
    record["peak"] = max(peaks[worker] - before[worker] for worker in peaks)
    search.close()
    return record


def _busy(client):
    """The processor seconds that all workers have used."""
    return sum(client.run(time.process_time).values())


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
