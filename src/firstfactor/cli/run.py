"""One run of the command after its arguments are parsed: rank, write files, print.

It imports nothing that is slow to load before progress is shown, because loading is part of the wait.
"""

import contextlib
import logging
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._utils.atomic_write import errors_naming, follow_links, write_whole
from .._utils.memory import since_start
from .._utils.text import without_controls
from ..tables.find_files import STANDARD_INPUT, find_files
from .errors import EXPECTED, STANDARD_OUTPUT, exit_on_error

if TYPE_CHECKING:
    from ..ranking import Progress, Ranking


def run(work: "Callable[[dict[str, Any], Progress, bool], Ranking]", data: list[str], given: dict[str, Any]) -> None:
    """Rank, print the result, write the requested files, and print the time of each part."""
    outputs = Outputs(**{name: given.pop(name, None) for name in ("html", "json", "csv", "plot")})
    model_score, sensitive = given.pop("model_score", None), given.pop("sensitive", False)
    quiet, debug, notes = (given.pop(name, False) for name in ("quiet", "debug", "notes"))
    with exit_on_error(debug):
        outputs.check(data)
        if model_score is not None:
            from ..results.comparison import check_score

            check_score(model_score)
        _quieten(quiet)
        started = since_start()
        with progress(not quiet) as show, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the output has a line for each
            ranking = work(given, show, outputs.html is not None)
        # The result is printed first, and each part is tried even if an earlier one failed, so that nothing is lost.
        is_silent = quiet or outputs.use_standard_output
        failures: list[Exception] = [] if is_silent else _try(lambda: _print_result(ranking, notes, model_score))
        can_print = not (is_silent or failures)
        with progress(not quiet and bool(outputs.chosen)) as show:
            show("writing")
            written, unwritten = outputs.write(ranking, model_score, sensitive)
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


def _print_result(ranking: "Ranking", all_notes: bool, model_score: float | None) -> None:
    """Print the result."""
    from .terminal import Screen, print_result

    with errors_naming(STANDARD_OUTPUT):
        print_result(Screen(sys.stdout), ranking, all_notes, model_score)
        sys.stdout.flush()


def _print_ending(ranking: "Ranking", written: dict[str, Path], started: float) -> None:
    """Print the files that were written, and the time of the whole process so far."""
    from .terminal import Screen, print_ending

    with errors_naming(STANDARD_OUTPUT):
        seconds = dict(ranking.seconds)
        seconds["loading"] += started
        seconds["writing"] = since_start() - sum(seconds.values())
        print_ending(Screen(sys.stdout), ranking, written, seconds)
        sys.stdout.flush()


# --- files -----------------------------------------------------------------------------------------------------------

PICTURES = (".png", ".svg", ".pdf")

# Path of results that are written to standard output.
DASH = Path("-")


@dataclass(frozen=True)
class Outputs:
    """Paths of the files to write; None for files that are not requested."""

    html: Path | None = None
    json: Path | None = None
    csv: Path | None = None
    plot: Path | None = None

    @property
    def chosen(self) -> dict[str, Path]:
        """Requested files by the name of their option."""
        return {name: path for name, path in vars(self).items() if path is not None}

    @property
    def use_standard_output(self) -> bool:
        """True if results are written to standard output, so that nothing else may be."""
        return DASH in (self.json, self.csv)

    def check(self, data: Sequence[str] = ()) -> None:
        """Raise an error if a file cannot be written, or would overwrite the data or another output."""
        files = find_files(data) if data and self.chosen else ()
        taken = {Path(file).resolve(): "the data" for file in files if file != STANDARD_INPUT}
        for name, path in self.chosen.items():
            try:
                target = follow_links(path)
            except OSError as error:
                raise ValueError(f"--{name}: {error}") from error
            if target in taken:
                raise ValueError(f"--{name}: {str(path)!r} would overwrite {taken[target]}.")
            taken[target] = f"what --{name} writes"
            if path == DASH and name in ("json", "csv"):
                continue
            folder = target.parent if path.is_symlink() else path.parent
            if path.is_dir() or (path.exists() and not path.is_file()):
                raise ValueError(f"--{name}: {str(path)!r} is not a file.")
            if not folder.is_dir():
                raise ValueError(f"--{name}: there is no folder {str(folder)!r}. Make it first.")
            if not os.access(folder, os.W_OK):
                raise ValueError(f"--{name}: the folder {str(folder)!r} cannot be written to.")
        if self.plot and self.plot.suffix.lower() not in PICTURES:
            raise ValueError(f"--plot must end in one of {', '.join(PICTURES)}; got {str(self.plot)!r}.")
        if self.html or self.plot:
            from ..reporting.report import today

            today()  # raises an error if the date is invalid

    def write(
        self, ranking: "Ranking", model_score: float | None, sensitive: bool
    ) -> tuple[dict[str, Path], list[Exception]]:
        """Write every requested file, each completely or not at all.

        Return those that were written, by the name of their option, and why others were not.
        """
        command = shlex.join(["firstfactor", *sys.argv[1:]])
        model = {} if model_score is None else {"model": vars(ranking.compare(model_score))}
        from ..reporting.export import as_csv, as_json

        shown = {"model_score": model_score, "sensitive": sensitive}
        writers: dict[str, Callable[[Path], object]] = {
            "html": lambda path: ranking.report(path, call=command, **shown),
            "json": lambda path: _write_text(path, as_json(ranking, {"command": command, **model})),
            "csv": lambda path: _write_text(path, as_csv(ranking)),
            "plot": lambda path: _write_plot(ranking, path),
        }
        written, failures = {}, list[Exception]()
        for name, path in self.chosen.items():
            try:
                writers[name](path)
            except BrokenPipeError as error:
                failures.append(error)
            except Exception as error:
                failures.append(_explain(error, name, path))
            else:
                written[name] = path
        return written, failures


def _explain(error: Exception, name: str, path: Path) -> Exception:
    """Return an error that names the file that could not be written, and the reason."""
    expected, why = isinstance(error, EXPECTED), str(error)
    if not expected:
        why = f"{type(error).__name__}: {error}"
    elif isinstance(error, MemoryError):
        why = "there is not enough memory"
    elif isinstance(error, OSError) and error.filename == str(path):
        why = error.strerror or why
    message = f"--{name}: {str(path)!r} could not be written: {why.rstrip('.')}."
    failure = OSError(message) if expected else RuntimeError(message)
    failure.__cause__ = error
    return failure


def _write_text(path: Path, text: str) -> None:
    if path != DASH:
        write_whole(path, lambda file: file.write(text.encode()))
        return
    with errors_naming(STANDARD_OUTPUT):
        sys.stdout.buffer.write(text.encode())
        sys.stdout.flush()


def _write_plot(ranking: "Ranking", path: Path) -> None:
    """Save the plot of importances."""
    from ..reporting.figures import save_figure

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # characters without a font: the ending names them
        figure = ranking.plot().figure
    write_whole(path, lambda file: save_figure(figure, file, path.suffix[1:].lower()))


# --- progress --------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def progress(wanted: bool) -> Iterator["Progress"]:
    """Show on standard error what is being done, if that is a terminal and someone wants to know."""
    from rich.console import Console
    from rich.text import Text

    if not (wanted and sys.stderr.isatty()):
        yield lambda _: None
        return
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    with console.status("starting") as status:
        yield lambda text: status.update(Text(without_controls(text)))
