"""Numba kernel for every subset of some factors: one scan of all points for all subsets of them.

A subset is a bit mask of its factors. Its four lowest bits are the lane of a vector, the others the index of the
vector. All distances are squared, and those of a point in all subsets are sums of its terms.

Distances in float32 show which points may be among the nearest: twice as many fit into a register. Where several are
about as far as the last of them, distances in float64 decide.
"""

from typing import Any, NamedTuple

import numpy as np

from .compiling import inlined, jit, part
from .neighbor_list import TIES, UNREACHED, capped, capped16, insert_distance
from .simd import at_most, broadcast16, first_bit, larger, load16, smaller, store, to_float32, where_less

# Number of factors of the lowest bits: their subsets are the lanes of a vector.
LOW = 4
LANES = 2**LOW

# Minimum number of factors: fewer have too few subsets for a vector.
LEAST_FACTORS = LOW + 1

# Row numbers are stored in float32, which represents no more integers exactly.
MAX_ROWS = 2**24

# Number of points compared at a time, and number of points around the centre that are compared first.
BLOCK, AROUND = 128, 96

# In float32: maximum contribution of a factor; distance of a neighbour not yet found, which exceeds all terms together;
# and contribution of each factor for the centre itself and for padding.
MAX_TERM, NOT_FOUND, NOT_A_POINT = 1e35, np.float32(3e36), np.float32(1e37)

# Upper bounds for the relative and absolute error of distances in float32: from sums of a few terms, and from
# underflow.
MARGIN, SMALLEST = np.float32(1 + 1e-5), np.float32(1.2e-38)


class SubsetTable(NamedTuple):
    """Searched data, as given to `subset_variances`."""

    points: Any
    caps: Any
    starts: Any


class BlockDistances(NamedTuple):
    """Distances of the points of a block, in float32."""

    terms: Any
    """Contribution of each factor, (factors, points)."""
    lanes: Any
    """Sums of contributions in all subsets of the lowest factors, (points, lanes)."""
    sums: Any
    """Sums of the other terms, (factors, points): row j is that of all bits from j on; the last row is 0."""
    near: Any
    """Indices of the points that are near enough to be compared."""


class Nearest(NamedTuple):
    """Nearest points so far in all subsets, in float32."""

    distances: Any
    """Distances, (vectors, neighbours, lanes), in ascending order."""
    rows: Any
    """Rows, (vectors, neighbours, lanes)."""
    limits: Any
    """Maximum distance of a point among them, (vectors, lanes)."""


class Ties(NamedTuple):
    """Points that tie, or nearly tie, with the last neighbour, besides those listed as nearest."""

    places: Any
    """Subset and row of each tie, (2, ties)."""
    distances: Any
    """Distance of each tie, in float32."""
    lanes: Any
    """Scratch for the distances and rows of a vector, (2, lanes)."""


def subset_variances(points: Any, caps: Any, starts: Any, y: Any, centres: Any, n_neighbors: int) -> Any:
    """Return the variance of y in the balls of all subsets, (centres, subsets), in units of y²; 0 for no factors.

    Parameters
    ----------
    points : float64 (dimensions, points)
        Points in an order in which consecutive points are near; their number is that of rows, padded to full blocks.
    caps : float64 (dimensions,)
        Squared distance of values that are not comparable.
    starts : intp (factors + 1,)
        First dimension of each factor, and the end of the last one; at least five factors.
    y : float64 (rows, outputs)
        At most 2²⁴ rows, in the order of the points.
    centres : intp (centres,)
    n_neighbors : int
    """
    p, wanted = starts.size - 1, n_neighbors - 1
    n_sets, n_vectors = 2**p, 2 ** (p - LOW)
    table = SubsetTable(points, caps, starts)
    block = BlockDistances(
        np.empty((p, BLOCK), np.float32),
        np.empty((BLOCK, LANES), np.float32),
        np.zeros((p - LOW + 1, BLOCK), np.float32),
        np.empty(BLOCK, np.uint16),
    )
    nearest = Nearest(
        np.empty((n_vectors, wanted, LANES), np.float32),
        np.empty((n_vectors, wanted, LANES), np.float32),
        np.empty((n_vectors, LANES), np.float32),
    )
    masks = ((np.arange(LANES) >> np.arange(LOW)[:, None]) & 1).astype(np.float32)
    exact, moments = np.empty((n_sets, wanted)), np.empty((n_sets, 2 + y.shape[1]))
    variances = np.empty((centres.size, n_sets))
    room, lanes = 4 * n_sets + 2 * LANES * BLOCK, np.empty((2, LANES), np.float32)
    done = 0
    while done < centres.size:
        ties = Ties(np.empty((2, room), np.int32), np.empty(room, np.float32), lanes)
        done = _fill_balls(table, y, centres, masks, block, nearest, ties, exact, moments, variances, done)
        room = 4 * room
    return variances


