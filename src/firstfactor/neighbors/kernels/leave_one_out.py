"""Numba kernel for a base minus each factor: a scan of all points, as trees prune little in many dimensions.

All distances are squared.
"""

from typing import Any

import numpy as np

from .compiling import inlined, jit
from .kd_tree import LEAF
from .neighbor_list import TIES, UNREACHED, capped, capped16, insert_distance
from .simd import at_most, broadcast16, first_bit, larger, load16, store

# Number of centres scanned together: a block is fetched from memory once for all of them.
TOGETHER = 16

# Subtracting the largest term cancels digits: the difference is reduced by more than the rounding error, as a neighbour
# must never be skipped. Sums without subtraction then decide whether a point is a neighbour.
LOOSE = 1 - 1e-12


def sum_minus_each(
    blocks: Any,
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


@jit
def _leave_out(
    blocks: Any,
    points: Any,
    caps: Any,
    starts: Any,
    y: Any,
    weight: Any,
    centres: Any,
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
    distance: Any,
    reduced: Any,
    ranked: Any,
    n_visited: Any,
    visited: Any,
    visited_reduced: Any,
) -> None:
    """List the points that may be near each centre without one factor, and rank its neighbours in all."""
    n, plain = points.shape[0], _count_plain(caps, starts)
    n_visited[:] = 0
    ranked[:] = UNREACHED
    for block in range(blocks.shape[0]):
        size = min(n - LEAF * block, LEAF)
        for m in range(0, n_centres, 2):  # two at a time: each waits for its own sums
            other = min(m + 1, n_centres - 1)
            one_centre, other_centre = centres[start + m], centres[start + other]
            total, largest, other_total, other_largest = _measure(
                blocks, block, points, one_centre, other_centre, caps, starts, plain
            )
            _visit(
                block,
                size,
                one_centre,
                m,
                total,
                largest,
                distance,
                reduced,
                ranked,
                n_visited,
                visited,
                visited_reduced,
            )
            if other > m:
                _visit(
                    block,
                    size,
                    other_centre,
                    other,
                    other_total,
                    other_largest,
                    distance,
                    reduced,
                    ranked,
                    n_visited,
                    visited,
                    visited_reduced,
                )


@inlined
def _visit(
    block: int,
    size: int,
    centre: int,
    m: int,
    total: Any,
    largest: Any,
    distance: Any,
    reduced: Any,
    ranked: Any,
    n_visited: Any,
    visited: Any,
    visited_reduced: Any,
) -> None:
    """List and rank the points of a block, ``size`` in number, for the m-th centre."""
    last = ranked.shape[1] - 1
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
def _count_plain(caps: Any, starts: Any) -> int:
    """Return the number of factors before the first that has a cap or several dimensions."""
    plain = 0
    while plain + 1 < starts.size and starts[plain + 1] == plain + 1 and caps[plain] == np.inf:
        plain += 1
    return plain


@inlined
def _measure(blocks: Any, block: int, points: Any, one: int, other: int, caps: Any, starts: Any, plain: int) -> Any:
    """Return the distances of two centres to the 16 points of a block, and the largest term of any factor in each.

    These are two vectors for each centre. Plain factors have a separate loop: they are one dimension each, without a
    cap.
    """
    d = caps.size
    total, largest, other_total, other_largest = broadcast16(0.0), broadcast16(0.0), broadcast16(0.0), broadcast16(0.0)
    for k in range(plain):
        values = load16(blocks, LEAF * (block * d + k))
        gap, other_gap = values - broadcast16(points[one, k]), values - broadcast16(points[other, k])
        total, largest = total + gap * gap, larger(largest, gap * gap)
        other_total, other_largest = other_total + other_gap * other_gap, larger(other_largest, other_gap * other_gap)
    for factor in range(plain, starts.size - 1):
        term, other_term = broadcast16(0.0), broadcast16(0.0)
        for k in range(starts[factor], starts[factor + 1]):
            values, cap = load16(blocks, LEAF * (block * d + k)), broadcast16(caps[k])
            gap, other_gap = values - broadcast16(points[one, k]), values - broadcast16(points[other, k])
            term, other_term = term + capped16(gap * gap, cap), other_term + capped16(other_gap * other_gap, cap)
        total, largest = total + term, larger(largest, term)
        other_total, other_largest = other_total + other_term, larger(other_largest, other_term)
    return total, largest, other_total, other_largest


@inlined
def _add_variances(
    points: Any,
    caps: Any,
    starts: Any,
    y: Any,
    weight: Any,
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
    p, plain = total.size, _count_plain(caps, starts)
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
