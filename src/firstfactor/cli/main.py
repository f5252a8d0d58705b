"""Start and end of the command ``firstfactor``."""

import atexit
import os
import signal
import sys

from .interrupts import INTERRUPTED, INTERRUPTS

TERMINATED = 143


def main() -> None:
    """Run the command and exit with the usual codes of terminal programs."""
    # Exit in order: the default action would end the process at once and leave temporary files behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not if it is ignored
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_DFL)  # what is left then is for Python to free
    # A stream that the caller has closed is None: write to the null device instead.
    sys.stdout, sys.stderr = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))  # noqa: SIM115
    _forget_impossible_sizes()
    sys.exit(_main())


def _forget_impossible_sizes() -> None:
    """Remove invalid sizes of the terminal from the environment, because other packages would use them."""
    for name in ("COLUMNS", "LINES"):
        size = os.environ.get(name, "")
        if not (size.isdecimal() and len(size) < 6 and int(size)):
            os.environ.pop(name, None)


def _main() -> int | str | None:
    """Run the command line; return the exit code, or the message of a process that fails."""
    status: int | str | None
    try:
        with INTERRUPTS:
            from .commands import app  # takes a while, during which Ctrl-C works

            status = app(standalone_mode=False) or 0  # typer turns Ctrl-C into its exit code
            if status == 0:
                sys.stdout.flush()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BaseException as error:
        from .errors import exit_status

        status = exit_status(error)
    if status == INTERRUPTED:
        print("interrupted", file=sys.stderr)
    _drop_unwritten_output()
    return status


def _drop_unwritten_output() -> None:
    """Discard output that could not be written: Python would try again at exit and print an error."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
