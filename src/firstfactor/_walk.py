"""Numba kernels that walk a tree: for one set of factors, and for a base plus each candidate.

Points are stored in tree order, so that what is near in space is near in memory. All distances are squared.
"""

from typing import Any

import numpy as np

from ._jit import inlined, jit
from ._near import Near, leaf_distances, next_leaf, nothing_near, start_at
from ._simd import (
    WIDTH,
    at_most,
    count_bits,
    first_bit,
    greatest,
    larger,
    least,
    load8,
    load16,
    smaller,
    spread8,
    spread16,
    store,
    where_less,
)
from ._tree import FAR, LEAF, TIES, Tree

# Numba takes a literal for a type of its own, and compiles what is called with it once more.
ZERO = np.intp(0)


# --- one set of factors --------------------------------------------------------------------------------


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
        distances = where_less(spread16(closest), distances, distances, spread16(np.inf))
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


# --- base plus each candidate --------------------------------------------------------------------------


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
                store(nearest, row * c + chunk, spread8(FAR))
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
            reach = last * spread8(TIES)
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
    worst = spread8(0.0)
    for chunk in range(0, c, WIDTH):
        mine, cap = load8(own, chunk), load8(caps, chunk)
        capped = at_most(cap, spread8(FAR)) != 0
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
                    new, step = spread8(distance[i]) + term, spread8(y[first + i] - y[centre])
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
    first, second = spread8(0.0), spread8(0.0)
    for row in range(wanted):
        step = load8(steps, row * c + chunk)
        first, second = first + step, second + step * step
    spread = second - first * first * spread8(1.0 / (wanted + 1.0))
    return larger(spread, spread8(0.0)) * spread8(1.0 / wanted)


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
    inside, first, second = spread8(0.0), spread8(0.0), spread8(0.0)
    farthest = spread16(greatest(reach))
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
            far = spread8(near.distance[i]) + smaller(gap * gap, cap)
            weight = where_less(reach, far, spread8(0.0), spread8(1.0))
            step = spread8(y[point] - y[centre])
            inside, first, second = inside + weight, first + weight * step, second + weight * step * step
    spread = larger(second - first * first / inside, spread8(0.0))
    return spread / (inside - spread8(1.0))
