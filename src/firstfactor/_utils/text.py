"""Text from tables, files and arguments, made safe to show: in a terminal, control characters are commands."""

import unicodedata
from collections.abc import Sequence
from typing import Any


def without_controls(text: str) -> str:
    """Text without characters that cannot be shown, that reorder others, or that a terminal obeys.

    Everything that is printed goes through here, line by line: line breaks count as well.
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_shown, text))


def printable(value: Any) -> str:
    """A name on one line, without control characters, and never empty."""
    return without_controls(" ".join(str(value).split())) or "(no name)"


def list_names(names: Sequence[str], last: str = "and", most: int = 5) -> str:
    """Names as a list in words; of many, the first few and how many more."""
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
    """The part of a message that a person wants to see."""
    return str(error).strip().split("\n")[0].rstrip(".") + "."


def _shown(character: str) -> str:
    """What to show for a character."""
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    return "\N{REPLACEMENT CHARACTER}" if category in ("Cc", "Cs", "Cn", "Zl", "Zp") else character
