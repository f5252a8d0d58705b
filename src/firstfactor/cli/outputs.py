"""The files that a run of the command writes."""

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._utils.optional import require
from ..files.find_files import STANDARD_INPUT, find_files

if TYPE_CHECKING:
    from ..ranking import Ranking

PICTURES = (".png", ".svg", ".pdf")


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

    def check(self, data: Sequence[str] = ()) -> None:
        """Refuse what could not be written, or would destroy something, before any work is done."""
        files = find_files(data) if data and self.chosen else ()
        taken = {Path(file).resolve(): "the data" for file in files if file != STANDARD_INPUT}
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

    def write(self, ranking: "Ranking", command: str) -> dict[str, str]:
        """Write every file asked for, each whole or not at all; return why some were not, by the name of the option."""
        writers: dict[str, Callable[[Path], object]] = {
            "html": lambda path: ranking.report(path, call=command),
            "json": lambda path: _write_text(path, ranking.to_json(command=command)),
            "csv": lambda path: _write_text(path, ranking.to_csv()),
            "plot": lambda path: _write_plot(ranking, path),
        }
        failures = {}
        for name, path in self.chosen.items():
            try:
                writers[name](path)
            except (OSError, ImportError) as error:
                why = error.strerror if isinstance(error, OSError) and error.filename == str(path) else error
                failures[name] = f"--{name}: {str(path)!r} could not be written: {why}."
        return failures


def _write_text(path: Path, text: str) -> None:
    from .._utils.atomic_write import write_whole

    write_whole(path, lambda file: file.write(text.encode()))


def _write_plot(ranking: "Ranking", path: Path) -> None:
    """Save the picture of importances; the same result gives the same bytes."""
    from .._utils.atomic_write import write_whole

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
