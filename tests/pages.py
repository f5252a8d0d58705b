"""The examples on pages and what they print; `python -m tests.pages` writes all of it anew, with figures.

On a page, a block of ``python`` is run, and what it prints follows as a block of ``text``. A block of ``console``
begins with ``$ firstfactor …``, and what the command prints stands below. The blocks of a page are run one after the
other in one folder: later ones know what earlier ones have made. What cannot be run everywhere is a ``{code-block}`` or
indented.
"""

import contextlib
import io
import re
import shlex
import shutil
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firstfactor import DataQualityWarning, TooFewRowsWarning
from tests.command import run

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = [README, DOCS / "index.md", DOCS / "five-minutes.md", DOCS / "faq.md", *sorted(DOCS.glob("guide/*.md"))]

CODE = re.compile(r"^```python\n(?P<source>.*?)^```$(?:\n\n^```text\n(?P<shown>.*?)^```$)?", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(
    r"^```console\n\$ firstfactor (?P<source>.*?)\n(?P<shown>.*?)^```$(?:\n\n!\[.*?\]\((?P<figure>.*?)\))?",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Example:
    """One example of a page."""

    found: re.Match[str]
    """Where it stands on the page."""
    now: str
    """What it prints."""

    @property
    def shown(self) -> str | None:
        """What the page shows, if it does."""
        return self.found["shown"]

    @property
    def figure(self) -> str | None:
        """The name of the figure that the command draws and the page shows below."""
        return self.found.groupdict().get("figure")

    @property
    def renewed(self) -> str:
        """The text of the example with what it prints now."""
        if self.shown is None:
            return self.found[0]
        start, end = (place - self.found.start() for place in self.found.span("shown"))
        return self.found[0][:start] + self.now + self.found[0][end:]


def run_examples(text: str, folder: Path, run: Any = run) -> Iterator[Example]:
    """Run the examples of a page in order, in a folder."""
    known: dict[str, object] = {"__name__": "__main__"}
    for found in sorted([*CODE.finditer(text), *COMMAND.finditer(text)], key=re.Match.start):
        if found.re is COMMAND:
            yield Example(found, run_command(found["source"], folder, run))
        else:
            yield Example(found, run_code(found["source"], folder, known))


def run_code(source: str, folder: Path, known: dict[str, object]) -> str:
    """What Python code prints, with firstfactor's warnings; others would be errors, as no page shows them."""
    printed = io.StringIO()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        printed.write(textwrap.fill(f"{category.__name__}: {message}", 96) + "\n")

    with contextlib.redirect_stdout(printed), contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("error")
        for category in (DataQualityWarning, TooFewRowsWarning):
            warnings.simplefilter("always", category)
        warnings.showwarning = show
        exec(source, known)
    return printed.getvalue()


def run_command(arguments: str, folder: Path, run: Any = run) -> str:
    """What the command prints. In a process of its own, its time is what a person waits."""
    finished = run(*shlex.split(arguments), folder=folder, COLUMNS="80")
    if finished.returncode:
        raise RuntimeError(finished.stderr.decode())
    return str(finished.stdout.decode())


def write_anew(page: Path) -> None:
    """Put what the examples print now in place of what a page shows, and the figures that they draw."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for example in [*run_examples(text, Path(folder))]:
            text = text.replace(example.found[0], example.renewed)
            if example.figure:
                shutil.copy(Path(folder) / Path(example.figure).name, page.parent / example.figure)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for each in [Path(name) for name in sys.argv[1:]] or PAGES:
        write_anew(each)
