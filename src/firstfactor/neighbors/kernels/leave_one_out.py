"""Numba kernel for a base minus each factor: a scan of all points, as trees prune little in many dimensions.

Distances in float32, of which twice as many fit into a register, show which blocks may hold a neighbour. Only these are
measured in float64, which decides. All distances are squared.
"""

from typing import Any

import numpy as np

from .compiling import inlined, jit, part
from .kd_tree import LEAF
from .neighbor_list import TIES, UNREACHED, capped, capped16, insert_distance
from .simd import at_most, broadcast16, first_bit, larger, load16, smaller, store

# Number of centres scanned together: a block is fetched from memory once for all of them.
TOGETHER = 16

# Subtracting the largest term cancels digits: the difference is reduced by more than the rounding error, as a neighbour
# must never be skipped. Sums without subtraction then decide whether a point is a neighbour.
LOOSE = 1 - 1e-12

# Values are clipped before they are rounded to float32: their squares must not overflow, and none gets farther away.
LARGEST = 1e15

# Relative rounding error of a distance in float32, for each of its terms, and a margin for the few other operations.
ROUNDING, MARGIN = 2.0**-23, 1 + 1e-5

# What float32 loses of distances that are too small for it.
SMALLEST = 1e-37


def sum_minus_each(
    blocks: Any,
    rounded: Any,
    points: Any,
    caps: Any,
    starts: Any,
    y: Any,
    weight: Any,
    centres: Any,
    n_neighbors: int,
) -> Any:
    """Return the weighted sums of ball variances without each factor, and variance and squared radius in all.

    The sums are (factors,), the others (centres,); variances are in units of y².

    One scan serves all: a point at distance d in all factors is at d − δ² without one. Neighbours without a factor are
    no farther than those in all, so only points that are as near without their largest δ² matter.

    Parameters
    ----------
    blocks : float64 (blocks, dimensions, 16)
        The points again, 16 at a time, padded with zeros.
    rounded : tuple
        What `round_plain` returns for these blocks.
    points : float64 (rows, dimensions)
    caps : float64 (dimensions,)
        Squared distance of values that are not comparable.
    starts : intp (factors + 1,)
        First dimension of each factor, and the end of the last one. Factors of one dimension without a cap come first.
    y : float64 (rows, outputs)
    weight : float64 (rows,)
        Weight of the ball of each row in the sums.
    centres : intp (centres,)
    n_neighbors : int
    """
    n, p = points.shape[0], starts.size - 1
    wanted = n_neighbors - 1
    coarse, error = rounded
    own, limits = np.empty((TOGETHER, coarse.shape[1]), np.float32), np.empty(TOGETHER, np.float32)
    distance, reduced = np.empty(LEAF), np.empty(LEAF)
    ranked, n_visited = np.empty((TOGETHER, wanted)), np.empty(TOGETHER, np.intp)
    visited, visited_reduced = np.empty((TOGETHER, n), np.int32), np.empty((TOGETHER, n))
    without, nearest, moments = np.empty(p + 1), np.empty((wanted, p + 1)), np.empty((2 + y.shape[1], p + 1))
    total, variances, radii = np.zeros(p), np.empty(centres.size), np.empty(centres.size)
    _leave_out(
        blocks,
        points,
        caps,
        starts,
        y,
        weight,
        centres,
        coarse,
        error,
        own,
        limits,
        distance,
        reduced,
        ranked,
        n_visited,
        visited,
        visited_reduced,
        without,
        nearest,
        moments,
        total,
        variances,
        radii,
    )
    return total, variances, radii


def round_plain(blocks: Any, n_plain: int) -> Any:
    """Return the first ``n_plain`` dimensions in float32, and by how much distances in these, unsquared, may be wrong.

    A difference is wrong by up to twice the largest rounding error, and a distance by that times the root of their
    number.
    """
    clipped = np.clip(blocks[:, :n_plain], -LARGEST, LARGEST)
    coarse = clipped.astype(np.float32)
    return coarse, 2.0 * float(np.abs(clipped - coarse).max(initial=0.0)) * float(np.sqrt(n_plain))


