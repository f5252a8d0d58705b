"""The command ``firstfactor``: installed, in a process of its own, or in this one, which takes a tenth of the time."""

import logging
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import traceback
import warnings
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from unittest import mock

from firstfactor.cli import main as cli
from firstfactor.cli import run as cli_run

COMMAND = str(Path(sysconfig.get_path("scripts")) / "firstfactor")
PATIENCE = 120  # the first call on a machine compiles

# What the surroundings must not decide.
CLEAN = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}

# What Python ignores unless told otherwise.
UNSHOWN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


def run(*arguments, stdin=None, folder=None, **environment):
    """Run the installed command in a process of its own."""
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        timeout=PATIENCE,
        cwd=folder,
        env=CLEAN | environment,
    )


def run_here(*arguments, stdin=None, folder=None, **environment):
    """Do the same in this process, and leave nothing changed in it: for what does not depend on the process."""
    command = ["firstfactor", *map(str, arguments)]
    start = time.perf_counter()

    def since_start():
        return time.perf_counter() - start

    with ExitStack() as changes:
        changes.enter_context(chdir(folder or "."))
        changes.enter_context(mock.patch.dict(os.environ, CLEAN | environment, clear=True))
        changes.enter_context(mock.patch.object(sys, "argv", command))
        changes.enter_context(mock.patch.object(cli_run, "since_start", since_start))
        changes.enter_context(_default_warnings())
        changes.enter_context(_plain_logging())
        changes.enter_context(_plain_figures())
        changes.callback(signal.signal, signal.SIGTERM, signal.getsignal(signal.SIGTERM))
        output, errors = changes.enter_context(_streams(stdin or b"", os.environ.get("PYTHONIOENCODING", "utf-8")))
        returncode = _exit_code(cli.main)
        sys.stdout.flush()
        sys.stderr.flush()
        return subprocess.CompletedProcess(command, returncode, *map(_content, (output, errors)))


def _exit_code(main):
    """Call a function and return the code that a process would end with."""
    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
            return 1
        return end.code or 0
    except Exception:
        traceback.print_exc()
        return 1
    return 0


@contextmanager
def _streams(stdin, encoding):
    """Have all three streams be files, down to what the system knows of them; yield those written to."""
    with ExitStack() as changes:
        files = [changes.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        files[0].write(stdin)
        files[0].seek(0)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number, file in enumerate(files):
            kept = os.dup(number)
            changes.callback(os.close, kept)
            changes.callback(os.dup2, kept, number)
            os.dup2(file.fileno(), number)
        for number, (name, mode, mistakes) in enumerate(
            [("stdin", "r", "strict"), ("stdout", "w", "strict"), ("stderr", "w", "backslashreplace")]
        ):
            stream = open(number, mode, encoding=encoding, errors=mistakes, closefd=False)  # noqa: SIM115
            changes.enter_context(mock.patch.object(sys, name, changes.enter_context(stream)))
        yield files[1:]


def _content(file):
    file.seek(0)
    return file.read()


@contextmanager
def _default_warnings():
    """Show warnings as a new process does."""

    def show(message, category, filename, lineno, file=None, line=None):
        print(warnings.formatwarning(message, category, filename, lineno, line), end="", file=file or sys.stderr)

    with warnings.catch_warnings():
        warnings.resetwarnings()
        for category in UNSHOWN:
            warnings.simplefilter("ignore", category)
        warnings.showwarning = show
        yield


@contextmanager
def _plain_logging():
    """Have logged warnings shown as in a new process, and give loggers back the levels that they had."""
    loggers = [logging.getLogger(name) for name in ("firstfactor", "matplotlib", "fastexcel")]
    levels = [logger.level for logger in loggers]
    try:
        with mock.patch.object(logging.root, "handlers", []):
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextmanager
def _plain_figures():
    """Have figures belong to nobody, whatever was imported."""
    pyplot = sys.modules.pop("matplotlib.pyplot", None)
    try:
        yield
    finally:
        if pyplot is not None:
            sys.modules["matplotlib.pyplot"] = pyplot
