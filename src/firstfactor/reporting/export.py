"""Contents of JSON and CSV files: all results as plain values."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from .._utils.packages import versions
from ..results.constants import LEVEL
from ..results.explanations import explain_factor
from ..results.indices import Indices, ranking_lines
from ..results.ranking_line import RankingLine
from ..results.wording import say_no_p_values

# Positions at which a spreadsheet would read a formula: at the start of a text, and after a semicolon or a line break
# if it takes semicolons as separators, even in quotes. Full-width characters count as well.
FORMULA = re.compile(r"(?:^|(?<=[;\r\n]))(?=[\t\r\n]|\s*[=+@\-\uff1d\uff0b\uff0d\uff20])")

if TYPE_CHECKING:
    from ..findings.finding import Finding
    from ..results.sharing import Cluster, Tree
    from ..results.stability import Stability
    from ..tables.dataset import Dataset


class Exported(Protocol):
    """Interface of `Ranking` that is exported."""

    @property
    def indices(self) -> Indices:
        """Importances."""

    @property
    def dataset(self) -> "Dataset":
        """Table."""

    @property
    def files(self) -> tuple[str, ...]:
        """Files that the table comes from."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """All parameters by name."""

    @property
    def stability(self) -> "Stability | None":
        """Selection frequencies on random half-samples."""

    @property
    def seconds(self) -> Mapping[str, float]:
        """Duration of each part."""

    @property
    def findings(self) -> "tuple[Finding, ...]":
        """Findings about the table."""

    @property
    def why_no_intervals(self) -> str:
        """Reason why there are no intervals, if there are none."""

    @property
    def classes(self) -> list[Any]:
        """Class labels."""


def as_json(result: Exported, more: Mapping[str, Any]) -> str:
    """Return all results as JSON text, after the entries of ``more``."""
    return _encodable(json.dumps({**more, **as_dict(result)}, indent=2, ensure_ascii=False, default=str) + "\n")


def as_csv(result: Exported) -> str:
    """Return the table of factors as CSV text."""
    rows = _factor_rows(result)
    return _encodable("".join(f"{','.join(map(_cell, row))}\n" for row in (rows[0], *(row.values() for row in rows))))


def as_columns(result: Exported) -> dict[str, list[Any]]:
    """Return the table of factors by column; NaN for a number that is not known."""
    rows = _factor_rows(result)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return {name: [math.nan if each is None else each for each in values] for name, values in columns.items()}


def _encodable(text: str) -> str:
    """Return text that can be encoded as UTF-8: other bytes of paths are escaped, as in JSON."""
    return text.encode(errors="backslashreplace").decode()


def as_dict(result: Exported) -> dict[str, Any]:
    """Return all results as plain values by name."""
    data, indices = result.dataset, result.indices
    return {
        "data": {
            "source": data.shown,
            "files": list(result.files),
            "target": data.target_names[0] if len(data.target_names) == 1 else list(data.target_names),
            "task": indices.task,
            "classes": result.classes,
            "rows_in_file": data.n_read,
            "rows_chosen": data.n_chosen,
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
        "findings": [finding.as_dict() for finding in result.findings],
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


def _uncertainty(indices: Indices) -> dict[str, Any]:
    """Return the uncertainty of the ceiling and of the noise variance."""
    sure = indices.uncertainty
    return {
        "r2_standard_error": None if sure is None else _number(sure.r2),
        "r2_interval": None if sure is None or math.isnan(sure.r2) else list(indices.r2_interval(LEVEL)),
        "noise_standard_error": None if sure is None else _number(sure.noise),
        "interval_level": LEVEL,
        "why_no_p_values": say_no_p_values(indices) or None,
        "explained_by_factors_left_out": None if indices.evidence is None else indices.evidence.rest,
    }


def _sample_size(indices: Indices) -> dict[str, Any]:
    """Return the diagnosis of the sample size."""
    size = indices.sample_size
    return {
        "distance_share": size.distance_share,
        "distance_bias": size.distance_bias,
        "supported_factors": size.supported,
    }


def _sharing(indices: Indices) -> dict[str, Any]:
    """Return clusters of factors that share information, and the dependence tree; None if not analysed."""
    sharing = indices.sharing
    if sharing is None:
        return {"clusters": None, "tree": None}
    return {
        "clusters": [_cluster(cluster) for cluster in sharing.clusters],
        "tree": None if sharing.tree is None else _tree(sharing.tree),
    }


def _cluster(cluster: "Cluster") -> dict[str, Any]:
    """Return a cluster; ``kept`` is in the order of ``factors``."""
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
        "any_will_do": cluster.interchangeable,
    }


def _tree(tree: "Tree") -> dict[str, Any]:
    """Return the leaves by name, and the nodes up to the root; numbers of ``children`` count leaves first."""
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
    """Return the results of selections on half-samples, without the frequencies, which are those of factors."""
    return {
        "pairs": found.n_pairs,
        "threshold": found.threshold,
        "selected": [found.names[i] for i in found.selected],
        "average_size": found.average_size,
        "expected_false": found.expected_false,
        "expected_false_unimodal": found.expected_false_unimodal,
    }


def _factor_rows(result: Exported) -> list[dict[str, Any]]:
    """Return one row per factor, in the order of the table; factors that share information have one rank."""
    indices = result.indices
    lines, q_values = (
        ranking_lines(indices, result.stability),
        None if indices.uncertainty is None else indices.q_values,
    )
    last = 1 + sum(line.rank is not None for line in lines)
    return [
        _factor_row(indices, each, line.rank or last, q_values)
        for line in lines
        for member in line.members or (line,)
        for each in (member, *member.same)
    ]


def _factor_row(indices: Indices, line: RankingLine, rank: int, q_values: Any) -> dict[str, Any]:
    """Return the row of one factor; None for what is unknown."""
    (i,), (low, high) = line.factors, line.interval or (None, None)
    alone = None if indices.sharing is None else indices.sharing.alone
    return {
        "rank": rank,
        "factor": indices.names[i],
        "kind": line.kind,
        "importance": line.importance,
        "standard_error": line.standard_error,
        "p_value": line.p_value,
        "q_value": None if q_values is None else _number(q_values[i]),
        "low": low,
        "high": high,
        "alone": None if alone is None else _number(alone.values[i]),
        "alone_standard_error": None if alone is None else _number(alone.standard_errors[i]),
        **({} if line.frequency is None else {"frequency": line.frequency}),
        "selected": line.selected,
        "weak": line.weak,
        "reason": line.reason,
        "explanation": explain_factor(indices, i)[1],
        "missing": indices.missing[i],
        "forced": line.forced,
    }


def _number(value: float) -> float | None:
    """Return a value, or None for NaN, which JSON does not have."""
    return None if math.isnan(value) else float(value)


def _path_steps(indices: Indices) -> list[dict[str, Any]] | None:
    """Return the steps of the selection."""
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
    """Return a value as a cell of a CSV file: text in quotes, with an apostrophe before formulas."""
    if isinstance(value, str):
        return '"' + FORMULA.sub("'", value).replace('"', '""') + '"'
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
