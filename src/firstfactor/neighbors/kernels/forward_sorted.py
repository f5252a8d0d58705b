"""Numba kernel for one numeric column plus each candidate: neighbours lie in a window of the sorted column.

All distances are squared.
"""

from typing import Any

import numpy as np

from .compiling import ZERO, inlined, jit
from .kd_tree import LEAF
from .neighbor_list import TIES, UNREACHED, capped16, insert_distance, insert_neighbor, variance_of_rows
from .simd import at_most, broadcast16, first_bit, least, load16, store


def sum_along_each(base: Any, candidates: Any, caps: Any, y: Any, weight: Any, centres: Any, n_neighbors: int) -> Any:
    """Return the weighted sum of the ball variances of base plus each candidate, (candidates,), and visited blocks.

    From its own block a search goes outwards on both sides, until the base alone is farther than the neighbours found.
    Only the smallest distance of each block is kept on the way. As many neighbours as wanted lie in at most as many
    blocks, those with the smallest distances: only these are measured again, unless the next block is equally near.
    Then there are ties, and all visited blocks are measured again.

    Parameters
    ----------
    base : float64 (blocks, 16)
        The sorted column, padded with infinity.
    candidates : float64 (candidates, blocks, 16)
        Candidates in the order of the base, padded with infinity.
    caps : float64 (candidates,)
        Maximum contribution of each candidate to a squared distance.
    y : float64 (rows, outputs)
        Response in the order of the base.
    weight : float64 (rows,)
        Weight of the ball of each row in the sum, in the order of the base.
    centres : intp (centres,)
        Positions of rows in the order of the base.
    n_neighbors : int
    """
    nearest, blocks = np.empty(n_neighbors), np.empty(n_neighbors, np.intp)
    distance, ranked = np.empty(LEAF), np.empty(n_neighbors - 1)
    total, rows = np.zeros(caps.size), np.empty(y.shape[0], np.int32)
    n_visited = _add_variances(
        base, candidates, caps, y, weight, centres, nearest, blocks, distance, ranked, rows, total
    )
    return total, n_visited


@jit
def _add_variances(
    base: Any,
    candidates: Any,
    caps: Any,
    y: Any,
    weight: Any,
    centres: Any,
    nearest: Any,
    blocks: Any,
    distance: Any,
    ranked: Any,
    rows: Any,
    total: Any,
) -> int:
    """Add the variances of all centres to ``total``; return the number of visited blocks."""
    wanted = ranked.size
    n_visited = 0
    for j in range(caps.size):
        for centre in centres:
            first, last = _visit_blocks(base, candidates, caps[j], j, centre, nearest, blocks, distance, wanted)
            n_visited += last + 1 - first
            radius = nearest[0] * TIES
            if wanted > 1:
                radius = _last_neighbor(base, candidates, caps[j], j, centre, nearest, blocks, distance, ranked) * TIES
            tied = nearest[wanted] <= radius
            n_rows = ZERO
            for i in range(last + 1 - first if tied else wanted):
                if not tied and nearest[i] > radius:
                    break
                block = first + i if tied else blocks[i]
                bits = at_most(_measure(base, candidates, caps[j], j, centre, block), broadcast16(radius))
                if block == centre // LEAF:
                    bits &= ~(1 << (centre % LEAF))
                while bits != 0:
                    rows[n_rows] = block * LEAF + first_bit(bits)
                    n_rows += 1
                    bits &= bits - 1
            total[j] += weight[centre] * variance_of_rows(y, rows, n_rows, centre)
    return n_visited


@inlined
def _visit_blocks(
    base: Any,
    candidates: Any,
    cap: float,
    j: int,
    centre: int,
    nearest: Any,
    blocks: Any,
    distance: Any,
    wanted: int,
) -> Any:
    """Find the blocks with the nearest points of a centre; return the first and the last block of its window."""
    block, lane = centre // LEAF, centre % LEAF
    x = base[block, lane]
    nearest[:] = UNREACHED
    store(distance, 0, _measure(base, candidates, cap, j, centre, block))
    distance[lane] = UNREACHED
    nearest[0], blocks[0] = least(load16(distance, 0)), block
    first, last = block, block
    # The own block counts as one neighbour, though it may have several: without a second block, there is no limit.
    limit = nearest[0] * TIES if wanted == 1 else UNREACHED
    before, behind = _gap_before(base, first, x), _gap_behind(base, last, x)
    while before <= limit or behind <= limit:
        if before <= limit:
            first -= 1
            before = _gap_before(base, first, x)
            _insert_block(nearest, blocks, least(_measure(base, candidates, cap, j, centre, first)), first)
        if behind <= limit:
            last += 1
            behind = _gap_behind(base, last, x)
            _insert_block(nearest, blocks, least(_measure(base, candidates, cap, j, centre, last)), last)
        limit = nearest[wanted - 1] * TIES
    return first, last


@inlined
def _measure(base: Any, candidates: Any, cap: float, j: int, centre: int, block: int) -> Any:
    """Return the distances of a centre to the 16 points of a block in base plus candidate j; infinite for padding."""
    own_block, lane = centre // LEAF, centre % LEAF
    along = load16(base, LEAF * block) - broadcast16(base[own_block, lane])
    across = load16(candidates, LEAF * (j * base.shape[0] + block)) - broadcast16(candidates[j, own_block, lane])
    return along * along + capped16(across * across, broadcast16(cap))


@inlined
def _gap_before(base: Any, first: int, x: float) -> float:
    """Return the distance along the base to the last point before a block, infinite if there is none."""
    if first == 0:
        return np.inf
    gap = x - base[first - 1, base.shape[1] - 1]
    return gap * gap


@inlined
def _gap_behind(base: Any, last: int, x: float) -> float:
    """Return the distance along the base to the first point behind a block, infinite if there is none."""
    if last + 1 == base.shape[0]:
        return np.inf
    gap = base[last + 1, 0] - x
    return gap * gap


@inlined
def _insert_block(nearest: Any, blocks: Any, distance: float, block: int) -> None:
    """Insert a block among those with the nearest points, if it is one of them."""
    if distance < nearest[nearest.size - 1]:
        insert_neighbor(nearest, blocks, (), ZERO, nearest.size - 1, distance, block)


@inlined
def _last_neighbor(
    base: Any,
    candidates: Any,
    cap: float,
    j: int,
    centre: int,
    nearest: Any,
    blocks: Any,
    distance: Any,
    ranked: Any,
) -> float:
    """Return the distance of the last wanted neighbour, from the blocks with the nearest points."""
    ranked[:] = UNREACHED
    wanted = ranked.size
    for i in range(wanted):
        if nearest[i] == UNREACHED:
            break
        store(distance, 0, _measure(base, candidates, cap, j, centre, blocks[i]))
        if blocks[i] == centre // LEAF:
            distance[centre % LEAF] = UNREACHED
        for lane in range(distance.size):
            if distance[lane] < ranked[wanted - 1]:
                insert_distance(ranked, (), wanted - 1, distance[lane])
    return ranked[wanted - 1]
