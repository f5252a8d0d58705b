"""Warnings that point at the line of the caller's code, however deep in the package they arise."""

import sys
import warnings

_PACKAGE = __name__.partition(".")[0]


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn as if the first caller outside of this package had done it."""
    warnings.warn(message, category, stacklevel=_levels_to_caller())


def _levels_to_caller() -> int:
    """How many calls above `warn_user` the caller of the package is, itself counted."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    return level
