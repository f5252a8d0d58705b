"""The command ``firstfactor``: its subcommands, and what is done then. Work is imported once there is some."""

import functools
import logging
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from . import __version__
from ._output import errors_naming

try:
    import typer
except ImportError:
    sys.exit("error: the command firstfactor needs typer: pip install 'firstfactor[cli]'")

from .complaints import (
    INTERRUPTED,
    PIPE_CLOSED,
    TERMINATED,
    WRONG_INPUT,
    complain,
    complain_of_usage,
    told_plainly,
)
from .job import Outputs, Settings
from .options import (
    AlphaOption,
    CsvOption,
    DebugOption,
    DecimalOption,
    Demo,
    EachOnce,
    EstimatorOption,
    FormatOption,
    HtmlOption,
    JobsOption,
    JsonOption,
    Method,
    MethodOption,
    Missing,
    NaOption,
    NeighborsOption,
    OuterOption,
    PlotOption,
    QuietOption,
    Rule,
    RuleOption,
    ScaleOption,
    SeedOption,
    SplitOption,
    StabilityOption,
    TableOption,
    Task,
)

if TYPE_CHECKING:
    from .tables import Table

_STARTED = time.perf_counter()

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
standard input. Factors are all columns but the target. Text is taken for categories; dates and columns that name each
row are left out.

\b
Examples:
  firstfactor rank data.csv --target y
  firstfactor rank data.csv -t y --html report.html --plot importance.png
  firstfactor rank data.csv -t y --factors 'x*' --drop x3 --categorical x4
  firstfactor rank data.csv -t y --rule calibrated --stability 10
  firstfactor rank data.parquet -t y --sample 500 --method first-fast
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
def rank(
    data: Annotated[str, typer.Argument(metavar="DATA", help="The file, or - for standard input.")],
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="The response: numbers, or two classes.")
    ] = None,
    factors: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Use only these columns: names or globs, with commas or repeated."),
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="NAMES", help="Do not use these columns: names or globs.")
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Take these columns for categories, even if they hold numbers or look like names of rows.",
        ),
    ] = None,
    task: Annotated[Task, typer.Option(help="What the target is; auto: two values are two classes.")] = Task.auto,
    missing: Annotated[
        Missing, typer.Option(help="What to do about rows with missing values in the columns used.")
    ] = Missing.error,
    unique: Annotated[
        bool, typer.Option("--unique", help="Keep only one of rows that are equal in all columns used.")
    ] = False,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", min=3, help="Use N rows, drawn at random.")
    ] = None,
    method: MethodOption = Method.first,
    rule: RuleOption = Rule.paper,
    alpha: AlphaOption = None,
    estimator: EstimatorOption = None,
    split: SplitOption = False,
    stability: StabilityOption = None,
    n_neighbors: NeighborsOption = None,
    n_outer: OuterOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = -1,
    no_scale: ScaleOption = False,
    kind: FormatOption = None,
    sheet: TableOption = None,
    na: NaOption = None,
    decimal: DecimalOption = None,
    html: HtmlOption = None,
    json: JsonOption = None,
    csv: CsvOption = None,
    plot: PlotOption = None,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Read a file, rank its factors, and say so."""
    with told_plainly(debug):
        outputs = Outputs(html, json, csv, plot)
        outputs.check(data)
        settings = Settings(
            method.value, n_neighbors, n_outer, not no_scale, task.value, seed, jobs,
            rule.value, alpha, estimator and estimator.value, split, stability,
        )  # fmt: skip

        def load() -> "Table":
            from .files import Reading, open_source
            from .tables import Request, read_table

            request = Request(
                target, factors or (), drop or (), categorical or (), missing is Missing.drop, unique, sample, seed
            )
            reading = Reading(kind and kind.value, sheet, tuple(na or ()), decimal and decimal.value)
            with open_source(data, reading) as source:
                return read_table(source, request)

        _run(load, settings, sample, outputs, quiet)


@app.command(help=DEMO_HELP, cls=EachOnce)
def demo(
    name: Annotated[Demo, typer.Argument(help="Which table.")] = Demo.friedman,
    method: MethodOption = Method.first,
    rule: RuleOption = Rule.paper,
    alpha: AlphaOption = None,
    estimator: EstimatorOption = None,
    split: SplitOption = False,
    stability: StabilityOption = None,
    n_neighbors: NeighborsOption = None,
    n_outer: OuterOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = -1,
    no_scale: ScaleOption = False,
    html: HtmlOption = None,
    json: JsonOption = None,
    csv: CsvOption = None,
    plot: PlotOption = None,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Rank the factors of a table that needs no file."""
    with told_plainly(debug):
        outputs = Outputs(html, json, csv, plot)
        outputs.check()
        settings = Settings(
            method.value, n_neighbors, n_outer, not no_scale, "auto", seed, jobs,
            rule.value, alpha, estimator and estimator.value, split, stability,
        )  # fmt: skip

        def load() -> "Table":
            from .demos import load_demo

            return load_demo(name.value)

        _run(load, settings, None, outputs, quiet)


def _run(
    load: "Callable[[], Table]", settings: "Settings", sample: int | None, outputs: "Outputs", quiet: bool
) -> None:
    """Load a table, search it, print and write what was found; keep the time of each part."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # where it keeps its fonts is of no interest here
    if quiet:
        logging.getLogger("firstfactor").setLevel(logging.ERROR)
    seconds: dict[str, float] = {}
    clock = _STARTED

    def lap(part: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        seconds[part], clock = now - clock, now

    from .progress import count_halves, narrate, progress

    with progress(not quiet) as show:
        show("reading")
        table = load()
        lap("reading")
        show("loading")  # not before: what is wrong with a file is told sooner
        from . import console, job, selection  # noqa: F401  (scikit-learn and the compiler come with it)

        lap("loading")
        show("searching (the first run on a machine also compiles, for about 20 seconds)")
        indices = job.search(table, settings, functools.partial(narrate, show))
        lap("searching")
        halves = job.select_on_halves(table, settings, functools.partial(count_halves, show))
        if halves is not None:
            lap("stability")
    command = shlex.join(["firstfactor", *sys.argv[1:]])
    result = job.Result(table, indices, settings, sample, command, seconds, halves)
    # Files come first: whoever reads the output may stop early. What cannot be written is told last.
    with progress(not quiet and bool(outputs.chosen)) as show:
        show("writing")
        failures = job.write_outputs(result, outputs)
        lap("writing")
    if not quiet:
        with errors_naming(STANDARD_OUTPUT):
            screen = console.Screen(sys.stdout)
            console.print_result(screen, result)
            written = {name: path for name, path in outputs.chosen.items() if name not in failures}
            console.print_ending(screen, result, written)
            sys.stdout.flush()
    if failures:
        raise OSError(" ".join(failures.values()))


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
