"""Subcommands and their arguments."""

import logging
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from .. import __version__
from ..settings import RANK

try:
    import typer
except ImportError:
    sys.exit("error: the command firstfactor needs typer: pip install 'firstfactor[cli]'")

from .._utils.packages import require
from .errors import exit_on_error
from .options import DEMO, Command, Demo, takes_parameters
from .run import run

if TYPE_CHECKING:
    from ..ranking import Progress, Ranking

app = typer.Typer(
    name="firstfactor",
    help="Which factors does a response depend on, how much, and how well could any model do? Your table is enough.",
    epilog="Try it: firstfactor demo",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=True,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

RANK_HELP = """Rank the factors in a table by how much a response depends on them.

DATA is a CSV, TSV, Parquet, Arrow, JSON, JSON lines, Excel, SQLite, DuckDB or Stata file, gzipped or not; - is
standard input. Factors are all columns but the target. Text columns are categories, dates are numbers of days, and
missing values are a level of their own; columns that identify each row are left out. Several files, a folder or a
pattern are read as one table; folders such as year=2024 add a column.

\b
Examples:
  firstfactor rank data.csv --target y
  firstfactor rank data.csv -t y --html report.html --plot importance.png
  firstfactor rank data.csv -t y --factors 'x*' --drop x3 --categorical x4
  firstfactor rank data/*.parquet -t y --memory 4GB --method first-fast
  firstfactor rank panel.csv -t y1 -t y2 --groups person --weight w
  cat data.csv | firstfactor rank - -t y --json -
"""

DEMO_HELP = """Rank the factors of a table that comes with the package or with scikit-learn.

The true factors of friedman, ishigami and heavy-tailed are known, and compared with those found.

\b
Examples:
  firstfactor demo
  firstfactor demo diabetes --html diabetes.html
"""

APP_HELP = """Open a page in the browser to rank the factors of a table, and to change what is asked.

The page is served to this machine only, at an address with a token. Tables stay on this machine.

\b
Examples:
  firstfactor app
  firstfactor app data.csv
"""

MORE_HELP = "Full descriptions: https://firstfactor.readthedocs.io, or help(firstfactor.rank) in Python."

WARM_UP_HELP = """Compile all functions once, so that later calls need not, for example in a container image.

The first call of firstfactor on a machine compiles the functions that it uses and caches them, in the folder given by
NUMBA_CACHE_DIR or else in the cache folder of the user. Compiled functions are valid for one user and one kind of
processor. An image for several kinds needs NUMBA_CPU_NAME=generic, both here and when it runs.

\b
Example, in a Dockerfile:
  ENV NUMBA_CACHE_DIR=/opt/firstfactor
  RUN firstfactor warm-up
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
    """Handle the options of the command without a subcommand."""


@app.command(help=RANK_HELP, cls=Command, epilog=MORE_HELP)
@takes_parameters(*RANK)
def rank(
    data: Annotated[
        list[str], typer.Argument(metavar="DATA", help="File or files, a folder, or - for standard input.")
    ],
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="The response: numbers or class labels. Several are explained together.",
        ),
    ] = None,
    **given: Any,
) -> None:
    """Read files, rank the factors of their table, and show the result."""

    def work(options: dict[str, Any], show: "Progress", for_report: bool) -> "Ranking":
        from ..ranking import make_ranking

        return make_ranking(data[0] if len(data) == 1 else data, target, show, options, for_report)

    run(work, data, given)


@app.command(help=DEMO_HELP, cls=Command, epilog=MORE_HELP)
@takes_parameters(*DEMO)
def demo(
    name: Annotated[Demo, typer.Argument(help="Name of the table.")] = Demo.friedman,
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="Another response than the usual one.")
    ] = None,
    **given: Any,
) -> None:
    """Rank the factors of a table that needs no file."""

    def work(options: dict[str, Any], show: "Progress", for_report: bool) -> "Ranking":
        from ..problems.demo_tables import load_demo
        from ..ranking import make_ranking

        table = load_demo(name.value)
        options = {"categorical": table.categorical, **options}
        ranking = make_ranking(table.frame, target or table.target, show, options, for_report)
        return replace(ranking, dataset=replace(ranking.dataset, shown=name.value, true_factors=table.true_factors))

    run(work, [], given)


@app.command("app", help=APP_HELP)
def _app(
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="Table to open.", show_default=False)] = None,
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Port. Default: a free one.", show_default=False)
    ] = 0,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the browser.")] = False,
) -> None:
    """Serve the page."""
    with exit_on_error(debug=False):
        for package in ("starlette", "uvicorn", "jinja2", "polars"):
            require(package, "the app", "app")
        from ..app.server import run as serve

        serve(file, host, port, not no_browser)


@app.command("warm-up", help=WARM_UP_HELP)
def _warm_up() -> None:
    """Compile all functions."""
    logging.getLogger("firstfactor").setLevel(logging.ERROR)  # if nothing can be cached, an error says so
    from .warm_up import warm_up

    warm_up()
