"""One-line error messages in the notation of the command line, and exit codes."""

import contextlib
import errno
import re
import sys
import traceback
from collections.abc import Iterator
from typing import Any

from .._utils.text import printable, without_controls
from ..parameters import RANK, find
from .interrupts import INTERRUPTS

WRONG_INPUT, PIPE_CLOSED, BUG = 2, 141, 1

STANDARD_OUTPUT = "standard output"

# Errors due to the input; all others are bugs.
EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError)

_NAME = rf"({'|'.join(RANK)}|target)"

# Messages on these may be about one of their entries rather than the whole value.
_OF_COLUMNS = "(period|scale|factor_groups|forced|output_weights)"

# Parameters as messages of the library write them, and the options to type instead.
_AS_TYPED: tuple[tuple[str, str], ...] = (
    (r"[Uu]se scale=True", "leave out --no-scale"),
    (r"scale=False", "--no-scale"),
    (rf'\b{_NAME}="([^"]*)"', r"--\1 \2"),
    (rf"\b{_NAME}=('[^']*'(?:\"'\"'[^']*')*)", r"--\1 \2"),
    (rf"\b{_NAME}=(?![\w\"'=])", r"--\1"),
    (rf"^{_NAME}(?=: | must )", r"--\1"),
    (rf"^{_OF_COLUMNS}(?= of | is )", r"--\1"),
)

# Other differences between messages of the library and the command line.
_REWORDED = (
    (r"\bn_neighbors\b", "--n-neighbors"),
    (r"\bn_outer\b", "--n-outer"),
    (r"\bn_jobs\b", "--jobs"),
    (r"\bsample_weight\b", "--weight"),
    (r"\brandom_state\b", "--seed"),
    (r" of X\b", ""),
    (r" \(y == label\)", ""),
    (r"must be None(,| or) ", "must be "),
    (r"(?<!['\"\w.])y(?!['\"\w]|\.\w)", "the target"),
)


def as_typed(text: str) -> str:
    """Rewrite a sentence about parameters in the notation of the command line."""
    for pattern, option in _AS_TYPED:
        text = re.sub(pattern, option, text)
    return re.sub(rf"--{_NAME}\b", lambda option: f"--{dashed(option[1])}", text)


def dashed(name: str) -> str:
    """Return the name of a parameter as it is typed."""
    return name if name == "target" else find(name).metadata["option"] or name.replace("_", "-")


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
    message = as_typed(message)
    for pattern, words in _REWORDED:
        message = re.sub(pattern, words, message)
    return message


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
