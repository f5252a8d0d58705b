"""Standard output in characters that it can encode, as wide as the terminal."""

from typing import TextIO

from rich.console import Console
from rich.text import Text

from .._utils.text import without_controls
from ..results.formats import draw_bar

# Placeholder of a non-breaking space while lines are wrapped.
UNBROKEN = "\ue000"

_ASCII = str.maketrans({"²": "2", "−": "-", "–": "-", "…": "~", "█": "#", "░": ".", "→": "->", "±": "+-", "≥": ">="})


class _Console(Console):
    """Console that raises an error if the pipe is closed; that of rich would end the process."""

    def on_broken_pipe(self) -> None:
        """Raise the error again."""
        raise


class Screen:
    """Standard output: as wide as the terminal, plain in a pipe, in characters that it can encode."""

    def __init__(self, file: TextIO) -> None:
        if hasattr(file, "reconfigure"):
            file.reconfigure(errors="backslashreplace")  # a name in another script must not end the run
        self._console = _Console(file=file, highlight=False, markup=False, emoji=False)
        self._ascii = not self._console.encoding.lower().startswith("utf")

    @property
    def width(self) -> int:
        """Width in characters."""
        return self._console.width

    def print(self, *parts: str | tuple[str, str]) -> None:
        """Print text with styles for parts of it, wrapped at words."""
        styled = [(part, "") if isinstance(part, str) else part for part in parts]
        paragraph = Text.assemble(*((self.plain(text).replace(" %", UNBROKEN + "%"), style) for text, style in styled))
        for line in paragraph.wrap(self._console, self.width):
            line.plain = line.plain.replace(UNBROKEN, " ")
            line.rstrip()
            self._console.print(line)

    def print_line(self, start: str, end: str, style: str) -> None:
        """Print one row of a table, truncated to the width of the terminal."""
        row = Text.assemble(self.plain(start), (self.plain(end), style))
        self._console.print(row, no_wrap=True, overflow="crop", crop=True)

    def plain(self, text: str) -> str:
        """Return text in characters that the encoding has, without control characters."""
        text = without_controls(text)
        return text.translate(_ASCII) if self._ascii else text

    def bar(self, share: float | None, pale: float, width: int) -> str:
        """Return a solid and a pale bar in characters of the terminal; see `draw_bar`."""
        return draw_bar(share, pale, width, self._ascii)
