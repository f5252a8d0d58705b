"""Relations among columns that hold in all rows: one as a function of another, a sum, a difference, a product, a ratio.

Candidates come from a sample of the rows; a relation is reported only if it holds in all of them. The response is one
of the columns: a relation that it takes part in is a leak, any other a function of other factors.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..data.response import mid_ranks
from .columns import Floats, Masks, SensedColumn, SensedTable
from .constants import (
    EXACT_IN_MOST,
    FEWEST_SHARED_ROWS,
    IN_MOST_ROWS,
    LOG_CHANCE,
    MOST_LEFT,
    MOST_LEVELS,
    MOST_MEMBERS,
    MOST_OF_CHANGES,
    MOST_PATTERNS,
    MOST_ROWS_OF_PAIRS,
    MOST_SWITCHES,
    ROWS_PER_LEVEL,
    SAME_FACTORS,
    SAME_RANKS,
    SAME_WEIGHT,
    SYNERGY,
    SYNERGY_OF_FACTORS,
    WITH_ERRORS,
)

# Share of the variance that a sum of many leaves: rounding error of doubles.
ROUNDING = 1e-9

# The same for sums with unequal weights.
EXACT = 1e-12


@dataclass(frozen=True)
class Relation:
    """A column as a function of others, by position."""

    of: int
    sources: tuple[int, ...]
    form: str
    """"copy" of a quantity, "levels" of another, "sum", "difference", "product" or "ratio"."""

    @property
    def members(self) -> tuple[int, ...]:
        """All columns of the relation."""
        return (self.of, *self.sources)


# --- one column as a function of another --------------------------------------------------------------


def find_copies(table: SensedTable) -> list[tuple[int, int, float]]:
    """Return pairs of quantities that are the same in another form, with the correlation of their ranks."""
    few, all_columns = table.sample.columns, table.columns
    numbers = [j for j, column in enumerate(few) if column.is_number]
    found = []
    for pool, rows in _patterns(few, numbers):
        ranks = np.stack([mid_ranks(few[j].values[rows]) for j in pool])
        close = np.argwhere(np.triu(np.abs(_correlate(ranks, ranks)) > SAME_RANKS, 1))
        for a, b in close[: 20 * len(pool)]:
            pair = (pool[a], pool[b])
            correlation = _same_ranks(all_columns[pair[0]], all_columns[pair[1]])
            if correlation is not None and (len(table.factors) in pair or abs(correlation) > SAME_FACTORS):
                found.append((*pair, correlation))
    return list({pair[:2]: pair for pair in found}.values())


def _same_ranks(one: SensedColumn, other: SensedColumn) -> float | None:
    """Return the rank correlation of two quantities that are the same; None if they are not, or just grow together."""
    both = one.known & other.known
    # A column that is known in few rows of the other tells little of it.
    if both.sum() < max(FEWEST_SHARED_ROWS, 0.1 * max(one.known.sum(), other.known.sum())):
        return None
    x, y = one.values[both], other.values[both]
    ranks = mid_ranks(x), mid_ranks(y)
    if not (np.ptp(ranks[0]) and np.ptp(ranks[1])):
        return None
    correlation = float(np.corrcoef(*ranks)[0, 1])
    if abs(correlation) < SAME_RANKS or not _are_same_elsewhere(x, y) or min(np.unique(x).size, np.unique(y).size) < 3:
        return None
    if one.is_trending and other.is_trending and not (_changes_alike(x, y) or _changes_alike(y, x)):
        return None
    return correlation


def _are_same_elsewhere(x: Floats, y: Floats) -> bool:
    """Return True if ranks also agree without the rows of the most frequent value, which may be most of them."""
    values, times = np.unique(x, return_counts=True)
    if times.max() < 0.2 * x.size:
        return True
    rest = x != values[times.argmax()]
    if rest.sum() < FEWEST_SHARED_ROWS or not np.ptp(y[rest]):
        return False
    return abs(float(np.corrcoef(mid_ranks(x[rest]), mid_ranks(y[rest]))[0, 1])) > SAME_RANKS


def _changes_alike(x: Floats, y: Floats) -> bool:
    """Return True if a smooth curve in x has the same changes from row to row as y: series that just grow have not."""
    place = 2 * (x - x.min()) / np.ptp(x) - 1
    curve = np.polynomial.chebyshev.chebvander(place, min(5, x.size // 8))
    left = y - curve @ np.linalg.lstsq(curve, y, rcond=None)[0]
    changes = np.diff(y)
    if np.ptp(changes) == 0 and np.ptp(np.diff(x)) == 0:
        return True  # both count the rows
    return float(np.diff(left).var()) < MOST_OF_CHANGES * float(changes.var())


def find_determined(table: SensedTable) -> Iterator[tuple[int, int]]:
    """Yield pairs of columns, the second of which has one value for each value, or range of values, of the first."""
    few, whole = table.sample.factors, table.factors
    few_levels = [j for j, one in enumerate(few) if one.n_levels <= MOST_LEVELS]
    by_size = sorted(few_levels, key=lambda j: few[j].n_levels)
    for source, column in enumerate(few):
        if column.n_levels < 2:
            continue
        # A price that differs by state tells the state, and says nothing about it.
        has_levels = _repeats(column) and _has_enough(whole[source])
        for of in by_size:
            if of == source or few[of].n_levels < 2:
                continue
            if few[of].n_levels > column.n_levels:
                break
            if has_levels and decides(column, few[of]) and decides(whole[source], whole[of]):
                yield source, of
                continue
            is_coarser = few[of].n_levels < min(column.n_levels, MOST_LEVELS) / 2
            if column.is_number and is_coarser and cuts(column, few[of]) and cuts(whole[source], whole[of]):
                yield source, of
    # Quantities with many values: a square has one value for each value of its root.
    for source, column in enumerate(few):
        if not (_repeats(column) and _has_enough(whole[source])):
            continue
        for of, other in enumerate(few):
            if of == source or other.n_levels <= MOST_LEVELS or other.n_levels > column.n_levels:
                continue
            if decides(column, other) and decides(whole[source], whole[of]):
                yield source, of


def _repeats(few: SensedColumn) -> bool:
    """Return True if values may repeat often enough, from a sample; labels are counted in all rows."""
    return few.is_text or (few.has_levels and few.n_levels * ROWS_PER_LEVEL <= len(few.values))


def _has_enough(column: SensedColumn) -> bool:
    """Return True if values repeat so often that they can tell something; of numbers, several times each."""
    return column.has_levels and column.n_levels * (ROWS_PER_LEVEL if column.is_text else 3) <= len(column.values)


def decides(source: SensedColumn, of: SensedColumn) -> bool:
    """Return True if all rows with the same value of one column have the same of another, and not by chance."""
    if source.n_levels < of.n_levels or source.n_levels * ROWS_PER_LEVEL > len(source.values):
        return False
    if of.is_time and not source.is_time:
        return False
    if not source.known.all() and np.unique(of.codes[source.known]).size < 2:
        return False  # that values are missing tells it, not these
    value = np.zeros(source.n_levels, np.intp)
    value[source.codes] = of.codes
    if not (value[source.codes] == of.codes).all():
        return False
    sizes, shares = np.bincount(source.codes), np.bincount(of.codes) / of.codes.size
    chance = float(((sizes - 1) * np.log(shares[value])).sum())
    return chance < LOG_CHANCE


def cuts(source: SensedColumn, of: SensedColumn) -> bool:
    """Return True if each value of a column is a range of another, and cuts it where its values are dense."""
    if np.count_nonzero(np.diff(of.codes[source.order])) > of.n_levels + 1 or (of.is_time and not source.is_time):
        return False
    if source.is_time and not (of.is_indicator or of.is_time):
        return False  # what changes now and then in time is a step of it, and not decided by it
    if source.is_trending and not source.is_time and np.count_nonzero(np.diff(of.codes)) < of.n_levels:
        return False  # the table is in time order, and anything that begins or ends cuts what grows
    both = source.known & of.known
    if (of.known & ~source.known).any() and np.unique(of.values[of.known & ~source.known]).size > 1:
        return False
    if both.sum() < FEWEST_SHARED_ROWS:
        return False
    order = np.argsort(source.values[both], kind="stable")
    x, level = source.values[both][order], of.values[both][order]
    changes = np.flatnonzero(np.diff(level))
    counts = np.unique(level, return_counts=True)[1]
    if changes.size != counts.size - 1 or counts.size < 2 or (x[changes] == x[changes + 1]).any():
        return False
    shares = counts / counts.sum()
    if float(((counts - 1) * np.log(shares)).sum()) > LOG_CHANCE or counts.min() < 3:
        return False
    return all(_is_dense(np.unique(x), x[i], x[i + 1]) for i in changes)


def _is_dense(points: Floats, low: float, high: float) -> bool:
    """Return True if a gap between two values is no wider than some others near it."""
    at = int(np.searchsorted(points, high))
    below, above = np.diff(points[max(at - 11, 0) : at]), np.diff(points[at : at + 11])
    if not below.size or not above.size:  # nothing, or everything else
        return True
    return high - low <= 2 * max(float(below.max()), float(above.max()))


# --- sums, differences, products and ratios of two ----------------------------------------------------


def find_pairs(table: SensedTable, pool: Sequence[int], target: int | None = None) -> list[Relation]:
    """Return relations of three quantities, each determined by the two others; given a target, only those with it."""
    few, found = table.sample.columns, dict[frozenset[int], Relation]()
    for complete, rows in _patterns(few, pool):
        if target is not None and target not in complete:
            continue
        for relation in _pairs_in(few, complete, rows, target):
            key = frozenset(relation.members)
            if key not in found and _holds(table.columns, relation):
                found[key] = relation
    return list(found.values())


def _pairs_in(
    columns: Sequence[SensedColumn], pool: Sequence[int], rows: Masks, target: int | None
) -> Iterator[Relation]:
    if len(pool) < 2:
        return
    some = np.flatnonzero(rows)
    some = some[:: -(-some.size // MOST_ROWS_OF_PAIRS)]
    plain = np.stack([columns[j].values[some] for j in pool])
    positive = np.flatnonzero((plain > 0).all(axis=1))
    both = np.concatenate([plain, np.log(plain[positive])])
    owners, n_plain = np.r_[np.arange(len(pool)), positive], len(pool)
    limit = MOST_LEFT if target is None else WITH_ERRORS
    own_target = np.flatnonzero(owners == (-1 if target is None else pool.index(target)))
    correlations = _correlate(both, both)
    left = 1 - correlations**2
    for a, own in enumerate(correlations):
        of_any = np.arange(len(both)) if target is None or a in own_target else own_target
        # The share of the variance of each row, (of, b), that lines in a and in b leave.
        with np.errstate(divide="ignore", invalid="ignore"):
            two = left[of_any][:, [a]] - (correlations[of_any] - np.outer(own[of_any], own)) ** 2 / left[a]
        alone = np.minimum(left[of_any][:, [a]], left[of_any])
        is_one = (two < limit) & (two < SYNERGY * alone) & (alone > 10 * MOST_LEFT)
        if target is None:
            is_one[:, : a + 1] = False
        for k, b in np.argwhere(is_one):
            of = of_any[k]
            form = _FORM_BY_LOGS.get((bool(of >= n_plain), bool(a >= n_plain), bool(b >= n_plain)))
            if form is None or len({owners[of], owners[a], owners[b]}) < 3:
                continue
            yield Relation(pool[owners[of]], (pool[owners[a]], pool[owners[b]]), form)
    yield from _ratios_in(plain, pool, left[:n_plain, :n_plain], target)


def _ratios_in(plain: Floats, pool: Sequence[int], left: Floats, target: int | None) -> Iterator[Relation]:
    """Yield quantities that are lines in the product or the ratio of two others."""
    shapes = _standardise(plain)
    for a in range(len(pool)):
        wanted = np.arange(len(pool)) if target in (None, pool[a]) else np.array([pool.index(target)])
        with np.errstate(all="ignore"):
            made = {"ratio": plain[a] / plain, "product": plain[a] * plain, "share": plain[a] / (plain[a] + plain)}
        for form, values in made.items():
            others = np.flatnonzero(np.isfinite(values).all(axis=1) & (np.arange(len(pool)) != a))
            if form != "ratio" and target is None:
                others = others[others > a]
            if not others.size:
                continue
            alone = np.minimum(left[wanted][:, [a]], left[np.ix_(wanted, others)])
            unexplained = 1 - (shapes[wanted] @ _standardise(values[others]).T) ** 2
            limit = MOST_LEFT if target is None else WITH_ERRORS
            for k, b in np.argwhere(unexplained < np.minimum(limit, SYNERGY * alone)):
                if wanted[k] not in (a, others[b]):
                    yield Relation(pool[wanted[k]], (pool[a], pool[others[b]]), form)


def find_switched(table: SensedTable, target: int | None = None) -> list[Relation]:
    """Return quantities that are others times an indicator."""
    few, found = table.sample.columns, []
    numbers = [j for j, one in enumerate(few) if one.is_number]
    wanted = [j for j in numbers if target in (None, j) and (few[j].values == 0).mean() > 0.05]
    switches = [j for j, one in enumerate(few) if one.is_indicator][:MOST_SWITCHES] if wanted else []
    values = np.stack([few[j].values for j in numbers]) if numbers else np.zeros((0, 0))
    for j in switches:
        for of in wanted:
            made = few[of].values
            on = (few[j].values == 1) & ~np.isnan(made)
            if (made[few[j].values == 0] != 0).any() or np.unique(made[on]).size < 3:
                continue
            for k in np.flatnonzero(np.isclose(values[:, on], made[on], rtol=1e-4).all(axis=1)):
                members = of, numbers[k], j
                parts = [table.columns[i].values for i in members]
                off = parts[2] == 0
                if numbers[k] != of and off.any() and (parts[1][off] != 0).any():
                    same = np.isclose(parts[0], parts[1] * parts[2], rtol=1e-4, equal_nan=True)
                    if (same | np.isnan(parts[0])).all():
                        found.append(Relation(of, members[1:], "product"))
    return found


_FORM_BY_LOGS = {
    (False, False, False): "linear",
    (True, True, True): "powers",
    (False, True, True): "logs",
    (False, False, True): "change",
}


def _make_terms(form: str, of: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return what is to be a line in some terms, and these, (terms, rows)."""
    if form in ("powers", "logs"):
        return np.log(of) if form == "powers" else of, np.log([a, b])
    if form in ("linear", "change"):
        return of, np.stack([a, b if form == "linear" else np.log(b)])
    return of, (a / b if form == "ratio" else a * b if form == "product" else a / (a + b))[None]


