"""A Dask cluster of processes on this machine, any of which can be killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


class Processes:
    """A scheduler and some workers with one thread each."""

    def __init__(self, folder, n_workers=2):
        self._file = Path(folder) / f"scheduler-{os.getpid()}-{time.monotonic_ns()}.json"
        self._folder = folder
        self.scheduler = self._start("dask_scheduler", "--port", "0", "--no-dashboard", "--no-jupyter")
        while not self._file.exists():
            assert self.scheduler.poll() is None, "the scheduler did not start"
            time.sleep(0.02)
        self.workers = []
        for _ in range(n_workers):
            self.add_worker()

    @property
    def address(self):
        """Where the scheduler is."""
        return json.loads(self._file.read_text())["address"]

    def add_worker(self):
        """Start one more worker."""
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self._folder))
        self.workers.append(self._start("dask_worker", *options))

    def kill_worker(self, number):
        """Kill one of the workers, and start another in its place."""
        victim = self.workers.pop(number % len(self.workers))
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
        self.add_worker()

    def close(self):
        """Kill all."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _start(self, name, *options):
        command = [sys.executable, "-m", f"distributed.cli.{name}", "--host", "127.0.0.1"]
        command += ["--scheduler-file", str(self._file), *options]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, **quiet)
