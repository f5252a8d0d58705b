"""The command as a process of its own: it leaves out what only matters to others in a process."""

import atexit
import contextlib
import gc
import os
import signal
import sys

# How many objects are made between two searches for unreachable ones. What is imported makes 200,000, most of which
# stay: with Python's own number, 700, they are looked at again and again, which takes a tenth of a second.
RARELY = 200_000

INTERRUPTED = 130


def main() -> None:
    """Run the command, and end the process with its exit code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not if it is ignored
        # As long as nothing was begun, and once all is done, there is nothing to put in order, or to say.
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    gc.set_threshold(RARELY)
    from .main import main as run

    try:
        run()
    except SystemExit as end:
        if not isinstance(end.code, int) or sys.getprofile() or sys.gettrace():
            raise  # there is a message to print, or somebody measures this process
        leave(end.code)


def leave(status: int) -> None:
    """End the process without freeing one by one what the system frees as a whole: a tenth of a second.

    What was registered to be done at the end is done, such as removing temporary files.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # closed by who read it
            stream.flush()
    os._exit(status)
