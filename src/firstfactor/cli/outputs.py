"""Files that a run of the command writes."""

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._utils.atomic_write import follow_links, write_whole
from .._utils.packages import require
from ..tables.find_files import STANDARD_INPUT, find_files
from .errors import EXPECTED

if TYPE_CHECKING:
    from ..ranking import Ranking

PICTURES = (".png", ".svg", ".pdf")


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

    def check(self, data: Sequence[str] = ()) -> None:
        """Raise an error if a file cannot be written, or would overwrite the data or another output."""
        files = find_files(data) if data and self.chosen else ()
        taken = {Path(file).resolve(): "the data" for file in files if file != STANDARD_INPUT}
        for name, path in self.chosen.items():
            try:
                target = follow_links(path)
            except OSError as error:
                raise ValueError(f"--{name}: {error}") from error
            folder = target.parent if path.is_symlink() else path.parent
            if path.is_dir() or (path.exists() and not path.is_file()):
                raise ValueError(f"--{name}: {str(path)!r} is not a file.")
            if not folder.is_dir():
                raise ValueError(f"--{name}: there is no folder {str(folder)!r}. Make it first.")
            if not os.access(folder, os.W_OK):
                raise ValueError(f"--{name}: the folder {str(folder)!r} cannot be written to.")
            if target in taken:
                raise ValueError(f"--{name}: {str(path)!r} would overwrite {taken[target]}.")
            taken[target] = f"what --{name} writes"
        if self.plot and self.plot.suffix.lower() not in PICTURES:
            raise ValueError(f"--plot must end in one of {', '.join(PICTURES)}; got {str(self.plot)!r}.")
        if self.html or self.plot:
            from ..reporting.report import today

            today()  # raises an error if the date is invalid

    def write(self, ranking: "Ranking", command: str) -> tuple[dict[str, Path], list[Exception]]:
        """Write every requested file, each completely or not at all.

        Return those that were written, by the name of their option, and why others were not.
        """
        writers: dict[str, Callable[[Path], object]] = {
            "html": lambda path: ranking.report(path, call=command),
            "json": lambda path: _write_text(path, ranking.to_json(command=command)),
            "csv": lambda path: _write_text(path, ranking.to_csv()),
            "plot": lambda path: _write_plot(ranking, path),
        }
        written, failures = {}, []
        for name, path in self.chosen.items():
            try:
                writers[name](path)
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
    write_whole(path, lambda file: file.write(text.encode()))


def _write_plot(ranking: "Ranking", path: Path) -> None:
    """Save the plot of importances; the same result gives the same bytes."""
    matplotlib = require("matplotlib", "a picture")
    kind = path.suffix[1:].lower()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with matplotlib.rc_context({"svg.hashsalt": "firstfactor"}), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # characters without a font: the ending names them
        figure: Any = ranking.plot().figure
        write_whole(
            path,
            lambda file: figure.savefig(file, format=kind, dpi=150, bbox_inches="tight", metadata=undated),
        )