def _holds(columns: Sequence[SensedColumn], relation: Relation) -> bool:
    """Return True if a relation holds in all rows, and in the changes from row to row."""
    members = [columns[j] for j in relation.members]
    known = np.logical_and.reduce([one.known for one in members])
    values = [one.values[known] for one in members]
    with np.errstate(all="ignore"):
        wanted, terms = _make_terms(relation.form, *values)
    if not (np.isfinite(wanted).all() and np.isfinite(terms).all()):
        return False
    if known.sum() < max(FEWEST_SHARED_ROWS, 0.1 * max(one.known.sum() for one in members)):
        return False
    if _unexplained(wanted, terms) > MOST_LEFT:
        return _holds_in_most(wanted, terms)
    is_factor = len(columns) - 1 not in relation.members
    if is_factor and relation.form == "linear" and not _is_total(wanted, terms):
        return False
    synergy = SYNERGY_OF_FACTORS if is_factor and relation.form == "linear" else SYNERGY
    # Series that grow together leave little of each other; in their changes they do not.
    for each, made, alone in (
        (wanted, terms, _alone(values, relation.form)),
        (np.diff(wanted), np.diff(terms), [np.diff(one) for one in _alone(values, relation.form)]),
    ):
        unexplained = _unexplained(each, made)
        if unexplained > 10 * MOST_LEFT or unexplained > synergy * min(_unexplained(each, one[None]) for one in alone):
            return False
    return True


