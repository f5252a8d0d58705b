"""One run of the command line: a table in; a result, and the files made of it, out."""

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._extras import require

if TYPE_CHECKING:
    from .indices import Indices
    from .procedure import Procedure
    from .selection import Report
    from .stability_selection import Stability
    from .tables import Table
    from .variance import Options

PICTURES = (".png", ".svg", ".pdf")

# Methods without a selection tell how sure they are if no more factors than this have an index: the time for it grows
# with the square of their number.
MOST_WITH_UNCERTAINTY = 30
NO_UNCERTAINTY = (
    f"How sure importances are was not computed: with this method it takes too long for more than "
    f"{MOST_WITH_UNCERTAINTY} factors."
)


@dataclass(frozen=True)
class Settings:
    """What the search is told, in the words of the command line."""

    method: str = "first"
    n_neighbors: int | None = None
    n_outer: int | float | None = None
    scale: bool = True
    task: str = "auto"
    seed: int = 0
    jobs: int = -1
    rule: str = "paper"
    alpha: float | None = None
    """None is the default of the calibrated rule."""
    estimator: str | None = None
    """None is the default of the rule."""
    split: bool = False
    stability: int | None = None
    """Pairs of half-samples to select on again."""

    def __post_init__(self) -> None:
        """Refuse what does not go together, before any work is done."""
        if self.rule == "calibrated" and self.method != "first":
            raise ValueError(f"--rule calibrated goes with --method first only; got --method {self.method}.")
        if self.alpha is not None and self.rule != "calibrated":
            raise ValueError("--alpha is for --rule calibrated; add that, or leave out --alpha.")
        if self.alpha is not None and not 0 < self.alpha < 1:
            raise ValueError(f"--alpha must be between 0 and 1, such as 0.1; got {self.alpha:g}.")
        for option, given in (("--split", self.split), ("--stability", self.stability)):
            if given and not self.selects:
                raise ValueError(f"{option} goes with --method first or first-fast; got --method {self.method}.")

    @property
    def selects(self) -> bool:
        """Whether the method is a FIRST, which selects factors."""
        return self.method in ("first", "first-fast")

    def procedure(self) -> "Procedure":
        """Return how factors are selected."""
        from .procedure import Procedure

        forward = "fast" if self.method == "first-fast" else "full"
        alpha = Procedure.alpha if self.alpha is None else self.alpha
        return Procedure(forward, rule=self.rule, alpha=alpha, split=self.split)

    def check_rows(self, n_rows: int) -> None:
        """Refuse what halves of so many rows do not allow, before any work is done."""
        half = n_rows // 2
        if self.stability is not None and isinstance(self.n_outer, int) and half < self.n_outer <= n_rows:
            raise ValueError(
                f"--n-outer must be at most {half:,}, half of the rows, with --stability; got {self.n_outer:,}."
            )

    def options(self, categorical: Sequence[str]) -> "Options":
        """Return what every estimate is told."""
        return {
            "n_neighbors": self.n_neighbors,
            "n_outer": self.n_outer,
            "scale": self.scale,
            "categorical": list(categorical),
            "task": self.task,
            "n_jobs": self.jobs,
            "random_state": self.seed,
            "estimator": self.estimator or self.procedure().estimator,
        }


@dataclass(frozen=True)
class Outputs:
    """Files to write, each if it has a path."""

    html: Path | None = None
    json: Path | None = None
    csv: Path | None = None
    plot: Path | None = None

    @property
    def chosen(self) -> dict[str, Path]:
        """The files asked for, by the name of their option."""
        return {name: path for name, path in vars(self).items() if path is not None}

    def check(self, data: str = "-") -> None:
        """Refuse what could not be written, or would destroy something, before any work is done."""
        taken = {} if data == "-" else {Path(data).resolve(): "the data"}
        for name, path in self.chosen.items():
            folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
            if path.is_dir() or (path.exists() and not path.is_file()):
                raise ValueError(f"--{name}: {str(path)!r} is not a file.")
            if not folder.is_dir():
                raise ValueError(f"--{name}: there is no folder {str(folder)!r}. Make it first.")
            if not os.access(folder, os.W_OK):
                raise ValueError(f"--{name}: the folder {str(folder)!r} cannot be written to.")
            if path.resolve() in taken:
                raise ValueError(f"--{name}: {str(path)!r} would overwrite {taken[path.resolve()]}.")
            taken[path.resolve()] = f"what --{name} writes"
        if self.plot and self.plot.suffix.lower() not in PICTURES:
            raise ValueError(f"--plot must end in one of {', '.join(PICTURES)}; got {str(self.plot)!r}.")


