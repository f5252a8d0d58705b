"""Seconds here, and time and memory in processes of their own."""

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median

THREADS = 2
ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
"""The code that is measured. Where tests run against a wheel it is not there, but the package is."""
if not SOURCE.exists():
    SOURCE = Path(find_spec("firstfactor").origin).parents[1]


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


class Side:
    """A process that does one task of `benchmarks.side` each time it is called.

    Parameters
    ----------
    task : str
        Its name there.
    table : path
        The pickled table.
    source : path
        The folder with the sources of firstfactor.
    threads : int
        How many threads it may use, those of BLAS and OpenMP among them.
    options : dict, optional
        Options of the task.
    warm_up : {"all", "head"}
        The rows of the table on which it is done once beforehand. Where memory is measured, these must be few: what
        was needed before is not needed again.
    """

    def __init__(self, task, table, source=SOURCE, threads=1, options=None, warm_up="all"):
        limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
        script = Path(__file__).with_name("side.py")
        self._process = subprocess.Popen(
            [sys.executable, script, task, table, str(threads), json.dumps(options or {}), warm_up],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **limits, "PYTHONPATH": str(source)},
        )
        self._read()  # sides do not warm up while others are measured

    def __call__(self):
        """Do the task once; return processor and wall time, memory and the answer."""
        print(file=self._process.stdin, flush=True)
        return self._read()

    def _read(self):
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{' '.join(map(str, self._process.args[2:]))} failed; what it says is above")
        return json.loads(answer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@contextmanager
def stored_table(table):
    """Pickle a table for the sides of a comparison; yield the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.pickle"
        path.write_bytes(pickle.dumps(table))
        yield path


def take_turns(sides, least, most=120.0):
    """Let sides take turns for ``least`` seconds; return what each measured.

    There are three turns or more, fewer only where they take longer than ``most``.
    """
    turns, start = [], time.perf_counter()
    while (spent := time.perf_counter() - start) < least or (len(turns) < 3 and spent < most):
        turns.append([side() for side in sides])
    return [list(each) for each in zip(*turns, strict=True)]


def command_seconds(code, environment=None, repeats=3):
    """Return the median time of a new Python process that runs some code."""
    return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True, env=environment), repeats)[0]
