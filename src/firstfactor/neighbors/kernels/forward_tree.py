"""Numba kernel for a base plus each candidate, by one search through a k-d tree of the base for all candidates.

Points are stored in tree order, so that what is near in space is near in memory. All distances are squared.
"""

from typing import Any

import numpy as np

from .compiling import inlined, jit
from .kd_tree import FAR, LEAF, TIES, Tree
from .leaf_search import Near, leaf_distances, next_leaf, nothing_near, start_at
from .simd import (
    WIDTH,
    at_most,
    broadcast8,
    broadcast16,
    count_bits,
    first_bit,
    greatest,
    larger,
    load8,
    smaller,
    store,
    where_less,
)

# Numba takes a literal for a type of its own, and compiles what is called with it once more.
ZERO = np.intp(0)


@jit
def sum_plus_each(
    tree: Tree,
    caps: Any,
    candidates: Any,
    candidate_caps: Any,
    y: Any,
    centres: Any,
    n_neighbors: int,
) -> Any:
    """Sum of the variances in the base plus each candidate, and what it took.

    That is how many points were compared with all candidates, and how many with one because of ties.

    One walk through the tree of the base serves all candidates: a point at distance d in the base is at
    d + δ² with the candidate. It ends where the base alone is farther than the worst candidate needs. Of each candidate
    the nearest points are kept, with how much y differs there. One more distance is kept as well: if that is a tie with
    the last neighbour, all leaves on the way are looked at again.
    """
    c = candidates.shape[1]
    near, visited = nothing_near(tree, caps), np.empty(tree.start.size - 1, np.int32)
    nearest, steps = np.empty((n_neighbors, c)), np.zeros((n_neighbors - 1, c))
    own, passed_on, total = np.empty(c), np.empty((2, LEAF, 2 * WIDTH)), np.zeros(c)
    compared, again = _add_variances(
        tree, caps, candidates, candidate_caps, y, centres, near, visited, nearest, steps, own, passed_on, total
    )
    return total, compared, again


@inlined
def _add_variances(
    tree: Tree,
    caps: Any,
    candidates: Any,
    candidate_caps: Any,
    y: Any,
    centres: Any,
    near: Near,
    visited: Any,
    nearest: Any,
    steps: Any,
    own: Any,
    passed_on: Any,
    total: Any,
) -> Any:
    """Do the work with the arrays that the kernel has made."""
    c, wanted = own.size, steps.shape[0]
    compared = again = 0
    for m in range(centres.size):
        centre = centres[m]
        for chunk in range(0, c, WIDTH):
            store(own, chunk, load8(candidates, centre * c + chunk))
            for row in range(wanted + 1):
                store(nearest, row * c + chunk, broadcast8(FAR))
        start_at(tree, caps, near, centres, m)
        limit, n_visited, n_compared = FAR, ZERO, ZERO
        while True:
            hits, leaf = next_leaf(tree, caps, near, limit)
            if hits == 0:
                break
            first = tree.start[leaf]
            if first <= centre < tree.start[leaf + 1]:
                hits &= ~(1 << (centre - first))
            visited[n_visited] = leaf
            n_visited += 1
            n_compared += count_bits(hits)
            worst = _compare(
                nearest, steps, candidates, own, candidate_caps, y, centre, first, near.distance, hits, passed_on
            )
            limit = smaller(worst * TIES, FAR)
        compared += n_compared
        for chunk in range(0, c, WIDTH):
            last = load8(nearest, (wanted - 1) * c + chunk)
            reach = last * broadcast8(TIES)
            if at_most(load8(nearest, wanted * c + chunk), reach) == 0:
                variances = _of_nearest(steps, c, chunk)
            else:
                again += WIDTH * n_compared
                variances = _of_all(
                    tree, caps, near, candidates, own, candidate_caps, y, centre, chunk, reach, visited, n_visited
                )
            store(total, chunk, load8(total, chunk) + variances)
    return compared, again


