"""One-line error messages in the notation of the command line, and exit codes."""

import contextlib
import errno
import sys
import traceback
from collections.abc import Iterator
from typing import Any

from .._utils.checks import Mention, Message
from .._utils.text import printable, without_controls
from ..settings import RANK
from .interrupts import INTERRUPTS

WRONG_INPUT, PIPE_CLOSED, BUG = 2, 141, 1

STANDARD_OUTPUT = "standard output"

# Errors due to the input; all others are bugs.
EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError)

# Marked parts of messages that are no options, arguments whose options have other names, and what to do instead.
_ON_THE_COMMAND_LINE = {
    "X": "the table",
    " of X": "",
    "y": "the target",
    "None, ": "",
    "None or ": "",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "sample_weight": "--weight",
    "model_score": "--model-score",
    "scale=False": "--no-scale",
    "use scale=True": "leave out --no-scale",
    "Use scale=True": "Leave out --no-scale",
}


def as_typed(parameter: Mention) -> str:
    """Return a parameter that a message mentions as it is typed, with its value if it has one."""
    if str(parameter) in _ON_THE_COMMAND_LINE:
        return _ON_THE_COMMAND_LINE[str(parameter)]
    name, value = parameter
    option = f"--{dashed(name)}" if name in RANK or name == "target" else _ON_THE_COMMAND_LINE.get(name, name)
    return " ".join(filter(None, [option, (value or "").strip('"')]))


def dashed(name: str) -> str:
    """Return the name of a parameter as it is typed."""
    return name.replace("_", "-")


@contextlib.contextmanager
def exit_on_error(debug: bool) -> Iterator[None]:
    """Turn errors into one line and an exit code; with ``debug``, show where they come from as well."""
    try:
        yield
    except BrokenPipeError:
        raise
    except Exception as error:
        if INTERRUPTS.heard:
            raise KeyboardInterrupt from error
        if debug:
            for line in traceback.format_exc().splitlines():
                print(without_controls(line), file=sys.stderr)
        errors = error.exceptions if isinstance(error, ExceptionGroup) else (error,)
        complain(" ".join(map(_say, errors)))
        expected = all(isinstance(each, EXPECTED) for each in errors)
        raise SystemExit(WRONG_INPUT if expected else BUG) from None


def exit_status(error: BaseException) -> int | str | None:
    """Return the exit code for the exception that ended the command, and print an error that is not printed yet."""
    if isinstance(error, SystemExit):
        return PIPE_CLOSED if isinstance(error.__context__, BrokenPipeError) else error.code  # click makes it 1
    if isinstance(error, BrokenPipeError):
        return PIPE_CLOSED
    if isinstance(error, OSError):
        complain(f"{STANDARD_OUTPUT}: {error.strerror}.")
    elif hasattr(error, "format_message"):
        _complain_of_usage(error)
    else:
        raise error
    return WRONG_INPUT


def _say(error: Exception) -> str:
    if isinstance(error, EXPECTED):
        return _in_options(error)
    return f"{type(error).__name__}: {error} (--debug shows where)"


def _in_options(error: Exception) -> str:
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return "there is not enough memory. Use fewer rows (--sample) or columns (--factors)."
    message = f"{error.filename}: {error.strerror}." if isinstance(error, OSError) and error.filename else str(error)
    if isinstance(error, ModuleNotFoundError):
        package = (error.name or message).partition(".")[0]
        return f"the command firstfactor needs {package}: pip install 'firstfactor[cli]'"
    if isinstance(error, ImportError):
        return message
    return error.render(as_typed) if isinstance(error, Message) else message


def complain(message: str) -> None:
    """Print an error in one line."""
    print("error:", printable(message), file=sys.stderr)


def _complain_of_usage(error: Any) -> None:
    """Print what is wrong with the arguments; without any arguments, the message is the help."""
    message = error.format_message().replace("Value error, ", "")
    if message.startswith("Usage:"):
        print(message, file=sys.stderr)
    else:
        context = getattr(error, "ctx", None)
        complain(f"{message} See: {context.command_path if context else 'firstfactor'} --help")
