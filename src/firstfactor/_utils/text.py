"""Text from tables, files and arguments, made safe to show: in a terminal, control characters are commands."""

import unicodedata
from typing import Any


def without_controls(text: str) -> str:
    """Text without characters that cannot be shown, that reorder others, or that a terminal obeys.

    Everything that is printed goes through here, line by line: line breaks count as well.
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_shown, text))


def printable(value: Any) -> str:
    """A name on one line, without control characters, and never empty."""
    return without_controls(" ".join(str(value).split())) or "(no name)"


def _shown(character: str) -> str:
    """What to show for a character."""
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    return "\N{REPLACEMENT CHARACTER}" if category in ("Cc", "Cs", "Cn", "Zl", "Zp") else character
