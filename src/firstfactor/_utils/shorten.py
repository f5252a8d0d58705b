"""Abbreviation of names that stays unambiguous."""

from collections import defaultdict
from collections.abc import Callable
from functools import partial

# Minimum length of an abbreviated name: its first and last character and the ellipsis.
SHORTEST = 3


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
