"""A k-d tree in numba: built once for a set of columns, walked by the kernels.

``coordinates`` is (dimensions, points), ``caps`` the most that a dimension adds to a squared distance. Zeros fill
the dimensions up to a multiple of four and the points up to a multiple of 16 and one more: that many are worked
on at a time, and what is found for the filling is never looked at. All distances are squared.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import inlined, jit, larger, smaller

# Leaves hold at most this many points, and an eighth of it or more; a multiple of 16.
MOST_IN_LEAF = 32

# Nodes waiting on the way down: seven siblings a level, and 8**16 leaves are enough.
STACK = 128


class Tree(NamedTuple):
    """A balanced k-d tree with eight children a node, whose boxes lie side by side to be tested together.

    Node i has the children 8i + 1 to 8i + 8; the last level are the leaves.
    """

    order: NDArray[np.intp]
    """The point at each position."""
    start: NDArray[np.intp]
    """Position of the first point of each leaf, and the end of the last one."""
    low: NDArray[np.float64]
    """Smallest coordinates in each child: (inner nodes, dimensions, 8)."""
    high: NDArray[np.float64]


@jit
def build_tree(coordinates: Any, caps: Any, n: int) -> Tree:
    """Split n points at the median of the widest dimension, three times a level, until leaves are small."""
    d = caps.size
    depth, leaves = 0, 1
    while leaves * MOST_IN_LEAF < n:
        depth, leaves = depth + 3, leaves * 8
    start = np.zeros(leaves + 1, np.intp)  # while splitting, every (leaves >> level)-th entry is set
    start[leaves] = n
    order, key = np.arange(n), np.empty(n)
    low, high = np.empty((leaves, d)), np.empty((leaves, d))  # boxes of the nodes, at their first leaf
    for k in range(d):
        low[0, k], high[0, k] = coordinates[k, :n].min(), coordinates[k, :n].max()
    for level in range(depth):
        width = leaves >> level
        for node in range(0, leaves, width):
            a, b, right = start[node], start[node + width], node + width // 2
            middle = (a + b) // 2
            k = _widest(low, high, node, caps)
            for i in range(a, b):
                key[i] = coordinates[k, order[i]]
            _split(key, order, a, b, middle)
            start[right] = middle
            low[right], high[right] = low[node], high[node]
            high[node, k] = low[right, k] = key[middle]
    _shrink_leaves(coordinates, order, start, low, high)
    packed_low, packed_high = _pack_boxes(low, high)
    return Tree(order, start, packed_low, packed_high)


@jit
def _widest(low: Any, high: Any, node: int, caps: Any) -> int:
    best, widest = 0, -1.0
    for k in range(caps.size):
        width = high[node, k] - low[node, k]
        if min(width * width, caps[k]) > widest:
            best, widest = k, min(width * width, caps[k])
    return best


@jit
def _split(key: Any, order: Any, a: int, b: int, middle: int) -> None:
    """Reorder positions a to b so that no key before the middle is above one behind it (quickselect)."""
    left, right = a, b - 1
    while left < right:
        x, y, z = key[left], key[(left + right) // 2], key[right]
        pivot = max(min(x, y), min(max(x, y), z))
        i, j = left, right
        while i <= j:
            while key[i] < pivot:
                i += 1
            while key[j] > pivot:
                j -= 1
            if i <= j:
                key[i], key[j] = key[j], key[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@jit
def _shrink_leaves(coordinates: Any, order: Any, start: Any, low: Any, high: Any) -> None:
    """Set the boxes of the leaves to just hold their points."""
    for leaf in range(low.shape[0]):
        for k in range(low.shape[1]):
            a, b = np.inf, -np.inf
            for i in range(start[leaf], start[leaf + 1]):
                a, b = min(a, coordinates[k, order[i]]), max(b, coordinates[k, order[i]])
            low[leaf, k], high[leaf, k] = a, b


@jit
def _pack_boxes(low: Any, high: Any) -> Any:
    """Return the boxes of all nodes, from those of the leaves, eight siblings side by side."""
    leaves, d = low.shape
    inner = (leaves - 1) // 7
    packed_low, packed_high = np.empty((inner, d, 8)), np.empty((inner, d, 8))
    last = inner
    while leaves > 1:
        leaves //= 8
        first = last - leaves
        for node in range(leaves):
            for k in range(d):
                a, b = np.inf, -np.inf
                for child in range(8):
                    packed_low[first + node, k, child] = low[8 * node + child, k]
                    packed_high[first + node, k, child] = high[8 * node + child, k]
                    a, b = min(a, low[8 * node + child, k]), max(b, high[8 * node + child, k])
                low[node, k], high[node, k] = a, b  # entries of children not yet packed lie behind
        last = first
    return packed_low, packed_high


# Kernels below take whole arrays and positions, never rows: making a view of an array that threads share
# touches its reference count, and they would wait for each other there.


@inlined
def open_node(
    tree: Tree, node: int, query: Any, caps: Any, limit: float, stack: Any, bound: Any, top: int, distance: Any
) -> int:
    """Put the children that are not beyond the limit on the stack, the nearest one on top."""
    for child in range(8):
        distance[child] = 0.0
    for k in range(caps.size):
        value, cap = query[k], caps[k]
        for child in range(8):
            gap = larger(larger(tree.low[node, k, child] - value, value - tree.high[node, k, child]), 0.0)
            distance[child] += smaller(gap * gap, cap)
    first = top
    for child in range(8):
        if distance[child] <= limit:
            stack[top], bound[top] = 8 * node + 1 + child, distance[child]
            top += 1
    for i in range(first, top - 1):
        if bound[i] < bound[top - 1]:
            stack[i], stack[top - 1] = stack[top - 1], stack[i]
            bound[i], bound[top - 1] = bound[top - 1], bound[i]
    return top


@inlined
def leaf_distances(coordinates: Any, a: int, b: int, query: Any, caps: Any, out: Any) -> None:
    """Squared distances from the query to the points at positions a to b."""
    count = (b - a + 15) // 16 * 16
    for i in range(count):
        out[i] = 0.0
    for k in range(0, caps.size, 4):
        q, r, s, t = query[k], query[k + 1], query[k + 2], query[k + 3]
        w, x, y, z = caps[k], caps[k + 1], caps[k + 2], caps[k + 3]
        for i in range(count):
            e, f = coordinates[k, a + i] - q, coordinates[k + 1, a + i] - r
            g, h = coordinates[k + 2, a + i] - s, coordinates[k + 3, a + i] - t
            e, f = smaller(e * e, w), smaller(f * f, x)
            g, h = smaller(g * g, y), smaller(h * h, z)
            out[i] += (e + f) + (g + h)
