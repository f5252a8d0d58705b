"""Errors in one line, in the words of what a person types, and the exit codes that go with them."""

import contextlib
import errno
import re
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import typer

from .._utils.text import printable, without_controls
from .options import as_typed

WRONG_INPUT, INTERRUPTED, PIPE_CLOSED, TERMINATED, BUG = 2, 130, 141, 143, 1

# What differs between the library and the command line beyond the names of parameters.
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


@contextlib.contextmanager
def exit_on_error(debug: bool) -> Iterator[None]:
    """Turn errors into one line and an exit code; with ``debug``, show where they come from as well."""
    try:
        yield
    except (KeyboardInterrupt, BrokenPipeError, typer.Exit):
        raise
    except Exception as error:
        if debug:
            for line in traceback.format_exc().splitlines():
                print(without_controls(line), file=sys.stderr)
        expected = isinstance(error, (ValueError, TypeError, OSError, ImportError, MemoryError))
        complain(_in_options(error) if expected else f"{type(error).__name__}: {error} (--debug shows where)")
        raise typer.Exit(WRONG_INPUT if expected else BUG) from None


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


def complain_of_usage(error: Any) -> None:
    """Tell what was wrong with what was typed; where nothing was, the message is the help."""
    message = error.format_message().replace("Value error, ", "")
    if message.startswith("Usage:"):
        print(message, file=sys.stderr)
    else:
        context = getattr(error, "ctx", None)
        complain(f"{message} See: {context.command_path if context else 'firstfactor'} --help")
