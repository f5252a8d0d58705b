"""Python code in a process of its own: run to the end, or interrupted on the way."""

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path


def run_script(code, **environment):
    """Return what the code printed.

    Where kernels are not compiled, coverage counts their lines, with the settings that UNCOMPILED_COVERAGE names.
    """
    if "NUMBA_DISABLE_JIT" in environment:
        environment["COVERAGE_PROCESS_START"] = os.environ.get("UNCOMPILED_COVERAGE", "")
    run = subprocess.run(_command(code), env=_with_source(environment), capture_output=True, text=True, check=True)
    return run.stdout


def seconds_to_stop(call, before):
    """Run ``before`` and then ``call``, press Ctrl-C a second later and return how long it goes on."""
    code = textwrap.dedent(before) + textwrap.dedent(f"""
        print("ready", flush=True)
        try:
            {call}
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """)
    environment = _with_source({"PYTHONFAULTHANDLER": "1"})  # where it was when it crashed, if it does
    with (
        tempfile.TemporaryFile("w+") as complaints,
        subprocess.Popen(
            _command(code), env=environment, stdout=subprocess.PIPE, stderr=complaints, text=True
        ) as process,
    ):

        def ending():
            """How the process ended, and what it said of that."""
            process.stdout.read()  # to the end, after which there is a code
            code = process.wait(timeout=20)
            complaints.seek(0)
            return f"exit code {code}; standard error:\n{complaints.read()}"

        line = process.stdout.readline()
        assert line == "ready\n", ending()
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        line = process.stdout.readline()
        elapsed = time.monotonic() - start
        assert line == "stopped\n", ending()
        assert process.wait(timeout=20) == 0, ending()
    return elapsed


def fit_bytes(X, y):
    """Return the importances that two threads find, to the last bit."""
    from firstfactor import FIRST

    return FIRST(n_jobs=2).fit(X, y).importances_.tobytes()


def _command(code):
    return [sys.executable, "-c", textwrap.dedent(code)]


def _with_source(environment):
    """Return an environment in which this package and these tests can be imported."""
    paths = [str(Path(__file__).parent), *filter(None, sys.path)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment}
