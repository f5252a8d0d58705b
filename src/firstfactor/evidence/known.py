"""Check whether a factor is a function of others: then it adds nothing beside them, however small its p-value.

Detected are: a coarser category, or any value determined by the level of one factor; a monotone function of one factor;
and a linear combination of numeric factors and their squares. A relation must hold in all rows.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..data.design import Design
from ..data.encoding import TINY, is_missing
from ..neighbors.strategy import Floats, Positions
from .constants import MOST_DETERMINING, MOST_LEFT, ROWS_PER_LEVEL
from .functions import FactorFunctions
from .regression import Regression

# Maximum share of the variance left by least squares for a factor that is a combination of others: rounding error.
LEFT = 1e-10

# Number of rows that are looked at first: most often they already contradict a relation.
FEW_ROWS = 100


def nearly_known(functions: FactorFunctions, regression: Regression, factors: Sequence[int]) -> list[int]:
    """Return the factors whose lines a regression explains almost fully: only these can be functions of others."""
    if functions.design.is_in_memory:
        found = [_nearly_known(functions, some, regression) for some in functions.design.in_blocks(factors)]
    else:
        found = functions.ask_each_block("look for functions among", _nearly_known, factors, regression)
    return [i for i, is_known in zip(factors, np.concatenate(found), strict=True) if is_known] if found else []


def _nearly_known(functions: FactorFunctions, factors: Sequence[int], regression: Regression) -> NDArray[np.bool_]:
    lines = regression.weigh(np.concatenate([functions.of(i)[:1] for i in factors]))
    before, after = (np.einsum("ij,ij->i", each, each) for each in (lines, regression.remains(lines)))
    nearly: NDArray[np.bool_] = after < MOST_LEFT * before
    return nearly


def known_from(design: Design, factor: int, others: Sequence[int]) -> tuple[int, ...]:
    """Return the factors that determine the value of another in every row, or an empty tuple."""
    for other in others:
        if _decides(design, other, factor) or _is_monotone(design, other, factor):
            return (other,)
    return _combined(design, factor, others)


def _few_and_all(design: Design) -> tuple[slice, slice]:
    """Return few rows and all rows: a relation that holds in all holds in few."""
    return slice(None, None, max(design.n_rows // FEW_ROWS, 1)), slice(None)


def _decides(design: Design, other: int, factor: int) -> bool:
    """Return True if all rows with the same value of ``other`` have the same value of ``factor``."""
    is_category = all(design.categorical[j] for j in design.columns[other])
    for rows in _few_and_all(design):
        known = _levels(design, other, rows)
        n_known = int(known.max()) + 1
        if not (is_category or n_known <= MOST_DETERMINING) or n_known * ROWS_PER_LEVEL > design.n_rows:
            return False
        wanted = _levels(design, factor, rows)
        if wanted.max() >= n_known:
            return False
        first = np.empty(n_known, dtype=np.intp)
        first[known] = wanted
        if (first[known] != wanted).any():
            return False
    return True


def _levels(design: Design, factor: int, rows: slice) -> Positions:
    """Return an integer code for the value of a factor in some rows, over all of its columns."""
    codes, *others = (np.unique(design.column(j)[rows], return_inverse=True)[1] for j in design.columns[factor])
    for of_column in others:
        codes = np.unique(codes * (int(of_column.max()) + 1) + of_column, return_inverse=True)[1]
    return codes


def _is_monotone(design: Design, other: int, factor: int) -> bool:
    """Return True if one number is a strictly monotone function of another."""
    of_other, of_factor = _number(design, other), _number(design, factor)
    if of_other is None or of_factor is None:
        return False
    for rows in _few_and_all(design):
        order = np.argsort(of_other[rows], kind="stable")
        steps, same = np.diff(of_factor[rows][order]), np.diff(of_other[rows][order]) == 0
        if ((steps == 0) != same).any() or ((steps < 0).any() and (steps > 0).any()):
            return False
    return True


def _combined(design: Design, factor: int, others: Sequence[int]) -> tuple[int, ...]:
    """Return the numeric factors of which another is a linear combination, with their squares, up to rounding."""
    wanted = _number(design, factor)
    numbers = {i: values for i in others if (values := _number(design, i)) is not None}
    if wanted is None or not numbers or 2 * len(numbers) + 1 > design.n_rows / 2:
        return ()
    most_left = LEFT * np.sum((wanted - wanted.mean()) ** 2)
    for rows in _few_and_all(design):
        values = np.array([each[rows] for each in numbers.values()])
        basis = np.concatenate([np.ones((1, values.shape[1])), values, values**2]).T
        size = np.sqrt(np.maximum((basis**2).sum(axis=0), TINY))  # a column may be 0 in few rows
        coefficients = np.linalg.lstsq(basis / size, wanted[rows], rcond=None)[0]
        if np.sum((wanted[rows] - basis / size @ coefficients) ** 2) > most_left:
            return ()
    involved = np.abs(coefficients[1:]) > 1e-6 * np.abs(coefficients).max()
    owners = [*numbers, *numbers]
    return tuple(dict.fromkeys(i for i, is_in in zip(owners, involved.tolist(), strict=True) if is_in))


def _number(design: Design, factor: int) -> Floats | None:
    """Return the values of a factor that is one numeric column without missing values, else None."""
    columns = design.columns[factor]
    if len(columns) > 1 or design.categorical[columns[0]]:
        return None
    values = design.column(columns[0])
    return None if is_missing(values).any() else values
