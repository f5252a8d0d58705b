"""Numba kernel for every subset of some factors: one scan of all points for all subsets of them.

A subset is a number whose bits say which factors are in it. Its 16 lowest combinations are the lanes of a vector, the
others numbers of vectors. All distances are squared, and those of a point in all subsets come from adding its terms one
by one.
"""

from typing import Any

import numpy as np

from .compiling import inlined, jit, part
from .neighbor_list import TIES, UNREACHED, capped, insert_distance
from .simd import at_most, broadcast16, first_bit, load16, smaller, store

# Factors of the lowest bits: their subsets are the lanes of a vector.
LOW = 4
LANES = 2**LOW

# Fewer factors have too few subsets for a vector.
LEAST_FACTORS = LOW + 1

# Rows on both sides of the centre that are looked at first.
AROUND = 48


@jit
def subset_variances(
    points: Any, around: Any, place: Any, caps: Any, starts: Any, y: Any, centres: Any, n_neighbors: int
) -> Any:
    """Variance of y in the balls of all subsets of the factors, (centres, subsets), in units of y²; 0 for no factors.

    A point that is as near as the nearest so far is noted. In the end, those that are still near enough are the ball.

    Parameters
    ----------
    points : float64 (rows, dimensions)
        In any order but one in which rows that follow each other are near: then each would be nearer than the last.
    around : intp (rows,)
        The rows so that those which follow each other are near.
    place : intp (rows,)
        Where each row is in that order.
    caps : float64 (dimensions,)
        What values add to a squared distance that cannot be compared.
    starts : intp (factors + 1,)
        The first dimension of each factor, and the end of the last one; at least five factors.
    y : float64 (rows, outputs)
    centres : intp (centres,)
    n_neighbors : int
    """
    p, wanted = starts.size - 1, n_neighbors - 1
    n_sets = 2**p
    n_high = n_sets // LANES
    terms, high, distance = np.zeros(max(p, 2 * LOW)), np.empty(max(n_high, 64)), np.empty(LANES)
    masks = np.zeros((LOW, LANES))
    for lane in range(LANES):
        for f in range(LOW):
            masks[f, lane] = float((lane >> f) & 1)
    nearest, limit, reach = np.empty((n_sets, wanted)), np.empty(n_sets), np.empty(max(n_high, 64))
    size = 16 * n_sets
    noted_set, noted_row, noted_distance = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
    moments, variances = np.empty((n_sets, 2 + y.shape[1])), np.empty((centres.size, n_sets))
    high[n_high:], reach[n_high:] = 0.0, -1.0  # beyond the last subset nothing is near
    for c in range(centres.size):
        n_noted = -1
        while n_noted < 0:
            n_noted = _scan(
                points,
                around,
                place,
                caps,
                starts,
                centres[c],
                masks,
                terms,
                high,
                distance,
                nearest,
                limit,
                reach,
                noted_set,
                noted_row,
                noted_distance,
            )
            if n_noted < 0:  # so many ties that there was no room
                size = 4 * size
                noted_set, noted_row, noted_distance = (
                    np.empty(size, np.int32),
                    np.empty(size, np.int32),
                    np.empty(size),
                )
        _fill_balls(noted_set, noted_row, n_noted, y, centres[c], moments)
        _fill_variances(moments, variances, c)
    return variances


@part
def _scan(
    points: Any,
    around: Any,
    place: Any,
    caps: Any,
    starts: Any,
    centre: int,
    masks: Any,
    terms: Any,
    high: Any,
    distance: Any,
    nearest: Any,
    limit: Any,
    reach: Any,
    noted_set: Any,
    noted_row: Any,
    noted_distance: Any,
) -> int:
    """Note the points of the balls of a centre in all subsets; how many there are, or −1 if there is no room."""
    n, p, n_noted = points.shape[0], starts.size - 1, 0
    n_sets, n_high = nearest.shape[0], nearest.shape[0] // LANES
    nearest[:], limit[:], reach[:n_high] = UNREACHED, UNREACHED, UNREACHED
    if nearest.shape[1] == 1:  # how near those around the centre are: the nearer, the fewer of all are noted
        for i in range(max(place[centre] - AROUND, 0), min(place[centre] + AROUND + 1, n)):
            if around[i] != centre:
                _measure(points, around[i], centre, caps, starts, terms)
                _add_high(terms, p, masks, high)
                _lower_limits(_add_lanes(terms, 0, masks), high, n_high, limit)
        for h in range(n_high):
            reach[h] = limit[LANES * h + LANES - 1]
    limit[0] = -1.0  # without factors all points are at no distance
    for row in range(n):
        if row == centre:
            continue
        if n_noted + n_sets > noted_row.size:
            n_noted = _keep_near(noted_set, noted_row, noted_distance, n_noted, limit)
            if n_noted + n_sets > noted_row.size:
                return -1
        _measure(points, row, centre, caps, starts, terms)
        _add_high(terms, p, masks, high)
        lanes = _add_lanes(terms, 0, masks)
        n_noted = _compare(
            row, lanes, high, distance, nearest, limit, reach, noted_set, noted_row, noted_distance, n_noted
        )
    return _keep_near(noted_set, noted_row, noted_distance, n_noted, limit)


