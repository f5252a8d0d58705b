"""Numba functions that find the leaves of a k-d tree near a query point, for all queries of a leaf together.

Queries of one leaf have nearly the same leaves around them. These are listed once, by a search through the tree from
its root, with their boxes side by side; each query then tests the listed boxes, eight at a time. The list has the
nearest leaves first and reaches as far as the queries of the previous leaf needed. It is extended for a query that
needs more.

All distances and radii are squared. Functions take whole arrays and positions, never rows: a view of an array that
threads share would change its reference count, for which threads would wait on each other.
"""

from typing import Any, NamedTuple

import numpy as np

from .compiling import inlined, merged, part
from .kd_tree import LEAF, KDTree, count_uncapped
from .neighbor_list import UNREACHED, capped16
from .simd import at_most, broadcast8, broadcast16, first_bit, larger, load8, load16, smaller, store, where_less

# Maximum number of nodes on the stack: at most seven siblings wait on each level, and 2**31 rows make ten levels.
STACK = 128

# The list starts with the leaves within this share of the previous radius: most queries need no more.
NEAREST = 0.05

# Growth of the squared radius of the list at each extension, while the radius that a query needs is unknown.
GROWTH = 4.0

# Entries of ``LeafCandidates.state``: an array, because fields of a tuple cannot be assigned.
N_NUMERIC = 0  # number of dimensions without a cap, which come first
QUERY_LEAF = 1  # leaf of the queries
N_LISTED = 2  # number of leaves listed so far
N_VISITED = 3  # number of listed leaves whose boxes the query has tested, −1 before its own leaf
BATCH_START = 4  # start of the eight leaves whose boxes were tested last
PENDING_MASK = 5  # mask of those of the eight that are near enough and not yet visited

# Entries of ``LeafCandidates.radii``.
LISTED_RADIUS = 0  # all leaves within this distance of the queries' box are listed
PREVIOUS_RADIUS = 1  # maximum that the queries of the previous leaf needed
NEEDED_RADIUS = 2  # maximum that those of this leaf have needed so far


class LeafCandidates(NamedTuple):
    """Leaves near the queries of one leaf, and the state of the search for one query."""

    low: Any
    """Lowest coordinates of the queries, float64 (dimensions,)."""
    high: Any
    """Highest coordinates of the queries, float64 (dimensions,)."""
    leaves: Any
    """Numbers of the listed leaves, int32 (leaves,)."""
    box_low: Any
    """Lowest coordinates of the listed leaves, float64 (batches, dimensions, 8)."""
    box_high: Any
    """Highest coordinates of the listed leaves, float64 (batches, dimensions, 8)."""
    query: Any
    """Coordinates of the query, float64 (dimensions,)."""
    bound: Any
    """Distances of the query to the boxes of the batch, float64 (8,)."""
    distance: Any
    """Distances of the query to the points of the last visited leaf, float64 (16,)."""
    state: Any
    """State of the search, intp (6,): see N_NUMERIC and so on."""
    radii: Any
    """Radii of the list, float64 (3,): see LISTED_RADIUS and so on."""
    stack: Any
    """Nodes still to be searched, intp (128,)."""
    lane_numbers: Any
    """Numbers 0.0 to 15.0, float64 (16,), to separate points of a leaf from padding."""


