"""Numba kernel for a base plus each candidate, by one search in a k-d tree of the base for all candidates.

Points are stored in tree order, so that points near in space are near in memory. All distances are squared.
"""

from typing import Any

import numpy as np

from .compiling import ZERO, inlined, jit, jit_again
from .kd_tree import LEAF, KDTree
from .leaf_search import LeafCandidates, allocate_leaf_candidates, leaf_distances, next_leaf, start_query
from .neighbor_list import TIES, UNREACHED, allocate_group_sums, capped, capped8, variance_between_groups
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


def sum_plus_each(
    tree: KDTree,
    caps: Any,
    candidates: Any,
    start: int,
    candidate_caps: Any,
    y: Any,
    weight: Any,
    groups: Any,
    centres: Any,
    n_neighbors: int,
) -> Any:
    """Return the weighted sum of the ball variances of base plus each candidate, (candidates,), and two counts.

    The counts are the numbers of points compared with all candidates, and with one because of ties.

    One search in the tree of the base serves all candidates: a point at distance d in the base is at d + δ² with a
    candidate. It ends where the base alone is farther than the last neighbour of any candidate. For each candidate the
    distances and positions of the nearest points are kept, and one more distance: if it ties with the last neighbour,
    the ball has more points than are kept, and visited leaves are searched again.

    Parameters
    ----------
    tree : KDTree
        k-d tree of all rows in the base.
    caps : float64 (dimensions,)
        Maximum contribution of each dimension of the base to a squared distance.
    candidates : float64 (rows, columns)
        Candidates in tree order.
    start : int
        Column of the first candidate; all are side by side.
    candidate_caps : float64 (candidates,)
        Maximum contribution of each candidate, infinity for padding; their number is padded to a multiple of 8.
    y : float64 (rows, outputs)
        Response in tree order.
    weight : float64 (rows,)
        Weight of the ball of each row in the sum, in tree order.
    groups : intp (rows,) or None
        Group of each row, in tree order; others of the centre's group are not in its ball, and two rows of one group
        are not compared.
    centres : intp (centres,)
        Positions of rows, increasing.
    n_neighbors : int
    """
    c = candidate_caps.size
    near, visited = allocate_leaf_candidates(tree, caps), np.empty(tree.start.size - 1, np.int32)
    nearest, positions = np.empty((n_neighbors, c)), np.zeros((n_neighbors - 1, c))
    own, displaced, total = np.empty(c), np.empty((2, LEAF, 2 * WIDTH)), np.zeros(c)
    sums, steps = np.empty((y.shape[1], WIDTH)), np.empty(WIDTH)
    rows, group_sums = np.empty(1 if groups is None else y.shape[0], np.intp), allocate_group_sums(groups, y.shape[1])
    add = _add_variances if groups is None else _add_variances_between_groups
    compared, compared_again = add(
        tree,
        caps,
        candidates,
        start,
        candidate_caps,
        y,
        weight,
        groups,
        centres,
        near,
        visited,
        nearest,
        positions,
        own,
        displaced,
        sums,
        steps,
        rows,
        group_sums,
        total,
    )
    return total, compared, compared_again


@jit
def _add_variances(
    tree: KDTree,
    caps: Any,
    candidates: Any,
    start: int,
    candidate_caps: Any,
    y: Any,
    weight: Any,
    groups: Any,
    centres: Any,
    near: LeafCandidates,
    visited: Any,
    nearest: Any,
    positions: Any,
    own: Any,
    displaced: Any,
    sums: Any,
    steps: Any,
    rows: Any,
    group_sums: Any,
    total: Any,
) -> Any:
    """Add the variances of all centres to ``total``; return the two counts."""
    c, width, wanted = own.size, candidates.shape[1], positions.shape[0]
    compared = compared_again = 0
    for m in range(centres.size):
        centre = centres[m]
        for chunk in range(0, c, WIDTH):
            store(own, chunk, load8(candidates, centre * width + start + chunk))
            for rank in range(wanted + 1):
                store(nearest, rank * c + chunk, broadcast8(UNREACHED))
        start_query(tree, caps, near, centres, m)
        n_visited, n_compared = _visit_leaves(
            tree,
            caps,
            candidates,
            start,
            candidate_caps,
            groups,
            centre,
            near,
            visited,
            nearest,
            positions,
            own,
            displaced,
        )
        compared += n_compared
        for chunk in range(0, c, WIDTH):
            radius = load8(nearest, (wanted - 1) * c + chunk) * broadcast8(TIES)
            tied = at_most(load8(nearest, wanted * c + chunk), radius) != 0
            if tied:
                compared_again += WIDTH * n_compared
            if groups is not None:
                for j in range(chunk, chunk + WIDTH):
                    n_rows = _list_ball(
                        tree,
                        caps,
                        near,
                        candidates,
                        start,
                        own,
                        candidate_caps,
                        groups,
                        centre,
                        j,
                        nearest,
                        positions,
                        visited,
                        n_visited if tied else ZERO,
                        rows,
                    )
                    variance = variance_between_groups(y, groups, rows, n_rows, centre, group_sums)
                    total[j] += weight[centre] * variance
                continue
            if tied:
                variances = _variances_with_ties(
                    tree,
                    caps,
                    near,
                    candidates,
                    start,
                    own,
                    candidate_caps,
                    y,
                    centre,
                    chunk,
                    radius,
                    visited,
                    n_visited,
                    sums,
                )
            else:
                variances = _variances_of_nearest(y, centre, positions, chunk, steps)
            store(total, chunk, load8(total, chunk) + broadcast8(weight[centre]) * variances)
    return compared, compared_again


