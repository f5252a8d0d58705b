"""Rank the factors that a response depends on, and estimate how well any model could do, from the data alone."""

# Nothing is imported here, so that the command can handle Ctrl-C as soon as it starts.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .findings.finding import (
        ColumnsWarning,
        DataQualityWarning,
        LeakWarning,
        RelatedFactorsWarning,
        ResponseWarning,
        RowsWarning,
        UnitsWarning,
    )
    from .first import FIRST
    from .functions import (
        backward_elimination,
        closed_indices,
        cumulative_ranking,
        explained_variance,
        interactions,
        shapley_effects,
        stability,
        total_indices,
    )
    from .inference.sample_size import TooFewRowsWarning
    from .ranking import Ranking, rank
    from .results.cumulative import CumulativeRanking
    from .results.indices import Indices
    from .results.interactions import Interactions
    from .results.path import Path
    from .results.sharing import Cluster, Tree
    from .results.stability import Stability

__version__ = "0.2.0"

# Module that defines each public name.
_HOMES = {
    "FIRST": "first",
    "Cluster": "results.sharing",
    "ColumnsWarning": "findings.finding",
    "CumulativeRanking": "results.cumulative",
    "DataQualityWarning": "findings.finding",
    "Indices": "results.indices",
    "Interactions": "results.interactions",
    "LeakWarning": "findings.finding",
    "Path": "results.path",
    "Ranking": "ranking",
    "RelatedFactorsWarning": "findings.finding",
    "ResponseWarning": "findings.finding",
    "RowsWarning": "findings.finding",
    "Stability": "results.stability",
    "TooFewRowsWarning": "inference.sample_size",
    "Tree": "results.sharing",
    "UnitsWarning": "findings.finding",
    "backward_elimination": "functions",
    "closed_indices": "functions",
    "cumulative_ranking": "functions",
    "explained_variance": "functions",
    "interactions": "functions",
    "rank": "ranking",
    "shapley_effects": "functions",
    "stability": "functions",
    "total_indices": "functions",
}
__all__ = [
    "FIRST",
    "Cluster",
    "ColumnsWarning",
    "CumulativeRanking",
    "DataQualityWarning",
    "Indices",
    "Interactions",
    "LeakWarning",
    "Path",
    "Ranking",
    "RelatedFactorsWarning",
    "ResponseWarning",
    "RowsWarning",
    "Stability",
    "TooFewRowsWarning",
    "Tree",
    "UnitsWarning",
    "backward_elimination",
    "closed_indices",
    "cumulative_ranking",
    "explained_variance",
    "interactions",
    "rank",
    "shapley_effects",
    "stability",
    "total_indices",
]


def __getattr__(name: str) -> "Any":
    """Import a public name on first use, so that help on the command line does not wait for the compiler."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    globals()[name] = value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
