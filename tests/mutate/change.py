"""One change to the source, and which tests should see it."""

from dataclasses import dataclass
from pathlib import Path

import firstfactor

ROOT = Path(__file__).parents[2]
PACKAGE = Path(firstfactor.__file__).parent


@dataclass(frozen=True)
class Change:
    """A piece of one source file and what takes its place."""

    file: str
    slip: str
    """What went wrong, in a few words."""
    old: str
    new: str
    tests: str
    """Arguments of pytest, in the folder of the tests: a test file, or a test in it where the file takes long."""
    equivalent: str = ""
    """Why no test can see it, if so."""

    @property
    def name(self):
        return f"{self.file}: {self.slip}"

    def apply(self, text):
        """Return the text of the file with the change; an error that names it if there is not one place for it."""
        found = text.count(self.old)
        if found != 1:
            raise ValueError(f"{self.name}: {self.old!r} must occur once in the file; it occurs {found} times.")
        if self.new == self.old:
            raise ValueError(f"{self.name}: {self.old!r} is replaced by itself.")
        return text.replace(self.old, self.new)
