"""From "kind:seed" to a case."""

from .calls import SharingCase, TableCase
from .commands import FileCase, HostileCase

KINDS = {"tables": TableCase, "sharing": SharingCase, "files": FileCase, "hostile": HostileCase}


def make_case(name):
    """Return the case of the given name, such as "tables:12345"."""
    kind, _, seed = name.partition(":")
    return KINDS[kind](int(seed))
