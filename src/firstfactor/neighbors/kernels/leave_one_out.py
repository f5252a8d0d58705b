"""Numba kernel for a base minus each member: a scan of all points, as trees prune little in many dimensions.

All distances are squared.
"""

from typing import Any

import numpy as np

from .compiling import inlined, jit
from .kd_tree import LEAF, count_uncapped
from .neighbor_list import TIES, UNREACHED, add_rows, insert_distance, sample_variance
from .simd import at_most, broadcast16, first_bit, larger, load16, smaller, store

# Centres that are scanned for together: a block is fetched from memory once for all of them.
TOGETHER = 16

# Subtracting the largest term cancels: the difference is made smaller by more than the rounding error, as a neighbour
# must never be skipped. Whether a point really is one is decided by sums without subtraction.
LOOSE = 1 - 1e-12


@jit
def sum_minus_each(blocks: Any, points: Any, caps: Any, y: Any, centres: Any, n_neighbors: int) -> Any:
    """Sum of the variances in the balls of all dimensions but one, and variance and squared radius in all dimensions.

    The sums are (dimensions,), the others (centres,); variances are in units of y².

    One scan serves all: a point at distance d in all dimensions is at d − δ² without one. Neighbours without a
    dimension are no farther than those in all, so that only points matter that are as near as these without their
    largest δ².

    Parameters
    ----------
    blocks : float64 (blocks, dimensions, 16)
        The points again, 16 at a time, padded with zeros.
    points : float64 (rows, dimensions)
        Dimensions without a cap come first.
    caps : float64 (dimensions,)
        The most that a dimension adds to a squared distance.
    y : float64 (rows,)
    centres : intp (centres,)
    n_neighbors : int
    """
    n, d = points.shape
    wanted = n_neighbors - 1
    distance, reduced = np.empty(LEAF), np.empty(LEAF)
    ranked, n_visited = np.empty((TOGETHER, wanted)), np.empty(TOGETHER, np.intp)
    visited, visited_reduced = np.empty((TOGETHER, n), np.int32), np.empty((TOGETHER, n))
    # (lists, entries), but with the same entry of all lists side by side: all of them are compared with one point
    without, nearest, moments = np.empty(d + 1), np.empty((wanted, d + 1)).T, np.empty((3, d + 1))
    total, variances, radii = np.zeros(d), np.empty(centres.size), np.empty(centres.size)
    for start in range(0, centres.size, TOGETHER):
        group = centres[start : start + TOGETHER]
        _scan(blocks, points, caps, group, distance, reduced, ranked, n_visited, visited, visited_reduced)
        for m in range(group.size):
            radii[start + m] = ranked[m, wanted - 1]
            variances[start + m] = _add_variances(
                points,
                caps,
                y,
                group[m],
                m,
                radii[start + m],
                n_visited[m],
                visited,
                visited_reduced,
                without,
                nearest,
                moments,
                total,
            )
    return total, variances, radii


@inlined
def _scan(
    blocks: Any,
    points: Any,
    caps: Any,
    centres: Any,
    distance: Any,
    reduced: Any,
    ranked: Any,
    n_visited: Any,
    visited: Any,
    visited_reduced: Any,
) -> None:
    """List the points that may be near each centre without one dimension, and rank its neighbours in all."""
    n, last = points.shape[0], ranked.shape[1] - 1
    uncapped = count_uncapped(caps)
    n_visited[:] = 0
    ranked[:] = UNREACHED
    for block in range(blocks.shape[0]):
        size = min(n - LEAF * block, LEAF)
        for m in range(centres.size):
            centre = centres[m]
            total, largest = _measure(blocks, block, points, centre, caps, uncapped)
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
def _measure(blocks: Any, block: int, points: Any, centre: int, caps: Any, uncapped: int) -> Any:
    """Distances to the 16 points of a block, and the largest term that a dimension adds to each: two vectors."""
    d = caps.size
    total, largest = broadcast16(0.0), broadcast16(0.0)
    for k in range(d):
        gap = load16(blocks, LEAF * (block * d + k)) - broadcast16(points[centre, k])
        term = gap * gap if k < uncapped else smaller(gap * gap, broadcast16(caps[k]))
        total, largest = total + term, larger(largest, term)
    return total, largest


@inlined
def _add_variances(
    points: Any,
    caps: Any,
    y: Any,
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
    """Add the variances of y around a centre without each dimension to ``total``; the variance in all dimensions.

    Balls are known after a first pass over the visited points, and filled in a second one. Distances without each
    dimension are measured twice, as keeping them takes as much memory as the whole table.
    """
    d = caps.size
    limit, last = radius * TIES, nearest.shape[1] - 1
    nearest[:] = UNREACHED
    for k in range(d + 1):
        moments[0, k], moments[1, k], moments[2, k] = 1.0, 0.0, 0.0  # the centre itself
    for i in range(n_visited):
        if visited_reduced[m, i] <= limit:
            _leave_each_out(points, visited[m, i], centre, caps, without)
            _insert_in_each(nearest, without)
    for i in range(n_visited):
        if visited_reduced[m, i] <= limit:
            _leave_each_out(points, visited[m, i], centre, caps, without)
            step = y[visited[m, i]] - y[centre]
            for k in range(d + 1):
                if without[k] <= nearest[k, last] * TIES:
                    moments[0, k], moments[1, k], moments[2, k] = add_rows(_moments(moments, k), 1.0, step, 0.0)
    for k in range(d):
        total[k] += sample_variance(_moments(moments, k))
    return sample_variance(_moments(moments, d))


@inlined
def _moments(moments: Any, k: int) -> tuple[float, float, float]:
    """Count, sum and sum of squares of y in the ball without dimension k."""
    return moments[0, k], moments[1, k], moments[2, k]


@inlined
def _leave_each_out(points: Any, i: int, centre: int, caps: Any, without: Any) -> None:
    """Fill in the distances of two points without each dimension, and in all; added up, as differences would cancel."""
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
def _insert_in_each(nearest: Any, distance: Any) -> None:
    """Insert the distances of a point, one for each list; (lists, entries)."""
    last = nearest.shape[1] - 1
    for k in range(distance.size):
        if distance[k] < nearest[k, last]:
            insert_distance(nearest, (k,), last, distance[k])
