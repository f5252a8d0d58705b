"""Progress display. It imports nothing that is slow to load, because loading is part of the wait."""

import contextlib
import sys
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.text import Text

from .._utils.text import without_controls

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
