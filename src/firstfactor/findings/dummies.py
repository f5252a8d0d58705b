"""Dummies of one category: columns of zeros and ones, at most one of which is 1 in each row.

Together they are one factor. Whether they belong together is decided by names, coverage and exclusiveness at once: a
complete set with a 1 in every row is one; with a reference level, they must stand side by side, be exclusive though
they would often meet by chance, and cover much or have names alike. Indicators that only happen to exclude each other
are not.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

import numpy as np

from .._utils.text import list_names
from .columns import Floats, SensedColumn, SensedTable, fold
from .constants import FEWEST_EXPECTED, LEAST_COVERAGE
from .finding import Finding

# Names of levels that have nothing in common but their meaning.
_FAMILIES = tuple(
    frozenset(words.split())
    for words in (
        "jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august september "
        "october november december",
        "mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday saturday sunday",
        "spring summer fall autumn winter",
        "north south east west northeast northwest southeast southwest northcen northcentral ncentral nrtheast nrthcen "
        "midwest "
        "central norcen centcity ne nw se sw mw ma sa nc pacific mountain atlantic",
        "black white hisp hispan hispanic asian other othrace latino nonwhite amind native",
        "married divorced widowed single separated divorce widow divsep marr nevermarried nvrmarr",
        "lowinc midinc highinc low medium middle high",
        "protestant catholic jewish prot cath jew muslim orthodox cathol othrel relig",
        "freshman fresh soph sophomore junior senior jr sr",
        "morning afternoon evening night",
    )
)


def find_dummies(table: SensedTable) -> list[tuple[int, ...]]:
    """Return sets of factors that spread one category, by position."""
    columns = table.factors
    binary = [j for j, one in enumerate(table.sample.factors) if one.is_indicator]
    if len(binary) < 2:
        return []
    few = table.sample
    sampled = np.stack([few.factors[j].values == 1 for j in binary]).astype(np.float64)
    meet = sampled @ sampled.T > 0
    sets, k = list[tuple[int, ...]](), 0
    while k < len(binary):
        members = [k]
        for other in range(k + 1, len(binary)):
            is_next = binary[other] - binary[members[-1]] <= 2
            if (
                not is_next
                or _changes_numbering(columns, binary[other - 1], binary[other])
                or meet[other, members].any()
            ):
                break
            members.append(other)
        chosen = _longest(columns, [binary[m] for m in members])
        if chosen:
            sets.append(_extend(columns, chosen, binary, sets, sampled))
            k += len(chosen)
        else:
            k += 1
    used = {j for one in sets for j in one}
    left = [k for k, j in enumerate(binary) if j not in used]
    return [*sets, *_elsewhere(columns, binary, left, meet)]


def _extend(
    columns: Sequence[SensedColumn],
    chosen: tuple[int, ...],
    binary: Sequence[int],
    sets: Sequence[tuple[int, ...]],
    sampled: Floats,
) -> tuple[int, ...]:
    """Return a set with those that stand elsewhere: of the same family of names, or its only missing level."""
    used, place = {j for one in sets for j in one}, {j: k for k, j in enumerate(binary)}
    for j in binary:
        taken = sampled[[place[i] for i in chosen]].sum(axis=0)
        if j in used or j in chosen or (taken * sampled[place[j]]).any():
            continue
        is_last = bool((taken + sampled[place[j]] == 1).all())
        if (is_last or _family([columns[i].name for i in (*chosen, j)])) and _belong(columns, (*chosen, j), apart=True):
            chosen = tuple(sorted((*chosen, j)))
    return chosen


def _elsewhere(
    columns: Sequence[SensedColumn], binary: Sequence[int], left: Sequence[int], meet: np.ndarray
) -> Iterator[tuple[int, ...]]:
    """Yield sets that do not stand side by side: their names, or a 1 in every row, must tell."""
    rest = list(left)
    while rest:
        members = [rest.pop(0)]
        for other in rest:
            if not meet[other, members].any():
                members.append(other)
        candidates = [binary[m] for m in members]
        if len(candidates) > 2 and _belong(columns, candidates, apart=True):
            rest = [one for one in rest if one not in members]
            yield tuple(candidates)
            continue
        alike = [j for j in candidates if _alike([columns[candidates[0]].name, columns[j].name])]
        if len(alike) > 2 and _belong(columns, alike, apart=True):
            rest = [one for one in rest if binary[one] not in alike]
            yield tuple(alike)


def _changes_numbering(columns: Sequence[SensedColumn], one: int, other: int) -> bool:
    """Return True if a series of numbered columns begins or ends between two."""

    def plain(j: int) -> str:
        return re.sub(r"\d+", "0", columns[j].name.lower()) if 0 <= j < len(columns) else ""

    begins = "0" in plain(other) and plain(other) == plain(other + 1)
    ends = "0" in plain(one) and plain(one) == plain(one - 1)
    return plain(one) != plain(other) and (begins or ends)


def _longest(columns: Sequence[SensedColumn], candidates: Sequence[int]) -> tuple[int, ...]:
    """Return the longest start of a run of exclusive columns that is one category."""
    for stop in range(len(candidates), 1, -1):
        if _belong(columns, candidates[:stop]):
            return tuple(candidates[:stop])
    return ()


def _belong(columns: Sequence[SensedColumn], members: Sequence[int], apart: bool = False) -> bool:
    """Return True if exclusive columns are levels of one category."""
    known = np.logical_and.reduce([columns[j].known for j in members])
    values: Floats = np.stack([columns[j].values[known] for j in members])
    if not values.size or (values.sum(axis=0) > 1).any():
        return False
    shares = values.mean(axis=1)
    if (shares == 0).any():
        return False
    coverage, names = float(shares.sum()), [columns[j].name for j in members]
    if len(members) > 2 and coverage == 1.0:
        return True
    expected = np.outer(shares, shares) * values.shape[1]
    np.fill_diagonal(expected, np.inf)
    is_like = _alike(names)
    if len(members) == 2:
        is_told = (_family(names) or _numbered(names)) and float(expected.min()) >= FEWEST_EXPECTED
        return is_told and not apart and coverage < 1
    # The rarest levels may well not meet by chance: on the whole, the columns must.
    total = float(expected[np.isfinite(expected)].sum()) / 2
    if total < FEWEST_EXPECTED:
        return is_like and _numbered(names) and len(members) > 2 and not apart
    np.fill_diagonal(expected, 0)
    return is_like or (
        not apart and coverage >= LEAST_COVERAGE and float(expected.sum(axis=1).min()) >= FEWEST_EXPECTED
    )


def _alike(names: Sequence[str]) -> bool:
    """Return True if names share a beginning or an end, differ in their numbers, or are of one family."""
    if _family(names) or _numbered(names):
        return True
    folded = [name.lower() for name in names]
    shortest = min(map(len, folded))
    return max(map(len, _shared_ends(folded))) >= max(2, shortest / 3)


def _shared_ends(names: Sequence[str]) -> tuple[str, str]:
    """Return what all names begin with, and what they end with."""

    def count(letters: Iterable[tuple[str, ...]]) -> int:
        return sum(1 for _ in takewhile(lambda some: len(set(some)) == 1, letters))

    first, last = count(zip(*names, strict=False)), count(zip(*(name[::-1] for name in names), strict=False))
    return names[0][:first], names[0][len(names[0]) - last :]


def _numbered(names: Sequence[str]) -> bool:
    """Return True if names differ in their numbers only."""
    plain = {re.sub(r"\d+", "0", name.lower()) for name in names}
    return len(plain) == 1 and "0" in next(iter(plain)) and len(set(names)) > 1


def _family(names: Sequence[str]) -> bool:
    words = [re.sub(r"[\d_]+$", "", fold(name)).strip() for name in names]
    return any(all(word in family for word in words) for family in _FAMILIES)


def say_dummies(table: SensedTable, members: Sequence[int], source: int | None) -> Finding:
    """Return the finding that columns spread one category, which may be a column of the table itself."""
    names = [table.factors[j].name for j in members]
    told = list_names(names, most=6)
    if source is not None:
        category = table.factors[source].name
        return Finding(
            "dummies", f"{told} only repeat {category}.", tuple(names), remedy={"drop": names}, sources=(category,)
        )
    known = np.logical_and.reduce([table.factors[j].known for j in members])
    is_complete = bool((np.sum([table.factors[j].values[known] for j in members], axis=0) == 1).all())
    level = "" if is_complete else " (with a level of its own where all are 0)"
    return Finding(
        "dummies",
        f"{told} are one category{level}.",
        tuple(names),
        remedy={"factor_groups": {name_group(names): names}},
    )


def name_group(names: Sequence[str]) -> str:
    """Return a name for a group of columns: what their names share, or the first two."""
    first, last = _shared_ends(names)
    shared = max(first.rstrip("_-. 0123456789"), last.lstrip("_-. "), key=len)
    return shared if len(shared) > 2 and shared not in names else f"{names[0]}_{names[1]}"