@inlined
def _compare(
    nearest: Any,
    steps: Any,
    candidates: Any,
    own: Any,
    caps: Any,
    y: Any,
    centre: int,
    first: int,
    distance: Any,
    hits: Any,
    passed_on: Any,
) -> float:
    """Enter the points of a leaf into the nearest of every candidate; return the worst of their limits.

    Every point is entered into the first row, which keeps the nearest and passes on the others to the next row.
    """
    c, wanted = own.size, steps.shape[0]
    size = passed_on.size // 2
    worst = broadcast8(0.0)
    for chunk in range(0, c, WIDTH):
        mine, cap = load8(own, chunk), load8(caps, chunk)
        capped = at_most(cap, broadcast8(FAR)) != 0
        beyond = load8(nearest, wanted * c + chunk)
        for row in range(wanted):
            here = row * c + chunk
            kept, kept_step = load8(nearest, here), load8(steps, here)
            source, target = (0, size) if row % 2 == 0 else (size, 0)
            bits = hits
            while bits != 0:
                i = first_bit(bits)
                bits &= bits - 1
                entering, leaving = source + 2 * WIDTH * i, target + 2 * WIDTH * i
                if row == 0:
                    gap = load8(candidates, (first + i) * c + chunk) - mine
                    term = smaller(gap * gap, cap) if capped else gap * gap
                    new, step = broadcast8(distance[i]) + term, broadcast8(y[first + i] - y[centre])
                else:
                    new, step = load8(passed_on, entering), load8(passed_on, entering + WIDTH)
                if row == wanted - 1:
                    beyond = smaller(beyond, larger(kept, new))
                else:
                    store(passed_on, leaving, larger(kept, new))
                    store(passed_on, leaving + WIDTH, where_less(new, kept, kept_step, step))
                kept, kept_step = smaller(kept, new), where_less(new, kept, step, kept_step)
            store(nearest, here, kept)
            store(steps, here, kept_step)
        store(nearest, wanted * c + chunk, beyond)
        worst = larger(worst, load8(nearest, (wanted - 1) * c + chunk))
    return greatest(worst)


@inlined
def _of_nearest(steps: Any, c: int, chunk: int) -> Any:
    """Variances of y among a centre and its nearest points, for eight candidates."""
    wanted = steps.shape[0]
    first, second = broadcast8(0.0), broadcast8(0.0)
    for row in range(wanted):
        step = load8(steps, row * c + chunk)
        first, second = first + step, second + step * step
    spread = second - first * first * broadcast8(1.0 / (wanted + 1.0))
    return larger(spread, broadcast8(0.0)) * broadcast8(1.0 / wanted)


@inlined
def _of_all(
    tree: Tree,
    caps: Any,
    near: Near,
    candidates: Any,
    own: Any,
    candidate_caps: Any,
    y: Any,
    centre: int,
    chunk: int,
    reach: Any,
    visited: Any,
    n_visited: int,
) -> Any:
    """Variances of y among all points that are within reach, for eight candidates."""
    c = own.size
    mine, cap = load8(own, chunk), load8(candidate_caps, chunk)
    inside, first, second = broadcast8(0.0), broadcast8(0.0), broadcast8(0.0)
    farthest = broadcast16(greatest(reach))
    for place in range(n_visited):
        leaf = np.intp(visited[place])
        distance = leaf_distances(tree, caps, near, leaf)
        store(near.distance, 0, distance)
        bits = at_most(distance, farthest)
        while bits != 0:
            i = first_bit(bits)
            bits &= bits - 1
            point = tree.start[leaf] + i
            gap = load8(candidates, point * c + chunk) - mine
            far = broadcast8(near.distance[i]) + smaller(gap * gap, cap)
            weight = where_less(reach, far, broadcast8(0.0), broadcast8(1.0))
            step = broadcast8(y[point] - y[centre])
            inside, first, second = inside + weight, first + weight * step, second + weight * step * step
    spread = larger(second - first * first / inside, broadcast8(0.0))
    return spread / (inside - broadcast8(1.0))
