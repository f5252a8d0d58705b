"""Numba kernel for a base minus each member: a scan of all points, where trees no longer prune."""

from typing import Any

import numpy as np

from .compiling import inlined, jit
from .kd_tree import FAR, LEAF, TIES, count_uncapped
from .simd import at_most, broadcast16, first_bit, larger, load16, smaller, store

# Centres that scan together: a block comes from far away in memory once for all of them.
TOGETHER = 16

# Rounding must not hide a tie.
LOOSE = 1 - 1e-12


@jit
def sum_minus_each(blocks: Any, points: Any, caps: Any, y: Any, centres: Any, n_neighbors: int) -> Any:
    """Sum of the variances in all dimensions but one, for each of them; variance and squared radius of balls in all.

    ``blocks`` holds the same as ``points``, 16 points at a time. One scan serves all: a point at distance d in all
    dimensions is at d − δ² without one. Neighbours without a dimension are no farther than those in all, so that a
    point matters only if it is as near as these without its largest δ².
    """
    n, d = points.shape
    distance, reduced = np.empty(LEAF), np.empty(LEAF)
    ranked, length = np.empty((TOGETHER, n_neighbors - 1)), np.empty(TOGETHER, np.intp)
    seen, seen_reduced = np.empty((TOGETHER, n), np.int32), np.empty((TOGETHER, n))
    without, nearest, ball = np.empty(d + 1), np.empty((n_neighbors - 1, d + 1)), np.empty((3, d + 1))
    total, variances, reach = np.zeros(d), np.empty(centres.size), np.empty(centres.size)
    for start in range(0, centres.size, TOGETHER):
        group = centres[start : start + TOGETHER]
        _see(blocks, points, caps, group, distance, reduced, ranked, length, seen, seen_reduced)
        for m in range(group.size):
            variances[start + m] = _add_variances(
                points, caps, y, group[m], m, ranked, length, seen, seen_reduced, without, nearest, ball, total
            )
            reach[start + m] = ranked[m, n_neighbors - 2]
    return total, variances, reach


@inlined
def _see(
    blocks: Any,
    points: Any,
    caps: Any,
    centres: Any,
    distance: Any,
    reduced: Any,
    ranked: Any,
    length: Any,
    seen: Any,
    seen_reduced: Any,
) -> None:
    """List the points that may be near each centre without one dimension, and rank its neighbours in all."""
    n, last = points.shape[0], ranked.shape[1] - 1
    uncapped = count_uncapped(caps)
    for m in range(centres.size):
        length[m] = 0
        for rank in range(last + 1):
            ranked[m, rank] = FAR
    for block in range(blocks.shape[0]):
        within = min(n - LEAF * block, LEAF)
        for m in range(centres.size):
            centre = centres[m]
            total, largest = _measure(blocks, block, points, centre, caps, uncapped)
            without_largest = total * broadcast16(LOOSE) - largest
            bits = at_most(without_largest, broadcast16(ranked[m, last] * TIES)) & ((1 << within) - 1)
            if centre // LEAF == block:
                bits &= ~(1 << (centre % LEAF))
            if bits != 0:
                store(distance, 0, total)
                store(reduced, 0, without_largest)
            while bits != 0:
                i = first_bit(bits)
                bits &= bits - 1
                seen[m, length[m]], seen_reduced[m, length[m]] = LEAF * block + i, reduced[i]
                length[m] += 1
                _insert_one(ranked, m, distance[i])


@inlined
def _measure(blocks: Any, block: int, points: Any, centre: int, caps: Any, uncapped: int) -> Any:
    """Squared distances to the points of a block, and the largest that a dimension adds to each."""
    d = caps.size
    total, largest = broadcast16(0.0), broadcast16(0.0)
    for k in range(d):
        gap = load16(blocks, LEAF * (block * d + k)) - broadcast16(points[centre, k])
        term = gap * gap if k < uncapped else smaller(gap * gap, broadcast16(caps[k]))
        total, largest = total + term, larger(largest, term)
    return total, largest


@inlined
def _insert_one(ranked: Any, m: int, distance: float) -> None:
    """Insert a distance into sorted ones, and drop the last."""
    at = ranked.shape[1] - 1
    if distance < ranked[m, at]:
        while at > 0 and ranked[m, at - 1] > distance:
            ranked[m, at] = ranked[m, at - 1]
            at -= 1
        ranked[m, at] = distance


@inlined
def _add_variances(
    points: Any,
    caps: Any,
    y: Any,
    centre: int,
    m: int,
    ranked: Any,
    length: Any,
    seen: Any,
    seen_reduced: Any,
    without: Any,
    nearest: Any,
    ball: Any,
    total: Any,
) -> float:
    """Add the variances of y around a centre, without each dimension; return that in all."""
    d, last = caps.size, ranked.shape[1] - 1
    limit = ranked[m, last] * TIES
    nearest[:] = FAR
    for k in range(d + 1):
        ball[0, k], ball[1, k], ball[2, k] = 1.0, 0.0, 0.0
    for i in range(length[m]):
        if seen_reduced[m, i] <= limit:
            _leave_each_out(points, seen[m, i], centre, caps, without)
            _insert(nearest, without)
    for i in range(length[m]):
        if seen_reduced[m, i] <= limit:
            _leave_each_out(points, seen[m, i], centre, caps, without)
            step = y[seen[m, i]] - y[centre]
            for k in range(d + 1):
                if without[k] <= nearest[last, k] * TIES:
                    ball[0, k], ball[1, k], ball[2, k] = ball[0, k] + 1, ball[1, k] + step, ball[2, k] + step * step
    for k in range(d):
        total[k] += _variance(ball, k)
    return _variance(ball, d)


@inlined
def _variance(ball: Any, k: int) -> float:
    """Of y in a ball, from how many points there are, and the sums and squares of their differences from the centre."""
    return max(ball[2, k] - ball[1, k] * ball[1, k] / ball[0, k], 0.0) / (ball[0, k] - 1)


@inlined
def _leave_each_out(points: Any, i: int, centre: int, caps: Any, without: Any) -> None:
    """Squared distances of two points without each dimension, and in all; by adding, as subtracting would cancel."""
    d = caps.size
    before = 0.0
    for k in range(d):
        step = points[i, k] - points[centre, k]
        without[k] = before
        before += min(step * step, caps[k])
    without[d] = before
    behind = 0.0
    for k in range(d - 1, -1, -1):
        step = points[i, k] - points[centre, k]
        without[k] += behind
        behind += min(step * step, caps[k])


@inlined
def _insert(nearest: Any, distance: Any) -> None:
    """Insert a point into each column of sorted distances."""
    last = nearest.shape[0] - 1
    for k in range(distance.size):
        if distance[k] < nearest[last, k]:
            at = last
            while at > 0 and nearest[at - 1, k] > distance[k]:
                nearest[at, k] = nearest[at - 1, k]
                at -= 1
            nearest[at, k] = distance[k]
