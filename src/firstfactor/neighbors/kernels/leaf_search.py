"""Numba kernels that find the leaves of a tree near a point, for all points of a leaf together.

Points of one leaf have nearly the same leaves around them. Those are listed once, by a walk through the tree from its
root, with their boxes side by side; every point then looks through the list, eight boxes at a time. The list reaches
as far as the points of the leaf before needed, the nearest first, and is made longer for one that needs more.

All distances are squared. Kernels take whole arrays and positions, never rows: making a view of an array that threads
share touches its reference count, and they would wait for each other there.
"""

from typing import Any, NamedTuple

import numpy as np

from .compiling import inlined, jit, part
from .kd_tree import FAR, LEAF, Tree, count_uncapped
from .simd import at_most, broadcast8, broadcast16, first_bit, larger, load8, load16, smaller, store, where_less

# Seven siblings a level, and 8**16 leaves are enough.
STACK = 128

# The list starts with what is within this share of what the leaf before needed.
NEAREST = 0.05

# How fast the list grows as long as nobody knows how far it has to reach.
GROWTH = 4.0

# What is in ``Near.state``: how many dimensions have no cap, which come first; the leaf of the group, how many leaves
# are listed, how many of them the point has passed, where the eight begin that it looks at, and which of these it still
# has to look at.
NUMBERS, OWN, LISTED, PASSED, EIGHT, WAITING = range(6)

# What is in ``Near.reach``: how far the list reaches, how far the group before needed it, and how far this one does.
WITHIN, BEFORE, NEEDED = range(3)


class Near(NamedTuple):
    """The leaves near a group of points that lie in the same leaf."""

    low: Any
    """The box of the group."""
    high: Any
    leaves: Any
    box_low: Any
    """The boxes of the leaves: (eights, dimensions, 8)."""
    box_high: Any
    query: Any
    """The point that looks for others now."""
    bound: Any
    """Its distance to the boxes of the eight leaves that it looks at."""
    distance: Any
    """Its distance to the points of the last leaf."""
    state: Any
    reach: Any
    stack: Any
    """Nodes waiting on the way down."""
    places: Any
    """The numbers from 0 to 15."""