def _holds_in_most(wanted: Floats, terms: Floats) -> bool:
    """Return True if a relation holds exactly in most rows: the others have errors."""
    design = np.concatenate([np.ones((1, wanted.size)), terms])
    scale = np.abs(design).max(axis=1, keepdims=True)
    if not scale.all():
        return False
    rows, left = np.ones(wanted.size, dtype=bool), wanted
    for _ in range(5):
        left = wanted - (design / scale).T @ np.linalg.lstsq((design / scale)[:, rows].T, wanted[rows], rcond=None)[0]
        rows = np.abs(left) <= np.quantile(np.abs(left), IN_MOST_ROWS)
    exact = np.abs(left) < EXACT_IN_MOST * np.subtract(*np.quantile(wanted, (0.75, 0.25)))
    return bool(exact.mean() >= IN_MOST_ROWS) and np.unique(wanted[exact]).size > 10


def _alone(values: Sequence[Floats], form: str) -> list[Floats]:
    """Return each source by itself, as it enters a relation."""
    logs = {"powers": (True, True), "logs": (True, True), "change": (False, True)}.get(form, (False, False))
    return [np.log(one) if is_log else one for one, is_log in zip(values[1:], logs, strict=True)]


def _unexplained(wanted: Floats, terms: Floats) -> float:
    """Return the share of the variance that the best line in some terms, (terms, rows), leaves."""
    y, X = _standardise(wanted[None])[0], _standardise(terms).T
    if not y.any():
        return 0.0
    return float(np.sum((y - X @ np.linalg.lstsq(X, y, rcond=None)[0]) ** 2))


