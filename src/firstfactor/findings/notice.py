"""Everything there is to notice about a table from its columns alone, the gravest first."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .columns import SensedColumn, SensedTable, read_tables
from .constants import MOST_IN_PAIRS, MOST_LEVELS_OF_UNITS, MOST_WITH_TARGET
from .dummies import find_dummies, say_dummies
from .finding import Finding
from .functions import choose_derived, find_functions, merge_copies
from .leaks import find_leaks
from .relations import (
    Relation,
    decides,
    find_copies,
    find_determined,
    find_joint,
    find_pairs,
    find_squares,
    find_sums,
    find_switched,
)
from .response import find_few_rows
from .units import find_units, is_unit_name


def notice(
    X: Any,
    y: Any,
    task: str = "auto",
    categorical: Sequence[str] = (),
    is_grouped: bool = False,
    with_leaks: bool = True,
) -> tuple[Finding, ...]:
    """Return the findings about a table and each output of its response; units are not told to rows in groups."""
    found = dict[tuple[str, tuple[str, ...]], Finding]()
    for table in read_tables(X, y, task, categorical):
        for one in _notice(table, is_grouped, with_leaks):
            found.setdefault((one.kind, one.columns), one)
    return tuple(found.values())


def _notice(table: SensedTable, is_grouped: bool, with_leaks: bool) -> list[Finding]:
    copies = find_copies(table)
    plain = merge_copies(table, copies)
    dummies = find_dummies(table)
    in_dummies = frozenset(j for one in dummies for j in one)
    target = len(table.factors)
    leaking = {j for pair in copies if target in pair[:2] for j in pair[:2]} - {target}
    relations = _relate(table, {*plain, *leaking, *in_dummies})
    leaks = [*find_leaks(table, copies, relations)] if with_leaks else []
    leaked = {name for one in leaks for name in one.columns}
    taken = in_dummies | {j for j, one in enumerate(table.factors) if one.name in leaked}
    units = None if is_grouped else find_units(table)
    determined = [
        (source, of)
        for source, of in find_determined(table)
        if not _is_of_unit(table.factors[source], table.factors[of], units)
    ]
    few = find_few_rows(table)
    sources = [_source(table, one) for one in dummies]
    return [
        *leaks,
        *([few] if few else []),
        *([units] if units else []),
        *(say_dummies(table, one, source) for one, source in zip(dummies, sources, strict=True)),
        *find_functions(table, plain, determined, relations, taken, in_dummies),
    ]


def _is_of_unit(source: SensedColumn, of: SensedColumn, units: Finding | None) -> bool:
    """Return True if a column is a property of the units of a panel: their number tells it, and is no factor."""
    is_unit = is_unit_name(source) or (units is not None and source.name in units.columns)
    return is_unit and source.n_levels > MOST_LEVELS_OF_UNITS and not of.is_text and not is_unit_name(of)


def _relate(table: SensedTable, without: set[int]) -> list[Relation]:
    """Return the sums, products and ratios among quantities."""
    target = len(table.factors)
    pool = [j for j, one in enumerate(table.sample.factors) if one.is_number and j not in without]
    found = []
    if not table.has_classes:
        found += find_pairs(table, [*pool[:MOST_WITH_TARGET], target], target)
        found += find_sums(table, [*pool[:MOST_WITH_TARGET], target], target)
    step = MOST_IN_PAIRS - 10
    for start in range(0, min(max(len(pool) - 10, 1), MOST_WITH_TARGET), step):
        found += find_pairs(table, pool[start : start + MOST_IN_PAIRS])
    derived = {choose_derived(table.factors, one) for one in found if target not in one.members}
    found += [*find_joint(table), *find_squares(table), *find_switched(table)]
    return found + find_sums(table, [j for j in pool if j not in derived][:MOST_WITH_TARGET])


def _source(table: SensedTable, members: Sequence[int]) -> int | None:
    """Return the column that dummies spread, if it is in the table."""
    codes = np.zeros(table.n_rows, np.intp)
    for position, j in enumerate(members):
        codes[table.factors[j].values == 1] = position + 1
    spread = SensedColumn("", codes.astype(float), True)
    for j, column in enumerate(table.factors):
        if (
            j not in members
            and spread.n_levels <= column.n_levels <= table.n_rows / 3
            and column.has_levels
            and not column.is_indicator
            and decides(column, spread)
        ):
            return j
    return None
