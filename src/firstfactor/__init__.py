"""Which factors drive the response, how much, and how well could any model do? From the table alone."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .data.quality import DataQualityWarning
    from .first import FIRST
    from .functions import backward_elimination, explained_variance, stability, total_indices
    from .inference.sample_size import TooFewRowsWarning
    from .ranking import Ranking, rank
    from .results.indices import Indices
    from .results.path import Path
    from .results.stability import Stability

__version__ = "0.1.0"

# Where each public name is defined.
_HOMES = {
    "FIRST": "first",
    "DataQualityWarning": "data.quality",
    "Indices": "results.indices",
    "Path": "results.path",
    "Ranking": "ranking",
    "Stability": "results.stability",
    "TooFewRowsWarning": "inference.sample_size",
    "backward_elimination": "functions",
    "explained_variance": "functions",
    "rank": "ranking",
    "stability": "functions",
    "total_indices": "functions",
}
__all__ = [
    "FIRST",
    "DataQualityWarning",
    "Indices",
    "Path",
    "Ranking",
    "Stability",
    "TooFewRowsWarning",
    "backward_elimination",
    "explained_variance",
    "rank",
    "stability",
    "total_indices",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: help on the command line does not wait for the compiler."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
