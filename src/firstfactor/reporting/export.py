"""All there is to know about a result as plain values: what JSON and CSV files hold."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from .._utils.optional import versions
from ..results.explanations import why_left_out
from ..results.wording import LEVEL, say_no_p_values
from .rows import explain

# Where spreadsheets would begin a formula: at the start of a text, and after a semicolon or a line break where
# semicolons separate cells, whatever is in quotes. Signs of full width count as well.
FORMULA = re.compile(r"(?:^|(?<=[;\r\n]))(?=[\t\r\n]|\s*[=+@\-\uff1d\uff0b\uff0d\uff20])")

if TYPE_CHECKING:
    from ..results.indices import Indices
    from ..results.sharing import Cluster, Tree
    from ..results.stability import Stability
    from ..tables.dataset import Dataset


class Exported(Protocol):
    """What is exported: a `Ranking`."""

    @property
    def indices(self) -> "Indices":
        """Importances."""

    @property
    def dataset(self) -> "Dataset":
        """The table."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the table comes from."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """All parameters by name."""

    @property
    def stability(self) -> "Stability | None":
        """How often each factor is selected on halves of the rows."""

    @property
    def seconds(self) -> Mapping[str, float]:
        """How long each part took."""

    @property
    def classes(self) -> list[Any]:
        """The class labels."""


def as_json(result: Exported, more: Mapping[str, Any]) -> str:
    """Everything as JSON text, ``more`` first."""
    return _encodable(json.dumps({**more, **as_dict(result)}, indent=2, ensure_ascii=False, default=str) + "\n")


def as_csv(result: Exported) -> str:
    """The table of factors as CSV text."""
    rows = _factor_rows(result)
    return _encodable("".join(f"{','.join(map(_cell, row))}\n" for row in (rows[0], *(row.values() for row in rows))))


def _encodable(text: str) -> str:
    """Text that can be written as UTF-8: bytes of paths that are not UTF-8 are escaped, as JSON has it."""
    return text.encode(errors="backslashreplace").decode()


def as_dict(result: Exported) -> dict[str, Any]:
    """Everything as plain values by name."""
    data, indices = result.dataset, result.indices
    return {
        "data": {
            "source": data.shown,
            "files": list(result.files),
            "target": data.target_names[0] if len(data.target_names) == 1 else list(data.target_names),
            "task": indices.task,
            "classes": result.classes,
            "rows_in_file": data.n_read,
            "rows_drawn": data.n_drawn,
            "rows_dropped": data.n_dropped,
            "rows_without_target": data.dropped.no_target,
            "missing_values_dropped": dict(data.dropped.costs),
            "copies_dropped": data.n_copies,
            "rows_used": len(data.y),
            "rows_estimated_on": indices.n_rows,
            "rows_selected_on": None if indices.path is None else indices.path.n_rows,
            "factors": len(indices.names),
            "kinds": dict(Counter(indices.kinds)),
            "left_out": data.left_out,
            "remarks": list(data.remarks),
            "true_factors": list(data.true_factors) or None,
        },
        "settings": dict(result.settings),
        "method": indices.method,
        "r2_ceiling": indices.r2_ceiling,
        **_uncertainty(indices),
        "sample_size": _sample_size(indices),
        "findings": [vars(finding) for finding in indices.findings],
        "response_variance": indices.response_variance,
        "explained_variance": indices.explained_variance,
        "noise_variance": indices.response_variance - indices.explained_variance,
        "factors": _factor_rows(result),
        **_sharing(indices),
        "stability": None if result.stability is None else _stability(result.stability),
        "path": _path_steps(indices),
        "seconds": {name: round(seconds, 3) for name, seconds in result.seconds.items()},
        "versions": versions("polars"),
    }


def _uncertainty(indices: "Indices") -> dict[str, Any]:
    """How sure the ceiling and the noise variance are."""
    sure = indices.uncertainty
    return {
        "r2_standard_error": None if sure is None else _number(sure.r2),
        "r2_interval": None if sure is None or math.isnan(sure.r2) else list(indices.r2_interval(LEVEL)),
        "noise_standard_error": None if sure is None else _number(sure.noise),
        "interval_level": LEVEL,
        "why_no_p_values": say_no_p_values(indices) or None,
        "explained_by_factors_left_out": None if indices.evidence is None else indices.evidence.rest,
    }


def _sample_size(indices: "Indices") -> dict[str, Any]:
    """Whether the rows are enough."""
    size = indices.sample_size
    return {
        "distance_share": size.distance_share,
        "distance_bias": size.distance_bias,
        "supported_factors": size.supported,
    }


