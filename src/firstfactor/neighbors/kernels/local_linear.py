"""Numba kernels for local linear fits: the nearest points of each point, and their weights.

Points are unique: each stands for ``count`` equal rows. A row is never in its own fit: of its own point, the fit uses
the other rows. Where rows are in groups, each point is one row, and the others of its group are not in its fit either.
All distances are squared; points are in tree order.
"""

from typing import Any, NamedTuple

import numpy as np

from .compiling import ONE, inlined, jit
from .kd_tree import KDTree
from .leaf_search import PREVIOUS_RADIUS, LeafCandidates, allocate_leaf_candidates, next_leaf, start_query
from .neighbor_list import INCOMPARABLE, TIES, UNREACHED, capped, insert_neighbor
from .simd import WIDTH, broadcast8, first_bit, larger, load8, store

# Ridge added to the diagonal for slopes, as a share of its mean: slopes stay bounded where neighbours are few or
# collinear.
RIDGE = 0.02

# Neighbours whose weights have a smaller sum are all as far as the last one up to rounding.
EQUALLY_FAR = 1e-9

# Added to denominators that may be 0.
TINY = 1e-300

# Maximum expected ratio of the squared distance of a centre's neighbours to that for the previous leaf's centres. A
# smaller limit inserts fewer points that are dropped again, but fails more often.
MARGIN = 1.3


class LocalSpace(NamedTuple):
    """Unique points of a table in the space of some factors."""

    points: Any
    """Coordinates of each point, float64 (points, dimensions)."""
    caps: Any
    """Maximum contribution of each dimension to a squared distance, float64 (dimensions,)."""
    n_slopes: int
    """Number of dimensions, the first ones, in which fits are linear: those of numeric factors."""
    count: Any
    """Number of rows at each point, float64 (points,)."""
    group: Any
    """Group of each point, intp (points,): other points of the same group are never in its fit."""


class Weights(NamedTuple):
    """Weights of points in the fit at each centre, for each number of neighbours: the bands."""

    neighbors: Any
    """Points near each centre, itself first: int32 (centres, most)."""
    values: Any
    """Weight of all rows at each of these points together, float64 (centres, bands, most)."""
    used: Any
    """Number of these points with a weight, intp (centres, bands)."""
    reach: Any
    """Squared distance of the last of them, float64 (centres, bands)."""
    tied: Any
    """Number of rows within that distance if all neighbours are equally far, else 0: float64 (centres, bands).

    These can be more than are listed. The fit is the mean of them all, as none is nearer; ``values`` are 0.
    """


def nearest_points(tree: KDTree, caps: Any, count: Any, group: Any, centres: Any, wanted: int) -> Any:
    """Return the nearest points of each centre, itself first, their squared distances, and their number.

    These are int32 and float64 (centres, wanted + 1), and intp (centres,). Only the centre is listed if its own rows
    are enough. Other points of its group are excluded.

    Parameters
    ----------
    tree : KDTree
        k-d tree of the unique points.
    caps : float64 (dimensions,)
    count : float64 (points,)
        Number of rows at each point.
    group : intp (points,)
        Group of each point.
    centres : intp (centres,)
        Positions of points, increasing.
    wanted : int
        Maximum number of points listed besides the centre.
    """
    neighbors, distances = np.empty((centres.size, wanted + 1), np.int32), np.empty((centres.size, wanted + 1))
    length = np.ones(centres.size, np.intp)
    near = allocate_leaf_candidates(tree, caps)
    _fill_neighbors(tree, caps, count, group, centres, near, neighbors, distances, length)
    return neighbors, distances, length


@jit
def _fill_neighbors(
    tree: KDTree,
    caps: Any,
    count: Any,
    group: Any,
    centres: Any,
    near: LeafCandidates,
    neighbors: Any,
    distances: Any,
    length: Any,
) -> None:
    """Fill the lists of all centres."""
    most = neighbors.shape[1]
    for m in range(centres.size):
        neighbors[m, 0], distances[m, 0] = centres[m], 0.0
        if count[centres[m]] >= most:
            continue
        for attempt in range(2):
            length[m] = _search(tree, caps, near, group, centres, m, attempt == 0, neighbors, distances)
            if length[m] == most:  # else the expected limit was too small, or there are no more points
                break


