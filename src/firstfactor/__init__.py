"""Which factors drive the response, how much, and how well could any model do? From the table alone."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .data_quality import DataQualityWarning
    from .indices import Indices, explained_variance, total_indices
    from .path import Path
    from .selection import backward_elimination
    from .selector import FIRST
    from .stability_selection import Stability, stability

__all__ = [
    "FIRST",
    "DataQualityWarning",
    "Indices",
    "Path",
    "Stability",
    "backward_elimination",
    "explained_variance",
    "stability",
    "total_indices",
]
__version__ = "0.1.0"

_HOMES = {
    "DataQualityWarning": "data_quality",
    "FIRST": "selector",
    "Indices": "indices",
    "Path": "path",
    "Stability": "stability_selection",
    "backward_elimination": "selection",
    "explained_variance": "indices",
    "stability": "stability_selection",
    "total_indices": "indices",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: help on the command line need not wait for compilers."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