def allocate_leaf_candidates(tree: KDTree, caps: Any) -> LeafCandidates:
    """Return an empty list, for any number of queries in increasing order of position.

    Parameters
    ----------
    tree : KDTree
    caps : float64 (dimensions,)
    """
    n_leaves, d = tree.start.size - 1, caps.size
    boxes = (-(-n_leaves // 8), d, 8)
    state, radii = np.empty(6, np.intp), np.empty(3)
    state[N_NUMERIC], state[QUERY_LEAF], radii[NEEDED_RADIUS] = count_uncapped(caps), -1, -1.0
    return LeafCandidates(
        np.empty(d),
        np.empty(d),
        np.empty(n_leaves, np.int32),
        np.empty(boxes),
        np.empty(boxes),
        np.empty(d),
        np.empty(8),
        np.empty(LEAF),
        state,
        radii,
        np.empty(STACK, np.intp),
        np.arange(float(LEAF)),
    )


@merged
def start_query(tree: KDTree, caps: Any, near: LeafCandidates, centres: Any, m: int) -> None:
    """Make the m-th centre the query; the first one of a leaf starts a new list. Centres are increasing positions."""
    centre = centres[m]
    if centre >= tree.start[near.state[QUERY_LEAF] + 1]:
        _start_list(tree, caps, near, centres, m)
    for k in range(caps.size):
        near.query[k] = tree.points[centre, k]
    near.state[N_VISITED], near.state[PENDING_MASK] = -1, 0


@part
def _start_list(tree: KDTree, caps: Any, near: LeafCandidates, centres: Any, m: int) -> None:
    """Start a list for the centres from the m-th on that are in the same leaf."""
    leaf = _leaf_of(tree, centres[m])
    end = m
    while end < centres.size and centres[end] < tree.start[leaf + 1]:
        end += 1
    diagonal = 0.0
    for k in range(caps.size):
        near.low[k], near.high[k] = np.inf, -np.inf
        for i in range(m, end):
            near.low[k] = smaller(near.low[k], tree.points[centres[i], k])
            near.high[k] = larger(near.high[k], tree.points[centres[i], k])
        width = near.high[k] - near.low[k]
        diagonal += smaller(width * width, caps[k])
    near.state[QUERY_LEAF], near.state[N_LISTED] = leaf, 0
    # Neighbours of the first leaf are expected about as far away as its own points are from each other.
    near.radii[PREVIOUS_RADIUS] = near.radii[NEEDED_RADIUS] if near.radii[NEEDED_RADIUS] >= 0.0 else diagonal
    near.radii[LISTED_RADIUS], near.radii[NEEDED_RADIUS] = -1.0, 0.0


@inlined
def _leaf_of(tree: KDTree, position: int) -> int:
    """Return the leaf of a position, near its place among leaves of equal size, as splits are in the middle."""
    leaves = tree.start.size - 1
    leaf = position * leaves // tree.start[leaves]
    while tree.start[leaf] > position:
        leaf -= 1
    while tree.start[leaf + 1] <= position:
        leaf += 1
    return leaf


@merged
def next_leaf(tree: KDTree, caps: Any, near: LeafCandidates, limit: float) -> Any:
    """Return the bit mask of points within the limit in the next leaf that has some, and the leaf.

    The query's own leaf comes first. The mask is 0 when no leaf is left. Distances are in ``near.distance``. The limit
    may shrink from call to call.
    """
    while True:
        leaf = _next_near(tree, caps, near, limit)
        if leaf < 0:
            return np.int64(0), leaf
        distance = leaf_distances(tree, caps, near, leaf)
        hits = at_most(distance, broadcast16(limit))
        if hits != 0:
            store(near.distance, 0, distance)
            return hits, leaf


@inlined
def _next_near(tree: KDTree, caps: Any, near: LeafCandidates, limit: float) -> Any:
    """Return the next leaf whose box is within the limit, the query's own first; −1 if none is left."""
    state = near.state
    if state[N_VISITED] < 0:
        state[N_VISITED] = 0
        return state[QUERY_LEAF]
    while True:
        pending = state[PENDING_MASK]
        while pending != 0:
            lane = first_bit(pending)
            pending &= pending - 1
            leaf = np.intp(near.leaves[np.uintp(state[BATCH_START] + lane)])
            # The limit may have decreased since the boxes of the batch were tested.
            if near.bound[np.uintp(lane)] <= limit and leaf != state[QUERY_LEAF]:
                state[PENDING_MASK] = pending
                return leaf
        if state[N_VISITED] < state[N_LISTED]:
            state[PENDING_MASK] = _measure_boxes(caps, near, limit)
        elif limit <= near.radii[LISTED_RADIUS]:
            near.radii[NEEDED_RADIUS] = larger(near.radii[NEEDED_RADIUS], limit)
            return -1
        else:
            state[PENDING_MASK] = 0
            _extend_list(tree, caps, near, limit)


@inlined
def leaf_distances(tree: KDTree, caps: Any, near: LeafCandidates, leaf: int) -> Any:
    """Return the distances of the query to the 16 points of a leaf, a vector; infinite for padding.

    Numeric dimensions have a loop of their own, which does not compare with a cap.
    """
    d, n_numeric = caps.size, near.state[N_NUMERIC]
    total = broadcast16(0.0)
    for k in range(n_numeric):
        gap = load16(tree.leaves, (leaf * d + k) * LEAF) - broadcast16(near.query[k])
        total = total + gap * gap
    for k in range(n_numeric, d):
        gap = load16(tree.leaves, (leaf * d + k) * LEAF) - broadcast16(near.query[k])
        total = total + capped16(gap * gap, broadcast16(caps[k]))
    size = float(tree.start[leaf + 1] - tree.start[leaf])
    return where_less(load16(near.lane_numbers, 0), broadcast16(size), total, broadcast16(np.inf))


@inlined
def _measure_boxes(caps: Any, near: LeafCandidates, limit: float) -> Any:
    """Compute the distances to the next boxes of the list; return the bit mask of those within the limit."""
    state = near.state
    batch = state[N_VISITED] // 8
    bound = _box_distances(near.box_low, near.box_high, batch, near.query, near.query, caps, state[N_NUMERIC])
    store(near.bound, 0, bound)
    # An extended list continues in the middle of a batch: use only its new boxes, and none beyond its end.
    begin, end = state[N_VISITED] - 8 * batch, min(state[N_LISTED] - 8 * batch, 8)
    state[BATCH_START], state[N_VISITED] = 8 * batch, 8 * batch + end
    return at_most(bound, broadcast8(limit)) & ((1 << end) - (1 << begin))


@inlined
def _box_distances(low: Any, high: Any, batch: int, query_low: Any, query_high: Any, caps: Any, n_numeric: int) -> Any:
    """Return the distances of a box to the eight boxes of a batch, a vector; no point is nearer.

    A box may contain missing values besides others: its points are then no farther than the cap.
    """
    d = caps.size
    total = broadcast8(0.0)
    for k in range(n_numeric):
        gap = _box_gap(low, high, 8 * (batch * d + k), query_low[k], query_high[k])
        total = total + gap * gap
    for k in range(n_numeric, d):
        gap = _box_gap(low, high, 8 * (batch * d + k), query_low[k], query_high[k])
        total = total + smaller(gap * gap, broadcast8(caps[k]))
    return total


@inlined
def _box_gap(low: Any, high: Any, at: int, query_low: float, query_high: float) -> Any:
    """Return the gaps between an interval and eight others, a vector; 0 where they overlap."""
    above, below = load8(low, at) - broadcast8(query_high), broadcast8(query_low) - load8(high, at)
    return larger(larger(above, below), broadcast8(0.0))


@part
def _extend_list(tree: KDTree, caps: Any, near: LeafCandidates, limit: float) -> None:
    """List leaves that are farther than those listed, up to the radius that will probably be needed."""
    listed_radius = near.radii[LISTED_RADIUS]
    near.radii[LISTED_RADIUS] = _next_radius(near, limit)
    n_inner = tree.low.shape[0]
    near.stack[0], top = 0, 1 if n_inner > 0 else 0
    while top > 0:
        top -= 1
        node = near.stack[top]
        distance = _box_distances(tree.low, tree.high, node, near.low, near.high, caps, near.state[N_NUMERIC])
        children = at_most(distance, broadcast8(near.radii[LISTED_RADIUS]))
        children &= (1 << (tree.fan if node == 0 else 8)) - 1  # the root may have padding
        first = 8 * node + tree.fan - 7 if node > 0 else 1
        if first < n_inner:
            while children != 0:
                near.stack[top] = first + first_bit(children)
                top += 1
                children &= children - 1
        else:
            children &= ~at_most(distance, broadcast8(listed_radius))  # listed before
            while children != 0:
                _list_leaf(tree, near, node, first_bit(children), first - n_inner)
                children &= children - 1


@inlined
def _next_radius(near: LeafCandidates, limit: float) -> float:
    """Return the next radius of the list: in two steps to the previous radius, then to the limit."""
    listed, previous = near.radii[LISTED_RADIUS], near.radii[PREVIOUS_RADIUS]
    if listed < NEAREST * previous:
        return NEAREST * previous
    if listed < previous:
        return previous
    if limit == UNREACHED and listed > 0.0:
        return smaller(GROWTH * listed, UNREACHED)
    return limit


@inlined
def _list_leaf(tree: KDTree, near: LeafCandidates, node: int, child: int, first_leaf: int) -> None:
    """Append a child of a node to the list, with a copy of its box: batches mix children of several nodes."""
    listed = near.state[N_LISTED]
    near.leaves[np.uintp(listed)] = first_leaf + child
    # Numba tests positions with a sign for being negative.
    batch, lane, node, child = np.uintp(listed >> 3), np.uintp(listed & 7), np.uintp(node), np.uintp(child)
    for k in range(tree.points.shape[1]):
        near.box_low[batch, k, lane] = tree.low[node, k, child]
        near.box_high[batch, k, lane] = tree.high[node, k, child]
    near.state[N_LISTED] = listed + 1
