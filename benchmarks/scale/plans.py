"""Recorded tasks with the model's seconds and bytes: on small clusters, which were measured, and on large ones."""

from dataclasses import replace
from functools import cache

from .graph import record
from .simulator import Machines, Trouble, simulate

record_once = cache(record)

# What is predicted: a large table on large machines.
ROWS, FACTORS, SELECTED = 10**9, 10**4, 10
MACHINES, THREADS, NETWORK, STORAGE = 100, 32, 10e9 / 8, 1e9
COPYING = 1e9  # bytes a second of a thread
WEEK = 7 * 24 * 3600


class Costs:
    """Seconds and bytes of tasks for one table; see `simulate`."""

    def __init__(self, model, n_rows, n_outer=None, sending=NETWORK, threads=()):
        """Values that the client sends go out at so many bytes a second; some kinds of tasks may have more threads."""
        self.model, self.n_rows, self.n_outer, self.sending = model, n_rows, n_outer or n_rows, sending
        self.threads = dict(threads)

    def seconds(self, task):
        """Of a task."""
        return self._by_one_thread(task) / self.threads.get(task.kind, 1)

    def _by_one_thread(self, task):
        n, outer, model = self.n_rows, self.n_outer, self.model
        if task.kind == "describe":
            return model.describing(n, task.width)
        if task.kind == "prepare":
            return model.preparing(n, task.base, task.width)
        if task.kind == "run_part":
            return model.searching(n, task.base, task.width, outer) / task.parts
        if task.kind == "search_set":
            return model.searching_set(n, task.base, outer)
        if task.kind == "read_block":
            return self.bytes(task) / STORAGE
        if task.kind.startswith("send "):
            return self.bytes(task) / self.sending
        return self.bytes(task) / COPYING

    def bytes(self, task):
        """Of its result."""
        n, outer, model = self.n_rows, self.n_outer, self.model
        if task.kind in ("read_block", "send Placed"):
            return model.block_bytes(n, task.width)
        if task.kind == "send Space":
            return model.space_bytes(n, outer)
        if task.kind == "take_factor":
            return 8.0 * n
        if task.kind == "prepare":  # it holds the block that it was made of, too
            return model.prepared_bytes(n, task.base, task.width, outer) + model.block_bytes(n, task.width)
        return 0.0


def from_files(tasks):
    """The same, with blocks that workers read from files instead of getting them from the client."""
    return [replace(task, kind="read_block") if task.kind == "send Placed" else task for task in tasks]


def validate(model, measured):
    """Wall seconds of runs on one and two workers, and processor seconds: each measured and predicted."""
    costs = measured["costs"]
    for run in measured["runs"]:
        if run["workers"] > 2:
            continue
        tasks = record_once(run["workers"], 1, run["p"], len(run["steps"]))
        bandwidth = 102_400_000 / costs["block"]
        machines = Machines(run["workers"], 1, bandwidth, costs["task"])
        price = Costs(model, run["N"], sending=bandwidth)
        predicted = simulate(tasks, price.seconds, price.bytes, machines)
        first = 1 + max(task.round for task in tasks if task.kind == "facts_of")  # the table was sent before
        wall = predicted.seconds - predicted.ends[first - 1]
        yield run, sum(run["steps"]), wall, run["processor"], predicted.busy


SCENARIOS = {
    "nothing goes wrong": {},
    "5 % of tasks take 3 times as long": {"slow_tasks": 0.05},
    "one machine is 2 times as slow": {"slow_machine": 2.0},
    "each machine is lost once a week": {"losses": 1 / WEEK},
    "each machine is lost once a day": {"losses": 7 / WEEK},
}

# Whether workers forget copies, and threads of a machine that would share a task which is done by one now.
CHANGES = {
    "if copies were dropped between steps": (True, {}),
    "as it is": (False, {}),
    "columns sorted by 16 threads": (False, {"describe": 16}),
    "and trees built and values gathered by 16": (False, {"describe": 16, "prepare": 16}),
    "and a set of elimination by 32": (False, {"describe": 16, "prepare": 16, "search_set": 32}),
}


def predict(model, n_rows, n_outer, trouble=None, forgets=False, threads=()):
    """A run of the large table, and its tasks."""
    tasks = from_files(record_once(MACHINES, THREADS, FACTORS, SELECTED, True))
    costs = Costs(model, n_rows, n_outer, threads=threads)
    machines = Machines(MACHINES, THREADS, NETWORK, 1e-3, forgets=forgets)
    return simulate(tasks, costs.seconds, costs.bytes, machines, Trouble(**(trouble or {}))), tasks


def memory(model, n_rows, n_outer):
    """Bytes on the machine with most blocks, by what they are, and the most at a time.

    Where candidates are searched by themselves, every thread has a tree of its own; what was prepared is gone by then.
    """
    n_outer = n_outer or n_rows
    n_blocks = -(-FACTORS // 64)
    blocks, width = -(-n_blocks // MACHINES), -(-FACTORS // n_blocks)
    alone = [d for d in range(1, SELECTED) if model.way(n_rows, d, width, n_outer) == "alone"]
    found = {
        "its blocks": blocks * model.block_bytes(n_rows, width),
        "y and outer rows": model.space_bytes(n_rows, n_outer),
        "selected factors": 8.0 * n_rows * SELECTED,
    }
    prepared = blocks * model.prepared_bytes(n_rows, SELECTED - 1, width, n_outer)
    trees = THREADS * model.weight(n_rows, 1, max(alone) + 1) if alone else 0.0
    most = sum(found.values()) + max(prepared, trees)
    return found | {"prepared steps": prepared, "or trees of single candidates": trees, "at most": most}
