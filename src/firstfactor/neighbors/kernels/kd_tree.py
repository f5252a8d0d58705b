"""k-d tree in numba: built once for a set of factors, searched by the kernels.

Points are given as ``coordinates``, float64 (dimensions, points), with ``caps``, float64 (dimensions,): the maximum
contribution of each dimension to a squared distance, infinity for numeric factors, which come first. All distances are
squared. The points of a leaf are stored together as (dimensions, 16), padded with zeros, and so are the boxes of eight
siblings: one vector holds a dimension of all of them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._utils.threads import Workers
from .compiling import inlined, jit, part
from .simd import larger, smaller

# Leaves hold at most this many points, one vector of them, and at least half as many.
LEAF = 16

# Minimum number of points for several threads to build parts of the tree.
LARGE = 4096


class KDTree(NamedTuple):
    """Balanced k-d tree with eight children per node, whose boxes lie side by side to be tested together.

    Nodes are numbered level by level, the leaves last. The root may have only two or four children, so that the number
    of leaves can be any power of two. A position is the place of a point in the order of the leaves: points near in
    space have positions, and memory, near each other.
    """

    order: NDArray[np.intp]
    """Point at each position, (points,)."""
    start: NDArray[np.intp]
    """Position of the first point of each leaf, and the end of the last leaf: (leaves + 1,)."""
    low: NDArray[np.float64]
    """Smallest coordinates in each child, (inner nodes, dimensions, 8), padded with zeros."""
    high: NDArray[np.float64]
    """Largest coordinates in each child, (inner nodes, dimensions, 8), padded with zeros."""
    fan: int
    """Number of children of the root: 2, 4 or 8."""
    leaves: NDArray[np.float64]
    """Coordinates of the points in each leaf, (leaves, dimensions, 16), padded with zeros."""
    points: NDArray[np.float64]
    """Coordinates of the point at each position, (points, dimensions)."""


def build_kd_tree(coordinates: NDArray[np.float64], caps: NDArray[np.float64], workers: Workers) -> KDTree:
    """Build the k-d tree of points, split at the median of the widest dimension until leaves are small.

    Large trees are split in two levels first; threads build the four subtrees.
    """
    d, n = coordinates.shape
    depth = max(0, (-(-n // LEAF) - 1).bit_length())
    leaves = 2**depth
    order, start = np.arange(n), np.zeros(leaves + 1, np.intp)
    start[leaves] = n
    low, high = np.empty((leaves, d)), np.empty((leaves, d))
    low[0], high[0] = coordinates.min(axis=1), coordinates.max(axis=1)
    blocks, points = np.zeros((leaves, d, LEAF)), np.empty((n, d))
    top = 2 if n >= LARGE else 0
    key = np.empty(n)
    _split_nodes(coordinates, caps, order, start, low, high, key, 0, top, 0, leaves)

    def grow(subtree: int) -> None:
        a, b = subtree * leaves >> top, (subtree + 1) * leaves >> top
        _split_nodes(coordinates, caps, order, start, low, high, key, top, depth, a, b)
        _fill_leaves(coordinates, order, start, low, high, blocks, points, a, b)

    workers.map(grow, range(2**top))
    packed_low, packed_high = np.zeros((2, _count_inner(leaves), d, 8))
    _pack_boxes(low, high, packed_low, packed_high)
    return KDTree(order, start, packed_low, packed_high, 8 if depth % 3 == 0 else 2 ** (depth % 3), blocks, points)


@jit
def _split_nodes(
    coordinates: Any,
    caps: Any,
    order: Any,
    start: Any,
    low: Any,
    high: Any,
    key: Any,
    top: int,
    bottom: int,
    begin: int,
    end: int,
) -> None:
    """Split the nodes on the levels from ``top`` to ``bottom`` whose leaves are those from ``begin`` to ``end``.

    Parameters
    ----------
    coordinates : float64 (dimensions, points)
    caps : float64 (dimensions,)
    order : intp (points,)
        The point at each position; reordered.
    start : intp (leaves + 1,)
        First position of each leaf. On a level every (leaves >> level)-th entry is known; half of the others are filled
        in.
    low, high : float64 (leaves, dimensions)
        The box of each node, kept at its first leaf; filled in likewise.
    key : float64 (points,)
        Scratch: one coordinate of the point at each position.
    top, bottom, begin, end : int
    """
    d, leaves = caps.size, start.size - 1
    for level in range(top, bottom):
        width = leaves >> level
        for node in range(begin, end, width):
            a, b, right = start[node], start[node + width], node + width // 2
            middle = (a + b) // 2
            k = _widest(low, high, node, caps)
            for i in range(a, b):
                key[i] = coordinates[k, np.uintp(order[i])]
            _split(key, order, a, b, middle)
            start[right] = middle
            for j in range(d):
                low[right, j], high[right, j] = low[node, j], high[node, j]
            high[node, k] = low[right, k] = key[middle]


@inlined
def _widest(low: Any, high: Any, node: int, caps: Any) -> int:
    """Return the dimension in which the box of a node is widest; a cap bounds the width as it does distances."""
    best, widest = 0, -1.0
    for k in range(caps.size):
        width = high[node, k] - low[node, k]
        square = smaller(width * width, caps[k])
        if square > widest:
            best, widest = k, square
    return best


@part
def _split(key: Any, order: Any, left: int, right: int, middle: int) -> None:
    """Reorder the keys from ``left`` to ``right``, so that none before the middle is larger than one behind it.

    This is quickselect. The entries of ``order`` are reordered with the keys. Every pass swaps each entry and moves the
    border by the result of a comparison: a branch would be mispredicted every other time.
    """
    while right - left > 1:
        third = (right - left) // 6
        x, y, z = key[left + third], key[(left + right) // 2], key[right - 1 - third]
        pivot = larger(smaller(x, y), smaller(larger(x, y), z))
        border = left
        for i in range(left, right):
            border += _swap(key, order, i, border) < pivot
        if border > middle:
            right = border
        elif border > left:
            left = border
        else:  # The pivot is the least key. All that equal it come first, as many ties would leave the range as it is.
            for i in range(left, right):
                border += _swap(key, order, i, border) == pivot
            if border > middle:
                return
            left = border


@inlined
def _swap(key: Any, order: Any, i: int, j: int) -> float:
    """Swap two keys and their points; return the key that was at i."""
    i, j = np.uintp(i), np.uintp(j)  # numba tests numbers with a sign for being negative
    value, point = key[i], order[i]
    key[i], order[i] = key[j], order[j]
    key[j], order[j] = value, point
    return value


@jit
def _fill_leaves(
    coordinates: Any, order: Any, start: Any, low: Any, high: Any, blocks: Any, points: Any, begin: int, end: int
) -> None:
    """Store the points of the leaves from ``begin`` to ``end``, and shrink their boxes to the points.

    Smaller boxes are farther from a query: more leaves are skipped.

    Parameters
    ----------
    coordinates : float64 (dimensions, points)
    order : intp (points,)
    start : intp (leaves + 1,)
    low, high : float64 (leaves, dimensions)
        The boxes; overwritten.
    blocks : float64 (leaves, dimensions, 16)
        Filled in; zeros behind the points of a leaf stay.
    points : float64 (points, dimensions)
        Filled in, in the order of the leaves.
    begin, end : int
    """
    for leaf in range(begin, end):
        for k in range(coordinates.shape[0]):
            a, b = np.inf, -np.inf
            for i in range(start[leaf], start[leaf + 1]):
                value = coordinates[k, np.uintp(order[i])]
                points[i, k] = blocks[leaf, k, i - start[leaf]] = value
                a, b = smaller(a, value), larger(b, value)
            low[leaf, k], high[leaf, k] = a, b


@jit
def _pack_boxes(low: Any, high: Any, packed_low: Any, packed_high: Any) -> None:
    """Fill in the boxes of all nodes, eight siblings side by side.

    Parameters
    ----------
    low, high : float64 (leaves, dimensions)
        The boxes of the leaves; overwritten.
    packed_low, packed_high : float64 (inner nodes, dimensions, 8)
        Filled in; zeros beside the children of a root with fewer than eight stay.
    """
    width, d = low.shape
    last = packed_low.shape[0]
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
                    a, b = smaller(a, low[fan * node + child, k]), larger(b, high[fan * node + child, k])
                low[node, k], high[node, k] = a, b  # in place: the boxes of children still to be read lie behind


def _count_inner(leaves: int) -> int:
    """Return the number of inner nodes above ``leaves``, a power of two."""
    inner = 0
    while leaves > 1:
        leaves //= min(leaves, 8)
        inner += leaves
    return inner


def count_uncapped(caps: NDArray[np.float64]) -> int:
    """Return the number of dimensions before the first with a cap: those of numeric factors."""
    capped = np.flatnonzero(caps < np.inf)
    return int(capped[0]) if capped.size else caps.size
