"""Functions of other factors: squares and logarithms, coarser categories, totals of parts, copies.

They are one factor in several columns. The plain one is named first: that whose name the others extend, then whole
numbers before others, then the first in the table.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from .._utils.text import list_names
from .columns import SensedColumn, SensedTable
from .finding import Finding
from .relations import Relation


def choose_plain(columns: Sequence[SensedColumn], members: Sequence[int]) -> int:
    """Return the plain one of columns that are functions of each other."""
    return min(members, key=lambda j: (_extends(columns, j, members), not columns[j].is_whole, j))


def _extends(columns: Sequence[SensedColumn], j: int, members: Sequence[int]) -> int:
    """Return how many names of others a name contains."""
    own = columns[j].name.lower()
    return sum(len(columns[k].name) > 1 and columns[k].name.lower() in own for k in members if k != j)


def choose_derived(columns: Sequence[SensedColumn], relation: Relation) -> int:
    """Return the column of a relation that is best named as a function of the others."""
    if relation.form in ("joint", "square") or any(columns[j].is_indicator for j in relation.members):
        return relation.of
    members = sorted(relation.members)
    by_name = max(members, key=lambda j: _extends(columns, j, members))
    if _extends(columns, by_name, members):
        return by_name
    broken = [j for j in members if not columns[j].is_whole]
    if len(broken) == 1 and relation.form in ("ratio", "powers"):
        return broken[0]
    return members[-1]


def merge_copies(table: SensedTable, copies: Sequence[tuple[int, int, float]]) -> dict[int, int]:
    """Return the plain column of each factor that is another one in another form."""
    target, alike = len(table.factors), dict[int, set[int]]()
    for a, b, _ in copies:
        if target not in (a, b):
            alike.setdefault(a, set()).add(b)
            alike.setdefault(b, set()).add(a)
    plain, left = dict[int, int](), sorted(alike)
    while left:
        first = left[0]
        first = choose_plain(table.factors, sorted({first, *alike[first].intersection(left)}))
        members = alike[first].intersection(left)
        plain.update(dict.fromkeys(members, first))
        left = [j for j in left if j != first and j not in members]
    return plain


def find_functions(
    table: SensedTable,
    plain: Mapping[int, int],
    determined: Sequence[tuple[int, int]],
    relations: Sequence[Relation],
    taken: Collection[int],
    spread: Collection[int],
) -> Iterator[Finding]:
    """Yield a finding for each set of plain factors, with the factors that are functions of them."""
    target, sources = len(table.factors), dict[int, tuple[int, ...]]()
    for j, first in plain.items():
        if j not in taken:
            sources[j] = (first,)
    for source, of in determined:
        both = table.factors[source], table.factors[of]
        if of in sources or of in taken or source in spread:
            continue
        root = source
        while len(sources.get(root, ())) == 1:
            root = sources[root][0]
        if root == of:
            continue
        if both[0].n_levels == both[1].n_levels and choose_plain(table.factors, (source, of)) == of:
            if source not in sources:
                sources[source] = (of,)
            continue
        sources[of] = (root,)
    for relation in relations:
        members = relation.members
        if target in members:
            continue
        of = choose_derived(table.factors, relation)
        if of in taken or of in sources or any(of in sources.get(j, ()) for j in members):
            continue
        sources[of] = tuple(sorted(j for j in members if j != of))
    by_source = dict[tuple[int, ...], list[int]]()
    for of, roots in sources.items():
        by_source.setdefault(roots, []).append(of)
    for roots, derived in sorted(by_source.items()):
        names = [table.factors[j].name for j in sorted(derived)]
        known = list_names([table.factors[j].name for j in roots], most=12)
        verb = "is a function" if len(names) == 1 else "are functions"
        sentence = f"{list_names(names, most=12)} {verb} of {known}."
        yield Finding(
            "function",
            sentence,
            tuple(names),
            remedy={"drop": names},
            sources=tuple(table.factors[j].name for j in roots),
        )
