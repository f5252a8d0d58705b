"""The command ``firstfactor``: how it starts and ends."""

import atexit
import os
import signal
import sys

from .interrupts import INTERRUPTED, INTERRUPTS

TERMINATED = 143


def main() -> None:
    """Run the command and exit as terminal programs do."""
    # An exit, where the default is to die on the spot and leave temporary files behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not if it is ignored
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_DFL)  # what is left then is for Python to free
    # Who closes an output wants to see nothing of it.
    sys.stdout, sys.stderr = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))  # noqa: SIM115
    _forget_impossible_sizes()
    sys.exit(_main())


def _forget_impossible_sizes() -> None:
    """Let a terminal be as wide as it is where a variable gives it no width: other packages would believe it."""
    for name in ("COLUMNS", "LINES"):
        size = os.environ.get(name, "")
        if not (size.isdecimal() and len(size) < 6 and int(size)):
            os.environ.pop(name, None)


def _main() -> int | str | None:
    """Do what was typed; return the exit code, or the message of a process that fails."""
    status: int | str | None
    try:
        with INTERRUPTS:
            from .commands import app  # takes a while, in which Ctrl-C is heard

            status = app(standalone_mode=False) or 0  # of Ctrl-C, typer makes its code
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
    """Forget what could not be written: Python would try once more when it ends, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
