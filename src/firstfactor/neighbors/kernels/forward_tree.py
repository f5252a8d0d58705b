"""Numba kernel for a base plus each candidate, by one search in a k-d tree of the base for all candidates.

Points are stored in tree order, so that what is near in space is near in memory. All distances are squared.
"""

from typing import Any

import numpy as np

from .compiling import ZERO, inlined, jit
from .kd_tree import LEAF, Tree
from .leaf_search import LeafCandidates, allocate_leaf_candidates, leaf_distances, next_leaf, start_query
from .neighbor_list import TIES, UNREACHED
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
    """Sum of the variances in the balls of base plus each candidate, (candidates,) in units of y², and two counts.

    The counts are how many points were compared with all candidates, and how many with one because of ties.

    One search in the tree of the base serves all candidates: a point at distance d in the base is at d + δ² with a
    candidate. It ends where the base alone is farther than the last neighbour of any candidate. For each candidate the
    distances of the nearest points are kept, and the differences of y there. One more distance is kept as well: if it
    is a tie with the last neighbour, the ball has more points than are kept, and visited leaves are searched again.

    Parameters
    ----------
    tree : Tree
        Of all rows in the base.
    caps : float64 (dimensions,)
        The most that a dimension of the base adds to a squared distance.
    candidates : float64 (rows, candidates)
        In tree order; the number of candidates is padded to a multiple of 8.
    candidate_caps : float64 (candidates,)
        The same for candidates, infinity for padding.
    y : float64 (rows,)
        In tree order.
    centres : intp (centres,)
        Positions of rows, increasing.
    n_neighbors : int
    """
    c = candidates.shape[1]
    near, visited = allocate_leaf_candidates(tree, caps), np.empty(tree.start.size - 1, np.int32)
    nearest, steps = np.empty((n_neighbors, c)), np.zeros((n_neighbors - 1, c))
    own, displaced, total = np.empty(c), np.empty((2, LEAF, 2 * WIDTH)), np.zeros(c)
    compared, compared_again = _add_variances(
        tree, caps, candidates, candidate_caps, y, centres, near, visited, nearest, steps, own, displaced, total
    )
    return total, compared, compared_again


@inlined
def _add_variances(
    tree: Tree,
    caps: Any,
    candidates: Any,
    candidate_caps: Any,
    y: Any,
    centres: Any,
    near: LeafCandidates,
    visited: Any,
    nearest: Any,
    steps: Any,
    own: Any,
    displaced: Any,
    total: Any,
) -> Any:
    """Add the variances of all centres to ``total``; the two counts. Nothing is allocated, so nothing is counted."""
    c, wanted = own.size, steps.shape[0]
    compared = compared_again = 0
    for m in range(centres.size):
        centre = centres[m]
        for chunk in range(0, c, WIDTH):
            store(own, chunk, load8(candidates, centre * c + chunk))
            for rank in range(wanted + 1):
                store(nearest, rank * c + chunk, broadcast8(UNREACHED))
        start_query(tree, caps, near, centres, m)
        n_visited, n_compared = _visit_leaves(
            tree, caps, candidates, candidate_caps, y, centre, near, visited, nearest, steps, own, displaced
        )
        compared += n_compared
        for chunk in range(0, c, WIDTH):
            radius = load8(nearest, (wanted - 1) * c + chunk) * broadcast8(TIES)
            if at_most(load8(nearest, wanted * c + chunk), radius) == 0:
                variances = _variances_of_nearest(steps, c, chunk)
            else:
                compared_again += WIDTH * n_compared
                variances = _variances_with_ties(
                    tree, caps, near, candidates, own, candidate_caps, y, centre, chunk, radius, visited, n_visited
                )
            store(total, chunk, load8(total, chunk) + variances)
    return compared, compared_again


@inlined
def _visit_leaves(
    tree: Tree,
    caps: Any,
    candidates: Any,
    candidate_caps: Any,
    y: Any,
    centre: int,
    near: LeafCandidates,
    visited: Any,
    nearest: Any,
    steps: Any,
    own: Any,
    displaced: Any,
) -> Any:
    """Find the nearest points of the query with each candidate; the numbers of visited leaves and compared points."""
    limit, n_visited, n_compared = UNREACHED, ZERO, ZERO
    while True:
        hits, leaf = next_leaf(tree, caps, near, limit)
        if hits == 0:
            return n_visited, n_compared
        first = tree.start[leaf]
        if first <= centre < tree.start[leaf + 1]:
            hits &= ~(1 << (centre - first))
        visited[n_visited] = leaf
        n_visited += 1
        n_compared += count_bits(hits)
        last = _insert_points(
            nearest, steps, candidates, own, candidate_caps, y, centre, first, near.distance, hits, displaced
        )
        limit = smaller(last * TIES, UNREACHED)


