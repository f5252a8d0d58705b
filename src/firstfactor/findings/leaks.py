"""The target in disguise: columns that contain the response, alone or together.

Such a column leads every ranking and says nothing: wage and its logarithm, death and its cause, hours and whether they
are zero, a total and its parts. A strong true driver is none: what decides nearly all is not enough, it must be all.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .._utils.text import list_names
from ..data.response import mid_ranks
from .columns import Floats, SensedColumn, SensedTable
from .constants import (
    FEW_CONSTANTS,
    FEWEST_BEYOND_A_LIMIT,
    FEWEST_FOR_ALL,
    FEWEST_OF_A_CLASS,
    MOST_COMPARED,
    MOST_LEVELS,
    MOST_WRONG,
    PRACTICALLY_ALL,
    ROWS_PER_CONSTANT,
    ROWS_PER_DECIDING_LEVEL,
    ROWS_TO_DECIDE,
)
from .finding import Finding
from .relations import Relation, cuts, decides


def find_leaks(
    table: SensedTable, copies: Sequence[tuple[int, int, float]], relations: Sequence[Relation]
) -> Iterator[Finding]:
    """Yield a finding for each column that contains the response, then for those that contain it together."""
    target, name = len(table.factors), table.target.name
    same = {min(a, b): correlation for a, b, correlation in copies if target in (a, b)}
    leaking = set[int]()
    few = table.sample
    for j, (column, sampled) in enumerate(zip(table.factors, few.factors, strict=True)):
        sentence = None
        if j in same and not table.has_classes:
            sentence = f"{column.name} is {name} in another form (rank correlation {same[j]:.2f})."
        elif _say(few, sampled):
            sentence = _say(table, column)
        if sentence:
            leaking.add(j)
            yield Finding("leak", sentence, (column.name,), remedy={"drop": [column.name]})
    if table.has_classes:
        yield from _find_comparisons(table, leaking)
    together = sorted((one for one in relations if target in one.members), key=lambda one: len(one.members))
    for relation in together:
        others = [j for j in relation.members if j != target]
        if leaking.isdisjoint(others):
            leaking.update(others)
            names = [table.factors[j].name for j in sorted(others)]
            sentence = f"{name} can be computed from {list_names(names, most=12)} ({_FORMS[relation.form]})."
            yield Finding("leak", sentence, tuple(names), remedy={"drop": names})


_FORMS = {
    "linear": "a sum or a difference",
    "powers": "a product or a ratio",
    "logs": "a difference of logarithms",
    "ratio": "a ratio",
    "product": "a product",
    "share": "a share of their sum",
    "change": "a change of logarithms",
    "joint": "their combinations decide it",
    "square": "its square",
}


def _say(table: SensedTable, column: SensedColumn) -> str | None:
    """Return a sentence if a column decides the response, or is a coarser form of it."""
    return (_say_decided_classes if table.has_classes else _say_decided)(table, column)


def _say_decided_classes(table: SensedTable, column: SensedColumn) -> str | None:
    """Return a sentence if the values of a column, or which of them are missing, decide the class."""
    if _decide_classes(column, table.target.codes):
        return f"{column.name} decides {table.target.name}: each of its values has one class."
    if 1 < column.n_levels <= table.target.n_levels and decides(table.target, column):
        return f"{column.name} is a coarser form of {table.target.name}: each class has one of its values."
    return None


def _decide_classes(column: SensedColumn, classes: NDArray[np.intp]) -> bool:
    counts = np.bincount(classes)
    rest = classes.size - int(counts.max())
    if counts[counts > 0].size < 2 or np.sort(counts)[-2] < FEWEST_OF_A_CLASS:
        return False
    most = MOST_WRONG * rest
    if column.n_levels * ROWS_PER_DECIDING_LEVEL <= classes.size and _wrong_by_level(column.codes, classes) <= most:
        return True
    if not column.known.all() and _wrong_by_level(column.known.astype(np.intp), classes) <= most:
        return True
    if np.sort(counts)[-2] < FEWEST_BEYOND_A_LIMIT:
        return False
    known = column.known
    if column.is_category or (~known).sum() > most or np.unique(classes[known]).size < 2:
        return False
    return _wrong_by_ranges(column.values[known], classes[known]) + int((~known).sum()) <= most


def _wrong_by_level(levels: NDArray[np.intp], classes: NDArray[np.intp]) -> int:
    """Return the number of rows that do not have the most frequent class of their level."""
    n_classes = int(classes.max()) + 1
    table = np.bincount(levels * n_classes + classes, minlength=(int(levels.max()) + 1) * n_classes)
    return int(classes.size - table.reshape(-1, n_classes).max(axis=1).sum())


def _wrong_by_ranges(x: Floats, classes: NDArray[np.intp]) -> float:
    """Return the number of rows on the wrong side of the best threshold; of several classes, the surplus of changes."""
    order = np.argsort(x, kind="stable")
    values, ordered = x[order], classes[order]
    present = np.unique(classes)
    if present.size > 2:
        if (values[1:] == values[:-1])[np.diff(ordered) != 0].any():
            return np.inf
        return float((np.diff(ordered) != 0).sum() - (present.size - 1))
    is_second = ordered == present[1]
    ends = np.r_[np.flatnonzero(np.diff(values)) + 1, values.size]
    second = np.cumsum(is_second)[ends - 1]
    wrong = second + (values.size - ends) - (second[-1] - second)
    return float(min(wrong.min(), (values.size - wrong).min()))


def _say_decided(table: SensedTable, column: SensedColumn) -> str | None:
    """Return a sentence if a column decides a quantity or whether it is zero, or is a coarser form of it."""
    target, name = table.target, table.target.name
    n = table.n_rows
    if target.n_levels * ROWS_TO_DECIDE <= n and 1 < column.n_levels <= target.n_levels and decides(target, column):
        return f"{column.name} is a coarser form of {name}: each value of {name} has one of {column.name}."
    if 1 < column.n_levels <= MOST_LEVELS / 2 and target.n_levels > 2 * column.n_levels and cuts(target, column):
        return f"{column.name} is a coarser form of {name}: each of its values is a range of {name}."
    if column.n_levels * ROWS_TO_DECIDE <= n and decides(column, target):
        return f"{column.name} decides {name}: each of its values has one of {name}."
    if not column.is_category and cuts(column, target) and target.n_levels <= MOST_LEVELS / 2:
        return f"{column.name} decides {name}: each value of {name} is a range of it."
    if _differ_by_constants(column, target):
        return f"{column.name} is {name} in other units: their ratio or difference has few values."
    mass = _mass(target)
    if mass is not None:
        value, is_mass = mass
        if _decide_classes(column, is_mass.astype(np.intp)):
            return f"{column.name} tells when {name} is {value:g}."
    if _explains_all(column, target):
        return f"{column.name} explains practically all of {name} by itself."
    return None


def _mass(target: SensedColumn) -> tuple[float, NDArray[np.bool_]] | None:
    """Return the smallest or largest value of a quantity, and the rows that have it, if many do."""
    for value in (0.0, target.values.min(), target.values.max()):
        has_it = target.values == value
        if 0.02 < has_it.mean() < 0.98 and has_it.sum() >= 10 and target.n_levels > 5:
            return float(value), has_it
    return None


def _explains_all(column: SensedColumn, target: SensedColumn) -> bool:
    """Return True if rows next to each other in a quantity have practically the same response."""
    if not column.is_number or column.known.sum() < max(FEWEST_FOR_ALL, 0.5 * column.known.size):
        return False
    if column.is_trending and target.is_trending:
        return False
    x, y = column.values[column.known], mid_ranks(target.values[column.known])
    noise = float((np.diff(y[np.argsort(x, kind="stable")]) ** 2).mean()) / 2
    return noise < (1 - PRACTICALLY_ALL) * float(y.var())


def _differ_by_constants(column: SensedColumn, target: SensedColumn) -> bool:
    """Return True if the ratio or difference of two quantities, or of a quantity and a logarithm, has few values."""
    if not column.is_number or column.is_whole or column.known.sum() < 0.5 * column.known.size:
        return False
    x, y = column.values[column.known], target.values[column.known]
    for one, other in ((x, y), (np.exp(np.clip(x, -300, 300)), y), (x, np.exp(np.clip(y, -300, 300)))):
        if not ((one > 0).all() and (other > 0).all()):
            continue
        ratio = np.sort(np.log(other) - np.log(one))
        gaps = np.diff(ratio) > 1e-3 * (ratio[-1] - ratio[0])
        n_constants = int(gaps.sum()) + 1
        if 1 < n_constants <= FEW_CONSTANTS and n_constants * ROWS_PER_CONSTANT <= min(
            np.unique(one).size, np.unique(other).size
        ):
            starts = np.r_[0, np.flatnonzero(gaps) + 1, ratio.size]
            within = max(float(np.ptp(ratio[a:b])) for a, b in pairwise(starts))
            return within < 1e-3 * float(np.log(other).std())
    return False


def _find_comparisons(table: SensedTable, leaking: set[int]) -> Iterator[Finding]:
    """Yield a finding for each pair of quantities of which the larger one decides the class."""
    few = table.sample
    classes = few.target.codes
    counts = np.bincount(classes)
    if counts.size != 2 or counts.min() < FEWEST_BEYOND_A_LIMIT:
        return
    numbers = [j for j, one in enumerate(few.factors) if one.is_number and one.known.all() and j not in leaking]
    numbers = numbers[:MOST_COMPARED]
    values = np.stack([few.factors[j].values for j in numbers]) if numbers else np.zeros((0, 1))
    is_second = classes == 1
    for a, one in enumerate(values[:-1]):
        others = values[a + 1 :]
        for compare in (np.greater, np.greater_equal):
            right = (compare(one, others) == is_second).mean(axis=1)
            for k in np.flatnonzero(np.maximum(right, 1 - right) >= 1 - MOST_WRONG * counts.min() / classes.size):
                pair = numbers[a], numbers[a + 1 + k]
                x, y = (table.factors[j].values for j in pair)
                agrees = float((compare(x, y) == (table.target.codes == 1)).mean())
                if leaking.isdisjoint(pair) and max(agrees, 1 - agrees) > 1 - MOST_WRONG * counts.min() / classes.size:
                    leaking.update(pair)
                    names = [table.factors[j].name for j in pair]
                    sentence = (
                        f"{table.target.name} can be computed from {list_names(names)} (which of them is larger)."
                    )
                    yield Finding("leak", sentence, tuple(names), remedy={"drop": names})
