"""One run of the command line: a table in; a result, and the files made of it, out."""

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._extras import require, versions

if TYPE_CHECKING:
    from .indices import Indices
    from .selection import Report
    from .tables import Table

PICTURES = (".png", ".svg", ".pdf")


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
            folder = path.parent
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

    @property
    def classes(self) -> list[Any]:
        """The two class labels, the second counted as 1; empty for a quantity."""
        if self.indices.task != "classification":
            return []
        labels = self.table.y.unique().sort().to_list()
        return [int(label) if isinstance(label, float) and label.is_integer() else label for label in labels]

    def notes(self) -> list[str]:
        """Say what happened to the data on the way, in sentences."""
        table = self.table
        notes = [f"Column {name!r} was left out: {why}." for name, why in table.left_out.items()]
        if table.n_drawn is not None:
            notes.append(f"{table.n_drawn:,} of {table.n_read:,} rows were drawn at random.")
        if table.n_dropped:
            notes.append(f"{table.n_dropped:,} rows with missing values were left out.")
        return [*notes, *table.remarks]


def search(table: "Table", settings: Settings, narrate: "Callable[[tuple[str, ...], float], Report]") -> "Indices":
    """Find the factors that matter by the method asked for.

    ``narrate`` gets the names of the factors and the variance of the response, and returns what is told each step.
    """
    from .indices import total_indices
    from .procedure import Procedure
    from .selection import appraise, eliminate
    from .variance import Options, open_variances

    options: Options = {
        "n_neighbors": settings.n_neighbors,
        "n_outer": settings.n_outer,
        "scale": settings.scale,
        "categorical": list(table.categorical),
        "task": settings.task,
        "n_jobs": settings.jobs,
        "random_state": settings.seed,
    }
    if settings.method == "total":
        return total_indices(table.X, table.y, **options)
    with open_variances(table.X, table.y, **options) as variances:
        if settings.method == "backward":
            report = narrate(variances.design.names, variances.response.variance)
            selection = eliminate(variances, variances.design.varying, "batch", report=report)
            return appraise(variances, selection, "NANNE-BE")
        return Procedure("fast" if settings.method == "first-fast" else "full").run(variances, narrate)


def write_outputs(result: Result, outputs: Outputs) -> None:
    """Write every file asked for, each whole or not at all."""
    from ._output import write_whole

    write: dict[str, Callable[[Path], object]] = {
        "html": lambda path: _write_html(result, path),
        "json": lambda path: write_whole(path, lambda file: file.write(_json(result))),
        "csv": lambda path: write_whole(path, lambda file: file.write(_csv(result))),
        "plot": lambda path: _write_plot(result, path),
    }
    for name, path in outputs.chosen.items():
        write[name](path)


def facts(result: Result) -> dict[str, Any]:
    """Return all there is to know about a result, as plain values."""
    table, indices = result.table, result.indices
    return {
        "command": result.command,
        "data": {
            "source": table.shown,
            "target": table.y.name,
            "task": indices.task,
            "classes": result.classes,
            "rows_in_file": table.n_read,
            "rows_drawn": table.n_drawn,
            "rows_dropped": table.n_dropped,
            "rows_used": indices.n_rows,
            "factors": len(indices.names),
            "kinds": dict(Counter(indices.kinds)),
            "left_out": table.left_out,
            "remarks": list(table.remarks),
            "true_factors": list(table.true_factors) or None,
        },
        "settings": asdict(result.settings) | {"sample": result.sample, "categorical": list(table.categorical)},
        "method": indices.method,
        "r2_ceiling": indices.r2_ceiling,
        "response_variance": indices.response_variance,
        "explained_variance": indices.explained_variance,
        "noise_variance": indices.noise_variance,
        "factors": _factor_rows(result),
        "path": _path_steps(indices),
        "seconds": {name: round(seconds, 3) for name, seconds in result.seconds.items()},
        "versions": versions("polars"),
    }


def _factor_rows(result: Result) -> list[dict[str, Any]]:
    """Return one row per factor, the selected ones first."""
    indices = result.indices
    return [
        {
            "rank": int(indices.ranking[i]),
            "factor": indices.names[i],
            "kind": indices.kinds[i],
            "importance": float(indices.values[i]),
            "selected": bool(indices.values[i] > 0),
            "reason": "" if indices.values[i] > 0 else indices.why_left_out(i),
        }
        for i in [*indices.selected.tolist(), *indices.left_out.tolist()]
    ]


def _path_steps(indices: "Indices") -> list[dict[str, Any]] | None:
    if indices.path is None:
        return None

    def named(factors: Iterable[int]) -> list[str]:
        return [indices.names[i] for i in factors]

    total = indices.response_variance
    return [
        {
            "phase": step.phase,
            "factors": named(step.base),
            "r2": step.base_explained / total,
            "candidates": dict(zip(named(step.candidates), (step.explained / total).tolist(), strict=True)),
            "changed": named(step.chosen),
        }
        for step in indices.path.steps
    ]


def _json(result: Result) -> bytes:
    return (json.dumps(facts(result), indent=2, ensure_ascii=False, default=str) + "\n").encode()


def _csv(result: Result) -> bytes:
    rows = _factor_rows(result)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(row | {"selected": str(row["selected"]).lower()} for row in rows)
    return text.getvalue().encode()


def _write_html(result: Result, path: Path) -> None:
    from .report import write_report

    settings = facts(result)["settings"]
    table = result.table
    write_report(result.indices, path, table.X, table.y, call=result.command, notes=result.notes(), settings=settings)


def _write_plot(result: Result, path: Path) -> None:
    """Save the picture of importances; the same result gives the same bytes."""
    from ._output import write_whole
    from .plots import plot_importance

    matplotlib = require("matplotlib", "a picture")
    kind = path.suffix[1:].lower()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with matplotlib.rc_context({"svg.hashsalt": "firstfactor"}):
        figure: Any = plot_importance(result.indices).figure
        write_whole(
            path,
            lambda file: figure.savefig(file, format=kind, dpi=150, bbox_inches="tight", metadata=undated),
        )
