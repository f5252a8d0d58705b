"""Units of a panel: rows of one person, firm, state or village are alike in what the factors do not explain."""

import re

import numpy as np

from ..data.response import mid_ranks
from .columns import Floats, SensedColumn, SensedTable, fold
from .constants import ERRORS_OF_LIKENESS, FEWEST_UNITS, LEAST_LIKENESS, MOST_FITTED, MOST_ROWS_OF_UNITS, ROWS_PER_UNIT
from .finding import Finding

_NAMES = (
    "state|country|nation|county|province|city|town|village|district|municipality|school|firm|company|hospital|"
    "store|shop|plant|farm|clinic|site|subject|person|patient|household|hh|family|fam|team|player|individual|worker|"
    "employee|student|pupil|teacher|court|judge|station|stock|ticker|symbol|permno|cusip|bank|"
    "party|precinct|tract|zip|fips|fip|business|vill|airport|route|customer|user|cluster|stn|stfips|fipst|psu"
)
_UNIT = re.compile(rf"(^|[^a-z])({_NAMES})s?[ _.]?(id|no|nr|num|number|code|name|fips)?([^a-z]|$)")
_ID = re.compile(r"(^|[^a-z])(id|nr|code|number|num)([^a-z]|$)|id$|code$|^n(city|county|state)")


def is_unit_name(column: SensedColumn) -> bool:
    """Return True if the name of a column is that of units or of their numbers."""
    name = fold(column.name)
    return bool(_UNIT.search(name) or _ID.search(name))


def find_units(table: SensedTable) -> Finding | None:
    """Return a finding that proposes the column of units as groups of rows."""
    if table.groups is not None:
        return None
    n, best = table.n_rows, None
    times = [one for one in table.factors if one.is_time and 2 <= one.n_levels <= n / 2]
    for column, few in zip(table.factors, table.sample.factors, strict=True):
        named = is_unit_name(column)
        if not (named or times) or column.is_time or not (few.is_text or few.is_whole) or few.is_indicator:
            continue
        n_units = column.n_levels
        if (
            not FEWEST_UNITS <= n_units <= n / ROWS_PER_UNIT
            or not column.known.all()
            or not (column.is_text or column.is_whole)
        ):
            continue
        in_time = n_units >= 10 and any(_is_panel(column, time) for time in times)
        if not (named or in_time) or not (in_time or n_units >= 10 or column.is_text):
            continue
        likeness, errors = _likeness(table, column)
        if likeness < LEAST_LIKENESS or errors < ERRORS_OF_LIKENESS:
            continue
        score = (in_time, named, errors)
        if best is None or score > best[0]:
            best = (score, column, likeness)
    if best is None:
        return None
    _, column, likeness = best
    told = f"Rows with the same {column.name} are alike beyond what the other factors explain"
    sentence = f"{told} (correlation {likeness:.2f})."
    return Finding("units", sentence, (column.name,), column.n_levels, {"groups": column.name})


def _is_panel(column: SensedColumn, time: SensedColumn) -> bool:
    """Return True if each unit has at most one row for each time."""
    if time is column or time.n_levels * 2 > column.values.size or time.n_levels == 1:
        return False
    codes = column.codes * time.n_levels + time.codes
    return np.unique(codes).size == codes.size and column.n_levels * 1.5 <= codes.size


def _likeness(table: SensedTable, column: SensedColumn) -> tuple[float, float]:
    """Return the correlation of the rows of a unit in what other factors leave of y, also in standard errors."""
    rows = np.arange(table.n_rows)
    if table.n_rows > MOST_ROWS_OF_UNITS:  # whole units
        order = np.random.default_rng(0).permutation(column.n_levels)
        sizes = np.bincount(column.codes)
        kept = order[: int(np.searchsorted(np.cumsum(sizes[order]), MOST_ROWS_OF_UNITS)) + 1]
        rows = np.flatnonzero(np.isin(column.codes, kept))[: 4 * MOST_ROWS_OF_UNITS]
    codes = np.unique(column.codes[rows], return_inverse=True)[1]
    left = _residuals(table, column, rows)
    sizes = np.bincount(codes)
    n, k = codes.size, sizes.size
    if k < 2 or n <= k or not left.any():
        return 0.0, 0.0
    means = np.bincount(codes, left) / sizes
    between = float((sizes * (means - left.mean()) ** 2).sum()) / (k - 1)
    within = float(((left - means[codes]) ** 2).sum()) / (n - k)
    typical = (n - float((sizes**2).sum()) / n) / (k - 1)
    if within <= 0:
        return 1.0, np.inf
    likeness = (between - within) / (between + (typical - 1) * within)
    error = np.sqrt(2 * (n - 1) / ((k - 1) * (n - k))) / typical  # of the ratio of the two by chance, roughly
    return float(likeness), float((between / within - 1) / typical / error) if error else 0.0


def _residuals(table: SensedTable, column: SensedColumn, rows: np.ndarray) -> Floats:
    """Return what lines in the other factors, and the levels of small categories, leave of the ranks of y."""
    y = mid_ranks(table.target.values[rows]) if not table.has_classes else (table.target.codes[rows] == 0).astype(float)
    terms = [np.ones(rows.size)]
    for other in table.factors:
        if other is column or len(terms) > min(MOST_FITTED, rows.size / 5):
            continue
        if other.is_text and other.n_levels > 12:
            continue
        if other.n_levels >= column.n_levels and _contains(other, column):  # a finer unit, or its number
            continue
        values = other.values[rows]
        if other.is_category and other.n_levels > 2:
            terms += [(other.codes[rows] == level).astype(float) for level in range(1, other.n_levels)]
        else:
            filled = np.where(np.isnan(values), np.nanmean(values) if (~np.isnan(values)).any() else 0.0, values)
            terms.append(mid_ranks(filled) / rows.size)
    X = np.stack(terms)
    X[1:] -= X[1:].mean(axis=1, keepdims=True)
    slopes = np.linalg.lstsq(X @ X.T, X @ y, rcond=1e-10)[0]
    residuals: Floats = y - slopes @ X
    return residuals


def _contains(one: SensedColumn, other: SensedColumn) -> bool:
    """Return True if each value of one column occurs with a single value of another."""
    if one.n_levels > 0.9 * one.values.size:
        return False
    first = np.zeros(one.n_levels, np.intp)
    first[one.codes] = other.codes
    return bool((first[one.codes] == other.codes).all())
