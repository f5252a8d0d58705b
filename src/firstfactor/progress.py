"""What a person sees while waiting. Imports nothing that takes long: loading is part of the wait."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from .text import printable, without_controls

if TYPE_CHECKING:
    from .path import Step
    from .selection import Report

Show = Callable[[str], None]


@contextlib.contextmanager
def progress(wanted: bool) -> Iterator[Show]:
    """Show on standard error what is being done, if that is a terminal and someone wants to know."""
    if not (wanted and sys.stderr.isatty()):
        yield lambda _: None
        return
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    with console.status("starting") as status:
        yield lambda text: status.update(Text(without_controls(text)))


def narrate(show: Show, names: tuple[str, ...], response_variance: float) -> "Report":
    """Return a report that shows after each step of a search how far it has come."""

    def report(step: "Step") -> None:
        enters = step.phase == "forward" and bool(step.chosen)
        explained = float(step.explained.max()) if enters else step.base_explained
        share = f"{max(explained / response_variance, 0):.0%}"
        if enters:
            entered, left = printable(names[step.chosen[0]])[:24], len(step.candidates) - 1
            show(f"searching: + {entered}, {len(step.base) + 1} factors explain {share}; trying {left} more")
        else:
            show(f"searching: {share} explained; checking that each of {len(step.base)} factors is needed")

    return report


def count_halves(show: Show, done: int, total: int) -> None:
    """Show on how many halves of the rows factors were selected."""
    show(f"selecting on halves of the rows: {done} of {total}")
