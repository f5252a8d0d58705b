"""Numba kernel for a base minus each member: a scan of all points, where trees no longer prune."""

from typing import Any

import numpy as np

from ._jit import inlined, jit, larger, smaller
from ._tree import LEAF, TIES


@jit
def sum_minus_each(blocks: Any, points: Any, caps: Any, y: Any, centres: Any, n_neighbors: int) -> Any:
    """Sum of the variances in all dimensions but one, for each of them, and last in all.

    ``blocks`` holds the same as ``points``, 16 points at a time. One scan serves all: a point at distance d in all
    dimensions is at d − δ² without one. Where even leaving out the largest δ² does not bring a point near enough,
    it is passed over.
    """
    n, d = points.shape
    nearest = np.empty((n_neighbors - 1, d + 1))
    own, without = np.empty(d), np.empty(d + 1)
    whole, largest = np.empty(LEAF), np.empty(LEAF)
    seen = np.empty(n, np.int32)
    inside, first, second = np.empty(d + 1), np.empty(d + 1), np.empty(d + 1)
    total = np.zeros(d + 1)
    for centre in centres:
        nearest[:] = np.inf
        limit = np.inf
        n_seen = 0
        for k in range(d):
            own[k] = points[centre, k]
        for turn in range(blocks.shape[0]):
            block = (centre // LEAF + turn) % blocks.shape[0]
            if not _scan(blocks, block, own, caps, limit, whole, largest):
                continue
            for i in range(min(LEAF, n - block * LEAF)):
                if whole[i] - largest[i] <= limit + 1e-12 * whole[i] and block * LEAF + i != centre:
                    seen[n_seen] = block * LEAF + i
                    _leave_each_out(points, seen[n_seen], own, caps, without)
                    limit = TIES * _insert(nearest, without)
                    n_seen += 1
        for k in range(d + 1):
            inside[k], first[k], second[k] = 1.0, 0.0, 0.0
        for i in range(n_seen):
            _leave_each_out(points, seen[i], own, caps, without)
            step = y[seen[i]] - y[centre]
            for k in range(d + 1):
                if without[k] <= nearest[n_neighbors - 2, k] * TIES:
                    inside[k], first[k], second[k] = inside[k] + 1, first[k] + step, second[k] + step * step
        for k in range(d + 1):
            total[k] += max(second[k] - first[k] * first[k] / inside[k], 0.0) / (inside[k] - 1)
    return total


@inlined
def _scan(blocks: Any, block: int, own: Any, caps: Any, limit: float, whole: Any, largest: Any) -> bool:
    """Squared distances of a block and their largest terms; False once all are out of reach."""
    width = blocks.shape[2]
    for i in range(width):
        whole[i] = largest[i] = 0.0
    fours = caps.size // 4 * 4
    for k in range(0, fours, 4):
        q, r, s, t = own[k], own[k + 1], own[k + 2], own[k + 3]
        w, x, y, z = caps[k], caps[k + 1], caps[k + 2], caps[k + 3]
        for i in range(width):
            e, f = blocks[block, k, i] - q, blocks[block, k + 1, i] - r
            g, h = blocks[block, k + 2, i] - s, blocks[block, k + 3, i] - t
            e, f = smaller(e * e, w), smaller(f * f, x)
            g, h = smaller(g * g, y), smaller(h * h, z)
            whole[i] += (e + f) + (g + h)
            largest[i] = larger(largest[i], larger(larger(e, f), larger(g, h)))
        if k % 16 == 12 and _closest(whole, largest) > limit:
            return False
    for k in range(fours, caps.size):
        value, cap = own[k], caps[k]
        for i in range(width):
            step = blocks[block, k, i] - value
            step = smaller(step * step, cap)
            whole[i] += step
            largest[i] = larger(largest[i], step)
    return _closest(whole, largest) <= limit


@inlined
def _closest(whole: Any, largest: Any) -> float:
    """The least that leaving out a dimension can make of the distances, less what rounding can add."""
    closest = np.inf
    for i in range(whole.size):
        closest = smaller(closest, whole[i] - largest[i] - 1e-12 * whole[i])
    return closest


@inlined
def _leave_each_out(points: Any, i: int, own: Any, caps: Any, without: Any) -> None:
    """Squared distances to point i without each dimension, and with all; by adding, as subtracting would cancel."""
    d = own.size
    before = 0.0
    for k in range(d):
        step = points[i, k] - own[k]
        without[k] = before
        before += min(step * step, caps[k])
    without[d] = before
    behind = 0.0
    for k in range(d - 1, -1, -1):
        step = points[i, k] - own[k]
        without[k] += behind
        behind += min(step * step, caps[k])


@inlined
def _insert(nearest: Any, distance: Any) -> float:
    """Insert a point into each column of sorted distances; return the largest of the last ones."""
    last = nearest.shape[0] - 1
    worst = 0.0
    for k in range(distance.size):
        if distance[k] < nearest[last, k]:
            at = last
            while at > 0 and nearest[at - 1, k] > distance[k]:
                nearest[at, k] = nearest[at - 1, k]
                at -= 1
            nearest[at, k] = distance[k]
        worst = larger(worst, nearest[last, k])
    return worst
