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
from .errors import exit_on_error
from .outputs import Outputs

if TYPE_CHECKING:
    from ..ranking import Progress, Ranking

STANDARD_OUTPUT = "standard output"


def rank_files(data: list[str], target: str | list[str] | None, given: dict[str, Any]) -> None:
    """Rank the factors in files that are one table, and show the result."""

    def work(options: dict[str, Any], show: "Progress") -> "Ranking":
        from ..ranking import rank

        return rank(data[0] if len(data) == 1 else data, target, progress=show, **options)

    run(work, data, given)


def run(work: "Callable[[dict[str, Any], Progress], Ranking]", data: list[str], given: dict[str, Any]) -> None:
    """Rank, write the files asked for, and print the result with the time of each part."""
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
            ranking = work(given, show)
        # Files come first: whoever reads the output may stop early. What cannot be written is reported last.
        with progress(not quiet and bool(outputs.chosen)) as show:
            show("writing")
            failures = outputs.write(ranking, shlex.join(["firstfactor", *sys.argv[1:]]))
        if not quiet:
            _print(ranking, {name: path for name, path in outputs.chosen.items() if name not in failures}, started)
        if failures:
            raise OSError(" ".join(failures.values()))


def _quieten(quiet: bool) -> None:
    """Keep other packages' remarks, and with ``quiet`` ours, from the terminal."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # where it keeps its fonts is of no interest here
    if quiet:
        logging.getLogger("firstfactor").setLevel(logging.ERROR)


def _print(ranking: "Ranking", written: dict[str, Path], started: float) -> None:
    """Print the result; the time is that of the whole process so far."""
    from .screen import Screen
    from .terminal import print_ending, print_result

    with errors_naming(STANDARD_OUTPUT):
        screen = Screen(sys.stdout)
        print_result(screen, ranking)
        seconds = dict(ranking.seconds)
        seconds["loading"] += started
        seconds["writing"] = since_start() - sum(seconds.values())
        print_ending(screen, ranking, written, seconds)
        sys.stdout.flush()
