"""Text from tables, files and arguments, made safe to print: in a terminal, control characters are commands."""

import unicodedata
from collections.abc import Sequence
from typing import Any


def without_controls(text: str) -> str:
    """Replace or remove characters that cannot be shown, that reorder others, or that control a terminal.

    All printed text passes through here, line by line: line breaks are replaced as well.
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_shown, text))


def printable(value: Any) -> str:
    """Return a name on one line, without control characters, and never empty."""
    return without_controls(" ".join(str(value).split())) or "(no name)"


def list_names(names: Sequence[str], last: str = "and", most: int = 5) -> str:
    """Return names as a list in words; of many names, the first few and the number of others."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def quote_names(names: Sequence[str], last: str = "and", most: int = 9) -> str:
    """Return names in quotes as a list in words."""
    return list_names([repr(name) for name in names], last, most)


def in_quotes(value: str) -> str:
    """Return a value as it is typed in a shell, always in quotes."""
    return "'" + value.replace("'", "'\"'\"'") + "'"


def first_line(error: BaseException) -> str:
    """Return the first line of an error message, as a sentence."""
    return str(error).strip().split("\n")[0].rstrip(".") + "."


def _shown(character: str) -> str:
    """Return the text to show for a character."""
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    return "\N{REPLACEMENT CHARACTER}" if category in ("Cc", "Cs", "Cn", "Zl", "Zp") else character