def _sharing(indices: "Indices") -> dict[str, Any]:
    """Which factors stand in for each other, and the tree that shows which share information; None if not looked at."""
    sharing = indices.sharing
    if sharing is None:
        return {"clusters": None, "tree": None}
    return {
        "clusters": [_cluster(cluster) for cluster in sharing.clusters],
        "tree": None if sharing.tree is None else _tree(sharing.tree),
    }


def _cluster(cluster: "Cluster") -> dict[str, Any]:
    """Factors that stand in for each other; ``kept`` is in the order of ``factors``."""
    low, high = map(_number, cluster.interval(LEVEL))
    return {
        "factors": list(cluster.factors),
        "joint": cluster.joint,
        "standard_error": _number(cluster.standard_error),
        "low": low,
        "high": high,
        "representative": cluster.representative,
        "kept": list(cluster.kept),
        "dependence": cluster.dependence,
        "any_will_do": cluster.any_will_do,
    }


def _tree(tree: "Tree") -> dict[str, Any]:
    """The leaves by name, and the nodes from those that share most to the root; ``children`` number leaves first."""
    return {
        "leaves": [tree.names[i] for i in tree.leaves],
        "nodes": [
            {
                "children": list(node.children),
                "factors": [tree.names[i] for i in node.positions],
                "dependence": node.dependence,
                "joint": _number(node.joint),
                "standard_error": _number(node.standard_error),
            }
            for node in tree.nodes
        ],
    }


def _stability(found: "Stability") -> dict[str, Any]:
    """What selecting on halves gave; frequencies are those of the factors."""
    return {
        "pairs": found.n_pairs,
        "threshold": found.threshold,
        "selected": [found.names[i] for i in found.selected],
        "average_size": found.average_size,
        "expected_false": found.expected_false,
        "expected_false_unimodal": found.expected_false_unimodal,
    }


def _factor_rows(result: Exported) -> list[dict[str, Any]]:
    """One row per factor, the selected ones first."""
    indices, halves = result.indices, result.stability
    ranking, shares, support, weak = indices.ranking, indices.shares, indices.support, indices.weak
    evidence, alone = _evidence(indices), _alone(indices)
    return [
        {
            "rank": int(ranking[i]),
            "factor": indices.names[i],
            "kind": indices.kinds[i],
            "importance": float(shares[i]),
            **evidence[i],
            **alone[i],
            **({} if halves is None else {"frequency": float(halves.frequencies[i])}),
            "selected": bool(support[i]),
            "weak": bool(weak[i]),
            "reason": "" if support[i] else why_left_out(indices, i),
            "explanation": explain(indices, i),
            "missing": indices.missing[i],
            "forced": i in indices.forced,
        }
        for i in [*indices.selected.tolist(), *indices.left_out.tolist()]
    ]


def _evidence(indices: "Indices") -> list[dict[str, float | None]]:
    """How sure each importance is; None where that is not known."""
    names = ("standard_error", "p_value", "q_value", "low", "high")
    if indices.uncertainty is None:
        return [dict.fromkeys(names)] * len(indices.names)
    columns = (indices.standard_errors, indices.p_values, indices.q_values, *indices.interval(LEVEL).T)
    return [dict(zip(names, map(_number, row), strict=True)) for row in zip(*columns, strict=True)]


def _alone(indices: "Indices") -> list[dict[str, float | None]]:
    """What each factor explains by itself, and how sure that is; None where it is not known."""
    names = ("alone", "alone_standard_error")
    if indices.sharing is None:
        return [dict.fromkeys(names)] * len(indices.names)
    found = indices.sharing.alone
    rows = zip(found.values, found.standard_errors, strict=True)
    return [dict(zip(names, map(_number, row), strict=True)) for row in rows]


def _number(value: float) -> float | None:
    """A value as JSON has it, which knows no "not a number"."""
    return None if math.isnan(value) else float(value)


def _path_steps(indices: "Indices") -> list[dict[str, Any]] | None:
    if indices.path is None:
        return None

    def named(factors: Iterable[int]) -> list[str]:
        return [indices.names[i] for i in factors]

    total = indices.path.response_variance
    return [
        {
            "phase": step.phase,
            "factors": named(step.base),
            "r2": step.base_explained / total,
            "candidates": dict(zip(named(step.candidates), (step.explained / total).tolist(), strict=True)),
            "changed": named(step.chosen),
            "p_value": step.p_value,
        }
        for step in indices.path.steps
    ]


def _cell(value: Any) -> str:
    """A value as a cell of a CSV file: text is in quotes, and what a spreadsheet would run gets an apostrophe."""
    if isinstance(value, str):
        return '"' + FORMULA.sub("'", value).replace('"', '""') + '"'
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
