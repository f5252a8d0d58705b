"""Numba kernel for a base minus each member: a scan of all points, where trees no longer prune."""

from typing import Any

import numpy as np

from ._jit import inlined, jit, larger, smaller
from ._tree import LEAF, TIES


@jit
def sum_minus_each(
    blocks: Any, points: Any, low: Any, high: Any, caps: Any, y: Any, centres: Any, n_neighbors: int
) -> Any:
    """Sum of the variances in all dimensions but one, for each of them, and last in all.

    ``blocks`` holds the same as ``points``, 16 points at a time. One scan serves all: a point at distance d in all
    dimensions is at d − δ² without one. Neighbours without a dimension are no farther than those in all, and no δ²
    of a centre is larger than that to the end of the range, ``low`` or ``high``: most points are passed over for
    their distance alone, and most others for their largest δ².
    """
    n, d = points.shape
    uncapped = _count_uncapped(caps)
    own, without = np.empty(d), np.empty(d + 1)
    whole, least = np.empty((blocks.shape[0], LEAF)), np.empty(blocks.shape[0])
    ranked, nearest = np.empty(n_neighbors - 1), np.empty((n_neighbors - 1, d + 1))
    seen = np.empty(n, np.int32)
    inside, first, second = np.empty(d + 1), np.empty(d + 1), np.empty(d + 1)
    total = np.zeros(d + 1)
    for centre in centres:
        for k in range(d):
            own[k] = points[centre, k]
        for block in range(blocks.shape[0]):
            least[block] = _measure(blocks, block, own, caps, uncapped, whole)
        for i in range(n, whole.size):  # what fills up the last block
            whole[i // LEAF, i % LEAF] = np.inf
        whole[centre // LEAF, centre % LEAF] = np.inf
        limit = TIES * _rank(whole, least, ranked)
        far = (limit + _largest_term(own, low, high, caps)) * (1 + 1e-12)  # rounding must not hide a tie
        nearest[:] = np.inf
        n_seen = 0
        for block in range(blocks.shape[0]):
            if least[block] > far:
                continue
            for i in range(LEAF):
                point = block * LEAF + i
                if whole[block, i] <= far and _comes_near(points, point, own, caps, whole[block, i], limit):
                    seen[n_seen] = point
                    n_seen += 1
                    _leave_each_out(points, point, own, caps, without)
                    _insert(nearest, without)
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
def _count_uncapped(caps: Any) -> int:
    """How many dimensions come before the first with a cap."""
    uncapped = 0
    while uncapped < caps.size and caps[uncapped] == np.inf:
        uncapped += 1
    return uncapped


@inlined
def _measure(blocks: Any, block: int, own: Any, caps: Any, uncapped: int, whole: Any) -> float:
    """Squared distances to the points of a block; return the least."""
    width = blocks.shape[2]
    for i in range(width):
        whole[block, i] = 0.0
    fours = uncapped // 4 * 4
    for k in range(0, fours, 4):
        q, r, s, t = own[k], own[k + 1], own[k + 2], own[k + 3]
        for i in range(width):
            e, f = blocks[block, k, i] - q, blocks[block, k + 1, i] - r
            g, h = blocks[block, k + 2, i] - s, blocks[block, k + 3, i] - t
            whole[block, i] += (e * e + f * f) + (g * g + h * h)
    for k in range(fours, caps.size):
        value, cap = own[k], caps[k]
        for i in range(width):
            step = blocks[block, k, i] - value
            whole[block, i] += smaller(step * step, cap)
    least = np.inf
    for i in range(width):
        least = smaller(least, whole[block, i])
    return least


@inlined
def _rank(whole: Any, least: Any, ranked: Any) -> float:
    """Distance of the last neighbour wanted, in all dimensions."""
    last = ranked.size - 1
    ranked[:] = np.inf
    for block in range(least.size):
        if least[block] < ranked[last]:
            for i in range(LEAF):
                _insert_one(ranked, whole[block, i])
    return ranked[last]


@inlined
def _insert_one(ranked: Any, distance: float) -> None:
    """Insert a distance into sorted ones, and drop the last."""
    at = ranked.size - 1
    if distance < ranked[at]:
        while at > 0 and ranked[at - 1] > distance:
            ranked[at] = ranked[at - 1]
            at -= 1
        ranked[at] = distance


@inlined
def _largest_term(own: Any, low: Any, high: Any, caps: Any) -> float:
    """The most that one dimension can add to a distance from here."""
    most = 0.0
    for k in range(own.size):
        reach = larger(own[k] - low[k], high[k] - own[k])
        most = larger(most, smaller(reach * reach, caps[k]))
    return most


@inlined
def _comes_near(points: Any, i: int, own: Any, caps: Any, whole: float, limit: float) -> bool:
    """Tell whether a point is within the limit without its largest term."""
    largest = 0.0
    for k in range(own.size):
        step = points[i, k] - own[k]
        largest = larger(largest, smaller(step * step, caps[k]))
    return whole - largest <= limit + 1e-12 * whole


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
