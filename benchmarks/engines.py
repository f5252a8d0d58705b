"""Dask, Ray and Spark at work of the shape that a search has: large data that stay on workers, small tasks on them.

python -m benchmarks.engines dask|ray|spark    # measures one engine; writes benchmarks/results/engines.json

Engines are optional; each needs its package (``distributed``, ``ray``, ``pyspark`` with Java) and psutil. All get two
workers with one core each on this machine.
"""

import argparse
import importlib.metadata
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np
import psutil

RESULTS = Path(__file__).parent / "results" / "engines.json"
PACKAGES = {"dask": "distributed", "ray": "ray", "spark": "pyspark"}
N_TASKS, COLUMN, BLOCK, USES = 1000, 200_000, 12_800_000, 20


def nothing(_=None):
    """Nothing."""


def get_pid():
    """The process that this is done in."""
    return os.getpid()


def total(values):
    """A number that needs all of an array."""
    return float(values[::4096].sum())


class DaskEngine:
    """A scheduler and two workers."""

    def __init__(self):
        from distributed import Client, LocalCluster

        self.cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
        self.client = Client(self.cluster)
        self.client.wait_for_workers(2)

    def tasks(self, count):
        """Do tasks that do nothing."""
        self.client.gather([self.client.submit(nothing, k, pure=False) for k in range(count)])

    def broadcast(self, values):
        """Send values to both workers, and use them there."""
        (sent,) = self.client.scatter([values], broadcast=True, hash=False)
        workers = list(self.client.scheduler_info()["workers"])
        self.client.gather([self.client.submit(total, sent, workers=[each], pure=False) for each in workers])

    def place(self, values):
        """Put values on a worker."""
        (self.block,) = self.client.scatter([values], hash=False)

    def use(self, count):
        """Use them in so many tasks."""
        self.client.gather([self.client.submit(total, self.block, pure=False) for _ in range(count)])

    def victim(self):
        """A process that does tasks."""
        return next(iter(self.client.run(os.getpid).values()))

    def ask(self):
        """Two tasks, one for each worker."""
        self.client.gather([self.client.submit(nothing, k, pure=False) for k in range(2)])

    def close(self):
        """Stop."""
        self.client.close()
        self.cluster.close()


class RayEngine:
    """A node with two cores."""

    def __init__(self):
        import ray

        self.ray = ray
        ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
        self.nothing, self.total = ray.remote(nothing), ray.remote(total)
        self.pid = ray.remote(get_pid)
        self.ask()

    def tasks(self, count):
        """Do tasks that do nothing."""
        self.ray.get([self.nothing.remote(k) for k in range(count)])

    def broadcast(self, values):
        """Share values, and use them in both workers."""
        sent = self.ray.put(values)
        self.ray.get([self.total.remote(sent) for _ in range(2)])

    def place(self, values):
        """Put values in the store of the node."""
        self.block = self.ray.put(values)

    def use(self, count):
        """Use them in so many tasks."""
        self.ray.get([self.total.remote(self.block) for _ in range(count)])

    def victim(self):
        """A process that does tasks."""
        return self.ray.get(self.pid.remote())

    def ask(self):
        """Two tasks."""
        self.ray.get([self.nothing.remote(k) for k in range(2)])

    def close(self):
        """Stop."""
        self.ray.shutdown()


class SparkEngine:
    """Two local cores; workers are Python processes beside Java."""

    def __init__(self):
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.driver.memory", "2g").config("spark.ui.showConsoleProgress", "false")
        self.session = builder.getOrCreate()
        self.context = self.session.sparkContext
        self.ask()

    def tasks(self, count):
        """Do tasks that do nothing."""
        self.context.parallelize(range(count), count).map(nothing).collect()

    def broadcast(self, values):
        """Share values, and use them in both workers."""
        sent = self.context.broadcast(values)
        self.context.parallelize(range(2), 2).map(lambda _: total(sent.value)).collect()

    def place(self, values):
        """Keep values as a partition of their own."""
        rows = self.context.parallelize([0], 1).map(lambda _, size=values.size: np.zeros(size))
        self.block = rows.cache()
        self.block.count()

    def use(self, count):
        """Use them in so many tasks, each a job: a partition has one task in a job."""
        for _ in range(count):
            self.block.map(total).collect()

    def victim(self):
        """A process that does tasks."""
        return self.context.parallelize(range(1), 1).map(lambda _: os.getpid()).collect()[0]

    def ask(self):
        """Two tasks."""
        self.context.parallelize(range(2), 2).map(nothing).collect()

    def close(self):
        """Stop."""
        self.session.stop()


ENGINES = {"dask": DaskEngine, "ray": RayEngine, "spark": SparkEngine}


def measure(name):
    """What one engine takes."""
    engine, starting = _time(ENGINES[name])
    found = {"version": importlib.metadata.version(PACKAGES[name]), "start": starting}
    found["memory"] = _memory()
    engine.tasks(10)
    found["task"] = _time(engine.tasks, N_TASKS)[1] / N_TASKS
    found["broadcast"] = median(_time(engine.broadcast, np.zeros(COLUMN))[1] for _ in range(5))
    found["place"] = _time(engine.place, np.zeros(BLOCK))[1]
    engine.use(1)
    found["use"] = _time(engine.use, USES)[1] / USES
    found["recovery"] = _recover(engine)
    engine.close()
    return found | {"packages": _installed(PACKAGES[name])}


def _time(call, *arguments):
    start = time.perf_counter()
    result = call(*arguments)
    return result, time.perf_counter() - start


def _memory():
    """The bytes of this process and of all that it started, shared pages divided by those who share them."""
    own = psutil.Process()
    return sum(process.memory_full_info().pss for process in (own, *own.children(recursive=True)))


def _recover(engine):
    """The seconds until tasks are done again after a worker was killed."""
    os.kill(engine.victim(), signal.SIGKILL)
    return _time(engine.ask)[1]


def _installed(package):
    """The bytes of a package and of all that it needs."""
    found, left = {}, [package]
    while left:
        name = re.sub(r"[-_.]+", "-", left.pop()).lower()
        if name in found:
            continue
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        files = (distribution.locate_file(each) for each in distribution.files or ())
        found[name] = sum(path.stat().st_size for path in map(Path, files) if path.exists())
        needed = (each for each in distribution.requires or () if "extra ==" not in each)
        left += [re.match(r"[\w.-]+", each)[0] for each in needed]
    return sum(found.values())


def main():
    """Measure one engine, and store what was found beside the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=ENGINES)
    engine = parser.parse_args().engine
    found = {key: float(f"{x:.4g}") if isinstance(x, float) else x for key, x in measure(engine).items()}
    if engine == "spark":
        java = subprocess.run(["java", "-version"], check=True, capture_output=True, text=True)
        found["java"] = java.stderr.split('"')[1]
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps(stored | {engine: found}, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