_add_variances_between_groups = jit_again(_add_variances, "_add_variances_between_groups")


@inlined
def _visit_leaves(
    tree: KDTree,
    caps: Any,
    candidates: Any,
    start: int,
    candidate_caps: Any,
    groups: Any,
    centre: int,
    near: LeafCandidates,
    visited: Any,
    nearest: Any,
    positions: Any,
    own: Any,
    displaced: Any,
) -> Any:
    """Find the nearest points with each candidate; return the numbers of visited leaves and compared points."""
    limit, n_visited, n_compared = UNREACHED, ZERO, ZERO
    while True:
        hits, leaf = next_leaf(tree, caps, near, limit)
        if hits == 0:
            return n_visited, n_compared
        first = tree.start[leaf]
        if first <= centre < tree.start[leaf + 1]:
            hits &= ~(1 << (centre - first))
        if groups is not None:
            hits = _of_other_groups(groups, centre, first, hits)
        visited[n_visited] = leaf
        n_visited += 1
        n_compared += count_bits(hits)
        last = _insert_points(
            nearest, positions, candidates, start, own, candidate_caps, first, near.distance, hits, displaced
        )
        limit = smaller(last * TIES, UNREACHED)


@inlined
def _of_other_groups(groups: Any, centre: int, first: int, hits: Any) -> Any:
    """Return a bit mask of the points of a leaf that are not in the group of the centre."""
    others, bits = hits, hits
    while bits != 0:
        i = first_bit(bits)
        bits &= bits - 1
        if groups[first + i] == groups[centre]:
            others &= ~(1 << i)
    return others


@inlined
def _insert_points(
    nearest: Any,
    positions: Any,
    candidates: Any,
    start: int,
    own: Any,
    caps: Any,
    first: int,
    distance: Any,
    hits: Any,
    displaced: Any,
) -> float:
    """Insert the points of a leaf into the sorted lists of all candidates; return the largest last distance.

    Lists are sorted rank by rank: all points pass the first rank, which keeps the nearest one and displaces the others
    to the next rank. Eight lists are thus sorted at once and without branches, which `insert_distance` cannot do, as it
    shifts each list by a different number of entries. Displaced points, distances and positions side by side, go to the
    two halves of ``displaced`` in turn. Positions are float64, like the lanes of vectors.
    """
    c, width, wanted = own.size, candidates.shape[1], positions.shape[0]
    half = displaced.size // 2
    largest = broadcast8(0.0)
    for chunk in range(0, c, WIDTH):
        mine, cap = load8(own, chunk), load8(caps, chunk)
        has_caps = at_most(cap, broadcast8(UNREACHED)) != 0
        beyond = load8(nearest, wanted * c + chunk)
        for rank in range(wanted):
            here = rank * c + chunk
            kept, kept_position = load8(nearest, here), load8(positions, here)
            source, target = (0, half) if rank % 2 == 0 else (half, 0)
            bits = hits
            while bits != 0:
                i = first_bit(bits)
                bits &= bits - 1
                entering, leaving = source + 2 * WIDTH * i, target + 2 * WIDTH * i
                if rank == 0:
                    gap = load8(candidates, (first + i) * width + start + chunk) - mine
                    term = capped8(gap * gap, cap) if has_caps else gap * gap
                    new, position = broadcast8(distance[i]) + term, broadcast8(float(first + i))
                else:
                    new, position = load8(displaced, entering), load8(displaced, entering + WIDTH)
                if rank == wanted - 1:  # of the displaced points only the smallest distance matters
                    beyond = smaller(beyond, larger(kept, new))
                else:
                    store(displaced, leaving, larger(kept, new))
                    store(displaced, leaving + WIDTH, where_less(new, kept, kept_position, position))
                kept, kept_position = smaller(kept, new), where_less(new, kept, position, kept_position)
            store(nearest, here, kept)
            store(positions, here, kept_position)
        store(nearest, wanted * c + chunk, beyond)
        largest = larger(largest, load8(nearest, (wanted - 1) * c + chunk))
    return greatest(largest)