def find_joint(table: SensedTable) -> list[Relation]:
    """Return indicators that are decided by two others, and differences of two indicators."""
    few, whole, found = table.sample.columns, table.columns, list[Relation]()
    binary = [j for j, one in enumerate(few) if one.is_indicator and one.known.all()][:MOST_SWITCHES]
    if len(binary) < 2:
        return []
    on = np.stack([few[j].values == 1 for j in binary]).astype(np.float64)
    one, two = on.sum(axis=1), on @ on.T
    n = on.shape[1]
    for a in range(len(binary)):
        # Rows, (b, of), with each combination of a and b, and how many of them have a 1.
        with_both, both = (on[a] * on) @ on.T, two[a][:, None]
        size = np.stack(np.broadcast_arrays(both, one[a] - both, one[:, None] - both, n - one[a] - one[:, None] + both))
        hits = np.stack([with_both, two[a] - with_both, two - with_both, one - two[a] - two + with_both])
        is_pure = ((hits == 0) | (hits == size)).all(axis=0)
        share = one / n
        with np.errstate(divide="ignore", invalid="ignore"):
            chance = np.where(
                hits == 0, np.maximum(size - 1, 0) * np.log(1 - share), np.maximum(size - 1, 0) * np.log(share)
            )
        filled = ((size > 0).sum(axis=0) >= 3) & (np.minimum(one, n - one) >= 5)
        alone = ((two[a] == one) & (one == one[a])) | (two[a] == 0) & (one == n - one[a])
        for b, of in np.argwhere(is_pure & filled & (chance.sum(axis=0) < LOG_CHANCE) & ~alone):
            members = binary[of], binary[a], binary[b]
            same = (two[b, of] == one[b] == one[of]) or (two[b, of] == 0 and one[b] + one[of] == n)
            if b > a and len(set(members)) == 3 and not same and _decide_together(whole, members):
                found.append(Relation(members[0], members[1:], "joint"))
    for of, column in enumerate(few):
        known = column.values[column.known]
        if (
            column.is_number
            and column.known.all()
            and column.n_levels == 3
            and set(np.unique(known)) == {-1.0, 0.0, 1.0}
        ):
            for a, values in enumerate(on):
                for b in np.flatnonzero((values - on == column.values).all(axis=1)):
                    if np.array_equal(whole[binary[a]].values - whole[binary[b]].values, whole[of].values):
                        found.append(Relation(of, (binary[a], binary[b]), "linear"))
    return found