@dataclass(frozen=True)
class Result:
    """The answer, what it was found from, and how."""

    table: "Table"
    indices: "Indices"
    settings: Settings
    sample: int | None
    command: str
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each part took, in order."""
    stability: "Stability | None" = None
    """How often each factor is selected on halves of the rows, if that was asked for."""

    @property
    def settings_used(self) -> dict[str, Any]:
        """All settings, defaults that depend on others filled in."""
        settings, procedure = self.settings, self.settings.procedure()
        return vars(settings) | {
            "alpha": procedure.alpha if settings.rule == "calibrated" else None,
            "estimator": settings.estimator or procedure.estimator,
            "sample": self.sample,
            "categorical": list(self.table.categorical),
            **self.table.reading,
        }

    @property
    def classes(self) -> list[Any]:
        """The two class labels, the second counted as 1; empty for a quantity."""
        if self.indices.task != "classification":
            return []
        labels = sorted(set(self.table.y.to_list()))
        return [int(label) if isinstance(label, float) and label.is_integer() else label for label in labels]

    def notes(self) -> list[str]:
        """Say what happened to the data on the way, in sentences."""
        table = self.table
        notes = [f"Column {name!r} was left out: {why}." for name, why in table.left_out.items()]
        if table.n_drawn is not None:
            notes.append(f"{table.n_drawn:,} of {table.n_read:,} rows were drawn at random.")
        if table.n_dropped:
            notes.append(f"{table.n_dropped:,} rows with missing values were left out.")
        if table.n_copies:
            notes.append(f"{table.n_copies:,} copies of rows were left out.")
        if self.indices.uncertainty is None:
            notes.append(NO_UNCERTAINTY)
        return [*notes, *table.remarks]


def search(table: "Table", settings: Settings, narrate: "Callable[[tuple[str, ...], float], Report]") -> "Indices":
    """Find the factors that matter by the method asked for.

    ``narrate`` gets the names of the factors and the variance of the response, and returns what is told each step.
    """
    from .crowding import TooFewRowsWarning
    from .data_quality import DataQualityWarning
    from .indices import total_indices
    from .selection import appraise, eliminate
    from .variance import open_variances

    settings.check_rows(len(table.y))
    options = settings.options(table.categorical)
    if settings.method == "total":
        sure = len(table.X.columns) <= MOST_WITH_UNCERTAINTY
        with warnings.catch_warnings():
            for category in (TooFewRowsWarning, DataQualityWarning):  # what is printed has a line for it
                warnings.simplefilter("ignore", category)
            return total_indices(table.X, table.y, uncertainty=sure, **options)
    with open_variances(table.X, table.y, **options) as variances:
        if settings.method == "backward":
            report = narrate(variances.design.names, variances.response.variance)
            selection = eliminate(variances, variances.design.varying, "batch", report=report)
            return appraise(variances, selection, "NANNE-BE", len(selection.kept) <= MOST_WITH_UNCERTAINTY)
        return settings.procedure().run(variances, narrate)


def select_on_halves(table: "Table", settings: Settings, progress: Callable[[int, int], None]) -> "Stability | None":
    """Select factors on halves of the rows in the same way, if that was asked for."""
    from .selector import FIRST
    from .stability_selection import stability

    if settings.stability is None:
        return None
    options = settings.options(table.categorical)
    jobs, seed = options.pop("n_jobs"), options.pop("random_state")
    procedure = settings.procedure()
    # Importances are of no interest here: a half need not be split once more for their sake.
    selector = FIRST(forward=procedure.forward, rule=procedure.rule, alpha=procedure.alpha, **options)
    return stability(
        table.X,
        table.y,
        n_pairs=settings.stability,
        selector=selector,
        n_jobs=jobs,
        random_state=seed,
        progress=progress,
    )


def write_outputs(result: Result, outputs: Outputs) -> dict[str, str]:
    """Write every file asked for, each whole or not at all; return why some could not be, by the name of the option."""
    from ._output import write_whole
    from .facts import as_csv, as_json

    write: dict[str, Callable[[Path], object]] = {
        "html": lambda path: _write_html(result, path),
        "json": lambda path: write_whole(path, lambda file: file.write(as_json(result))),
        "csv": lambda path: write_whole(path, lambda file: file.write(as_csv(result))),
        "plot": lambda path: _write_plot(result, path),
    }
    failures = {}
    for name, path in outputs.chosen.items():
        try:
            write[name](path)
        except (OSError, ImportError) as error:
            why = error.strerror if isinstance(error, OSError) and error.filename == str(path) else error
            failures[name] = f"--{name}: {str(path)!r} could not be written: {why}."
    return failures


def _write_html(result: Result, path: Path) -> None:
    from .report import write_report

    write_report(
        result.indices,
        path,
        result.table.X,
        result.table.y,
        call=result.command,
        notes=result.notes(),
        settings=result.settings_used,
        stability=result.stability,
    )


def _write_plot(result: Result, path: Path) -> None:
    """Save the picture of importances; the same result gives the same bytes."""
    from ._output import write_whole
    from .plots import plot_importance

    matplotlib = require("matplotlib", "a picture")
    kind = path.suffix[1:].lower()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with matplotlib.rc_context({"svg.hashsalt": "firstfactor"}), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # characters without a font: the ending tells them
        figure: Any = plot_importance(result.indices).figure
        write_whole(
            path,
            lambda file: figure.savefig(file, format=kind, dpi=150, bbox_inches="tight", metadata=undated),
        )