@inlined
def _search(
    tree: KDTree,
    caps: Any,
    near: LeafCandidates,
    group: Any,
    centres: Any,
    m: int,
    expect: bool,
    neighbors: Any,
    distances: Any,
) -> Any:
    """List the points near the m-th centre, sorted by distance; return their number, the centre included.

    With ``expect``, only those within the expected limit: fewer points are inserted that are dropped again.
    """
    most = neighbors.shape[1]
    start_query(tree, caps, near, centres, m)
    limit, found = near.radii[PREVIOUS_RADIUS] * MARGIN if expect else UNREACHED, ONE
    while True:
        hits, leaf = next_leaf(tree, caps, near, limit)
        if hits == 0:
            return found
        while hits != 0:
            i = first_bit(hits)
            hits &= hits - 1
            point, distance = tree.start[leaf] + i, near.distance[i]
            if distance < limit and group[point] != group[centres[m]]:
                # Entry 0 is the centre. When the list is full, its last entry is dropped.
                insert_neighbor(distances, neighbors, (m,), ONE, min(found, most - 1), distance, point)
                found = min(found + 1, most)
                if found == most:
                    limit = distances[m, most - 1]


def local_weights(space: LocalSpace, neighbors: Any, distances: Any, length: Any, bands: Any) -> Any:
    """Return the last four fields of `Weights`, for each number of neighbours in ``bands``.

    The fit is linear in the first dimensions. Weights decrease with the distance, to 0 at that of the last neighbour:
    ties there do not matter.

    Parameters
    ----------
    space : LocalSpace
    neighbors : int32 (centres, most)
        Nearest points of each centre, itself first.
    distances : float64 (centres, most)
        Their squared distances.
    length : intp (centres,)
        Number of points of each centre.
    bands : intp (bands,)
    """
    n, most = neighbors.shape
    weights, used = np.zeros((n, bands.size, most)), np.zeros((n, bands.size), np.intp)
    reach, tied = np.empty((n, bands.size)), np.zeros((n, bands.size))
    p = space.n_slopes + 1
    width = (p + WIDTH - 1) // WIDTH * WIDTH  # padded with zeros, which add nothing to the Gram matrix
    gram, terms, solution = np.empty((p, width)), np.zeros((most, width)), np.empty(p)
    _fill_weights(space, neighbors, distances, length, bands, gram, terms, solution, weights, used, reach, tied)
    return weights, used, reach, tied


@jit
def _fill_weights(
    space: LocalSpace,
    neighbors: Any,
    distances: Any,
    length: Any,
    bands: Any,
    gram: Any,
    terms: Any,
    solution: Any,
    weights: Any,
    used: Any,
    reach: Any,
    tied: Any,
) -> None:
    """Fill in the weights at all centres."""
    for m in range(neighbors.shape[0]):
        centre = neighbors[m, 0]
        _fill_terms(terms, space, neighbors, m, length[m])
        for band in range(bands.size):
            size = _size_of_band(space, neighbors, m, length[m], bands[band])
            used[m, band], reach[m, band] = size, distances[m, size - 1]
            total = _fill_kernel_weights(weights, m, band, space.count, neighbors, distances, size)
            # Rows in groups are not collapsed: more may equal the centre than are listed.
            if total < EQUALLY_FAR or (size > 1 and reach[m, band] == 0.0):
                tied[m, band] = _count_tied(space, centre, reach[m, band])
                for k in range(size):
                    weights[m, band, k] = 0.0
                continue
            _fill_gram(gram, terms, weights, m, band, size)
            _solve_first(gram, solution)
            for k in range(size):
                value = 0.0
                for c in range(solution.size):
                    value += solution[c] * terms[k, c]
                weights[m, band, k] *= value


