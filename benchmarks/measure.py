"""Seconds here, and seconds and memory in a process of its own."""

import json
import subprocess
import sys
import time
from statistics import median

THREADS = 2


def seconds(call, repeats=3, patience=20.0):
    """Return the median time of a call and its result.

    It is repeated, more often where that takes less than a second in all; not where one takes longer than ``patience``.
    """
    times = []
    while len(times) < repeats or (repeats > 1 and sum(times) < 1 and len(times) < 25):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
        if times[-1] > patience:
            break
    return median(times), result


CHILD = """
import json, sys, time
from pathlib import Path
import numpy as np
from firstfactor import FIRST
path, threads = sys.argv[1], int(sys.argv[2])
FIRST(n_jobs=threads).fit(np.random.default_rng(0).normal(size=(300, 3)), np.arange(300.0))
with np.load(path) as data:
    X, y = data["X"], data["y"]
def memory(field):
    status = Path("/proc/self/status").read_text().split()
    return 1024 * int(status[status.index(field) + 1])
Path("/proc/self/clear_refs").write_text("5")  # forget the peak of loading
before = memory("VmRSS:")
start = time.perf_counter()
FIRST(n_jobs=threads).fit(X, y)
taken = time.perf_counter() - start
print(json.dumps({"seconds": taken, "table": X.nbytes, "more": memory("VmHWM:") - before}))
"""


def in_child(path, threads=THREADS):
    """Fit a stored table in a new process; return seconds, bytes of the table and bytes needed beyond it."""
    run = subprocess.run([sys.executable, "-c", CHILD, path, str(threads)], check=True, capture_output=True)
    return json.loads(run.stdout)


def command_seconds(code, environment=None, repeats=3):
    """Return the median time of a new Python process that runs some code."""
    return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True, env=environment), repeats)[0]
