"""Python code in a process of its own: run to the end, or interrupted on the way."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path


def run_script(code, **environment):
    """Return what the code printed."""
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
    with subprocess.Popen(_command(code), env=_with_source({}), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        assert process.stdout.readline() == "stopped\n"
        elapsed = time.monotonic() - start
        assert process.wait(timeout=20) == 0
    return elapsed


def _command(code):
    return [sys.executable, "-c", textwrap.dedent(code)]


def _with_source(environment):
    """Return an environment in which this package and these tests can be imported."""
    paths = [str(Path(__file__).parent), *filter(None, sys.path)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment}
