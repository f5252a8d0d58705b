"""Errors in one line, in the words of what a person types, and the exit codes that go with them."""

import contextlib
import re
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import typer

WRONG_INPUT, INTERRUPTED, PIPE_CLOSED, TERMINATED, BUG = 2, 130, 141, 143, 1

# What the library calls its parameters, and what a person types instead.
_IN_OPTIONS = (
    (r'task="(\w+)"', r"--task \1"),
    (r"[Uu]se scale=True", "leave out --no-scale"),
    (r"scale=False", "--no-scale"),
    (r"categorical=", "--categorical"),
    (r"\bn_neighbors\b", "--n-neighbors"),
    (r"\bn_outer\b", "--n-outer"),
    (r"\bn_jobs\b", "--jobs"),
    (r"\brandom_state\b", "--seed"),
    (r" of X\b", ""),
    (r" \(y == label\)", ""),
    (r"must be None(,| or) ", "must be "),
    (r"(?<!['\"\w.])y(?!['\"\w]|\.\w)", "the target"),
)


@contextlib.contextmanager
def told_plainly(debug: bool) -> Iterator[None]:
    """Turn errors into one line and an exit code; with ``debug``, show where they come from as well."""
    try:
        yield
    except (KeyboardInterrupt, BrokenPipeError, typer.Exit):
        raise
    except Exception as error:
        if debug:
            traceback.print_exc()
        expected = isinstance(error, (ValueError, TypeError, OSError, ImportError, MemoryError))
        _complain(_in_options(error) if expected else f"{type(error).__name__}: {error} (--debug shows where)")
        raise typer.Exit(WRONG_INPUT if expected else BUG) from None


def _in_options(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory. Use fewer rows (--sample) or columns (--factors)."
    message = str(error)
    if isinstance(error, ModuleNotFoundError):
        package = (error.name or message).partition(".")[0]
        return f"the command firstfactor needs {package}: pip install 'firstfactor[cli]'"
    if isinstance(error, ImportError):
        return message
    for pattern, option in _IN_OPTIONS:
        message = re.sub(pattern, option, message)
    return message


def _complain(message: str) -> None:
    print("error:", " ".join(message.split()), file=sys.stderr)


def complain_of_usage(error: Any) -> None:
    """Tell what was wrong with what was typed; where nothing was, the message is the help."""
    message = error.format_message().replace("Value error, ", "")
    if message.startswith("Usage:"):
        print(message, file=sys.stderr)
    else:
        context = getattr(error, "ctx", None)
        _complain(f"{message} See: {context.command_path if context else 'firstfactor'} --help")