@jit
def _leave_out(
    blocks: Any,
    points: Any,
    caps: Any,
    starts: Any,
    y: Any,
    weight: Any,
    centres: Any,
    coarse: Any,
    error: float,
    own: Any,
    limits: Any,
    distance: Any,
    reduced: Any,
    ranked: Any,
    n_visited: Any,
    visited: Any,
    visited_reduced: Any,
    without: Any,
    nearest: Any,
    moments: Any,
    total: Any,
    variances: Any,
    radii: Any,
) -> None:
    """Add the variances without each factor to ``total``, and fill in variance and squared radius in all factors."""
    for start in range(0, centres.size, TOGETHER):
        size = min(centres.size - start, TOGETHER)
        _scan(
            blocks,
            points,
            caps,
            starts,
            centres,
            start,
            size,
            coarse,
            error,
            own,
            limits,
            distance,
            reduced,
            ranked,
            n_visited,
            visited,
            visited_reduced,
        )
        for m in range(size):
            radii[start + m] = ranked[m, ranked.shape[1] - 1]
            variances[start + m] = _add_variances(
                points,
                caps,
                starts,
                y,
                weight,
                coarse.shape[1],
                centres[start + m],
                m,
                radii[start + m],
                n_visited[m],
                visited,
                visited_reduced,
                without,
                # (lists, entries), but with the same entry of all lists side by side: one point is compared with all
                nearest.T,
                moments,
                total,
            )


