"""Numba kernel for one set of factors: the variance of y in the ball of each unique point, found in a k-d tree.

Points are stored in tree order, so that points near in space are near in memory. All distances are squared.
"""

from typing import Any

import numpy as np

from .compiling import ZERO, jit, jit_again, merged
from .kd_tree import LEAF, KDTree
from .leaf_search import LeafCandidates, allocate_leaf_candidates, next_leaf, start_query
from .neighbor_list import (
    TIES,
    UNREACHED,
    allocate_group_sums,
    insert_neighbor,
    variance_between_groups,
    variance_of_points,
)
from .simd import broadcast16, first_bit, least, load16, smaller, where_less


def ball_variances(
    tree: KDTree,
    caps: Any,
    count: Any,
    mean: Any,
    squares: Any,
    groups: Any,
    centres: Any,
    n_neighbors: int,
) -> Any:
    """Return the sample variance of y in the ball of each centre, in units of y², and its squared radius: (centres,).

    Parameters
    ----------
    tree : KDTree
        k-d tree of the unique points.
    caps : float64 (dimensions,)
        Maximum contribution of each dimension to a squared distance.
    count : float64 (points,)
        Number of rows at each point.
    mean : float64 (points, outputs)
        Mean of y at each point.
    squares : float64 (points,)
        Sum of squared deviations of y from that mean, over all outputs.
    groups : intp (points,) or None
        Group of each point; others of the centre's group are not in its ball, and two rows of one group are not
        compared. Each point is then one row.
    centres : intp (centres,)
        Positions of points, increasing.
    n_neighbors : int
        Minimum number of rows in the ball, those of the centre included; all ties with the last one are added.
    """
    near = allocate_leaf_candidates(tree, caps)
    visited, visited_distance = np.empty(count.size, np.int32), np.empty(count.size)
    nearest, rows = np.empty(n_neighbors), np.empty(n_neighbors)
    variances, radii = np.empty(centres.size), np.zeros(centres.size)
    group_sums = allocate_group_sums(groups, mean.shape[1])
    fill = _fill_variances if groups is None else _fill_variances_between_groups
    fill(
        tree,
        caps,
        count,
        mean,
        squares,
        groups,
        centres,
        near,
        visited,
        visited_distance,
        nearest,
        rows,
        group_sums,
        variances,
        radii,
    )
    return variances, radii


@jit
def _fill_variances(
    tree: KDTree,
    caps: Any,
    count: Any,
    mean: Any,
    squares: Any,
    groups: Any,
    centres: Any,
    near: LeafCandidates,
    visited: Any,
    visited_distance: Any,
    nearest: Any,
    rows: Any,
    group_sums: Any,
    variances: Any,
    radii: Any,
) -> None:
    """Fill in the variance and the squared radius of each ball."""
    for m in range(centres.size):
        centre = centres[m]
        if count[centre] >= nearest.size:  # a ball of radius 0
            variances[m] = squares[centre] / (count[centre] - 1)
            continue
        start_query(tree, caps, near, centres, m)
        n_visited, limit = _visit_points(
            tree, caps, count, groups, centre, near, visited, visited_distance, nearest, rows
        )
        # The limit has decreased during the search: only now is it known which of the visited points are in the ball.
        inside = ZERO
        for i in range(n_visited):
            if visited_distance[i] <= limit:
                visited[inside] = visited[i]
                inside += 1
        radii[m] = limit / TIES
        if groups is None:
            variances[m] = variance_of_points(count, mean, squares, visited, inside, centre)
        else:
            variances[m] = variance_between_groups(mean, groups, visited, inside, centre, group_sums)


_fill_variances_between_groups = jit_again(_fill_variances, "_fill_variances_between_groups")


@merged
def _visit_points(
    tree: KDTree,
    caps: Any,
    count: Any,
    groups: Any,
    centre: int,
    near: LeafCandidates,
    visited: Any,
    visited_distance: Any,
    nearest: Any,
    rows: Any,
) -> Any:
    """List the points that may be in the ball; return their number, and the squared radius including ties."""
    n_neighbors = nearest.size
    limit, n_visited, n_nearest = UNREACHED, ZERO, ZERO
    while True:
        hits, leaf = next_leaf(tree, caps, near, limit)
        if hits == 0:
            return n_visited, limit
        # A first limit from the query's own leaf: most of its points are not even inserted. Some may be of its group.
        if limit == UNREACHED and groups is None:
            limit = smaller(TIES * _ranked(near.distance, n_neighbors), UNREACHED)
        while hits != 0:
            i = first_bit(hits)
            hits &= hits - 1
            point, distance = tree.start[leaf] + i, near.distance[i]
            if groups is not None and point != centre and groups[point] == groups[centre]:
                continue
            if distance <= limit:
                visited[n_visited], visited_distance[n_visited] = point, distance
                n_visited += 1
                if distance * TIES <= limit:  # else it ties with the last neighbour and changes no limit
                    n_nearest = _insert(nearest, rows, n_nearest, distance, count[point])
                    if n_nearest < 0:
                        n_nearest = -n_nearest
                        limit = nearest[n_nearest - 1] * TIES


@merged
def _ranked(distance: Any, rank: int) -> float:
    """Return one of the smallest distances of a leaf, of this rank or a later one; infinite if there are too few.

    All lanes equal to the smallest are removed at once, so that ties count as one: the limit is then too large, never
    too small.
    """
    distances = load16(distance, 0)
    closest = least(distances)
    for _ in range(min(rank, LEAF + 1) - 1):
        distances = where_less(broadcast16(closest), distances, distances, broadcast16(np.inf))
        closest = least(distances)
    return closest


@merged
def _insert(nearest: Any, rows: Any, n_nearest: int, distance: float, count: float) -> int:
    """Insert a point of ``count`` rows among the nearest; return their new number, negative if they suffice."""
    n_neighbors = nearest.size
    insert_neighbor(nearest, rows, (), ZERO, min(n_nearest, n_neighbors - 1), distance, count)
    n_rows = 0.0
    for i in range(min(n_nearest + 1, n_neighbors)):
        n_rows += rows[i]
        if n_rows >= n_neighbors:
            return -(i + 1)
    return n_nearest + 1
