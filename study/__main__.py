"""The study on the command line: ``python -m study list | run NAME | show NAME | all``."""

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from .methods.registry import NAMES
from .runs.experiments import ALL, BY_NAME, Experiment
from .runs.runner import missing, run
from .runs.store import RESULTS, Task

app = typer.Typer(
    help="The paper's study with today's software, and how sure the answers are.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
)

Repetitions = Annotated[int | None, typer.Option("--reps", min=1, help="At most so many repetitions.")]
Jobs = Annotated[int, typer.Option(help="How many processes; -1: all cores.")]
Methods = Annotated[str | None, typer.Option(help="Only these, with commas: FIRST,LASSO.")]
Results = Annotated[Path, typer.Option(help="Folder where the rows are stored.", show_default=False)]
Data = Annotated[Path | None, typer.Option(help="Folder with the real tables [default: $FIRSTFACTOR_DATA].")]


@app.command("list")
def list_experiments(results: Results = RESULTS) -> None:
    """List the experiments, and how many of their rows are stored."""
    for experiment in ALL:
        tasks = experiment.tasks()
        stored = len(tasks) - len(missing(tasks, results))
        typer.echo(f"{experiment.name:18} {stored:6,} of {len(tasks):6,} rows   {experiment.title}")


@app.command("run")
def run_experiment(
    name: str,
    reps: Repetitions = None,
    jobs: Jobs = -1,
    methods: Methods = None,
    data: Data = None,
    results: Results = RESULTS,
) -> None:
    """Run what is missing of an experiment. It can be stopped at any time; run again, it goes on."""
    _use_data(data)
    if not _run(_experiment(name).tasks(reps, _methods(methods)), name, jobs, results):
        raise SystemExit(1)


@app.command("show")
def show_experiment(name: str, results: Results = RESULTS) -> None:
    """Show what is stored of an experiment, and the verdicts; with the name all, write the pages with all results."""
    from .pages.figures.draw import draw_figure
    from .pages.study_page import PICTURES
    from .pages.terminal import show
    from .scores.results import Results as Stored

    if name == "all":
        _write_pages(results)
        return
    experiment, stored = _experiment(name), Stored.load(results)
    typer.echo(show(experiment, stored))
    # Of rows that someone tries something out with, the figure goes next to them, not into the documentation.
    figure = draw_figure(name, stored, PICTURES if results == RESULTS else results)
    if figure is not None:
        typer.echo(f"\nFigure: {os.path.relpath(figure)}")


@app.command("all")
def run_all(reps: Repetitions = None, jobs: Jobs = -1, methods: Methods = None, data: Data = None) -> None:
    """Run what is missing of all experiments, and make the pages with all results."""
    _use_data(data)
    complete = [_run(one.tasks(reps, _methods(methods)), one.name, jobs, RESULTS) for one in ALL]
    _write_pages(RESULTS)
    if not all(complete):
        raise SystemExit(1)


def _write_pages(results: Path) -> None:
    from .pages.certainty_page import CERTAINTY_PAGE, write_certainty_page
    from .pages.evidence_page import EVIDENCE_PAGE, write_evidence_page
    from .pages.importances_page import IMPORTANCES_PAGE, write_importances_page
    from .pages.ordinary_page import ORDINARY_PAGE, write_ordinary_page
    from .pages.sense_page import SENSE_PAGE, write_sense_page
    from .pages.sharing_page import SHARING_PAGE, write_sharing_page
    from .pages.study_page import PAGE, PICTURES, write_page

    write_page(folder=results)
    typer.echo(f"Wrote {os.path.relpath(PAGE)} and its figures in {os.path.relpath(PICTURES)}")
    write_certainty_page(folder=results)
    typer.echo(f"Wrote {os.path.relpath(CERTAINTY_PAGE)}")
    write_evidence_page(folder=results)
    typer.echo(f"Wrote {os.path.relpath(EVIDENCE_PAGE)}")
    write_sharing_page(folder=results)
    typer.echo(f"Wrote {os.path.relpath(SHARING_PAGE)}")
    write_ordinary_page(folder=results)
    typer.echo(f"Wrote {os.path.relpath(ORDINARY_PAGE)}")
    write_importances_page(folder=results)
    typer.echo(f"Wrote {os.path.relpath(IMPORTANCES_PAGE)}")
    write_sense_page()
    typer.echo(f"Wrote {os.path.relpath(SENSE_PAGE)}")


def _run(tasks: list[Task], name: str, jobs: int, results: Path) -> bool:
    """Run what is missing, and tell whether nothing stood in the way."""
    started = time.monotonic()
    try:
        rows = run(tasks, jobs, results)
    except KeyboardInterrupt:
        typer.echo("Stopped. What is done is stored; the same command goes on from here.")
        raise SystemExit(130) from None
    except (OSError, RuntimeError, ValueError) as error:  # no table, a wrong one, or another run at work
        typer.echo(f"{name}: error: {error}", err=True)
        return False
    typer.echo(f"{name}: {rows:,} rows in {time.monotonic() - started:.0f} s")
    return True


def _experiment(name: str) -> Experiment:
    if name not in BY_NAME:
        raise typer.BadParameter(f"there is no experiment {name!r}; there are {', '.join(BY_NAME)}.")
    return BY_NAME[name]


def _methods(names: str | None) -> list[str] | None:
    chosen = None if names is None else names.split(",")
    for name in chosen or ():
        if name not in NAMES:
            raise typer.BadParameter(f"there is no method {name!r}; there are {', '.join(NAMES)}.")
    return chosen


def _use_data(folder: Path | None) -> None:
    """Tell this process and its workers where the real tables are."""
    if folder is not None:
        os.environ["FIRSTFACTOR_DATA"] = str(folder.resolve())


if __name__ == "__main__":
    app(prog_name="python -m study")