@jit
def nothing_near(tree: Tree, caps: Any) -> Near:
    """Return an empty list."""
    n_leaves, d = tree.start.size - 1, caps.size
    boxes = ((n_leaves + 7) // 8, d, 8)
    state, reach, places = np.empty(6, np.intp), np.empty(3), np.empty(LEAF)
    state[NUMBERS], state[OWN], reach[NEEDED] = count_uncapped(caps), -1, -1.0
    for i in range(LEAF):
        places[i] = i
    return Near(
        np.empty(d),
        np.empty(d),
        np.empty(n_leaves, np.int32),
        np.empty(boxes),
        np.empty(boxes),
        np.empty(d),
        np.empty(8),
        np.empty(LEAF),
        state,
        reach,
        np.empty(STACK, np.intp),
        places,
    )


@inlined
def start_at(tree: Tree, caps: Any, near: Near, centres: Any, m: int) -> None:
    """Let the m-th centre look for leaves; the list is made anew for the first of a leaf."""
    centre = centres[m]
    if centre >= tree.start[near.state[OWN] + 1]:
        _start_group(tree, caps, near, centres, m)
    for k in range(caps.size):
        near.query[k] = tree.points[centre, k]
    near.state[PASSED], near.state[WAITING] = -1, 0


@part
def _start_group(tree: Tree, caps: Any, near: Near, centres: Any, m: int) -> None:
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
    near.state[OWN], near.state[LISTED] = leaf, 0
    near.reach[BEFORE] = near.reach[NEEDED] if near.reach[NEEDED] >= 0.0 else diagonal
    near.reach[WITHIN], near.reach[NEEDED] = -1.0, 0.0


@inlined
def _leaf_of(tree: Tree, position: int) -> int:
    """The leaf with a position; splits in the middle leave it near where even shares would."""
    leaves = tree.start.size - 1
    leaf = position * leaves // tree.start[leaves]
    while tree.start[leaf] > position:
        leaf -= 1
    while tree.start[leaf + 1] <= position:
        leaf += 1
    return leaf


@inlined
def next_leaf(tree: Tree, caps: Any, near: Near, limit: float) -> Any:
    """Go on to a leaf with points that are not beyond the limit; return which ones, as bits, and the leaf.

    The first leaf is the point's own. There are no bits when nothing is left. Distances are in ``near.distance``.
    """
    state = near.state
    if state[PASSED] < 0:
        state[PASSED] = 0
        hits = _measure_leaf(tree, caps, near, state[OWN], limit)
        if hits != 0:
            return hits, state[OWN]
    while True:
        waiting = state[WAITING]
        while waiting != 0:
            at = first_bit(waiting)
            waiting &= waiting - 1
            leaf = np.intp(near.leaves[state[EIGHT] + at])
            if near.bound[at] <= limit and leaf != state[OWN]:
                hits = _measure_leaf(tree, caps, near, leaf, limit)
                if hits != 0:
                    state[WAITING] = waiting
                    return hits, leaf
        if state[PASSED] < state[LISTED]:
            state[WAITING] = _measure_boxes(caps, near, limit)
        elif limit <= near.reach[WITHIN]:
            near.reach[NEEDED] = larger(near.reach[NEEDED], limit)
            return np.int64(0), state[OWN]
        else:
            state[WAITING] = 0
            _list_more(tree, caps, near, limit)


@inlined
def _measure_leaf(tree: Tree, caps: Any, near: Near, leaf: int, limit: float) -> Any:
    """Fill in the distances to the points of a leaf; return which are not beyond the limit."""
    distance = leaf_distances(tree, caps, near, leaf)
    store(near.distance, 0, distance)
    return at_most(distance, broadcast16(limit))


@inlined
def leaf_distances(tree: Tree, caps: Any, near: Near, leaf: int) -> Any:
    """Distances of the query to the sixteen points of a leaf, infinite where there is none."""
    d, numbers = caps.size, near.state[NUMBERS]
    total = broadcast16(0.0)
    for k in range(numbers):
        gap = load16(tree.leaves, (leaf * d + k) * LEAF) - broadcast16(near.query[k])
        total = total + gap * gap
    for k in range(numbers, d):
        gap = load16(tree.leaves, (leaf * d + k) * LEAF) - broadcast16(near.query[k])
        total = total + smaller(gap * gap, broadcast16(caps[k]))
    size = float(tree.start[leaf + 1] - tree.start[leaf])
    return where_less(load16(near.places, 0), broadcast16(size), total, broadcast16(np.inf))


@inlined
def _measure_boxes(caps: Any, near: Near, limit: float) -> Any:
    """Fill in the distances to the next boxes of the list; return which are not beyond the limit."""
    state = near.state
    eight = state[PASSED] // 8
    bound = _box_distances(near.box_low, near.box_high, eight, near.query, near.query, caps, state[NUMBERS])
    store(near.bound, 0, bound)
    begin, end = state[PASSED] - 8 * eight, min(state[LISTED] - 8 * eight, 8)
    state[EIGHT], state[PASSED] = 8 * eight, 8 * eight + end
    return at_most(bound, broadcast8(limit)) & ((1 << end) - (1 << begin))


@inlined
def _box_distances(low: Any, high: Any, eight: int, query_low: Any, query_high: Any, caps: Any, numbers: int) -> Any:
    """Distances of a box to eight others."""
    d = caps.size
    total = broadcast8(0.0)
    for k in range(numbers):
        gap = _box_gap(low, high, 8 * (eight * d + k), query_low[k], query_high[k])
        total = total + gap * gap
    for k in range(numbers, d):
        gap = _box_gap(low, high, 8 * (eight * d + k), query_low[k], query_high[k])
        total = total + smaller(gap * gap, broadcast8(caps[k]))
    return total


@inlined
def _box_gap(low: Any, high: Any, at: int, query_low: float, query_high: float) -> Any:
    """How far a range is from eight others."""
    before, behind = load8(low, at) - broadcast8(query_high), broadcast8(query_low) - load8(high, at)
    return larger(larger(before, behind), broadcast8(0.0))


@part
def _list_more(tree: Tree, caps: Any, near: Near, limit: float) -> None:
    """List the leaves that are farther than those listed, but not beyond what will probably do."""
    within = near.reach[WITHIN]
    wider = limit
    if within < NEAREST * near.reach[BEFORE]:
        wider = NEAREST * near.reach[BEFORE]
    elif within < near.reach[BEFORE]:
        wider = near.reach[BEFORE]
    elif limit == FAR and within > 0.0:
        wider = smaller(GROWTH * within, FAR)
    near.reach[WITHIN] = wider
    n_inner, listed = tree.low.shape[0], near.state[LISTED]
    near.stack[0], top = 0, 1 if n_inner > 0 else 0
    while top > 0:
        top -= 1
        node = near.stack[top]
        distance = _box_distances(tree.low, tree.high, node, near.low, near.high, caps, near.state[NUMBERS])
        bits = at_most(distance, broadcast8(wider)) & ((1 << (tree.fan if node == 0 else 8)) - 1)
        first = 8 * node + tree.fan - 7 if node > 0 else 1
        if first >= n_inner:
            bits &= ~at_most(distance, broadcast8(within))
        while bits != 0:
            child = first_bit(bits)
            bits &= bits - 1
            if first < n_inner:
                near.stack[top] = first + child
                top += 1
            else:
                near.leaves[listed] = first + child - n_inner
                for k in range(caps.size):
                    near.box_low[listed // 8, k, listed % 8] = tree.low[node, k, child]
                    near.box_high[listed // 8, k, listed % 8] = tree.high[node, k, child]
                listed += 1
    near.state[LISTED] = listed
