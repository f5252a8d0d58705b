"""Child processes that run cases one at a time, are replaced when they end, and are ended when they take too long."""

import dataclasses
import json
import os
import queue
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from .classify import Outcome, tabulate
from .worker import READY

ROOT = Path(__file__).parents[2]
WORKER = (sys.executable, "-m", "tests.fuzz.worker")

# Seconds for one case, and for a child to start; the first one may have to compile.
LIMIT, START_LIMIT = 120, 300

# An environment in which kernels check every index. They are not compiled again for it where they are cached, so the
# cache is another one.
CHECKED = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(Path(tempfile.gettempdir(), "firstfactor-boundscheck"))}


class Child:
    """A process that answers one case after the other."""

    def __init__(self, limit=LIMIT, command=WORKER, environment=None):
        self._limit, self._command, self._environment = limit, command, environment or {}
        self._process = None
        self._before = []
        """The cases that this process has run; one that writes where it must not may crash a later one."""

    def run(self, name):
        """Return how a case ended, crashes and cases without an end included."""
        if self._process is None:
            self._start()
        self._before.append(name)
        try:
            self._process.stdin.write(f"{name}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:  # it ended after its last answer, which is a failure too
            return self._ended()
        line = self._read_line(self._limit)
        if line is None:
            return self._took_too_long()
        return Outcome(**json.loads(line)) if line else self._ended()

    def close(self):
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process.stdin.close()
            self._process.stdout.close()
            self._errors.close()
            self._process = None

    def _start(self):
        paths = [str(ROOT), *filter(None, sys.path)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **self._environment}
        self._before.clear()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=ROOT,
            env=environment,
        )
        if self._read_line(START_LIMIT) != f"{READY}\n".encode():
            told = self._told()
            self.close()
            raise RuntimeError(f"the child process does not start: {told}")

    def _read_line(self, seconds):
        """Return the next line, nothing if the process has ended, and None if there is none in time."""
        deadline = time.monotonic() + seconds
        line = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not selector.select(max(deadline - time.monotonic(), 0)):
                    return None
                part = os.read(self._process.stdout.fileno(), 2**16)
                if not part:
                    return b""
                line += part
        return line

    def _ended(self):
        status = self._process.wait()
        how = signal.Signals(-status).name if status < 0 else f"exit code {status}"
        return self._failure(f"crash: {how}")

    def _took_too_long(self):
        self._process.send_signal(signal.SIGABRT)  # the fault handler says where it is
        self._process.wait()
        return self._failure(f"no end within {self._limit} s")

    def _failure(self, what):
        """Return what the process told last, and end it."""
        told = f"{self._told()}\nRun by this process: {' '.join(self._before[-50:])}"
        frames = [line.split('"')[1:] for line in told.splitlines() if "/firstfactor/" in line and '"' in line]
        where = " < ".join(f"{Path(path).name}:{rest.split()[-1]}" for path, rest, *_ in frames[:2])
        self.close()
        return Outcome("failure", what, where, told)

    def _told(self):
        self._errors.seek(0)
        told = self._errors.read().decode(errors="replace")
        return told.partition("\nExtension modules: ")[0][-4000:]  # with which the fault handler ends


@dataclasses.dataclass
class Run:
    """Many cases, shared out among child processes."""

    workers: int = 1
    limit: float = LIMIT
    command: tuple = WORKER
    environment: dict | None = None
    outcomes: dict = dataclasses.field(default_factory=dict)
    """How each case ended, by its name."""

    def run(self, names, seconds=float("inf"), progress=lambda run: None):
        """Run cases in the order given until they or the time are at an end."""
        deadline = time.monotonic() + seconds
        names, lock, errors = iter(names), threading.Lock(), queue.SimpleQueue()

        def work():
            child = Child(self.limit, self.command, self.environment)
            try:
                while time.monotonic() < deadline and errors.empty():
                    with lock:
                        name = next(names, None)
                    if name is None:
                        return
                    self.outcomes[name] = child.run(name)
                    progress(self)
            except Exception as error:
                errors.put(error)
            finally:
                child.close()

        threads = [threading.Thread(target=work) for _ in range(self.workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if not errors.empty():
            raise errors.get()
        return self

    @property
    def failures(self):
        """The cases that ended in neither of the two ways that are allowed."""
        return {name: outcome for name, outcome in self.outcomes.items() if outcome.kind == "failure"}

    def summary(self):
        """Return the number of outcomes of each kind and message, then failures by cause with some of their cases."""
        lines = tabulate(self.outcomes.values())
        causes = {}
        for name, outcome in self.failures.items():
            causes.setdefault(outcome.template, []).append((name, outcome))
        for template, found in sorted(causes.items(), key=lambda item: -len(item[1])):
            lines += ["", f"{len(found)} × {template}", f"    {found[0][1].what.splitlines()[0][:300]}"]
            lines += [f"    python -m tests.fuzz --replay {name}" for name, _ in found[:3]]
        return "\n".join(lines)