def _decide_together(columns: Sequence[SensedColumn], members: tuple[int, ...]) -> bool:
    """Return True if each combination of the values of two columns has one value of the first."""
    of, a, b = (columns[j].codes for j in members)
    pairs = a * (int(b.max()) + 1) + b
    return bool(np.unique(pairs * (int(of.max()) + 1) + of).size == np.unique(pairs).size)


def find_squares(table: SensedTable) -> list[Relation]:
    """Return squares of quantities with both signs; other squares have the ranks of their roots."""
    few, found = table.sample.columns, []
    for pool, rows in _patterns(few, [j for j, one in enumerate(few) if one.is_number]):
        plain = np.stack([few[j].values[rows] for j in pool])
        signed = np.flatnonzero((plain < 0).any(axis=1) & (plain > 0).any(axis=1))
        if signed.size:
            for of, k in np.argwhere(1 - _correlate(plain, plain[signed] ** 2) ** 2 < MOST_LEFT / 100):
                source, known = pool[signed[k]], table.columns[pool[of]].known & table.columns[pool[signed[k]]].known
                values = table.columns[pool[of]].values[known], table.columns[source].values[known]
                if source != pool[of] and _unexplained(values[0], values[1][None] ** 2) < MOST_LEFT / 100:
                    found.append(Relation(pool[of], (source,), "square"))
    return list({one.members: one for one in found}.values())


# --- sums of several ----------------------------------------------------------------------------------


