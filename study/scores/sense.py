"""Findings about real tables against what there is to notice about them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..data.sense_tables import SenseTable, split

SAME_SET = 0.7
"""Share of all columns of two sets that they have in common if they are the same category."""


@dataclass
class Judgement:
    """What was noticed about one table, what was missed, and what was wrong."""

    leaks: dict[str, bool] = field(default_factory=dict)
    """Each leak, and whether it was noticed."""
    derived: dict[str, bool] = field(default_factory=dict)
    dummies: dict[str, bool] = field(default_factory=dict)
    units: dict[str, bool] = field(default_factory=dict)
    false_leaks: list[str] = field(default_factory=list)
    """Sentences about the target that are wrong."""
    false_functions: list[str] = field(default_factory=list)
    false_dummies: list[str] = field(default_factory=list)
    false_units: list[str] = field(default_factory=list)


def judge(table: SenseTable, findings: Sequence[Mapping[str, Any]]) -> Judgement:
    """Compare findings with the truth of a table."""
    by_kind: dict[str, list[Mapping[str, Any]]] = {}
    for one in findings:
        by_kind.setdefault(one["kind"], []).append(one)
    leaks, functions = by_kind.get("leak", []), by_kind.get("function", [])
    dummies, units = by_kind.get("dummies", []), by_kind.get("units", [])
    found = Judgement()
    named = _columns(leaks)
    for leak in table.leaks:
        found.leaks[leak] = bool(named.intersection(split(leak)))
    debatable = set(split(table.debatable))
    for one in leaks:
        if not table.leaking.union(debatable).intersection(one["columns"]):
            found.false_leaks.append(one["sentence"])
    sets = [frozenset(split(columns)) for columns in table.dummies]
    for truth, said in zip(sets, table.dummies, strict=True):
        found.dummies[said] = any(_alike(truth, one["columns"]) >= SAME_SET for one in dummies)
    for one in dummies:
        known = debatable.union(table.derived, table.leaking)
        if not any(_alike(truth, one["columns"]) >= SAME_SET for truth in sets) and not known.issuperset(
            one["columns"]
        ):
            found.false_dummies.append(one["sentence"])
    members = [{*one["columns"], *one["sources"]} for one in (*functions, *dummies)] + [
        set(one["columns"]) for one in leaks
    ]
    for name in table.derived:
        if name not in table.leaking:
            found.derived[name] = any(name in some for some in members)
    in_truth = set(table.derived).union(debatable, table.leaking, *(set(one) for one in sets))
    for one in functions:
        plain = {root for name in table.derived for root in split(table.derived[name])}
        right = in_truth | (plain if in_truth.intersection(one["sources"]) else set())
        wrong = [name for name in one["columns"] if name not in right]
        if wrong:
            found.false_functions.append(f"{', '.join(wrong)}: {one['sentence']}")
    if table.units:
        found.units[table.units] = bool(_columns(units).intersection(split(table.units)))
    allowed = {*split(table.units), *split(table.identifiers), *debatable}
    found.false_units = [one["sentence"] for one in units if not allowed.intersection(one["columns"])]
    return found


def _columns(findings: Iterable[Mapping[str, Any]]) -> set[str]:
    return {name for one in findings for name in one["columns"]}


def _alike(truth: frozenset[str], columns: Iterable[str]) -> float:
    """Return the share of the columns of two sets that they have in common."""
    other = set(columns)
    return len(truth & other) / len(truth | other)


def total(judgements: Iterable[Judgement]) -> dict[str, tuple[int, int]]:
    """Return how many there are of what was noticed or is wrong, and of how many."""
    all_tables = list(judgements)

    def share(name: str) -> tuple[int, int]:
        flags = [flag for one in all_tables for flag in getattr(one, name).values()]
        return sum(flags), len(flags)

    leaky = [one for one in all_tables if one.leaks]
    result = {name: share(name) for name in ("leaks", "derived", "dummies", "units")}
    result["tables with leaks"] = sum(any(one.leaks.values()) for one in leaky), len(leaky)
    for name in ("false_leaks", "false_functions", "false_dummies", "false_units"):
        result[name] = sum(bool(getattr(one, name)) for one in all_tables), len(all_tables)
    return result
