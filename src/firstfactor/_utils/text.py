"""Text from tables, files and arguments, made safe to print: in a terminal, control characters are commands."""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

# Minimum length of an abbreviated name: its first and last character and the ellipsis.
SHORTEST = 3


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


# --- abbreviations --------------------------------------------------------------------------------------------------


def shorten_all(names: list[str], fits: Callable[[int, str], bool]) -> list[str]:
    """Shorten names until they fit, in the middle, or around the part in which they differ if that lies there."""
    short = [shorten(name, partial(fits, row)) for row, name in enumerate(names)]
    alike = defaultdict(set)
    for name, text in zip(names, short, strict=True):
        alike[text].add(name)
    for row, name in enumerate(names):
        others = alike[short[row]]
        if len(others) > 1:
            start = _shared([*others])
            end = len(name) - _shared([other[start:][::-1] for other in others])
            short[row] = shorten(name, partial(fits, row), start, end)
    return short


def _shared(names: list[str]) -> int:
    """Return the length of the common prefix of all names."""
    return next((i for i, column in enumerate(zip(*names, strict=False)) if len(set(column)) > 1), min(map(len, names)))


def shorten(name: str, fits: Callable[[str], bool], start: int = 0, end: int = 0) -> str:
    """Return the name, or as much of it as fits: its two ends, or the part around ``start`` to ``end``."""
    if fits(name) or len(name) <= SHORTEST:
        return name

    def keep(characters: int) -> str:
        if end > start:
            low = max(start - (characters + 1) // 2, 0)
            return f"…{name[low : end + characters // 2]}…"
        return f"{name[: (characters + 1) // 2]}…{name[len(name) - characters // 2 :]}"

    least, most = 0 if end > start else 2, max(2, len(name) - 1)
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if fits(keep(middle)) else (least, middle - 1)
    return keep(least)