def find_sums(table: SensedTable, pool: Sequence[int], target: int | None = None) -> list[Relation]:
    """Return columns that are sums of several others up to rounding error; given a target, only this."""
    few, found = table.sample.columns, dict[frozenset[int], Relation]()
    for complete, rows in _patterns(few, pool):
        if len(complete) < 4 or rows.sum() < 2 * len(complete) + 2 or target not in (None, *complete):
            continue
        values = _standardise(np.stack([few[j].values[rows] for j in complete]))
        products = values @ values.T
        sizes, vectors = np.linalg.eigh(products)
        free = np.abs(vectors[:, sizes < ROUNDING * len(complete)])
        involved = np.flatnonzero(free.max(axis=1) > 1e-4) if free.size else np.zeros(0, np.intp)
        left = list(range(len(complete)))
        for k in reversed(involved.tolist()):
            if target not in (None, complete[k]):
                continue
            members = _support(products, k, [j for j in left if j != k])
            if members:
                left.remove(k)
                relation = Relation(complete[k], tuple(complete[j] for j in members), "linear")
                if len(members) > 2 and _holds_exactly(table.columns, relation):
                    found.setdefault(frozenset(relation.members), relation)
    return list(found.values())


def _support(products: Floats, of: int, others: Sequence[int]) -> list[int]:
    """Return few columns whose combination is another, given the products of all; an empty list if there are none."""

    def solve(members: list[int]) -> tuple[Floats, float]:
        inner, outer = products[np.ix_(members, members)], products[members, of]
        solution = np.linalg.lstsq(inner, outer, rcond=1e-11)[0]
        return np.abs(solution), float(products[of, of] - solution @ (2 * outer - inner @ solution))

    members = list(others)
    sizes, left = solve(members) if members else (np.zeros(0), 1.0)
    if left > 10 * ROUNDING:
        return []
    for j in np.array(members)[np.argsort(sizes)].tolist():  # the smallest first; what is not needed goes
        rest = [one for one in members if one != j]
        if rest and solve(rest)[1] < 10 * ROUNDING:
            members = rest
    return members if len(members) <= MOST_MEMBERS else []


def _holds_exactly(columns: Sequence[SensedColumn], relation: Relation) -> bool:
    members = [columns[j] for j in relation.members]
    known = np.logical_and.reduce([one.known for one in members])
    values = [one.values[known] for one in members]
    if known.sum() < max(FEWEST_SHARED_ROWS, 3 * len(members)):
        return False
    terms = np.stack(values[1:])
    return _unexplained(values[0], terms) < 10 * ROUNDING and _is_total(values[0], terms)


def _is_total(wanted: Floats, terms: Floats) -> bool:
    """Return True if all terms of a sum have the same weight, or it is exact: with other weights, many come near."""
    centred = terms - terms.mean(axis=1, keepdims=True)
    slopes = np.abs(np.linalg.lstsq(centred.T, wanted - wanted.mean(), rcond=None)[0])
    return bool(np.ptp(slopes) < SAME_WEIGHT * slopes.max()) or _unexplained(wanted, terms) < EXACT


# --- shared -------------------------------------------------------------------------------------------


def _patterns(columns: Sequence[SensedColumn], pool: Sequence[int]) -> Iterator[tuple[list[int], Masks]]:
    """Yield columns that are known in some rows, and these rows: first all, then those of the columns with gaps."""
    masks = {columns[j].known.tobytes(): columns[j].known for j in pool}
    everywhere = np.ones(len(columns[0].values), dtype=bool)
    rest = sorted((mask for mask in masks.values() if not mask.all()), key=lambda mask: -int(mask.sum()))
    for rows in [everywhere, *rest[:MOST_PATTERNS]]:
        if rows.sum() < FEWEST_SHARED_ROWS:
            continue
        complete = [j for j in pool if columns[j].known[rows].all() and np.ptp(columns[j].values[rows]) > 0]
        if len(complete) > 1:
            yield complete, rows


def _correlate(one: Floats, other: Floats) -> Floats:
    """Return the correlation of each row of one array with each of the other."""
    result: Floats = np.clip(_standardise(one) @ _standardise(other).T, -1, 1)
    return result


def _standardise(rows: Floats) -> Floats:
    """Return rows with mean 0 and length 1; constant rows are 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        centred = rows - rows.mean(axis=1, keepdims=True)
        scale = np.abs(centred).max(axis=1, keepdims=True, initial=0)
        centred = np.divide(centred, scale, out=np.zeros_like(centred), where=(scale > 0) & np.isfinite(scale))
        length = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    standard: Floats = np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)
    return standard
