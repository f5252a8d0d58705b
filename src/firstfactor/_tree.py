"""A k-d tree in numba: built once for a set of columns, walked by the kernels.

Points come as ``coordinates``, (dimensions, points), with ``caps``, the most that a dimension adds to a squared
distance. All distances are squared. The points of a leaf are stored together as (dimensions, 16), filled up with
zeros: loops of a fixed length over what lies side by side are what vectorises well.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import inlined, jit, larger, smaller
from ._tasks import Workers

# Leaves hold at most this many points, and half of it or more.
LEAF = 16

# Distances within this factor, both squared, differ by rounding only.
TIES = (1 + 1e-9) ** 2

# So many points are worth more than one thread.
LARGE = 4096

# Farther than any point; nearer than infinity, which stands for what is not there.
FAR = 1e300

# Nodes waiting on the way down: seven siblings a level, and 8**16 leaves are enough.
STACK = 128


class Tree(NamedTuple):
    """A balanced k-d tree with eight children a node, whose boxes lie side by side to be tested together.

    Nodes are numbered level by level, the leaves last. The root may have two or four children only, so that
    any power of two can be the number of leaves.
    """

    order: NDArray[np.intp]
    """The point at each position."""
    start: NDArray[np.intp]
    """Position of the first point of each leaf, and the end of the last one."""
    low: NDArray[np.float64]
    """Smallest coordinates in each child: (inner nodes, dimensions, 8)."""
    high: NDArray[np.float64]
    fan: int
    """How many children the root has."""
    leaves: NDArray[np.float64]
    """Coordinates of the points in each leaf, (leaves, dimensions, 16)."""
    points: NDArray[np.float64]
    """Coordinates of the point at each position, (points, dimensions)."""


def build_tree(coordinates: NDArray[np.float64], caps: NDArray[np.float64], workers: Workers) -> Tree:
    """Split at the median of the widest dimension until leaves are small; large parts side by side."""
    d, n = coordinates.shape
    depth = max(0, (-(-n // LEAF) - 1).bit_length())
    leaves = 2**depth
    order, start = np.arange(n), np.zeros(leaves + 1, np.intp)
    start[leaves] = n
    low, high = np.empty((leaves, d)), np.empty((leaves, d))
    low[0], high[0] = coordinates.min(axis=1), coordinates.max(axis=1)
    blocks, points = np.zeros((leaves, d, LEAF)), np.empty((n, d))
    top = 2 if n >= LARGE else 0
    _split_nodes(coordinates, caps, order, start, low, high, 0, top, 0, leaves)

    def grow(part: int) -> None:
        a, b = part * leaves >> top, (part + 1) * leaves >> top
        _split_nodes(coordinates, caps, order, start, low, high, top, depth, a, b)
        _fill_leaves(coordinates, order, start, low, high, blocks, points, a, b)

    workers.map(grow, range(2**top))
    packed_low, packed_high = _pack_boxes(low, high)
    return Tree(order, start, packed_low, packed_high, 8 if depth % 3 == 0 else 2 ** (depth % 3), blocks, points)


@jit
def _split_nodes(
    coordinates: Any,
    caps: Any,
    order: Any,
    start: Any,
    low: Any,
    high: Any,
    top: int,
    bottom: int,
    begin: int,
    end: int,
) -> None:
    """Split the nodes of the levels from top to bottom that have their leaves from begin to end.

    On each level every (leaves >> level)-th start is known; the box of a node is kept at its first leaf.
    """
    d, leaves = caps.size, start.size - 1
    key = np.empty(start[end] - start[begin])
    for level in range(top, bottom):
        width = leaves >> level
        for node in range(begin, end, width):
            a, b, right = start[node], start[node + width], node + width // 2
            middle = (a + b) // 2
            k = _widest(low, high, node, caps)
            for i in range(b - a):
                key[i] = coordinates[k, order[a + i]]
            _split(key, order, a, b - a, middle - a)
            start[right] = middle
            for j in range(d):
                low[right, j], high[right, j] = low[node, j], high[node, j]
            high[node, k] = low[right, k] = key[middle - a]


@jit
def _widest(low: Any, high: Any, node: int, caps: Any) -> int:
    best, widest = 0, -1.0
    for k in range(caps.size):
        width = high[node, k] - low[node, k]
        if min(width * width, caps[k]) > widest:
            best, widest = k, min(width * width, caps[k])
    return best


@jit
def _split(key: Any, order: Any, offset: int, size: int, middle: int) -> None:
    """Reorder keys, and what stands behind the offset, so that none before the middle is above one behind it.

    That is quickselect. Every pass swaps always and counts what is small, instead of a branch that nobody can foresee.
    """
    left, right = 0, size
    while right - left > 1:
        third = (right - left) // 6
        x, y, z = key[left + third], key[(left + right) // 2], key[right - 1 - third]
        pivot = max(min(x, y), min(max(x, y), z))
        border = left
        for i in range(left, right):
            value, point = key[i], order[offset + i]
            key[i], order[offset + i] = key[border], order[offset + border]
            key[border], order[offset + border] = value, point
            border += value < pivot
        if border > middle:
            right = border
        elif border > left:
            left = border
        else:  # the pivot is the least: put all that equal it first
            for i in range(left, right):
                value, point = key[i], order[offset + i]
                key[i], order[offset + i] = key[border], order[offset + border]
                key[border], order[offset + border] = value, point
                border += value == pivot
            if border > middle:
                return
            left = border


@jit
def _fill_leaves(
    coordinates: Any, order: Any, start: Any, low: Any, high: Any, blocks: Any, points: Any, begin: int, end: int
) -> None:
    """Store the points of some leaves, and set their boxes to just hold them."""
    for leaf in range(begin, end):
        for k in range(coordinates.shape[0]):
            a, b = np.inf, -np.inf
            for i in range(start[leaf], start[leaf + 1]):
                value = coordinates[k, order[i]]
                points[i, k] = blocks[leaf, k, i - start[leaf]] = value
                a, b = min(a, value), max(b, value)
            low[leaf, k], high[leaf, k] = a, b


@jit
def _pack_boxes(low: Any, high: Any) -> Any:
    """Return the boxes of all nodes, from those of the leaves, eight siblings side by side."""
    width, d = low.shape
    inner = count_inner(width)
    packed_low, packed_high = np.full((inner, d, 8), np.inf), np.full((inner, d, 8), -np.inf)
    last = inner
    while width > 1:
        fan = min(width, 8)
        width //= fan
        last -= width
        for node in range(width):
            for k in range(d):
                a, b = np.inf, -np.inf
                for child in range(fan):
                    packed_low[last + node, k, child] = low[fan * node + child, k]
                    packed_high[last + node, k, child] = high[fan * node + child, k]
                    a, b = min(a, low[fan * node + child, k]), max(b, high[fan * node + child, k])
                low[node, k], high[node, k] = a, b  # boxes of children that are still to come lie behind
    return packed_low, packed_high


@jit
def count_inner(leaves: int) -> int:
    """How many nodes are above so many leaves."""
    inner = 0
    while leaves > 1:
        leaves //= min(leaves, 8)
        inner += leaves
    return inner


# Kernels below take whole arrays and positions, never rows: making a view of an array that threads share
# touches its reference count, and they would wait for each other there. Loops that are to be vectorised take
# their length from an array: one that is known when compiling is unrolled first, and then it is too late.


@inlined
def _leaf_of(tree: Tree, position: int) -> int:
    """Node of the leaf with a position; splits in the middle leave it near where even shares would."""
    leaves = tree.start.size - 1
    leaf = position * leaves // tree.start[leaves]
    while tree.start[leaf] > position:
        leaf -= 1
    while tree.start[leaf + 1] <= position:
        leaf += 1
    return tree.low.shape[0] + leaf


@inlined
def start_at(tree: Tree, position: int, query: Any, stack: Any, bound: Any) -> Any:
    """Start a walk from the point at a position: fill in the query, put its leaf on the stack, and return that."""
    for k in range(query.size):
        query[k] = tree.points[position, k]
    leaf = _leaf_of(tree, position)
    stack[0], bound[0] = leaf, 0.0
    return leaf


@inlined
def open_node(
    tree: Tree,
    node: int,
    skip: int,
    query: Any,
    caps: Any,
    limit: float,
    stack: Any,
    bound: Any,
    top: int,
    distance: Any,
) -> int:
    """Put the children that are not beyond the limit on the stack, the nearer the higher, but not ``skip``."""
    width = tree.low.shape[2]
    for child in range(width):
        distance[child] = 0.0
    for k in range(caps.size):
        value, cap = query[k], caps[k]
        for child in range(width):
            gap = larger(larger(tree.low[node, k, child] - value, value - tree.high[node, k, child]), 0.0)
            distance[child] += smaller(gap * gap, cap)
    first = top
    start, children = (8 * node + tree.fan - 7, 8) if node > 0 else (1, tree.fan)
    if skip > 0:
        distance[skip - start] = np.inf
    for child in range(children):
        if distance[child] <= limit:
            at = top
            while at > first and bound[at - 1] < distance[child]:
                stack[at], bound[at] = stack[at - 1], bound[at - 1]
                at -= 1
            stack[at], bound[at] = start + child, distance[child]
            top += 1
    return top


@inlined
def next_leaf(
    tree: Tree,
    query: Any,
    caps: Any,
    limit: float,
    stack: Any,
    bound: Any,
    top: int,
    done: int,
    child: Any,
    distance: Any,
) -> Any:
    """Walk on to a leaf with a point that is not beyond the limit, and fill in its distances; −1 if there is none.

    A walk starts with the query's own leaf on the stack, at distance 0, and as ``done``: the node below which
    everything is on the stack or visited. From there it climbs: what is near comes early, and little of what is far
    is ever put on the stack. Also returns how many nodes are there, and what is done.
    """
    inner = tree.low.shape[0]
    while top > 0 or done > 0:
        if top > 0:
            top -= 1
            node, skip = stack[top], 0
            if bound[top] > limit:
                continue
        else:
            node, skip = (done + 7 - tree.fan) // 8 if done > tree.fan else 0, done
            done = node
        if node < inner:
            top = open_node(tree, node, skip, query, caps, limit, stack, bound, top, child)
        elif block_distances(tree.leaves, node - inner, query, caps, distance) <= limit:
            return node - inner, top, done
    return -1, top, done


@inlined
def block_distances(blocks: Any, block: int, query: Any, caps: Any, out: Any) -> float:
    """Squared distances from the query to the points of a block; return the least."""
    width = blocks.shape[2]
    for i in range(width):
        out[i] = 0.0
    fours = caps.size // 4 * 4
    for k in range(0, fours, 4):
        q, r, s, t = query[k], query[k + 1], query[k + 2], query[k + 3]
        w, x, y, z = caps[k], caps[k + 1], caps[k + 2], caps[k + 3]
        for i in range(width):
            e, f = blocks[block, k, i] - q, blocks[block, k + 1, i] - r
            g, h = blocks[block, k + 2, i] - s, blocks[block, k + 3, i] - t
            e, f = smaller(e * e, w), smaller(f * f, x)
            g, h = smaller(g * g, y), smaller(h * h, z)
            out[i] += (e + f) + (g + h)
    for k in range(fours, caps.size):
        value, cap = query[k], caps[k]
        for i in range(width):
            step = blocks[block, k, i] - value
            out[i] += smaller(step * step, cap)
    closest = np.inf
    for i in range(width):
        closest = smaller(closest, out[i])
    return closest