@jit
def _fill_balls(
    table: Any,
    y: Any,
    centres: Any,
    masks: Any,
    block: Any,
    nearest: Any,
    ties: Any,
    exact: Any,
    moments: Any,
    variances: Any,
    done: int,
) -> int:
    """Compute the variances of the remaining centres; return the number done, as memory for ties may run out."""
    for c in range(done, centres.size):
        n_ties = _scan(table, y.shape[0], centres[c], masks, block, nearest, ties)
        if n_ties < 0:
            return c
        _fill_variances(y, centres[c], nearest, variances, c)
        if n_ties > 0:
            _settle_ties(table, y, centres[c], nearest, ties, n_ties, exact, moments, variances, c)
    return centres.size


@part
def _scan(table: Any, n: int, centre: int, masks: Any, block: Any, nearest: Any, ties: Any) -> int:
    """Find the nearest points of a centre in all subsets; return the number of ties, or −1 if they do not fit."""
    nearest.distances[:], nearest.rows[:], nearest.limits[:] = NOT_FOUND, 0.0, NOT_FOUND
    for rank in range(nearest.distances.shape[1]):  # without factors all points are at distance 0
        nearest.distances[0, rank, 0] = -1.0
    if nearest.distances.shape[1] == 1:  # lower limits from points around the centre exclude more points later
        first = max(min(centre - AROUND // 2, n - AROUND), 0)
        _measure(table, first, min(AROUND, n - first), AROUND, centre, masks, block)
        _lower_limits(block, nearest.limits)
    nearest.limits[0, 0] = -1.0
    n_ties, n_blocks = 0, -(-n // BLOCK)
    for b in range(n_blocks):  # the block of the centre comes first
        number = (centre // BLOCK + b) % n_blocks
        first = number * BLOCK
        _measure(table, first, min(BLOCK, n - first), BLOCK, centre, masks, block)
        for h in range(nearest.limits.shape[0]):
            if n_ties + LANES * BLOCK > ties.distances.size:
                n_ties = _drop_far(ties, n_ties, nearest.limits)
                if n_ties + LANES * BLOCK > ties.distances.size:
                    return -1
            level = _add_high(block, h, BLOCK)
            n_near = _list_near(block, level, nearest.limits, h)
            n_ties = _insert(block, level, n_near, first, h, nearest, ties, n_ties)
    return _drop_far(ties, n_ties, nearest.limits)


@inlined
def _measure(table: Any, first: int, n_points: int, size: int, centre: int, masks: Any, block: Any) -> None:
    """Compute the contribution of each factor to the distances of some points, and the sums of the lowest ones."""
    points, caps, starts = table
    for f in range(starts.size - 1):
        for i in range(0, size, LANES):
            term = broadcast16(0.0)
            for k in range(starts[f], starts[f + 1]):
                step = load16(points, k * points.shape[1] + first + i) - broadcast16(points[k, centre])
                term = term + capped16(step * step, broadcast16(caps[k]))
            store(block.terms, BLOCK * f + i, to_float32(smaller(term, broadcast16(MAX_TERM))))
        for i in range(n_points, size):
            block.terms[f, i] = NOT_A_POINT
        if 0 <= centre - first < n_points:
            block.terms[f, centre - first] = NOT_A_POINT
    for i in range(size):
        total = broadcast16(block.terms[0, i]) * load16(masks, 0)
        for f in range(1, LOW):
            total = total + broadcast16(block.terms[f, i]) * load16(masks, LANES * f)
        store(block.lanes, LANES * i, total)


@inlined
def _add_high(block: Any, h: int, size: int) -> int:
    """Compute the sums of the terms whose bits are set, from those of all but the lowest one; return their row.

    Masks come in ascending order: bits above the lowest one are those of the last mask that filled their row.
    """
    last = block.sums.shape[0] - 1
    if h == 0:
        return last
    level, above = first_bit(h), h & (h - 1)
    base = first_bit(above) if above else last
    for i in range(0, size, LANES):
        total = load16(block.sums, BLOCK * base + i) + load16(block.terms, BLOCK * (LOW + level) + i)
        store(block.sums, BLOCK * level + i, total)
    return level


@inlined
def _lower_limits(block: Any, limits: Any) -> None:
    """Lower the limit of each subset to the distance of the nearest of the points around the centre."""
    for h in range(limits.shape[0]):
        level = _add_high(block, h, AROUND)
        limit = load16(limits, LANES * h)
        for i in range(AROUND):
            limit = smaller(limit, load16(block.lanes, LANES * i) + broadcast16(block.sums[level, i]))
        store(limits, LANES * h, limit * broadcast16(MARGIN) + broadcast16(SMALLEST))


@part
def _list_near(block: Any, level: int, limits: Any, h: int) -> int:
    """List the points of a block that are near enough in a subset of a vector; return their number.

    No subset of a vector reaches farther than that of all its factors: points beyond it by their sums alone are
    skipped. For the others the comparison comes too late for a branch.
    """
    n_near, limit, most = 0, load16(limits, LANES * h), broadcast16(limits[h, LANES - 1])
    for i in range(0, BLOCK, 64):
        at = BLOCK * level + i
        bits = at_most(load16(block.sums, at), most)
        bits |= at_most(load16(block.sums, at + 16), most) << 16
        bits |= at_most(load16(block.sums, at + 32), most) << 32
        bits |= at_most(load16(block.sums, at + 48), most) << 48
        while bits != 0:
            k = i + first_bit(bits)
            bits &= bits - 1
            distance = load16(block.lanes, LANES * k) + broadcast16(block.sums[level, k])
            block.near[n_near] = k
            n_near += at_most(distance, limit) != 0
    return n_near


@inlined
def _insert(block: Any, level: int, n_near: int, first: int, h: int, nearest: Any, ties: Any, n_ties: int) -> int:
    """Insert the listed points into the lists of the nearest ones of a vector; return the new number of ties.

    A point displaced from a full list is a tie if it is as far as the last one in the list.
    """
    wanted = nearest.distances.shape[1]
    for k in range(n_near):
        i = block.near[k]
        distance = load16(block.lanes, LANES * np.intp(i)) + broadcast16(block.sums[level, i])
        row = broadcast16(np.float32(first + i))
        for rank in range(wanted):
            at = LANES * (wanted * h + rank)
            other, other_row = load16(nearest.distances, at), load16(nearest.rows, at)
            store(nearest.distances, at, smaller(distance, other))
            store(nearest.rows, at, where_less(distance, other, row, other_row))
            row = where_less(distance, other, other_row, row)
            distance = larger(distance, other)
        last = load16(nearest.distances, LANES * (wanted * h + wanted - 1))
        limit = smaller(load16(nearest.limits, LANES * h), last * broadcast16(MARGIN) + broadcast16(SMALLEST))
        store(nearest.limits, LANES * h, limit)
        if at_most(distance, limit) != 0:
            n_ties = _note(distance, row, limit, h, ties, n_ties)
    return n_ties


@inlined
def _note(distance: Any, row: Any, limit: Any, h: int, ties: Any, n_ties: int) -> int:
    """Record the lanes of a vector that are ties; return the new number of ties."""
    bits = at_most(distance, limit)
    store(ties.lanes, 0, distance)
    store(ties.lanes, LANES, row)
    while bits != 0:
        lane = first_bit(bits)
        bits &= bits - 1
        ties.places[0, n_ties], ties.places[1, n_ties] = LANES * h + lane, np.intp(ties.lanes[1, lane])
        ties.distances[n_ties] = ties.lanes[0, lane]
        n_ties += 1
    return n_ties


@inlined
def _drop_far(ties: Any, n_ties: int, limits: Any) -> int:
    """Drop ties with points that turned out not to be among the nearest; return the remaining number."""
    left = 0
    for i in range(n_ties):
        u, row = ties.places[0, i], ties.places[1, i]
        if ties.distances[i] <= limits[u // LANES, u % LANES]:
            ties.places[0, left], ties.places[1, left], ties.distances[left] = u, row, ties.distances[i]
            left += 1
    return left


@inlined
def _fill_variances(y: Any, centre: int, nearest: Any, variances: Any, c: int) -> None:
    """Compute the variance of y in each ball without ties, the centre included."""
    wanted = nearest.rows.shape[1]
    for h in range(nearest.rows.shape[0]):
        for lane in range(LANES):
            squares = 0.0
            for k in range(y.shape[1]):
                total, total_squares = 0.0, 0.0
                for rank in range(wanted):
                    step = y[np.intp(nearest.rows[h, rank, lane]), k] - y[centre, k]
                    total, total_squares = total + step, total_squares + step * step
                squares += total_squares - total * total / (wanted + 1.0)
            variances[c, LANES * h + lane] = max(squares, 0.0) / wanted
    variances[c, 0] = 0.0


@part
def _settle_ties(
    table: Any,
    y: Any,
    centre: int,
    nearest: Any,
    ties: Any,
    n_ties: int,
    exact: Any,
    moments: Any,
    variances: Any,
    c: int,
) -> None:
    """Compute the variance of y in each ball of the subsets with ties.

    Distances in float64 decide which of the nearest points and of the ties are in it.
    """
    exact[:] = UNREACHED
    last = exact.shape[1] - 1
    for i in range(n_ties):
        u, tied = ties.places[0, i], ties.places[1, i]
        if exact[u, 0] == UNREACHED:
            moments[u] = 0.0
            for rank in range(last + 1):
                row = np.intp(nearest.rows[u // LANES, rank, u % LANES])
                insert_distance(exact, (u,), rank, _distance(table, centre, row, u))
        distance = _distance(table, centre, tied, u)
        if distance < exact[u, last]:
            insert_distance(exact, (u,), last, distance)
    for i in range(n_ties):
        u = ties.places[0, i]
        _add_row(table, y, ties.places[1, i], centre, u, exact[u, last] * TIES, moments)
    for u in range(1, exact.shape[0]):
        if exact[u, 0] != UNREACHED:
            for rank in range(last + 1):
                row = np.intp(nearest.rows[u // LANES, rank, u % LANES])
                _add_row(table, y, row, centre, u, exact[u, last] * TIES, moments)
            variances[c, u] = _variance(moments, u)


@inlined
def _distance(table: Any, centre: int, row: int, subset: int) -> float:
    """Return the distance of two points in a subset, in float64."""
    points, caps, starts = table
    total = 0.0
    for f in range(starts.size - 1):
        if (subset >> f) & 1:
            for k in range(starts[f], starts[f + 1]):
                step = points[k, row] - points[k, centre]
                total += capped(step * step, caps[k])
    return total


@inlined
def _add_row(table: Any, y: Any, row: int, centre: int, subset: int, reach: float, moments: Any) -> None:
    """Add a row to the ball of a subset, if it is near enough.

    Moments are the number of rows without the centre, their sum of squares, and their sums relative to the centre.
    """
    if _distance(table, centre, row, subset) > reach:
        return
    moments[subset, 0] += 1.0
    for k in range(y.shape[1]):
        step = y[row, k] - y[centre, k]
        moments[subset, 1] += step * step
        moments[subset, 2 + k] += step


@inlined
def _variance(moments: Any, subset: int) -> float:
    """Return the variance of y in a ball, the centre included; rounding must not make it negative."""
    others, squares = moments[subset, 0], moments[subset, 1]
    for k in range(2, moments.shape[1]):
        squares -= moments[subset, k] * moments[subset, k] / (others + 1.0)
    return max(squares, 0.0) / others
