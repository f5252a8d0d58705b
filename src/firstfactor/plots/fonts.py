"""Fonts for names in any script: those in use, then installed ones that have the characters they lack."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .._utils.optional import require
from .._utils.text import printable

# Has a box for every character, and matplotlib draws it without being asked.
LAST_RESORT = "Last Resort"


@dataclass(frozen=True)
class Fallback:
    """What stands in for fonts that lack some characters."""

    families: tuple[str, ...]
    """Installed fonts that have them."""
    lacking: str
    """The characters that no font has."""


@contextmanager
def fonts_for(texts: Iterable[str]) -> Iterator[None]:
    """Let text be set in fonts that have the characters of ``texts``, as far as there are any."""
    families = find_fallback(texts).families
    matplotlib = require("matplotlib", "a plot")
    with matplotlib.rc_context({"font.family": [*matplotlib.rcParams["font.family"], *families]}):
        yield


def find_fallback(texts: Iterable[str]) -> Fallback:
    """The installed fonts that have what those in use do not."""
    manager = require("matplotlib.font_manager", "a plot")
    in_use = require("matplotlib", "a plot").rcParams["font.family"]
    lacking = {character for text in texts for character in printable(text)}
    for family in in_use:
        lacking -= _held(manager.findfont(manager.FontProperties(family=[family])), lacking)
    families: list[str] = []
    upright = (font for font in manager.fontManager.ttflist if font.style == "normal")
    for font in sorted(upright, key=lambda font: (font.name, font.fname)):
        if not lacking:
            break
        found = set() if font.name.startswith(LAST_RESORT) else _held(font.fname, lacking)
        if found:
            families.append(font.name)
            lacking -= found
    return Fallback(tuple(families), "".join(sorted(lacking)))


def _held(path: str, characters: set[str]) -> set[str]:
    """The characters that a font has."""
    try:
        font = require("matplotlib.font_manager", "a plot").get_font(path)
    except (OSError, RuntimeError):  # a file that is damaged, or gone
        return set()
    if not font.scalable:  # pictures of emoji, which cannot be drawn as text
        return set()
    return {character for character in characters if font.get_char_index(ord(character))}
