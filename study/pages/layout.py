"""A table of results that can be printed in a terminal and written into a page."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

from firstfactor._utils.frames import make_text

WIDTH = 100
NOTHING = "–"


@dataclass(frozen=True)
class Table:
    """Cells of text under a header, with a line of text before and one after."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    note: str = ""
    strong: frozenset[int] = field(default=frozenset())
    """Rows to emphasise on a page."""

    def text(self) -> str:
        """Return the table as aligned text."""
        parts = [wrap(self.title), make_text(self.header, self.rows)]
        return "\n".join([*parts, wrap(self.note)] if self.note else parts)

    def markdown(self) -> str:
        """Return the table in Markdown."""
        rules = ["---", *["---:"] * (len(self.header) - 1)]
        emphasised = [
            [f"**{cell}**" if cell else cell for cell in row] if k in self.strong else row
            for k, row in enumerate(self.rows)
        ]
        lines = [" | ".join(cells) for cells in (self.header, rules, *emphasised)]
        parts = [self.title, "\n".join(f"| {line} |" for line in lines)]
        return "\n\n".join([*parts, self.note] if self.note else parts)


def wrap(text: str, first: str = "", later: str = "") -> str:
    """Return text in lines that fit a terminal."""
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=later, break_long_words=False)