@inlined
def _fill_terms(terms: Any, space: LocalSpace, neighbors: Any, m: int, length: int) -> None:
    """Fill in the regressors of each neighbour: 1, and its coordinates relative to the centre.

    A missing value has no slope: it is neither above nor below others.
    """
    centre = neighbors[m, 0]
    for k in range(length):
        terms[k, 0] = 1.0
        for c in range(space.n_slopes):
            step = space.points[neighbors[m, k], c] - space.points[centre, c]
            terms[k, c + 1] = step if step * step < INCOMPARABLE else 0.0


@inlined
def _size_of_band(space: LocalSpace, neighbors: Any, m: int, length: int, band: int) -> Any:
    """Return the number of points, the centre included, with at least ``band`` rows besides the fitted one."""
    rows, size = space.count[neighbors[m, 0]] - 1.0, ONE
    while rows < band and size < length:
        rows += space.count[neighbors[m, size]]
        size += 1
    return size


@inlined
def _fill_kernel_weights(
    weights: Any, m: int, band: int, count: Any, neighbors: Any, distances: Any, size: int
) -> float:
    """Fill in weights that decrease to 0 at the last point, times the number of rows; return their sum.

    One row of the centre itself does not count: the fitted one.
    """
    reach = distances[m, size - 1] + TINY
    total = 0.0
    for k in range(size):
        rows = count[neighbors[m, k]] - (1.0 if k == 0 else 0.0)
        weights[m, band, k] = rows * larger(1.0 - distances[m, k] / reach, 0.0)
        total += weights[m, band, k]
    return total


@inlined
def _count_tied(space: LocalSpace, centre: int, reach: float) -> float:
    """Return the number of rows within the reach of a centre, without its own."""
    rows = 0.0
    for point in range(space.count.size):
        if is_within(space, centre, point, reach):
            rows += space.count[point]
    return rows


@inlined
def is_within(space: LocalSpace, centre: int, point: int, reach: float) -> bool:
    """Return True if a point of another group than the centre's is within the reach, up to rounding."""
    total = 0.0
    for k in range(space.caps.size):
        step = space.points[point, k] - space.points[centre, k]
        total += capped(step * step, space.caps[k])
    return space.group[point] != space.group[centre] and total <= reach * TIES


@inlined
def _fill_gram(gram: Any, terms: Any, weights: Any, m: int, band: int, size: int) -> None:
    """Fill in the Gram matrix of the weighted regressors, with the ridge."""
    p, width = gram.shape
    gram[:] = 0.0
    for k in range(size):
        for chunk in range(0, width, WIDTH):
            some = load8(terms, k * width + chunk)
            for r in range(p):
                at = r * width + chunk
                store(gram, at, load8(gram, at) + broadcast8(weights[m, band, k] * terms[k, r]) * some)
    trace = 0.0
    for r in range(1, p):
        trace += gram[r, r]
    gram[0, 0] += TINY
    for r in range(1, p):
        gram[r, r] += RIDGE * trace / (p - 1) + TINY


@inlined
def _solve_first(gram: Any, solution: Any) -> None:
    """Solve gram · solution = (1, 0, …, 0) by Cholesky decomposition in place: the fit at the centre is the constant.

    Written out, because systems are small and a call of LAPACK from numba allocates arrays.
    """
    p = solution.size
    for r in range(p):
        for c in range(r + 1):
            value = gram[r, c]
            for t in range(c):
                value -= gram[r, t] * gram[c, t]
            gram[r, c] = np.sqrt(larger(value, TINY)) if r == c else value / gram[c, c]
    for r in range(p):
        value = 1.0 if r == 0 else 0.0
        for t in range(r):
            value -= gram[r, t] * solution[t]
        solution[r] = value / gram[r, r]
    for r in range(p - 1, -1, -1):
        value = solution[r]
        for t in range(r + 1, p):
            value -= gram[t, r] * solution[t]
        solution[r] = value / gram[r, r]
