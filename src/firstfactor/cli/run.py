"""One run of the command: rank, write files, print. What was typed has been read."""

import logging
import shlex
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._utils.atomic_write import errors_naming
from .._utils.process import since_start
from .errors import STANDARD_OUTPUT, exit_on_error
from .outputs import Outputs

if TYPE_CHECKING:
    from ..ranking import Progress, Ranking


def run(work: "Callable[[dict[str, Any], Progress, bool], Ranking]", data: list[str], given: dict[str, Any]) -> None:
    """Rank, print the result, write the files asked for, and print the time of each part."""
    files = {name: given.pop(name, None) for name in ("html", "json", "csv", "plot")}
    quiet, debug = given.pop("quiet", False), given.pop("debug", False)
    with exit_on_error(debug):
        from .progress import progress

        outputs = Outputs(**files)
        outputs.check(data)
        _quieten(quiet)
        started = since_start()
        with progress(not quiet) as show, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what is printed has a line for each
            ranking = work(given, show, outputs.html is not None)
        # The result comes first, and each part is tried whatever became of those before it: nothing is lost.
        failures: list[Exception] = [] if quiet else _try(lambda: _print_result(ranking))
        can_print = not (quiet or failures)
        with progress(not quiet and bool(outputs.chosen)) as show:
            show("writing")
            written, unwritten = outputs.write(ranking, shlex.join(["firstfactor", *sys.argv[1:]]))
        failures += unwritten
        if can_print:
            failures += _try(lambda: _print_ending(ranking, written, started))
        _raise_any(failures)


def _try(work: "Callable[[], None]") -> list[Exception]:
    """Return the error that some work ends with, if any."""
    try:
        work()
    except Exception as error:
        return [error]
    return []


def _raise_any(failures: list[Exception]) -> None:
    """Raise what failed; that somebody stopped reading counts only if nothing else did."""
    others = [failure for failure in failures if not isinstance(failure, BrokenPipeError)]
    if others:
        raise ExceptionGroup("not all could be written", others)
    if failures:
        raise failures[0]


def _quieten(quiet: bool) -> None:
    """Keep other packages' remarks, and with ``quiet`` ours, from the terminal."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # where it keeps its fonts is of no interest here
    if quiet:
        logging.getLogger("firstfactor").setLevel(logging.ERROR)


def _print_result(ranking: "Ranking") -> None:
    """Print the result."""
    from .screen import Screen
    from .terminal import print_result

    with errors_naming(STANDARD_OUTPUT):
        print_result(Screen(sys.stdout), ranking)
        sys.stdout.flush()


def _print_ending(ranking: "Ranking", written: dict[str, Path], started: float) -> None:
    """Print which files were written, and the time of the whole process so far."""
    from .screen import Screen
    from .terminal import print_ending

    with errors_naming(STANDARD_OUTPUT):
        seconds = dict(ranking.seconds)
        seconds["loading"] += started
        seconds["writing"] = since_start() - sum(seconds.values())
        print_ending(Screen(sys.stdout), ranking, written, seconds)
        sys.stdout.flush()
