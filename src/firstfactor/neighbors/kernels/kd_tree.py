"""A k-d tree in numba: built once for a set of columns, walked by the kernels.

Points come as ``coordinates``, (dimensions, points), with ``caps``, the most that a dimension adds to a squared
distance. All distances are squared. The points of a leaf are stored together as (dimensions, 16), filled up with
zeros, and so are the boxes of eight siblings: one vector holds a dimension of all of them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._utils.threads import Workers
from .compiling import inlined, jit, part

# Leaves hold at most this many points, and half of it or more.
LEAF = 16

# Distances within this factor, both squared, differ by rounding only.
TIES = (1 + 1e-9) ** 2

# So many points are worth more than one thread.
LARGE = 4096

# Farther than any point; nearer than infinity, which stands for what is not there.
FAR = 1e300


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


def build_kd_tree(coordinates: NDArray[np.float64], caps: NDArray[np.float64], workers: Workers) -> Tree:
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


@inlined
def _widest(low: Any, high: Any, node: int, caps: Any) -> int:
    best, widest = 0, -1.0
    for k in range(caps.size):
        width = high[node, k] - low[node, k]
        if min(width * width, caps[k]) > widest:
            best, widest = k, min(width * width, caps[k])
    return best


@part
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
    inner = _count_inner(width)
    packed_low, packed_high = np.zeros((inner, d, 8)), np.zeros((inner, d, 8))
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


@part
def _count_inner(leaves: int) -> int:
    """How many nodes are above so many leaves."""
    inner = 0
    while leaves > 1:
        leaves //= min(leaves, 8)
        inner += leaves
    return inner


@inlined
def count_uncapped(caps: Any) -> int:
    """How many dimensions come before the first with a cap."""
    uncapped = 0
    while uncapped < caps.size and caps[uncapped] == np.inf:
        uncapped += 1
    return uncapped
