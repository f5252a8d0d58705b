"""Result in the terminal: the data, the answer, the table of factors, and the files written."""

from collections.abc import Mapping
from typing import Any

from .._utils.text import printable
from ..ranking import Ranking
from ..results.drivers import say_drivers
from ..results.wording import say_ceiling
from .screen import Screen
from .sentences import after_table, data_line, doubts, missing_line, response_name
from .table import print_factors


def print_result(screen: Screen, result: Ranking) -> None:
    """Print a summary of the data, the drivers of the response, the ceiling of any model, and the factors."""
    screen.print(*data_line(result))
    missing = missing_line(result)
    if missing:
        screen.print(missing)
    for remark in result.dataset.remarks:
        screen.print(("Note: ", "yellow"), printable(remark))
    screen.print()
    several = result.settings["response"] != "values"
    screen.print((say_drivers(result.indices, response_name(result), several=several), "bold"))
    if result.indices.selected.size:
        screen.print(say_ceiling(result.indices, response_name(result)))
    for doubt in doubts(result):
        screen.print(("Note: ", "yellow"), doubt)
    screen.print()
    print_factors(screen, result)
    for line in after_table(result):
        screen.print(line)


def print_ending(screen: Screen, result: Ranking, written: dict[str, Any], seconds: Mapping[str, float]) -> None:
    """Print the files that were written, and the time of each part."""
    screen.print()
    for path in written.values():
        screen.print(f"Wrote {path}")
    if "plot" in written and (lacking := _lacking_characters(result)):
        screen.print(("Note: ", "yellow"), f"No installed font has {_some(lacking)}; the picture shows boxes instead.")
    parts = ", ".join(f"{name} {time:.2f}" for name, time in seconds.items())
    screen.print((f"Time: {sum(seconds.values()):.2f} s ({parts})", "dim"))


def _lacking_characters(result: Ranking) -> str:
    """Return the characters in names of factors that no installed font has."""
    from ..plots.fonts import find_fallback

    return find_fallback(result.indices.names).lacking


def _some(characters: str, most: int = 10) -> str:
    return characters if len(characters) <= most else f"{characters[:most]} and {len(characters) - most} more"