@inlined
def _insert_points(
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
    displaced: Any,
) -> float:
    """Insert the points of a leaf into the sorted lists of all candidates; the largest distance of a last neighbour.

    Lists are sorted rank by rank: all points pass the first rank, which keeps the nearest one and displaces the others
    to the next rank. So eight lists are sorted at once and without branches. `insert_distance` shifts each list by
    another number of entries and cannot. Displaced points, distances and differences of y side by side, go to the two
    halves of ``displaced`` in turn.
    """
    c, wanted = own.size, steps.shape[0]
    half = displaced.size // 2
    largest = broadcast8(0.0)
    for chunk in range(0, c, WIDTH):
        mine, cap = load8(own, chunk), load8(caps, chunk)
        capped = at_most(cap, broadcast8(UNREACHED)) != 0
        beyond = load8(nearest, wanted * c + chunk)
        for rank in range(wanted):
            here = rank * c + chunk
            kept, kept_step = load8(nearest, here), load8(steps, here)
            source, target = (0, half) if rank % 2 == 0 else (half, 0)
            bits = hits
            while bits != 0:
                i = first_bit(bits)
                bits &= bits - 1
                entering, leaving = source + 2 * WIDTH * i, target + 2 * WIDTH * i
                if rank == 0:
                    gap = load8(candidates, (first + i) * c + chunk) - mine
                    term = smaller(gap * gap, cap) if capped else gap * gap
                    new, step = broadcast8(distance[i]) + term, broadcast8(y[first + i] - y[centre])
                else:
                    new, step = load8(displaced, entering), load8(displaced, entering + WIDTH)
                if rank == wanted - 1:  # of what is displaced here only the smallest distance matters
                    beyond = smaller(beyond, larger(kept, new))
                else:
                    store(displaced, leaving, larger(kept, new))
                    store(displaced, leaving + WIDTH, where_less(new, kept, kept_step, step))
                kept, kept_step = smaller(kept, new), where_less(new, kept, step, kept_step)
            store(nearest, here, kept)
            store(steps, here, kept_step)
        store(nearest, wanted * c + chunk, beyond)
        largest = larger(largest, load8(nearest, (wanted - 1) * c + chunk))
    return greatest(largest)


# The two functions below do what `sample_variance` does, for vectors: their constants must be broadcast, and ``max``
# does not take vectors.


@inlined
def _variances_of_nearest(steps: Any, c: int, chunk: int) -> Any:
    """Sample variances of y among a centre and its nearest points, for eight candidates.

    All balls have the same number of points: products with its reciprocals replace slower divisions.
    """
    wanted = steps.shape[0]
    total, total_squares = broadcast8(0.0), broadcast8(0.0)
    for rank in range(wanted):
        step = load8(steps, rank * c + chunk)
        total, total_squares = total + step, total_squares + step * step
    squares = total_squares - total * total * broadcast8(1.0 / (wanted + 1.0))
    return larger(squares, broadcast8(0.0)) * broadcast8(1.0 / wanted)


@inlined
def _variances_with_ties(
    tree: Tree,
    caps: Any,
    near: LeafCandidates,
    candidates: Any,
    own: Any,
    candidate_caps: Any,
    y: Any,
    centre: int,
    chunk: int,
    radius: Any,
    visited: Any,
    n_visited: int,
) -> Any:
    """Sample variances of y among all points within the radius, the centre included, for eight candidates.

    Every lane has another ball. A weight of 0 or 1 replaces a branch for each lane.
    """
    c = own.size
    mine, cap = load8(own, chunk), load8(candidate_caps, chunk)
    count, total, total_squares = broadcast8(0.0), broadcast8(0.0), broadcast8(0.0)
    largest = broadcast16(greatest(radius))
    for visit in range(n_visited):
        leaf = np.intp(visited[visit])
        distance = leaf_distances(tree, caps, near, leaf)
        store(near.distance, 0, distance)
        bits = at_most(distance, largest)
        while bits != 0:
            i = first_bit(bits)
            bits &= bits - 1
            point = tree.start[leaf] + i
            gap = load8(candidates, point * c + chunk) - mine
            sum_distance = broadcast8(near.distance[i]) + smaller(gap * gap, cap)
            weight = where_less(radius, sum_distance, broadcast8(0.0), broadcast8(1.0))
            step = broadcast8(y[point] - y[centre])
            count, total = count + weight, total + weight * step
            total_squares = total_squares + weight * step * step
    squares = larger(total_squares - total * total / count, broadcast8(0.0))
    return squares / (count - broadcast8(1.0))
