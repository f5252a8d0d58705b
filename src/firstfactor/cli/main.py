"""The command ``firstfactor``: how it starts and ends. What reads the options is imported where there are some."""

import os
import signal
import sys

from .errors import INTERRUPTED, PIPE_CLOSED, TERMINATED, WRONG_INPUT, complain, complain_of_usage
from .interrupts import INTERRUPTS
from .run import STANDARD_OUTPUT, rank_files


def main() -> None:
    """Run the command and exit as terminal programs do."""
    # An exit, where the default is to die on the spot and leave temporary files behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
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
            status = _run_typed(sys.argv[1:])
            if status == 0:
                sys.stdout.flush()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except SystemExit as end:
        status = PIPE_CLOSED if isinstance(end.__context__, BrokenPipeError) else end.code  # click makes it 1
    except BrokenPipeError:
        status = PIPE_CLOSED
    except OSError as error:
        complain(f"{STANDARD_OUTPUT}: {error.strerror}.")
        status = WRONG_INPUT
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        complain_of_usage(error)
        status = WRONG_INPUT
    if status == INTERRUPTED:
        print("interrupted", file=sys.stderr)
    _drop_unwritten_output()
    return status


def _run_typed(arguments: list[str]) -> int:
    """The exit code of what was typed."""
    match arguments:
        # The plainest call, on a small table: to import what reads all other options would take longer than its work.
        case ["rank", data, "--target" | "-t", target] if not (_may_mean_more(data) or _may_mean_more(target)):
            rank_files([data], target, {})
            return 0
    from .commands import app

    return app(standalone_mode=False) or 0


def _may_mean_more(text: str) -> bool:
    """Whether text may be an option, standard input or, on Windows, a pattern of file names."""
    return text.startswith("-") or sys.platform == "win32"


def _drop_unwritten_output() -> None:
    """Forget what could not be written: Python would try once more when it ends, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