@inlined
def _measure(points: Any, row: int, centre: int, caps: Any, starts: Any, terms: Any) -> None:
    """Fill in what each factor adds to the distance of two points."""
    if starts.size == caps.size + 1:  # a dimension each
        for f in range(caps.size):
            step = points[row, f] - points[centre, f]
            terms[f] = capped(step * step, caps[f])
        return
    for f in range(starts.size - 1):
        term = 0.0
        for k in range(starts[f], starts[f + 1]):
            step = points[row, k] - points[centre, k]
            term += capped(step * step, caps[k])
        terms[f] = term


@inlined
def _add_lanes(terms: Any, first: int, masks: Any) -> Any:
    """The sums of four terms in all their subsets, a vector: a mask says in which lanes a term is."""
    total = broadcast16(terms[first]) * load16(masks, 0)
    for f in range(1, LOW):
        total = total + broadcast16(terms[first + f]) * load16(masks, LANES * f)
    return total


@inlined
def _add_high(terms: Any, n_factors: int, masks: Any, high: Any) -> None:
    """Fill in the sums of all terms but the first four in all their subsets."""
    first = _add_lanes(terms, LOW, masks)
    store(high, 0, first)
    if n_factors > 2 * LOW:
        second = first + broadcast16(terms[2 * LOW])
        store(high, LANES, second)
        if n_factors > 2 * LOW + 1:  # from what is still in registers: memory would be waited for
            store(high, 2 * LANES, first + broadcast16(terms[2 * LOW + 1]))
            store(high, 3 * LANES, second + broadcast16(terms[2 * LOW + 1]))
    for f in range(2 * LOW + 2, n_factors):
        size = 1 << (f - LOW)
        for u in range(0, size, LANES):
            store(high, size + u, load16(high, u) + broadcast16(terms[f]))


@inlined
def _lower_limits(lanes: Any, high: Any, n_high: int, limit: Any) -> None:
    """Lower the limit of each subset to the distance of a point that is nearer."""
    ties = broadcast16(TIES)
    for h in range(n_high):
        distance = (lanes + broadcast16(high[h])) * ties
        store(limit, LANES * h, smaller(load16(limit, LANES * h), distance))


@inlined
def _compare(
    row: int,
    lanes: Any,
    high: Any,
    distance: Any,
    nearest: Any,
    limit: Any,
    reach: Any,
    noted_set: Any,
    noted_row: Any,
    noted_distance: Any,
    n_noted: int,
) -> int:
    """Note a point in each subset in which it is as near as the nearest so far; how many are noted then.

    A subset reaches no farther than all subsets of a vector do with all their factors: vectors that a point is too far
    away for are skipped.
    """
    last = nearest.shape[1] - 1
    for start in range(0, high.size, 64):
        near = _near_vectors(high, reach, start)
        while near != 0:
            h = start + first_bit(near)
            near &= near - 1
            total = lanes + broadcast16(high[h])
            bits = at_most(total, load16(limit, LANES * h))
            if bits != 0:
                store(distance, 0, total)
            while bits != 0:
                lane = first_bit(bits)
                bits &= bits - 1
                u = LANES * h + lane
                noted_set[n_noted], noted_row[n_noted], noted_distance[n_noted] = u, row, distance[lane]
                n_noted += 1
                if distance[lane] < nearest[u, last]:
                    insert_distance(nearest, (u,), last, distance[lane])
                    limit[u] = nearest[u, last] * TIES
                    if lane == LANES - 1:
                        reach[h] = limit[u]
    return n_noted


@inlined
def _near_vectors(high: Any, reach: Any, start: int) -> Any:
    """The bit mask of 64 vectors in which a point may be near.

    The end of one loop over all its bits is foreseen more often than those of four.
    """
    bits = at_most(load16(high, start), load16(reach, start))
    bits |= at_most(load16(high, start + 16), load16(reach, start + 16)) << 16
    bits |= at_most(load16(high, start + 32), load16(reach, start + 32)) << 32
    bits |= at_most(load16(high, start + 48), load16(reach, start + 48)) << 48
    return bits


@inlined
def _keep_near(noted_set: Any, noted_row: Any, noted_distance: Any, n_noted: int, limit: Any) -> int:
    """Drop what was noted and turned out not to be among the nearest; how many are left."""
    left = 0
    for i in range(n_noted):
        if noted_distance[i] <= limit[noted_set[i]]:
            noted_set[left], noted_row[left], noted_distance[left] = noted_set[i], noted_row[i], noted_distance[i]
            left += 1
    return left


@inlined
def _fill_variances(moments: Any, variances: Any, c: int) -> None:
    """Fill in the variance of y in each ball, the centre included; rounding must not make it negative."""
    variances[c, 0] = 0.0
    for u in range(1, moments.shape[0]):
        others, squares = moments[u, 0], moments[u, 1]
        if others == 1.0:  # nearly always, and faster
            variances[c, u] = 0.5 * squares
            continue
        for k in range(2, moments.shape[1]):
            squares -= moments[u, k] * moments[u, k] / (others + 1.0)
        variances[c, u] = max(squares, 0.0) / others


@inlined
def _fill_balls(noted_set: Any, noted_row: Any, n_noted: int, y: Any, centre: int, moments: Any) -> None:
    """Count the rows of each ball but the centre, with their sums of squares and sums relative to the centre."""
    moments[:] = 0.0
    for i in range(n_noted):
        u, row = noted_set[i], noted_row[i]
        moments[u, 0] += 1.0
        for k in range(y.shape[1]):
            step = y[row, k] - y[centre, k]
            moments[u, 1] += step * step
            moments[u, 2 + k] += step
