"""The command ``firstfactor``: its subcommands, and what is done then. Work is imported once there is some."""

import logging
import os
import shlex
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from .. import __version__
from .._utils.atomic_write import errors_naming
from .._utils.process import since_start
from ..parameters import RANK

try:
    import typer
except ImportError:
    sys.exit("error: the command firstfactor needs typer: pip install 'firstfactor[cli]'")

from .errors import (
    INTERRUPTED,
    PIPE_CLOSED,
    TERMINATED,
    WRONG_INPUT,
    complain,
    complain_of_usage,
    exit_on_error,
)
from .options import DEMO, Demo, EachOnce, takes_parameters
from .outputs import Outputs

if TYPE_CHECKING:
    from ..ranking import Progress, Ranking

STANDARD_OUTPUT = "standard output"

app = typer.Typer(
    name="firstfactor",
    help="Which factors drive a response, how much, and how well could any model do? From a table; no model is fitted.",
    epilog="Try it: firstfactor demo",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

RANK_HELP = """Rank the factors in a table by how much they drive a response.

DATA is a CSV, TSV, Parquet, Arrow/Feather, JSON, JSON lines, Excel, SQLite, DuckDB or Stata file, gzipped or not; - is
standard input. Factors are all columns but the target. Text is taken for categories, dates for numbers of days, and a
missing value for a value of its own; columns that name each row are left out.

\b
Examples:
  firstfactor rank data.csv --target y
  firstfactor rank data.csv -t y --html report.html --plot importance.png
  firstfactor rank data.csv -t y --factors 'x*' --drop x3 --categorical x4
  firstfactor rank data.csv -t y --rule calibrated --stability 10
  firstfactor rank data.parquet -t y --sample 500 --method first-fast
  firstfactor rank data.csv -t y --group size=length,width --period hour=24
  firstfactor rank panel.csv -t y1 -t y2 --groups person --weight w
  cat data.csv | firstfactor rank - -t y --missing drop --json result.json
"""

DEMO_HELP = """Run the main job on a table that comes with the package or with scikit-learn.

Of friedman, ishigami and heavy-tailed the true factors are known, and compared with those found.

\b
Examples:
  firstfactor demo
  firstfactor demo diabetes --html diabetes.html
"""


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"firstfactor {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Stand for the command without a subcommand."""


@app.command(help=RANK_HELP, cls=EachOnce)
@takes_parameters(*RANK)
def rank(
    data: Annotated[str, typer.Argument(metavar="DATA", help="The file, or - for standard input.")],
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target", "-t", metavar="COLUMN", help="The response: numbers or classes. Several are explained together."
        ),
    ] = None,
    **given: Any,
) -> None:
    """Read a file, rank its factors, and show the result."""

    def work(options: dict[str, Any], show: "Progress") -> "Ranking":
        from ..ranking import rank

        return rank(data, target, progress=show, **options)

    _run(work, data, given)


@app.command(help=DEMO_HELP, cls=EachOnce)
@takes_parameters(*DEMO)
def demo(name: Annotated[Demo, typer.Argument(help="Which table.")] = Demo.friedman, **given: Any) -> None:
    """Rank the factors of a table that needs no file."""

    def work(options: dict[str, Any], show: "Progress") -> "Ranking":
        from .demo import rank_demo

        return rank_demo(name.value, progress=show, **options)

    _run(work, "-", given)


def _run(work: "Callable[[dict[str, Any], Progress], Ranking]", data: str, given: dict[str, Any]) -> None:
    """Rank, write the files asked for, and print the result with the time of each part."""
    files = {name: given.pop(name) for name in ("html", "json", "csv", "plot")}
    quiet, debug = given.pop("quiet"), given.pop("debug")
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
    from . import terminal

    with errors_naming(STANDARD_OUTPUT):
        screen = terminal.Screen(sys.stdout)
        terminal.print_result(screen, ranking)
        seconds = dict(ranking.seconds)
        seconds["loading"] += started
        seconds["writing"] = since_start() - sum(seconds.values())
        terminal.print_ending(screen, ranking, written, seconds)
        sys.stdout.flush()


def main() -> None:
    """Run the command and exit as terminal programs do."""
    # An exit, where the default is to die on the spot and leave temporary files behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    # Who closes an output wants to see nothing of it.
    sys.stdout, sys.stderr = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))  # noqa: SIM115
    sys.exit(_main())


def _main() -> int:
    try:
        status = app(standalone_mode=False) or 0
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


def _drop_unwritten_output() -> None:
    """Forget what could not be written: Python would try once more when it ends, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