@inlined
def _list_ball(
    tree: KDTree,
    caps: Any,
    near: LeafCandidates,
    candidates: Any,
    start: int,
    own: Any,
    candidate_caps: Any,
    groups: Any,
    centre: int,
    j: int,
    nearest: Any,
    positions: Any,
    visited: Any,
    n_visited: int,
    rows: Any,
) -> int:
    """List the rows in the ball of a centre with candidate j, itself first; return their number.

    These are the nearest points, or all points of other groups within the radius in the visited leaves.
    """
    wanted = positions.shape[0]
    rows[0], n_rows = centre, 1
    if n_visited == 0:
        for rank in range(wanted):
            rows[n_rows] = np.intp(positions[rank, j])
            n_rows += 1
        return n_rows
    radius = nearest[wanted - 1, j] * TIES
    for visit in range(n_visited):
        leaf = np.intp(visited[visit])
        distance = leaf_distances(tree, caps, near, leaf)
        store(near.distance, 0, distance)
        bits = at_most(distance, broadcast16(radius))
        while bits != 0:
            i = first_bit(bits)
            bits &= bits - 1
            point = tree.start[leaf] + i
            gap = candidates[point, start + j] - own[j]
            is_near = near.distance[i] + capped(gap * gap, candidate_caps[j]) <= radius
            if is_near and groups[point] != groups[centre]:
                rows[n_rows] = point
                n_rows += 1
    return n_rows


# The two functions below are `variance_of_rows` for vectors: constants must be broadcast, and ``max`` does not accept
# vectors.


@inlined
def _variances_of_nearest(y: Any, centre: int, positions: Any, chunk: int, steps: Any) -> Any:
    """Return the sample variances of y among a centre and its nearest points, for eight candidates.

    All balls have the same number of points: multiplication by its reciprocals replaces slower divisions. ``steps``,
    (8,), is scratch for differences of y.
    """
    wanted = positions.shape[0]
    squares = broadcast8(0.0)
    for k in range(y.shape[1]):
        total = broadcast8(0.0)
        for rank in range(wanted):
            for lane in range(WIDTH):
                steps[lane] = y[np.intp(positions[rank, chunk + lane]), k] - y[centre, k]
            step = load8(steps, 0)
            total, squares = total + step, squares + step * step
        squares = squares - total * total * broadcast8(1.0 / (wanted + 1.0))
    return larger(squares, broadcast8(0.0)) * broadcast8(1.0 / wanted)


@inlined
def _variances_with_ties(
    tree: KDTree,
    caps: Any,
    near: LeafCandidates,
    candidates: Any,
    start: int,
    own: Any,
    candidate_caps: Any,
    y: Any,
    centre: int,
    chunk: int,
    radius: Any,
    visited: Any,
    n_visited: int,
    sums: Any,
) -> Any:
    """Return the sample variances of y among all points within the radius, with the centre, for eight candidates.

    Every lane has a different ball. A weight of 0 or 1 replaces a branch for each lane. ``sums``, (outputs, 8), is
    scratch for the sums of each output.
    """
    width = candidates.shape[1]
    mine, cap = load8(own, chunk), load8(candidate_caps, chunk)
    count, total_squares = broadcast8(0.0), broadcast8(0.0)
    for k in range(y.shape[1]):
        store(sums, WIDTH * k, broadcast8(0.0))
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
            gap = load8(candidates, point * width + start + chunk) - mine
            sum_distance = broadcast8(near.distance[i]) + capped8(gap * gap, cap)
            weight = where_less(radius, sum_distance, broadcast8(0.0), broadcast8(1.0))
            count = count + weight
            for k in range(y.shape[1]):
                step = broadcast8(y[point, k] - y[centre, k])
                store(sums, WIDTH * k, load8(sums, WIDTH * k) + weight * step)
                total_squares = total_squares + weight * step * step
    for k in range(y.shape[1]):
        total = load8(sums, WIDTH * k)
        total_squares = total_squares - total * total / count
    return larger(total_squares, broadcast8(0.0)) / (count - broadcast8(1.0))
