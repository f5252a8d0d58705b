"""Numba kernel for one set of factors: the variance of y in the ball of each row, by a search through a k-d tree.

Points are stored in tree order, so that what is near in space is near in memory. All distances are squared.
"""

from typing import Any

import numpy as np

from .compiling import inlined, jit
from .kd_tree import FAR, LEAF, TIES, Tree
from .leaf_search import Near, next_leaf, nothing_near, start_at
from .simd import broadcast16, first_bit, least, load16, smaller, where_less

# Numba takes a literal for a type of its own, and compiles what is called with it once more.
ZERO = np.intp(0)


@jit
def ball_variances(
    tree: Tree,
    caps: Any,
    count: Any,
    mean: Any,
    squares: Any,
    centres: Any,
    n_neighbors: int,
) -> Any:
    """Variance of y in the ball of each centre, and its squared radius; a point stands for ``count`` equal rows."""
    near = nothing_near(tree, caps)
    seen, seen_distance = np.empty(count.size, np.int32), np.empty(count.size)
    nearest, rows = np.empty(n_neighbors), np.empty(n_neighbors)
    variances, reach = np.empty(centres.size), np.zeros(centres.size)
    _fill_variances(
        tree, caps, count, mean, squares, centres, near, seen, seen_distance, nearest, rows, variances, reach
    )
    return variances, reach


@inlined
def _fill_variances(
    tree: Tree,
    caps: Any,
    count: Any,
    mean: Any,
    squares: Any,
    centres: Any,
    near: Near,
    seen: Any,
    seen_distance: Any,
    nearest: Any,
    rows: Any,
    variances: Any,
    reach: Any,
) -> None:
    """Do the work with the arrays that the kernel has made."""
    n_neighbors = nearest.size
    for m in range(centres.size):
        centre = centres[m]
        if count[centre] >= n_neighbors:  # the ball has radius 0
            variances[m] = squares[centre] / (count[centre] - 1)
            continue
        limit = FAR
        n_seen = n_nearest = ZERO
        start_at(tree, caps, near, centres, m)
        while True:
            hits, leaf = next_leaf(tree, caps, near, limit)
            if hits == 0:
                break
            if limit == FAR:  # all of its own leaf
                limit = smaller(TIES * _ranked(near.distance, n_neighbors), FAR)
            while hits != 0:
                i = first_bit(hits)
                hits &= hits - 1
                point, distance = tree.start[leaf] + i, near.distance[i]
                if distance <= limit:
                    seen[n_seen], seen_distance[n_seen] = point, distance
                    n_seen += 1
                    if distance * TIES <= limit:
                        n_nearest = _enter(nearest, rows, n_nearest, distance, count[point], n_neighbors)
                        if n_nearest < 0:
                            n_nearest = -n_nearest
                            limit = nearest[n_nearest - 1] * TIES
        inside, first, second = 0.0, 0.0, 0.0
        for i in range(n_seen):
            if seen_distance[i] <= limit:
                step = mean[seen[i]] - mean[centre]
                inside += count[seen[i]]
                first += count[seen[i]] * step
                second += squares[seen[i]] + count[seen[i]] * step * step
        variances[m], reach[m] = max(second - first * first / inside, 0.0) / (inside - 1), limit / TIES


@inlined
def _ranked(distance: Any, rank: int) -> float:
    """One of the least distances of a leaf, at least that of this rank; infinite if there are too few."""
    distances = load16(distance, 0)
    closest = least(distances)
    for _ in range(min(rank, LEAF + 1) - 1):
        distances = where_less(broadcast16(closest), distances, distances, broadcast16(np.inf))
        closest = least(distances)
    return closest


@inlined
def _enter(nearest: Any, rows: Any, n_nearest: int, distance: float, count: float, n_neighbors: int) -> int:
    """Enter a point into the sorted nearest ones; return how many are kept, negative if they are enough."""
    at = min(n_nearest, n_neighbors - 1)
    while at > 0 and nearest[at - 1] > distance:
        nearest[at], rows[at] = nearest[at - 1], rows[at - 1]
        at -= 1
    nearest[at], rows[at] = distance, count
    within = 0.0
    for i in range(min(n_nearest + 1, n_neighbors)):
        within += rows[i]
        if within >= n_neighbors:
            return -(i + 1)
    return n_nearest + 1