@inlined
def _scan(
    blocks: Any,
    points: Any,
    caps: Any,
    starts: Any,
    centres: Any,
    start: int,
    n_centres: int,
    coarse: Any,
    error: float,
    own: Any,
    limits: Any,
    distance: Any,
    reduced: Any,
    ranked: Any,
    n_visited: Any,
    visited: Any,
    visited_reduced: Any,
) -> None:
    """List the points that may be near each centre without one factor, and rank its neighbours in all."""
    n, plain = points.shape[0], coarse.shape[1]
    n_visited[:] = 0
    ranked[:] = UNREACHED
    limits[:] = np.inf
    for m in range(n_centres):
        centre = centres[start + m]
        for k in range(plain):
            own[m, k] = coarse[centre // LEAF, k, centre % LEAF]
    for block in range(blocks.shape[0]):
        size = min(n - LEAF * block, LEAF)
        for pair in range(0, n_centres, 2):  # two at a time: each waits for its own sums
            near = _measure_coarsely(coarse, block, own, limits, pair, min(pair + 1, n_centres - 1))
            while near != 0:
                m = pair + first_bit(near)
                near &= near - 1
                _visit(
                    blocks,
                    block,
                    size,
                    points,
                    caps,
                    starts,
                    plain,
                    centres[start + m],
                    m,
                    distance,
                    reduced,
                    ranked,
                    n_visited,
                    visited,
                    visited_reduced,
                )
                limits[m] = _coarse_limit(ranked[m, ranked.shape[1] - 1] * TIES, error)


@inlined
def _measure_coarsely(coarse: Any, block: int, own: Any, limits: Any, one: int, other: int) -> Any:
    """Return a bit mask of two centres: those that the points of a block may be near enough to without one factor.

    Only plain factors count. Points are nearer without the others, so that none is missed.
    """
    plain = coarse.shape[1]
    zero = broadcast16(np.float32(0.0))
    total, largest, other_total, other_largest = zero, zero, zero, zero
    for k in range(plain):
        values = load16(coarse, LEAF * (block * plain + k))
        gap, other_gap = values - broadcast16(own[one, k]), values - broadcast16(own[other, k])
        total, largest = total + gap * gap, larger(largest, gap * gap)
        other_total, other_largest = other_total + other_gap * other_gap, larger(other_largest, other_gap * other_gap)
    loose = broadcast16(np.float32(1.0 - (plain + 8) * ROUNDING))
    near = np.intp(at_most(total * loose - largest, broadcast16(limits[one])) != 0)
    if other > one and at_most(other_total * loose - other_largest, broadcast16(limits[other])) != 0:
        near |= 2
    return near


@inlined
def _coarse_limit(limit: float, error: float) -> Any:
    """Return what a distance in float32 is at most if the exact one is within the limit."""
    root = np.sqrt(limit) + error
    return np.float32(smaller(root * root * MARGIN + SMALLEST, UNREACHED))


@part
def _visit(
    blocks: Any,
    block: int,
    size: int,
    points: Any,
    caps: Any,
    starts: Any,
    plain: int,
    centre: int,
    m: int,
    distance: Any,
    reduced: Any,
    ranked: Any,
    n_visited: Any,
    visited: Any,
    visited_reduced: Any,
) -> None:
    """List and rank the points of a block, ``size`` in number, for the m-th centre."""
    last = ranked.shape[1] - 1
    total, largest = _measure(blocks, block, points, centre, caps, starts, plain)
    without_largest = total * broadcast16(LOOSE) - largest
    bits = at_most(without_largest, broadcast16(ranked[m, last] * TIES)) & ((1 << size) - 1)
    if centre // LEAF == block:
        bits &= ~(1 << (centre % LEAF))
    if bits != 0:
        store(distance, 0, total)
        store(reduced, 0, without_largest)
    while bits != 0:
        i = first_bit(bits)
        bits &= bits - 1
        visited[m, n_visited[m]], visited_reduced[m, n_visited[m]] = LEAF * block + i, reduced[i]
        n_visited[m] += 1
        if distance[i] < ranked[m, last]:
            insert_distance(ranked, (m,), last, distance[i])


@inlined
def _measure(blocks: Any, block: int, points: Any, centre: int, caps: Any, starts: Any, plain: int) -> Any:
    """Return the distances of a centre to the 16 points of a block, and the largest term of any factor in each.

    Plain factors have a separate loop: they are one dimension each, without a cap.
    """
    d = caps.size
    total, largest = broadcast16(0.0), broadcast16(0.0)
    for k in range(plain):
        gap = load16(blocks, LEAF * (block * d + k)) - broadcast16(points[centre, k])
        total, largest = total + gap * gap, larger(largest, gap * gap)
    for factor in range(plain, starts.size - 1):
        term = broadcast16(0.0)
        for k in range(starts[factor], starts[factor + 1]):
            gap = load16(blocks, LEAF * (block * d + k)) - broadcast16(points[centre, k])
            term = term + capped16(gap * gap, broadcast16(caps[k]))
        total, largest = total + term, larger(largest, term)
    return total, largest


@inlined
def _add_variances(
    points: Any,
    caps: Any,
    starts: Any,
    y: Any,
    weight: Any,
    plain: int,
    centre: int,
    m: int,
    radius: float,
    n_visited: int,
    visited: Any,
    visited_reduced: Any,
    without: Any,
    nearest: Any,
    moments: Any,
    total: Any,
) -> float:
    """Add the variances of y around a centre without each factor to ``total``; return that in all factors.

    Balls are known after a first pass over the visited points, and filled in a second one. Distances without each
    factor are computed twice, as keeping them would take as much memory as the whole table.
    """
    p = total.size
    limit, last = radius * TIES, nearest.shape[1] - 1
    nearest[:] = UNREACHED
    moments[:] = 0.0
    for i in range(n_visited):
        if visited_reduced[m, i] <= limit:
            _leave_each_out(points, visited[m, i], centre, caps, starts, plain, without)
            _insert_in_each(nearest, without)
    for i in range(n_visited):
        if visited_reduced[m, i] <= limit:
            _leave_each_out(points, visited[m, i], centre, caps, starts, plain, without)
            for f in range(p + 1):
                if without[f] <= nearest[f, last] * TIES:
                    _add_row(moments, f, y, visited[m, i], centre)
    for f in range(p):
        total[f] += weight[centre] * _sample_variance(moments, f)
    return _sample_variance(moments, p)


@inlined
def _add_row(moments: Any, f: int, y: Any, row: int, centre: int) -> None:
    """Add a row to the ball without factor f: to its count, its sum of squares and its sum of each output.

    y is taken relative to the centre, which adds nothing to the sums.
    """
    moments[0, f] += 1.0
    for k in range(y.shape[1]):
        step = y[row, k] - y[centre, k]
        moments[1, f] += step * step
        moments[2 + k, f] += step


@inlined
def _sample_variance(moments: Any, f: int) -> float:
    """Return the variance of y in the ball without factor f, with the centre; rounding must not make it negative."""
    others, squares = moments[0, f], moments[1, f]
    for k in range(2, moments.shape[0]):
        squares -= moments[k, f] * moments[k, f] / (others + 1.0)
    return max(squares, 0.0) / others


@inlined
def _leave_each_out(points: Any, i: int, centre: int, caps: Any, starts: Any, plain: int, without: Any) -> None:
    """Compute the distances of two points without each factor, and in all; by addition, as differences would cancel."""
    p = starts.size - 1
    before = 0.0
    for f in range(p):
        without[f] = before
        before += _term(points, i, centre, caps, starts, plain, f)
    without[p] = before
    behind = 0.0
    for f in range(p - 1, -1, -1):
        without[f] += behind
        behind += _term(points, i, centre, caps, starts, plain, f)


@inlined
def _term(points: Any, i: int, centre: int, caps: Any, starts: Any, plain: int, f: int) -> float:
    """Return the contribution of factor f to the distance of two points."""
    if f < plain:
        step = points[i, f] - points[centre, f]
        return step * step
    term = 0.0
    for k in range(starts[f], starts[f + 1]):
        step = points[i, k] - points[centre, k]
        term += capped(step * step, caps[k])
    return term


@inlined
def _insert_in_each(nearest: Any, distance: Any) -> None:
    """Insert the distances of a point, one into each list; lists are (lists, entries)."""
    last = nearest.shape[1] - 1
    for k in range(distance.size):
        if distance[k] < nearest[k, last]:
            insert_distance(nearest, (k,), last, distance[k])
