"""Warnings that point at the line of the caller's code, however deep in the package they arise."""

import sys
import warnings

_PACKAGE = __name__.partition(".")[0]


def warn_user(message: str, category: type[Warning]) -> None:
    """Issue a warning as if the first caller outside this package had done so."""
    warnings.warn(message, category, stacklevel=_levels_to_caller())


def _levels_to_caller() -> int:
    """Return the number of calls from `warn_user` up to the caller of the package, inclusive."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    return level
