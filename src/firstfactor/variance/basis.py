"""Basis functions of single factors, ordered from smooth to rough, for the smooth fit.

A numeric column has a line with outlying values clipped, a line through all values, and Legendre polynomials of a
mixture of its value and its rank. A categorical column has contrasts of its levels, and missing values have an
indicator. The functions of one column have mean 0 and mean square 1 and are uncorrelated.
"""

from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre

from ..data.design import Design
from ..data.encoding import is_missing
from ..neighbors.strategy import Floats, Positions
from .constants import BENT, LEAST_NEW_FUNCTION, LEAST_OF_OTHERS, MOST_LEVELS, ORDER_OF_OTHERS, STRAIGHT


class Functions(NamedTuple):
    """Basis functions of one factor."""

    values: Floats
    """Function values, (functions, rows), smoothest first."""
    orders: Floats
    """Roughness of each function, (functions,): 1 for lines and contrasts, k for a polynomial of order k."""

    def first(self, most: int) -> "Functions":
        """Return the first ``most`` functions, and in any case all lines and contrasts."""
        n = max(most, int((self.orders <= 1).sum()))
        return Functions(self.values[:n], self.orders[:n])


def functions_of(design: Design, factor: int, rows: Positions, weights: Floats | None, most: int) -> Functions:
    """Return the basis functions of a factor at some rows, at most ``most`` for a numeric one; means are weighted."""
    columns = design.columns[factor]
    values = design.take(columns, rows)
    each = max(most // len(columns), 2)
    parts = [
        _of_levels(values[:, k], weights) if design.categorical[j] else _of_column(values[:, k], weights, each)
        for k, j in enumerate(columns)
    ]
    joined, orders = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    order = np.argsort(orders, kind="stable")
    return Functions(joined[order], orders[order])


def _of_column(values: Floats, weights: Floats | None, most: int) -> Functions:
    """Return the basis functions of a numeric column, in which values may be missing."""
    known = ~is_missing(values)
    if known.all():
        return _of_numbers(values, weights, most)
    if not known.any():
        return _nothing(values.size)
    gaps = _of_levels(known.astype(float), weights)
    own = weights if weights is None else weights[known]
    part = _of_numbers(values[known], own, most)
    share = float(np.mean(known)) if weights is None else float(weights[known].sum() / weights.sum())
    spread = np.zeros((part.orders.size, values.size))
    spread[:, known] = part.values / np.sqrt(share)
    return Functions(np.concatenate([gaps.values, spread]), np.concatenate([gaps.orders, part.orders]))


def _of_numbers(values: Floats, weights: Floats | None, most: int) -> Functions:
    distinct, number = np.unique(values, return_inverse=True)
    share = _shares(number, weights)
    bent, straight = _draw_in(values, distinct)
    if distinct.size < 2 or bent[-1] <= bent[0]:
        return _of_levels(values, weights) if 1 < distinct.size <= MOST_LEVELS else _nothing(values.size)
    rank = np.cumsum(share) - share / 2
    position = rank + (bent - bent[0]) / (bent[-1] - bent[0]) - 1  # from −1 to 1
    raw = np.concatenate([[straight, distinct], legendre.legvander(position, min(most, distinct.size)).T[1:]])
    orders = np.concatenate([[1.0, ORDER_OF_OTHERS, ORDER_OF_OTHERS], np.arange(2.0, len(raw) - 1)])
    return _orthonormal(raw, orders, share, number, min(most, distinct.size - 1))


def _of_levels(values: Floats, weights: Floats | None) -> Functions:
    distinct, number = np.unique(values, return_inverse=True)
    share = _shares(number, weights)
    frequent = np.argsort(-share, kind="stable")[: min(distinct.size, MOST_LEVELS) - 1]
    return _orthonormal(np.eye(distinct.size)[frequent], np.ones(frequent.size), share, number, frequent.size)


def _orthonormal(raw: Floats, orders: Floats, share: Floats, number: Positions, most: int) -> Functions:
    """Return functions, (functions, distinct values), orthonormalised in order of roughness: at most ``most``."""
    weight = np.sqrt(share)
    basis = np.empty((most + 1, share.size))
    basis[0] = weight
    weighted = weight * raw
    sizes = np.einsum("ij,ij->i", weighted, weighted)
    varying = sizes - (weighted @ weight) ** 2
    least = np.where(orders == ORDER_OF_OTHERS, LEAST_OF_OTHERS, LEAST_NEW_FUNCTION) * varying
    kept: list[float] = []
    for k in np.flatnonzero(varying > LEAST_NEW_FUNCTION**2 * sizes).tolist():
        left, smoother = weighted[k], basis[: len(kept) + 1]
        left -= (smoother @ left) @ smoother
        new = float(left @ left)
        if new < sizes[k] / 2:  # where little is left, a second pass removes the rounding error of the first
            left -= (smoother @ left) @ smoother
            new = float(left @ left)
        if new <= least[k]:
            continue
        kept.append(orders[k])
        basis[len(kept)] = left / np.sqrt(new)
        if len(kept) == most:
            break
    at_distinct = basis[1 : len(kept) + 1] / weight
    return Functions(at_distinct[:, number], np.array(kept))


def _nothing(n_rows: int) -> Functions:
    return Functions(np.zeros((0, n_rows)), np.zeros(0))


def _shares(number: Positions, weights: Floats | None) -> Floats:
    """Return the share of rows with each value."""
    counts = np.bincount(number, weights)
    shares: Floats = counts / counts.sum()
    return shares


def _draw_in(values: Floats, distinct: Floats) -> list[Floats]:
    """Return the distinct values for curves and for lines, clipped far beyond two percentiles of all values."""
    quantiles = np.percentile(values, [*BENT[:2], *STRAIGHT[:2]])
    found = []
    for (bottom, top), beyond in zip((quantiles[:2], quantiles[2:]), (BENT[2], STRAIGHT[2]), strict=True):
        reach = beyond * (top - bottom) if top > bottom else np.inf
        found.append(np.clip(distinct, bottom - reach, top + reach))
    return found
