"""Result in the terminal: the data, the answer, the table of factors with its legend, and the files written."""

from collections.abc import Mapping
from typing import Any

from .._utils.text import list_names
from ..ranking import Ranking
from ..reporting.summary import summarise
from .screen import Screen
from .table import print_factors


def print_result(screen: Screen, result: Ranking, all_notes: bool = False, model_score: float | None = None) -> None:
    """Print a summary of the data, the drivers of the response, the ceiling of any model, and the factors."""
    said = summarise(result, in_command=True, all_notes=all_notes)
    screen.print(said.data, (f" {said.left_out}", "yellow"))
    if said.missing:
        screen.print(said.missing)
    for remark in said.remarks:
        screen.print(("Note: ", "yellow"), remark)
    for leak in said.leaks:
        screen.print(("Leak: ", "bold red"), leak)
    screen.print()
    screen.print((said.answer, "bold"))
    if said.ceiling:
        screen.print(said.ceiling)
    if model_score is not None:
        screen.print(str(result.compare(model_score)))
    for doubt in said.doubts:
        screen.print(("Note: ", "yellow"), doubt)
    screen.print()
    bars = ("", "") if print_factors(screen, result) else (" (█)", " (░)")
    for line in ["", *said.legend] if said.legend else []:
        line = line.replace(bars[0], "").replace(bars[1], "")
        screen.print(line)
    if result.dataset.true_factors:
        screen.print()
        screen.print(_verdict(result))


def print_ending(screen: Screen, result: Ranking, written: dict[str, Any], seconds: Mapping[str, float]) -> None:
    """Print the files that were written, and the time of each part."""
    screen.print()
    for path in written.values():
        screen.print(f"Wrote {path}")
    if "plot" in written and (lacking := _lacking_characters(result)):
        listed = list_names([*lacking], most=10)
        screen.print(("Note: ", "yellow"), f"No installed font has {listed}; the picture shows boxes instead.")
    parts = ", ".join(f"{name} {time:.2f}" for name, time in seconds.items())
    screen.print((f"Time: {sum(seconds.values()):.2f} s ({parts})", "dim"))


def _lacking_characters(result: Ranking) -> str:
    """Return the characters in names of factors that no installed font has."""
    from ..plots.axes import find_fallback

    return find_fallback(result.indices.names).lacking


def _verdict(result: Ranking) -> str:
    """Return the sentence that compares the factors found with the true ones."""
    true = result.dataset.true_factors
    chosen = {result.indices.names[i] for i in result.indices.selected}
    missed, wrong = [n for n in true if n not in chosen], sorted(chosen - set(true))
    verdict = "all found" if not missed else f"{', '.join(missed)} missed"
    verdict += f", {', '.join(wrong)} selected too" if wrong else ", and no others"
    is_one = len(true) == 1
    return f"The true factor{' is' if is_one else 's are'} {list_names(true, most=len(true))}: {verdict}."
