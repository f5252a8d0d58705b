"""One run of the command after its arguments are parsed: rank, write files, print."""

import logging
import shlex
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._utils.atomic_write import errors_naming
from .._utils.memory import since_start
from .errors import STANDARD_OUTPUT, exit_on_error
from .outputs import Outputs

if TYPE_CHECKING:
    from ..ranking import Progress, Ranking


def run(work: "Callable[[dict[str, Any], Progress, bool], Ranking]", data: list[str], given: dict[str, Any]) -> None:
    """Rank, print the result, write the requested files, and print the time of each part."""
    files = {name: given.pop(name, None) for name in ("html", "json", "csv", "plot")}
    quiet, debug, notes = (given.pop(name, False) for name in ("quiet", "debug", "notes"))
    with exit_on_error(debug):
        from .progress import progress

        outputs = Outputs(**files)
        outputs.check(data)
        _quieten(quiet)
        started = since_start()
        with progress(not quiet) as show, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the output has a line for each
            ranking = work(given, show, outputs.html is not None)
        # The result is printed first, and each part is tried even if an earlier one failed, so that nothing is lost.
        failures: list[Exception] = [] if quiet else _try(lambda: _print_result(ranking, notes))
        can_print = not (quiet or failures)
        with progress(not quiet and bool(outputs.chosen)) as show:
            show("writing")
            written, unwritten = outputs.write(ranking, shlex.join(["firstfactor", *sys.argv[1:]]))
        failures += unwritten
        if can_print:
            failures += _try(lambda: _print_ending(ranking, written, started))
        _raise_any(failures)


def _try(work: "Callable[[], None]") -> list[Exception]:
    """Return the error that the work ends with, if any."""
    try:
        work()
    except Exception as error:
        return [error]
    return []


def _raise_any(failures: list[Exception]) -> None:
    """Raise the errors; a closed pipe counts only if nothing else failed."""
    others = [failure for failure in failures if not isinstance(failure, BrokenPipeError)]
    if others:
        raise ExceptionGroup("not all could be written", others)
    if failures:
        raise failures[0]


def _quieten(quiet: bool) -> None:
    """Suppress log messages of other packages and, with ``quiet``, of this one."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it reports where it caches fonts
    if quiet:
        logging.getLogger("firstfactor").setLevel(logging.ERROR)


def _print_result(ranking: "Ranking", all_notes: bool) -> None:
    """Print the result."""
    from .screen import Screen
    from .terminal import print_result

    with errors_naming(STANDARD_OUTPUT):
        print_result(Screen(sys.stdout), ranking, all_notes)
        sys.stdout.flush()


def _print_ending(ranking: "Ranking", written: dict[str, Path], started: float) -> None:
    """Print the files that were written, and the time of the whole process so far."""
    from .screen import Screen
    from .terminal import print_ending

    with errors_naming(STANDARD_OUTPUT):
        seconds = dict(ranking.seconds)
        seconds["loading"] += started
        seconds["writing"] = since_start() - sum(seconds.values())
        print_ending(Screen(sys.stdout), ranking, written, seconds)
        sys.stdout.flush()
